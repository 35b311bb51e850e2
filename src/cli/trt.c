/* cli/trt.c: see trt.h. */
#include "cli/trt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "cli/options/runners/disabled.h"
#include "cli/terminal/progress_line.h"
#include "cli/trt_replay.h"
#include "engine/plan/plan.h"
#include "engine/precision/words.h"
#include "format/tensorrt/plan_header.h"

/* ---- Which engine ---- */

enum wish { WISH_AUTO, WISH_BUILTIN, WISH_LIBRARY };

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value != NULL && value[0] != '\0';
}

/* Variables of releases that started trtexec. */
static int refuse_trtexec(const char *given, struct error *err)
{
    if (is_set("POLYGRAPHY_TRTEXEC"))
        return error_set(err, ERR_INVALID,
                         "POLYGRAPHY_TRTEXEC has no effect, because TensorRT's library is called instead of trtexec: "
                         "set POLYGRAPHY_TENSORRT to the library or its folder");
    return given != NULL && strcmp(given, "trtexec") == 0
               ? error_set(err, ERR_INVALID,
                           "POLYGRAPHY_TRT is 'trtexec', which is not used any more: set POLYGRAPHY_TRT=tensorrt, "
                           "which calls TensorRT's library")
               : 0;
}

static int read_wish(enum wish *ret, struct error *err)
{
    static const struct {
        const char *word;
        enum wish wish;
    } words[] = {{"", WISH_AUTO}, {"auto", WISH_AUTO}, {"builtin", WISH_BUILTIN}, {"tensorrt", WISH_LIBRARY}};
    const char *given = getenv("POLYGRAPHY_TRT");
    int rc = refuse_trtexec(given, err);

    *ret = WISH_AUTO;
    if (rc < 0)
        return rc;
    for (size_t i = 0; given != NULL && i < ARRAY_LEN(words); i++)
        if (strcmp(words[i].word, given) == 0) {
            *ret = words[i].wish;
            return 0;
        }
    return given == NULL
               ? 0
               : error_set(err, ERR_INVALID, "POLYGRAPHY_TRT is '%s': expected auto, tensorrt or builtin", given);
}

static void log_library(struct log *log, const struct tensorrt_description *library)
{
    if (library->others != NULL)
        log_message(log, LOG_INFO, "%s: '%s' is used, since %s; there is also %s (POLYGRAPHY_TENSORRT names another)",
                    library->name, library->path, library->reason, library->others);
    else
        log_message(log, LOG_VERBOSE, "%s: '%s' is used, since %s", library->name, library->path, library->reason);
}

/* What the library cannot do, or NULL. */
static const char *find_obstacle(const struct tensorrt_description *library, enum trt_need need)
{
    if (need != TRT_RUNS && !library->builds)
        return "it builds no engines";
    if (need != TRT_RUNS && library->parser == NULL)
        return "its ONNX parser was not found";
    if (need == TRT_RUNS || (need == TRT_BUILDS && !library->is_rtx))
        return library->no_device;
    return NULL;
}

/* The library, where it can do what is needed; NULL otherwise. */
static int try_library(struct log *log, enum trt_need need, const struct tensorrt_description **ret, struct error *err)
{
    const struct tensorrt_description *library;
    struct error why;

    *ret = NULL;
    if (tensorrt_find(log, &library, &why) == 0) {
        if (find_obstacle(library, need) == NULL)
            *ret = library;
        return 0;
    }
    if (is_set("POLYGRAPHY_TENSORRT")) {
        if (err != NULL)
            *err = why;
        return why.code;
    }
    if (why.code != ERR_MISSING)
        log_message(log, LOG_WARNING, "%s", why.message);
    return 0;
}

/* An engine of TensorRT's runs on nothing else. */
static int choose_for_engine(const char *path, enum wish wish, struct log *log, const struct tensorrt_description **ret,
                             struct error *err)
{
    struct plan_header header;
    struct error why = {0};

