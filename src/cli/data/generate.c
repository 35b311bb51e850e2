/* cli/data/generate.c: `data generate`: writes input data that are valid for a model. */
#include "backend/model_io.h"
#include "cli/commands.h"
#include "cli/model_file.h"
#include "cli/options/groups.h"
#include "cli/result_file.h"
#include "comparator/data/loader.h"
#include "format/data/writer.h"
#include "format/json/writer.h"

struct data_generate_settings {
    struct common_settings common;
    struct json_values json;
    struct model_file_settings file;

    /* its own */
    const char *output;
};

#define ROW(member, ...) OPTION_ROW(struct data_generate_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(output, .names = {"-o", "--output"}, .kind = OPTION_ONE, .required = true, .value_name = "PATH",
        .file = OPTION_WRITES_DATA,
        .help = "where to write the input data, for --load-inputs. The extension selects the format: .npz, .npy for a "
                "single array, .safetensors, '/' for a folder of .npy, otherwise Polygraphy's JSON"),
};

static const struct option_group generate_options = {
    .title = "Output",
    OPTION_ROWS(options),
};

/* The rules, as JSON. What has no rule is in the log only here: the loader reports the others. */
static void add_rules(struct result_file *result, struct log *log, const struct derived_inputs *derived)
{
    struct json_writer *json = &result->json;

    json_writer_add_boolean(json, "defaults_fit", derived->defaults_fit);
    json_writer_add_string(json, "refusal", derived->refusal);
    json_writer_begin_array_member(json, "inputs");
    VECTOR_EACH (const struct derived_input, item, *derived) {
        SCOPED_STRING(text);

        json_writer_begin_object(json);
        json_writer_add_string(json, "name", item->name);
        json_writer_key(json, "shape");
        json_writer_integers(json, item->shape.dims, item->shape.rank);
        json_writer_add_string(json, "sizes", item->size_rule);
        json_writer_add_string(json, "values", item->value_rule);
        json_writer_add_boolean(json, "by_name", item->by_name);
        json_writer_end_object(json);
        if (item->size_rule != NULL || item->value_rule != NULL)
            continue;
        shape_to_text(&item->shape, &text);
        log_message(log, LOG_INFO, "Input '%s' | shape %s | values random: no rule", item->name, text.data);
    }
    json_writer_end_array(json);
}

/* Generates data for the inputs as the model describes them. */
static int generate_data(struct data_loader *loader, const struct model *model, struct error *err)
{
    struct backend_io *inputs = model_io_new(model, NULL, &model->inputs);
    int rc = data_loader_keep(loader, inputs, model->inputs.count, err);

    model_io_free(inputs, model->inputs.count);
    return rc;
}

static int data_generate_run(const struct command_context *context, const struct data_generate_settings *settings,
                             struct error *err)
{
    struct result_file result SCOPED(result_file_close) = {0};
    struct data_loader *loader = NULL;
    struct model *model = NULL;
    int rc = result_file_open(&result, context, &settings->json, &settings->file, err);

    if (rc < 0)
        return rc;
    if (settings->file.data.files.count > 0)
        return error_set(err, ERR_INVALID,
                         "--load-inputs: this command generates data; `polygraphy data merge` converts files");
    rc = model_file_open(context, &settings->file, &model, err);
    if (rc < 0)
        return rc;
    rc = data_loader_from_options(context, &settings->file, model, &loader, err);
    if (rc < 0)
        goto done;
    add_rules(&result, context->log, data_loader_derived(loader));
    rc = generate_data(loader, model, err);
    if (rc < 0)
        goto done;
    log_message(context->log, LOG_INFO, "Saving %zu iteration(s) of input data to %s", data_loader_kept(loader)->count,
                settings->output);
    rc = data_file_save(data_loader_kept(loader), settings->output, err);
    if (rc < 0)
        goto done;
    json_writer_begin_object_member(&result.json, "written");
    result_file_add_path(&result, settings->output);
    json_writer_end_object(&result.json);
    rc = result_file_save(&result, NULL, err);
done:
    data_loader_free(loader);
    model_free(model);
    return rc;
}

DEFINE_COMMAND_RUN(data_generate_run, struct data_generate_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct data_generate_settings, common.logging, logging_options),
    COMMAND_GROUP(struct data_generate_settings, file.model, lint_model_options),
    COMMAND_GROUP(struct data_generate_settings, file.load, onnx_load_options),
    COMMAND_GROUP(struct data_generate_settings, file.data, data_loader_options),
    {&generate_options, 0},
    COMMAND_GROUP(struct data_generate_settings, json, json_options),
};

const struct command cmd_data_generate = {
    .name = "generate",
    .summary = "generate input data that a model accepts",
    .description =
        "Generates input data with sizes and values derived from the model, and reports the rule for each input: names "
        "of dimensions, sizes that operators demand, bounds of indices, masks, positions, lengths of caches. Sizes "
        "that "
        "remain free are representative: a sequence of 16 with 5 entries in the cache. The model is not run.\n\nUse it "
        "to get data for a decoder with a cache, to change them, or to give them to another program.",
    .example = "polygraphy data generate decoder.onnx -o in.json --seed 3\npolygraphy run decoder.onnx --onnxrt "
               "--load-inputs in.json",
    COMMAND_GROUPS(groups),
    .essential = "-o --input-shapes --seed --iterations --val-range --json",
    COMMAND_RUN(data_generate_run),
};
