/* cli/engine_file.c: see engine_file.h. */
#include "cli/engine_file.h"

#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/settings.h"
#include "backend/tensorrt/backend.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "cli/model_file.h"
#include "cli/options/runners/disabled.h"
#include "cli/terminal/progress_line.h"
#include "engine/plan/layer_info.h"
#include "engine/plan/plan.h"
#include "engine/plan/replay.h"
#include "engine/precision/words.h"

/* Larger results of constant folding, in bytes, are computed at run time, because they would only enlarge the plan
 * file. */
#define LARGEST_FOLDED_CONSTANT ((uint64_t)64 << 20)

/* ---- Selection of the engine ---- */

/* One warning, so that the results are not attributed to TensorRT. POLYGRAPHY_TRT=builtin disables it. */
static void say_which(struct log *log)
{
    const char *pinned = getenv("POLYGRAPHY_TRT");
    const struct tensorrt_description *library;

    if (pinned != NULL && strcmp(pinned, "builtin") == 0)
        return;
    if (tensorrt_find(NULL, &library, NULL) == 0)
        log_message(log, LOG_WARNING,
                    "%s is installed ('%s'), but not used here%s%s: the built-in CPU engine takes its place "
                    "(POLYGRAPHY_TRT=builtin selects it without this warning)",
                    library->name, library->path, library->no_device != NULL ? ", since " : "",
                    library->no_device != NULL ? library->no_device : "");
    else
        log_message(log, LOG_WARNING,
                    "TensorRT is not installed: the built-in CPU engine is used "
                    "(POLYGRAPHY_TRT=builtin selects it without this warning)");
}

static int report_builtin_engine(const struct command_context *context, struct error *err)
{
    SCOPED_STRING(ignored);

    if (parse_given(context->parse, "--fp8"))
        return error_set(err, ERR_UNSUPPORTED,
                         "--fp8: the built-in engine does not support 8-bit floating point; use --fp16, --bf16 or "
                         "--int8; see " FROM_POLYGRAPHY("parts-of-tensorrt"));
    if (parse_given(context->parse, "--trt-outputs-by-type"))
        return error_set(err, ERR_UNSUPPORTED,
                         "--trt-outputs-by-type: the built-in engine has no layers of TensorRT's types; name operators "
                         "with --onnx-outputs-by-type, or tensors with --trt-outputs");
    say_which(context->log);
    tensorrt_options_given(context->parse, &ignored);
    if (ignored.size > 0)
        log_message(context->log, LOG_WARNING, "These options have no effect on the built-in engine: %s", ignored.data);
    return 0;
}

/* ---- The sample ---- */

static int feed_sample(void *data, const struct backend_io *inputs, size_t count, int64_t iteration,
                       struct tensor_list *ret, struct error *err)
{
    return data_loader_feed(data, inputs, count, iteration, ret, err);
}

static struct sample_source sample_of(struct data_loader *loader)
{
    return (struct sample_source){.feed = feed_sample,
                                  .context = loader,
                                  .iterations = data_loader_iterations(loader),
                                  .generated = data_loader_generates(loader)};
}

/* Data for building have the optimal shapes of the first profile. Loaded data may have other shapes, so they are used
 * only for calibration, where values matter. */
static int open_sample(struct engine_file *file, struct error *err)
{
    const struct builder_settings *builder = &file->request.builder;
    struct model_file_settings sample = *file->model;
    struct input_shape *shapes = NULL;
    int rc;

    if (file->request.builder.profile_count > 0) {
        size_t count = builder->profile_sizes[0];

        shapes = memory_alloc_zero(count, sizeof(*shapes));
        for (size_t i = 0; i < count; i++)
            shapes[i] =
                (struct input_shape){.name = builder->profiles[0][i].name, .shape = builder->profiles[0][i].optimum};
        sample.model.shapes = (struct input_shapes){shapes, count};
    }
    if (file->request.builder.profile_count > 0 && !file->request.builder.precision.enabled[PRECISION_INT8])
        rc = data_loader_to_generate(file->context, &sample, &file->loader, err);
    else
        rc = data_loader_from_options(file->context, &sample, NULL, &file->loader, err);
    free(shapes);
    if (rc == 0)
        file->request.builder.sample = sample_of(file->loader);
    return rc;
}

