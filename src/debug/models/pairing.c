/* debug/models/pairing.c: see pairing.h. */
#include "debug/models/pairing.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "debug/models/attributes.h"
#include "onnx/external/tensor.h"
#include "onnx/model/graph_view.h"

#define MOST_PASSES 16 /* of the propagation; each pairs at least one node */

/* Hashes of one model. Only their low halves are compared. */
struct structure {
    struct paired_model *side;
    struct hash *exact, *coarse; /* of each value */
    uint64_t *after;             /* of each node: its descendants; without constants and attributes */
};

static bool nodes_have_one_operator(const struct node *a, const struct node *b)
{
    return text_equal(a->op_type, b->op_type) &&
           (text_equal(a->domain, b->domain) || (domain_is_standard(a->domain) && domain_is_standard(b->domain)));
}

static bool is_commutative(const struct node *node)
{
    static const char *const operators[] = {"Add", "Mul", "Max", "Min", "Sum", "And", "Or", "Xor", "Equal"};

    return node->inputs.count == 2 && domain_is_standard(node->domain) &&
           text_is_one_of(node->op_type, operators, ARRAY_LEN(operators));
}

/* Conversions between types are in one model only, if the other one was converted: their consumers are paired as if
 * they were not there. */
static bool is_transparent(const struct node *node)
{
    static const char *const operators[] = {"Cast", "CastLike", "Identity"};

    return domain_is_standard(node->domain) && text_is_one_of(node->op_type, operators, ARRAY_LEN(operators));
}

/* ---- Inputs and outputs ---- */

static void pair_values(struct model_pairing *pairing, uint32_t a, uint32_t b)
{
    if (a == VALUE_NONE || b == VALUE_NONE || pairing->a.values[a] != VALUE_NONE || pairing->b.values[b] != VALUE_NONE)
        return;
    pairing->a.values[a] = b;
    pairing->b.values[b] = a;
}

static bool types_may_be_equal(struct model *a, uint32_t value_a, struct model *b, uint32_t value_b)
{
    const struct graph_view view_a = graph_view_of(a), view_b = graph_view_of(b);
    struct value_type type_a, type_b;

    graph_view_describe(&view_a, value_a, &type_a);
    graph_view_describe(&view_b, value_b, &type_b);
    if (type_a.has_shape && type_b.has_shape && type_a.shape.rank != type_b.shape.rank)
        return false;
    for (size_t i = 0; type_a.has_shape && type_b.has_shape && i < type_a.shape.rank; i++)
        if (type_a.shape.dims[i] >= 0 && type_b.shape.dims[i] >= 0 && type_a.shape.dims[i] != type_b.shape.dims[i])
            return false;
    return data_type_is_float(type_a.element) == data_type_is_float(type_b.element);
}

/* Inputs or outputs: those with equal names, then the others in their order. */
static void pair_borders(struct model_pairing *pairing, const struct value_list *a, const struct value_list *b)
{
    struct model *model_a = pairing->a.model, *model_b = pairing->b.model;

    for (size_t i = 0; i < b->count; i++) {
        uint32_t same = model_find_value(model_a, model_b->values.items[b->items[i]].name);

        for (size_t k = 0; same != VALUE_NONE && k < a->count; k++)
            if (a->items[k] == same && types_may_be_equal(model_a, same, model_b, b->items[i]))
                pair_values(pairing, same, b->items[i]);
    }
    for (size_t i = 0; i < b->count; i++)
        for (size_t k = 0; pairing->b.values[b->items[i]] == VALUE_NONE && k < a->count; k++)
            if (pairing->a.values[a->items[k]] == VALUE_NONE &&
                types_may_be_equal(model_a, a->items[k], model_b, b->items[i]))
                pair_values(pairing, a->items[k], b->items[i]);
}

/* ---- Hashes ---- */

static struct hash hash_constant(const struct tensor *tensor, bool exactly)
{
    size_t extent[2] = {tensor_elements(tensor), tensor->shape.rank};
    struct hash ret = hash_bytes(extent, sizeof(extent[0])); /* transposed and reshaped weights are alike */

    if (!exactly)
        return ret;
    ret = hash_combine(ret, hash_bytes(&tensor->shape.rank, sizeof(tensor->shape.rank)));
    ret = hash_combine(ret, hash_bytes(tensor->shape.dims, tensor->shape.rank * sizeof(tensor->shape.dims[0])));
    if (tensor->type != DATA_STRING)
        ret = hash_combine(ret, hash_bytes(tensor->data, tensor->size));
    return hash_combine(ret, hash_bytes(&tensor->type, sizeof(tensor->type)));
}

