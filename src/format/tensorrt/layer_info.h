/* format/tensorrt/layer_info.h: what the layers of an engine are: the text of TensorRT's inspector, as in the file of
 * `trtexec --exportLayerInfo`.
 *
 * The module format/tensorrt/ reads what TensorRT and its tools write: layer information, profiles, knobs of the
 * compiler, the first bytes of an engine. It starts nothing, and knows TensorRT from these files alone. It uses
 * format/json/, and makes tactic replays of format/polygraphy/ of them.
 *
 * TensorRT's inspector writes the file in two schemas. Up to TensorRT 10, tensors have one member "Format/Datatype" and
 * inputs and outputs of the engine are the names in "Bindings"; from 11 on there are "Format" and "Datatype" (or
 * "DataType"), and objects in "I/O Tensors". Both are read member by member, whatever else is there. An engine that was
 * built without `--profilingVerbosity=detailed` has names in place of layers.
 *
 *   struct layer_info info;
 *   if (layer_info_open(&info, "layers.json", err) < 0)
 *       return err->code;
 *   ...
 *   layer_info_release(&info);
 */
#ifndef FORMAT_TENSORRT_LAYER_INFO_H
#define FORMAT_TENSORRT_LAYER_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/container/arena.h"
#include "base/error.h"
#include "base/text/string_builder.h"
#include "tensor/values/data_type.h"

/* All text lives in the arena of the information. */
struct layer_info_tensor {
    const char *name;
    const char
        *format; /* memory layout as TensorRT words it, up to 10 with the type: "Half", "Row major linear FP32" */
    const char *location; /* "Device", "Host"; NULL: not told */
    enum data_type type;  /* DATA_UNDEFINED: not told, or none that is known here */
    int64_t *dims;        /* -1: not fixed */
    size_t rank;
    bool has_dims;
};

struct layer_info_tensors {
    struct layer_info_tensor *items;
    size_t count, capacity;
};

struct layer_info_nodes {
    const char **items;
    size_t count, capacity;
    bool told; /* by the layer's metadata. Else they are parts of its name, as TensorRT 8 joins them */
};

struct layer_info_layer {
    const char *name;
    const char *type; /* "CaskConvolution", "kgen", ...; NULL: the name is all that the file has */
    struct layer_info_tensors inputs, outputs;
    const char *tactic_name; /* of the kernel; NULL: none */
    bool has_tactic;         /* layers that TensorRT's Myelin compiles have a kernel's name, but no number */
    int64_t tactic;          /* bits of the unsigned number in the file: what TensorRT's interface calls the tactic */
    bool has_stream;
    int64_t stream;
    struct layer_info_nodes nodes; /* names of the ONNX nodes that the layer is made of */
};

enum layer_info_mode { LAYER_INFO_MODE_UNKNOWN, LAYER_INFO_INPUT, LAYER_INFO_OUTPUT };

struct layer_info_binding {
    enum layer_info_mode mode; /* told from TensorRT 11 on */
    struct layer_info_tensor tensor;
};

struct layer_info {
    struct {
        struct layer_info_layer *items; /* in the order in which they run */
        size_t count, capacity;
    } layers;
    VECTOR(struct layer_info_binding) bindings;
    struct arena arena;
};

void layer_info_init(struct layer_info *info);
void layer_info_release(struct layer_info *info); /* harmless on a zeroed struct */

/* Reads the file at `path`. ERR_INVALID when it is JSON, but no layer information; ERR_CORRUPT when it is damaged.
 * TensorRT does not always escape names, so that a name may be what makes a file no JSON. */
int layer_info_open(struct layer_info *ret, const char *path, struct error *err);

/* The same for `size` bytes in memory, called `name` in messages. They are not needed afterwards. */
int layer_info_parse(struct layer_info *ret, const void *data, size_t size, const char *name, struct error *err);

/* Appends a layer that has nothing but its name; it stays where it is until the next call. Text is copied. */
struct layer_info_layer *layer_info_add_layer(struct layer_info *info, struct text name);
struct layer_info_tensor *layer_info_add_tensor(struct layer_info *info, struct layer_info_tensors *tensors,
                                                struct text name);
void layer_info_add_node(struct layer_info *info, struct layer_info_layer *layer, struct text name);
struct layer_info_binding *layer_info_add_binding(struct layer_info *info, struct text name, enum layer_info_mode mode);
/* `dims` are copied. */
void layer_info_set_dims(struct layer_info *info, struct layer_info_tensor *tensor, const int64_t *dims, size_t rank);

enum layer_info_schema { LAYER_INFO_SCHEMA_8_TO_10, LAYER_INFO_SCHEMA_11 };

/* Appends the file's text in TensorRT's own layout. A tensor without a format gets the word for its type. */
void layer_info_write(const struct layer_info *info, enum layer_info_schema schema, struct string_builder *ret);

/* What the layer computes in, in a word ("float16", "int8", "tf32"): the narrowest type that the kernel's name speaks
 * of ("sm80_xmma_fprop_implicit_gemm_i8f16_i8i32_f32_..." multiplies int8), else the type of its outputs, when they
 * have one and the same. NULL: not told. `ret_from_kernel` (may be NULL): whether the kernel's name says so. */
const char *layer_info_precision(const struct layer_info_layer *layer, bool *ret_from_kernel);

/* Whether the layer only moves data or does nothing: a reformat, a copy, a no-op. */
bool layer_info_only_moves(const struct layer_info_layer *layer);

/* The type that a description of TensorRT's has a word for: "Half", "fp16", "INT8", "Channel major FP16
 * format where channel % 8 == 0". DATA_UNDEFINED when it has none. */
enum data_type layer_info_type_find(struct text description);

/* TensorRT's word for a type: "Float", "Half", "BFloat16", "Int8", ... */
const char *layer_info_type_word(enum data_type type);

#endif
