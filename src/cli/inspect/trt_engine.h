/* cli/inspect/trt_engine.h: a TensorRT engine as text and JSON, from its layer information. */
#ifndef CLI_INSPECT_TRT_ENGINE_H
#define CLI_INSPECT_TRT_ENGINE_H

#include "format/json/writer.h"
#include "format/tensorrt/layer_info.h"
#include "format/tensorrt/plan_header.h"
#include "format/tensorrt/profile.h"

struct trt_engine_view {
    const struct plan_header *header;    /* NULL: there is no engine file */
    const struct layer_info *info;       /* NULL: not known */
    const struct layer_profile *profile; /* NULL: not known */
    bool layers;                         /* show each of them */
};

/* Appends the engine as text: inputs and outputs, layers (the slowest first if times are known), and the number of
 * layers of each precision. Ends with a line break. */
void trt_engine_to_text(const struct trt_engine_view *view, struct string_builder *ret);

/* Writes the same, and all layers, as a JSON file. */
int trt_engine_save(const struct trt_engine_view *view, const char *path, struct error *err);

#endif
