/* engine/onednn/onednn.h: shared by the files of the oneDNN provider. A file for a kind of layer only describes the
 * computation:
 *
 * The module engine/onednn/ contains the provider of oneDNN's kernels and reorders. For a request for tactics or for a
 * kernel (tactic.h), operators/ describes the computation (dialect.h), and v2.c or v3.c passes it to the loaded
 * library. It depends on engine/tactic/ and engine/network/.
 *
 *   static bool describe(struct onednn_attempt *attempt)
 *   {
 *       struct onednn_computation *computation = &attempt->computation;
 *
 *       computation->primitive = ONEDNN_ELTWISE;
 *       computation->algorithm = ONEDNN_ELTWISE_TANH;
 *       return onednn_use_input(attempt, 0, ONEDNN_ARG_SRC, &computation->source) &&
 *              onednn_use_output_like(attempt, ONEDNN_ARG_DST, &attempt->request->inputs[0].shape, 0,
 *                                     &computation->target) &&
 *              onednn_fuse(attempt);
 *   }
 *
 *   const struct onednn_operation onednn_tanh = {
 *       .kind = LAYER_ACTIVATION, .layouts = ONEDNN_LAYOUTS_AS_IS | ONEDNN_LAYOUTS_PLAIN, .describe = describe};
 *
 * and gets a line in the table `operations` of tactics.c. The shared code does the rest. To list tactics it calls
 * describe() once for each choice of layouts and each variant, and queries oneDNN for all implementations of the
 * description and their layouts. To make a kernel it calls describe() again with the tactic's layouts, packs constants
 * once, and runs the primitive. So describe() gets memory descriptors from the functions below and does not handle
 * layouts itself.
 */
#ifndef ENGINE_ONEDNN_ONEDNN_H
#define ENGINE_ONEDNN_ONEDNN_H

#include "engine/onednn/library.h"
#include "engine/tactic/tactic.h"

/* Bits: layouts tried when tactics are listed. */
enum onednn_layouts {
    ONEDNN_LAYOUTS_ANY = 1,   /* oneDNN chooses for inputs and outputs; not every operation can (pooling, eltwise) */
    ONEDNN_LAYOUTS_AS_IS = 2, /* inputs in their current layouts, oneDNN chooses for outputs */
    ONEDNN_LAYOUTS_PLAIN = 4, /* row-major */
    ONEDNN_LAYOUTS_CHANNELS_LAST = 8, /* "acdb" and the like; for rank >= 3 */
    ONEDNN_LAYOUTS_BLOCKED = 16,      /* "aBcd16b" and the like; for rank >= 3 */
    ONEDNN_LAYOUTS_BLOCKED_8 = 32,    /* "aBcd8b" */
};

/* One argument of the operation. Created by the functions below. */
struct onednn_argument {
    enum onednn_use {
        ONEDNN_FROM_INPUT,    /* given at run time */
        ONEDNN_FROM_CONSTANT, /* packed when the kernel is created */
        ONEDNN_ADDED_TO,      /* an input that is copied to the output before the run; a "sum" adds to it */
        ONEDNN_TO_OUTPUT,
    } use;
    int arg;
    size_t position;                 /* index among the layer's inputs or outputs */
    bool fixed;                      /* a view of a row-major tensor: oneDNN cannot choose its layout */
    struct onednn_memory_desc given; /* constants: of `values`. Fixed ones: the view */
    const float *values;             /* of constants */
    float *owned_values;             /* to be freed; or NULL */
};

/* One description of a layer to oneDNN. */
struct onednn_attempt {
    /* given to describe() */
    const struct onednn *onednn;
    const struct kernel_request *request;
    enum onednn_layouts layouts; /* one bit while listing; 0 while a kernel is created */
    const struct tactic *tactic; /* of the kernel being created; NULL while listing */
    size_t variant;              /* index of the operation's variant */
    bool add_as_sum;             /* onednn_fuse() uses a sum instead of a binary addition */

    struct onednn_computation computation; /* filled by describe(); all zero before */

    /* filled by the functions below */
    VECTOR(struct onednn_argument) arguments;
    struct shape output_shape;
    struct onednn_memory_desc output; /* requested */
    bool output_known, output_fixed, fused;
    bool adds_tensor; /* a fused operation reads an operand of the output's shape */
};

struct onednn_operation {
    enum layer_kind kind;
    unsigned layouts; /* bits: useful choices */
    /* Names of variants ("inner_product"), which become part of tactic names; "" for none; NULL-terminated. NULL: a
     * single variant. */
    const char *const *variants;
    /* False if oneDNN cannot compute this layer, or not in this way; not an error. */
    bool (*describe)(struct onednn_attempt *attempt);
    /* False for an implementation that does not conform to ONNX. NULL: all do. */
    bool (*accepts)(const struct onednn_attempt *attempt, const char *implementation);
};

/* ---- for describe(). All of these return false if it is impossible: then the description fails ---- */

/* Uses input `position` of the layer, a float32 tensor, as oneDNN's argument `arg`. The descriptor has the layout being
 * tried; for a constant "any". Scalars are treated as having one dimension. */
bool onednn_use_input(struct onednn_attempt *attempt, size_t position, int arg, struct onednn_memory_desc *ret);

/* Like onednn_use_input(), but always in this layout ("": row-major); a constant is packed into it. */
bool onednn_use_input_in(struct onednn_attempt *attempt, size_t position, int arg, const char *layout,
                         struct onednn_memory_desc *ret);

