/* backend/type_inference.c: see type_inference.h. */
#include "backend/type_inference.h"

#include <stdlib.h>

#include "backend/onnxrt/settings.h"
#include "backend/subgraph_session.h"
#include "base/memory.h"
#include "onnx/edit/rebuild.h"
#include "onnx/proto/tensor_proto.h"

/* Initializers above this many bytes are weights; what decides about shapes (axes, sizes, pads) is smaller. */
#define WEIGHT_SIZE 1024

/* Integers that decide about shapes come in tensors of one dimension, which are not longer than this. */
#define LONGEST_SHAPE_TENSOR 1024

/* So many nodes more than it is asked about are in a piece, because shapes may need what they compute. */
#define MOST_MAKERS ((size_t)500)

/* So many single nodes of ONNX's own may be refused: a model with more of them is damaged, and not worth the time. */
#define MOST_REFUSALS 16

/* Pages of the file are given back each time this many bytes of initializers were passed. */
#define FORGET_STEP ((size_t)16 << 20)

void types_from_io(const struct backend_io *io, struct value_type *ret)
{
    ret->not_a_tensor = io->not_a_tensor;
    ret->element = io->type;
    ret->has_shape = io->has_shape;
    ret->shape = io->shape;
    for (size_t i = 0; io->has_shape && i < io->shape.rank; i++)
        ret->symbols[i] = text_of(io->symbols != NULL ? io->symbols[i] : NULL);
}

void types_list_all(const struct subgraph *subgraph, struct value_list *ret)
{
    const struct model *model = subgraph->model;
    SCOPED_BITSET(seen);

    bitset_init(&seen, model->values.count);
    BITSET_EACH (i, &subgraph->nodes) {
        struct edge_range outputs = model->nodes.items[i].outputs;

        for (size_t j = 0; j < outputs.count; j++) {
            uint32_t value = model_edge(model, outputs, j);

            if (value == VALUE_NONE || bitset_has(&seen, value))
                continue;
            bitset_add(&seen, value);
            value_list_add(ret, value);
        }
    }
}

/* ---- Weights ---- */

/* By its shape: the data may be elsewhere, or have been stripped. */
static bool is_weight(const struct initializer *initializer, const struct tensor_header *header)
{
    if (header->type == DATA_STRING)
        return initializer->message.size > WEIGHT_SIZE;
    return tensor_bytes(header->type, shape_elements(&header->shape)) > WEIGHT_SIZE;
}

/* Adds an initializer to `ret` if it is a weight, which gets a description: that is true and does no harm. `*passed`
 * counts the bytes of initializers since pages were last given back. */
static int add_if_weight(struct known_types *known_types, const struct initializer *initializer, size_t *passed,
                         struct value_list *ret, struct error *err)
{
    const struct model *model = known_types->model;
    struct value_type type = {.has_shape = true}, known;
    struct tensor_header header;
    int rc;

    *passed += initializer->message.size;
    if (*passed > FORGET_STEP) {
        file_map_forget(&model->map, 0, model->map.size);
        *passed = 0;
    }
    if (initializer->sparse)
        return 0;
    rc = tensor_proto_read(initializer->message, &header, err);
    if (rc < 0 || !is_weight(initializer, &header))
        return rc;
    type.element = header.type;
    type.shape = header.shape;
    value_info_decode(known_types_info(known_types, model, initializer->value), &known);
    if (!known.has_shape || !shape_equal(&known.shape, &type.shape))
        known_types_set(known_types, initializer->value, &type);
    value_list_add(ret, initializer->value);
    return 0;
}

int weights_to_inputs(struct subgraph *subgraph, struct known_types *known, struct error *err)
{
    const struct model *model = subgraph->model;
    size_t passed = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < model->initializers.count; i++)
        rc = add_if_weight(known, &model->initializers.items[i], &passed, &subgraph->inputs, err);
    return rc;
}

/* ---- What is known ---- */

