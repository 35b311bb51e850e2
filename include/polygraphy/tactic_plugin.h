/* polygraphy/tactic_plugin.h: custom kernels for the built-in engine (plug-in interface).
 *
 * A plug-in is a shared library with one function, polygraphy_tactic_plugin(), which returns a table of functions. For
 * each layer of a network, the engine asks the plug-in for its tactics: ways to compute this layer. They compete with
 * those of oneDNN and ONNX Runtime: they are timed, selected, saved in replays, and analysed by the same tools.
 *
 *   cc -shared -fPIC -I<where polygraphy is installed>/include -o my_kernels.so my_kernels.c
 *   polygraphy run model.onnx --trt --plugins ./my_kernels.so
 *
 * examples/tactic_plugin/ contains a complete plug-in; docs/tactic-plugins.md explains it.
 *
 * This header depends only on the C library's types, and compiles as C11 and as C++. The interface is fixed for each
 * POLYGRAPHY_PLUGIN_VERSION, except that members may be added at the end of structs: `struct_size` tells which members
 * the other side knows.
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

/* Element types have ONNX's numbers (TensorProto.DataType). These are the most common ones; all other types except
 * strings are possible, too. */
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
    int32_t present;   /* 0: an omitted optional input; no other member is set then */
    int32_t data_type; /* one of the numbers above */
    uint32_t rank;
    const int64_t *dims; /* `rank` values, all known and not negative */
    /* Values of a constant, aligned for their type and valid as long as the kernel; rounded if the layer has reduced
     * precision. NULL: provided at run time. */
    const void *constant;
};

/* Kinds of attributes; the numbers are ONNX's (AttributeProto.AttributeType). */
enum {
    POLYGRAPHY_ATTRIBUTE_FLOAT = 1,    /* floats[0] */
    POLYGRAPHY_ATTRIBUTE_INTEGER = 2,  /* integers[0] */
    POLYGRAPHY_ATTRIBUTE_STRING = 3,   /* strings[0] */
    POLYGRAPHY_ATTRIBUTE_TENSOR = 4,   /* data_type, rank, dims, tensor */
    POLYGRAPHY_ATTRIBUTE_FLOATS = 6,   /* `count` floats */
    POLYGRAPHY_ATTRIBUTE_INTEGERS = 7, /* `count` integers */
    POLYGRAPHY_ATTRIBUTE_STRINGS = 8   /* `count` strings */
};

struct polygraphy_attribute {
    const char *name;
    int32_t kind;
    uint32_t count; /* of elements; 1 for single values */
    const float *floats;
    const int64_t *integers;
    const char *const *strings; /* NUL-terminated */
    int32_t data_type;          /* of a tensor, as are the members below */
    uint32_t rank;
    const int64_t *dims;
    const void *tensor;
};

/* Elementwise operations on the result of a layer's node before it is stored. */
enum {
    POLYGRAPHY_FUSED_ADD = 1,        /* + inputs[operand], broadcast to the result as in numpy */
    POLYGRAPHY_FUSED_RELU = 2,       /* max(x, 0) */
    POLYGRAPHY_FUSED_LEAKY_RELU = 3, /* x < 0 ? alpha * x : x */
    POLYGRAPHY_FUSED_CLIP = 4,       /* min(max(x, alpha), beta); infinite without a bound */
    POLYGRAPHY_FUSED_SIGMOID = 5,
    POLYGRAPHY_FUSED_TANH = 6,
    POLYGRAPHY_FUSED_ELU = 7,        /* x < 0 ? alpha * (exp(x) - 1) : x */
    POLYGRAPHY_FUSED_SWISH = 8,      /* x * sigmoid(alpha * x) */
    POLYGRAPHY_FUSED_HARD_SWISH = 9, /* x * min(max(x / 6 + 1/2, 0), 1) */
    POLYGRAPHY_FUSED_GELU = 10       /* x / 2 * (1 + erf(x / sqrt(2))) */
};