    if (plan_header_read(path, &header, err) < 0)
        return err->code;
    if (wish == WISH_BUILTIN)
        return error_set(
            err, ERR_UNSUPPORTED,
            "'%s' is an engine of TensorRT %u.%u.%u, which the built-in engine that POLYGRAPHY_TRT asks for "
            "cannot run",
            path, header.major, header.minor, header.patch);
    if (wish == WISH_LIBRARY)
        return tensorrt_find(log, ret, err);
    if (tensorrt_find(log, ret, &why) == 0 && (*ret)->no_device == NULL)
        return 0;
    return error_set(err, why.code < 0 ? (enum error_code)why.code : ERR_MISSING,
                     "'%s' is an engine of TensorRT %u.%u.%u, which nothing else can run: %s", path, header.major,
                     header.minor, header.patch, why.code < 0 ? why.message : (*ret)->no_device);
}

int trt_choose(struct log *log, const char *model_path, enum trt_need need, const struct tensorrt_description **ret,
               struct error *err)
{
    enum wish wish;
    int rc = read_wish(&wish, err);

    *ret = NULL;
    if (rc < 0 || (model_path != NULL && plan_is(model_path)))
        return rc;
    if (model_path != NULL && plan_is_tensorrt(model_path))
        rc = choose_for_engine(model_path, wish, log, ret, err);
    else if (wish == WISH_LIBRARY)
        rc = tensorrt_find(log, ret, err);
    else if (wish == WISH_AUTO)
        rc = try_library(log, need, ret, err);
    if (rc == 0 && *ret != NULL)
        log_library(log, *ret);
    return rc == ERR_MISSING && wish == WISH_LIBRARY ? error_context(err, "POLYGRAPHY_TRT=tensorrt") : rc;
}

void trt_add_not_tested(const struct tensorrt_description *library, struct result *ret)
{
    enum wish wish;

    if (library == NULL && read_wish(&wish, NULL) == 0 && wish == WISH_AUTO)
        result_add_line(ret, RESULT_NOT_TESTED, "TensorRT itself: the built-in CPU engine was used in its place");
}

/* ---- What options say ---- */

/* Choices of the built-in engine. */
static void warn_of_idle_options(const struct command_context *context)
{
    static const char *const idle[] = {"--precision-policy", "--deterministic", "--decide-branches", NULL};
    SCOPED_STRING(names);

    parse_list_given(context->parse, idle, &names);
    if (names.size > 0)
        log_message(context->log, LOG_WARNING, "Without effect on TensorRT: %s", names.data);
}

/* The mend of a faulty kernel, which is not there where it is left out. */
static int refuse_exclusions(const struct command_context *context, struct error *err)
{
    static const char *const decisions[] = {"--disable-fusions", "--disable-foldings", "--plain-layouts"};

    for (size_t i = 0; i < ARRAY_LEN(decisions); i++)
        if (parse_given(context->parse, decisions[i]))
            return error_set(
                err, ERR_UNSUPPORTED,
                "%s: TensorRT cannot be told what to fuse or how to lay out tensors. An extra output keeps "
                "what is on both sides of it apart (--trt-outputs); or take the built-in engine with "
                "POLYGRAPHY_TRT=builtin",
                decisions[i]);
    if (!parse_given(context->parse, "--exclude-tactics"))
        return 0;
    return error_set(err, ERR_UNSUPPORTED,
                     "--exclude-tactics: TensorRT cannot be told which tactics not to use. --tactic-sources leaves out "
                     "libraries, and --load-tactics has a build choose as a good one did; or take the built-in engine "
                     "with POLYGRAPHY_TRT=builtin");
}

static struct tensorrt_named_types take_types(struct arena *arena, const struct precision_overrides *from)
{
    struct tensorrt_named_type *items = arena_alloc_zero(arena, from->count, sizeof(*items));

