/* cli/inspect/model.c: `inspect model`: the contents of a model or an engine. */

#include "backend/type_inference.h"
#include "base/memory.h"
#include "base/text/number.h"
#include "base/text/string_builder.h"
#include "cli/commands.h"
#include "cli/inspect/engine_layers.h"
#include "cli/inspect/model_report.h"
#include "cli/inspect/network.h"
#include "cli/model_file.h"
#include "engine/plan/engine.h"
#include "engine/plan/plan.h"
#include "format/json/writer.h"
#include "onnx/edit/bounds.h"
#include "cli/inspect/model_text.h"
#include "cli/inspect/trt_engine.h"
#include "cli/inspect/visual.h"
#include "onnx/model/graph_view.h"
#include "report/model.h"

struct inspect_model_settings {
    struct common_settings common;
    struct json_values json;
    struct report_values report;
    struct model_file_settings file;

    /* its own */
    const char *display_as; /* "trt", or NULL */
    struct words show;
    bool list_unbounded;
    const char *layer_info, *profile; /* paths; NULL: not given */
    struct visual_settings visual;
};

static const char *const details[] = {"layers", "attrs", "weights", NULL};

#define ROW(member, ...) OPTION_ROW(struct inspect_model_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(display_as, .names = {"--convert-to", "--display-as"}, .kind = OPTION_ONE,
        .choices = (const char *const[]){"trt", NULL},
        .help = "trt: show the network from which the engine of --trt is built, before tactics are chosen, with the "
                "layer names of --layer-precisions and tactic replays"),
    ROW(show, .names = {"--show"}, .kind = OPTION_MANY, .choices = details,
        .help =
            "details to show: layers with their tensors, attributes of layers (only with layers), values of weights"),
    ROW(list_unbounded, .names = {"--list-unbounded-dds"}, .kind = OPTION_FLAG,
        .help = "list the tensors that determine data-dependent sizes without an upper bound"),
    ROW(layer_info, .names = {"--layer-info"}, .yields = true, .kind = OPTION_ONE, .value_name = "PATH",
        .file = OPTION_READS, .extensions = "json",
        .help = "layer information of a TensorRT engine (--save-layer-info, trtexec --exportLayerInfo); may also be "
                "given as "
                "the model"),
    ROW(profile, .names = {"--profile"}, .kind = OPTION_ONE, .value_name = "PATH", .file = OPTION_READS,
        .extensions = "json",
        .help =
            "layer times of a TensorRT engine, written by trtexec --exportProfile; the slowest layers are shown first"),
    ROW(visual.save, .names = {"--save-visual"}, .yields = true, .kind = OPTION_ONE, .value_name = "PATH",
        .file = OPTION_WRITES, .extensions = "html",
        .help = "write a page that draws the model: groups and bodies open, nodes show their attributes and weights"),
    ROW(visual.show, .names = {"--visual"}, .yields = true, .kind = OPTION_FLAG,
        .help = "open this page in a browser; without --save-visual it is a temporary file"),
    OPTION_WITHOUT_FIELD(.names = {"--visual-port"}, .yields = true, .kind = OPTION_ONE,
                         .refusal = "the page is a file, which needs no server: leave out the port",
                         .topic = "pages-without-a-server"),
    OPTION_WITHOUT_FIELD(.names = {"--combine-tensor-info"}, .kind = OPTION_ONE,
                         .refusal = "files with TensorRT's tensor information are not supported; `polygraphy run "
                                    "--onnx-outputs mark all --json FILE` writes the ranges of all tensors",
                         .topic = "tensor-information"),
};

static const struct option_group inspect_model_own_options = {
    .title = "Inspection",
    OPTION_ROWS(options),
};

static bool is_shown(const struct inspect_model_settings *values, const char *detail)
{
    return text_is_one_of(text_of(detail), values->show.items, values->show.count);
}

static struct graph_text_settings settings_of(const struct inspect_model_settings *values)
{
    return (struct graph_text_settings){
        .layers = is_shown(values, "layers"),
        .attributes = is_shown(values, "attrs"),
        .weights = is_shown(values, "weights"),
        .ignore_external_data = values->file.load.ignore_external_data,
    };
}

