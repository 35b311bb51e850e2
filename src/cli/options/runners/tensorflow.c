/* cli/options/runners/tensorflow.c: Polygraphy's options for models of TensorFlow: all of them are refused, with the
 * way out. */
#include "base/memory.h"
#include "cli/options/groups.h"

#define WAY_OUT                                                                                                        \
    "models of TensorFlow are neither run nor converted here; make an ONNX model of it, for instance with tf2onnx, "   \
    "and "                                                                                                             \
    "give that; results of TensorFlow, as safetensors, are compared with --load-outputs"

#define ROW(how_many, ...)                                                                                             \
    {                                                                                                                  \
        .names = {__VA_ARGS__}, .kind = how_many, .refusal = WAY_OUT,                                                  \
    }

static const struct option rows[] = {
    /* only for `run` */
    ROW(OPTION_FLAG, "--tftrt", "--use-tftrt"),
    ROW(OPTION_ONE, "--minimum-segment-size"),
    ROW(OPTION_FLAG, "--dynamic-op"),
    ROW(OPTION_ONE, "--save-pb"),
    ROW(OPTION_ONE, "--save-tensorboard"),
    ROW(OPTION_ONE, "--gpu-memory-fraction"),
    ROW(OPTION_FLAG, "--allow-growth"),
    ROW(OPTION_FLAG, "--xla"),
    ROW(OPTION_ONE, "--save-timeline"),
    /* for `convert`, too */
    ROW(OPTION_MANY, "--tf-outputs"),
    ROW(OPTION_ONE, "--opset"),
    /* and for `inspect model` */
    ROW(OPTION_ONE, "--ckpt"),
    ROW(OPTION_FLAG, "--freeze-graph"),
};

#define RUN_ONLY 9
#define NOT_INSPECT 11

#define TENSORFLOW_GROUP(first)                                                                                        \
    {                                                                                                                  \
        .title = "TensorFlow", .options = rows + (first), .count = ARRAY_LEN(rows) - (first),                          \
    }

const struct option_group tensorflow_run_options = TENSORFLOW_GROUP(0);
const struct option_group tensorflow_convert_options = TENSORFLOW_GROUP(RUN_ONLY);
const struct option_group tensorflow_inspect_options = TENSORFLOW_GROUP(NOT_INSPECT);