/* ---- Files that are read ---- */

static int load_caches(struct engine_file *file, struct error *err)
{
    const struct engine_values *values = file->values;
    struct builder_settings *builder = &file->request.builder;
    struct log *log = file->context->log;

    builder->cache = file->cache = timing_cache_new();
    builder->calibration = file->calibration = calibration_new(values->calibration_method, values->quantile);
    if (values->load_timing_cache != NULL && !file_exists(values->load_timing_cache))
        log_message(log, LOG_WARNING, "The timing cache '%s' does not exist yet", values->load_timing_cache);
    else if (values->load_timing_cache != NULL && timing_cache_load(file->cache, values->load_timing_cache, err) < 0)
        return err->code;
    if (values->save_timing_cache != NULL && timing_cache_check(values->save_timing_cache, err) < 0)
        return err->code;
    if (values->calibration_cache != NULL && file_exists(values->calibration_cache)) {
        log_message(log, LOG_INFO, "Reading calibration cache from %s", values->calibration_cache);
        if (calibration_load(file->calibration, values->calibration_cache, err) < 0)
            return err->code;
    }
    if (values->load_tactics == NULL)
        return 0;
    builder->replay = file->replay = memory_alloc_zero(1, sizeof(*file->replay));
    tactic_replay_init(file->replay);
    return tactic_replay_load(file->replay, values->load_tactics, err);
}

/* ---- Precisions of replays ---- */

/* Warns if a replay's tactics are from a build in another precision. A precision search builds such engines
 * intentionally. */
static void warn_of_other_precision(const struct engine_file *file)
{
    struct tactic_options own SCOPED(tactic_options_release) = {0};
    struct string_builder text;

    if (file->replay == NULL || !file->replay->precision.known || file->values->varies_precision)
        return;
    precision_words_of(&file->request.builder.precision, &own);
    if (!tactic_options_equal(&own, &file->replay->precision)) {
        string_init(&text);
        string_add_format(&text, "The tactics in '%s' are from a build with ", file->values->load_tactics);
        tactic_options_text(&file->replay->precision, &text);
        string_add(&text, ", and this one has ");
        tactic_options_text(&own, &text);
        log_message(file->context->log, LOG_WARNING, "%s: results will differ", text.data);
        string_release(&text);
    }
}

static bool begins_with(const char *word, const char *option)
{
    size_t size = strlen(option);

    return strncmp(word, option, size) == 0 && (word[size] == '\0' || word[size] == ' ');
}

/* Whether both lists contain the same words for this option, in the same order. */
static bool say_the_same(const struct tactic_options *a, const struct tactic_options *b, const char *option)
{
    size_t i = 0, k = 0;

    for (;; i++, k++) {
        while (i < a->count && !begins_with(a->items[i], option))
            i++;
        while (k < b->count && !begins_with(b->items[k], option))
            k++;
        if (i == a->count || k == b->count)
            return i == a->count && k == b->count;
        if (strcmp(a->items[i], b->items[k]) != 0)
            return false;
    }
}

/* The first given option that contradicts the replay, or NULL. */
static const char *find_contradiction(const struct engine_file *file, const struct tactic_options *precision)
{
    static const char *const options[] = {"--tf32",
                                          "--bf16",
                                          "--fp16",
                                          "--int8",
                                          "--precision-policy",
                                          "--precision-constraints",
                                          "--layer-precisions",
                                          "--tensor-dtypes"};
    const struct parse *parse = file->context->parse;
    struct tactic_options own = {0};
    const char *found = NULL;

    precision_words_of(&file->request.builder.precision, &own);
    if (parse_given(parse, "--strongly-typed") && precision->count > 0)
        found = "--strongly-typed";
    for (size_t i = 0; found == NULL && i < ARRAY_LEN(options); i++)
        if (parse_given(parse, options[i]) && !say_the_same(&own, precision, options[i]))
            found = options[i];
    tactic_options_release(&own);
    return found;
}

