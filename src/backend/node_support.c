/* backend/node_support.c: see node_support.h. */
#include "backend/node_support.h"

#include <stdlib.h>
#include <string.h>

#include "backend/subgraph_session.h"
#include "backend/type_inference.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "onnx/model/captures.h"
#include "onnx/model/function_call.h"
#include "onnx/proto/value_info.h"

static bool lacks_type(const struct subgraph *single, uint32_t value)
{
    struct value_type type;

    subgraph_type(single, value, &type);
    return type.not_a_tensor == NULL && type.element == DATA_UNDEFINED;
}

/* An operator that is not known at all, whatever it is fed. */
static int find_unknown_operator(const struct subgraph *single, const struct backend *backend,
                                 const struct backend_request *request, char **ret_reason, struct error *err)
{
    const struct value_type any = {.element = DATA_FLOAT32};
    struct subgraph typed = *single; /* shares all of it */
    struct known_types known;
    SCOPED_ARENA(arena);
    struct subgraph_session session;
    struct error why = {0};
    bool unknown;
    int rc;

    known_types_init(&known, single->model, &arena);
    typed.known = &known;
    for (size_t i = 0; i < single->inputs.count; i++)
        if (lacks_type(single, single->inputs.items[i]))
            known_types_set(&known, single->inputs.items[i], &any);
    rc = subgraph_session_open(&session, &typed, backend, request, &why);
    unknown = rc == ERR_BACKEND && strstr(why.message, "is not a registered function/op") != NULL;
    subgraph_session_close(&session);
    known_types_release(&known);
    if (bounded_process_is_end(&why)) {
        *err = why;
        return rc;
    }
    *ret_reason = unknown ? memory_strdup(why.message) : NULL;
    return 0;
}

/* An input without a type would be refused with a reason that helps nobody. */
static int find_unknown_input(const struct subgraph *single, const struct backend *backend,
                              const struct backend_request *request, char **ret_reason, struct error *err)
{
    *ret_reason = NULL;
    for (size_t i = 0; i < single->inputs.count; i++) {
        uint32_t value = single->inputs.items[i];
        struct string_builder reason;
        int rc;

        if (!lacks_type(single, value))
            continue;
        rc = find_unknown_operator(single, backend, request, ret_reason, err);
        if (rc < 0 || *ret_reason != NULL)
            return rc;
        string_init(&reason);
        string_add_format(&reason, "the type of its input '" TEXT_FORMAT "' is not known",
                          TEXT_ARGS(single->model->values.items[value].name));
        *ret_reason = string_take(&reason);
        return 0;
    }
    return 0;
}

/* What the runtime says of a node's outputs helps with the nodes behind it: a model with a refused node is never
 * inferred as a whole. */
static void learn_types(struct model *model, const struct subgraph_session *session)
{
    size_t count = session->session->output_count;
    const struct backend_io *outputs = session->session->outputs;

    for (size_t i = 0; i < count; i++) {
        uint32_t value = model_find_value(model, text_of(outputs[i].name));
        struct value_type type;

        if (value == VALUE_NONE)
            continue;
        value_info_decode(model->values.items[value].info, &type);
        if (type.not_a_tensor == NULL && type.element == DATA_UNDEFINED) {
            types_from_io(&outputs[i], &type);
            model_set_type(model, value, &type);
        }
    }
}

/* What holds for all nodes of the model and of its functions. */
struct support_search {
    const struct backend *backend;
    const struct backend_request *request;
    unsigned depth;         /* of functions that are looked into now */
    size_t looked_into;     /* calls of functions */
    size_t not_looked_into; /* refused ones, because there are too many, or too many inside of each other */
};

static int try_node(const struct support_search *search, struct model *model, const struct subgraph *single,
                    char **ret_reason, struct error *err)
{
    struct subgraph_session session;
    struct error why = {0};
    int rc = find_unknown_input(single, search->backend, search->request, ret_reason, err);

    if (rc < 0 || *ret_reason != NULL)
        return rc;
    rc = subgraph_session_open(&session, single, search->backend, search->request, &why);
    if (rc == 0)
        learn_types(model, &session);
    subgraph_session_close(&session);
    if (rc < 0 && ((rc != ERR_BACKEND && rc != ERR_UNSUPPORTED) || bounded_process_is_end(&why))) {
        *err = why;
        return rc;
    }
    if (rc < 0) {
        why.message[strcspn(why.message, "\n")] = '\0';
        *ret_reason = memory_strdup(why.message);
    }
    return 0;
}