    for (size_t i = 0; i < from->count; i++)
        items[i] = (struct tensorrt_named_type){from->items[i].name, from->items[i].type};
    return (struct tensorrt_named_types){items, from->count};
}

void trt_request_set_precision(struct trt_request *request, const struct precision_settings *precision)
{
    struct tensorrt_settings *settings = &request->request.settings;

    request->precision = precision;
    settings->tf32 = precision->enabled[PRECISION_TF32];
    settings->fp16 = precision->enabled[PRECISION_FLOAT16];
    settings->bf16 = precision->enabled[PRECISION_BFLOAT16];
    settings->int8 = precision->enabled[PRECISION_INT8];
    settings->constraints = precision->constraints == PRECISION_CONSTRAINTS_OBEY     ? TENSORRT_CONSTRAINTS_OBEY
                            : precision->constraints == PRECISION_CONSTRAINTS_PREFER ? TENSORRT_CONSTRAINTS_PREFER
                                                                                     : TENSORRT_CONSTRAINTS_NONE;
    if (settings->constraints != TENSORRT_CONSTRAINTS_NONE)
        settings->layer_precisions = take_types(&request->arena, &precision->layers);
    else if (precision->layers.count > 0)
        log_message(request->context->log, LOG_WARNING,
                    "--layer-precisions mean nothing without --precision-constraints prefer or obey");
    settings->tensor_types = take_types(&request->arena, &precision->tensors);
}

static void take_shapes(struct trt_request *request, const struct builder_settings *builder,
                        const struct input_shapes *shapes)
{
    struct tensorrt_settings *settings = &request->request.settings;
    struct tensorrt_profile *profiles = arena_alloc_zero(&request->arena, builder->profile_count, sizeof(*profiles));
    struct tensorrt_shapes *usual = arena_alloc_zero(&request->arena, shapes->count, sizeof(*usual));

    for (size_t i = 0; i < builder->profile_count; i++) {
        struct tensorrt_shapes *items = arena_alloc_zero(&request->arena, builder->profile_sizes[i], sizeof(*items));

        for (size_t k = 0; k < builder->profile_sizes[i]; k++) {
            const struct input_profile *from = &builder->profiles[i][k];

            items[k] = (struct tensorrt_shapes){from->name, from->minimum, from->optimum, from->maximum};
        }
        profiles[i] = (struct tensorrt_profile){items, builder->profile_sizes[i]};
    }
    for (size_t i = 0; i < shapes->count; i++)
        usual[i] = (struct tensorrt_shapes){.name = shapes->items[i].name, .optimum = shapes->items[i].shape};
    settings->profiles = (struct tensorrt_profiles){profiles, builder->profile_count};
    settings->default_shapes = (struct tensorrt_profile){usual, shapes->count};
}

/* An option of its own for a flag of the parser. */
static void add_parser_flag(struct trt_request *request)
{
    struct tensorrt_settings *settings = &request->request.settings;
    struct words given = settings->onnx_flags;
    const char **items = arena_alloc_zero(&request->arena, given.count + 1, sizeof(*items));

    for (size_t i = 0; i < given.count; i++)
        items[i] = given.items[i];
    items[given.count] = "ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA";
    settings->onnx_flags = (struct words){.items = items, .count = given.count + 1};
}

/* A cache that is added to is read, too. What is not read cannot be added to. */
static int take_timing_cache(struct trt_request *request, struct error *err)
{
    const struct engine_values *values = request->values;
    struct tensorrt_settings *settings = &request->request.settings;
    const char *load = values->load_timing_cache, *save = values->save_timing_cache;
    struct stat a, b;

    if (load != NULL && !file_exists(load) && settings->effort.error_on_timing_cache_miss)
        return error_set(err, ERR_MISSING, "--load-timing-cache: '%s' is not there", load);
    if (load != NULL && !file_exists(load))
        log_message(request->context->log, LOG_WARNING, "There is no timing cache '%s' yet", load);
    if (load != NULL && save != NULL && file_exists(save) &&
        (stat(load, &a) != 0 || stat(save, &b) != 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino))
        return error_set(err, ERR_EXISTS,
                         "--save-timing-cache: '%s' exists, and what it holds cannot be put together with '%s': give "
                         "both options the same file, or another one to --save-timing-cache",
                         save, load);
    settings->load_timing_cache = load != NULL ? load : save;
    return 0;
}

