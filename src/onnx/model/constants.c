/* onnx/model/constants.c: see constants.h. */
#include "onnx/model/constants.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/tensor_proto.h"
#include "tensor/values/elements.h"

bool constant_integers(const struct model *model, uint32_t value, size_t limit, int64_t *ret, struct shape *ret_shape)
{
    const struct value *v = value != VALUE_NONE ? &model->values.items[value] : NULL;
    const struct initializer *initializer;
    struct tensor tensor;
    size_t count;
    bool fits;

    if (v == NULL || v->initializer == INITIALIZER_NONE)
        return false;
    initializer = &model->initializers.items[v->initializer];
    if (initializer->sparse || tensor_proto_decode(initializer->message, &tensor, NULL) < 0)
        return false;
    count = tensor_elements(&tensor);
    fits = data_type_is_integer(tensor.type) && count <= limit;
    for (size_t first = 0; fits && first < count; first += ELEMENTS_RUN)
        elements_to_integers(&tensor, first, count - first < ELEMENTS_RUN ? count - first : ELEMENTS_RUN,
                             (uint64_t *)ret + first);
    *ret_shape = tensor.shape;
    tensor_release(&tensor);
    return fits;
}

int constant_replace(struct model *model, uint32_t value, const struct tensor *tensor, struct error *err)
{
    model->values.items[value].producer = NODE_NONE;
    return model_set_tensor(model, value, tensor, err);
}

int model_remove_unneeded_nodes(struct model *model, struct error *err)
{
    struct span_list kept = {0};
    struct subgraph whole;
    int rc = 0;

    subgraph_init_whole(&whole, model);
    subgraph_clean(&whole, NULL, NULL, NULL);
    for (size_t i = bitset_next(&whole.nodes, 0); i < whole.nodes.size; i = bitset_next(&whole.nodes, i + 1))
        *VECTOR_APPEND(&kept) = model->nodes.items[i].field;
    if (kept.count < model->nodes.count)
        rc = model_set_nodes(model, &kept, err);
    subgraph_release(&whole);
    free(kept.items);
    return rc;
}