static struct hash hash_operator(const struct node *node)
{
    struct hash ret = hash_bytes(node->op_type.data, node->op_type.size);

    return domain_is_standard(node->domain) ? ret : hash_combine(ret, hash_bytes(node->domain.data, node->domain.size));
}

/* Independent of order. */
static struct hash add_hashes(struct hash a, struct hash b)
{
    return (struct hash){a.low + b.low, a.high + b.high};
}

static struct hash hash_node(const struct structure *structure, const struct node *node, bool exactly)
{
    const struct hash *values = exactly ? structure->exact : structure->coarse;
    struct hash ret = hash_operator(node), inputs = {0};
    bool commutes = is_commutative(node);

    if (exactly)
        ret = hash_combine(ret, attributes_hash(node->message));
    for (size_t i = 0; i < node_read_count(node); i++) {
        uint32_t value = node_read(structure->side->model, node, i);
        struct hash input = value != VALUE_NONE ? values[value] : (struct hash){.low = 1};

        inputs = commutes ? add_hashes(inputs, input) : hash_combine(inputs, input);
    }
    return hash_combine(ret, inputs);
}

/* An input: the pair to which it belongs, by its number in A; inputs without a partner are all different. */
static struct hash hash_input(const struct structure *structure, uint32_t value, bool is_b)
{
    uint32_t partner = structure->side->values[value];
    uint32_t identity[2] = {partner == VALUE_NONE ? value
                            : is_b                ? partner
                                                  : value,
                            partner == VALUE_NONE ? 1 + (uint32_t)is_b : 0};

    return hash_bytes(identity, sizeof(identity));
}

static void hash_values(struct structure *structure, bool is_b)
{
    const struct model *model = structure->side->model;

    for (uint32_t i = 0; i < model->values.count; i++) {
        const struct tensor *constant = &structure->side->constants[i];
        bool is_constant = constant->type != DATA_UNDEFINED;

        structure->exact[i] = is_constant ? hash_constant(constant, true) : hash_input(structure, i, is_b);
        structure->coarse[i] = is_constant ? hash_constant(constant, false) : structure->exact[i];
    }
    for (size_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];
        struct hash exact = hash_node(structure, node, true), coarse = hash_node(structure, node, false);

        for (size_t k = 0; k < node->outputs.count; k++) {
            uint32_t value = node_output(model, node, k);

            if (value == VALUE_NONE)
                continue;
            structure->exact[value] = hash_combine(exact, hash_bytes(&k, sizeof(k)));
            structure->coarse[value] = hash_combine(coarse, hash_bytes(&k, sizeof(k)));
            if (!is_transparent(node) || node_input(model, node, 0) == VALUE_NONE)
                continue;
            structure->exact[value] = structure->exact[node_input(model, node, 0)];
            structure->coarse[value] = structure->coarse[node_input(model, node, 0)];
        }
    }
}

static void hash_consumers(struct structure *structure, const struct value_list *outputs, bool is_b)
{
    const struct model *model = structure->side->model;
    uint64_t *used SCOPED_FREE = memory_alloc_zero(model->values.count + 1, sizeof(*used));

    for (size_t i = 0; i < outputs->count; i++)
        used[outputs->items[i]] += hash_input(structure, outputs->items[i], is_b).low;
    for (size_t i = model->nodes.count; i-- > 0;) {
        const struct node *node = &model->nodes.items[i];
        struct hash hash = hash_operator(node);

        for (size_t k = 0; k < node->outputs.count; k++) {
            uint32_t value = node_output(model, node, k);

            hash = hash_combine(hash, (struct hash){.low = value != VALUE_NONE ? used[value] : 0});
        }
        structure->after[i] = hash.low;
        for (size_t k = 0; k < node_read_count(node); k++) {
            size_t place = is_commutative(node) ? 0 : k;

            if (k == 0 && is_transparent(node) && node_output(model, node, 0) != VALUE_NONE)
                used[node_read(model, node, k)] += used[node_output(model, node, 0)];
            else if (node_read(model, node, k) != VALUE_NONE)
                used[node_read(model, node, k)] += hash_combine(hash, hash_bytes(&place, sizeof(place))).low;
        }
    }
}

static void make_structure(struct structure *ret, struct paired_model *side, bool is_b)
{
    const struct model *model = side->model;

    ret->side = side;
    ret->exact = memory_alloc_zero(model->values.count + 1, sizeof(*ret->exact));
    ret->coarse = memory_alloc_zero(model->values.count + 1, sizeof(*ret->coarse));
    ret->after = memory_alloc_zero(model->nodes.count + 1, sizeof(*ret->after));
    hash_values(ret, is_b);
    hash_consumers(ret, &model->outputs, is_b);
}

