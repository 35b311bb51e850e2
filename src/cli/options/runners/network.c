/* cli/options/runners/network.c: options of an engine's network: outputs, types and precisions; files of an engine
 * build. */
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

#define ROW(member, ...) OPTION_ROW(struct engine_values, member, __VA_ARGS__)

static const struct option network_rows[] = {
    ROW(request.network.outputs, .names = {"--trt-outputs"}, .kind = OPTION_MANY, .value_name = "NAME",
        .convert = convert_outputs, .naming = OPTION_TENSOR_NAMES, .hints = (const char *const[]){"mark", "all", NULL},
        .help = "outputs of the engine: names of tensors, or 'mark all'"),
    ROW(request.network.excluded, .names = {"--trt-exclude-outputs"}, .kind = OPTION_MANY, .value_name = "NAME",
        .naming = OPTION_TENSOR_NAMES, .help = "tensors that are not outputs of the engine"),
    ROW(request.builder.precision.layers, .names = {"--layer-precisions"}, .kind = OPTION_MANY,
        .value_name = "LAYER:TYPE", .convert = convert_precisions, .naming = OPTION_NODE_NAMES,
        .hints = (const char *const[]){"float32", "float16", "bfloat16", "int8", NULL},
        .help = "precision of layers or ONNX nodes: conv1:float32. Needs --precision-constraints prefer or obey"),
    ROW(request.builder.precision.tensors, .names = {"--tensor-dtypes", "--tensor-datatypes"}, .kind = OPTION_MANY,
        .value_name = "TENSOR:TYPE", .convert = convert_precisions, .naming = OPTION_TENSOR_NAMES,
        .hints = (const char *const[]){"float32", "float16", "bfloat16", "int8", NULL},
        .help = "data types of layer outputs"),
    ROW(strongly_typed, .names = {"--strongly-typed"}, .kind = OPTION_FLAG,
        .help = "use the types of the model; allowed precisions have no effect"),
    ROW(decide_branches, .names = {"--decide-branches"}, .kind = OPTION_FLAG,
        .help = "replace each If whose condition depends on sizes or integers by the branch that the sample data "
                "select; the engine then refuses inputs that select the other one"),
    ROW(request.providers.plugins, .names = {"--plugins"}, .kind = OPTION_MANY, .value_name = "PATH",
        .file = OPTION_READS, .extensions = "so",
        .help = "shared libraries that provide tactics (docs/tactic-plugins.md)"),
    OPTION_WITHOUT_FIELD(.names = {"--trt-network-func-name"}, .kind = OPTION_ONE,
                         .refusal = "Python scripts are not run; pass the network as an ONNX model",
                         .topic = "python-scripts"),
    OPTION_WITHOUT_FIELD(
            .names = {"--trt-network-postprocess-script", "--trt-npps"}, .kind = OPTION_MANY,
            .refusal =
                "Python scripts are not run; set precisions with --layer-precisions LAYER:TYPE and "
                "--precision-constraints obey, types of outputs with --tensor-dtypes, and outputs with --trt-outputs; "
                "`polygraphy surgeon` changes the model itself",
            .topic = "python-scripts"),
};

const struct option_group engine_network_options = {
    .title = "Engine network",
    OPTION_ROWS(network_rows),
};

static const struct option file_rows[] = {
    ROW(save_timing_cache, .names = {"--save-timing-cache"}, .kind = OPTION_ONE, .value_name = "PATH",
        .file = OPTION_WRITES, .shares = "--load-timing-cache",
        .help = "save measured times of tactics, and the loaded ones, to this file, for the next build"),
    ROW(save_layer_info, .names = {"--save-layer-info"}, .kind = OPTION_ONE, .value_name = "PATH",
        .file = OPTION_WRITES, .shares = "--check", /* like --save-tactics */
        .extensions = "json",
        .help = "write the engine's layers as JSON, in the form of TensorRT's inspector: for each its ONNX nodes, "
                "tactic, types and formats"),
    ROW(save_engine, .names = {"--save-engine"}, .kind = OPTION_ONE, .value_name = "PATH", .file = OPTION_WRITES,
        .extensions = "engine plan", .help = "write the engine to this file"),
    ROW(request.profile, .names = {"--profile"}, .yields = true, .kind = OPTION_FLAG,
        .help = "report the time of each layer"),
};

#define FILE_GROUP(rows_of_it)                                                                                         \
    {                                                                                                                  \
        .title = "Engine files", .options = file_rows, .count = rows_of_it,                                            \
    }

const struct option_group engine_file_options = FILE_GROUP(ARRAY_LEN(file_rows));
const struct option_group engine_cache_options = FILE_GROUP(2);
