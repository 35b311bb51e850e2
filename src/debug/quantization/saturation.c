/* debug/quantization/saturation.c: see saturation.h. */
#include "debug/quantization/saturation.h"

#include "base/memory.h"
#include "onnx/proto/node_attribute.h"

static bool contains_any(struct text type, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text_contains(type, text_of(names[i])))
            return true;
    return false;
}

/* Blocked weights, mostly of 4 bits, are never multiplied by kernels that add uint8 x int8 products. */
static bool is_quantized(const struct node *node)
{
    static const char *const types[] = {"Quantize", "Dequantize", "QLinear", "Integer", "QGemm", "QAttention"};

    return contains_any(node->op_type, types, ARRAY_LEN(types)) &&
           node_attribute_integer(node->message, "block_size", 0) == 0;
}

bool saturation_is_possible(const struct model *model)
{
    static const char *const products[] = {"Conv", "MatMul", "Gemm", "Attention", "LSTM", "GRU", "Einsum"};
    bool has_quantized = false, multiplies = model->function_count > 0; /* a function may */

    VECTOR_EACH (const struct node, node, model->nodes) {
        has_quantized = has_quantized || is_quantized(node);
        multiplies = multiplies || contains_any(node->op_type, products, ARRAY_LEN(products));
    }
    return has_quantized && multiplies;
}