static void release_structure(struct structure *structure)
{
    free(structure->exact);
    free(structure->coarse);
    free(structure->after);
}

/* ---- Pairs ---- */

static void pair_nodes(struct model_pairing *pairing, uint32_t a, uint32_t b)
{
    const struct node *node_a = &pairing->a.model->nodes.items[a], *node_b = &pairing->b.model->nodes.items[b];

    pairing->a.nodes[a] = b;
    pairing->b.nodes[b] = a;
    pairing->paired_nodes++;
    for (size_t i = 0; i < node_b->outputs.count; i++)
        pair_values(pairing, node_output(pairing->a.model, node_a, i), node_output(pairing->b.model, node_b, i));
}

enum hash_use { BY_EXACT = 1, BY_COARSE = 2, BY_AFTER = 4 };

struct hashed_node {
    uint64_t hash;
    uint32_t node;
};

static int compare_hashed_nodes(const void *one, const void *other)
{
    const struct hashed_node *a = one, *b = other;

    return a->hash != b->hash ? (a->hash > b->hash) - (a->hash < b->hash) : (a->node > b->node) - (a->node < b->node);
}

static struct hashed_node *list_hashed_nodes(const struct structure *structure, unsigned use, size_t *ret_count)
{
    const struct model *model = structure->side->model;
    struct hashed_node *ret = memory_alloc_zero(model->nodes.count + 1, sizeof(*ret));
    size_t count = 0;

    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];
        struct hash hash = {0};

        if (structure->side->nodes[i] != NODE_NONE)
            continue;
        if (use & BY_EXACT)
            hash = hash_combine(hash, hash_node(structure, node, true));
        if (use & BY_COARSE)
            hash = hash_combine(hash, hash_node(structure, node, false));
        if (use & BY_AFTER)
            hash = hash_combine(hash, (struct hash){.low = structure->after[i]});
        ret[count++] = (struct hashed_node){hash.low, i};
    }
    qsort(ret, count, sizeof(*ret), compare_hashed_nodes);
    *ret_count = count;
    return ret;
}

/* Pairs unpaired nodes with equal hashes: those of equally many, in their order, if `in_order`; else unique ones. */
static void pair_equal_hashes(struct model_pairing *pairing, const struct structure *a, const struct structure *b,
                              unsigned use, bool in_order)
{
    size_t count_a, count_b;
    struct hashed_node *nodes_a SCOPED_FREE = list_hashed_nodes(a, use, &count_a);
    struct hashed_node *nodes_b SCOPED_FREE = list_hashed_nodes(b, use, &count_b);

    for (size_t i = 0, k = 0; i < count_a && k < count_b;) {
        size_t same_a = 1, same_b = 1;

        if (nodes_a[i].hash != nodes_b[k].hash) {
            *(nodes_a[i].hash < nodes_b[k].hash ? &i : &k) += 1;
            continue;
        }
        while (i + same_a < count_a && nodes_a[i + same_a].hash == nodes_a[i].hash)
            same_a++;
        while (k + same_b < count_b && nodes_b[k + same_b].hash == nodes_b[k].hash)
            same_b++;
        for (size_t n = 0; same_a == same_b && (in_order || same_a == 1) && n < same_a; n++)
            pair_nodes(pairing, nodes_a[i + n].node, nodes_b[k + n].node);
        i += same_a;
        k += same_b;
    }
}

/* ---- From pair to pair ---- */

/* How much speaks for a pair of nodes with one operator; 0: nothing. */
static int score_pair(const struct model_pairing *pairing, const struct structure *a, const struct structure *b,
                      uint32_t node_a, uint32_t node_b)
{
    const struct model *model_a = pairing->a.model, *model_b = pairing->b.model;
    const struct node *one = &model_a->nodes.items[node_a], *other = &model_b->nodes.items[node_b];
    bool commutes = is_commutative(other);
    int ret = 0;

    for (size_t i = 0; i < other->inputs.count; i++) {
        uint32_t value_b = node_input(model_b, other, i);

        for (size_t k = 0; value_b != VALUE_NONE && k < one->inputs.count; k++) {
            uint32_t value_a = node_input(model_a, one, k);

            if (value_a == VALUE_NONE || (k != i && !commutes))
                continue;
            ret += 4 * (pairing->b.values[value_b] == value_a);
            ret += 3 * hash_equal(a->exact[value_a], b->exact[value_b]);
        }
    }
    for (size_t i = 0; i < other->outputs.count && i < one->outputs.count; i++) {
        uint32_t value_a = node_output(model_a, one, i), value_b = node_output(model_b, other, i);

        ret += 4 * (value_b != VALUE_NONE && value_a != VALUE_NONE && pairing->b.values[value_b] == value_a);
    }
    if (ret > 0 && a->after[node_a] == b->after[node_b])
        ret += 4;
    if (ret > 0 && hash_equal(attributes_hash(one->message), attributes_hash(other->message)))
        ret += 1;
    return ret > 0 && text_equal(one->name, other->name) ? ret + 1 : ret;
}

