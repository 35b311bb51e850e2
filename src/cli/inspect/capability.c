/* capability.c: which nodes of a model the engine of --trt supports. */
#include <stdlib.h>
#include <string.h>

#include "backend/node_support.h"
#include "backend/tensorrt/node_support.h"
#include "backend/type_inference.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/inspect/capability_providers.h"
#include "cli/inspect/capability_trt.h"
#include "cli/model_file.h"
#include "cli/options/groups.h"
#include "cli/trt.h"
#include "format/json/writer.h"
#include "onnx/write/model.h"

#define DEFAULT_FOLDER "polygraphy_capability_dumps"

struct inspect_capability_settings {
    struct common_settings common;
    struct json_values json;
    struct model_file_settings file;

    /* its own */
    const char *folder;
    bool with_partitioning;
    bool providers, trt; /* rather than a model */
};

#define ROW(member, ...) OPTION_ROW(struct inspect_capability_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(folder, .names = {"-o", "--output"}, .kind = OPTION_ONE, .value_name = "FOLDER", .fallback = DEFAULT_FOLDER,
        .file = OPTION_WRITES_FOLDER, .help = "folder of the report and of the subgraphs"),
    ROW(with_partitioning, .names = {"--with-partitioning"}, .kind = OPTION_FLAG,
        .help = "also save the longest sequences of supported and of unsupported nodes as models"),
    ROW(providers, .names = {"--providers"}, .kind = OPTION_FLAG,
        .help = "test ONNX Runtime's execution providers on this machine instead of a model: each one runs a model "
                "with one node, and the reason of a failure is shown"),
    ROW(trt, .names = {"--trt"}, .kind = OPTION_FLAG,
        .help = "show TensorRT's library instead of a model: flavour, version and path, its parser, and whether a GPU "
                "answers"),
};

static const struct option_group capability_options = {
    .title = "Capability",
    OPTION_ROWS(options),
};

/* An unsupported node, and the function calls that lead to it. */
struct report_row {
    uint32_t node; /* index in the main graph: the node itself, or the outermost call */
    const char *stack, *op_type, *name, *reason;
};

struct report_rows {
    struct report_row *items;
    size_t count, capacity;
};

/* Unsupported nodes with the same operator and reason. */
struct refusal {
    const char *op_type, *reason;
    struct string_builder nodes; /* "[0, 1], [4, 5]": first node, and one past the last */
    size_t count;
};

struct refusal_list {
    struct refusal *items;
    size_t count, capacity;
    struct name_map places; /* of operators and reasons among the items */
    struct arena memory;    /* of the names in there */
};

/* ---- The report ---- */

static void list_rows(struct model *model, const struct node_support_list *support, struct report_rows *ret)
{
    VECTOR_EACH (const struct node_support, node, *support) {
        VECTOR_EACH (const struct inner_refusal, inner, node->inside) {
            *VECTOR_APPEND(ret) =
                (struct report_row){node->node, inner->stack, inner->op_type, inner->name, inner->reason};
        }
        if (node->reason != NULL && node->inside.count == 0)
            *VECTOR_APPEND(ret) =
                (struct report_row){node->node, "", arena_text(&model->arena, model->nodes.items[node->node].op_type),
                                    model_node_label(model, node->node), node->reason};
    }
}

static struct refusal *refusal_for(struct refusal_list *refusals, const struct report_row *row)
{
    const char *name = arena_printf(&refusals->memory, "%s\n%s", row->op_type, row->reason);
    uint32_t place = name_map_add(&refusals->places, text_of(name), (uint32_t)refusals->count);
    struct refusal *refusal;

    if (place < refusals->count)
        return &refusals->items[place];
    refusal = VECTOR_APPEND(refusals);
    *refusal = (struct refusal){.op_type = row->op_type, .reason = row->reason};
    string_init(&refusal->nodes);
    return refusal;
}

/* An unsupported node of a function makes the calling node of the main graph unsupported. */
static void group_refusals(const struct report_rows *rows, struct refusal_list *ret)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct refusal *refusal = refusal_for(ret, &rows->items[i]);
        uint32_t node = rows->items[i].node;

        string_add_format(&refusal->nodes, "%s[%u, %u]", refusal->count > 0 ? ", " : "", node, node + 1);
        refusal->count++;
    }
}

static void release_refusals(struct refusal_list *refusals)
{
    for (size_t i = 0; i < refusals->count; i++)
        string_release(&refusals->items[i].nodes);
    free(refusals->items);
    name_map_release(&refusals->places);
    arena_release(&refusals->memory);
}

static size_t choose_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void add_padded(struct string_builder *out, const char *text, size_t width)
{
    string_add_format(out, "%-*s | ", (int)width, text);
}