/* How the descriptions that the runtime gives are used, and what is known so far. */
struct inference {
    const struct subgraph *whole;
    const struct types_request *how;
    struct backend_request runtime;
    struct known_types *known;
    struct bitset not_tensors; /* values that have no description because they are no tensors */
    struct bitset inputs;      /* values that `whole` is fed with */
    struct bitset frozen;      /* values that are constants in it */
    struct {                   /* what was known, and is replaced by what is more exact for the time being */
        struct stated {
            uint32_t value;
            struct span info;
        } * items;
        size_t count, capacity;
    } stated;
    size_t passed;           /* bytes of initializers since pages were last given back */
    size_t refusals;         /* of single nodes */
    struct name_map refused; /* operators that are not ONNX's own, to a node of each */
    struct error first_refusal;
};

static void read_known_type(const struct inference *inference, uint32_t value, struct value_type *ret)
{
    value_info_decode(known_types_info(inference->known, inference->whole->model, value), ret);
}

static bool is_dynamic(const struct value_type *type)
{
    return type->not_a_tensor == NULL && !shape_is_static(&type->shape);
}

/* Whether a session could tell more about the value than is known. `*ret_lacks`: nothing says what it is. */
static bool is_value_open(const struct inference *inference, uint32_t value, bool *ret_lacks)
{
    struct value_type known;
    bool complete;

    read_known_type(inference, value, &known);
    complete = value_type_is_complete(&known) || bitset_has(&inference->not_tensors, value);
    *ret_lacks = !complete;
    return !complete || (known.has_shape && is_dynamic(&known));
}

static bool node_is_open(const struct inference *inference, const struct node *node, bool *ret_lacks)
{
    bool open = false, lacks;

    *ret_lacks = false;
    for (size_t i = 0; i < node->outputs.count; i++) {
        uint32_t value = model_edge(inference->whole->model, node->outputs, i);

        if (value == VALUE_NONE || !is_value_open(inference, value, &lacks))
            continue;
        open = true;
        *ret_lacks |= lacks;
    }
    return open;
}

static bool is_constant(const struct inference *inference, uint32_t value)
{
    return inference->whole->model->values.items[value].initializer != INITIALIZER_NONE ||
           bitset_has(&inference->frozen, value);
}

/* The node of the whole that makes the value, or NODE_NONE. */
static uint32_t find_maker(const struct inference *inference, uint32_t value)
{
    uint32_t producer = inference->whole->model->values.items[value].producer;

    return producer != NODE_NONE && !bitset_has(&inference->inputs, value) && !bitset_has(&inference->frozen, value) &&
                   bitset_has(&inference->whole->nodes, producer)
               ? producer
               : NODE_NONE;
}

static bool is_more_static(const struct shape *found, const struct shape *known)
{
    bool more = false;

    for (size_t i = 0; i < known->rank; i++) {
        if (known->dims[i] >= 0 && found->dims[i] != known->dims[i])
            return false;
        more |= known->dims[i] < 0 && found->dims[i] >= 0;
    }
    return more;
}

/* What the model states stays, unless more exact descriptions are wanted; but what follows from those is to be found
 * out. */
static void describe_value(struct inference *inference, uint32_t value, const struct value_type *found)
{
    struct known_types *all = inference->known;
    struct value_type known;

    read_known_type(inference, value, &known);
    if (found->element == DATA_UNDEFINED)
        return;
    if (known.element != DATA_UNDEFINED && value_type_is_complete(&known)) {
        if (known.not_a_tensor != NULL || !found->has_shape || found->shape.rank != known.shape.rank ||
            !is_more_static(&found->shape, &known.shape))
            return;
        if (!inference->how->refine)
            *VECTOR_APPEND(&inference->stated) =
                (struct stated){value, known_types_has(all, value) ? all->infos[value] : (struct span){NULL, 0}};
    }
    known_types_set(all, value, found);
}

static void read_types(struct inference *inference, const struct subgraph_session *session)
{
    size_t count = session->session->output_count;
    const struct backend_io *outputs = session->session->outputs;

    for (size_t i = 0; i < count; i++) {
        uint32_t value = model_find_value(inference->whole->model, text_of(outputs[i].name));
        struct value_type type;

        if (value == VALUE_NONE)
            continue;
        types_from_io(&outputs[i], &type);
        if (outputs[i].not_a_tensor != NULL)
            bitset_add(&inference->not_tensors, value);
        else
            describe_value(inference, value, &type);
    }
}

