/* sanitize.c: simplify a model: fold constants, remove nodes without consumers, sort nodes. */

#include "backend/constant_folding.h"
#include "backend/type_inference.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/model_trial.h"
#include "cli/options/groups.h"
#include "cli/surgeon/edit.h"
#include "comparator/reference/control_flow.h"
#include "comparator/reference/values.h"
#include "onnx/edit/rebuild.h"
#include "onnx/edit/bounds.h"
#include "onnx/simplify/simplify.h"

struct surgeon_sanitize_settings {
    struct common_settings common;
    struct json_values json;
    struct model_file_settings file;
    struct sanitize_values sanitize;
};

/* ---- Upper bounds ---- */

static void warn_of_other_names(const struct command_context *context, const struct model *model,
                                const struct value_list *candidates, const struct named_integers *bounds)
{
    for (size_t i = 0; i < bounds->count; i++) {
        const char *name = bounds->items[i].name;
        uint32_t value = model_find_value(model, text_of(name));

        if (name[0] != '\0' && (value == VALUE_NONE || !value_list_has(candidates, value)))
            log_message(context->log, LOG_WARNING,
                        "--set-unbounded-dds-upper-bound: '%s' does not determine a data-dependent size; `inspect "
                        "model --list-unbounded-dds` lists the tensors that do",
                        name);
    }
}

static int set_upper_bounds(const struct command_context *context, const struct surgeon_sanitize_settings *settings,
                            struct model *model, struct error *err)
{
    const struct named_integers *wanted = &settings->file.load.unbounded_dds_upper_bound;
    struct value_list candidates SCOPED_ITEMS = {0};
    struct upper_bound *bounds SCOPED_FREE = NULL;
    size_t count = 0;

    if (wanted->count == 0)
        return 0;
    unbounded_shapes_find(model, &candidates);
    warn_of_other_names(context, model, &candidates, wanted);
    bounds = memory_alloc_zero(candidates.count + 1, sizeof(*bounds));
    for (size_t i = 0; i < candidates.count; i++) {
        char *name SCOPED_FREE = memory_copy(model->values.items[candidates.items[i]].name.data,
                                             model->values.items[candidates.items[i]].name.size);

        bounds[count] = (struct upper_bound){candidates.items[i], named_integer_find(wanted, name, -1)};
        count += bounds[count].bound >= 0;
    }
    return upper_bounds_set(model, bounds, count, err);
}

/* ---- Shapes ---- */

/* Runs the model once and stores the shapes of the results in the model. */
static int observe_shapes(const struct command_context *context, const struct surgeon_sanitize_settings *settings,
                          struct model *model, struct error *err)
{
    struct backend_request request = model_file_request_for(context, &settings->file, model);
    struct reference_values *reference = NULL;
    struct data_loader *loader = NULL;
    struct value_list all SCOPED_ITEMS = {0};
    struct known_types known;
    struct subgraph whole SCOPED(subgraph_release) = {0};
    struct error why = {0};
    int rc = data_loader_from_options(context, &settings->file, model, &loader, err);

    if (rc < 0)
        return rc;
    known_types_init(&known, model, &model->arena);
    subgraph_init_whole(&whole, model);
    whole.known = &known;
    reference_values_new(&whole, model_file_runtime(&settings->file), &request, loader, context->log, &reference);
    reference_values_list_tensors(reference, &known, &all);
    rc = reference_values_record(reference, &all, &why);
    if (rc < 0 && model_file_report_end(&why, "cannot run the parts", model,
                                        "leave out --force-fallback-shape-inference", err) == 0)
        error_set(err, (enum error_code)rc, "%s", why.message);
    for (size_t i = 0; rc == 0 && i < all.count; i++) {
        const struct tensor *tensor = reference_values_get(reference, all.items[i]);
        struct value_type type = {.element = tensor->type, .has_shape = true, .shape = tensor->shape};

        known_types_set(&known, all.items[i], &type);
    }
    known_types_state(&known, model);
    known_types_release(&known);
    reference_values_free(reference);
    data_loader_free(loader);
    return rc;
}

static int settle_shapes(const struct command_context *context, const struct surgeon_sanitize_settings *settings,
                         struct model *model, struct error *err)
{
    const struct model_file_settings *options = &settings->file;
    int rc = model_file_override_shapes(&settings->file, model, err);

    if (rc < 0)
        return rc;
    if (options->model.shapes.count > 0)
        rc = model_file_infer(context, &settings->file, model, err);
    return rc == 0 && options->inference.force_fallback ? observe_shapes(context, settings, model, err) : rc;
}

/* ---- Constants ---- */