/* Each node separately: the report without partitioning. */
static void add_stack_table(const struct report_rows *rows, struct string_builder *out)
{
    static const struct report_row title = {0, "Stack trace", "Operator ", "Node ", "Reason"};
    size_t stack = strlen(title.stack), op_type = strlen(title.op_type), name = strlen(title.name);
    size_t reason = strlen(title.reason), first;

    for (size_t i = 0; i < rows->count; i++) {
        stack = choose_larger(stack, strlen(rows->items[i].stack));
        op_type = choose_larger(op_type, strlen(rows->items[i].op_type));
        name = choose_larger(name, strlen(rows->items[i].name));
        reason = choose_larger(reason, strlen(rows->items[i].reason));
    }
    string_add(out, "===== Summary =====\n");
    first = out->size;
    for (size_t i = 0; i <= rows->count; i++) {
        const struct report_row *row = i == 0 ? &title : &rows->items[i - 1];

        add_padded(out, row->stack, stack);
        add_padded(out, row->op_type, op_type);
        add_padded(out, row->name, name);
        string_add(out, row->reason);
        if (i == 0) {
            string_add_char(out, '\n');
            for (size_t width = out->size - first - 1 - strlen(title.reason) + reason; width > 0; width--)
                string_add_char(out, '-');
        }
        if (i < rows->count)
            string_add_char(out, '\n');
    }
}

static void add_table(const struct refusal_list *refusals, struct string_builder *out)
{
    static const char operator_title[] = "Operator", reason_title[] = "Reason";
    size_t operator_width = sizeof(operator_title) - 1, reason_width = sizeof(reason_title) - 1, first;

    for (size_t i = 0; i < refusals->count; i++) {
        operator_width = choose_larger(operator_width, strlen(refusals->items[i].op_type));
        reason_width = choose_larger(reason_width, strlen(refusals->items[i].reason));
    }
    string_add(out, "===== Summary =====\n");
    first = out->size;
    add_padded(out, operator_title, operator_width);
    string_add(out, "Count   | ");
    add_padded(out, reason_title, reason_width);
    string_add(out, "Nodes\n");
    for (size_t width = out->size - first - 1; width > 0; width--)
        string_add_char(out, '-');
    VECTOR_EACH (const struct refusal, refusal, *refusals) {
        string_add_char(out, '\n');
        add_padded(out, refusal->op_type, operator_width);
        string_add_format(out, "%7zu | ", refusal->count);
        add_padded(out, refusal->reason, reason_width);
        string_add_format(out, "[%s]", refusal->nodes.data);
    }
}

static char *path_in(const char *folder, const char *format, size_t first, size_t last)
{
    struct string_builder path;

    string_init(&path);
    string_add_format(&path, "%s/", folder);
    string_add_format(&path, format, first, last);
    return string_take(&path);
}

static int save_report(const struct command_context *context, const char *folder, const struct string_builder *text,
                       struct error *err)
{
    char *path SCOPED_FREE = path_in(folder, "results.txt", 0, 0);
    int rc = file_make_folders(folder, err);

    if (rc == 0) {
        log_message(context->log, LOG_INFO, "Saving results to %s", path);
        rc = file_write(path, text->data, text->size, FILE_DURABLE, err);
    }
    return rc;
}

/* ---- Subgraphs ---- */

/* The nodes from `first` up to but not including `end`. */
struct model_part {
    size_t first, end;
    bool supported;
};

/* Each subgraph has a separate file of external data. */
static int save_part(const struct command_context *context, const struct inspect_capability_settings *values,
                     const struct subgraph *whole, const struct model_part *range, struct error *err)
{
    size_t first = range->first, end = range->end;
    char *path SCOPED_FREE =
        path_in(values->folder,
                range->supported ? "supported_subgraph-nodes-%zu-%zu.onnx" : "unsupported_subgraph-nodes-%zu-%zu.onnx",
                first, end - 1);
    struct external_settings external = values->file.save.external;
    SCOPED_STRING(file_name);
    struct subgraph part SCOPED(subgraph_release) = {0};
    SCOPED_BITSET(nodes);

    if (external.file_name != NULL) {
        string_add_format(&file_name, "%s.nodes-%zu-%zu", external.file_name, first, end - 1);
        external.file_name = file_name.data;
    }
    bitset_init(&nodes, whole->nodes.size);
    for (size_t i = first; i < end; i++)
        bitset_add(&nodes, i);
    subgraph_init_nodes(&part, whole, &nodes);
    log_message(context->log, LOG_INFO, "Saving ONNX model to: %s", path);
    return model_save(&part, path, &external, false, err);
}

