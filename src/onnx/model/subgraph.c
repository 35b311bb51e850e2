/* onnx/model/subgraph.c: see subgraph.h. */
#include "onnx/model/subgraph.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/model/operators.h"

size_t value_list_place(const struct value_list *list, uint32_t value)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i] == value)
            return i;
    return SIZE_MAX;
}

bool value_list_has(const struct value_list *list, uint32_t value)
{
    return value_list_place(list, value) != SIZE_MAX;
}

void value_list_to_set(const struct value_list *list, size_t value_count, struct bitset *ret)
{
    bitset_init(ret, value_count);
    for (size_t i = 0; i < list->count; i++)
        bitset_add(ret, list->items[i]);
}

void value_list_add(struct value_list *list, uint32_t value)
{
    *VECTOR_APPEND(list) = value;
}

void value_list_add_edges(const struct model *model, struct edge_range range, struct bitset *taken,
                          struct value_list *list)
{
    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(model, range, i);

        if (value == VALUE_NONE || bitset_has(taken, value))
            continue;
        bitset_add(taken, value);
        value_list_add(list, value);
    }
}

void value_list_assign(struct value_list *list, const struct value_list *from)
{
    list->count = 0;
    for (size_t i = 0; i < from->count; i++)
        value_list_add(list, from->items[i]);
}

void subgraph_init_whole(struct subgraph *subgraph, const struct model *model)
{
    *subgraph = (struct subgraph){.model = model};
    bitset_init(&subgraph->nodes, model->nodes.count);
    bitset_fill(&subgraph->nodes);
    value_list_assign(&subgraph->inputs, &model->inputs);
    value_list_assign(&subgraph->outputs, &model->outputs);
}

void subgraph_init_copy(struct subgraph *subgraph, const struct subgraph *from)
{
    *subgraph = (struct subgraph){.model = from->model, .known = from->known, .only_stated = from->only_stated};
    bitset_init_copy(&subgraph->nodes, &from->nodes);
    value_list_assign(&subgraph->inputs, &from->inputs);
    value_list_assign(&subgraph->outputs, &from->outputs);
    for (size_t i = 0; i < from->frozen.count; i++)
        *VECTOR_APPEND(&subgraph->frozen) = from->frozen.items[i];
}

void subgraph_release(struct subgraph *subgraph)
{
    bitset_release(&subgraph->nodes);
    free(subgraph->inputs.items);
    free(subgraph->outputs.items);
    free(subgraph->frozen.items);
    *subgraph = (struct subgraph){0};
}

void subgraph_type(const struct subgraph *subgraph, uint32_t value, struct value_type *ret)
{
    value_info_decode(known_types_info(subgraph->known, subgraph->model, value), ret);
}

bool subgraph_is_static(const struct subgraph *subgraph, uint32_t value)
{
    struct value_type type;

    subgraph_type(subgraph, value, &type);
    return type.not_a_tensor != NULL || (type.has_shape && shape_is_static(&type.shape));
}

static struct hash hash_value_list(const struct value_list *list)
{
    return hash_bytes(list->items, list->count * sizeof(*list->items));
}

struct hash subgraph_identity(const struct subgraph *subgraph)
{
    struct value_list frozen SCOPED_ITEMS = {0};
    struct hash hash = hash_bytes(subgraph->nodes.words, bitset_words(&subgraph->nodes) * sizeof(uint64_t));

    for (size_t i = 0; i < subgraph->frozen.count; i++)
        value_list_add(&frozen, subgraph->frozen.items[i].value);
    hash = hash_combine(hash, hash_value_list(&subgraph->inputs));
    hash = hash_combine(hash, hash_value_list(&subgraph->outputs));
    hash = hash_combine(hash, hash_value_list(&frozen));
    if (subgraph->model->edition > 0)
        hash = hash_combine(hash, hash_bytes(&subgraph->model->edition, sizeof(subgraph->model->edition)));
    return hash;
}

void subgraph_used_values(const struct subgraph *subgraph, struct bitset *ret)
{
    const struct model *model = subgraph->model;
    const struct bitset *nodes = &subgraph->nodes;

    BITSET_EACH (i, nodes) {
        model_add_edges_to(model, model->nodes.items[i].inputs, ret);
        model_add_edges_to(model, model->nodes.items[i].outputs, ret);
        model_add_edges_to(model, model->nodes.items[i].captures, ret);
    }
    for (size_t i = 0; i < subgraph->outputs.count; i++)
        bitset_add(ret, subgraph->outputs.items[i]);
    for (size_t i = 0; i < model->annotations.count; i++)
        if (bitset_has(ret, model->annotations.items[i].value))
            model_add_edges_to(model, model->annotations.items[i].parameters, ret);
}

