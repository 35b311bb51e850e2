/* backend/constant_values.c: see constant_values.h. */
#include "backend/constant_values.h"

#include <stdlib.h>

#include "backend/subgraph_session.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"

/* A piece ends where its constants, and what its nodes make as far as it is described, are larger: a session holds all
 * of it. */
#define PIECE_BYTES ((size_t)64 << 20)

/* Constants above this many bytes are not copied into a piece that only moves them. */
#define WEIGHT_SIZE ((size_t)64 << 10)

struct computation {
    const struct constant_values_request *request;
    const struct model *model;
    struct bitset wanted; /* values that are to be handed over */
    struct bitset lost;   /* values that are not computed, because of a node that cannot be */
    uint32_t *readers;    /* of each value: how often nodes that are still to be computed read it */
    uint32_t *places;     /* of each value: 1 + its index in `held`; 0: it is not held */
    struct {              /* what was computed and is still to be read */
        struct tensor *items;
        size_t count, capacity;
    } held;
    struct value_list free_places;
    bool ended; /* by take() */
};

/* ---- Values ---- */

static void hold_value(struct computation *computation, uint32_t value, struct tensor *tensor)
{
    size_t place;

    if (computation->free_places.count > 0) {
        place = computation->free_places.items[--computation->free_places.count];
    } else {
        place = computation->held.count;
        VECTOR_APPEND(&computation->held);
    }
    computation->held.items[place] = *tensor;
    computation->places[value] = (uint32_t)place + 1;
    *tensor = (struct tensor){0};
}

static struct tensor *held_value(const struct computation *computation, uint32_t value)
{
    uint32_t place = computation->places[value];

    return place > 0 ? &computation->held.items[place - 1] : NULL;
}

/* Once nothing reads the value any more. */
static void release_value(struct computation *computation, uint32_t value)
{
    if (computation->readers[value] > 0 || computation->places[value] == 0)
        return;
    tensor_release(held_value(computation, value));
    value_list_add(&computation->free_places, computation->places[value] - 1);
    computation->places[value] = 0;
}

static int hand_over_value(struct computation *computation, uint32_t value, const struct tensor *tensor,
                           struct error *err)
{
    int rc = computation->request->take(computation->request->context, value, tensor, err);

    computation->ended |= rc < 0;
    return rc;
}

/* ---- A piece ---- */

/* Counts what `nodes` read as read, or as to be read once more. */
static void count_reads(struct computation *computation, const struct value_list *nodes, bool done)
{
    for (size_t n = 0; n < nodes->count; n++) {
        const struct node *node = &computation->model->nodes.items[nodes->items[n]];

        for (size_t i = 0; i < node_read_count(node); i++) {
            uint32_t value = node_read(computation->model, node, i);

            if (value != VALUE_NONE)
                computation->readers[value] += done ? UINT32_MAX : 1; /* minus 1, or plus 1 */
        }
    }
}

/* Whether it makes no difference to the node if what it reads is a constant or is fed. Kernels of others may bring
 * constants into a form of their own, and round otherwise then. */
static bool only_moves(const struct node *node)
{
    static const char *const moving[] = {"Cast", "Concat", "Flatten", "Gather",  "Identity",  "Reshape",  "Shape",
                                         "Size", "Slice",  "Split",   "Squeeze", "Transpose", "Unsqueeze"};

    return text_is_one_of(node->op_type, moving, ARRAY_LEN(moving));
}

/* What a large constant holds, where it lies; false for other values. */
static bool borrow_weight(const struct model *model, uint32_t value, struct tensor *ret)
{
    const struct initializer *initializer;

    if (model->values.items[value].initializer == INITIALIZER_NONE)
        return false;
    initializer = &model->initializers.items[model->values.items[value].initializer];
    if (initializer->sparse || initializer->narrowed.size > 0 || initializer->message.size < WEIGHT_SIZE ||
        tensor_proto_decode(initializer->message, ret, NULL) < 0) /* the runtime is the judge of what is damaged */
        return false;
    if (ret->type != DATA_STRING && ret->owner == NULL)
        return true;
    tensor_release(ret);
    return false;
}

/* Lists what these nodes need that was computed before, and, with `weights`, large constants that they only move; with
 * their data. */
static void find_inputs(const struct computation *computation, const struct value_list *nodes, bool weights,
                        struct value_list *ret, struct tensor_list *ret_feed)
{
    const struct model *model = computation->model;
    SCOPED_BITSET(met);

