/* convert.c: from one kind of model to another: ONNX, in float32 or float16, or an engine. */
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/convert_float16.h"
#include "cli/engine_file.h"
#include "cli/model_file.h"
#include "cli/model_trial.h"
#include "cli/options/groups.h"
#include "engine/plan/plan.h"
#include "onnx/write/save.h"

static int save(const struct command_context *context, struct model *model, struct error *err)
{
    const struct convert_values *values = PARSE_VALUES(context->parse, struct convert_values);
    struct model_file_options options = model_file_options(context);
    struct external_settings external = model_file_external(options.save);
    struct subgraph whole;
    int rc;

    subgraph_init_whole(&whole, model);
    rc = model_trial_run(context, &whole, values->output, err);
    if (rc == 0) {
        log_message(context->log, LOG_INFO, "Saving ONNX model to: %s", values->output);
        rc = model_save(&whole, values->output, &external, options.load->ignore_external_data, err);
    }
    subgraph_release(&whole);
    return rc;
}

static int convert_to_engine(const struct command_context *context, struct model *model, struct error *err)
{
    const struct convert_values *values = PARSE_VALUES(context->parse, struct convert_values);
    struct network *network = NULL;
    struct engine *engine = NULL;
    struct engine_file file;
    int rc = engine_file_init(&file, context, err);

    if (rc < 0) {
        model_free(model);
        return rc;
    }
    rc = engine_file_network(&file, model, &network, err);
    if (rc == 0)
        rc = engine_file_build(&file, network, &engine, err);
    if (rc == 0) {
        log_message(context->log, LOG_INFO, "Saving engine to %s", values->output);
        rc = plan_save(engine, values->output, err);
    }
    if (rc == 0)
        rc = engine_file_save_byproducts(&file, engine, err);
    engine_free(engine);
    network_free(network);
    engine_file_release(&file);
    return rc;
}

static int convert_to_onnx(const struct command_context *context, struct error *err)
{
    struct model *model = NULL;
    int rc = model_file_load(context, &model, err);

    if (rc == 0)
        rc = convert_float16_settle(context, &model, err);
    if (rc == 0)
        rc = save(context, model, err);
    model_free(model);
    return rc;
}

static int convert_run(const struct command_context *context, struct error *err)
{
    const struct convert_values *convert = PARSE_VALUES(context->parse, struct convert_values);
    const struct model_values *values = model_file_options(context).model;
    struct model *model;
    int rc;

    if (values->type != MODEL_ONNX)
        return error_set(err, ERR_UNSUPPORTED, "'%s' is an engine, which cannot be converted: give the ONNX model",
                         values->path);
    if (convert->target != CONVERT_TRT)
        return convert_to_onnx(context, err);
    rc = model_file_load(context, &model, err);
    return rc == 0 ? convert_to_engine(context, model, err) : rc;
}

static const struct option_group *const groups[] = {
    &logging_options,
    &convert_model_options,
    &data_loader_options,
    &onnxrt_library_options,
    &onnxrt_bounds_options,
    &shape_inference_options,
    &onnx_load_outputs_options,
    &convert_save_options,
    &convert_options,
    &engine_config_options,
    &engine_network_options,
    &engine_cache_options,
    &engine_ignored_convert_options,
    &tensorflow_convert_options,
};

const struct command cmd_convert = {
    .name = "convert",
    .summary = "write a model in another form: in float16, or compiled as an engine",
    .description =
        "Loads a model, changes it as the options say, and saves it.\n\n"
        "--fp-to-fp16 makes it compute in float16. Its inputs and outputs keep their types. Operators that do not "
        "take float16 stay float32, and so do those that --keep-float32 names; tensors between the two kinds pass a "
        "Cast. Weights whose values are beyond the range of float16 are named. ONNX Runtime loads the result once, "
        "without its weights: operators that it refuses in float16 stay float32, too, and are named.\n\n"
        "To an output that ends in .engine or .plan the model is compiled: see `polygraphy inspect model x.engine "
        "--show layers` and `polygraphy run x.engine --trt`.",
    .example = "# float16, but for one operator and the nodes of one part\n"
               "polygraphy convert model.onnx -o half.onnx --fp-to-fp16 --keep-float32 Softmax 'head/*'\n"
               "# an engine whose layers store float16, and which tactics they got\n"
               "polygraphy convert model.onnx -o model.engine --fp16 --save-tactics replay.json",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .framed = true,
    .run = convert_run,
};