struct polygraphy_fused {
    int32_t kind;
    uint32_t operand; /* of an addition: index among the layer's inputs, after those of the node */
    float alpha, beta;
};

/* A layer: one node of the model with its fused operations, which are only passed to plug-ins with `takes_fused`. The
 * plug-in is also asked about the node alone: then the program applies the fused operations after its kernel. Nodes
 * with bodies (If, Loop, Scan) or strings are never passed. Valid during the call; a kernel must copy what it needs
 * later, except the data of constants. */
struct polygraphy_layer {
    uint32_t struct_size; /* size of this struct in the program */
    uint32_t threads;     /* maximum threads of a kernel, at least 1 */
    const char *name;     /* of the node, for messages */
    const char *op_type;  /* "Conv" */
    const char *domain;   /* "" for ONNX's own operators */
    int64_t opset;        /* the operator set version of that domain; 0: unknown */
    const struct polygraphy_input *inputs;
    uint32_t input_count;
    uint32_t output_count;
    const struct polygraphy_attribute *attributes; /* attributes of the node; the plug-in applies defaults */
    uint32_t attribute_count;
    uint32_t fused_count;                 /* 0: the node alone */
    const struct polygraphy_fused *fused; /* in order of application */
};

/* One output, as described by create(). Its element type must follow the operator's definition. */
struct polygraphy_output {
    int32_t data_type;
    uint32_t rank;
    int64_t dims[POLYGRAPHY_MAX_RANK];
};

/* The plug-in's function table. Functions are never called concurrently. On failure `*message` may be set to one
 * sentence with the reason, valid until the next call into the plug-in. */
struct polygraphy_plugin {
    uint32_t struct_size; /* sizeof(struct polygraphy_plugin) */
    uint32_t version;     /* POLYGRAPHY_PLUGIN_VERSION */

    /* Name in replays, logs and --tactic-sources: lower-case letters, digits, '_' and '-'. Not "onednn" or "onnxrt". */
    const char *name;
    const char *plugin_version; /* "1.0"; informative */
    void *context;              /* passed to the functions; may be NULL */

    /* The name of tactic `index` (from 0, most promising first) for this layer; NULL: no more, or the plug-in cannot
     * compute the layer. Names must be unique within a layer and reproducible. They are valid until the next call. */
    const char *(*tactic_name)(void *context, const struct polygraphy_layer *layer, uint32_t index);

    /* Creates the kernel of a tactic and fills `outputs`, layer->output_count elements. NULL: it cannot compute this
     * layer, for example because its inputs have other shapes than in tactic_name(). */
    void *(*create)(void *context, const struct polygraphy_layer *layer, const char *tactic,
                    struct polygraphy_output *outputs, const char **message);

    /* Runs a kernel. `inputs`: layer->input_count pointers, NULL for omitted ones and for constants; `outputs`:
     * layer->output_count pointers to memory as described by create(), NULL for unused outputs. Returns 0 on success,
     * any other value on failure. */
    int32_t (*run)(void *kernel, const void *const *inputs, void *const *outputs, const char **message);

    void (*free_kernel)(void *kernel);
    void (*close)(void *context); /* once, before the library is unloaded; may be NULL */

    /* Not 0: the plug-in handles layer->fused, and provides tactics for such layers only if it computes all fused
     * operations. 0, or an older table without this member: it only gets single nodes. */
    uint32_t takes_fused;
};

#if defined(_WIN32)
#define POLYGRAPHY_PLUGIN_EXPORT __declspec(dllexport)
#else
#define POLYGRAPHY_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/* The exported function of the library. `host_version` is the newest version that the program supports; it supports all
 * versions from 1 on. The table belongs to the plug-in and must not change. NULL: the plug-in is incompatible with this
 * program. */
POLYGRAPHY_PLUGIN_EXPORT const struct polygraphy_plugin *polygraphy_tactic_plugin(uint32_t host_version);

#ifdef __cplusplus
}
#endif

#endif
