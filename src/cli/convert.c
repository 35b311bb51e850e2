/* convert.c: from one kind of model to another: ONNX, in float32 or float16, or an engine. */
#include <stdlib.h>

#include "base/memory.h"
#include "cli/commands.h"
#include "cli/engine_file.h"
#include "cli/model_file.h"
#include "cli/model_trial.h"
#include "cli/options/groups.h"
#include "engine/plan/plan.h"
#include "onnx/write/save.h"

/* ---- Float16, as far as ONNX Runtime goes along with it ----
 *
 * ONNX lets operators compute in float16 for which ONNX Runtime has no float16, and there are more of them the older
 * the operator set is. Which ones these are is found by loading the converted model. */

/* What operators are refused, and what is tried to find that out. */
struct settling {
    const struct command_context *context;
    const char **operators; /* of the main graph, each once, malloc'd */
    bool *refused;
    size_t count;
};

static void list_operators(struct settling *settling, const struct model *model)
{
    settling->operators = memory_alloc_zero(model->nodes.count + 1, sizeof(*settling->operators));
    settling->refused = memory_alloc_zero(model->nodes.count + 1, sizeof(*settling->refused));
    for (size_t i = 0; i < model->nodes.count; i++) {
        struct text name = model->nodes.items[i].op_type;
        bool known = false;

        for (size_t k = 0; !known && k < settling->count; k++)
            known = text_equal_string(name, settling->operators[k]);
        if (!known)
            settling->operators[settling->count++] = memory_copy(name.data, name.size);
    }
}

/* Whether the runtime takes the model with these in float32. */
static int try(struct settling *settling, const struct words *keep, bool *ret, struct error *err)
{
    struct log *log = settling->context->log;
    bool muted = log->muted;
    struct subgraph whole;
    struct model *model = NULL;
    int rc;

    log->muted = true;
    rc = model_file_load_keeping(settling->context, keep, &model, err);
    if (rc == 0) {
        subgraph_init_whole(&whole, model);
        rc = model_trial_takes(settling->context, &whole, ret, err);
        subgraph_release(&whole);
    }
    model_free(model);
    log->muted = muted;
    return rc;
}

/* Of operators[first .. first+count-1] finds those that alone are refused in float16: by halves, because they are
 * few. */
static int find_refused(struct settling *settling, size_t first, size_t count, struct error *err)
{
    const char **others = memory_alloc_zero(settling->count + 1, sizeof(*others));
    struct words keep = {.items = others};
    bool taken = false;
    int rc;

    for (size_t i = 0; i < settling->count; i++)
        if (i < first || i >= first + count)
            others[keep.count++] = settling->operators[i];
    rc = try(settling, &keep, &taken, err);
    free(others);
    if (rc < 0 || taken)
        return rc;
    settling->refused[first] = count == 1;
    if (count > 1)
        rc = find_refused(settling, first, count / 2, err);
    if (rc == 0 && count > 1)
        rc = find_refused(settling, first + count / 2, count - count / 2, err);
    return rc;
}

/* The model with the refused operators in float32; where that is not all, everything. */
static int replace(struct settling *settling, struct model **model, struct error *err)
{
    static const char *const everything[] = {"*"};
    const char **refused = memory_alloc_zero(settling->count + 1, sizeof(*refused));
    struct words keep = {.items = refused}, all = {.items = everything, .count = 1};
    struct string_builder names;
    struct model *settled;
    bool taken;
    int rc;

    string_init(&names);
    for (size_t i = 0; i < settling->count; i++)
        if (settling->refused[i]) {
            string_add_format(&names, "%s%s", keep.count > 0 ? ", " : "", settling->operators[i]);
            refused[keep.count++] = settling->operators[i];
        }
    rc = try(settling, &keep, &taken, err);
    if (rc == 0)
        rc = model_file_load_keeping(settling->context, taken ? &keep : &all, &settled, err);
    if (rc == 0) {
        log_message(settling->context->log, LOG_WARNING,
                    "ONNX Runtime does not take the model with these in float16, so they stay float32: %s",
                    taken ? names.data : "all nodes");
        model_free(*model);
        *model = settled;
    }
    string_release(&names);
    free(refused);
    return rc;
}

