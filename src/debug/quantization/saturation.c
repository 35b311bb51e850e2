/* debug/quantization/saturation.c: see saturation.h. */
#include "debug/quantization/saturation.h"

#include "base/memory.h"

static bool contains_any(struct text type, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (text_contains(type, text_of(names[i])))
            return true;
    return false;
}

bool saturation_is_possible(const struct model *model)
{
    static const char *const quantized[] = {"Quantize", "Dequantize", "QLinear", "Integer", "QGemm", "QAttention"};
    static const char *const products[] = {"Conv", "MatMul", "Gemm", "Attention", "LSTM", "GRU", "Einsum"};
    bool is_quantized = false, multiplies = model->function_count > 0; /* a function may */

    for (size_t i = 0; i < model->nodes.count; i++) {
        struct text type = model->nodes.items[i].op_type;

        is_quantized = is_quantized || contains_any(type, quantized, ARRAY_LEN(quantized));
        multiplies = multiplies || contains_any(type, products, ARRAY_LEN(products));
    }
    return is_quantized && multiplies;
}