void subgraph_mark_outputs(struct subgraph *subgraph, uint32_t node)
{
    const struct model *model = subgraph->model;
    SCOPED_BITSET(taken);

    bitset_init(&taken, model->values.count);
    subgraph->outputs.count = 0;
    value_list_add_edges(model, model->nodes.items[node].outputs, &taken, &subgraph->outputs);
}

/* The outputs of the subgraph that are not produced by a producer of its inputs. */
static void list_separate_outputs(const struct subgraph *subgraph, struct value_list *ret)
{
    const struct model *model = subgraph->model;
    SCOPED_BITSET(producers);

    bitset_init(&producers, model->nodes.count);
    for (size_t i = 0; i < subgraph->inputs.count; i++) {
        uint32_t producer = model->values.items[subgraph->inputs.items[i]].producer;

        if (producer != NODE_NONE)
            bitset_add(&producers, producer);
    }
    for (size_t i = 0; i < subgraph->outputs.count; i++) {
        uint32_t producer = model->values.items[subgraph->outputs.items[i]].producer;

        if (producer == NODE_NONE || !bitset_has(&producers, producer))
            value_list_add(ret, subgraph->outputs.items[i]);
    }
}

static void add_edge_initializers(const struct model *model, struct edge_range range, struct bitset *ret)
{
    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(model, range, i);

        if (value != VALUE_NONE && model->values.items[value].initializer != INITIALIZER_NONE)
            bitset_add(ret, value);
    }
}

void subgraph_mark_inputs(struct subgraph *subgraph, uint32_t node)
{
    const struct model *model = subgraph->model;
    const struct node *n = &model->nodes.items[node];
    struct value_list kept SCOPED_ITEMS = {0};
    SCOPED_BITSET(constants);

    bitset_init(&constants, model->values.count);
    add_edge_initializers(model, n->inputs, &constants);
    add_edge_initializers(model, n->captures, &constants);
    for (size_t i = 0; i < subgraph->frozen.count; i++)
        bitset_add(&constants, subgraph->frozen.items[i].value);
    subgraph->inputs.count = 0;
    value_list_add_edges(model, n->inputs, &constants, &subgraph->inputs);
    value_list_add_edges(model, n->captures, &constants, &subgraph->inputs);
    list_separate_outputs(subgraph, &kept);
    if (kept.count > 0)
        value_list_assign(&subgraph->outputs, &kept);
}

/* The walk of subgraph_clean(). */
struct reach {
    struct subgraph *subgraph;
    const struct bitset *constants;
    struct bitset sources;     /* values where the walk stops */
    struct bitset seen;        /* values met */
    struct bitset nodes;       /* nodes reached */
    struct value_list pending; /* nodes to visit */
    struct value_list *ret_constants, *ret_missing;
};

static void mark_reached_value(struct reach *reach, uint32_t value)
{
    const struct value *v;

    if (value == VALUE_NONE || bitset_has(&reach->seen, value))
        return;
    bitset_add(&reach->seen, value);
    if (bitset_has(&reach->sources, value))
        return;
    v = &reach->subgraph->model->values.items[value];
    if (reach->constants != NULL && bitset_has(reach->constants, value)) {
        if (reach->ret_constants != NULL)
            value_list_add(reach->ret_constants, value);
    } else if (v->producer != NODE_NONE && bitset_has(&reach->subgraph->nodes, v->producer)) {
        if (!bitset_has(&reach->nodes, v->producer)) {
            bitset_add(&reach->nodes, v->producer);
            value_list_add(&reach->pending, v->producer);
        }
    } else if (v->initializer == INITIALIZER_NONE && reach->ret_missing != NULL) {
        value_list_add(reach->ret_missing, value);
    }
}

static void mark_reached_edges(struct reach *reach, struct edge_range range)
{
    for (size_t i = 0; i < range.count; i++)
        mark_reached_value(reach, model_edge(reach->subgraph->model, range, i));
}

static void keep_reached_inputs(struct subgraph *subgraph, const struct bitset *seen)
{
    size_t kept = 0;

    for (size_t i = 0; i < subgraph->inputs.count; i++)
        if (bitset_has(seen, subgraph->inputs.items[i]))
            subgraph->inputs.items[kept++] = subgraph->inputs.items[i];
    subgraph->inputs.count = kept;
    kept = 0;
    for (size_t i = 0; i < subgraph->frozen.count; i++)
        if (bitset_has(seen, subgraph->frozen.items[i].value))
            subgraph->frozen.items[kept++] = subgraph->frozen.items[i];
    subgraph->frozen.count = kept;
}