    bitset_init(&met, model->values.count);
    for (size_t n = 0; n < nodes->count; n++) {
        const struct node *node = &model->nodes.items[nodes->items[n]];

        for (size_t i = 0; i < node_read_count(node); i++)
            if (node_read(model, node, i) != VALUE_NONE && !only_moves(node) &&
                held_value(computation, node_read(model, node, i)) == NULL)
                bitset_add(&met, node_read(model, node, i));
    }
    for (size_t n = 0; n < nodes->count; n++) {
        const struct node *node = &model->nodes.items[nodes->items[n]];

        for (size_t i = 0; i < node_read_count(node); i++) {
            uint32_t value = node_read(model, node, i);
            const struct tensor *held;
            struct tensor tensor;

            if (value == VALUE_NONE || bitset_has(&met, value))
                continue;
            bitset_add(&met, value);
            held = held_value(computation, value);
            if (held != NULL)
                tensor_borrow(held->type, &held->shape, held->data, held->size, &tensor);
            else if (!weights || !borrow_weight(model, value, &tensor))
                continue;
            value_list_add(ret, value);
            tensor_list_add(ret_feed, model->values.items[value].name, &tensor);
        }
    }
}

/* What they make that others read, or that is wanted. */
static void find_outputs(const struct computation *computation, const struct value_list *nodes, struct value_list *ret)
{
    const struct model *model = computation->model;

    for (size_t n = 0; n < nodes->count; n++) {
        struct edge_range outputs = model->nodes.items[nodes->items[n]].outputs;

        for (size_t i = 0; i < outputs.count; i++) {
            uint32_t value = model_edge(model, outputs, i);

            if (value != VALUE_NONE && model->values.items[value].producer == nodes->items[n] &&
                (computation->readers[value] > 0 || bitset_has(&computation->wanted, value)))
                value_list_add(ret, value);
        }
    }
}

/* Opens a session. What it is fed with is described as it is, whatever the model says. */
static int open_piece(const struct computation *computation, const struct subgraph *piece,
                      const struct tensor_list *feed, struct subgraph_session *ret, struct error *err)
{
    struct subgraph fed = *piece; /* shares all of it */
    struct known_types known SCOPED(known_types_release) = {0};
    SCOPED_ARENA(arena);

    known_types_init(&known, computation->model, &arena);
    fed.known = &known;
    for (size_t i = 0; i < piece->inputs.count; i++) {
        const struct tensor *tensor = &feed->items[i].tensor;
        struct value_type type = {.element = tensor->type, .has_shape = true, .shape = tensor->shape};

        known_types_set(&known, piece->inputs.items[i], &type);
    }
    return subgraph_session_open(ret, &fed, computation->request->backend, &computation->request->runtime, err);
}

/* The nodes of a piece that make, for others only, what cannot be handed to them because it is no tensor. */
static void find_unfeedable(const struct computation *computation, const struct subgraph_session *session,
                            struct value_list *ret)
{
    size_t count = session->session->output_count;
    const struct backend_io *outputs = session->session->outputs;

    for (size_t i = 0; i < count; i++) {
        uint32_t value = model_find_value(computation->model, text_of(outputs[i].name));

        if (outputs[i].not_a_tensor != NULL && !bitset_has(&computation->wanted, value))
            value_list_add(ret, computation->model->values.items[value].producer);
    }
}

static int keep_piece_outputs(struct computation *computation, struct tensor_list *outputs, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < outputs->count; i++) {
        uint32_t value = model_find_value(computation->model, text_of(outputs->items[i].name));
        struct tensor *tensor = &outputs->items[i].tensor;

        if (bitset_has(&computation->wanted, value))
            rc = hand_over_value(computation, value, tensor, err);
        if (computation->readers[value] > 0)
            hold_value(computation, value, tensor);
        else
            tensor_release(tensor);
    }
    return rc;
}

/* Computes the nodes of `piece`. Nothing is run if there is something to list in `ret_unfeedable`. */
static int run_piece(const struct computation *computation, const struct subgraph *piece,
                     const struct tensor_list *feed, struct value_list *ret_unfeedable, struct tensor_list *ret,
                     struct error *err)
{
    struct subgraph_session session;
    int rc = open_piece(computation, piece, feed, &session, err);

    if (rc < 0)
        return rc;
    find_unfeedable(computation, &session, ret_unfeedable);
    if (ret_unfeedable->count == 0)
        rc = subgraph_session_run(&session, feed, ret, err);
    subgraph_session_close(&session);
    return rc;
}

static bool has_weights(const struct computation *computation, const struct value_list *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        if (held_value(computation, inputs->items[i]) == NULL)
            return true;
    return false;
}

