/* cli/inspect/model.c: what a model consists of. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "backend/type_inference.h"
#include "cli/commands.h"
#include "cli/inspect/engine_text.h"
#include "cli/inspect/model_json.h"
#include "cli/model_file.h"
#include "engine/plan/plan.h"
#include "onnx/model/graph_text.h"
#include "onnx/edit/unbounded_shapes.h"

struct inspect_model_values {
    struct words show;
    bool list_unbounded;
};

static const char *const details[] = {"layers", "attrs", "weights", NULL};

static const struct option options[] = {
    {
        .names = {"--convert-to", "--display-as"},
        .kind = OPTION_ONE,
        .choices = (const char *const[]){"trt", NULL},
        .refusal = "TensorRT networks are not made; build an engine with `polygraphy convert MODEL -o model.engine`, "
                   "and inspect that",
    },
    {
        .names = {"--show"},
        .kind = OPTION_MANY,
        .choices = details,
        OPTION_FIELD(struct inspect_model_values, show),
        .help =
            "details: every layer with its tensors, the layers' attributes (only together with layers), the values of "
            "weights",
    },
    {
        .names = {"--list-unbounded-dds"},
        .kind = OPTION_FLAG,
        OPTION_FIELD(struct inspect_model_values, list_unbounded),
        .help = "list the tensors that decide about shapes at run time without a bound",
    },
    {
        .names = {"--combine-tensor-info"},
        .kind = OPTION_ONE,
        .refusal = "files with TensorRT's tensor information are not read",
    },
};

static const struct option_group inspect_model_own_options = {
    .title = "Inspection",
    .options = options,
    .count = ARRAY_LEN(options),
};

static bool is_shown(const struct inspect_model_values *values, const char *detail)
{
    for (size_t i = 0; i < values->show.count; i++)
        if (strcmp(values->show.items[i], detail) == 0)
            return true;
    return false;
}

static struct graph_text_settings settings_of(const struct command_context *context,
                                              const struct inspect_model_values *values)
{
    return (struct graph_text_settings){
        .layers = is_shown(values, "layers"),
        .attributes = is_shown(values, "attrs"),
        .weights = is_shown(values, "weights"),
        .ignore_external_data = model_file_options(context).load->ignore_external_data,
    };
}

static int show(const struct command_context *context, struct model *model, const struct graph_text_settings *settings,
                struct error *err)
{
    struct string_builder text;
    int rc;

    if (!log_shows(context->log, LOG_INFO))
        return 0;
    string_init(&text);
    string_add(&text, "==== ONNX Model ====\n");
    rc = graph_to_text(model, settings, &text, err);
    while (text.size > 0 && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\n'))
        string_truncate(&text, text.size - 1); /* a body in the last node ends with empty lines */
    if (rc == 0)
        log_text(context->log, LOG_INFO, (struct text){text.data, text.size});
    string_release(&text);
    return rc;
}

/* Which shapes have no bound can only be told from types, so what the model does not say is asked of ONNX Runtime. */
static void list_unbounded(const struct command_context *context, struct model *model, struct value_list *ret)
{
    struct backend_request request = model_file_request_for(context, model);
    struct error why = {0};
    struct string_builder names;

    if (types_infer(model, NULL, model_file_runtime(context), &request, NULL, &why) < 0)
        log_message(context->log, LOG_WARNING, "Only shapes that the model states are looked at: %s", why.message);
    unbounded_shapes_find(model, ret);
    string_init(&names);
    for (size_t i = 0; i < ret->count; i++)
        string_add_format(&names, "%s'" TEXT_FORMAT "'", i > 0 ? ", " : "",
                          TEXT_ARGS(model->values.items[ret->items[i]].name));
    log_message(context->log, LOG_INFO, "Found tensors with unbounded DDS: [%s]", names.size > 0 ? names.data : "");
    string_release(&names);
}

static int inspect(const struct command_context *context, struct model *model, struct error *err)
{
    const struct inspect_model_values *values = PARSE_VALUES(context->parse, struct inspect_model_values);
    const struct json_values *json = PARSE_VALUES(context->parse, struct json_values);
    struct graph_text_settings settings = settings_of(context, values);
    struct value_list unbounded = {0};
    int rc = show(context, model, &settings, err);

    if (rc == 0 && values->list_unbounded)
        list_unbounded(context, model, &unbounded);
    if (rc == 0 && json->path != NULL)
        rc = inspect_model_save(model, &settings, values->list_unbounded ? &unbounded : NULL, json->path, err);
    free(unbounded.items);
    return rc;
}

static int inspect_engine(const struct command_context *context, const char *path, struct error *err)
{
    const struct inspect_model_values *values = PARSE_VALUES(context->parse, struct inspect_model_values);
    const struct json_values *json = PARSE_VALUES(context->parse, struct json_values);
    struct string_builder text;
    struct engine *engine;
    int rc = plan_load(path, NULL, &engine, err);

    if (rc < 0)
        return rc;
    string_init(&text);
    engine_to_text(engine, is_shown(values, "layers"), &text);
    string_truncate(&text, text.size - 1); /* the last line break */
    log_text(context->log, LOG_INFO, (struct text){text.data, text.size});
    string_release(&text);
    if (json->path != NULL)
        rc = engine_save_json(engine, json->path, err);
    engine_free(engine);
    return rc;
}

static int inspect_model_run(const struct command_context *context, struct error *err)
{
    const struct model_values *values = PARSE_VALUES(context->parse, struct model_values);
    struct model *model;
    int rc;

    if (values->type != MODEL_ONNX)
        return inspect_engine(context, values->path, err);
    rc = model_file_load(context, &model, err);
    if (rc < 0)
        return rc;
    rc = inspect(context, model, err);
    model_free(model);
    return rc;
}

static const struct option_group *const groups[] = {
    &logging_options,           &inspect_model_options,  &shape_inference_options,
    &onnx_load_options,         &onnxrt_library_options, &onnxrt_bounds_options,
    &inspect_model_own_options, &json_options,           &tensorflow_inspect_options,
};

const struct command cmd_inspect_model = {
    .name = "model",
    .summary = "show what a model consists of",
    .description =
        "Shows inputs, outputs and the number of weights and layers; with --show the layers themselves, those inside "
        "of loops and branches included. What is not known about a tensor is left out: add --shape-inference.\n\n"
        "Of an engine it shows the layers with the ONNX nodes that they are made of, their tactics, precisions and "
        "times.\n\n"
        "With --json, the file gets everything but the values of weights, whatever --show says: \"inputs\", "
        "\"outputs\", \"initializers\" and \"nodes\" with their \"attributes\"; bodies of loops and branches have the "
        "same form. With --show weights, tensors have \"values\" too, in one list whatever the shape.\n\n"
        "With --ignore-external-data, weights in other files are shown with type, shape and the file's name alone.",
    .example = "polygraphy inspect model model.onnx --show layers attrs --shape-inference",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .run = inspect_model_run,
};
