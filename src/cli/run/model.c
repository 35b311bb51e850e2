/* cli/run/model.c: see model.h. */
#include "cli/run/model.h"

#include <stdlib.h>
#include <string.h>

#include "backend/model_io.h"
#include "base/memory.h"
#include "cli/model_file.h"
#include "cli/options/runners/disabled.h"
#include "debug/check/words.h"
#include "onnx/edit/four_bit_identity.h"
#include "onnx/edit/model.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/mark_outputs.h"

static bool is_builtin(const struct run_model *model)
{
    return model->library == NULL;
}

void run_model_release(struct run_model *model)
{
    model_free(model->model);
    free(model->bytes);
    free(model->folder);
    if (model->has_engine && !is_builtin(model))
        trt_request_release(&model->trt);
    else if (model->has_engine)
        engine_file_release(&model->engine);
}

bool run_model_has_runner(const struct runner_values *runners, const struct backend *backend)
{
    return text_is_one_of(text_of(backend->name), runners->names.items, runners->names.count);
}

/* Refuses `idle`: options that only `runner` reads, which is not among the runners. */
static int refuse_idle(struct string_builder *idle, const struct backend *runner, struct error *err)
{
    int rc = 0;

    if (idle->size > 0)
        rc =
            error_set(err, ERR_INVALID,
                      "%s has no effect without --%s, the only runner that reads it; add --%s, or leave out the option",
                      idle->data, runner->name, runner->name);
    string_release(idle);
    return rc;
}

int run_model_refuse_idle(const struct command_context *context, const struct runner_values *runners,
                          const struct option_group *const *of_engines, size_t count, struct error *err)
{
    static const char *const of_onnxrt[] = {
        "--providers",      "--provider-options",          "--onnxrt-provider-library",
        "--session-config", "--onnxrt-optimization-level", NULL};
    struct string_builder idle;

    string_init(&idle);
    for (size_t i = 0; !run_model_has_runner(runners, &engine_backend) && i < count; i++)
        parse_list_given_of_group(context->parse, of_engines[i], &idle);
    if (refuse_idle(&idle, &engine_backend, err) < 0)
        return err->code;
    if (!run_model_has_runner(runners, &onnxrt_backend))
        parse_list_given(context->parse, of_onnxrt, &idle);
    return refuse_idle(&idle, &onnxrt_backend, err);
}

/* Build options have no effect on a finished engine, and nothing of its build can be saved. */
static void warn_of_building(const struct command_context *context, const char *path)
{
    static const char *const others[] = {
        "--trt-outputs",     "--trt-exclude-outputs", "--layer-precisions", "--tensor-dtypes",     "--strongly-typed",
        "--decide-branches", "--save-engine",         "--save-layer-info",  "--save-timing-cache", NULL};
    SCOPED_STRING(idle);

    parse_list_given_of_group(context->parse, &engine_config_options, &idle);
    parse_list_given(context->parse, others, &idle);
    if (idle.size > 0)
        log_message(context->log, LOG_WARNING, "'%s' is already an engine: %s has no effect", path, idle.data);
}

static int save_products(void *data, const struct tensorrt_products *products, struct error *err)
{
    const struct trt_request *request = data;

    return trt_save_products(request, products, request->values->save_engine, err);
}

/* Refuses build options that would change results, for a finished engine. */
static int refuse_choices(const struct run_model *model, struct error *err)
{
    static const char *const choices[] = {"--exclude-tactics", "--disable-fusions", "--disable-foldings",
                                          "--plain-layouts"};
    const struct engine_settings *request = &model->settings->engine.request;
    const char *path = model->settings->file.model.path;

    for (size_t i = 0; i < ARRAY_LEN(choices); i++)
        if (parse_given(model->context->parse, choices[i]))
            return error_set(err, ERR_INVALID, "%s cannot change '%s', which is already an engine: pass the ONNX model",
                             choices[i], path);
    if (is_builtin(model) &&
        (request->network.disabled.count + request->builder.sources_off.count > 0 || request->builder.plain_layouts))
        return error_set(err, ERR_INVALID,
                         CHECK_DISABLED_VARIABLE
                         " names optimizations of an engine build, but '%s' is already an engine: pass the ONNX model",
                         path);
    return 0;
}

