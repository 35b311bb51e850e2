/* engine/onednn/dialect.h: what differs between the major versions of oneDNN: one file for each. The rest of the engine
 * asks through `onednn->dialect` (library.h). */
#ifndef ENGINE_ONEDNN_DIALECT_H
#define ENGINE_ONEDNN_DIALECT_H

#include "engine/onednn/computation.h"

/* How a tensor lies in memory, as the library says it. */
struct onednn_blocked_memory {
    struct shape shape;
    struct layout_strides strides;
};

/* The memory descriptors of a computation, as the library has them; NULL where it has none. */
struct onednn_memories {
    struct dnnl_memory_desc *source, *second, *bias, *target;
    struct dnnl_memory_desc **sources;
};

struct onednn_dialect {
    int major, oldest_minor; /* what it is for: from here to the next major version */
    int post_op_argument;    /* operands of post-op i are this, i + 1 times, and ONEDNN_ARG_SRC_1 */

    /* Called once, before anything else. Returns NULL, or the name of a function that the library does not have. */
    const char *(*find_functions)(void *library);

    /* NULL when the library cannot describe it. Freed by the other one, which takes NULL. */
    struct dnnl_memory_desc *(*memory_desc_new)(const struct onednn_memory_desc *memory);
    void (*memory_desc_free)(struct dnnl_memory_desc *memory);

    /* False when it is anything but float32 in blocks, without an offset: undefined, open, or in a form of oneDNN's
     * own. */
    bool (*memory_desc_read)(const struct dnnl_memory_desc *memory, struct onednn_blocked_memory *ret);

    /* `operand`: that of ONEDNN_POST_BINARY. */
    bool (*post_ops_append)(struct dnnl_post_ops *post_ops, const struct onednn_post_op *post_op,
                            const struct dnnl_memory_desc *operand);

    /* Calls `visit` for each implementation, in oneDNN's order, until it returns false. Descriptors live as long as the
     * call. */
    void (*each_implementation)(struct dnnl_engine *engine, const struct onednn_computation *computation,
                                const struct onednn_memories *memories, const struct dnnl_primitive_attr *attributes,
                                bool (*visit)(void *context, const struct dnnl_primitive_desc *descriptor),
                                void *context);
};

extern const struct onednn_dialect onednn_v2, onednn_v3;

/* The address of a function of the library; false without it. `ret` points to a pointer to a function: ISO C has no
 * conversion from a pointer to data to one. */
bool onednn_find_function(void *library, const char *name, void *ret);

/* For tables of functions: a pointer to each in the file; and, in find_functions(), where they are. */
#define ONEDNN_POINTER(result, name, parameters) static result(*name) parameters;
#define ONEDNN_FIND(result, name, parameters)                                                                          \
    if (!onednn_find_function(library, "dnnl_" #name, &(name)))                                                        \
        return "dnnl_" #name;

#endif