int engine_file_take_precision(struct engine_file *file, const struct tactic_options *precision, struct error *err)
{
    bool had_int8 = file->request.builder.precision.enabled[PRECISION_INT8];
    struct string_builder text;
    const char *contradiction;
    int rc;

    if (!precision->known)
        return 0;
    contradiction = find_contradiction(file, precision);
    if (contradiction != NULL) {
        string_init(&text);
        tactic_options_text(precision, &text);
        rc = error_set(err, ERR_INVALID,
                       "%s differs from the builds of the replays, which used %s: leave out precision options, which "
                       "come from the replays",
                       contradiction, text.data);
        string_release(&text);
        return rc;
    }
    rc = precision_words_read(precision, &file->arena, &file->request.builder.precision, err);
    if (rc < 0 || had_int8 == file->request.builder.precision.enabled[PRECISION_INT8])
        return rc;
    data_loader_free(file->loader); /* calibration uses other data than timing */
    file->loader = NULL;
    return open_sample(file, err);
}

/* ---- Building ---- */

static void show_progress(void *data, const char *layer, size_t done, size_t all)
{
    const struct engine_file *file = data;
    const struct layer_progress progress = {layer, done + 1, all, NULL};

    if (file->shows_progress)
        progress_line_show_layer(file->context->progress, layer != NULL ? &progress : NULL);
}

static int save_byproducts(void *data, const struct engine *engine, struct error *err)
{
    return engine_file_save_byproducts(data, engine, err);
}

static struct folding_settings folding_of(struct backend_request request, uint64_t size_limit)
{
    return (struct folding_settings){.backend = &onnxrt_backend,
                                     .request = request,
                                     .log = request.log,
                                     .passes = -1,
                                     .partition = FOLDING_NODES,
                                     .infer_types = true,
                                     .size_limit = size_limit};
}

/* Settings without an option. */
static int complete_request(struct engine_file *file, struct error *err)
{
    struct backend_request request = model_file_request(file->context, file->model);
    const struct onnxrt_settings *runtime = onnxrt_settings_of(&request);
    struct builder_settings *builder = &file->request.builder;
    struct log *log = file->context->log;

    for (size_t i = 0; file->values->strongly_typed && i < PRECISION_COUNT; i++)
        if (i != PRECISION_FLOAT32 && builder->precision.enabled[i]) {
            builder->precision.enabled[i] = false;
            log_message(log, LOG_WARNING,
                        "No layer uses %s: with --strongly-typed, types are those of the model; leave out one of the "
                        "two options",
                        precision_name((enum precision)i));
        }
    builder->explore_within = 2;
    builder->seed = (uint64_t)file->model->data.seed;
    builder->threads = runtime->intra_threads;
    builder->log = log;
    builder->progress = show_progress;
    builder->progress_context = file;
    file->request.network.folding = folding_of(request, LARGEST_FOLDED_CONSTANT);
    file->request.network.log = log;
    file->request.providers.runtime = runtime;
    file->request.providers.threads = runtime->intra_threads;
    file->request.providers.log = log;
    file->request.built = save_byproducts;
    file->request.data = file;
    if (file->values->decide_branches)
        file->request.network.branch_sample = &builder->sample;
    return disabled_names_read((struct parse *)file->context->parse, BARRIER_KIND, &file->request.network.barriers,
                               err);
}

int engine_file_network(const struct command_context *context, const struct model_file_settings *file,
                        const struct model *model, struct network_settings *ret, struct error *err)
{
    int rc = report_builtin_engine(context, err);

    if (rc < 0)
        return rc;
    *ret = (struct network_settings){.log = context->log};
    ret->folding = folding_of(model_file_request_for(context, file, model), LARGEST_FOLDED_CONSTANT);
    ret->folding.backend = model_file_runtime(file);
    return 0;
}

/* Muted, because the build is an intermediate step. */
int engine_file_golden(struct engine_settings *ret, const struct command_context *context,
                       const struct model_file_settings *file, struct data_loader *loader, struct error *err)
{
    struct backend_request request = model_file_request(context, file);
    const struct onnxrt_settings *runtime = onnxrt_settings_of(&request);
    int rc = report_builtin_engine(context, err);

    if (rc < 0)
        return rc;
    request.log = NULL;
    *ret = (struct engine_settings){
        .network = {.folding = folding_of(request, 0), .keep_nodes_apart = true},
        .providers = {.runtime = runtime, .threads = runtime->intra_threads},
        .builder = {.precision.enabled[PRECISION_FLOAT32] = true,
                    .sample = sample_of(loader),
                    .deterministic = true,
                    .threads = runtime->intra_threads},
    };
    return 0;
}