struct node_candidates {
    uint32_t best;
    int score;
    bool is_tied;
};

static void rate_candidate(const struct model_pairing *pairing, const struct structure *a, const struct structure *b,
                           uint32_t node_a, uint32_t node_b, struct node_candidates *ret)
{
    int score;

    if (node_a == NODE_NONE || node_a == ret->best || pairing->a.nodes[node_a] != NODE_NONE ||
        !nodes_have_one_operator(&pairing->a.model->nodes.items[node_a], &pairing->b.model->nodes.items[node_b]))
        return;
    score = score_pair(pairing, a, b, node_a, node_b);
    if (score < ret->score || score == 0)
        return;
    *ret = (struct node_candidates){node_a, score, score == ret->score};
}

/* Candidates read a paired input of the node, or produce a paired output. */
static struct node_candidates find_candidate(const struct model_pairing *pairing, const struct structure *a,
                                             const struct structure *b, const struct value_readers *readers,
                                             uint32_t node_b)
{
    const struct model *model_b = pairing->b.model;
    const struct node *node = &model_b->nodes.items[node_b];
    struct node_candidates ret = {NODE_NONE, 0, false};

    for (size_t i = 0; i < node->inputs.count; i++) {
        uint32_t value = node_input(model_b, node, i);
        uint32_t partner = value != VALUE_NONE ? pairing->b.values[value] : VALUE_NONE;

        for (size_t k = 0; partner != VALUE_NONE && k < value_read_count(readers, partner); k++)
            rate_candidate(pairing, a, b, value_read_at(readers, partner, k).node, node_b, &ret);
    }
    for (size_t i = 0; i < node->outputs.count; i++) {
        uint32_t value = node_output(model_b, node, i);
        uint32_t partner = value != VALUE_NONE ? pairing->b.values[value] : VALUE_NONE;

        if (partner != VALUE_NONE)
            rate_candidate(pairing, a, b, pairing->a.model->values.items[partner].producer, node_b, &ret);
    }
    return ret;
}

/* Inputs of paired nodes at the same place, of which one has no partner. */
static void pair_inputs_of_nodes(struct model_pairing *pairing)
{
    for (uint32_t i = 0; i < pairing->b.model->nodes.count; i++) {
        const struct node *node_b = &pairing->b.model->nodes.items[i];
        uint32_t partner = pairing->b.nodes[i];

        for (size_t k = 0; partner != NODE_NONE && k < node_b->inputs.count; k++) {
            const struct node *node_a = &pairing->a.model->nodes.items[partner];
            uint32_t value_b = node_input(pairing->b.model, node_b, k);
            uint32_t value_a = node_input(pairing->a.model, node_a, model_pairing_input(pairing, i, k));
            bool is_computed_b = model_producer(pairing->b.model, value_b) != NULL;

            if (is_computed_b == (model_producer(pairing->a.model, value_a) != NULL))
                pair_values(pairing, value_a, value_b);
        }
    }
}

/* `with_ties`: a node of several that are as good is paired, too. */
static bool pair_neighbours(struct model_pairing *pairing, const struct structure *a, const struct structure *b,
                            const struct value_readers *readers, bool with_ties)
{
    size_t before = pairing->paired_nodes;

    pair_inputs_of_nodes(pairing);
    for (size_t i = 0; i < pairing->b.model->nodes.count; i++) {
        /* from the inputs and from the outputs in turn */
        uint32_t node = (uint32_t)(i % 2 == 0 ? i / 2 : pairing->b.model->nodes.count - 1 - i / 2);
        struct node_candidates found;

        if (pairing->b.nodes[node] != NODE_NONE)
            continue;
        found = find_candidate(pairing, a, b, readers, node);
        if (found.best == NODE_NONE || (found.is_tied && !with_ties))
            continue;
        pair_nodes(pairing, found.best, node);
        if (with_ties)
            break;
    }
    return pairing->paired_nodes > before;
}

