/* backend/tensorrt/node_support.c: see node_support.h. */
#include "backend/tensorrt/node_support.h"

#include <string.h>

#include "backend/tensorrt/backend.h"
#include "base/memory.h"
#include "onnx/model/subgraph.h"
#include "onnx/write/model.h"

#define NO_REASON "TensorRT's parser gives no reason"

/* A set of nodes that the parser is asked of; they have consecutive numbers there. */
struct support_question {
    struct model *model;
    struct node_support_list *ret; /* of all nodes of the model */
    uint32_t *nodes;               /* by their numbers in the set */
    size_t count;
    struct tensorrt_support answer;
    struct arena arena;
};

static void begin_question(const struct support_question *like, const struct bitset *set, struct support_question *ret)
{
    *ret = (struct support_question){.model = like->model, .ret = like->ret};
    ret->nodes = arena_alloc_zero(&ret->arena, bitset_count(set) + 1, sizeof(*ret->nodes));
    BITSET_EACH (i, set)
        ret->nodes[ret->count++] = (uint32_t)i;
}

static bool lacks_types(const struct subgraph *part)
{
    for (size_t i = 0; i < part->inputs.count; i++) {
        struct value_type type;

        subgraph_type(part, part->inputs.items[i], &type);
        if (type.not_a_tensor == NULL && type.element == DATA_UNDEFINED)
            return true;
    }
    return false;
}

/* A set whose inputs have no types would be refused for that: false, and nothing is asked. */
static int ask_of_set(struct support_question *question, const struct bitset *set, bool *ret_asked, struct error *err)
{
    static const struct tensorrt_settings settings;
    struct backend_model source = {.external_folder = question->model->folder};
    struct subgraph whole SCOPED(subgraph_release) = {0};
    struct subgraph part SCOPED(subgraph_release) = {0};
    char *bytes SCOPED_FREE = NULL;
    int rc = 0;

    subgraph_init_whole(&whole, question->model);
    subgraph_init_nodes(&part, &whole, set);
    *ret_asked = question->count == question->model->nodes.count || !lacks_types(&part);
    if (*ret_asked)
        rc = model_write_memory(&part, &bytes, &source.size, err);
    source.data = bytes;
    if (rc < 0 || !*ret_asked)
        return rc;
    return tensorrt_ask_support(&settings, &source, &question->arena, &question->answer, err);
}

/* ---- Answers ---- */

static bool is_in_set(const struct support_question *question, int node)
{
    return node >= 0 && (size_t)node < question->count;
}

/* The nodes of no group. */
static void find_refused(const struct support_question *question, struct bitset *ret)
{
    const struct tensorrt_taken_nodes *taken = &question->answer.taken;

    bitset_init(ret, question->count);
    bitset_fill(ret);
    for (size_t i = 0; i < taken->count; i++)
        if (is_in_set(question, taken->items[i].node))
            bitset_remove(ret, (size_t)taken->items[i].node);
}

/* Stacks begin with "NODE (FUNCTION)". */
static bool is_called_in(const struct node *node, const char *stack)
{
    size_t size = node->name.size;

    return size > 0 && strncmp(stack, node->name.data, size) == 0 && (stack[size] == ' ' || stack[size] == '\0');
}

/* The number of the node that an error is about; within a function, of the refused one that calls it. SIZE_MAX: not
 * known. */
static size_t find_node_of(const struct support_question *question, const struct bitset *refused,
                           const struct tensorrt_refusal *error)
{
    for (size_t i = bitset_next(refused, 0); i < refused->size && error->stack[0] != '\0';
         i = bitset_next(refused, i + 1))
        if (is_called_in(&question->model->nodes.items[question->nodes[i]], error->stack))
            return i;
    if (error->stack[0] != '\0')
        return bitset_count(refused) == 1 ? bitset_next(refused, 0) : SIZE_MAX;
    return is_in_set(question, error->node) ? (size_t)error->node : SIZE_MAX;
}

