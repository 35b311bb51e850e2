/* backend/onnxrt/io.h: what an ONNX Runtime session says of its inputs and outputs. */
#ifndef BACKEND_ONNXRT_IO_H
#define BACKEND_ONNXRT_IO_H

#include "backend/backend.h"
#include "backend/onnxrt/library.h"
#include "base/container/arena.h"

enum onnxrt_side { ONNXRT_INPUTS, ONNXRT_OUTPUTS };

/* Describes all inputs or all outputs of `session` in order; everything lies in `arena`. Inputs that have a default
 * value (an initializer of the same name) are not among them. */
int onnxrt_describe(const struct onnxrt *ort, const struct ort_session *session, enum onnxrt_side side,
                    struct arena *arena, struct backend_io **ret, size_t *ret_count, struct error *err);

#endif
