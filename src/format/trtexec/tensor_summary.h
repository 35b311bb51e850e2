/* format/trtexec/tensor_summary.h: the debug tensors of an inference: the file tensor_summary.json that
 * `trtexec --saveAllDebugTensors=summary` writes (TensorRT 10.12 on).
 *
 * It lists tensors in the order in which they came, of all inferences that the process made, and the files of each,
 * which lie beside it. Like the profile, it escapes nothing in names and need not be JSON.
 */
#ifndef FORMAT_TRTEXEC_TENSOR_SUMMARY_H
#define FORMAT_TRTEXEC_TENSOR_SUMMARY_H

#include "base/container/arena.h"
#include "base/error.h"
#include "tensor/values/data_type.h"

struct debug_tensor {
    const char *name; /* as TensorRT's inspector has it */
    enum data_type type;
    int64_t *dims;
    size_t rank;
    /* Names of files without folders; NULL: not written. The numpy file of a type that NumPy has no name for holds a
     * wider one. */
    const char *raw, *numpy;
};

struct output_summary {
    struct debug_tensor *items; /* a name occurs once for each inference, the last inference last */
    size_t count, capacity;
    struct arena arena;
};

/* Reads the text of such a file, which is called `name` in messages and not needed afterwards. ERR_INVALID when it is
 * no such summary, ERR_CORRUPT when it is damaged, or names a file elsewhere. No tensor at all is fine: then nothing
 * was marked, or all of it fused away. */
int tensor_summary_parse(struct output_summary *ret, struct text text, const char *name, struct error *err);
void tensor_summary_release(struct output_summary *summary); /* harmless on a zeroed struct */

#endif