/* `*model` is as model_file_load() gives it. If ONNX Runtime refuses it, but takes the one that is not converted, it is
 * replaced by one in which the operators that are refused compute in float32; a warning names them. */
static int settle_float16(const struct command_context *context, struct model **model, struct error *err)
{
    static const char *const everything[] = {"*"};
    const struct words all = {.items = everything, .count = 1};
    struct settling settling = {.context = context};
    struct model *original;
    struct subgraph whole;
    bool taken;
    int rc;

    subgraph_init_whole(&whole, *model);
    rc = model_trial_takes(context, &whole, &taken, err);
    subgraph_release(&whole);
    if (rc < 0 || taken)
        return rc;
    rc = try(&settling, &all, &taken, err);
    if (rc < 0 || !taken) /* the conversion is not to blame */
        return rc;
    rc = model_file_open(context, &original, err);
    if (rc < 0)
        return rc;
    list_operators(&settling, original);
    model_free(original);
    rc = find_refused(&settling, 0, settling.count, err);
    if (rc == 0)
        rc = replace(&settling, model, err);
    for (size_t i = 0; i < settling.count; i++)
        free((char *)settling.operators[i]);
    free(settling.operators);
    free(settling.refused);
    return rc;
}

/* ---- The work ---- */

static int convert_to_onnx(const struct command_context *context, struct error *err)
{
    const char *output = PARSE_VALUES(context->parse, struct convert_values)->output;
    struct model_file_options options = model_file_options(context);
    struct external_settings external = model_file_external(options.save);
    struct subgraph whole;
    struct model *model;
    int rc = model_file_load(context, &model, err);

    if (rc < 0)
        return rc;
    if (options.load->fp_to_fp16)
        rc = settle_float16(context, &model, err);
    subgraph_init_whole(&whole, model);
    if (rc == 0)
        rc = model_trial_run(context, &whole, output, err);
    if (rc < 0)
        goto done;
    log_message(context->log, LOG_INFO, "Saving ONNX model to: %s", output);
    rc = model_save(&whole, output, &external, options.load->ignore_external_data, err);
done:
    subgraph_release(&whole);
    model_free(model);
    return rc;
}

static int convert_to_engine(const struct command_context *context, struct error *err)
{
    const char *output = PARSE_VALUES(context->parse, struct convert_values)->output;
    struct network *network = NULL;
    struct engine *engine = NULL;
    struct engine_file file;
    struct model *model;
    int rc = model_file_load(context, &model, err);

    if (rc < 0)
        return rc;
    rc = engine_file_init(&file, context, err);
    if (rc < 0) {
        model_free(model);
        return rc;
    }
    rc = network_build(model, &file.request.network, &network, err);
    if (rc == 0)
        rc = engine_request_build(&file.request, network, &engine, err);
    if (rc < 0)
        goto done;
    log_message(context->log, LOG_INFO, "Saving engine to %s", output);
    rc = plan_save(engine, output, err);
    if (rc == 0)
        rc = engine_file_save_byproducts(&file, engine, err);
done:
    engine_free(engine);
    network_free(network);
    engine_file_release(&file);
    return rc;
}

static int convert_run(const struct command_context *context, struct error *err)
{
    const struct model_values *values = model_file_options(context).model;

    if (values->type != MODEL_ONNX)
        return error_set(err, ERR_UNSUPPORTED, "'%s' is an engine, which cannot be converted: give the ONNX model",
                         values->path);
    return PARSE_VALUES(context->parse, struct convert_values)->target == CONVERT_TRT ? convert_to_engine(context, err)
                                                                                      : convert_to_onnx(context, err);
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
