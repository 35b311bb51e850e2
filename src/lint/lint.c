/* lint/lint.c: the order of the checks, and those of the whole model. See lint.h. */
#include "lint/lint.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/subgraph.h"
#include "onnx/model/text.h"

/* ---- Findings ---- */

void lint_add(struct lint *lint, enum lint_rule_number rule, uint32_t node, const char *format, ...)
{
    enum log_level log_level = lint_rules[rule].level == LINT_EXCEPTION ? LOG_ERROR : LOG_WARNING;
    const char *label = node != NODE_NONE ? lint->labels[node] : NULL;
    SCOPED_STRING(message);
    SCOPED_STRING(what);
    va_list args;

    va_start(args, format);
    string_add_format_list(&message, format, args);
    va_end(args);
    lint_report_add(lint->report, &lint_rules[rule], label, (struct text){message.data, message.size});
    if (label != NULL)
        string_add_format(&what, "Op: " TEXT_FORMAT " | ", TEXT_ARGS(lint->model->nodes.items[node].op_type));
    string_add(&what, message.data);
    if (!lint_groups_add(&lint->groups, &lint->model->arena, rule, (struct text){what.data, what.size}, log_level))
        log_level = LOG_VERBOSE;
    log_message(lint->log, log_level, "LINT | %s%s%s%s", label != NULL ? "Name: " : "", label != NULL ? label : "",
                label != NULL ? ", " : "", what.data);
}

void lint_add_passing(struct lint *lint, uint32_t node)
{
    lint_report_add_passing(lint->report, lint->labels[node]);
}

/* Generates an unused name for node `i`. `attempts` counts generated names that were taken, over all nodes. */
static char *make_up_label(struct lint *lint, const struct name_map *names, size_t i, unsigned *attempts)
{
    char *label = arena_printf(&lint->model->arena, "polygraphy_unnamed_node_%zu", i);

    while (name_map_find(names, text_of(label)) != NAME_MAP_NONE)
        label = arena_printf(&lint->model->arena, "polygraphy_unnamed_node_%zu_%u", i, (*attempts)++);
    return label;
}

static void make_labels(struct lint *lint)
{
    struct model *model = lint->model;
    SCOPED_NAME_MAP(names);
    unsigned attempts = 0;

    lint->labels = arena_alloc_zero(&model->arena, model->nodes.count + 1, sizeof(*lint->labels));
    for (size_t i = 0; i < model->nodes.count; i++)
        if (model->nodes.items[i].name.size > 0) {
            lint->labels[i] = arena_text(&model->arena, model->nodes.items[i].name);
            name_map_add(&names, text_of(lint->labels[i]), (uint32_t)i);
        }
    for (size_t i = 0; i < model->nodes.count; i++)
        if (lint->labels[i] == NULL) {
            lint->labels[i] = make_up_label(lint, &names, i, &attempts);
            name_map_add(&names, text_of(lint->labels[i]), (uint32_t)i);
        }
}

/* ---- Names ---- */

/* Nodes of one name: numbers of the nodes with each name, in the order of the names' first appearance. */
static void report_duplicate(struct lint *lint, uint32_t first, const uint32_t *next)
{
    SCOPED_STRING(text);

    string_add_format(&text, "Duplicate node name: '%s' for nodes with topological IDs: [%u", lint->labels[first],
                      first);
    for (uint32_t node = next[first]; node != NODE_NONE; node = next[node])
        string_add_format(&text, ", %u", node);
    string_add(&text, "] found.");
    lint_report_add(lint->report, &lint_rules[LINT_RULE_DUPLICATE_NAME], lint->labels[first],
                    (struct text){text.data, text.size});
    log_message(lint->log, LOG_ERROR, "LINT | %s", text.data);
}

static void check_node_names(struct lint *lint)
{
    size_t count = lint->model->nodes.count;
    uint32_t *next SCOPED_FREE = memory_alloc_zero(count + 1, sizeof(*next)); /* next node with the same name */
    uint32_t *last SCOPED_FREE = memory_alloc_zero(count + 1, sizeof(*last)); /* for the first node of a name */
    SCOPED_NAME_MAP(names);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = name_map_add(&names, text_of(lint->labels[i]), i);

        next[i] = NODE_NONE;
        if (first != i)
            next[last[first]] = i;
        last[first] = i;
    }
    for (uint32_t i = 0; i < count; i++)
        if (name_map_find(&names, text_of(lint->labels[i])) == i && next[i] != NODE_NONE)
            report_duplicate(lint, i, next);
}

/* ---- Input data ---- */

