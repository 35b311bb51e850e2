/* onnx/quantizer/quantizer.h: a quantizer: a tensor that is quantized to integers (or float8), with its parameters. */
#ifndef ONNX_QUANTIZER_QUANTIZER_H
#define ONNX_QUANTIZER_QUANTIZER_H

#include "onnx/model/model.h"
#include "tensor/values/tensor.h"

enum quantizer_form {
    QUANTIZER_PAIR,   /* QuantizeLinear and DequantizeLinear (ONNX's or com.microsoft's): float in, float out */
    QUANTIZER_STORED, /* a constant kept in integers, and its DequantizeLinear */
    QUANTIZER_FIXED,  /* integer operators (QLinearConv, ...) read or produce the integers: it cannot be bypassed */
};

enum quantizer_role {
    QUANTIZER_ACTIVATION,
    QUANTIZER_WEIGHT, /* of a constant other than a bias */
    QUANTIZER_BIAS,   /* of a constant that Conv, ConvTranspose, Gemm or a normalization adds */
};

struct quantizer {
    /* name of `tensor`; made unique by " -> " and the node's name for further quantizers of the tensor */
    const char *name;
    enum quantizer_form form;
    enum quantizer_role role;
    uint32_t tensor;   /* the quantized tensor: of a PAIR, a float tensor (possibly constant); else the integers */
    uint32_t integers; /* value with the integers */
    uint32_t quantize; /* the node that produces them; NODE_NONE: a constant */
    struct value_list dequantize; /* nodes */
    uint32_t reader;              /* the node that uses it as weight or bias, else the first consumer; or NODE_NONE */
    uint32_t reader_input;        /* index among its reads, see node_read() */
    enum data_type type;          /* of the integers; UNDEFINED if unknown */
    bool has_shape;
    struct shape shape;        /* of the tensor; -1: a dynamic dimension */
    int64_t axis;              /* axis of the scales; -1: one scale for the whole tensor */
    int64_t block_size;        /* elements along the axis that share a scale; 0: not in blocks */
    const int32_t *groups;     /* for each slice along the axis the index of its scales; NULL: in order. With it,
                                * block_size is 1, and `scale` has one slice for each group */
    bool dynamic;              /* scale or zero point are computed */
    bool overflows;            /* values out of range become infinite or NaN instead of being clipped: float8 only */
    struct tensor scale;       /* float32, aligned; rank 1, or with blocks the tensor's rank. Zeroed if unknown */
    enum data_type scale_type; /* type of the scale in the model; UNDEFINED: unknown */
    struct tensor zero_point;  /* int32 for any `type`, as many as scales. Zeroed: all are zero */
    const char *fixed_by;      /* for FIXED: why it cannot be bypassed */
    const char *problem;       /* why it cannot be simulated; NULL: no problem */
    /* the same pointer for problems that differ only in names and numbers; NULL: no problem */
    const char *problem_kind;
};

const char *quantizer_form_name(enum quantizer_form form); /* "pair", "stored", "fixed" */
const char *quantizer_role_name(enum quantizer_role role); /* "activation", "weight", "bias" */

/* Whether the node is a QuantizeLinear (DequantizeLinear), of ONNX or com.microsoft. */
bool node_quantizes(const struct node *node);
bool node_dequantizes(const struct node *node);

/* The output type of one of its DequantizeLinear nodes: the scale's type unless the node specifies another; UNDEFINED:
 * unknown. */
enum data_type quantizer_type_behind(const struct quantizer *quantizer, const struct node *dequantize);

/* The zero point that belongs to a scale. */
static inline int32_t quantizer_zero_point(const struct quantizer *quantizer, size_t scale)
{
    return quantizer->zero_point.data != NULL ? ((const int32_t *)quantizer->zero_point.data)[scale] : 0;
}

/* ---- Scale layout: which scale belongs to which element, and the values of stored integers. */

/* The layout of scales over the elements of a tensor. Along the axis there are `length` slices, or `blocks` blocks of
 * `block_size` slices each (the last may be shorter). */
struct scale_layout {
    size_t inner;  /* contiguous elements of a slice */
    size_t length; /* 1: a single scale */
    size_t block_size, blocks;
    const int32_t *groups; /* index of the block of each slice; NULL: in order */
};

/* False if the scales do not fit a tensor of this shape, or are unknown. */
bool scale_layout_of(const struct quantizer *quantizer, const struct shape *shape, struct scale_layout *ret);

/* The index of the scale of an element. */
static inline size_t scale_layout_index(const struct scale_layout *layout, size_t element)
{
    size_t slice = element / layout->inner;
    size_t along = slice % layout->length;

    if (layout->block_size == 0)
        return along;
    along = layout->groups != NULL ? (size_t)layout->groups[along] : along / layout->block_size;
    return (slice / layout->length * layout->blocks + along) * layout->inner + element % layout->inner;
}

/* Dequantizes `count` (at most ELEMENTS_RUN) elements of a stored constant from `first` on, as DequantizeLinear does.
 * `stored` must have the type and shape of `layout`. */
void quantizer_restore_run(const struct quantizer *quantizer, const struct scale_layout *layout,
                           const struct tensor *stored, size_t first, size_t count, float *ret);

#endif