static void add_counts(struct result_file *result, const struct folding_counts *counts)
{
    json_writer_begin_object(&result->json);
    json_writer_add_count(&result->json, "passes", counts->passes);
    json_writer_add_count(&result->json, "nodes_before", counts->nodes_before);
    json_writer_add_count(&result->json, "nodes_after", counts->nodes_after);
    json_writer_add_count(&result->json, "constants", counts->constants);
    json_writer_add_count(&result->json, "shapes", counts->shapes);
    json_writer_add_count(&result->json, "computed", counts->computed);
    json_writer_add_count(&result->json, "casts", counts->casts);
    json_writer_add_count(&result->json, "branches", counts->branches);
    json_writer_add_count(&result->json, "refused", counts->refused);
    json_writer_end_object(&result->json);
}

/* `result` may be NULL. */
static int fold_constants(const struct command_context *context, const struct surgeon_sanitize_settings *options,
                          struct model *model, struct result_file *result, struct error *err)
{
    const struct sanitize_values *values = &options->sanitize;
    struct folding_counts counts = {0};
    struct folding_settings settings = {
        .backend = model_file_runtime(&options->file),
        .request = model_file_request_for(context, &options->file, model),
        .log = context->log,
        .passes = values->passes,
        .keep_shapes = values->no_fold_shapes,
        .infer_types = options->file.inference.enabled && !values->no_per_pass_shape_inference,
        .size_limit = values->has_size_threshold ? (uint64_t)values->size_threshold : UINT64_MAX,
        .inner_graphs = true,
        .counts = &counts,
    };
    struct error why = {0};
    int rc;

    if (values->has_partitioning)
        settings.partition = values->partitioning == PARTITIONING_BASIC ? FOLDING_HALVES : FOLDING_NODES;
    rc = constants_fold(model, &settings, &why);
    if (rc < 0 &&
        model_file_report_end(&why, "cannot fold the constants", model, "leave out --fold-constants", err) == 0)
        error_set(err, (enum error_code)rc, "%s", why.message);
    if (result != NULL)
        add_counts(result, &counts);
    return rc;
}

/* ---- Nodes that are not needed ---- */

static int simplify_once(const struct command_context *context, const struct backend *backend,
                         const struct backend_request *request, struct model *model, struct simplify_counts *counts,
                         struct error *err)
{
    struct unused_names names SCOPED(unused_names_release) = {0};
    size_t before = model->nodes.count;
    int rc = types_refine(model, backend, request, context->log, err);

    if (rc < 0)
        return rc;
    unused_names_init(&names, model, &model->arena);
    rc = model_simplify(model, &names, counts, err);
    if (rc == 0)
        log_message(context->log, LOG_INFO, "Simplifying | Original: %5zu, After: %5zu | %5lld Nodes Removed", before,
                    model->nodes.count, (long long)before - (long long)model->nodes.count);
    return rc;
}

static size_t count_simplified(const struct simplify_counts *counts)
{
    return counts->neutral + counts->equal + counts->sizes + counts->reshapes;
}

/* Simplifies and folds in turns, until nothing changes. */
static int simplify_model(const struct command_context *context, const struct surgeon_sanitize_settings *options,
                          struct model *model, struct result_file *result, struct error *err)
{
    struct backend_request request = model_file_request_for(context, &options->file, model);
    struct simplify_counts counts = {0};
    size_t changes;
    int rc;

    do {
        changes = count_simplified(&counts);
        rc = simplify_once(context, model_file_runtime(&options->file), &request, model, &counts, err);
        changes = count_simplified(&counts) - changes;
        if (rc == 0 && changes > 0)
            rc = fold_constants(context, options, model, NULL, err);
    } while (rc == 0 && changes > 0);
    if (rc < 0)
        return rc;
    json_writer_begin_object(&result->json);
    json_writer_add_count(&result->json, "neutral", counts.neutral);
    json_writer_add_count(&result->json, "equal", counts.equal);
    json_writer_add_count(&result->json, "sizes", counts.sizes);
    json_writer_add_count(&result->json, "reshapes", counts.reshapes);
    json_writer_end_object(&result->json);
    return rc;
}

/* ---- Bodies ---- */

static int inline_bodies(const struct command_context *context, const struct surgeon_sanitize_settings *settings,
                         struct model *model, struct error *err)
{
    struct backend_request request = model_file_request_for(context, &settings->file, model);
    struct data_loader *loader = NULL;
    struct error why = {0};
    size_t count;
    int rc = data_loader_from_options(context, &settings->file, model, &loader, err);