/* Computes `nodes`. Nothing is done but to list in `ret_unfeedable`, if it lists anything. */
static int compute_piece(struct computation *computation, const struct value_list *nodes,
                         struct value_list *ret_unfeedable, struct error *err)
{
    struct subgraph piece SCOPED(subgraph_release) = {.model = computation->model};
    struct tensor_list feed SCOPED(tensor_list_release) = {0}, outputs SCOPED(tensor_list_release) = {0};
    int rc;

    count_reads(computation, nodes, true);
    bitset_init(&piece.nodes, computation->model->nodes.count);
    for (size_t i = 0; i < nodes->count; i++)
        bitset_add(&piece.nodes, nodes->items[i]);
    find_outputs(computation, nodes, &piece.outputs);
    find_inputs(computation, nodes, true, &piece.inputs, &feed);
    rc = run_piece(computation, &piece, &feed, ret_unfeedable, &outputs, err);
    if (rc < 0 && rc != ERR_INTERRUPTED && rc != ERR_MISSING && has_weights(computation, &piece.inputs)) {
        tensor_list_release(&feed);
        piece.inputs.count = 0;
        find_inputs(computation, nodes, false, &piece.inputs, &feed);
        rc = run_piece(computation, &piece, &feed, ret_unfeedable, &outputs, err);
    }
    if (rc < 0 || ret_unfeedable->count > 0)
        count_reads(computation, nodes, false);
    else
        rc = keep_piece_outputs(computation, &outputs, err);
    for (size_t i = 0; i < piece.inputs.count; i++)
        release_value(computation, piece.inputs.items[i]);
    return rc;
}

/* ---- What cannot be computed ---- */

static bool reads_lost_value(const struct computation *computation, uint32_t node)
{
    const struct node *n = &computation->model->nodes.items[node];

    for (size_t i = 0; i < node_read_count(n); i++) {
        uint32_t value = node_read(computation->model, n, i);

        if (value != VALUE_NONE && bitset_has(&computation->lost, value))
            return true;
    }
    return false;
}

/* A node stays as it is: what it reads has to be there. */
static int lose_node(struct computation *computation, uint32_t node, struct error *err)
{
    const struct model *model = computation->model;
    const struct node *n = &model->nodes.items[node];
    int rc = 0;

    for (size_t i = 0; i < n->outputs.count; i++)
        if (model_edge(model, n->outputs, i) != VALUE_NONE)
            bitset_add(&computation->lost, model_edge(model, n->outputs, i));
    for (size_t i = 0; rc == 0 && i < node_read_count(n); i++) {
        uint32_t value = node_read(model, n, i);

        if (value == VALUE_NONE)
            continue;
        computation->readers[value]--;
        if (!bitset_has(&computation->wanted, value) && held_value(computation, value) != NULL)
            rc = hand_over_value(computation, value, held_value(computation, value), err);
        bitset_add(&computation->wanted, value);
        release_value(computation, value);
    }
    return rc;
}

/* Lists those of nodes[0 .. count-1] that can be computed; the others are lost. */
static int list_computable(struct computation *computation, const uint32_t *nodes, size_t count, struct value_list *ret,
                           struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++)
        if (reads_lost_value(computation, nodes[i]))
            rc = lose_node(computation, nodes[i], err);
        else
            value_list_add(ret, nodes[i]);
    return rc;
}

static bool ends_computation(const struct computation *computation, int rc)
{
    return computation->ended || computation->request->refuse == NULL || rc == ERR_INTERRUPTED || rc == ERR_MISSING;
}

static int compute_nodes(struct computation *computation, const uint32_t *nodes, size_t count, struct error *err);

/* A piece is halved until the node that is to blame stands alone. */
static int compute_halves(struct computation *computation, const struct value_list *nodes, const struct error *why,
                          struct error *err)
{
    size_t half = nodes->count / 2;
    int rc;

    if (nodes->count == 1) {
        computation->request->refuse(computation->request->context, nodes->items[0], why);
        return lose_node(computation, nodes->items[0], err);
    }
    rc = compute_nodes(computation, nodes->items, half, err);
    return rc == 0 ? compute_nodes(computation, nodes->items + half, nodes->count - half, err) : rc;
}

