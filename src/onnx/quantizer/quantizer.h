/* onnx/quantizer/quantizer.h: what is rounded to integers (or to float8), where, and how. */
#ifndef ONNX_QUANTIZER_QUANTIZER_H
#define ONNX_QUANTIZER_QUANTIZER_H

#include "onnx/model/model.h"
#include "tensor/values/tensor.h"

enum quantizer_form {
    QUANTIZER_PAIR,   /* QuantizeLinear and DequantizeLinear (ONNX's or com.microsoft's): float in, float out */
    QUANTIZER_STORED, /* a constant kept in integers, and its DequantizeLinear */
    QUANTIZER_FIXED,  /* operators that work on the integers read or make them (QLinearConv, ...): it has to stay */
};

enum quantizer_role {
    QUANTIZER_ACTIVATION,
    QUANTIZER_WEIGHT, /* of a constant that is no bias */
    QUANTIZER_BIAS,   /* of a constant that Conv, ConvTranspose, Gemm or a normalization adds */
};

struct quantizer {
    const char *name; /* that of `tensor`; unique: another one that quantizes it has its node's behind " -> " */
    enum quantizer_form form;
    enum quantizer_role role;
    uint32_t tensor;   /* what is quantized: of a PAIR, a float tensor, maybe a constant; else the integers */
    uint32_t integers; /* the integers */
    uint32_t quantize; /* the node that makes them; NODE_NONE: they are a constant */
    struct value_list dequantize; /* nodes */
    uint32_t reader;              /* the node that makes it a weight or bias, else the first reader; or NODE_NONE */
    uint32_t reader_input;        /* its place there, see node_read() */
    enum data_type type;          /* of the integers; UNDEFINED when that is not known */
    bool has_shape;
    struct shape shape;        /* of the tensor; -1: a dynamic dimension */
    int64_t axis;              /* along which scales change; -1: there is one for the whole tensor */
    int64_t block_size;        /* elements along the axis that share a scale; 0: not in blocks */
    bool dynamic;              /* scale or zero point are computed */
    bool overflows;            /* what is out of range is not clipped, but becomes infinite or NaN: float8 only */
    struct tensor scale;       /* float32, aligned; rank 1, or in blocks that of the tensor. Zeroed when not known */
    enum data_type scale_type; /* in which the model has it; UNDEFINED: nobody knows */
    struct tensor zero_point;  /* int32, whatever `type` is, as many as scales. Zeroed: all are zero */
    const char *fixed_by;      /* of a FIXED one: why it has to stay */
    const char *problem;       /* why nothing can be computed with it; NULL: nothing is wrong */
    const char *problem_kind;  /* the same pointer where problems differ in names and numbers alone; NULL: in nothing */
};

const char *quantizer_form_name(enum quantizer_form form); /* "pair", "stored", "fixed" */
const char *quantizer_role_name(enum quantizer_role role); /* "activation", "weight", "bias" */

/* Whether it is a QuantizeLinear, a DequantizeLinear, of ONNX or of com.microsoft. */
bool node_quantizes(const struct node *node);
bool node_dequantizes(const struct node *node);

/* The type that one of its DequantizeLinear nodes makes: that of the scale, unless the node says another; UNDEFINED: it
 * is not known. */
enum data_type quantizer_type_behind(const struct quantizer *quantizer, const struct node *dequantize);

/* The zero point that belongs to a scale. */
static inline int32_t quantizer_zero_point(const struct quantizer *quantizer, size_t scale)
{
    return quantizer->zero_point.data != NULL ? ((const int32_t *)quantizer->zero_point.data)[scale] : 0;
}

/* ---- Scales over elements: which scale belongs to which element, and what stored integers stand for. */

/* The scales over the elements of a tensor. Along the axis there are `length` slices, or in blocks, `blocks` of
 * `block_size` slices each, the last one maybe shorter. */
struct scale_layout {
    size_t inner;  /* elements of a slice that lie side by side */
    size_t length; /* 1: there is one scale */
    size_t block_size, blocks;
};

/* False when the scales do not fit a tensor of this shape, or are not known. */
bool scale_layout_of(const struct quantizer *quantizer, const struct shape *shape, struct scale_layout *ret);

/* The number of the scale of an element. */
static inline size_t scale_layout_index(const struct scale_layout *layout, size_t element)
{
    size_t slice = element / layout->inner;
    size_t along = slice % layout->length;

    if (layout->block_size == 0)
        return along;
    return (slice / layout->length * layout->blocks + along / layout->block_size) * layout->inner +
           element % layout->inner;
}

/* What DequantizeLinear makes of elements of a stored constant, `count` from `first` on: at most ELEMENTS_RUN. `stored`
 * has the type and shape that `layout` was made for. */
void quantizer_restore_run(const struct quantizer *quantizer, const struct scale_layout *layout,
                           const struct tensor *stored, size_t first, size_t count, float *ret);

#endif
