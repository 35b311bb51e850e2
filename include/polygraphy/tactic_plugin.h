/* polygraphy/tactic_plugin.h: kernels of your own for the built-in engine.
 *
 * A plug-in is a shared library with one function, polygraphy_tactic_plugin(), which returns a table of functions. The
 * engine then asks it, for each layer of a network, which tactics it has: ways to compute this layer. Its tactics
 * compete with those of oneDNN and ONNX Runtime: they are timed, chosen, saved in replays, and found guilty by the same
 * tools.
 *
 *   cc -shared -fPIC -I<where polygraphy is installed>/include -o my_kernels.so my_kernels.c
 *   polygraphy run model.onnx --trt --plugins ./my_kernels.so
 *
 * examples/tactic_plugin/ has a whole one; docs/tactic-plugins.md explains it.
 *
 * This header needs nothing but the C library's types, and compiles as C11 and as C++. Everything in it is fixed for as
 * long as POLYGRAPHY_PLUGIN_VERSION stays the same, but for members that are added at the end of structs: `struct_size`
 * says how many of them the other side knows.
 */
#ifndef POLYGRAPHY_TACTIC_PLUGIN_H
#define POLYGRAPHY_TACTIC_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define POLYGRAPHY_PLUGIN_VERSION 1u

#define POLYGRAPHY_MAX_RANK 32u        /* dimensions of a tensor */
#define POLYGRAPHY_MAX_TACTICS 64u     /* of one layer, from one plug-in */
#define POLYGRAPHY_MAX_TACTIC_NAME 95u /* bytes, without the NUL */

/* Element types have ONNX's numbers (TensorProto.DataType). These are the ones that kernels are mostly written for;
 * others come along as well, except strings. */
enum {
    POLYGRAPHY_FLOAT32 = 1,
    POLYGRAPHY_UINT8 = 2,
    POLYGRAPHY_INT8 = 3,
    POLYGRAPHY_INT32 = 6,
    POLYGRAPHY_INT64 = 7,
    POLYGRAPHY_BOOL = 9,
    POLYGRAPHY_FLOAT16 = 10,
    POLYGRAPHY_FLOAT64 = 11,
    POLYGRAPHY_BFLOAT16 = 16
};

/* One input of a layer. Tensors are dense and row-major. */
struct polygraphy_input {
    int32_t present;   /* 0: an optional input that the model leaves out; nothing else is set then */
    int32_t data_type; /* one of the numbers above */
    uint32_t rank;
    const int64_t *dims; /* `rank` of them; all are known, and none is negative */
    /* A constant's values, aligned for their type; they live as long as the kernel. In a layer of reduced precision
     * they have been rounded to it. NULL: what comes at run time. */
    const void *constant;
};

/* What an attribute holds; the numbers are ONNX's (AttributeProto.AttributeType). */
enum {
    POLYGRAPHY_ATTRIBUTE_FLOAT = 1,    /* floats[0] */
    POLYGRAPHY_ATTRIBUTE_INTEGER = 2,  /* integers[0] */
    POLYGRAPHY_ATTRIBUTE_STRING = 3,   /* strings[0] */
    POLYGRAPHY_ATTRIBUTE_TENSOR = 4,   /* data_type, rank, dims, tensor */
    POLYGRAPHY_ATTRIBUTE_FLOATS = 6,   /* floats, `count` of them */
    POLYGRAPHY_ATTRIBUTE_INTEGERS = 7, /* integers, `count` of them */
    POLYGRAPHY_ATTRIBUTE_STRINGS = 8   /* strings, `count` of them */
};

struct polygraphy_attribute {
    const char *name;
    int32_t kind;
    uint32_t count; /* of elements; 1 where there is one */
    const float *floats;
    const int64_t *integers;
    const char *const *strings; /* NUL-terminated */
    int32_t data_type;          /* of a tensor, and so below */
    uint32_t rank;
    const int64_t *dims;
    const void *tensor;
};

/* What is done to the result of a layer's node before it is stored, element by element. */
enum {
    POLYGRAPHY_FUSED_ADD = 1,        /* + inputs[operand], broadcast to the result as in numpy */
    POLYGRAPHY_FUSED_RELU = 2,       /* max(x, 0) */
    POLYGRAPHY_FUSED_LEAKY_RELU = 3, /* x < 0 ? alpha * x : x */
    POLYGRAPHY_FUSED_CLIP = 4,       /* min(max(x, alpha), beta); infinite where there is no bound */
    POLYGRAPHY_FUSED_SIGMOID = 5,
    POLYGRAPHY_FUSED_TANH = 6,
    POLYGRAPHY_FUSED_ELU = 7,        /* x < 0 ? alpha * (exp(x) - 1) : x */
    POLYGRAPHY_FUSED_SWISH = 8,      /* x * sigmoid(alpha * x) */
    POLYGRAPHY_FUSED_HARD_SWISH = 9, /* x * min(max(x / 6 + 1/2, 0), 1) */
    POLYGRAPHY_FUSED_GELU = 10       /* x / 2 * (1 + erf(x / sqrt(2))) */
};