/* ---- A piece ---- */

/* Whether its readers' shapes can depend on what the value holds, so that its computation belongs to them: few
 * integers. What has no description cannot be an input; and constants are such for the runtime only together with their
 * node. */
static bool needs_maker(const struct inference *inference, uint32_t value, uint32_t maker)
{
    const struct node *node = &inference->whole->model->nodes.items[maker];
    struct value_type known;

    if (bitset_has(&inference->not_tensors, value))
        return true;
    if (text_equal_string(node->op_type, "Constant") && node->domain.size == 0)
        return true;
    read_known_type(inference, value, &known);
    if (known.not_a_tensor != NULL || (known.element != DATA_INT64 && known.element != DATA_INT32))
        return false;
    return !known.has_shape || known.shape.rank == 0 ||
           (known.shape.rank == 1 && known.shape.dims[0] <= LONGEST_SHAPE_TENSOR);
}

/* Adds the computations that the shapes of `nodes` may need, but not without end: a long one would be in every
 * piece. */
static void add_makers(const struct inference *inference, const struct value_list *nodes, struct bitset *ret)
{
    const struct model *model = inference->whole->model;
    struct value_list queue SCOPED_ITEMS = {0};
    size_t most = nodes->count + MOST_MAKERS;

    value_list_assign(&queue, nodes);
    for (size_t next = 0; next < queue.count; next++) {
        const struct node *node = &model->nodes.items[queue.items[next]];

        for (size_t i = 0; i < node_read_count(node); i++) {
            uint32_t value = node_read(model, node, i), maker;

            if (value == VALUE_NONE)
                continue;
            maker = find_maker(inference, value);
            if (maker == NODE_NONE || bitset_has(ret, maker) || !needs_maker(inference, value, maker))
                continue;
            if (queue.count >= most && !bitset_has(&inference->not_tensors, value))
                continue;
            bitset_add(ret, maker);
            value_list_add(&queue, maker);
        }
    }
}

/* Sorts what the nodes of `piece` read into its inputs and, of those that are constants, the weights. */
static int find_inputs(struct inference *inference, struct subgraph *piece, struct value_list *ret_weights,
                       struct error *err)
{
    const struct model *model = piece->model;
    SCOPED_BITSET(met);
    int rc = 0;

    bitset_init(&met, model->values.count);
    for (size_t n = bitset_next(&piece->nodes, 0); rc == 0 && n < piece->nodes.size;
         n = bitset_next(&piece->nodes, n + 1)) {
        const struct node *node = &model->nodes.items[n];

        for (size_t i = 0; rc == 0 && i < node_read_count(node); i++) {
            uint32_t value = node_read(model, node, i), maker;

            if (value == VALUE_NONE || bitset_has(&met, value))
                continue;
            bitset_add(&met, value);
            if (bitset_has(&inference->inputs, value)) {
                value_list_add(&piece->inputs, value);
                continue;
            }
            if (is_constant(inference, value)) {
                if (!bitset_has(&inference->frozen, value))
                    rc = add_if_weight(inference->known,
                                       &model->initializers.items[model->values.items[value].initializer],
                                       &inference->passed, ret_weights, err);
                continue;
            }
            maker = find_maker(inference, value);
            if (maker == NODE_NONE || !bitset_has(&piece->nodes, maker))
                value_list_add(&piece->inputs, value);
        }
    }
    return rc;
}

static void find_outputs(const struct inference *inference, const struct value_list *nodes, struct value_list *ret)
{
    const struct model *model = inference->whole->model;
    bool lacks;

    for (size_t n = 0; n < nodes->count; n++) {
        struct edge_range outputs = model->nodes.items[nodes->items[n]].outputs;

        for (size_t i = 0; i < outputs.count; i++) {
            uint32_t value = model_edge(model, outputs, i);

            if (value != VALUE_NONE && is_value_open(inference, value, &lacks))
                value_list_add(ret, value);
        }
    }
}

