/* cli/debug/passes/onnxrt.c: optimizations of ONNX Runtime: optimizers that change a model, and settings of kernels. */
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/apart/backend.h"
#include "backend/onnxrt/optimizers.h"
#include "backend/onnxrt/settings.h"
#include "base/file/file.h"
#include "base/process/bounded.h"
#include "base/system.h"
#include "base/memory.h"
#include "cli/debug/passes/assignment.h"
#include "cli/debug/passes/barriers.h"
#include "cli/options/runners/disabled.h"
#include "debug/quantization/saturation.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/tensor_proto.h"

/* ---- Optimizers ---- */

static bool is_setting(const char *decision)
{
    return !disabled_name_has_kind(decision) && strchr(decision, '=') != NULL;
}

static bool is_threads(const char *decision)
{
    return strcmp(decision, "threads") == 0;
}

static bool is_optimizer(const char *decision)
{
    return !disabled_name_has_kind(decision) && !is_setting(decision) && !is_threads(decision);
}

/* A session that flushes denormal numbers sets the processor for this whole process and for forked checks. Sessions
 * here are only inspected. */
#define DENORMALS_KEY "session.set_denormal_as_zero"

/* Settings of the options, with these optimizations disabled. */
static struct onnxrt_settings settings_without(const struct passes_subject *subject, struct words off)
{
    struct onnxrt_settings ret = subject->settings->file.onnxrt.runtime;
    const struct onnxrt_entries *given = &ret.execution.session_config;
    struct arena *arena = subject->arena;
    struct onnxrt_entry *items = arena_alloc_zero(arena, given->count + off.count + 1, sizeof(*items));
    struct onnxrt_entries entries = {items, given->count + 1};
    struct onnxrt_entry *names = &items[given->count];

    *names = (struct onnxrt_entry){.key = ONNXRT_DISABLED_OPTIMIZERS_KEY, .value = ""};
    for (size_t i = 0; i < given->count; i++) {
        items[i] = given->items[i];
        if (strcmp(items[i].key, ONNXRT_DISABLED_OPTIMIZERS_KEY) == 0)
            names->value = arena_printf(arena, "%s;", items[i].value);
        if (strcmp(items[i].key, DENORMALS_KEY) == 0)
            items[i].value = "0";
    }
    for (size_t i = 0; i < off.count; i++) {
        const char *name = off.items[i], *equals = strchr(name, '=');

        if (is_threads(name))
            ret.intra_threads = ret.inter_threads = 1;
        else if (is_optimizer(name))
            names->value = arena_printf(arena, "%s%s;", names->value, name);
        else if (is_setting(name))
            items[entries.count++] = (struct onnxrt_entry){
                .key = arena_text(arena, (struct text){name, (size_t)(equals - name)}), .value = equals + 1};
    }
    ret.execution.session_config = entries;
    return ret;
}

/* Rules that belong to several optimizers are disabled in all of them. */
static void add_optimizer(const char *name, struct decisions *ret)
{
    const char *const *rules = onnxrt_optimizer_rules(name);

    if (rules == NULL)
        decisions_add(ret, name);
    for (; rules != NULL && *rules != NULL; rules++)
        decisions_add(ret, *rules);
}

/* In a separate process: the runtime may crash on this model. */
static int open_session(const struct passes_subject *subject, struct backend_request *request, struct error *err)
{
    struct backend_session *opened;
    int rc;

    request->model.path = request->model.data == NULL ? subject->model : NULL;
    rc = onnxrt_apart_backend.open(request, &opened, err);
    if (rc == 0)
        onnxrt_apart_backend.close(opened);
    return rc;
}

