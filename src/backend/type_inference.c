/* backend/type_inference.c: see type_inference.h. */
#include "backend/type_inference.h"

#include <string.h>

#include "backend/subgraph_session.h"
#include "base/memory.h"
#include "onnx/model_edit.h"
#include "onnx/tensor_proto.h"

/* Initializers above this many bytes are weights; what decides about shapes (axes, sizes, pads) is smaller. */
#define WEIGHT_SIZE 1024

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
    struct bitset seen;

    bitset_init(&seen, model->values.count);
    for (size_t i = bitset_next(&subgraph->nodes, 0); i < subgraph->nodes.size;
         i = bitset_next(&subgraph->nodes, i + 1)) {
        struct edge_range outputs = model->nodes.items[i].outputs;

        for (size_t j = 0; j < outputs.count; j++) {
            uint32_t value = model_edge(model, outputs, j);

            if (value == VALUE_NONE || bitset_has(&seen, value))
                continue;
            bitset_add(&seen, value);
            value_list_add(ret, value);
        }
    }
    bitset_release(&seen);
}

/* By its shape: the data may be elsewhere, or have been stripped. */
static bool is_weight(const struct initializer *initializer, const struct tensor_header *header)
{
    if (header->type == DATA_STRING)
        return initializer->message.size > WEIGHT_SIZE;
    return tensor_bytes(header->type, shape_elements(&header->shape)) > WEIGHT_SIZE;
}

/* Weights get a description in the model, which is true and does no harm there. */
int weights_to_inputs(struct subgraph *subgraph, struct error *err)
{
    struct model *model = subgraph->model;
    size_t passed = 0;

    for (size_t i = 0; i < model->initializers.count; i++) {
        const struct initializer *initializer = &model->initializers.items[i];
        struct tensor_header header;
        struct value_type type = {.has_shape = true}, known;
        int rc;

        passed += initializer->message.size;
        if (passed > FORGET_STEP) {
            file_map_forget(&model->map, model->map.size);
            passed = 0;
        }

        if (initializer->sparse)
            continue;
        rc = tensor_proto_read(initializer->message, &header, err);
        if (rc < 0)
            return rc;
        if (!is_weight(initializer, &header))
            continue;
        type.element = header.type;
        type.shape = header.shape;
        value_info_decode(model->values.items[initializer->value].info, &known);
        if (!known.has_shape || !shape_equal(&known.shape, &type.shape))
            model_set_type(model, initializer->value, &type);
        value_list_add(&subgraph->inputs, initializer->value);
    }
    return 0;
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

/* How the descriptions that the runtime gives are used. */
struct inference {
    const struct backend *backend;
    const struct backend_request *request;
    bool refine;                    /* look for sizes of dynamic dimensions, too */
    struct bitset *ret_not_tensors; /* may be NULL */
};

static bool is_news(const struct inference *inference, const struct model *model, uint32_t value,
                    const struct value_type *found)
{
    struct value_type known;

    value_info_decode(model->values.items[value].info, &known);
    if (found->element == DATA_UNDEFINED || !value_type_is_complete(&known))
        return found->element != DATA_UNDEFINED;
    return inference->refine && known.not_a_tensor == NULL && found->has_shape &&
           found->shape.rank == known.shape.rank && is_more_static(&found->shape, &known.shape);
}

static void read_types(const struct inference *inference, struct model *model, const struct subgraph_session *session)
{
    size_t count;
    const struct backend_io *outputs = session->backend->outputs(session->session, &count);

    for (size_t i = 0; i < count; i++) {
        uint32_t value = model_find_value(model, text_of(outputs[i].name));
        struct value_type type;

        if (value == VALUE_NONE)
            continue;
        if (outputs[i].not_a_tensor != NULL && inference->ret_not_tensors != NULL)
            bitset_add(inference->ret_not_tensors, value);
        types_from_io(&outputs[i], &type);
        if (outputs[i].not_a_tensor == NULL && is_news(inference, model, value, &type))
            model_set_type(model, value, &type);
    }
}

static int infer(const struct inference *inference, const struct subgraph *copy, struct error *err)
{
    struct backend_request request = *inference->request;
    struct subgraph_session session;
    int rc;

    request.optimization_level = 0;
    request.providers = NULL;
    rc = subgraph_session_open(&session, copy, inference->backend, &request, err);
    if (rc == 0)
        read_types(inference, copy->model, &session);
    subgraph_session_close(&session);
    return rc;
}

static int infer_all(const struct inference *inference, const struct subgraph *subgraph, struct error *err)
{
    struct subgraph copy;
    int rc;

    subgraph_init_copy(&copy, subgraph);
    copy.outputs.count = 0;
    types_list_all(subgraph, &copy.outputs);
    rc = weights_to_inputs(&copy, err);
    if (rc == 0)
        rc = infer(inference, &copy, err);
    if (rc == ERR_BACKEND) { /* some operators insist on constant weights */
        value_list_assign(&copy.inputs, &subgraph->inputs);
        rc = infer(inference, &copy, err);
    }
    subgraph_release(&copy);
    return rc;
}

int types_infer(const struct subgraph *subgraph, const struct backend *backend, const struct backend_request *request,
                struct bitset *ret_not_tensors, struct error *err)
{
    struct inference inference = {.backend = backend, .request = request, .ret_not_tensors = ret_not_tensors};

    return infer_all(&inference, subgraph, err);
}

int types_refine(const struct subgraph *subgraph, const struct backend *backend, const struct backend_request *request,
                 struct error *err)
{
    struct inference inference = {.backend = backend, .request = request, .refine = true};

    return infer_all(&inference, subgraph, err);
}
