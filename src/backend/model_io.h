/* backend/model_io.h: the model of a request, and its inputs and outputs as backends describe them, without loading it
 * anywhere: what makes input data wants to see them like that.
 */
#ifndef BACKEND_MODEL_IO_H
#define BACKEND_MODEL_IO_H

#include "backend/backend.h"
#include "onnx/model/model.h"

/* The model that a request names, or has in memory; with its external folder, if it names one. Errors of model_open()
 * and model_parse(). */
int model_io_open(const struct backend_model *source, struct model **ret, struct error *err);

/* Writes all of `model` to memory, for a request: `ret` refers to `*ret_bytes`, which is malloc'd and the caller's, and
 * to the model's folder. Errors of model_write_memory(). */
int model_io_write(const struct model *model, char **ret_bytes, struct backend_model *ret, struct error *err);

/* values->count items, by what the model says and what else is `known` (may be NULL), to be given back with
 * model_io_free(). Each has room for TENSOR_MAX_RANK symbols. */
struct backend_io *model_io_new(const struct model *model, const struct known_types *known,
                                const struct value_list *values);
void model_io_free(struct backend_io *items, size_t count); /* NULL is fine */

#endif