/* Adds optimizers that change the model with these disabled. */
static int find_more_optimizers(const struct passes_subject *subject, struct decisions *ret, struct error *err)
{
    const struct words off = {.items = ret->names.items, .count = ret->names.count};
    struct onnxrt_settings settings = settings_without(subject, off);
    struct backend_request request = {.settings = &settings, .log = subject->context->log};
    struct onnxrt_optimizers optimizers;
    int rc;

    onnxrt_optimizers_init(&optimizers);
    settings.optimizers = &optimizers;
    rc = open_session(subject, &request, err);
    if (rc == ERR_BACKEND) { /* crashed, or refused what its optimizers made of the model */
        log_once(request.log, LOG_WARNING,
                 "Cannot find out which optimizers change the model, so all known ones are tried: %s", err->message);
        onnxrt_optimizers_suspect_all(&optimizers);
        rc = 0;
    }
    for (size_t i = 0; rc == 0 && i < optimizers.count; i++)
        if (optimizers.items[i].has_changed)
            add_optimizer(optimizers.items[i].name, ret);
    onnxrt_optimizers_release(&optimizers);
    return rc;
}

/* Adds optimizers that change the model, in their order in the log of a session; then those that change it with the
 * first ones disabled, and so on: with all of them disabled the model is not changed. */
static int find_optimizers(const struct passes_subject *subject, struct decisions *ret, struct error *err)
{
    const struct command_context *context = subject->context;
    struct decisions found = {.arena = subject->arena};
    SCOPED_STRING(names);
    size_t before;
    int rc;

    do {
        before = found.names.count;
        rc = find_more_optimizers(subject, &found, err);
        if (rc < 0)
            goto done;
    } while (found.names.count > before);
    for (size_t i = 0; i < found.names.count; i++) {
        string_add_format(&names, "%s%s", i > 0 ? ", " : "", found.names.items[i]);
        decisions_add(ret, found.names.items[i]);
    }
    log_message(context->log, LOG_INFO, "%s '%s': %s",
                found.names.count == 1 ? "One optimizer changes" : "Optimizers, or their rules, that change",
                parse_positional_word(context->parse, "model_file"), names.size > 0 ? names.data : "none");
done:
    free(found.names.items);
    free(found.unfit.items);
    return rc;
}

/* ONNX Runtime accepts unknown names of optimizers silently. */
static void doubt_optimizer(const char *decision, struct log *log)
{
    SCOPED_STRING(instead);

    if (!onnxrt_optimizer_is_known(decision, &instead))
        log_message(log, LOG_WARNING,
                    "--decisions: '%s' is not a known optimizer of ONNX Runtime 1.30 for CPUs: disabling it may have "
                    "no effect%s",
                    decision, instead.size > 0 ? instead.data : "");
}

static void add_remedies_of_optimizers(struct words off, struct remedies *ret)
{
    SCOPED_STRING(names);
    SCOPED_STRING(python);
    struct string_builder options SCOPED(string_release) = {0};

    string_init(&options);
    for (size_t i = 0; i < off.count; i++) {
        string_add_format(&options, " %s", off.items[i]);
        string_add_format(&names, "%s%s", i > 0 ? ";" : "", off.items[i]);
        string_add_format(&python, "%s\"%s\"", i > 0 ? ", " : "", off.items[i]);
    }
    remedies_add(ret, REMEDY_OPTION, "--onnxrt-disable-optimizers%s", options.data);
    remedies_add(ret, REMEDY_C, "AddSessionConfigEntry(options, \"%s\", \"%s\")", ONNXRT_DISABLED_OPTIMIZERS_KEY,
                 names.data);
    remedies_add(ret, REMEDY_PYTHON, "InferenceSession(..., disabled_optimizers=[%s])", python.data);
}

static const struct decision_source optimizer_source = {.name = "optimizers",
                                                        .owns = is_optimizer,
                                                        .find = find_optimizers,
                                                        .doubt = doubt_optimizer,
                                                        .add_remedies = add_remedies_of_optimizers};

/* ---- Settings ---- */

/* Whether the model has constants that kernels may prepack before the first run. */
static bool has_weights(const struct model *model)
{
    for (size_t i = 0; i < model->initializers.count; i++) {
        struct tensor_header header;

        if (!model->initializers.items[i].sparse &&
            tensor_proto_read(model->initializers.items[i].message, &header, NULL) == 0 && header.shape.rank >= 2)
            return true;
    }
    return false;
}

static bool has_functions(const struct model *model)
{
    return model->function_count > 0;
}