int engine_file_init(struct engine_file *file, const struct command_context *context,
                     const struct engine_values *values, const struct model_file_settings *model, struct error *err)
{
    int rc;

    *file = (struct engine_file){
        .context = context,
        .values = values,
        .model = model,
        .request = values->request,
        .shows_progress = context->progress && log_shows(context->log, LOG_INFO),
    };
    rc = report_builtin_engine(context, err);
    if (rc < 0)
        return rc;
    rc = complete_request(file, err);
    if (rc < 0)
        goto done;
    rc = load_caches(file, err);
    if (rc < 0)
        goto done;
    rc = open_sample(file, err);
    if (rc == 0)
        warn_of_other_precision(file);
done:
    if (rc < 0)
        engine_file_release(file);
    return rc;
}

int engine_file_init_aside(struct engine_file *file, const struct command_context *context,
                           const struct engine_values *values, const struct model_file_settings *model,
                           struct error *err)
{
    int rc;

    *file = (struct engine_file){
        .context = context,
        .values = values,
        .model = model,
        .request = values->request,
    };
    rc = complete_request(file, err);
    file->request.built = NULL;
    file->request.providers.sources = file->request.providers.plugins = (struct words){0};
    file->request.network.disabled = file->request.builder.sources_off = (struct words){0};
    file->request.builder.plain_layouts = false;
    file->request.builder.deterministic = true;
    file->request.builder.effort.error_on_timing_cache_miss = false;
    file->request.builder.log = NULL;
    file->request.builder.cache = file->cache = timing_cache_new();
    file->request.builder.calibration = file->calibration =
        calibration_new(file->values->calibration_method, file->values->quantile);
    if (rc == 0)
        rc = open_sample(file, err);
    if (rc < 0)
        engine_file_release(file);
    return rc;
}

void engine_file_release(struct engine_file *file)
{
    engine_settings_release(&file->request);
    data_loader_free(file->loader);
    timing_cache_free(file->cache);
    calibration_free(file->calibration);
    if (file->replay != NULL)
        tactic_replay_release(file->replay);
    free(file->replay);
    arena_release(&file->arena);
    *file = (struct engine_file){0};
}

int engine_file_save_byproducts(const struct engine_file *file, const struct engine *engine, struct error *err)
{
    const struct engine_values *values = file->values;
    struct log *log = file->context->log;
    struct tactic_replay replay;
    int rc;

    if (values->save_tactics != NULL) {
        tactic_replay_init(&replay);
        engine_replay(engine, &replay);
        log_message(log, LOG_INFO, "Saving tactic replay file to %s", values->save_tactics);
        rc = tactic_replay_save(&replay, values->save_tactics, err);
        tactic_replay_release(&replay);
        if (rc < 0)
            return rc;
    }
    if (values->save_layer_info != NULL) {
        log_message(log, LOG_INFO, "Saving layer information to %s", values->save_layer_info);
        rc = engine_layer_info_save(engine, values->save_layer_info, err);
        if (rc < 0)
            return rc;
    }
    if (values->save_timing_cache != NULL) {
        log_message(log, LOG_INFO, "Saving tactic timing cache to %s", values->save_timing_cache);
        rc = timing_cache_save(file->cache, values->save_timing_cache, err);
        if (rc < 0)
            return rc;
    }
    if (values->calibration_cache != NULL && file->request.builder.precision.enabled[PRECISION_INT8] &&
        !calibration_is_loaded(file->calibration)) {
        log_message(log, LOG_INFO, "Writing calibration cache to: %s", values->calibration_cache);
        rc = calibration_save(file->calibration, values->calibration_cache, err);
        if (rc < 0)
            return rc;
    }
    if (values->save_engine == NULL)
        return 0;
    log_message(log, LOG_INFO, "Saving engine to %s", values->save_engine);
    return plan_save(engine, values->save_engine, err);
}
