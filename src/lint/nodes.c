/* lint/nodes.c: runs every node of a model separately. See lint.h. */
#include <stdlib.h>
#include <string.h>

#include "backend/subgraph_session.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "lint/lint.h"

/* Maximum number of crashes of the runtime's process: each one costs a restart. */
#define MOST_ENDS 16

/* The tensors computed so far. Nodes are sorted, so a tensor that is unknown when its consumer is reached stays
 * unknown. */
struct node_runs {
    struct lint *lint;
    size_t ends;           /* terminations of the runtime's process */
    bool out_of_time;      /* one of them was a time-out */
    struct tensor *values; /* one for each value of the model; undefined type: unknown */
    uint32_t *readers;     /* number of nodes that have not yet read a value */
};

static bool value_is_known(const struct node_runs *runs, uint32_t value)
{
    return value == VALUE_NONE || runs->values[value].type != DATA_UNDEFINED ||
           runs->lint->model->values.items[value].initializer != INITIALIZER_NONE;
}

static bool are_known(const struct node_runs *runs, struct edge_range edges)
{
    for (size_t i = 0; i < edges.count; i++)
        if (!value_is_known(runs, model_edge(runs->lint->model, edges, i)))
            return false;
    return true;
}

static void count_readers(struct node_runs *runs, struct edge_range edges)
{
    for (size_t i = 0; i < edges.count; i++) {
        uint32_t value = model_edge(runs->lint->model, edges, i);

        if (value != VALUE_NONE)
            runs->readers[value]++;
    }
}

static void give_back(struct node_runs *runs, struct edge_range edges)
{
    for (size_t i = 0; i < edges.count; i++) {
        uint32_t value = model_edge(runs->lint->model, edges, i);

        if (value != VALUE_NONE && --runs->readers[value] == 0) {
            tensor_release(&runs->values[value]);
            runs->values[value].type = DATA_UNDEFINED;
        }
    }
}

/* The inputs of a single node, as views of known values. Their actual types replace those in the model. */
static void make_node_feed(struct node_runs *runs, const struct subgraph *single, struct tensor_list *ret)
{
    struct model *model = runs->lint->model;

    for (size_t i = 0; i < single->inputs.count; i++) {
        uint32_t value = single->inputs.items[i];
        const struct tensor *known = &runs->values[value];
        struct value_type type = {.element = known->type, .has_shape = true, .shape = known->shape};
        struct tensor borrowed;

        tensor_borrow(known->type, &known->shape, known->data, known->size, &borrowed);
        tensor_list_add(ret, model->values.items[value].name, &borrowed);
        model_set_type(model, value, &type);
    }
}

static void keep_node_outputs(struct node_runs *runs, struct tensor_list *outputs)
{
    for (size_t i = 0; i < outputs->count; i++) {
        uint32_t value = model_find_value(runs->lint->model, text_of(outputs->items[i].name));

        if (value == VALUE_NONE || runs->readers[value] == 0)
            continue;
        tensor_release(&runs->values[value]);
        runs->values[value] = outputs->items[i].tensor;
        outputs->items[i].tensor = (struct tensor){0};
    }
}

int lint_run_session(const struct backend *backend, struct backend_session *session, const struct tensor_list *feed,
                     struct tensor_list *ret, bool *ret_any, struct error *err)
{
    struct words wanted = {0};
    size_t count = session->output_count;
    const struct backend_io *outputs = session->outputs;
    const char **names = memory_alloc_zero(count + 1, sizeof(*names));
    int rc = 0;

    for (size_t i = 0; i < count; i++)
        if (outputs[i].not_a_tensor == NULL)
            names[wanted.count++] = outputs[i].name;
    wanted.items = names;
    if (wanted.count > 0)
        rc = backend->run(session, feed, &wanted, ret, NULL, err);
    *ret_any = wanted.count > 0;
    free(names);
    return rc;
}

static int run_single(struct node_runs *runs, const struct subgraph *single, bool *ret_loads, struct error *err)
{
    struct subgraph_session session;
    struct tensor_list feed SCOPED(tensor_list_release) = {0};
    struct tensor_list outputs SCOPED(tensor_list_release) = {0};
    bool any;
    int rc;

    make_node_feed(runs, single, &feed);
    rc = subgraph_session_open(&session, single, runs->lint->backend, runs->lint->request, err);
    *ret_loads = rc == 0;
    if (rc < 0)
        goto done;
    rc = lint_run_session(session.backend, session.session, &feed, &outputs, &any, err);
    if (rc == 0)
        keep_node_outputs(runs, &outputs);
done:
    subgraph_session_close(&session);
    return rc;
}

/* The runtime's message without parts that the report contains anyway and without positions in the runtime's
 * sources. */