/* Whether the model has 4-bit weights of a MatMul, in blocks: their kernel rounds the other factor to 8 bits by
 * default. */
static bool has_blocked_weights(const struct model *model)
{
    for (size_t i = 0; i < model->nodes.count; i++)
        if (text_equal_string(model->nodes.items[i].op_type, "MatMulNBits") ||
            (text_equal_string(model->nodes.items[i].op_type, "DequantizeLinear") &&
             node_attribute_integer(model->nodes.items[i].message, "block_size", 0) > 0))
            return true;
    return false;
}

/* Entries that change results, not only speed, and the models that they apply to. Others that do disable single
 * optimizers, which have names. */
static const struct {
    const char *entry;
    bool (*can_act)(const struct model *model);
    bool needs_saturation; /* only has an effect if products saturate */
} settings[] = {
    {"session.disable_prepacking=1", has_weights, false},
    {SATURATION_SETTING, saturation_is_possible, true},
    {"session.disable_aot_function_inlining=1", has_functions, false},
    {"session.qdq_matmulnbits_accuracy_level=1", has_blocked_weights, false},
};

/* Entries that are only active if the user sets them. */
static const char *const requests[] = {
    "session.enable_quant_qdq_cleanup",
    DENORMALS_KEY,
    "session.enable_dq_matmulnbits_fusion",
    "optimization.enable_gelu_approximation",
    "optimization.enable_cast_chain_elimination",
    "mlas.enable_gemm_fastmath_arm64_bfloat16",
    "mlas.use_lut_gemm",
};

/* The user's value of this key, or NULL. */
static const char *given_value(const struct onnxrt_entries *config, const char *key)
{
    const char *ret = NULL;

    for (size_t i = 0; i < config->count; i++)
        if (strlen(config->items[i].key) == strcspn(key, "=") &&
            strncmp(config->items[i].key, key, strcspn(key, "=")) == 0)
            ret = config->items[i].value;
    return ret;
}

static int find_settings(const struct passes_subject *subject, struct decisions *ret, struct error *err)
{
    const struct onnxrt_entries *config = &subject->settings->file.onnxrt.runtime.execution.session_config;
    struct model *model;
    int rc = model_open(subject->model, NULL, &model, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        if (given_value(config, settings[i].entry) == NULL && (subject->saturates || !settings[i].needs_saturation) &&
            settings[i].can_act(model))
            decisions_add(ret, settings[i].entry);
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        const char *value = given_value(config, requests[i]);

        if (value != NULL && strcmp(value, "0") != 0)
            decisions_add(ret, arena_printf(subject->arena, "%s=0", requests[i]));
    }
    model_free(model);
    return 0;
}

static void add_remedies_of_settings(struct words off, struct remedies *ret)
{
    for (size_t i = 0; i < off.count; i++) {
        const char *setting = off.items[i];
        int key = (int)strcspn(setting, "=");
        const char *value = setting + key + 1;

        remedies_add(ret, REMEDY_OPTION, "--session-config %s", setting);
        remedies_add(ret, REMEDY_C, "AddSessionConfigEntry(options, \"%.*s\", \"%s\")", key, setting, value);
        remedies_add(ret, REMEDY_PYTHON, "options.add_session_config_entry(\"%.*s\", \"%s\")", key, setting, value);
    }
}

static const struct decision_source setting_source = {
    .name = "settings", .owns = is_setting, .find = find_settings, .add_remedies = add_remedies_of_settings};

/* ---- Threads ---- */

static int find_threads(const struct passes_subject *subject, struct decisions *ret, struct error *err)
{
    int threads = subject->settings->file.onnxrt.runtime.intra_threads;

    (void)err;
    if (threads > 1 || (threads == 0 && system_processors() > 1))
        decisions_add(ret, "threads");
    return 0;
}

static void add_remedies_of_threads(struct words off, struct remedies *ret)
{
    (void)off;
    remedies_add(ret, REMEDY_OPTION, "--onnxrt-threads 1");
    remedies_add(ret, REMEDY_C, "SetIntraOpNumThreads(options, 1)");
    remedies_add(ret, REMEDY_PYTHON, "options.intra_op_num_threads = 1");
}

