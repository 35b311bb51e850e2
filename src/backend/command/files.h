/* backend/command/files.h: tensors as files that a command reads and leaves. */
#ifndef BACKEND_COMMAND_FILES_H
#define BACKEND_COMMAND_FILES_H

#include "backend/command/line.h"
#include "tensor/values/tensor.h"

/* Writes the inputs of one run. Where a safetensors file that is mapped holds just these tensors, it is linked, not
 * written again: `ret_original` is its path then, valid as long as the inputs are, else NULL. ERR_UNSUPPORTED for a
 * type that the format has not. */
int command_inputs_write(const struct tensor_list *inputs, enum command_format format, const char *path,
                         const char **ret_original, struct error *err);

/* Appends what the file or folder at `path` holds to `ret`: one set of tensors, by their names. Tensors of a
 * safetensors file refer to its mapping, and keep it when the file is removed. ERR_MISSING when nothing is there,
 * ERR_CORRUPT when it is damaged or cut off, ERR_INVALID when it holds something else. */
int command_outputs_read(enum command_format format, const char *path, struct tensor_list *ret, struct error *err);

#endif