/* Only a plan file is an engine; a file with an engine's extension and other contents is refused rather than read as a
 * model. */
static int prepare_engine(struct run_model *model, struct error *err)
{
    const struct model_values *values = &model->settings->file.model;
    int rc;

    rc = values->type == MODEL_ENGINE ? refuse_choices(model, err) : 0;
    if (rc < 0)
        return rc;
    rc = !is_builtin(model)
             ? trt_request_init(&model->trt, model->context, &model->settings->engine, &model->settings->file, err)
             : engine_file_init(&model->engine, model->context, &model->settings->engine, &model->settings->file, err);

    if (rc < 0)
        return rc;
    model->has_engine = true;
    model->trt.request.built = save_products;
    model->trt.request.data = &model->trt;
    if (values->type == MODEL_ENGINE) {
        if (!is_builtin(model) && model->trt.request.settings.build_route.count > 0)
            log_message(model->context->log, LOG_WARNING,
                        "'%s' is already an engine: knobs of TensorRT's compiler have no effect", values->path);
        model->engine.request.is_built = model->trt.request.is_built = true;
        warn_of_building(model->context, values->path);
    }
    return 0;
}

static bool is_changed(const struct run_model *model)
{
    const struct onnx_load_values *load = &model->settings->file.load;
    const struct onnx_save_values *save = &model->settings->file.save;

    return load->outputs.mark_all || load->outputs.names.count > 0 || load->output_operators.count > 0 ||
           load->exclude_outputs.count > 0 || load->external_data_dir != NULL || load->fp_to_fp16 ||
           save->path != NULL || model->barriers.count > 0;
}

/* ---- Tensors across which fusion is prevented ---- */

static bool is_listed(const struct output_names *outputs, const char *name)
{
    for (size_t i = 0; i < outputs->names.count; i++)
        if (strcmp(outputs->names.items[i], name) == 0 ||
            text_matches_pattern(text_of(name), text_of(outputs->names.items[i])))
            return true;
    return outputs->mark_all;
}

/* Those that are not outputs of the model are not in the results, unless --trt-outputs names them. */
static void hide_outputs(struct run_model *ret, const struct model *model, const struct value_list *added)
{
    struct arena *arena = parse_arena((struct parse *)ret->context->parse);
    const struct output_names *of_engine = &ret->settings->engine.request.network.outputs;
    const char **names = arena_alloc_zero(arena, added->count + 1, sizeof(*names));
    size_t count = 0;

    for (size_t i = 0; i < added->count; i++) {
        const char *name = arena_text(arena, model->values.items[added->items[i]].name);

        if (!is_listed(of_engine, name))
            names[count++] = name;
    }
    ret->hidden = (struct words){.items = names, .count = count};
}

/* In groups every tensor is an output of its group: it is sufficient that the tensors exist. */
static int add_barriers(struct run_model *ret, struct model *model, struct error *err)
{
    struct value_list added SCOPED_ITEMS = {0};
    struct subgraph whole SCOPED(subgraph_release) = {0};
    int rc;

    if (ret->barriers.count == 0)
        return 0;
    subgraph_init_whole(&whole, model);
    rc = outputs_add_barriers(&whole, ret->barriers, &added, err);
    if (rc < 0)
        error_context(err, CHECK_DISABLED_VARIABLE);
    if (rc == 0 && !ret->in_groups) {
        value_list_assign(&model->outputs, &whole.outputs);
        hide_outputs(ret, model, &added);
        log_message(ret->context->log, LOG_VERBOSE,
                    "%zu tensor%s inside the model marked as outputs to prevent fusion across them; not in the results "
                    "unless requested",
                    added.count, added.count == 1 ? "" : "s");
    }
    return rc;
}

/* ---- Loading ---- */

static void mark_all_outputs(struct model *model)
{
    struct subgraph whole SCOPED(subgraph_release) = {0};

    subgraph_init_whole(&whole, model);
    outputs_mark_all(&whole, NULL);
    value_list_assign(&model->outputs, &whole.outputs);
}