static int ask_runtime(struct inference *inference, const struct subgraph *piece, struct error *err)
{
    struct subgraph_session session;
    int rc = subgraph_session_open(&session, piece, inference->how->backend, &inference->runtime, err);

    if (rc == 0)
        read_types(inference, &session);
    subgraph_session_close(&session);
    return rc;
}

/* Asks about `nodes`. */
static int ask_about_nodes(struct inference *inference, const struct value_list *nodes, struct error *err)
{
    struct subgraph piece = {
        .model = inference->whole->model, .known = inference->known, .frozen = inference->whole->frozen};
    struct value_list weights SCOPED_ITEMS = {0};
    size_t given;
    int rc;

    bitset_init(&piece.nodes, piece.model->nodes.count);
    for (size_t i = 0; i < nodes->count; i++)
        bitset_add(&piece.nodes, nodes->items[i]);
    add_makers(inference, nodes, &piece.nodes);
    find_outputs(inference, nodes, &piece.outputs);
    rc = find_inputs(inference, &piece, &weights, err);
    given = piece.inputs.count;
    for (size_t i = 0; i < weights.count; i++)
        value_list_add(&piece.inputs, weights.items[i]);
    if (rc == 0)
        rc = ask_runtime(inference, &piece, err);
    if (rc == ERR_BACKEND && weights.count > 0 && !bounded_process_is_end(err)) { /* constants may be insisted on */
        piece.inputs.count = given;
        rc = ask_runtime(inference, &piece, err);
    }
    free(piece.inputs.items);
    free(piece.outputs.items);
    bitset_release(&piece.nodes);
    return rc;
}

/* ---- Pieces ---- */

/* Whether an input of the node has no description and none of `nodes`, which are asked about with it, makes it. */
static bool lacks_input(const struct inference *inference, const struct node *node, const struct bitset *nodes)
{
    const struct model *model = inference->whole->model;

    for (size_t i = 0; i < node_read_count(node); i++) {
        uint32_t value = node_read(model, node, i), maker;
        struct value_type known;

        if (value == VALUE_NONE || is_constant(inference, value) || bitset_has(&inference->not_tensors, value))
            continue;
        maker = find_maker(inference, value);
        read_known_type(inference, value, &known);
        if (known.element == DATA_UNDEFINED && known.not_a_tensor == NULL &&
            (maker == NODE_NONE || !bitset_has(nodes, maker)))
            return true;
    }
    return false;
}

/* An operator of somebody else's that the runtime does not have is not tried again (of two domains with one of this
 * name, the one that was refused last). */
static bool was_refused(const struct inference *inference, const struct node *node)
{
    uint32_t refused = name_map_find(&inference->refused, node->op_type);

    return refused != NAME_MAP_NONE && text_equal(inference->whole->model->nodes.items[refused].domain, node->domain);
}

/* Those of nodes[0 .. count-1], in their order, that can be asked about. */
static void select_answerable(const struct inference *inference, const uint32_t *nodes, size_t count,
                              struct value_list *ret)
{
    SCOPED_BITSET(selected);

    bitset_init(&selected, inference->whole->model->nodes.count);
    for (size_t i = 0; i < count; i++) {
        const struct node *node = &inference->whole->model->nodes.items[nodes[i]];

        if (was_refused(inference, node) || lacks_input(inference, node, &selected))
            continue;
        bitset_add(&selected, nodes[i]);
        value_list_add(ret, nodes[i]);
    }
}

/* A piece that is refused is halved, until the nodes that are to blame stand alone. */
static int ask_about_piece(struct inference *inference, const uint32_t *nodes, size_t count, struct error *err)
{
    struct value_list answerable SCOPED_ITEMS = {0};
    int rc = 0;

    if (inference->refusals >= MOST_REFUSALS)
        return 0;
    select_answerable(inference, nodes, count, &answerable);
    if (answerable.count > 0)
        rc = ask_about_nodes(inference, &answerable, err);
    if (rc == ERR_BACKEND && !bounded_process_is_end(err)) {
        if (inference->first_refusal.code == 0)
            inference->first_refusal = *err;
        rc = 0;
        if (answerable.count > 1) {
            size_t half = answerable.count / 2;

            rc = ask_about_piece(inference, answerable.items, half, err);
            if (rc == 0)
                rc = ask_about_piece(inference, answerable.items + half, answerable.count - half, err);
        } else if (inference->whole->model->nodes.items[answerable.items[0]].domain.size > 0) {
            name_map_set(&inference->refused, inference->whole->model->nodes.items[answerable.items[0]].op_type,
                         answerable.items[0]);
        } else {
            inference->refusals++;
        }
    }
    return rc;
}

