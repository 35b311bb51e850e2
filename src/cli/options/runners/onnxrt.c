/* cli/options/runners/onnxrt.c: which ONNX Runtime to use, and how. */
#include <limits.h>

#include "base/memory.h"
#include "cli/options/groups.h"
#include "cli/parse/parser.h"

static const char *const optimizations[] = {"none", "basic", "extended", "all", NULL};

/* GraphOptimizationLevel of ONNX Runtime's C interface. */
static const int optimization_levels[] = {0, 1, 2, 99};

struct raw_values {
    struct onnxrt_values values;
    unsigned optimization;
    int64_t threads;
};

static int finish(void *data, struct parse *parse, struct error *err)
{
    struct raw_values *raw = data;

    if (raw->threads < 0 || raw->threads > INT_MAX)
        return error_set(err, ERR_INVALID, "--onnxrt-threads: %lld is not a number of threads",
                         (long long)raw->threads);
    raw->values.threads = (int)raw->threads;
    raw->values.optimization_level =
        parse_given(parse, "--onnxrt-optimization-level") ? optimization_levels[raw->optimization] : -1;
    return 0;
}

/* The variant without --providers is the rest of the table. */
static const struct option options[] = {
    {
        .names = {"--providers", "--execution-providers"},
        .kind = OPTION_MANY,
        .value_name = "NAME",
        .offset = offsetof(struct raw_values, values.providers),
        .help = "execution providers, the preferred one first; cpu unless given",
    },
    {
        .names = {"--onnxruntime-lib"},
        .kind = OPTION_ONE,
        .value_name = "PATH",
        .file = OPTION_READS,
        .offset = offsetof(struct raw_values, values.library),
        .help = "ONNX Runtime's shared library, if not the one that is found by itself",
    },
    {
        .names = {"--onnxrt-custom-ops"},
        .kind = OPTION_MANY,
        .value_name = "PATH",
        .file = OPTION_READS,
        .offset = offsetof(struct raw_values, values.custom_ops),
        .help = "shared libraries with custom operators for ONNX Runtime",
    },
    {
        .names = {"--onnxrt-optimization-level"},
        .kind = OPTION_ONE,
        .type = OPTION_CHOICE,
        .choices = optimizations,
        .offset = offsetof(struct raw_values, optimization),
        .help = "how far ONNX Runtime may rewrite the model before it runs it",
    },
    {
        .names = {"--onnxrt-threads"},
        .kind = OPTION_ONE,
        .type = OPTION_INTEGER,
        .value_name = "N",
        .fallback = "0",
        .offset = offsetof(struct raw_values, threads),
        .help = "threads of ONNX Runtime; 0 uses all processors. 1 makes results the easiest to repeat",
    },
    {
        .names = {"--max-memory"},
        .kind = OPTION_ONE,
        .value_name = "SIZE",
        .fallback = "0",
        .convert = convert_size,
        .offset = offsetof(struct raw_values, values.max_memory),
        .help = "how much memory a model may ask for in ONNX Runtime and in the built-in engine (activations, outputs, "
                "constants), and generated input data may take: 8G, 512M. More is refused before it is asked for. 0 is "
                "what the system has available, and 1 GiB for input data whose shapes nobody has given",
    },
};

#define ONNXRT_GROUP(first)                                                                                            \
    {                                                                                                                  \
        .title = "ONNX Runtime", .options = options + (first), .count = ARRAY_LEN(options) - (first),                  \
        .values_size = sizeof(struct raw_values), .finish = finish,                                                    \
    }

const struct option_group onnxrt_options = ONNXRT_GROUP(0);
const struct option_group onnxrt_library_options = ONNXRT_GROUP(1);
