/* cli/inspect/sparsity.c: the weights with the 2:4 pattern. */

#include "base/memory.h"
#include "cli/commands.h"
#include "cli/model_file.h"
#include "format/json/writer.h"
#include "onnx/external/tensor.h"
#include "onnx/shrink/sparsity.h"

struct inspect_sparsity_settings {
    struct common_settings common;
    struct json_values json;
    struct model_file_settings file;
};

static struct text name_candidate(const struct model *model, const struct sparsity_candidate *candidate)
{
    return model->values.items[model->initializers.items[candidate->initializer].value].name;
}

static int check_weight(const struct model *model, const struct sparsity_candidate *candidate, bool *ret,
                        struct error *err)
{
    struct tensor tensor SCOPED(tensor_release) = {0};
    int rc = external_tensor_read_constant(model, &model->initializers.items[candidate->initializer], &tensor, err);

    if (rc < 0)
        return rc;
    *ret = sparsity_holds(&tensor, candidate->axis);
    return 0;
}

static void write_weight(struct json_writer *writer, struct model *model, const struct sparsity_candidate *candidate,
                         bool sparse)
{
    json_writer_begin_object(writer);
    json_writer_add_string(writer, "name", arena_text(&model->arena, name_candidate(model, candidate)));
    json_writer_add_integer(writer, "axis", candidate->axis);
    json_writer_add_boolean(writer, "sparse", sparse);
    json_writer_end_object(writer);
}

static int check_weights(struct log *log, struct model *model, const struct sparsity_candidates *candidates,
                         struct json_writer *writer, struct error *err)
{
    int rc = 0;

    log_message(log, LOG_INFO, "Found: %zu weight tensor(s) eligible for pruning.", candidates->count);
    log_message(log, LOG_INFO, "Checking the sparsity pattern of %zu tensors.", candidates->count);
    json_writer_begin_array(writer);
    for (size_t i = 0; i < candidates->count && rc == 0; i++) {
        const struct sparsity_candidate *candidate = &candidates->items[i];
        struct text name = name_candidate(model, candidate);
        bool sparse;

        rc = check_weight(model, candidate, &sparse, err);
        if (rc < 0)
            break;
        log_message(log, sparse ? LOG_INFO : LOG_WARNING, "Found %s tensor: " TEXT_FORMAT,
                    sparse ? "sparse" : "non-sparse", TEXT_ARGS(name));
        write_weight(writer, model, candidate, sparse);
    }
    json_writer_end_array(writer);
    if (rc == 0)
        log_message(log, LOG_INFO, "Finished checking %zu tensors. ", candidates->count);
    return rc;
}

static int check_model(const struct command_context *context, const struct inspect_sparsity_settings *settings,
                       struct model *model, struct error *err)
{
    const struct json_values *json = &settings->json;
    struct sparsity_candidates candidates SCOPED_ITEMS = {0};
    struct json_writer writer SCOPED(json_writer_release) = {0};
    int rc = sparsity_find(model, &candidates, err);

    if (rc < 0)
        return rc;
    json_writer_init(&writer);
    rc = check_weights(context->log, model, &candidates, &writer, err);
    if (rc == 0 && json->path != NULL)
        rc = file_write(json->path, writer.text.data, writer.text.size, FILE_DURABLE, err);
    return rc;
}

static int inspect_sparsity_run(const struct command_context *context, const struct inspect_sparsity_settings *settings,
                                struct error *err)
{
    struct model *model SCOPED(model_free_pointed) = NULL;
    int rc = model_file_load(context, &settings->file, &model, err);

    if (rc < 0)
        return rc;
    return check_model(context, settings, model, err);
}

DEFINE_COMMAND_RUN(inspect_sparsity_run, struct inspect_sparsity_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct inspect_sparsity_settings, common.logging, logging_options),
    COMMAND_GROUP(struct inspect_sparsity_settings, file.model, onnx_model_options),
    COMMAND_GROUP(struct inspect_sparsity_settings, file.load, onnx_load_options),
    COMMAND_GROUP(struct inspect_sparsity_settings, json, json_options),
};

const struct command cmd_inspect_sparsity = {
    .name = "sparsity",
    .summary = "show which weights have the 2:4 sparsity pattern",
    .description =
        "Lists the weights of MatMul, Gemm and Conv nodes in which two of every four values along the axis that is "
        "summed over are zero: accelerators multiply faster by these. Weights whose size does not allow the pattern "
        "are omitted.\n\n--json writes a list with \"name\", \"axis\" and \"sparse\" of each weight.",
    .example = "polygraphy inspect sparsity model.onnx",
    COMMAND_GROUPS(groups),
    .framed = true,
    COMMAND_RUN(inspect_sparsity_run),
};