static void add_error(const struct tensorrt_refusal *error, struct node_support *ret)
{
    const char *reason = error->reason[0] != '\0' ? error->reason : NO_REASON;

    if (error->stack[0] != '\0')
        *VECTOR_APPEND(&ret->inside) = (struct inner_refusal){.stack = memory_strdup(error->stack),
                                                              .op_type = memory_strdup(error->op_type),
                                                              .name = memory_strdup(error->name),
                                                              .reason = memory_strdup(reason)};
    if (ret->reason == NULL)
        ret->reason = memory_strdup(reason);
}

static int search_set(const struct support_question *like, const struct bitset *set, struct error *err);

/* The parser stops at its first error. It says why it refuses a node when it is asked of that alone. */
static int explain_refused(struct support_question *question, const struct bitset *refused, struct error *err)
{
    const struct tensorrt_refusals *errors = &question->answer.errors;
    SCOPED_BITSET(alone);
    int rc = 0;

    for (size_t i = 0; i < errors->count; i++) {
        size_t node = find_node_of(question, refused, &errors->items[i]);

        if (node != SIZE_MAX)
            add_error(&errors->items[i], &question->ret->items[question->nodes[node]]);
    }
    bitset_init(&alone, question->model->nodes.count);
    for (size_t i = bitset_next(refused, 0); rc == 0 && i < refused->size; i = bitset_next(refused, i + 1)) {
        struct node_support *support = &question->ret->items[question->nodes[i]];

        bitset_clear(&alone);
        bitset_add(&alone, question->nodes[i]);
        if (support->reason == NULL && question->count > 1)
            rc = search_set(question, &alone, err);
        if (support->reason == NULL)
            support->reason = memory_strdup(NO_REASON);
    }
    return rc;
}

/* Whether a group is supported by itself. */
static int search_groups(struct support_question *question, struct error *err)
{
    const struct tensorrt_taken_nodes *taken = &question->answer.taken;
    SCOPED_BITSET(group);
    int rc = 0;

    bitset_init(&group, question->model->nodes.count);
    for (size_t i = 0, end; rc == 0 && i < taken->count; i = end) {
        bitset_clear(&group);
        for (end = i; end < taken->count && taken->items[end].group == taken->items[i].group; end++)
            if (is_in_set(question, taken->items[end].node))
                bitset_add(&group, question->nodes[taken->items[end].node]);
        if (bitset_count(&group) > 0 && bitset_count(&group) < question->count)
            rc = search_set(question, &group, err);
    }
    return rc;
}

/* Every set that is asked of is smaller than the one before. A set that is refused without a word on its nodes is taken
 * to be refused node by node. */
static int search_set(const struct support_question *like, const struct bitset *set, struct error *err)
{
    struct support_question question;
    SCOPED_BITSET(refused);
    struct error why = {0};
    bool is_asked;
    int rc;

    begin_question(like, set, &question);
    rc = ask_of_set(&question, set, &is_asked, &why);
    if (rc == ERR_BACKEND && question.count < question.model->nodes.count) {
        for (size_t i = 0; i < question.count; i++)
            if (question.ret->items[question.nodes[i]].reason == NULL)
                question.ret->items[question.nodes[i]].reason = memory_strdup(why.message);
        rc = 0;
    } else if (rc < 0) {
        *err = why;
    } else if (is_asked && !question.answer.takes_all) {
        find_refused(&question, &refused);
        rc = explain_refused(&question, &refused, err);
        if (rc == 0)
            rc = search_groups(&question, err);
    }
    arena_release(&question.arena);
    return rc;
}

int tensorrt_node_support_find(struct model *model, struct node_support_list *ret, struct error *err)
{
    static const struct backend_request request;
    const struct support_question start = {.model = model, .ret = ret};
    SCOPED_BITSET(all);
    int rc;

    for (uint32_t i = 0; i < model->nodes.count; i++)
        *VECTOR_APPEND(ret) = (struct node_support){.node = i};
    bitset_init(&all, model->nodes.count);
    bitset_fill(&all);
    rc = search_set(&start, &all, err);
    if (rc != ERR_UNSUPPORTED)
        return rc;
    ret->count = 0;
    return node_support_find(model, &tensorrt_parser_backend, &request, ret, err);
}