struct polygraphy_fused {
    int32_t kind;
    uint32_t operand; /* of an addition: position among the layer's inputs, behind those of the node */
    float alpha, beta;
};

/* A layer: one node of the model, and what is fused with it, which a plug-in gets to see when it says `takes_fused`. It
 * is asked about the node alone as well: then the program does the rest behind its kernel. Nodes with bodies (If, Loop,
 * Scan) or strings are not offered. Valid during the call that it is given to; what a kernel needs later it copies,
 * except for the data of constants. */
struct polygraphy_layer {
    uint32_t struct_size; /* of this struct, as the program knows it */
    uint32_t threads;     /* that a kernel may use, at least 1 */
    const char *name;     /* of the node, for messages */
    const char *op_type;  /* "Conv" */
    const char *domain;   /* "" for ONNX's own operators */
    int64_t opset;        /* the version of that domain's operators; 0: the model does not say */
    const struct polygraphy_input *inputs;
    uint32_t input_count;
    uint32_t output_count;
    const struct polygraphy_attribute *attributes; /* those that the node has; defaults are up to the plug-in */
    uint32_t attribute_count;
    uint32_t fused_count;                 /* 0: there is the node alone */
    const struct polygraphy_fused *fused; /* in the order in which they are done */
};

/* One output, as create() describes it. Its element type is what the operator's definition says. */
struct polygraphy_output {
    int32_t data_type;
    uint32_t rank;
    int64_t dims[POLYGRAPHY_MAX_RANK];
};

/* The table. All functions may be called from one thread at a time only. `*message`, where a function fails, is one
 * sentence about why, which lives until the next call into the plug-in; it may stay NULL. */
struct polygraphy_plugin {
    uint32_t struct_size; /* sizeof(struct polygraphy_plugin) */
    uint32_t version;     /* POLYGRAPHY_PLUGIN_VERSION */

    /* What it is called in replays, logs and after --tactic-sources: small letters, digits, '_' and '-'. Not "onednn"
     * or "onnxrt". */
    const char *name;
    const char *plugin_version; /* "1.0"; for people */
    void *context;              /* handed to the functions; may be NULL */

    /* The name of tactic `index` for this layer, counted from 0, best guess first; NULL: there are no more. A layer
     * that the plug-in does not compute has none. Names are unique within a layer, and the same for the same layer
     * every time. They live until the next call. */
    const char *(*tactic_name)(void *context, const struct polygraphy_layer *layer, uint32_t index);

    /* Makes the kernel of a tactic and fills `outputs`, layer->output_count of them. NULL: it cannot compute this
     * layer, perhaps because its inputs have other shapes than when tactic_name() was asked. */
    void *(*create)(void *context, const struct polygraphy_layer *layer, const char *tactic,
                    struct polygraphy_output *outputs, const char **message);

    /* Computes. `inputs` are layer->input_count pointers, NULL for omitted ones and for constants; `outputs` are
     * layer->output_count pointers to memory for what create() described, NULL for those that the model does not use.
     * Returns 0, or anything else when it failed. */
    int32_t (*run)(void *kernel, const void *const *inputs, void *const *outputs, const char **message);

    void (*free_kernel)(void *kernel);
    void (*close)(void *context); /* once, before the library is unloaded; may be NULL */

    /* Not 0: it looks at layer->fused, and has tactics for such layers only if it computes all of that. 0, or a table
     * that ends before: it is asked about single nodes only. */
    uint32_t takes_fused;
};

#if defined(_WIN32)
#define POLYGRAPHY_PLUGIN_EXPORT __declspec(dllexport)
#else
#define POLYGRAPHY_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/* What the library exports. `host_version` is the newest version that the program understands; it understands all from
 * 1 on. The table belongs to the plug-in and stays as it is. NULL: the plug-in does not work with this program. */
POLYGRAPHY_PLUGIN_EXPORT const struct polygraphy_plugin *polygraphy_tactic_plugin(uint32_t host_version);

#ifdef __cplusplus
}
#endif

#endif