/* What a check of `debug passes` has to do without. Knobs of --build-route give way to those. */
static int obey_environment(struct trt_request *request, struct error *err)
{
    struct parse *parse = (struct parse *)request->context->parse;
    struct tensorrt_settings *settings = &request->request.settings;
    struct words given = settings->build_route, routes;
    const char **items;
    int rc = disabled_names_read(parse, BARRIER_KIND, &settings->barriers, err);

    if (rc == 0)
        rc = disabled_names_read(parse, "route", &routes, err);
    if (rc < 0)
        return rc;
    items = arena_alloc_zero(&request->arena, given.count + routes.count + 1, sizeof(*items));
    for (size_t i = 0; i < given.count; i++)
        items[i] = given.items[i];
    for (size_t i = 0; i < routes.count; i++)
        items[given.count + i] = routes.items[i] + (*routes.items[i] == NAME_MAY_MISS);
    settings->build_route = (struct words){.items = items, .count = given.count + routes.count};
    return 0;
}

/* Up to TensorRT 10 the library is told tactics, and tells them. */
static bool reports_tactics(const struct engine_values *values)
{
    const struct tensorrt_description *library;

    return (values->load_tactics != NULL || values->save_tactics != NULL) && tensorrt_find(NULL, &library, NULL) == 0 &&
           !library->is_rtx && library->major < 11;
}

static void show_build(void *data, const char *phase, size_t done, size_t all)
{
    const struct layer_progress progress = {phase, done + 1, all, "step"};

    progress_line_show_layer(data, phase != NULL ? &progress : NULL);
}

int trt_request_init(struct trt_request *request, const struct command_context *context,
                     const struct engine_values *values, const struct model_file_settings *model, struct error *err)
{
    const struct engine_settings *engine = &values->request;
    struct tensorrt_settings *settings = &request->request.settings;
    int rc;

    *request = (struct trt_request){.context = context, .values = values};
    rc = refuse_exclusions(context, err);
    if (rc < 0)
        return rc;
    arena_init(&request->arena);
    warn_of_idle_options(context);
    *settings = values->tensorrt;
    settings->log = context->log;
    if (context->progress != NULL && log_shows(context->log, LOG_INFO)) {
        settings->progress = show_build;
        settings->progress_context = context->progress;
    }
    settings->strongly_typed = values->strongly_typed;
    if (values->uint8_dla)
        add_parser_flag(request);
    settings->outputs = engine->network.outputs;
    settings->excluded_outputs = engine->network.excluded;
    settings->plugins = engine->providers.plugins;
    settings->tactic_sources = engine->providers.sources;
    settings->has_tactic_sources = parse_given(context->parse, "--tactic-sources");
    settings->has_max_aux_streams = parse_given(context->parse, "--max-aux-streams");
    settings->effort = engine->builder.effort;
    settings->profile = engine->profile;
    trt_request_set_precision(request, &engine->builder.precision);
    take_shapes(request, &engine->builder, &model->model.shapes);
    rc = trt_calibration_init(&request->calibration, context, values, model, settings, err);
    if (rc < 0)
        return rc;
    rc = obey_environment(request, err);
    if (rc == 0)
        rc = take_timing_cache(request, err);
    if (rc == 0)
        settings->reports_tactics = reports_tactics(values);
    if (rc < 0)
        return rc;
    request->request.wants_layers =
        values->save_layer_info != NULL ||
        ((values->save_tactics != NULL || values->load_tactics != NULL) && !settings->reports_tactics);
    if (values->load_tactics == NULL)
        return 0;
    request->replay = memory_alloc_zero(1, sizeof(*request->replay));
    tactic_replay_init(request->replay);
    return trt_replay_load(values->load_tactics, settings, &request->arena, request->replay, err);
}