    if (rc < 0)
        return rc;
    rc = control_flow_inline(
        model, &(struct sample_run){model_file_runtime(&settings->file), &request, loader, context->log}, &count, &why);
    if (rc < 0 && model_file_report_end(&why, "cannot run the parts", model, "leave out --inline-bodies", err) == 0)
        error_set(err, (enum error_code)rc, "%s", why.message);
    else if (rc == 0)
        log_message(context->log, LOG_INFO, "Nodes replaced by their bodies: %zu (If, Loop, Scan)", count);
    if (rc == 0 && model_has_control_flow(model))
        log_message(context->log, LOG_WARNING,
                    "Some If, Loop or Scan nodes keep their bodies: the iterations of the input data differ there, or "
                    "there are too many of them");
    data_loader_free(loader);
    return rc;
}

/* ---- The command ---- */

static int sanitize_model(const struct command_context *context, const struct surgeon_sanitize_settings *settings,
                          struct model *model, struct result_file *result, struct error *err)
{
    const struct sanitize_values *values = &settings->sanitize;
    int rc = set_upper_bounds(context, settings, model, err);

    if (rc < 0)
        return rc;
    rc = settle_shapes(context, settings, model, err);
    if (rc < 0)
        return rc;
    if (values->inline_bodies)
        rc = inline_bodies(context, settings, model, err);
    if (rc < 0)
        return rc;
    if (values->cleanup)
        rc = model_remove_unneeded_nodes(model, err);
    if (rc < 0)
        return rc;
    if (values->toposort)
        rc = model_sort_nodes(model, err);
    if (rc < 0)
        return rc;
    if (json_writer_key_or_null(&result->json, "folding", values->fold_constants))
        rc = fold_constants(context, settings, model, result, err);
    if (rc < 0)
        return rc;
    if (json_writer_key_or_null(&result->json, "simplification", values->simplify))
        rc = simplify_model(context, settings, model, result, err);
    return rc == 0 && values->fold_constants ? model_file_infer(context, &settings->file, model, err) : rc;
}

static int sanitize_and_save(const struct surgeon_job *job, struct error *err)
{
    struct subgraph whole SCOPED(subgraph_release) = {0};
    int rc = sanitize_model(job->context, job->settings, job->model, job->result, err);

    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, job->model);
    rc = model_trial_run(job->context, job->file, &whole, job->file->save.path, err);
    if (rc == 0)
        rc = model_file_save_new(job->context, job->file, &whole, err);
    return rc;
}

DEFINE_SURGEON_RUN(surgeon_sanitize_run, struct surgeon_sanitize_settings, sanitize_and_save)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct surgeon_sanitize_settings, common.logging, logging_options),
    COMMAND_GROUP(struct surgeon_sanitize_settings, file.model, sanitize_model_options),
    COMMAND_GROUP(struct surgeon_sanitize_settings, file.data, data_loader_options),
    COMMAND_GROUP(struct surgeon_sanitize_settings, file.onnxrt, onnxrt_library_options),
    COMMAND_GROUP(struct surgeon_sanitize_settings, file.bounds, onnxrt_bounds_options),
    COMMAND_GROUP(struct surgeon_sanitize_settings, file.inference, shape_inference_default_options),
    COMMAND_GROUP(struct surgeon_sanitize_settings, file.load, onnx_load_sanitize_options),
    COMMAND_GROUP(struct surgeon_sanitize_settings, file.save, onnx_save_required_options),
    COMMAND_GROUP(struct surgeon_sanitize_settings, sanitize, sanitize_options),
    COMMAND_GROUP(struct surgeon_sanitize_settings, json, json_options),
};

const struct command cmd_surgeon_sanitize = {
    .name = "sanitize",
    .summary = "simplify a model: fold constants, remove unused nodes, sort nodes",
    .description = "Writes an equivalent, simpler model. Without further options it only infers "
                   "shapes.\n\n--fold-constants computes tensors that depend only on constants, including the shapes "
                   "of tensors with static shapes, and replaces If nodes with a constant condition by the selected "
                   "branch, also in bodies of If, Loop and Scan and in the model's functions. Quantization and random "
                   "operators are never folded. Large models are folded in pieces of "
                   "some hundred nodes, in time linear in their number.\n\nONNX Runtime loads the result once, without "
                   "its weights. A result that it refuses is not written, unless it also refuses the original.",
    .example = "# static shapes, with all tensors that depend only on them folded\npolygraphy surgeon sanitize "
               "model.onnx -o simple.onnx --fold-constants --override-input-shapes image:[1,3,224,224]",
    COMMAND_GROUPS(groups),
    .essential = "-o --fold-constants --simplify --cleanup --toposort --inline-bodies --outputs --exclude-outputs "
                 "--override-input-shapes --num-passes --fold-size-threshold --save-external-data --json -v",
    .framed = true,
    COMMAND_RUN(surgeon_sanitize_run),
};