static void describe_lint_input(const struct value *value, struct arena *arena, struct backend_io *ret)
{
    struct value_type type;

    value_info_decode(value->info, &type);
    *ret = (struct backend_io){
        .name = arena_text(arena, value->name),
        .type = type.element,
        .not_a_tensor = type.not_a_tensor,
        .has_shape = type.has_shape,
        .shape = type.shape,
        .symbols = arena_alloc_zero(arena, TENSOR_MAX_RANK, sizeof(char *)),
    };
    for (size_t i = 0; type.has_shape && i < type.shape.rank; i++)
        if (type.symbols[i].size > 0)
            ret->symbols[i] = arena_text(arena, type.symbols[i]);
}

/* With the shapes that are used: the user's, else the model's. */
static void log_inputs(const struct lint *lint, const struct backend_io *inputs)
{
    struct model *model = lint->model;
    struct known_types known;
    const struct subgraph whole = {.model = model, .known = &known};
    SCOPED_STRING(text);

    known_types_init(&known, model, &model->arena);
    for (size_t i = 0; i < model->inputs.count; i++) {
        const struct shape *given = data_loader_given_shape(lint->loader, inputs[i].name);
        struct value_type type = {.element = inputs[i].type, .has_shape = true};

        if (given == NULL)
            continue;
        type.shape = *given;
        known_types_set(&known, model->inputs.items[i], &type);
    }
    tensor_block(&text, &whole, &lint->model->inputs);
    log_message(lint->log, LOG_INFO, "Will generate inference input data according to provided TensorMetadata: %s",
                text.data);
    known_types_release(&known);
}

static int make_lint_feed(struct lint *lint, struct tensor_list *ret, struct error *err)
{
    struct model *model = lint->model;
    struct backend_io *inputs = arena_alloc_zero(&model->arena, model->inputs.count + 1, sizeof(*inputs));

    for (size_t i = 0; i < model->inputs.count; i++)
        describe_lint_input(&model->values.items[model->inputs.items[i]], &model->arena, &inputs[i]);
    if (data_loader_kept(lint->loader) == NULL || data_loader_kept(lint->loader)->count == 0)
        log_inputs(lint, inputs);
    return data_loader_feed(lint->loader, inputs, model->inputs.count, 0, ret, err);
}

/* ---- The whole model ---- */

/* A log sink that keeps the runtime's warnings, one per line, without the runtime's name as a prefix. Messages before a
 * session is announced concern the machine, not the model. */
static void keep_warning(void *data, enum log_level level, int depth, struct text message)
{
    static const char runtime[] = "ONNX-Runtime: ";
    const size_t length = sizeof(runtime) - 1;
    struct string_builder *warnings = data;

    (void)depth;
    if (level == LOG_INFO)
        string_truncate(warnings, 0);
    if (level != LOG_WARNING)
        return;
    if (message.size > length && memcmp(message.data, runtime, length) == 0)
        message = (struct text){message.data + length, message.size - length};
    string_add_text(warnings, message);
    string_add_char(warnings, '\n');
}

/* Runs the whole model once. A failure is not reported here: single nodes give better reasons. Warnings are reported
 * only on success: otherwise single nodes repeat them. */