void trt_request_release(struct trt_request *request)
{
    if (request->replay != NULL)
        tactic_replay_release(request->replay);
    free(request->replay);
    trt_calibration_release(&request->calibration);
    arena_release(&request->arena);
}

/* ---- What a build has left ---- */

/* TensorRT goes on with an empty cache where it cannot read one: that must not replace it. */
static bool would_lose(size_t size, const char *to)
{
    struct stat status;

    return stat(to, &status) == 0 && (off_t)size < status.st_size;
}

static int save_timing_cache(const struct trt_request *request, const struct tensorrt_products *products,
                             const char *path, struct error *err)
{
    struct log *log = request->context->log;

    if (products->timing_cache.size == 0) {
        log_message(log, LOG_WARNING, "TensorRT has left no timing cache: '%s' is not written", path);
        return 0;
    }
    if (request->request.settings.load_timing_cache != NULL && file_exists(path) &&
        (products->lost_timing_cache || would_lose(products->timing_cache.size, path))) {
        log_message(log, LOG_WARNING,
                    "'%s' stays as it is, since TensorRT has not taken over what it holds: it may be damaged, or of "
                    "another version or device; the times of this build are not kept",
                    path);
        return 0;
    }
    log_message(log, LOG_INFO, "Saving tactic timing cache to %s", path);
    return file_write(path, products->timing_cache.data, products->timing_cache.size, FILE_DURABLE, err);
}

/* What a search has told layers to compute in is not among the options. */
static int save_tactics(const struct trt_request *request, const struct tensorrt_products *products, struct error *err)
{
    struct tactic_options options SCOPED(tactic_options_release) = {0};

    precision_words_of(request->precision, &options);
    return trt_replay_save(products, request->values->varies_precision ? NULL : &options, request->values->save_tactics,
                           request->context->log, err);
}

/* The engine first: it is what took the time, and is there then whatever becomes of the rest. */
int trt_save_products(const struct trt_request *request, const struct tensorrt_products *products,
                      const char *engine_path, struct error *err)
{
    const struct engine_values *values = request->values;
    struct log *log = request->context->log;

    if (request->replay != NULL) {
        SCOPED_STRING(name);

        string_add_quoted(&name, values->load_tactics);
        if (trt_replay_check(request->replay, name.data, false, products, log, err) < 0)
            return err->code;
    }
    if (engine_path != NULL) {
        log_message(log, LOG_INFO, "Saving engine to %s", engine_path);
        if (file_write(engine_path, products->plan.data, products->plan.size, FILE_DURABLE, err) < 0)
            return err->code;
    }
    if (values->save_tactics != NULL && save_tactics(request, products, err) < 0)
        return err->code;
    if (values->calibration_cache != NULL && products->calibration.size > 0) {
        log_message(log, LOG_INFO, "Writing calibration cache to: %s", values->calibration_cache);
        if (file_write(values->calibration_cache, products->calibration.data, products->calibration.size, FILE_DURABLE,
                       err) < 0)
            return err->code;
    }
    if (values->save_layer_info != NULL) {
        if (products->layers.size == 0)
            return error_set(err, ERR_BACKEND, "--save-layer-info: TensorRT tells nothing of the layers: %s",
                             products->no_layers);
        log_message(log, LOG_INFO, "Saving layer information to %s", values->save_layer_info);
        if (file_write(values->save_layer_info, products->layers.data, products->layers.size, FILE_DURABLE, err) < 0)
            return err->code;
    }
    return values->save_timing_cache != NULL ? save_timing_cache(request, products, values->save_timing_cache, err) : 0;
}
