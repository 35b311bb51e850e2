/* cli/options/model/onnx_save.c: how an ONNX model is saved. */
#include "base/memory.h"
#include "cli/options/groups.h"

static int finish_onnx_save(struct parse *parse, void *given, struct error *err)
{
    static const char *const details[] = {"--external-data-size-threshold", "--no-save-all-tensors-to-one-file"};
    const struct onnx_save_values *values = given;

    (void)err;
    for (size_t i = 0; !values->external.save && i < ARRAY_LEN(details); i++)
        if (parse_given(parse, details[i]))
            log_message(parse_log(parse), LOG_WARNING, "%s has no effect without --save-external-data", details[i]);
    return 0;
}

/* clang-format off */
#define OUTPUT(is_required, may_be)                                                                                    \
    {                                                                                                                  \
        .names = {"-o", "--output"}, .kind = OPTION_ONE, .value_name = "PATH", .required = is_required,                \
        .file = OPTION_WRITES, .extensions = "onnx", .shares = may_be,                                                 \
        OPTION_FIELD(struct onnx_save_values, path), .help = "where to save the resulting ONNX model",                 \
    }

#define EXTERNAL_DATA                                                                                                  \
    {                                                                                                                  \
        .names = {"--save-external-data", "--external-data-path"}, .kind = OPTION_MAYBE, .value_name = "FILE",         \
        .append = true, .file = OPTION_WRITES_BESIDE, .convert = convert_external_data,                                \
        OPTION_FIELD(struct onnx_save_values, external),                                                               \
        .help = "store large tensors in a file next to the model: FILE, or one named after the model. FILE is a path " \
                "relative to the model's folder, or an absolute one in it. The next word is read as FILE: put the "    \
                "option after the model",                                                                              \
    },                                                                                                                 \
    {                                                                                                                  \
        .names = {"--external-data-size-threshold"}, .kind = OPTION_ONE, .value_name = "BYTES", .fallback = "1024",    \
        .convert = convert_size, OPTION_FIELD(struct onnx_save_values, external.threshold),                            \
        .help = "size below which tensors stay in the model; accepts K, M and G",                                      \
    },                                                                                                                 \
    {                                                                                                                  \
        .names = {"--no-save-all-tensors-to-one-file"}, .kind = OPTION_FLAG,                                           \
        OPTION_FIELD(struct onnx_save_values, external.one_file_per_tensor),                                           \
        .help = "store each external tensor in a separate file",                                                       \
    }
/* clang-format on */

static const struct option optional_rows[] = {OUTPUT(false, "--iter-artifact"), EXTERNAL_DATA};
static const struct option required_rows[] = {OUTPUT(true, "model_file"), EXTERNAL_DATA};

#define ROW(member, ...) OPTION_ROW(struct onnx_save_values, member, __VA_ARGS__)

static const struct option run_rows[] = {
    ROW(path, .names = {"--save-onnx"}, .kind = OPTION_ONE, .value_name = "PATH", .file = OPTION_WRITES,
        .extensions = "onnx", .help = "where to save the ONNX model after the changes of the options above"),
    EXTERNAL_DATA,
};

#define SAVE_GROUP(rows, row_count)                                                                                    \
    {                                                                                                                  \
        .title = "ONNX model saving", .options = (rows), .count = (row_count), .finish = finish_onnx_save,             \
    }

const struct option_group onnx_save_options = SAVE_GROUP(optional_rows, ARRAY_LEN(optional_rows));
const struct option_group onnx_save_required_options = SAVE_GROUP(required_rows, ARRAY_LEN(required_rows));
const struct option_group run_save_options = SAVE_GROUP(run_rows, ARRAY_LEN(run_rows));
const struct option_group convert_save_options = SAVE_GROUP(run_rows + 1, ARRAY_LEN(run_rows) - 1);
