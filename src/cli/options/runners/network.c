/* cli/options/runners/network.c: what an engine computes, and the files it takes and leaves. */
#include "base/memory.h"
#include "cli/options/runners/engine.h"

static int convert_precisions(struct parse *parse, const char *spelling, struct words words, void *field,
                              struct error *err)
{
    struct precision_override *items = arena_alloc_zero(parse_arena(parse), words.count, sizeof(*items));

    for (size_t i = 0; i < words.count; i++) {
        struct text name, value;

        split_name(words.items[i], &name, &value);
        items[i].name = arena_text(parse_arena(parse), name);
        items[i].type = data_type_parse(value);
        if (name.size == 0 || items[i].type == DATA_UNDEFINED)
            return error_set(err, ERR_INVALID, "%s: '%s': expected NAME:TYPE, for instance conv1:float32", spelling,
                             words.items[i]);
    }
    *(struct precision_overrides *)field = (struct precision_overrides){items, words.count};
    return 0;
}

static const struct option network_rows[] = {
    {
        .names = {"--trt-outputs"},
        .kind = OPTION_MANY,
        .value_name = "NAME",
        .convert = convert_outputs,
        .naming = OPTION_TENSOR_NAMES,
        .hints = (const char *const[]){"mark", "all", NULL},
        OPTION_FIELD(struct engine_values, request.network.outputs),
        .help = "what the engine gives out: names of tensors, or 'mark all'",
    },
    {
        .names = {"--trt-exclude-outputs"},
        .kind = OPTION_MANY,
        .value_name = "NAME",
        .naming = OPTION_TENSOR_NAMES,
        OPTION_FIELD(struct engine_values, request.network.excluded),
        .help = "tensors that it does not give out",
    },
    {
        .names = {"--layer-precisions"},
        .kind = OPTION_MANY,
        .value_name = "LAYER:TYPE",
        .convert = convert_precisions,
        .naming = OPTION_NODE_NAMES,
        .hints = (const char *const[]){"float32", "float16", "bfloat16", "int8", NULL},
        OPTION_FIELD(struct engine_values, request.builder.precision.layers),
        .help =
            "what layers, or ONNX nodes, compute in: conv1:float32. Only with --precision-constraints prefer or obey",
    },
    {
        .names = {"--tensor-dtypes", "--tensor-datatypes"},
        .kind = OPTION_MANY,
        .value_name = "TENSOR:TYPE",
        .convert = convert_precisions,
        .naming = OPTION_TENSOR_NAMES,
        .hints = (const char *const[]){"float32", "float16", "bfloat16", "int8", NULL},
        OPTION_FIELD(struct engine_values, request.builder.precision.tensors),
        .help = "what outputs of layers are stored in",
    },
    {
        .names = {"--strongly-typed"},
        .kind = OPTION_FLAG,
        OPTION_FIELD(struct engine_values, strongly_typed),
        .help = "types are those that the model has, whatever precisions are allowed",
    },
    {
        .names = {"--decide-branches"},
        .kind = OPTION_FLAG,
        OPTION_FIELD(struct engine_values, decide_branches),
        .help = "put the branch that sample data take in the place of an If that sizes or integers decide; "
                "inputs that would take another one are refused then",
    },
    {
        .names = {"--plugins"},
        .kind = OPTION_MANY,
        .value_name = "PATH",
        .file = OPTION_READS,
        .extensions = "so",
        OPTION_FIELD(struct engine_values, request.providers.plugins),
        .help = "shared libraries that provide tactics (docs/tactic-plugins.md)",
    },
    {
        .names = {"--trt-network-func-name"},
        .kind = OPTION_ONE,
        .refusal = "Python scripts are not run; give the network as an ONNX model",
        .topic = "python-scripts",
    },
    {
        .names = {"--trt-network-postprocess-script", "--trt-npps"},
        .kind = OPTION_MANY,
        .refusal =
            "Python scripts are not run; set precisions with --layer-precisions LAYER:TYPE and "
            "--precision-constraints obey, types of outputs with --tensor-dtypes, and outputs with --trt-outputs; "
            "`polygraphy surgeon` changes the model itself",
        .topic = "python-scripts",
    },
};

const struct option_group engine_network_options = {
    .title = "Engine network",
    .options = network_rows,
    .count = ARRAY_LEN(network_rows),
};

static const struct option file_rows[] = {
    {
        .names = {"--save-timing-cache"},
        .kind = OPTION_ONE,
        .value_name = "PATH",
        .file = OPTION_WRITES,
        .shares = "--load-timing-cache",
        OPTION_FIELD(struct engine_values, save_timing_cache),
        .help = "add the times of tactics, with those that were loaded, to this file, for the next build",
    },
    {
        .names = {"--save-layer-info"},
        .kind = OPTION_ONE,
        .value_name = "PATH",
        .file = OPTION_WRITES,
        .extensions = "json",
        OPTION_FIELD(struct engine_values, save_layer_info),
        .help = "write what the engine's layers are, as JSON in the form of trtexec --exportLayerInfo: "
                "the ONNX nodes in each, its tactic, types and formats",
    },
    {
        .names = {"--save-engine"},
        .kind = OPTION_ONE,
        .value_name = "PATH",
        .file = OPTION_WRITES,
        .extensions = "engine plan",
        OPTION_FIELD(struct engine_values, save_engine),
        .help = "write the engine",
    },
    {
        .names = {"--profile"},
        .yields = true,
        .kind = OPTION_FLAG,
        OPTION_FIELD(struct engine_values, request.profile),
        .help = "show how long each layer takes",
    },
};

#define FILE_GROUP(rows_of_it)                                                                                         \
    {                                                                                                                  \
        .title = "Engine files", .options = file_rows, .count = rows_of_it,                                            \
    }

const struct option_group engine_file_options = FILE_GROUP(ARRAY_LEN(file_rows));
const struct option_group engine_cache_options = FILE_GROUP(2);