/* ---- Assumptions ---- */

static bool lacks_element(const struct inference *inference, uint32_t value)
{
    struct value_type known;

    if (value == VALUE_NONE || is_constant(inference, value) || bitset_has(&inference->not_tensors, value))
        return false;
    read_known_type(inference, value, &known);
    return known.element == DATA_UNDEFINED && known.not_a_tensor == NULL;
}

static void assume_float32(const struct inference *inference, uint32_t value)
{
    struct value_type type = {.element = DATA_FLOAT32};

    if (lacks_element(inference, value))
        known_types_set(inference->known, value, &type);
}

static bool makes_unknown(const struct inference *inference, const struct node *node)
{
    for (size_t i = 0; i < node->outputs.count; i++)
        if (lacks_element(inference, model_edge(inference->whole->model, node->outputs, i)))
            return true;
    return false;
}

/* What is read and nobody makes: a damaged model has such, and inputs may be without a type. */
static void assume_sources(const struct inference *inference, const struct value_list *nodes)
{
    const struct model *model = inference->whole->model;

    for (size_t n = 0; n < nodes->count; n++) {
        const struct node *node = &model->nodes.items[nodes->items[n]];

        for (size_t i = 0; i < node_read_count(node); i++) {
            uint32_t value = node_read(model, node, i);

            if (value != VALUE_NONE && find_maker(inference, value) == NODE_NONE)
                assume_float32(inference, value);
        }
    }
}

/* Of nodes[0 .. count-1], which were asked about: assumes what refused operators make; were there none, what the first
 * one makes about which nothing is known. Lists those in `ret` that may have an answer now. */
static void assume_one_more(const struct inference *inference, const uint32_t *nodes, size_t count,
                            struct value_list *ret)
{
    const struct model *model = inference->whole->model;
    bool assumed = false;

    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < count; i++) {
            const struct node *node = &model->nodes.items[nodes[i]];
            bool refused = was_refused(inference, node) || inference->refusals >= MOST_REFUSALS;

            if ((round == 0 && !refused) || !makes_unknown(inference, node))
                continue;
            if (round == 1 && assumed) {
                value_list_add(ret, nodes[i]);
                continue;
            }
            for (size_t k = 0; k < node->outputs.count; k++)
                assume_float32(inference, model_edge(model, node->outputs, k));
            assumed = true;
        }
}

static int assume_in_piece(struct inference *inference, const uint32_t *nodes, size_t count, struct error *err)
{
    struct value_list left = {0};
    int rc = 0;

    assume_one_more(inference, nodes, count, &left);
    while (rc == 0 && left.count > 0) {
        struct value_list asked SCOPED_ITEMS = left;

        left = (struct value_list){0};
        rc = ask_about_piece(inference, asked.items, asked.count, err);
        assume_one_more(inference, asked.items, asked.count, &left);
    }
    free(left.items);
    return rc;
}

/* ---- All of it ---- */

/* The nodes that a session can tell something about, in topological order; none when all types are stated. */
static int list_open_nodes(const struct inference *inference, struct value_list *ret, struct error *err)
{
    const struct model *model = inference->whole->model;
    struct value_list order SCOPED_ITEMS = {0};
    bool any_lacks = false, lacks;
    int rc = model_order_nodes(model, &order, err);

    for (size_t i = 0; rc == 0 && i < order.count; i++) {
        const struct node *node = &model->nodes.items[order.items[i]];

        if (!bitset_has(&inference->whole->nodes, order.items[i]) || !node_is_open(inference, node, &lacks))
            continue;
        any_lacks |= lacks;
        value_list_add(ret, order.items[i]);
    }
    if (!any_lacks && !inference->how->refine)
        ret->count = 0;
    return rc;
}