void subgraph_clean(struct subgraph *subgraph, const struct bitset *constants, struct value_list *ret_constants,
                    struct value_list *ret_missing)
{
    const struct model *model = subgraph->model;
    struct reach reach = {
        .subgraph = subgraph, .constants = constants, .ret_constants = ret_constants, .ret_missing = ret_missing};

    value_list_to_set(&subgraph->inputs, model->values.count, &reach.sources);
    bitset_init(&reach.seen, model->values.count);
    bitset_init(&reach.nodes, model->nodes.count);
    for (size_t i = 0; i < subgraph->frozen.count; i++)
        bitset_add(&reach.sources, subgraph->frozen.items[i].value);
    for (size_t i = 0; i < subgraph->outputs.count; i++)
        mark_reached_value(&reach, subgraph->outputs.items[i]);
    while (reach.pending.count > 0) {
        const struct node *node = &model->nodes.items[reach.pending.items[--reach.pending.count]];

        mark_reached_edges(&reach, node->inputs);
        mark_reached_edges(&reach, node->captures);
    }
    bitset_assign(&subgraph->nodes, &reach.nodes);
    keep_reached_inputs(subgraph, &reach.seen);
    bitset_release(&reach.sources);
    bitset_release(&reach.seen);
    bitset_release(&reach.nodes);
    free(reach.pending.items);
}

/* State of constant folding: known constants, and those that depend on a frozen one. */
struct fold {
    const struct subgraph *subgraph;
    struct bitset inputs;  /* inputs */
    struct bitset known;   /* nodes whose outputs are constant */
    struct bitset *frozen; /* values */
};

static bool read_edges_are_constant(const struct fold *fold, struct edge_range range, bool *ret_any_frozen)
{
    const struct model *model = fold->subgraph->model;

    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(model, range, i);
        const struct value *v;

        if (value == VALUE_NONE)
            continue;
        v = &model->values.items[value];
        if (bitset_has(fold->frozen, value))
            *ret_any_frozen = true;
        else if (bitset_has(&fold->inputs, value))
            return false;
        else if (v->initializer == INITIALIZER_NONE &&
                 (v->producer == NODE_NONE || !bitset_has(&fold->known, v->producer)))
            return false;
    }
    return true;
}

static bool fold_node(struct fold *fold, size_t index)
{
    const struct model *model = fold->subgraph->model;
    const struct node *node = &model->nodes.items[index];
    bool any_frozen = false;

    if (bitset_has(&fold->known, index) || !read_edges_are_constant(fold, node->inputs, &any_frozen) ||
        !read_edges_are_constant(fold, node->captures, &any_frozen) ||
        !node_is_foldable(model, fold->subgraph->known, node))
        return false;
    bitset_add(&fold->known, index);
    for (size_t i = 0; any_frozen && i < node->outputs.count; i++) {
        uint32_t value = model_edge(model, node->outputs, i);

        if (value != VALUE_NONE)
            bitset_add(fold->frozen, value);
    }
    return true;
}

void subgraph_fold(const struct subgraph *subgraph, struct bitset *constants)
{
    struct fold fold = {.subgraph = subgraph, .frozen = constants};
    bool changed = true;

    for (size_t i = 0; i < subgraph->frozen.count; i++)
        bitset_add(constants, subgraph->frozen.items[i].value);
    value_list_to_set(&subgraph->inputs, subgraph->model->values.count, &fold.inputs);
    bitset_init(&fold.known, subgraph->model->nodes.count);
    while (changed) { /* one pass more than a sorted graph needs */
        changed = false;
        BITSET_EACH (i, &subgraph->nodes)
            changed |= fold_node(&fold, i);
    }
    bitset_release(&fold.inputs);
    bitset_release(&fold.known);
}

/* ---- Subgraphs of given nodes ---- */

/* Collects the values that nodes read and produce (`ret_made` may be NULL). */
static void collect_node_values(const struct model *model, const struct bitset *nodes, struct bitset *ret_read,
                                struct bitset *ret_made)
{
    BITSET_EACH (i, nodes) {
        model_add_edges_to(model, model->nodes.items[i].inputs, ret_read);
        model_add_edges_to(model, model->nodes.items[i].captures, ret_read);
        if (ret_made != NULL)
            model_add_edges_to(model, model->nodes.items[i].outputs, ret_made);
    }
}

static bool value_is_frozen(const struct subgraph *subgraph, uint32_t value)
{
    for (size_t i = 0; i < subgraph->frozen.count; i++)
        if (subgraph->frozen.items[i].value == value)
            return true;
    return false;
}

/* Adds values of `range` that are neither produced inside nor constant. `seen` contains values produced inside or
 * listed already. */