static void pair_all_nodes(struct model_pairing *pairing, const struct structure *a, const struct structure *b)
{
    static const unsigned uses[] = {BY_EXACT | BY_AFTER, BY_EXACT, BY_COARSE | BY_AFTER, BY_AFTER, BY_COARSE};
    struct value_readers readers;

    value_readers_init(&readers, pairing->a.model, NULL);
    pair_equal_hashes(pairing, a, b, BY_EXACT | BY_AFTER, true);
    for (size_t i = 0; i < ARRAY_LEN(uses); i++)
        pair_equal_hashes(pairing, a, b, uses[i], false);
    pair_equal_hashes(pairing, a, b, BY_EXACT, true);
    for (size_t pass = 0; pass < MOST_PASSES + pairing->b.model->nodes.count; pass++)
        if (!pair_neighbours(pairing, a, b, &readers, false) && !pair_neighbours(pairing, a, b, &readers, true))
            break;
    pair_equal_hashes(pairing, a, b, BY_COARSE | BY_AFTER, true);
    pair_inputs_of_nodes(pairing);
    value_readers_release(&readers);
}

size_t model_pairing_input(const struct model_pairing *pairing, uint32_t node_b, size_t input)
{
    const struct model *model_a = pairing->a.model, *model_b = pairing->b.model;
    const struct node *b = &model_b->nodes.items[node_b];
    const struct node *a = &model_a->nodes.items[pairing->b.nodes[node_b]];
    size_t crosswise = 0, straight = 0;

    if (!is_commutative(b) || a->inputs.count != 2)
        return input;
    for (size_t i = 0; i < 2; i++) {
        uint32_t value = node_input(model_b, b, i);
        uint32_t partner = value != VALUE_NONE ? pairing->b.values[value] : VALUE_NONE;

        straight += partner != VALUE_NONE && partner == node_input(model_a, a, i);
        crosswise += partner != VALUE_NONE && partner == node_input(model_a, a, 1 - i);
    }
    if (crosswise == straight) /* a constant has none yet */
        for (size_t i = 0; i < 2; i++) {
            bool is_computed = model_producer(model_b, node_input(model_b, b, i)) != NULL;

            straight += is_computed == (model_producer(model_a, node_input(model_a, a, i)) != NULL);
            crosswise += is_computed == (model_producer(model_a, node_input(model_a, a, 1 - i)) != NULL);
        }
    return crosswise > straight ? 1 - input : input;
}

/* ---- Both models ---- */

static int read_constants(struct paired_model *side, struct error *err)
{
    struct model *model = side->model;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < model->initializers.count; i++) {
        const struct initializer *initializer = &model->initializers.items[i];

        if (model->values.items[initializer->value].initializer != i)
            continue;
        side->sparse_constants += initializer->sparse;
        if (!initializer->sparse)
            rc = external_tensor_borrow(model, initializer->message, &side->constants[initializer->value], err);
    }
    return rc;
}

static int init_paired_model(struct paired_model *side, struct model *model, struct error *err)
{
    *side = (struct paired_model){.model = model};
    side->nodes = memory_alloc((model->nodes.count + 1) * sizeof(*side->nodes));
    side->values = memory_alloc((model->values.count + 1) * sizeof(*side->values));
    side->constants = memory_alloc_zero(model->values.count + 1, sizeof(*side->constants));
    for (size_t i = 0; i < model->nodes.count; i++)
        side->nodes[i] = NODE_NONE;
    for (size_t i = 0; i < model->values.count; i++)
        side->values[i] = VALUE_NONE;
    return read_constants(side, err);
}

int model_pairing_make(struct model *a, struct model *b, struct model_pairing *ret, struct error *err)
{
    struct structure structure_a, structure_b;
    int rc;

    *ret = (struct model_pairing){.paired_nodes = 0};
    rc = init_paired_model(&ret->a, a, err);
    if (rc == 0)
        rc = init_paired_model(&ret->b, b, err);
    if (rc < 0)
        return rc;
    pair_borders(ret, &a->inputs, &b->inputs);
    pair_borders(ret, &a->outputs, &b->outputs);
    make_structure(&structure_a, &ret->a, false);
    make_structure(&structure_b, &ret->b, true);
    pair_all_nodes(ret, &structure_a, &structure_b);
    release_structure(&structure_a);
    release_structure(&structure_b);
    return 0;
}

static void release_paired_model(struct paired_model *side)
{
    for (size_t i = 0; side->model != NULL && i < side->model->values.count; i++)
        tensor_release(&side->constants[i]);
    free(side->constants);
    free(side->nodes);
    free(side->values);
}

void model_pairing_release(struct model_pairing *pairing)
{
    release_paired_model(&pairing->a);
    release_paired_model(&pairing->b);
}
