/* format/tensorrt/layer_precision.c: what layers of an engine compute in, as far as that can be seen from outside. */
#include "format/tensorrt/layer_info.h"

#include <ctype.h>
#include <string.h>

#include "base/memory.h"

/* Words for types in names of kernels. A part of a name such as "f16f16" or "i8i32" is a row of them. */
static const struct kernel_type {
    const char *word;
    const char *precision;
    unsigned bits;
} kernel_types[] = {
    /* A word stands before those that it begins with. */
    {"bf16", "bfloat16", 16}, {"tf32", "tf32", 19},   {"fp16", "float16", 16}, {"fp32", "float32", 32},
    {"fp64", "float64", 64},  {"fp8", "float8", 8},   {"fp4", "float4", 4},    {"int8", "int8", 8},
    {"int4", "int4", 4},      {"f16", "float16", 16}, {"f32", "float32", 32},  {"f64", "float64", 64},
    {"e4m3", "float8", 8},    {"e5m2", "float8", 8},  {"e2m1", "float4", 4},   {"i8", "int8", 8},
    {"u8", "uint8", 8},       {"i4", "int4", 4},
};

static const struct kernel_type *type_at(const char *name, const char *end)
{
    for (size_t i = 0; i < ARRAY_LEN(kernel_types); i++) {
        size_t size = strlen(kernel_types[i].word);

        if ((size_t)(end - name) >= size && strncmp(name, kernel_types[i].word, size) == 0)
            return &kernel_types[i];
    }
    return NULL;
}

/* How many values are packed together: the "x4" of "int8x4". */
static const char *skip_packing(const char *name, const char *end)
{
    const char *digits = name + 1;

    if (name == end || *name != 'x')
        return name;
    while (digits < end && isdigit((unsigned char)*digits))
        digits++;
    return digits > name + 1 ? digits : name;
}

/* The narrower of `best` and the types in one part of a kernel's name. A part that is not a row of types throughout
 * says nothing: "i32" is how an index is stored, "f16x" might be anything. */
static const struct kernel_type *narrowest_in(const char *part, const char *end, const struct kernel_type *best)
{
    const struct kernel_type *type;

    while (part < end) {
        if (end - part >= 3 && strncmp(part, "i32", 3) == 0) {
            part += 3;
            continue;
        }
        type = type_at(part, end);
        if (!type)
            return NULL;
        part = skip_packing(part + strlen(type->word), end);
        if (!best || type->bits < best->bits)
            best = type;
    }
    return best;
}

static const char *precision_of_kernel(const char *name)
{
    const struct kernel_type *best = NULL;

    while (*name != '\0') {
        const char *end = name + strcspn(name, "_");
        const struct kernel_type *narrower = end > name ? narrowest_in(name, end, best) : NULL;

        if (narrower)
            best = narrower;
        name = *end == '\0' ? end : end + 1;
    }
    return best ? best->precision : NULL;
}

/* Indices, sizes and conditions come along with what is computed, and are no precision beside it. */
static bool is_arithmetic(enum data_type type)
{
    return data_type_is_float(type) || (data_type_is_integer(type) && data_type_bits(type) <= 8);
}

/* The type that all outputs have which the filter lets through, DATA_UNDEFINED when they differ or are none. */
static enum data_type common_type(const struct layer_info_tensors *outputs, bool arithmetic)
{
    enum data_type type = DATA_UNDEFINED;

    for (size_t i = 0; i < outputs->count; i++) {
        enum data_type other = outputs->items[i].type;

        if (arithmetic && !is_arithmetic(other))
            continue;
        if (type != DATA_UNDEFINED && other != type)
            return DATA_UNDEFINED;
        type = other;
    }
    return type;
}

static bool has_arithmetic(const struct layer_info_tensors *outputs)
{
    for (size_t i = 0; i < outputs->count; i++)
        if (is_arithmetic(outputs->items[i].type))
            return true;
    return false;
}

static const char *precision_of_outputs(const struct layer_info_tensors *outputs)
{
    enum data_type type = common_type(outputs, has_arithmetic(outputs));

    switch (type) {
    case DATA_UNDEFINED:
        return NULL;
    case DATA_FLOAT8E4M3FN: /* TensorRT's word does not say which */
        return "float8";
    case DATA_FLOAT4E2M1:
        return "float4";
    default:
        return data_type_name(type);
    }
}

const char *layer_info_precision(const struct layer_info_layer *layer, bool *ret_from_kernel)
{
    /* Tactics of the built-in engine ("onednn:jit:avx512_core_fp16") name instruction sets: what a processor can do. */
    bool is_kernel = layer->tactic_name && !strchr(layer->tactic_name, ':');
    const char *precision = is_kernel ? precision_of_kernel(layer->tactic_name) : NULL;

    if (ret_from_kernel)
        *ret_from_kernel = precision != NULL;
    return precision ? precision : precision_of_outputs(&layer->outputs);
}

bool layer_info_only_moves(const struct layer_info_layer *layer)
{
    static const char *const types[] = {"Reformat", "NoOp",  "Shuffle", "ShuffleV2", "Identity",
                                        "Constant", "Slice", "Padding", "Gather",    "Concatenation",
                                        "signal",   "wait",  "Move"};

    for (size_t i = 0; layer->type && i < ARRAY_LEN(types); i++)
        if (strcmp(layer->type, types[i]) == 0)
            return true;
    return false;
}