static int show_graph(const struct command_context *context, struct model *model,
                      const struct graph_text_settings *settings, struct error *err)
{
    SCOPED_STRING(text);
    int rc;

    if (!log_shows(context->log, LOG_INFO))
        return 0;
    string_add(&text, "==== ONNX Model ====\n");
    rc = graph_to_text(model, settings, &text, err);
    while (text.size > 0 && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\n'))
        string_truncate(&text, text.size - 1); /* a body in the last node ends with empty lines */
    if (rc == 0)
        log_text(context->log, LOG_INFO, (struct text){text.data, text.size});
    return rc;
}

/* Finding sizes without a bound needs the types of tensors; ONNX Runtime infers those that the model lacks. */
static void list_unbounded(const struct command_context *context, const struct inspect_model_settings *settings,
                           struct model *model, struct value_list *ret)
{
    struct backend_request request = model_file_request_for(context, &settings->file, model);
    struct error why = {0};
    SCOPED_STRING(names);

    if (types_infer(model, NULL, model_file_runtime(&settings->file), &request, NULL, &why) < 0)
        log_message(context->log, LOG_WARNING, "Only shapes in the model are checked: %s", why.message);
    unbounded_shapes_find(model, ret);
    for (size_t i = 0; i < ret->count; i++)
        string_add_format(&names, "%s'" TEXT_FORMAT "'", i > 0 ? ", " : "",
                          TEXT_ARGS(model->values.items[ret->items[i]].name));
    log_message(context->log, LOG_INFO, "Found tensors with unbounded DDS: [%s]", names.size > 0 ? names.data : "");
}

static int save_graph(struct model *model, const struct graph_text_settings *settings,
                      const struct value_list *unbounded, const char *path, struct error *err)
{
    const struct report_model_settings written = {
        .unbounded = unbounded, .values = settings->weights, .ignore_external_data = settings->ignore_external_data};
    struct json_writer json SCOPED(json_writer_release) = {0};
    int rc = json_writer_open(&json, path, err);

    if (rc == 0)
        rc = report_model_write(model, &written, &json, err);
    if (rc == 0)
        rc = json_writer_commit(&json, FILE_DURABLE, err);
    return rc;
}

static int inspect_graph(const struct command_context *context, const struct inspect_model_settings *values,
                         struct model *model, struct error *err)
{
    const struct json_values *json = &values->json;
    struct graph_text_settings settings = settings_of(values);
    struct value_list unbounded SCOPED_ITEMS = {0};
    int rc = show_graph(context, model, &settings, err);

    if (rc == 0 && values->list_unbounded)
        list_unbounded(context, values, model, &unbounded);
    if (rc == 0 && json->path != NULL)
        rc = save_graph(model, &settings, values->list_unbounded ? &unbounded : NULL, json->path, err);
    return rc;
}

/* ---- Engines ---- */

/* ---- Text ---- */

static void add_engine_tensor(struct string_builder *out, const struct network *network, uint32_t value)
{
    struct graph_view view = graph_view_of(network->model);
    struct value_type type;

    if (value == VALUE_NONE) {
        string_add(out, "''");
        return;
    }
    string_add(out, graph_view_describe(&view, value, &type) ? "Constant | " : "");
    string_add_text(out, network->model->values.items[value].name);
    if (type.element == DATA_UNDEFINED)
        return;
    string_add_format(out, " [dtype=%s", data_type_name(type.element));
    if (type.has_shape) {
        string_add(out, ", shape=");
        shape_to_text(&type.shape, out);
    }
    string_add_char(out, ']');
}

static void add_engine_tensors(struct string_builder *out, const struct network *network,
                               const struct value_list *values, const char *separator)
{
    string_add_char(out, '{');
    for (size_t i = 0; i < values->count; i++) {
        if (i > 0)
            string_add_format(out, ",\n%s", separator);
        add_engine_tensor(out, network, values->items[i]);
    }
    string_add_char(out, '}');
}

static void add_profiles(struct string_builder *out, const struct engine *engine)
{
    const struct network *network = engine->network;

    string_add_format(out, "\n---- %zu Profile(s) (%zu Input(s) Each) ----\n", engine->profiles.count,
                      network->inputs.count);
    for (size_t i = 0; i < engine->profiles.count; i++) {
        string_add_format(out, "- Profile: %zu\n", i);
        for (size_t k = 0; k < network->inputs.count; k++) {
            struct text name = network->model->values.items[network->inputs.items[k]].name;

            string_add_format(out, "    Tensor: " TEXT_FORMAT " | Shapes: min=", TEXT_ARGS(name));
            shape_to_text(&engine->profiles.items[i].minimum[k], out);
            string_add(out, ", opt=");
            shape_to_text(&engine->profiles.items[i].optimum[k], out);
            string_add(out, ", max=");
            shape_to_text(&engine->profiles.items[i].maximum[k], out);
            string_add_char(out, '\n');
        }
    }
}

static void add_engine_layer(struct string_builder *out, const struct engine *engine, size_t i)
{
    const struct layer *layer = &engine->network->layers.items[i];
    const struct engine_layer *choice = &engine->layers[i];
    char number[NUMBER_TEXT_SIZE];

    string_add_format(out, "Layer %-4zu | %s [Kind: %s, Precision: %s]\n    Tactic: %s:%s", i, layer->name,
                      layer_kind_name(layer->kind), precision_name(choice->precision.precision),
                      choice->tactic.provider->name, choice->tactic.name);
    if (choice->tactic_count > 0)
        string_add_format(out, ", of %zu", choice->tactic_count);
    if (choice->seconds > 0)
        string_add_format(out, ", %s ms", number_to_text_short(choice->seconds * 1000, number));
    string_add(out, "\n    Nodes: ");
    for (size_t k = 0; k < layer->nodes.count; k++)
        string_add_format(out, "%s%s", k > 0 ? ", " : "",
                          model_node_label(engine->network->model, layer->nodes.items[k]));
    string_add(out, "\n    ");
    add_engine_tensors(out, engine->network, &layer->inputs, "     ");
    string_add(out, "\n     -> ");
    add_engine_tensors(out, engine->network, &layer->outputs, "         ");
    string_add_char(out, '\n');
}

static void engine_to_text(const struct engine *engine, bool layers, struct string_builder *ret)
{
    const struct network *network = engine->network;

    string_add_format(ret, "==== Built-in Engine ====\nName: " TEXT_FORMAT "\n\n---- %zu Engine Input(s) ----\n",
                      TEXT_ARGS(network->model->graph_name), network->inputs.count);
    add_engine_tensors(ret, network, &network->inputs, " ");
    string_add_format(ret, "\n\n---- %zu Engine Output(s) ----\n", network->outputs.count);
    add_engine_tensors(ret, network, &network->outputs, " ");
    string_add_char(ret, '\n');
    add_profiles(ret, engine);
    string_add_format(ret, "\n---- %zu Layer(s) ----\n", network->layers.count);
    for (size_t i = 0; layers && i < network->layers.count; i++)
        add_engine_layer(ret, engine, i);
}

/* ---- JSON ---- */

static void write_shape(struct json_writer *json, const char *key, const struct shape *shape)
{
    json_writer_key(json, key);
    json_writer_integers(json, shape->dims, shape->rank);
}

static void write_profiles(struct json_writer *json, const struct engine *engine)
{
    const struct network *network = engine->network;

    json_writer_begin_array_member(json, "profiles");
    for (size_t i = 0; i < engine->profiles.count; i++) {
        json_writer_begin_object(json);
        for (size_t k = 0; k < network->inputs.count; k++) {
            json_writer_key_text(json, network->model->values.items[network->inputs.items[k]].name);
            json_writer_begin_object(json);
            write_shape(json, "min", &engine->profiles.items[i].minimum[k]);
            write_shape(json, "opt", &engine->profiles.items[i].optimum[k]);
            write_shape(json, "max", &engine->profiles.items[i].maximum[k]);
            json_writer_end_object(json);
        }
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

static void write_engine_layer(struct json_writer *json, const struct engine *engine, size_t i)
{
    const struct layer *layer = &engine->network->layers.items[i];
    const struct engine_layer *choice = &engine->layers[i];

    json_writer_begin_object(json);
    json_writer_add_string(json, "name", layer->name);
    json_writer_add_string(json, "kind", layer_kind_name(layer->kind));
    json_writer_add_string(json, "precision", precision_name(choice->precision.precision));
    json_writer_add_string(json, "provider", choice->tactic.provider->name);
    json_writer_add_string(json, "tactic", choice->tactic.name);
    json_writer_add_number(json, "seconds", choice->seconds);
    json_writer_add_count(json, "tactics", choice->tactic_count);
    network_write_layer_members(json, engine->network, layer);
    json_writer_end_object(json);
}

static int engine_save_json(const struct engine *engine, const char *path, struct error *err)
{
    struct json_writer json;
    int rc = json_writer_open(&json, path, err);

    if (rc < 0)
        return rc;
    json_writer_begin_object(&json);
    network_write_values(&json, "inputs", engine->network, &engine->network->inputs);
    network_write_values(&json, "outputs", engine->network, &engine->network->outputs);
    write_profiles(&json, engine);
    json_writer_begin_array_member(&json, "layers");
    for (size_t i = 0; i < engine->network->layers.count; i++)
        write_engine_layer(&json, engine, i);
    json_writer_end_array(&json);
    json_writer_end_object(&json);
    return json_writer_finish(&json, err);
}

static int inspect_engine(const struct command_context *context, const struct inspect_model_settings *values,
                          const char *path, struct error *err)
{
    const struct json_values *json = &values->json;
    SCOPED_STRING(text);
    struct engine *engine;
    int rc = plan_load(path, NULL, &engine, err);

    if (rc < 0)
        return rc;
    engine_to_text(engine, is_shown(values, "layers"), &text);
    string_truncate(&text, text.size - 1); /* the last line break */
    log_text(context->log, LOG_INFO, (struct text){text.data, text.size});
    if (json->path != NULL)
        rc = engine_save_json(engine, json->path, err);
    engine_free(engine);
    return rc;
}

/* ---- TensorRT engines ---- */

/* Shows the contents of the given files. */
static int show_trt_engine(const struct command_context *context, const struct inspect_model_settings *settings,
                           struct trt_engine_view *view, struct error *err)
{
    const struct json_values *json = &settings->json;
    SCOPED_STRING(text);

    trt_engine_to_text(view, &text);
    string_truncate(&text, text.size - 1); /* the last line break */
    log_text(context->log, LOG_INFO, (struct text){text.data, text.size});
    return json->path != NULL ? trt_engine_save(view, json->path, err) : 0;
}

/* Reads the layers of the engine `plan` from the file `layers`, or from TensorRT if that is NULL; without TensorRT only
 * the builder's version. */
static int load_layers(const struct command_context *context, const char *plan, const char *layers,
                       struct layer_info *info, struct trt_engine_view *view, struct error *err)
{
    struct error why = {0};
    int rc = layers ? layer_info_open(info, layers, &why) : engine_layers_ask(plan, context->log, info, &why);

    if (rc == ERR_MISSING && !layers) {
        log_message(context->log, LOG_WARNING, "%s", why.message);
        return 0;
    }
    if (rc < 0 && view->header)
        log_message(context->log, LOG_INFO, "Built by TensorRT %u.%u.%u.%u", view->header->major, view->header->minor,
                    view->header->patch, view->header->build);
    if (rc < 0)
        return error_set(err, (enum error_code)rc, "%s", why.message);
    view->info = info;
    return 0;
}

/* `plan` is the engine's file, `layers` its layer information; one of them may be NULL. */
static int inspect_trt_engine(const struct command_context *context, const struct inspect_model_settings *values,
                              const char *plan, const char *layers, struct error *err)
{
    struct trt_engine_view view = {.layers = is_shown(values, "layers")};
    struct layer_profile profile SCOPED(layer_profile_release) = {0};
    struct layer_info info SCOPED(layer_info_release) = {0};
    struct plan_header header;
    int rc = plan ? plan_header_read(plan, &header, err) : 0;

    if (rc < 0)
        return rc;
    view.header = plan ? &header : NULL;
    rc = load_layers(context, plan, layers, &info, &view, err);
    if (rc < 0)
        return rc;
    rc = values->profile ? layer_profile_open(&profile, values->profile, err) : 0;
    if (rc < 0)
        return rc;
    view.profile = values->profile ? &profile : NULL;
    return show_trt_engine(context, values, &view, err);
}

/* Refuses options of a page that would not be written. */
static int refuse_report(const struct command_context *context, const struct inspect_model_settings *own,
                         struct error *err)
{
    const struct model_values *values = &own->file.model;
    static const char *const options_of_pages[] = {"--report", "--report-data", "--save-visual", "--visual"};
    const char *option = NULL;

    for (size_t i = 0; option == NULL && i < ARRAY_LEN(options_of_pages); i++)
        option = parse_given(context->parse, options_of_pages[i]);
    if (option == NULL)
        return 0;
    if (values->type != MODEL_ONNX || plan_is_tensorrt(values->path))
        return error_set(err, ERR_INVALID, "%s is for ONNX models, and '%s' is not an ONNX model: leave out the option",
                         option, values->path);
    if (own->display_as != NULL)
        return error_set(err, ERR_INVALID, "%s shows the ONNX model unchanged: leave out --display-as", option);
    return 0;
}

static int inspect_model_run(const struct command_context *context, const struct inspect_model_settings *own,
                             struct error *err)
{
    const struct model_values *values = &own->file.model;
    struct visual_settings visual = own->visual;
    struct graph_text_settings settings;
    struct model *model;
    int rc = refuse_report(context, own, err);

    if (rc < 0)
        return rc;
    if (values->type == MODEL_LAYER_INFO && own->layer_info)
        return error_set(err, ERR_INVALID, "'%s' is itself layer information: leave out --layer-info", values->path);
    if (values->type == MODEL_LAYER_INFO)
        return inspect_trt_engine(context, own, NULL, values->path, err);
    if (plan_is_tensorrt(values->path))
        return inspect_trt_engine(context, own, values->path, own->layer_info, err);
    if (own->layer_info || own->profile)
        return error_set(err, ERR_INVALID,
                         "--layer-info and --profile are for TensorRT engines, and '%s' is not a TensorRT engine",
                         values->path);
    if (values->type != MODEL_ONNX)
        return inspect_engine(context, own, values->path, err);
    rc = model_file_load(context, &own->file, &model, err);
    if (rc < 0)
        return rc;
    settings = settings_of(own);
    if (own->display_as != NULL)
        return inspect_network(context, &own->file, &own->json, model, &settings, err);
    rc = inspect_graph(context, own, model, err);
    if (rc == 0)
        rc = inspect_model_report(context, &own->report, own->file.model.path, model, err);
    visual.ignore_external_data = settings.ignore_external_data;
    if (rc == 0)
        rc = inspect_model_visual(context, &visual, own->file.model.path, model, err);
    model_free(model);
    return rc;
}

DEFINE_COMMAND_RUN(inspect_model_run, struct inspect_model_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct inspect_model_settings, common.logging, logging_options),
    COMMAND_GROUP(struct inspect_model_settings, file.model, inspect_model_options),
    COMMAND_GROUP(struct inspect_model_settings, file.inference, shape_inference_options),
    COMMAND_GROUP(struct inspect_model_settings, file.load, onnx_load_options),
    COMMAND_GROUP(struct inspect_model_settings, file.onnxrt, onnxrt_library_options),
    COMMAND_GROUP(struct inspect_model_settings, file.bounds, onnxrt_bounds_options),
    {&inspect_model_own_options, 0},
    COMMAND_GROUP(struct inspect_model_settings, json, json_options),
    COMMAND_GROUP(struct inspect_model_settings, report, report_options),
    {&tensorflow_inspect_options, 0},
};

const struct command cmd_inspect_model = {
    .name = "model",
    .summary = "show the contents of a model or an engine",
    .description =
        "Shows inputs, outputs and the number of weights and layers; with --show also the layers, including those in "
        "loops and branches. Unknown types and shapes of tensors are omitted: add --shape-inference to infer "
        "them.\n\nFor an engine, shows the layers with their ONNX nodes, tactics, precisions and times. The layers of "
        "a TensorRT engine come from TensorRT's library, or from a file of layer information (--layer-info, or given "
        "as "
        "the model); the last line counts the layers of each precision.\n\n--json writes everything except the values "
        "of "
        "weights, independent of --show: \"inputs\", \"outputs\", \"initializers\" and \"nodes\" with their "
        "\"attributes\"; bodies of loops and branches have the same form. With --show weights, tensors also have "
        "\"values\" as one flat list.\n\nWith --ignore-external-data, weights in other files are shown with type, "
        "shape and file name only.",
    .example = "polygraphy inspect model model.onnx --show layers attrs --shape-inference\n\n# layers of the engine of "
               "--trt, with the names that --layer-precisions accepts\npolygraphy inspect model model.onnx "
               "--display-as trt --show layers",
    COMMAND_GROUPS(groups),
    .essential = "--show --layer-info --profile --list-unbounded-dds --convert-to --json --report --save-visual -v",
    COMMAND_RUN(inspect_model_run),
};