/* Shape inference first, so that marked outputs get their types. It affects only a saved model, because runtimes infer
 * shapes themselves. */
static int change_model(const struct command_context *context, const struct model_file_settings *file, bool in_groups,
                        struct model *model, struct error *err)
{
    struct subgraph whole;
    int rc = 0;

    if (file->save.path != NULL)
        rc = model_file_infer(context, file, model, err);
    if (rc < 0)
        return rc;
    if (in_groups && !file->load.outputs.mark_all)
        mark_all_outputs(model);
    rc = model_file_mark_outputs(context, file, model, err);
    if (rc < 0)
        return rc;
    rc = model_file_convert_to_float16(context, file, model, NULL, NULL, err);
    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, model);
    rc = model_file_save(context, file, &whole, err);
    subgraph_release(&whole);
    if (rc < 0)
        return rc;
    rc = model_respell_four_bit_identities(model, NULL, err);
    if (rc < 0 || !in_groups)
        return rc;
    rc = model_lower_constants(model, err);
    return rc == 0 ? model_sort_nodes(model, err) : rc;
}

static int load_run_model(struct run_model *ret, const struct command_context *context, struct error *err)
{
    struct model *model;
    int rc = model_file_open(context, &ret->settings->file, &model, err);

    if (rc < 0)
        return rc;
    rc = change_model(context, &ret->settings->file, ret->in_groups, model, err);
    if (rc == 0)
        rc = add_barriers(ret, model, err);
    if (rc < 0 || ret->in_groups) {
        ret->model = model;
        return rc;
    }
    rc = model_io_write(model, &ret->bytes, &ret->changed, err);
    if (rc == 0)
        ret->changed.external_folder = ret->folder = memory_strdup(model->folder);
    model_free(model);
    return rc;
}

int run_model_open(struct run_model *model, struct error *err)
{
    int rc = model->model == NULL ? model_file_open(model->context, &model->settings->file, &model->model, err) : 0;

    if (rc == 0)
        rc = model_lower_constants(model->model, err);
    return rc == 0 ? model_sort_nodes(model->model, err) : rc;
}

/* For a finished engine neither the model's outputs nor its tensors are known: it must contain all barriers, also those
 * with NAME_MAY_MISS. */
static struct words barriers_of_engine(struct arena *arena, struct words barriers)
{
    const char **names = arena_alloc_zero(arena, barriers.count + 1, sizeof(*names));

    for (size_t i = 0; i < barriers.count; i++)
        names[i] = barriers.items[i] + (*barriers.items[i] == NAME_MAY_MISS);
    return (struct words){.items = names, .count = barriers.count};
}

/* Prepares the model once, at the first request. */
static int prepare_model(struct run_model *model, const struct command_context *context, struct error *err)
{
    struct parse *parse = (struct parse *)context->parse;
    int rc = disabled_names_read(parse, BARRIER_KIND, &model->barriers, err);

    if (rc < 0)
        return rc;
    if (model->settings->file.model.type == MODEL_ENGINE)
        model->hidden = barriers_of_engine(parse_arena(parse), model->barriers);
    else if (model->in_groups || is_changed(model))
        rc = load_run_model(model, context, err);
    if (rc < 0)
        return rc;
    model->loaded = true;
    return 0;
}

int run_model_load(void *data, struct log *log, struct backend_request *ret, struct model **ret_model,
                   struct error *err)
{
    struct run_model *model = data;
    struct command_context context = *model->context;
    int rc = 0;

    context.log = log;
    if (!model->loaded)
        rc = prepare_model(model, &context, err);
    if (rc == 0 && !model->has_engine && run_model_has_runner(&model->settings->runners, &engine_backend))
        rc = prepare_engine(model, err);
    if (rc < 0)
        return rc;
    *ret = model_file_request(&context, &model->settings->file);
    ret->hidden_outputs = model->hidden;
    *ret_model = model->in_groups ? model->model : NULL;
    if (model->bytes != NULL)
        ret->model = model->changed;
    else if (!model->in_groups)
        ret->model.path = model->settings->file.model.path;
    return 0;
}