static const struct decision_source thread_source = {
    .name = "threads", .owns = is_threads, .find = find_threads, .add_remedies = add_remedies_of_threads};

/* ---- What it makes of a model ---- */

/* Saves the model as rewritten by the runtime. */
static int save_rewritten(const struct passes_subject *subject, struct words off, const char *path, struct model **ret,
                          struct error *err)
{
    struct onnxrt_settings without = settings_without(subject, off);
    struct backend_request request = {.settings = &without};
    char *bytes SCOPED_FREE = NULL, *folder SCOPED_FREE = NULL;
    int rc = barriers_write(subject, off, &bytes, &request.model.size, err);

    if (rc < 0)
        return rc;
    request.model.data = bytes;
    request.model.external_folder = folder = file_folder(subject->model);
    without.optimized_path = path;
    rc = open_session(subject, &request, err);
    if (rc == 0)
        rc = model_open(path, NULL, ret, err);
    return rc;
}

/* ---- Barriers ---- */

/* Optimizers remove tensors, so places are found among removed ones. */
static int find_barriers(const struct passes_subject *subject, struct decisions *ret, struct error *err)
{
    struct model *rewritten = NULL;
    char *folder = NULL, *path = NULL;
    int rc = file_make_temporary_folder("passes", &folder, err);

    if (rc < 0)
        goto done;
    path = file_join(folder, "rewritten.onnx");
    rc = save_rewritten(subject, (struct words){0}, path, &rewritten, err);
    if (rc == ERR_BACKEND)
        log_message(subject->context->log, LOG_WARNING,
                    "Cannot find out which tensors the runtime removes, so all are tried: %s", err->message);
    else if (rc < 0)
        goto done;
    rc = barriers_find_hidden(subject, rewritten, ret, err);
done:
    model_free(rewritten);
    if (folder != NULL)
        file_remove_tree(folder, NULL);
    free(folder);
    free(path);
    return rc;
}

static void add_remedies_of_barriers(struct words off, struct remedies *ret)
{
    barriers_add_option("--onnx-outputs", off, ret);
}

/* Only on request: an optimizer that acts in one place and the tensor there are one cause under two names, which would
 * make answer and search longer. */
static const struct decision_source barrier_source = {.name = "barriers",
                                                      .on_request = true,
                                                      .owns = barriers_own,
                                                      .find = find_barriers,
                                                      .add_remedies = add_remedies_of_barriers};

/* ---- Before and after ---- */

static bool replace_nodes(struct words off)
{
    for (size_t i = 0; i < off.count; i++)
        if (!assignment_source.owns(off.items[i]))
            return true;
    return false;
}

static int compare_optimized(const struct passes_subject *subject, struct words off, const char *folder,
                             struct rewriting *ret, struct error *err)
{
    struct model *with SCOPED(model_free_pointed) = NULL, *without SCOPED(model_free_pointed) = NULL;
    int rc;

    if (!replace_nodes(off))
        return 0;
    ret->with_path = arena_printf(subject->arena, "%s/rewritten.onnx", folder);
    ret->without_path = arena_printf(subject->arena, "%s/rewritten_without.onnx", folder);
    rc = save_rewritten(subject, (struct words){0}, ret->with_path, &with, err);
    if (rc == 0)
        rc = save_rewritten(subject, off, ret->without_path, &without, err);
    if (rc < 0)
        return rc;
    rewritten_nodes_find(without, with, &ret->nodes);
    ret->is_known = true;
    return 0;
}

static const char *const reference_option[] = {"--onnxrt-optimization-level", "none", NULL};
static const struct option_group *const groups[] = {&onnxrt_options, NULL};
static const struct decision_source *const sources[] = {&optimizer_source, &setting_source,    &thread_source,
                                                        &barrier_source,   &assignment_source, NULL};

const struct passes_runner onnxrt_passes_runner = {
    .name = "ONNX Runtime",
    .option = "--onnxrt",
    .groups = groups,
    .reference_option = reference_option,
    .sources = sources,
    .compare = compare_optimized,
};