static int save_parts(const struct command_context *context, const struct inspect_capability_settings *settings,
                      const struct subgraph *whole, const struct node_support_list *support, struct error *err)
{
    int rc = 0;

    for (size_t i = 0, end; rc == 0 && i < support->count; i = end) {
        bool supported = support->items[i].reason == NULL;

        for (end = i + 1; end < support->count && (support->items[end].reason == NULL) == supported; end++)
            ;
        rc = save_part(context, settings, whole, &(struct model_part){i, end, supported}, err);
    }
    return rc;
}

/* ---- The command ---- */

/* With --json: every unsupported node. */
static int save_json(const struct report_rows *rows, const char *path, struct error *err)
{
    struct json_writer writer;
    int rc = json_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    json_writer_begin_array(&writer);
    for (size_t i = 0; i < rows->count; i++) {
        json_writer_begin_object(&writer);
        json_writer_add_integer(&writer, "node", rows->items[i].node);
        json_writer_add_string(&writer, "stack_trace", rows->items[i].stack);
        json_writer_add_string(&writer, "operator", rows->items[i].op_type);
        json_writer_add_string(&writer, "name", rows->items[i].name);
        json_writer_add_string(&writer, "reason", rows->items[i].reason);
        json_writer_end_object(&writer);
    }
    json_writer_end_array(&writer);
    return json_writer_finish(&writer, err);
}

/* Which nodes of a model are supported, and by what. */
struct capability {
    const char *engine; /* "TensorRT 10.16.1" */
    struct node_support_list support;
    struct report_rows rows;
};

static int report_support(const struct command_context *context, const struct inspect_capability_settings *values,
                          const struct subgraph *whole, const struct capability *capability, struct error *err)
{
    const struct report_rows *rows = &capability->rows;
    struct refusal_list refusals = {0};
    SCOPED_STRING(text);
    int rc;

    if (rows->count == 0) {
        log_message(context->log, LOG_INFO, "Graph is fully supported by %s; Will not %s.", capability->engine,
                    values->with_partitioning ? "generate subgraphs" : "report errors");
        return 0;
    }
    log_message(context->log, LOG_INFO, "Nodes that %s does not support:", capability->engine);
    arena_init(&refusals.memory);
    if (values->with_partitioning) {
        group_refusals(rows, &refusals);
        add_table(&refusals, &text);
    } else {
        add_stack_table(rows, &text);
    }
    log_text(context->log, LOG_INFO, (struct text){text.data, text.size});
    string_add_char(&text, '\n');
    rc = save_report(context, values->folder, &text, err);
    if (rc == 0 && values->with_partitioning)
        rc = save_parts(context, values, whole, &capability->support, err);
    release_refusals(&refusals);
    return rc;
}

static int refuse_words(const struct model_values *model, const struct inspect_capability_settings *values,
                        struct error *err)
{
    if (values->providers && values->trt)
        return error_set(err, ERR_INVALID, "--providers and --trt exclude each other: use one of them");
    if ((values->providers || values->trt) && model->path != NULL)
        return error_set(err, ERR_INVALID, "%s, not a model: leave out '%s'",
                         values->trt ? "--trt shows TensorRT's library" : "--providers tests ONNX Runtime",
                         model->path);
    if (!values->providers && !values->trt && model->path == NULL)
        return error_set(err, ERR_INVALID,
                         "no model was given: pass one to list its unsupported nodes, --providers to test ONNX "
                         "Runtime's execution providers, or --trt to show TensorRT's library");
    return 0;
}

/* Node by node, by ONNX Runtime. */
static int ask_built_in_engine(const struct command_context *context, const struct inspect_capability_settings *values,
                               struct model *model, struct node_support_list *ret, struct error *err)
{
    struct backend_request request = model_file_request_for(context, &values->file, model);
    struct error why = {0};
    int rc = 0;

    if (types_infer(model, NULL, model_file_runtime(&values->file), &request, NULL, &why) < 0)
        log_message(context->log, LOG_VERBOSE, "The model as a whole is refused: %s", why.message);
    if (!bounded_process_is_end(&why))
        rc = node_support_find(model, model_file_runtime(&values->file), &request, ret, &why);
    if (model_file_report_end(&why, "cannot determine the supported nodes", model,
                              "raise --onnxrt-timeout or --max-memory if it exceeded a limit", err) < 0)
        return ERR_BACKEND;
    return rc < 0 ? error_set(err, (enum error_code)rc, "%s", why.message) : 0;
}

/* Types of tensors, as far as ONNX Runtime knows the operators, help a parser that gets single nodes. */
static int ask_tensorrt(const struct command_context *context, const struct inspect_capability_settings *values,
                        struct model *model, struct node_support_list *ret, struct error *err)
{
    struct backend_request request = model_file_request_for(context, &values->file, model);
    struct error why = {0};

