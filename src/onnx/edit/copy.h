/* onnx/edit/copy.h: a model to change, beside one that stays as it is.
 *
 * Only the index is copied: the bytes of nodes and tensors stay where they are, in the file or in the original, which
 * has to outlive the copy.
 */
#ifndef ONNX_EDIT_COPY_H
#define ONNX_EDIT_COPY_H

#include "onnx/model/model.h"

/* To be freed with model_free(). */
struct model *model_copy(const struct model *from);

#endif
