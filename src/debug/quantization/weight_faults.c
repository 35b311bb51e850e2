/* debug/quantization/weight_faults.c: see weight_faults.h. */
#include "debug/quantization/weight_faults.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/external/tensor.h"

static bool read_constant(struct model *model, uint32_t value, struct tensor *ret)
{
    uint32_t initializer = model->values.items[value].initializer;

    return initializer != INITIALIZER_NONE && !model->initializers.items[initializer].sparse &&
           external_tensor_borrow(model, model->initializers.items[initializer].message, ret, NULL) == 0;
}

static void find_weight_fault(const struct quantization_subject *subject, size_t index, struct weight_faults *ret)
{
    const struct quantizer *quantizer = &subject->quantizers.items[index];
    const struct quantizer_twin *twin = quantization_twin(subject, index);
    struct weight_fault found = {.quantizer = index};
    struct tensor stored SCOPED(tensor_release) = {0};
    struct tensor values SCOPED(tensor_release) = {0};

    if (quantizer->form != QUANTIZER_STORED || twin == NULL || twin->tensor == VALUE_NONE ||
        !read_constant(subject->model, quantizer->integers, &stored) ||
        !read_constant(subject->float_model, twin->tensor, &values) ||
        !stored_fault_find(quantizer, &stored, &values, &found.fault))
        return;
    ret->compared++;
    if (found.fault.kind != FAULT_NONE)
        *VECTOR_APPEND(&ret->list) = found;
}

void weight_faults_find(const struct quantization_subject *subject, struct weight_faults *ret)
{
    *ret = (struct weight_faults){0};
    for (size_t i = 0; i < subject->quantizers.count; i++)
        find_weight_fault(subject, i, ret);
}

void weight_faults_release(struct weight_faults *faults)
{
    free(faults->list.items);
    *faults = (struct weight_faults){0};
}