static struct text shorten_runtime_message(const char *message)
{
    static const char *const markers[] = {"[ShapeInferenceError]", "[TypeInferenceError]",
                                          " Status Message: ", ", Error "};
    static const char *const contexts[] = {"ONNX Runtime cannot load the model in memory: ",
                                           "ONNX Runtime cannot run the model in memory: "};

    for (size_t i = 0; i < ARRAY_LEN(contexts); i++)
        if (strncmp(message, contexts[i], strlen(contexts[i])) == 0)
            message += strlen(contexts[i]);
    for (size_t i = 0; i < ARRAY_LEN(markers); i++) {
        const char *at = strstr(message, markers[i]);

        if (at != NULL)
            return text_of(at + strlen(markers[i]));
    }
    if (message[0] == '/' && strstr(message, ") ") != NULL) /* "/path/of/source.cc:12 signature(of, function) reason" */
        return text_of(strstr(message, ") ") + 1);
    return text_of(message);
}

/* An operator missing here may exist in the deployment runtime. */
static bool is_unknown_operator(const char *message)
{
    return strstr(message, "is not a registered function/op") != NULL ||
           strstr(message, "No opset import for domain") != NULL;
}

static int judge_node(struct node_runs *runs, uint32_t node, struct error *err)
{
    struct lint *lint = runs->lint;
    struct error why = {0};
    struct subgraph single SCOPED(subgraph_release) = {0};
    struct text reason;
    bool loads, is_of_data;
    int rc;

    subgraph_init_whole(&single, lint->model);
    bitset_clear(&single.nodes);
    bitset_add(&single.nodes, node);
    subgraph_mark_outputs(&single, node);
    subgraph_mark_inputs(&single, node);
    rc = run_single(runs, &single, &loads, &why);
    if (rc == ERR_MISSING || rc == ERR_INTERRUPTED || rc == ERR_MEMORY || rc == ERR_IO)
        return error_set(err, (enum error_code)rc, "%s", why.message);
    reason = shorten_runtime_message(why.message);
    is_of_data = rc < 0 && loads && lint->data_are_uncertain && !bounded_process_is_end(&why);
    lint->failed_at_run |= is_of_data;
    if (rc < 0 && !is_of_data)
        lint_add(lint, is_unknown_operator(why.message) ? LINT_RULE_UNKNOWN_OPERATOR : LINT_RULE_NODE_FAILS, node,
                 TEXT_FORMAT, TEXT_ARGS(reason));
    if (rc == 0 || is_unknown_operator(why.message))
        lint_add_passing(lint, node);
    runs->ends += bounded_process_is_end(&why);
    runs->out_of_time |= bounded_process_is_out_of_time(&why);
    return 0;
}

/* Whether to stop after several crashes or one time-out. */
static bool gives_up(const struct node_runs *runs)
{
    return runs->out_of_time || runs->ends == MOST_ENDS;
}

static void take_fed_values(struct node_runs *runs, struct tensor_list *feed)
{
    for (size_t i = 0; i < feed->count; i++) {
        uint32_t value = model_find_value(runs->lint->model, text_of(feed->items[i].name));

        if (value == VALUE_NONE)
            continue;
        runs->values[value] = feed->items[i].tensor;
        feed->items[i].tensor = (struct tensor){0};
    }
}

int lint_run_nodes(struct lint *lint, struct tensor_list *feed, struct error *err)
{
    const struct model *model = lint->model;
    struct node_runs runs = {
        .lint = lint,
        .values = memory_alloc_zero(model->values.count + 1, sizeof(struct tensor)),
        .readers = memory_alloc_zero(model->values.count + 1, sizeof(uint32_t)),
    };
    int rc = 0;

    take_fed_values(&runs, feed);
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        count_readers(&runs, model->nodes.items[i].inputs);
        count_readers(&runs, model->nodes.items[i].captures);
    }
    for (uint32_t i = 0; i < model->nodes.count && rc == 0 && !gives_up(&runs); i++) {
        const struct node *node = &model->nodes.items[i];

        if (interrupt_pending())
            rc = error_set(err, ERR_INTERRUPTED, "interrupted");
        else if (node->op_type.size > 0 && are_known(&runs, node->inputs) && are_known(&runs, node->captures))
            rc = judge_node(&runs, i, err);
        node = &model->nodes.items[i];
        give_back(&runs, node->inputs);
        give_back(&runs, node->captures);
    }
    if (rc == 0 && gives_up(&runs))
        lint_add(lint, LINT_RULE_NODES_NOT_RUN, NODE_NONE,
                 "Nodes after the last one reported were not run: ONNX Runtime crashed or timed out");
    for (size_t i = 0; i < model->values.count; i++)
        tensor_release(&runs.values[i]);
    free(runs.values);
    free(runs.readers);
    return rc;
}