static int find_support_of_nodes(struct support_search *search, struct model *model, struct node_support_list *ret,
                                 struct error *err);

static char *extend_stack(const char *stack, struct model *model, uint32_t node)
{
    struct string_builder text;

    string_init(&text);
    string_add_format(&text, "%s (" TEXT_FORMAT ")%s%s", model_node_label(model, node),
                      TEXT_ARGS(model->nodes.items[node].op_type), stack != NULL ? " -> " : "",
                      stack != NULL ? stack : "");
    return string_take(&text);
}

/* What is refused in the body of the function that `call` calls becomes what is refused inside of it. */
static void take_refusals(struct model *model, struct node_support *call, struct model *body,
                          const struct node_support_list *found)
{
    VECTOR_EACH (const struct node_support, node, *found) {
        if (node->reason != NULL && node->inside.count == 0)
            *VECTOR_APPEND(&call->inside) = (struct inner_refusal){
                .stack = extend_stack(NULL, model, call->node),
                .op_type =
                    memory_copy(body->nodes.items[node->node].op_type.data, body->nodes.items[node->node].op_type.size),
                .name = memory_strdup(model_node_label(body, node->node)),
                .reason = memory_strdup(node->reason),
            };
        VECTOR_EACH (const struct inner_refusal, inner, node->inside) {
            *VECTOR_APPEND(&call->inside) = (struct inner_refusal){
                .stack = extend_stack(inner->stack, model, call->node),
                .op_type = memory_strdup(inner->op_type),
                .name = memory_strdup(inner->name),
                .reason = memory_strdup(inner->reason),
            };
        }
    }
}

/* The whole function is inferred first; where that is refused, types are learnt node by node. Functions may be nested
 * like bodies; those that call themselves are refused by every runtime. */
static int look_into_function(struct support_search *search, struct model *model, struct node_support *call,
                              struct error *err)
{
    enum { MAX_CALLS = 1000 }; /* forty functions that call the next one twice each make 2^40 of them */
    struct node_support_list found = {0};
    struct model *body;
    struct span function;
    int rc;

    if (!function_call_find(model, call->node, &function))
        return 0;
    if (search->depth >= BODY_MAX_DEPTH || search->looked_into >= MAX_CALLS) {
        search->not_looked_into++;
        return 0;
    }
    search->looked_into++;
    rc = function_call_open(model, call->node, &body, err);
    if (rc < 0)
        return rc;
    search->depth++;
    rc = types_infer(body, NULL, search->backend, search->request, NULL, err);
    if (rc == 0 || !bounded_process_is_end(err))
        rc = find_support_of_nodes(search, body, &found, err);
    if (rc == 0)
        take_refusals(model, call, body, &found);
    node_support_release(&found);
    search->depth--;
    model_free(body);
    return rc;
}

static int find_support_of_nodes(struct support_search *search, struct model *model, struct node_support_list *ret,
                                 struct error *err)
{
    struct node_cutter cutter;
    struct subgraph whole SCOPED(subgraph_release) = {0};
    int rc = 0;

    subgraph_init_whole(&whole, model);
    node_cutter_init(&cutter, &whole);
    for (uint32_t i = 0; rc == 0 && i < model->nodes.count; i++) {
        struct node_support *support;
        char *reason = NULL;

        if (interrupt_pending()) {
            rc = error_set(err, ERR_INTERRUPTED, "interrupted");
            break;
        }
        rc = try_node(search, model, node_cutter_cut(&cutter, i), &reason, err);
        if (rc < 0)
            break;
        support = VECTOR_APPEND(ret);
        *support = (struct node_support){.node = i, .reason = reason};
        if (reason != NULL)
            rc = look_into_function(search, model, support, err);
    }
    node_cutter_release(&cutter);
    return rc;
}

int node_support_find(struct model *model, const struct backend *backend, const struct backend_request *request,
                      struct node_support_list *ret, struct error *err)
{
    struct support_search search = {.backend = backend, .request = request};
    int rc = find_support_of_nodes(&search, model, ret, err);

    ret->not_looked_into = search.not_looked_into;
    return rc;
}

void node_support_release(struct node_support_list *list)
{
    VECTOR_EACH (struct node_support, support, *list) {
        for (size_t j = 0; j < support->inside.count; j++) {
            free(support->inside.items[j].stack);
            free(support->inside.items[j].op_type);
            free(support->inside.items[j].name);
            free(support->inside.items[j].reason);
        }
        free(support->inside.items);
        free(support->reason);
    }
    free(list->items);
    *list = (struct node_support_list){0};
}