static int compute_without(struct computation *computation, const struct value_list *nodes,
                           const struct value_list *unfeedable, struct error *err)
{
    struct value_list rest SCOPED_ITEMS = {0};
    SCOPED_BITSET(left_out);
    int rc = 0;

    value_list_to_set(unfeedable, computation->model->nodes.count, &left_out);
    for (size_t i = 0; rc == 0 && i < nodes->count; i++)
        if (bitset_has(&left_out, nodes->items[i]))
            rc = lose_node(computation, nodes->items[i], err);
        else
            value_list_add(&rest, nodes->items[i]);
    if (rc == 0)
        rc = compute_nodes(computation, rest.items, rest.count, err);
    return rc;
}

static int compute_nodes(struct computation *computation, const uint32_t *nodes, size_t count, struct error *err)
{
    struct value_list computable SCOPED_ITEMS = {0};
    struct value_list unfeedable SCOPED_ITEMS = {0};
    struct error why = {0};
    int rc;

    if (interrupt_pending())
        return error_set(err, ERR_INTERRUPTED, "interrupted");
    rc = list_computable(computation, nodes, count, &computable, err);
    if (rc == 0 && computable.count > 0) {
        rc = compute_piece(computation, &computable, &unfeedable, &why);
        if (rc < 0 && (ends_computation(computation, rc) || bounded_process_is_end(&why)))
            *err = why;
        else if (rc < 0)
            rc = compute_halves(computation, &computable, &why, err);
        else if (unfeedable.count > 0)
            rc = compute_without(computation, &computable, &unfeedable, err);
    }
    return rc;
}

/* ---- All of it ---- */

/* The nodes that are needed for what is wanted, in their order. */
static void list_needed(const struct constant_values_request *request, struct value_list *ret)
{
    struct subgraph part SCOPED(subgraph_release) = {.model = request->model};

    bitset_init_copy(&part.nodes, request->nodes);
    value_list_assign(&part.outputs, request->wanted);
    subgraph_clean(&part, NULL, NULL, NULL);
    BITSET_EACH (i, &part.nodes)
        value_list_add(ret, (uint32_t)i);
}

/* The bytes of the constants that the node reads and that are not among `met`, and of what it makes, as far as that is
 * described. */
static size_t measure_node(const struct model *model, const struct node *node, struct bitset *met)
{
    size_t bytes = 0;

    for (size_t i = 0; i < node_read_count(node); i++) {
        uint32_t value = node_read(model, node, i);

        if (value == VALUE_NONE || model->values.items[value].initializer == INITIALIZER_NONE || bitset_has(met, value))
            continue;
        bitset_add(met, value);
        bytes += model->initializers.items[model->values.items[value].initializer].message.size;
    }
    for (size_t i = 0; i < node->outputs.count; i++) {
        uint32_t value = model_edge(model, node->outputs, i);
        size_t size = value != VALUE_NONE ? value_info_bytes(model->values.items[value].info) : 0;

        bytes += size < PIECE_BYTES ? size : PIECE_BYTES; /* no more bytes than that are of interest */
    }
    return bytes;
}

/* How many of `nodes` are the next piece. */
static size_t measure_piece(const struct computation *computation, const uint32_t *nodes, size_t count)
{
    const struct model *model = computation->model;
    size_t piece = 0, bytes = 0;
    SCOPED_BITSET(met);

    bitset_init(&met, model->values.count);
    while (piece < count && piece < computation->request->piece_nodes && bytes < PIECE_BYTES)
        bytes += measure_node(model, &model->nodes.items[nodes[piece++]], &met);
    return piece;
}

int constant_values_compute(const struct constant_values_request *request, struct error *err)
{
    struct computation computation = {.request = request, .model = request->model};
    struct value_list needed SCOPED_ITEMS = {0};
    int rc = 0;

    list_needed(request, &needed);
    value_list_to_set(request->wanted, request->model->values.count, &computation.wanted);
    bitset_init(&computation.lost, request->model->values.count);
    computation.readers = memory_alloc_zero(request->model->values.count + 1, sizeof(*computation.readers));
    computation.places = memory_alloc_zero(request->model->values.count + 1, sizeof(*computation.places));
    count_reads(&computation, &needed, false);
    for (size_t i = 0, piece; rc == 0 && i < needed.count; i += piece) {
        piece = measure_piece(&computation, needed.items + i, needed.count - i);
        rc = compute_nodes(&computation, needed.items + i, piece, err);
    }
    for (size_t i = 0; i < computation.held.count; i++)
        tensor_release(&computation.held.items[i]);
    bitset_release(&computation.wanted);
    bitset_release(&computation.lost);
    free(computation.held.items);
    free(computation.free_places.items);
    free(computation.readers);
    free(computation.places);
    return rc;
}
