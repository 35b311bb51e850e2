/* onnx/write/save.h: a model for the user to keep, with all that belongs to it. */
#ifndef ONNX_WRITE_SAVE_H
#define ONNX_WRITE_SAVE_H

#include "onnx/write/model.h"

/* Writes `subgraph` to `path`, durably. External data that it refers to are made reachable beside it, unless
 * `ignore_external_data`: then it refers to them, wherever they are. After an error nothing new is left. */
int model_save(const struct subgraph *subgraph, const char *path, const struct external_settings *external,
               bool ignore_external_data, struct error *err);

#endif