    if (types_infer(model, NULL, model_file_runtime(&values->file), &request, NULL, &why) < 0)
        log_message(context->log, LOG_VERBOSE, "Types were not inferred: %s", why.message);
    return tensorrt_node_support_find(model, ret, err);
}

static int find_capability(const struct command_context *context, const struct inspect_capability_settings *values,
                           struct model *model, struct capability *ret, struct error *err)
{
    const struct tensorrt_description *library;
    int rc = trt_choose(context->log, NULL, TRT_PARSES, &library, err);

    if (rc < 0)
        return rc;
    ret->engine = library != NULL ? library->name : "the built-in engine";
    rc = library != NULL ? ask_tensorrt(context, values, model, &ret->support, err)
                         : ask_built_in_engine(context, values, model, &ret->support, err);
    if (rc < 0)
        return rc;
    if (ret->support.not_looked_into > 0)
        log_message(context->log, LOG_WARNING,
                    "%zu unsupported calls of local functions are listed without their unsupported nodes: there are "
                    "too many calls",
                    ret->support.not_looked_into);
    list_rows(model, &ret->support, &ret->rows);
    return 0;
}

static int inspect_capability_run(const struct command_context *context,
                                  const struct inspect_capability_settings *values, struct error *err)
{
    const struct json_values *json = &values->json;
    struct capability capability = {0};
    struct subgraph whole SCOPED(subgraph_release) = {0};
    struct model *model;
    int rc = refuse_words(&values->file.model, values, err);

    if (rc < 0)
        return rc;
    if (values->providers)
        return inspect_capability_providers(context, &values->file, &values->json, err);
    if (values->trt)
        return inspect_capability_trt(context, &values->json, err);
    rc = model_file_load(context, &values->file, &model, err);
    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, model);
    rc = find_capability(context, values, model, &capability, err);
    if (rc == 0)
        rc = report_support(context, values, &whole, &capability, err);
    if (rc < 0)
        goto done;
    rc = json->path != NULL ? save_json(&capability.rows, json->path, err) : 0;
done:
    free(capability.rows.items);
    node_support_release(&capability.support);
    model_free(model);
    return rc;
}

DEFINE_COMMAND_RUN(inspect_capability_run, struct inspect_capability_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct inspect_capability_settings, common.logging, logging_options),
    COMMAND_GROUP(struct inspect_capability_settings, file.model, capability_model_options),
    COMMAND_GROUP(struct inspect_capability_settings, file.inference, shape_inference_options),
    COMMAND_GROUP(struct inspect_capability_settings, file.load, onnx_load_options),
    COMMAND_GROUP(struct inspect_capability_settings, file.onnxrt, onnxrt_provider_library_options),
    COMMAND_GROUP(struct inspect_capability_settings, file.onnxrt, onnxrt_library_options),
    COMMAND_GROUP(struct inspect_capability_settings, file.bounds, onnxrt_bounds_options),
    COMMAND_GROUP(struct inspect_capability_settings, file.save, convert_save_options),
    {&capability_options, 0},
    COMMAND_GROUP(struct inspect_capability_settings, json, json_options),
};

const struct command cmd_inspect_capability = {
    .name = "capability",
    .summary = "list the nodes that TensorRT or the built-in engine does not support, or test what is installed",
    .description =
        "Lists the nodes that the engine of --trt does not support, with the reason, and writes the list to "
        "results.txt. Where TensorRT's library is installed, its ONNX parser is asked, which needs no GPU; "
        "otherwise the built-in engine (also with POLYGRAPHY_TRT=builtin), which supports every operator of "
        "ONNX Runtime, some of them also with oneDNN. The first line says which. "
        "With --with-partitioning, nodes are grouped by operator and reason, and the longest sequences of "
        "nodes are saved as models.\n\nNodes are tested one by one, without running them (from TensorRT 10.8 on "
        "all at once). A node downstream "
        "of an unsupported one may be listed because its input types are unknown. Nodes of local functions "
        "are tested too: the stack trace shows the calls that lead to a node.\n\nWith --providers no model "
        "is read: each execution provider of ONNX Runtime is tested, also those of libraries that are named with "
        "--onnxrt-provider-library or installed, with their devices. With --trt, TensorRT's library is "
        "shown.\n\nWith --save-external-data FILE each "
        "subgraph has a separate file: FILE with the numbers of its nodes appended.",
    .example = "# unsupported nodes, and the supported subgraphs\npolygraphy inspect capability model.onnx "
               "--with-partitioning -o parts\n\n# does --onnxrt --providers cuda work on this machine, and if not, "
               "why?\npolygraphy inspect capability --providers",
    COMMAND_GROUPS(groups),
    .essential = "-o --with-partitioning --providers --trt --json -v",
    .framed = true,
    COMMAND_RUN(inspect_capability_run),
};