int types_find(const struct subgraph *part, const struct types_request *request, struct known_types *known,
               struct bitset *ret_not_tensors, struct error *err)
{
    size_t values = part->model->values.count;
    size_t piece = request->piece_nodes > 0 ? request->piece_nodes : session_piece_nodes(part->model);
    struct inference inference = {.whole = part, .how = request, .runtime = *request->runtime, .known = known};
    const struct onnxrt_settings plain = onnxrt_settings_unoptimized(request->runtime);
    struct log *log = request->refine || request->assume ? NULL : request->runtime->log;
    struct value_list nodes SCOPED_ITEMS = {0};
    struct error own = {0};
    int rc;

    if (bitset_count(&part->nodes) == 0) /* no tensor is made; a runtime may refuse such a model */
        return 0;
    log_message(log, LOG_VERBOSE, "Starting shape inference");
    inference.runtime.settings = &plain;
    bitset_init(&inference.not_tensors, values);
    value_list_to_set(&part->inputs, values, &inference.inputs);
    bitset_init(&inference.frozen, values);
    for (size_t i = 0; i < part->frozen.count; i++)
        bitset_add(&inference.frozen, part->frozen.items[i].value);

    rc = list_open_nodes(&inference, &nodes, &own);
    if (rc < 0)
        goto done;
    if (request->assume)
        assume_sources(&inference, &nodes);
    for (size_t i = 0; i < nodes.count; i += piece) {
        size_t left = nodes.count - i, count = left < piece ? left : piece;

        rc = ask_about_piece(&inference, nodes.items + i, count, &own);
        if (rc == 0 && request->assume)
            rc = assume_in_piece(&inference, nodes.items + i, count, &own);
        if (rc < 0)
            goto done;
    }
    rc = inference.first_refusal.code;
    if (rc < 0) {
        own = inference.first_refusal;
        goto done;
    }
    log_once(log, LOG_VERBOSE,
             "Inferred shapes in the model with `onnxruntime`.\n"
             "Note: --no-onnxruntime-shape-inference turns this off where there is such an option.");
    log_message(log, LOG_VERBOSE, "Shape inference completed successfully");
done:
    if (rc < 0 && err != NULL)
        *err = own;
    for (size_t i = inference.stated.count; i-- > 0;)
        known->infos[inference.stated.items[i].value] = inference.stated.items[i].info;
    if (ret_not_tensors != NULL)
        bitset_unite(ret_not_tensors, &inference.not_tensors);
    free(inference.stated.items);
    name_map_release(&inference.refused);
    bitset_release(&inference.not_tensors);
    bitset_release(&inference.inputs);
    bitset_release(&inference.frozen);
    return rc;
}

static int find_and_state(struct model *model, const struct subgraph *part, const struct types_request *request,
                          struct bitset *ret_not_tensors, struct error *err)
{
    struct known_types known;
    struct subgraph whole SCOPED(subgraph_release) = {0};
    int rc;

    known_types_init(&known, model, &model->arena);
    subgraph_init_whole(&whole, model);
    rc = types_find(part != NULL ? part : &whole, request, &known, ret_not_tensors, err);
    known_types_state(&known, model);
    known_types_release(&known);
    return rc;
}

int types_infer(struct model *model, const struct subgraph *part, const struct backend *backend,
                const struct backend_request *runtime, struct bitset *ret_not_tensors, struct error *err)
{
    const struct types_request request = {.backend = backend, .runtime = runtime};

    return find_and_state(model, part, &request, ret_not_tensors, err);
}

int types_refine(struct model *model, const struct backend *backend, const struct backend_request *runtime,
                 struct log *log, struct error *err)
{
    const struct types_request request = {.backend = backend, .runtime = runtime, .refine = true};
    struct error why = {0};
    int rc = find_and_state(model, NULL, &request, NULL, &why);

    if (rc < 0 && bounded_process_is_end(&why)) {
        *err = why;
        return rc;
    }
    if (rc < 0)
        log_message(log, LOG_VERBOSE, "Shape inference is not possible: %s", why.message);
    return 0;
}
