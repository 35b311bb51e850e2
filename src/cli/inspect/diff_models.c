/* cli/inspect/diff_models.c: the differences between two models that should compute the same. */
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/debug/model_pair.h"
#include "cli/options/groups.h"
#include "format/json/writer.h"

struct diff_models_settings {
    struct common_settings common;
    struct json_values json;
    const char *first, *second; /* its own */
};

#define ROW(member, ...) OPTION_ROW(struct diff_models_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(first, .names = {"model_a"}, .kind = OPTION_ONE, .file = OPTION_READS_MODEL, .extensions = "onnx",
        .help = "an ONNX model: the reference, A"),
    ROW(second, .names = {"model_b"}, .kind = OPTION_ONE, .file = OPTION_READS_MODEL, .extensions = "onnx",
        .help = "another ONNX model that should compute the same, B"),
};

static const struct option_group diff_models_options = {
    .title = "Models",
    OPTION_ROWS(options),
};

static size_t count_harmless(const struct model_differences *differences)
{
    size_t ret = 0;

    for (size_t i = 0; i < differences->count; i++)
        ret += differences->items[i].is_harmless;
    return ret;
}

static void fill_diff_result(const struct model_pairing *pairing, const struct model_differences *differences,
                             struct result *ret)
{
    size_t nodes_a = pairing->a.model->nodes.count, nodes_b = pairing->b.model->nodes.count;
    bool is_all_compared = pairing->a.sparse_constants + pairing->b.sparse_constants == 0;

    if (pairing->paired_nodes == 0)
        result_set_verdict(ret, REPORT_UNKNOWN, "No nodes could be paired");
    else if (differences->count == 0 && is_all_compared && pairing->paired_nodes == nodes_a && nodes_a == nodes_b)
        result_set_verdict(ret, REPORT_PASSED, "All %zu nodes are paired, and equal in weights, attributes and inputs",
                           nodes_b);
    else
        result_set_verdict(ret, REPORT_FAILED,
                           "%zu of %zu nodes of A and %zu of B are paired; %zu of their weights, attributes or inputs "
                           "differ, %zu of these in shape or type only",
                           pairing->paired_nodes, nodes_a, nodes_b, differences->count, count_harmless(differences));
    model_pair_add_tables(pairing, differences, ret);
    result_add_line(ret, RESULT_NOT_TESTED,
                    "whether the differences change the outputs: `polygraphy debug models` "
                    "with the same models runs both");
}

static int save_diff_result(const struct result *result, const char *path, struct error *err)
{
    struct json_writer writer;
    int rc = json_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    json_writer_begin_object(&writer);
    result_write(result, &writer);
    json_writer_end_object(&writer);
    return json_writer_finish(&writer, err);
}

static int diff_models_run(const struct command_context *context, const struct diff_models_settings *settings,
                           struct error *err)
{
    struct result *result = result_new("inspect diff-models");
    struct model_differences differences = {0};
    struct model_pairing pairing = {0};
    struct model *a = NULL, *b = NULL;
    int rc = model_pair_open(settings->first, NULL, &a, err);

    if (rc == 0)
        rc = model_pair_open(settings->second, NULL, &b, err);
    if (rc == 0)
        rc = model_pairing_make(a, b, &pairing, err);
    if (rc < 0)
        goto done;
    model_differences_find(&pairing, &differences);
    fill_diff_result(&pairing, &differences, result);
    log_message(context->log, LOG_INFO, "A: %s\nB: %s", settings->first, settings->second);
    result_log(result, context->log);
    rc = settings->json.path != NULL ? save_diff_result(result, settings->json.path, err) : 0;
done:
    model_differences_release(&differences);
    model_pairing_release(&pairing);
    result_free(result);
    model_free(a);
    model_free(b);
    return rc;
}

DEFINE_COMMAND_RUN(diff_models_run, struct diff_models_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct diff_models_settings, common.logging, logging_options),
    {&diff_models_options, 0},
    COMMAND_GROUP(struct diff_models_settings, json, json_options),
};

const struct command cmd_inspect_diff_models = {
    .name = "diff-models",
    .summary = "show the differences between two models that should compute the same",
    .description =
        "Pairs the nodes of two models by structure, whatever their names are, and lists what differs between them: "
        "weights (transposed, in another order, scaled, one channel, another type), attributes, inputs, and nodes of "
        "one model only.\n\n"
        "Nothing is run; `polygraphy debug models` finds out which of the differences makes the outputs differ. "
        "Differences are not a failure: the exit status is 0.",
    .example = "# a model, and the same from another exporter\npolygraphy inspect diff-models torchscript.onnx "
               "dynamo.onnx",
    COMMAND_GROUPS(groups),
    COMMAND_RUN(diff_models_run),
};
