/* cli/inspect/trt_network.h: a network as TensorRT's parser makes it, as text and JSON. */
#ifndef CLI_INSPECT_TRT_NETWORK_H
#define CLI_INSPECT_TRT_NETWORK_H

#include "backend/tensorrt/backend.h"
#include "cli/inspect/model_text.h"

/* Appends it in the layout of Polygraphy; layers where the settings ask for them. */
void trt_network_to_text(const struct tensorrt_network_view *view, const struct graph_text_settings *settings,
                         struct string_builder *ret);

/* Writes it as a JSON file. */
int trt_network_save(const struct tensorrt_network_view *view, const char *path, struct error *err);

#endif