static int run_whole(struct lint *lint, const struct tensor_list *feed, bool *ret_loads, struct error *err)
{
    struct backend_request request = *lint->request;
    struct backend_session *session;
    struct tensor_list outputs SCOPED(tensor_list_release) = {0};
    SCOPED_STRING(warnings);
    struct log keeper = {.threshold = LOG_VERBOSE, .write = keep_warning, .data = &warnings};
    bool any = true;
    int rc;

    request.log = &keeper;
    rc = lint->backend->open(&request, &session, err);
    *ret_loads = rc == 0;
    if (rc < 0)
        return rc;
    rc = lint_run_session(lint->backend, session, feed, &outputs, &any, err);
    lint->backend->close(session);
    if (rc < 0)
        return rc;
    if (warnings.size > 0)
        for (char *rest, *line = strtok_r(warnings.data, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
            lint_add(lint, LINT_RULE_RUNTIME_WARNING, NODE_NONE, "%s", line);
    if (!any)
        lint_add(lint, LINT_RULE_NOT_RUN, NODE_NONE, "Not run: no output is a tensor");
    return rc;
}

/* Warns of inputs and nodes that no output depends on. If the model `ran`, the other nodes pass. */
static void report_unused(struct lint *lint, bool ran)
{
    struct model *model = lint->model;
    struct bitset used_inputs SCOPED(bitset_release) = {0};
    struct subgraph used SCOPED(subgraph_release) = {0};

    subgraph_init_whole(&used, model);
    subgraph_clean(&used, NULL, NULL, NULL);
    value_list_to_set(&used.inputs, model->values.count, &used_inputs);
    for (size_t i = 0; i < model->inputs.count; i++)
        if (!bitset_has(&used_inputs, model->inputs.items[i]))
            lint_add(lint, LINT_RULE_UNUSED_INPUT, NODE_NONE,
                     "Input: '" TEXT_FORMAT "' does not affect outputs, can be removed.",
                     TEXT_ARGS(model->values.items[model->inputs.items[i]].name));
    for (uint32_t i = 0; i < model->nodes.count; i++)
        if (!bitset_has(&used.nodes, i))
            lint_add(lint, LINT_RULE_UNUSED_NODE, i, "Does not affect outputs, can be removed.");
        else if (ran)
            lint_report_add_passing(lint->report, lint->labels[i]);
}

/* Whether nothing proves that generated sizes and values are valid. */
static bool data_are_uncertain(const struct lint *lint)
{
    const struct derived_inputs *derived = data_loader_derived(lint->loader);
    bool is_uncertain = false;

    if (!data_loader_generates(lint->loader) || derived->is_proven)
        return false;
    for (size_t i = 0; i < derived->count; i++)
        is_uncertain |= !derived->items[i].is_certain || (derived->items[i].is_open && !derived->items[i].is_given);
    return is_uncertain;
}

/* Findings of a model that does not run on uncertain data: one note if it loads. */
static void report_generated_data(struct lint *lint, const struct error *why)
{
    lint_add(lint, LINT_RULE_GENERATED_DATA, NODE_NONE,
             "Not checked at run time: the model loads, but does not run on the generated data, which are not known to "
             "be valid; pass --load-inputs or --input-shapes (%s)",
             why->message);
}

/* The whole model, and its nodes when it does not run. */
static int run_on(struct lint *lint, struct tensor_list *feed, bool in_order, struct error *err)
{
    size_t failing = lint->report->failing.count;
    struct error why = {0};
    bool loads = false;
    int rc = in_order ? run_whole(lint, feed, &loads, &why) : ERR_BACKEND;
    bool ran = rc == 0;

    lint->data_are_uncertain = data_are_uncertain(lint);
    if (rc == ERR_BACKEND && loads && lint->data_are_uncertain && !bounded_process_is_end(&why)) {
        report_generated_data(lint, &why);
        report_unused(lint, false);
        return 0;
    }
    if (!ran && rc != ERR_BACKEND && rc != ERR_INVALID && rc != ERR_CORRUPT && rc != ERR_UNSUPPORTED)
        return error_set(err, (enum error_code)rc, "%s", why.message);
    rc = ran ? 0 : lint_run_nodes(lint, feed, err);
    if (rc < 0)
        return rc;
    if (bounded_process_is_end(&why) && lint->report->failing.count == failing)
        lint_add(lint, LINT_RULE_MODEL_FAILS, NODE_NONE,
                 "%s. It does so on the whole model, but not on single nodes: try `run` with a lower "
                 "--onnxrt-optimization-level",
                 why.message);
    else if (!ran && in_order && lint->report->entries.count == 0) /* the whole fails, but no single node */
        lint_add(lint, LINT_RULE_MODEL_FAILS, NODE_NONE, "%s", why.message);
    if (lint->failed_at_run)
        report_generated_data(lint, &why);
    report_unused(lint, ran);
    lint->report->looked[LINT_RUNTIME] = true;
    return 0;
}

static int run_checks(struct lint *lint, struct error *err)
{
    struct tensor_list feed SCOPED(tensor_list_release) = {0};
    struct error why = {0};
    bool in_order;
    int rc;

    make_labels(lint);
    lint->report->looked[LINT_LOADER] = true;
    if (lint->model->nodes.count == 0) {
        lint_add(lint, LINT_RULE_NO_NODES, NODE_NONE, "ONNX model has no nodes");
        return 0;
    }
    check_node_names(lint);
    in_order = lint_check_graph(lint);
    if (!in_order) {
        if (model_sort_nodes(lint->model, &why) < 0)
            lint_add(lint, LINT_RULE_CYCLE, NODE_NONE, "%s", why.message);
        make_labels(lint);
    }
    lint->report->looked[LINT_CHECKER] = lint->report->looked[LINT_GRAPH] = true;
    rc = make_lint_feed(lint, &feed, err);
    if (rc == ERR_UNSUPPORTED) { /* inputs that are not tensors, or without a type */
        lint_add(lint, LINT_RULE_NOT_RUN, NODE_NONE, "Not run: %s", err->message);
        report_unused(lint, false);
        rc = 0;
    } else if (rc == 0) {
        rc = run_on(lint, &feed, in_order, err);
    }
    return rc;
}

int lint_run(struct lint *lint, struct error *err)
{
    int rc = run_checks(lint, err);

    lint_groups_log_rest(&lint->groups, lint->log);
    lint_groups_release(&lint->groups);
    return rc;
}
