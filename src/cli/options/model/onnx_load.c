/* cli/options/model/onnx_load.c: how an ONNX model is loaded, and which outputs it gets. */
#include "cli/options/groups.h"

#define ROW(member, ...) OPTION_ROW(struct onnx_load_values, member, __VA_ARGS__)

/* Each variant is a range of one table. */
static const struct option load_rows[] = {
    ROW(outputs, .names = {"--onnx-outputs"}, .kind = OPTION_MANY, .value_name = "NAME", .convert = convert_outputs,
        .naming = OPTION_TENSOR_NAMES, .hints = (const char *const[]){"mark", "all", NULL},
        .help =
            "mark these tensors as the model's outputs. Patterns such as 'layer*' select outputs of nodes, unless a "
            "tensor has this name; '*' or `mark all` marks every tensor"),
    ROW(exclude_outputs, .names = {"--onnx-exclude-outputs"}, .kind = OPTION_MANY, .value_name = "NAME",
        .naming = OPTION_TENSOR_NAMES,
        .help = "remove these tensors, or those that match a pattern, from the model's outputs, after --onnx-outputs"),
    ROW(output_operators, .names = {"--onnx-outputs-by-type"}, .yields = true, .kind = OPTION_MANY,
        .value_name = "OPERATOR",
        .help = "mark the outputs of all nodes with these operators instead: Softmax LayerNormalization"),
    ROW(external_data_dir, .names = {"--external-data-dir", "--load-external-data", "--ext"}, .kind = OPTION_ONE,
        .value_name = "FOLDER", .help = "folder of the model's external data (default: the model's folder)"),
    ROW(ignore_external_data, .names = {"--ignore-external-data"}, .kind = OPTION_FLAG,
        .help = "load the model's structure without its external data"),
    ROW(fp_to_fp16, .names = {"--fp-to-fp16"}, .kind = OPTION_FLAG,
        .help = "convert float32 tensors to float16, except inputs and outputs"),
    ROW(outputs, .names = {"--outputs"}, .kind = OPTION_MANY, .value_name = "NAME", .convert = convert_outputs,
        .naming = OPTION_TENSOR_NAMES, .hints = (const char *const[]){"mark", "all", NULL},
        .help =
            "mark these tensors as the model's outputs. Patterns such as 'layer*' select outputs of nodes, unless a "
            "tensor has this name; '*' or `mark all` marks every tensor"),
    ROW(exclude_outputs, .names = {"--exclude-outputs"}, .kind = OPTION_MANY, .value_name = "NAME",
        .naming = OPTION_TENSOR_NAMES,
        .help = "remove these tensors, or those that match a pattern, from the model's outputs, after --outputs"),
    ROW(output_operators, .names = {"--outputs-by-type"}, .yields = true, .kind = OPTION_MANY, .value_name = "OPERATOR",
        .help = "mark the outputs of all nodes with these operators instead: Softmax LayerNormalization"),
    ROW(unbounded_dds_upper_bound, .names = {"--set-unbounded-dds-upper-bound"}, .kind = OPTION_MANY,
        .value_name = "[NAME:]N", .convert = convert_named_counts, .naming = OPTION_TENSOR_NAMES,
        .help = "upper bound of data-dependent sizes, for all such tensors or the named one"),
};

#define LOAD_GROUP(first, row_count)                                                                                   \
    {                                                                                                                  \
        .title = "ONNX model loading", .options = load_rows + (first), .count = (row_count),                           \
    }

const struct option_group onnx_load_options = LOAD_GROUP(3, 3);
const struct option_group onnx_load_folder_options = LOAD_GROUP(3, 1);
const struct option_group onnx_load_outputs_options = LOAD_GROUP(0, 6);
const struct option_group onnx_load_sanitize_options = LOAD_GROUP(3, 7);
