/* cli/options/runners/onnxrt.c: which ONNX Runtime to use, and how. */
#include <limits.h>

#include "backend/backend.h"
#include "base/memory.h"
#include "base/text/number.h"
#include "cli/options/groups.h"

static const char *const optimizations[] = {"none", "basic", "extended", "all", NULL};

/* GraphOptimizationLevel of ONNX Runtime's C interface. */
static const int optimization_levels[] = {0, 1, 2, 99};

/* NULL-terminated. */
static int convert_list(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    (void)parse, (void)spelling, (void)err;
    *(const char *const **)field = words.items;
    return 0;
}

static int convert_threads(struct parse *parse, const char *spelling, struct words words, void *field,
                           struct error *err)
{
    int64_t threads = 0;

    (void)parse;
    number_parse_integer(text_of(words.items[0]), &threads);
    if (threads < 0 || threads > INT_MAX)
        return error_set(err, ERR_INVALID, "%s: %lld is not a number of threads", spelling, (long long)threads);
    *(int *)field = (int)threads;
    return 0;
}

static int finish(struct parse *parse, struct error *err)
{
    struct backend_request *request = PARSE_VALUES(parse, struct backend_request);

    (void)err;
    if (!parse_given(parse, "--onnxrt-optimization-level"))
        request->optimization_level = -1;
    return 0;
}

/* The variant without --providers is the rest of the table. */
static const struct option options[] = {
    {
        .names = {"--providers", "--execution-providers"},
        .kind = OPTION_MANY,
        .value_name = "NAME",
        .convert = convert_list,
        OPTION_FIELD(struct backend_request, providers),
        .help = "execution providers, the preferred one first; cpu unless given",
    },
    {
        .names = {"--onnxruntime-lib"},
        .kind = OPTION_ONE,
        .value_name = "PATH",
        .file = OPTION_READS,
        OPTION_FIELD(struct backend_request, library),
        .help = "ONNX Runtime's shared library, if not the one that is found by itself",
    },
    {
        .names = {"--onnxrt-custom-ops"},
        .kind = OPTION_MANY,
        .value_name = "PATH",
        .file = OPTION_READS,
        .convert = convert_list,
        OPTION_FIELD(struct backend_request, custom_op_libraries),
        .help = "shared libraries with custom operators for ONNX Runtime",
    },
    {
        .names = {"--onnxrt-optimization-level"},
        .kind = OPTION_ONE,
        .type = OPTION_CHOICE,
        .choices = optimizations,
        .choice_values = optimization_levels,
        OPTION_FIELD(struct backend_request, optimization_level),
        .help = "how far ONNX Runtime may rewrite the model before it runs it",
    },
    {
        .names = {"--onnxrt-threads"},
        .kind = OPTION_ONE,
        .type = OPTION_INTEGER,
        .value_name = "N",
        .fallback = "0",
        .convert = convert_threads,
        OPTION_FIELD(struct backend_request, intra_threads),
        .help = "threads of ONNX Runtime; 0 uses all processors. 1 makes results the easiest to repeat",
    },
    {
        .names = {"--max-memory"},
        .kind = OPTION_ONE,
        .value_name = "SIZE",
        .fallback = "0",
        .convert = convert_size,
        OPTION_FIELD(struct onnxrt_values, max_memory),
        .help = "how much memory a model may ask for in ONNX Runtime and in the built-in engine (activations, "
                "outputs, constants), and generated input data may take: 8G, 512M. "
                "More is refused before it is asked for. "
                "0 is what the system has available, and 1 GiB for input data whose shapes nobody has given",
    },
};

#define ONNXRT_GROUP(first)                                                                                            \
    {                                                                                                                  \
        .title = "ONNX Runtime", .options = options + (first), .count = ARRAY_LEN(options) - (first),                  \
        .finish = finish,                                                                                              \
    }

const struct option_group onnxrt_options = ONNXRT_GROUP(0);
const struct option_group onnxrt_library_options = ONNXRT_GROUP(1);

/* ---- In a process of its own ---- */

static int finish_bounds(struct parse *parse, struct error *err)
{
    struct onnxrt_bounds_values *values = PARSE_VALUES(parse, struct onnxrt_bounds_values);

    values->has_seconds = parse_given(parse, "--onnxrt-timeout") != NULL;
    if (!(values->seconds >= 0))
        return error_set(err, ERR_INVALID, "--onnxrt-timeout: a number of seconds cannot be negative");
    return 0;
}

static const struct option bounds_rows[] = {
    {
        .names = {"--onnxrt-timeout"},
        .kind = OPTION_ONE,
        .type = OPTION_FLOAT,
        .value_name = "SECONDS",
        OPTION_FIELD(struct onnxrt_bounds_values, seconds),
        .help = "how long it may take to load the model or a part of it, and a tenth of how long to run it; "
                "usually 60, and as many for each GB of the model. "
                "0 is no bound",
    },
};

const struct option_group onnxrt_bounds_options = {
    .title = "ONNX Runtime's process",
    .description = "Here ONNX Runtime is at work in a process of its own, which is ended when it takes more time, "
                   "or more memory than 4 GB and eight times the model's size (with --max-memory: "
                   "that, 1 GB, and three times the model's size).",
    .options = bounds_rows,
    .count = ARRAY_LEN(bounds_rows),
    .finish = finish_bounds,
};