static void add_cut_inputs(struct subgraph *subgraph, struct edge_range range, struct bitset *seen)
{
    const struct model *model = subgraph->model;

    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(model, range, i);

        if (value == VALUE_NONE || bitset_has(seen, value))
            continue;
        bitset_add(seen, value);
        if (model->values.items[value].producer == NODE_NONE &&
            model->values.items[value].initializer != INITIALIZER_NONE)
            continue;
        if (!value_is_frozen(subgraph, value))
            *VECTOR_APPEND(&subgraph->inputs) = value;
    }
}

void subgraph_init_nodes(struct subgraph *subgraph, const struct subgraph *whole, const struct bitset *nodes)
{
    const struct model *model = whole->model;
    SCOPED_BITSET(read);
    SCOPED_BITSET(made);
    SCOPED_BITSET(read_in_whole);
    SCOPED_BITSET(is_output);
    struct value_list dead_ends = {0}; /* outputs if there are no others */

    subgraph_init_copy(subgraph, whole);
    bitset_assign(&subgraph->nodes, nodes);
    subgraph->inputs.count = 0;
    subgraph->outputs.count = 0;
    bitset_init(&read, model->values.count);
    bitset_init(&made, model->values.count);
    bitset_init(&read_in_whole, model->values.count);
    bitset_init(&is_output, model->values.count);
    collect_node_values(model, nodes, &read, &made);
    collect_node_values(model, &whole->nodes, &read_in_whole, NULL);
    for (size_t i = 0; i < whole->outputs.count; i++)
        bitset_add(&is_output, whole->outputs.items[i]);
    BITSET_EACH (i, &made)
        if (bitset_has(&is_output, i) || (bitset_has(&read_in_whole, i) && !bitset_has(&read, i)))
            *VECTOR_APPEND(&subgraph->outputs) = (uint32_t)i;
    for (size_t i = bitset_next(&made, 0); subgraph->outputs.count == 0 && i < made.size; i = bitset_next(&made, i + 1))
        if (!bitset_has(&read, i))
            *VECTOR_APPEND(&dead_ends) = (uint32_t)i;
    if (subgraph->outputs.count == 0)
        value_list_assign(&subgraph->outputs, &dead_ends);
    free(dead_ends.items);
    BITSET_EACH (i, nodes) {
        add_cut_inputs(subgraph, model->nodes.items[i].inputs, &made);
        add_cut_inputs(subgraph, model->nodes.items[i].captures, &made);
    }
}

void node_cutter_init(struct node_cutter *cutter, const struct subgraph *whole)
{
    size_t values = whole->model->values.count;

    subgraph_init_copy(&cutter->part, whole);
    bitset_clear(&cutter->part.nodes);
    value_list_to_set(&whole->outputs, values, &cutter->wanted);
    collect_node_values(whole->model, &whole->nodes, &cutter->wanted, NULL);
    bitset_init(&cutter->touched, values);
}

static void unmark_edge_values(const struct model *model, struct edge_range range, struct bitset *ret)
{
    for (size_t i = 0; i < range.count; i++)
        if (model_edge(model, range, i) != VALUE_NONE)
            bitset_remove(ret, model_edge(model, range, i));
}

/* Adds the outputs of the node that are used elsewhere, or all of them if none is; each once. */
static void add_cut_outputs(struct node_cutter *cutter, struct edge_range range)
{
    struct subgraph *part = &cutter->part;

    for (int all = 0; all < 2 && part->outputs.count == 0; all++)
        for (size_t i = 0; i < range.count; i++) {
            uint32_t value = model_edge(part->model, range, i);

            if (value == VALUE_NONE || bitset_has(&cutter->touched, value) ||
                (all == 0 && !bitset_has(&cutter->wanted, value)))
                continue;
            bitset_add(&cutter->touched, value);
            value_list_add(&part->outputs, value);
        }
}

const struct subgraph *node_cutter_cut(struct node_cutter *cutter, uint32_t node)
{
    struct subgraph *part = &cutter->part;
    const struct model *model = part->model;
    const struct node *n = &model->nodes.items[node];

    bitset_clear(&part->nodes);
    bitset_add(&part->nodes, node);
    part->inputs.count = 0;
    part->outputs.count = 0;
    add_cut_outputs(cutter, n->outputs);
    model_add_edges_to(model, n->outputs, &cutter->touched);
    add_cut_inputs(part, n->inputs, &cutter->touched);
    add_cut_inputs(part, n->captures, &cutter->touched);
    unmark_edge_values(model, n->outputs, &cutter->touched);
    unmark_edge_values(model, n->inputs, &cutter->touched);
    unmark_edge_values(model, n->captures, &cutter->touched);
    return part;
}

void node_cutter_release(struct node_cutter *cutter)
{
    subgraph_release(&cutter->part);
    bitset_release(&cutter->wanted);
    bitset_release(&cutter->touched);
}