/* A view of row-major elements: transposed, reshaped, or with broadcast dimensions. */
struct onednn_view {
    size_t rank;
    const int64_t *dims;
    const int64_t *strides; /* in elements; NULL: dense */
    bool pack;              /* a constant may be packed into any layout ("any" in its descriptor) */
};

/* Uses an input as a view. */
bool onednn_use_view(struct onednn_attempt *attempt, size_t position, int arg, const struct onednn_view *view,
                     struct onednn_memory_desc *ret);

/* Uses a new constant: dense values, malloc'd (memory_alloc()), owned by the attempt even after a failure. */
bool onednn_use_values(struct onednn_attempt *attempt, int arg, const struct onednn_view *view, float *values,
                       struct onednn_memory_desc *ret);

/* Use the layer's only output: in the layout being tried; in that of input `position`; or as a dense view.
 */
bool onednn_use_output(struct onednn_attempt *attempt, int arg, const struct shape *shape,
                       struct onednn_memory_desc *ret);
bool onednn_use_output_like(struct onednn_attempt *attempt, int arg, const struct shape *shape, size_t position,
                            struct onednn_memory_desc *ret);
bool onednn_use_output_view(struct onednn_attempt *attempt, int arg, const struct shape *shape,
                            const struct onednn_view *view, struct onednn_memory_desc *ret);

struct onednn_eltwise { /* of oneDNN's eltwise operation */
    enum onednn_algorithm algorithm;
    float alpha, beta;
};

/* Append a post-op. The operand of a binary one must be described before, with the argument from
 * onednn_next_operand(). */
void onednn_append_eltwise(struct onednn_attempt *attempt, const struct onednn_eltwise *eltwise);
void onednn_append_binary(struct onednn_attempt *attempt, enum onednn_algorithm algorithm,
                          const struct onednn_memory_desc *operand);
int onednn_next_operand(const struct onednn_attempt *attempt);

/* Appends the layer's fused operations to the post-ops (those that describe() appended itself come first). Call it
 * after the output was described. A layer with fused operations whose describe() does not call it gets no tactics. */
bool onednn_fuse(struct onednn_attempt *attempt);

/* ---- helpers ---- */

bool onednn_activation(enum activation activation, float alpha, float beta, struct onednn_eltwise *ret);

/* The first node of the layer, for node_attribute_...(). */
struct span onednn_node(const struct onednn_attempt *attempt);
struct text onednn_operator(const struct onednn_attempt *attempt);

/* Whether input `position` is present. */
bool onednn_has_input(const struct onednn_attempt *attempt, size_t position);

/* Converts spatial attributes to oneDNN's form, for convolution and pooling: kernel_shape is given, strides, dilations
 * (oneDNN counts from 0), pads (auto_pad resolved). `rank`: spatial dimensions; `input`: their sizes. False if they are
 * malformed. */
bool onednn_window(const struct onednn_attempt *attempt, size_t rank, const int64_t *input, const int64_t *kernel,
                   struct onednn_window *ret);

/* ---- the shared code (attempt.c, kernel.c, memory.c) ---- */

/* Describes a float32 tensor. False if no version of oneDNN can describe it: empty tensors, too many dimensions.
 * Scalars are treated as having one dimension. */
bool onednn_memory_of(const struct layout *layout, const struct shape *shape, struct onednn_memory_desc *ret);

/* Converts the library's descriptor to a layout. False if that is impossible. */
bool onednn_layout_of(const struct onednn *onednn, const struct dnnl_memory_desc *memory, struct layout *ret);

/* Whether both are equal. */
bool onednn_memory_equal(const struct onednn *onednn, const struct onednn_memory_desc *memory,
                         const struct dnnl_memory_desc *other);

void onednn_attempt_init(struct onednn_attempt *attempt, const struct onednn *onednn,
                         const struct kernel_request *request);
void onednn_attempt_release(struct onednn_attempt *attempt);

/* Calls describe(), then `visit` for each implementation until it returns false. */
void onednn_attempt_each(struct onednn_attempt *attempt, const struct onednn_operation *operation,
                         bool (*visit)(void *context, struct onednn_attempt *attempt,
                                       const struct dnnl_primitive_desc *descriptor, const char *implementation),
                         void *context);

/* The layouts that an implementation requires for the layer's inputs (layer->inputs.count; unchanged for fixed ones)
 * and output. False if they cannot be expressed as layouts. */
bool onednn_attempt_layouts(const struct onednn_attempt *attempt, const struct dnnl_primitive_desc *descriptor,
                            struct layout *ret_inputs, struct layout *ret_output);

/* Allocates `size` bytes, aligned for vector instructions; release with free(). NULL on failure. */
void *onednn_allocate(size_t size);

int onednn_kernel_new(const struct onednn_attempt *attempt, const struct dnnl_primitive_desc *descriptor,
                      struct kernel **ret, struct error *err);

extern const struct onednn_operation onednn_convolution, onednn_deconvolution, onednn_matmul;
extern const struct onednn_operation onednn_pooling, onednn_activation_layer, onednn_binary, onednn_concatenation;
extern const struct onednn_operation onednn_softmax, onednn_batch_normalization, onednn_layer_normalization, onednn_lrn;
extern const struct onednn_operation onednn_reduction, onednn_resize;

#endif
