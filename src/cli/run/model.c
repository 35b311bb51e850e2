/* cli/run/model.c: see model.h. */
#include "cli/run/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/model_file.h"
#include "onnx/edit/four_bit_identity.h"
#include "onnx/edit/model.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/mark_outputs.h"

void run_model_release(struct run_model *model)
{
    model_free(model->model);
    free(model->bytes);
    free(model->folder);
    if (model->has_engine && model->program != NULL)
        trt_request_release(&model->trt);
    else if (model->has_engine)
        engine_file_release(&model->engine);
}

bool run_model_has_runner(const struct command_context *context, const struct backend *backend)
{
    const struct runner_values *runners = PARSE_VALUES(context->parse, struct runner_values);

    for (size_t i = 0; i < runners->names.count; i++)
        if (strcmp(runners->names.items[i], backend->name) == 0)
            return true;
    return false;
}

/* `idle` are options that only `runner` takes, which is not among the runners. */
static int refuse_idle(struct string_builder *idle, const struct backend *runner, struct error *err)
{
    int rc = 0;

    if (idle->size > 0)
        rc = error_set(err, ERR_INVALID,
                       "%s: nothing would come of this, since only --%s takes it and is not among the runners; add "
                       "--%s, or leave it out",
                       idle->data, runner->name, runner->name);
    string_release(idle);
    return rc;
}

int run_model_refuse_idle(const struct command_context *context, const struct option_group *const *of_engines,
                          size_t count, struct error *err)
{
    static const char *const of_onnxrt[] = {"--providers", "--provider-options", "--session-config",
                                            "--onnxrt-optimization-level", NULL};
    struct string_builder idle;

    string_init(&idle);
    for (size_t i = 0; !run_model_has_runner(context, &engine_backend) && i < count; i++)
        parse_list_given_of_group(context->parse, of_engines[i], &idle);
    if (refuse_idle(&idle, &engine_backend, err) < 0)
        return err->code;
    if (!run_model_has_runner(context, &onnxrt_backend))
        parse_list_given(context->parse, of_onnxrt, &idle);
    return refuse_idle(&idle, &onnxrt_backend, err);
}

/* How an engine is built was decided when it was, and nothing is saved of what is not built. */
static void warn_of_building(const struct command_context *context)
{
    static const char *const others[] = {
        "--trt-outputs",     "--trt-exclude-outputs", "--layer-precisions", "--tensor-dtypes",     "--strongly-typed",
        "--decide-branches", "--save-engine",         "--save-layer-info",  "--save-timing-cache", NULL};
    const struct model_values *values = PARSE_VALUES(context->parse, struct model_values);
    struct string_builder idle;

    string_init(&idle);
    parse_list_given_of_group(context->parse, &engine_config_options, &idle);
    parse_list_given(context->parse, others, &idle);
    if (idle.size > 0)
        log_message(context->log, LOG_WARNING, "'%s' is built already: %s without effect", values->path, idle.data);
    string_release(&idle);
}

static int save_products(void *data, const struct trtexec_products *products, struct error *err)
{
    const struct trt_request *request = data;

    return trt_save_products(request, products,
                             PARSE_VALUES(request->context->parse, struct engine_file_values)->save_engine, err);
}

/* Only a plan file may be an engine already; what is called one and is not must not be taken for a model. */
static int prepare_engine(struct run_model *model, struct error *err)
{
    const struct model_values *values = PARSE_VALUES(model->context->parse, struct model_values);
    int rc;

    if (values->type == MODEL_ENGINE && parse_given(model->context->parse, "--exclude-tactics"))
        return error_set(err, ERR_INVALID,
                         "--exclude-tactics: '%s' is built already, with the tactics that it has: give the ONNX model",
                         values->path);
    rc = model->program != NULL ? trt_request_init(&model->trt, model->context, model->program, err)
                                : engine_file_init(&model->engine, model->context, err);

    if (rc < 0)
        return rc;
    model->has_engine = true;
    model->trt.request.built = save_products;
    model->trt.request.data = &model->trt;
    if (values->type == MODEL_ENGINE) {
        model->engine.request.is_built = model->trt.request.is_built = true;
        warn_of_building(model->context);
    }
    return 0;
}

static bool is_changed(const struct command_context *context)
{
    const struct onnx_load_values *load = PARSE_VALUES(context->parse, struct onnx_load_values);
    const struct onnx_save_values *save = PARSE_VALUES(context->parse, struct onnx_save_values);

    return load->outputs.mark_all || load->outputs.names.count > 0 || load->exclude_outputs.count > 0 ||
           load->external_data_dir != NULL || load->fp_to_fp16 || save->path != NULL;
}

static void mark_all(struct model *model)
{
    struct subgraph whole;

    subgraph_init_whole(&whole, model);
    outputs_mark_all(&whole, NULL);
    value_list_assign(&model->outputs, &whole.outputs);
    subgraph_release(&whole);
}

/* Shape inference first, so that marked outputs get their types; it shows only in a saved model, since runtimes infer
 * shapes by themselves. */
static int change(const struct command_context *context, bool in_groups, struct model *model, struct error *err)
{
    struct model_file_options options = model_file_options(context);
    struct subgraph whole;
    int rc = 0;

    if (options.save->path != NULL)
        rc = model_file_infer(context, model, err);
    if (rc < 0)
        return rc;
    if (in_groups && !options.load->outputs.mark_all)
        mark_all(model);
    rc = model_file_mark_outputs(context, model, err);
    if (rc < 0)
        return rc;
    rc = model_file_convert_to_float16(context, model, NULL, NULL, err);
    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, model);
    rc = model_file_save(context, &whole, err);
    subgraph_release(&whole);
    if (rc < 0)
        return rc;
    rc = model_respell_four_bit_identities(model, NULL, err);
    if (rc < 0 || !in_groups)
        return rc;
    rc = model_lower_constants(model, err);
    return rc == 0 ? model_sort_nodes(model, err) : rc;
}

static int load(struct run_model *ret, const struct command_context *context, struct error *err)
{
    struct subgraph whole;
    struct model *model;
    int rc = model_file_open(context, &model, err);

    if (rc < 0)
        return rc;
    rc = change(context, ret->in_groups, model, err);
    if (rc < 0 || ret->in_groups) {
        ret->model = model;
        return rc;
    }
    subgraph_init_whole(&whole, model);
    rc = model_write_memory(&whole, &ret->bytes, &ret->size, err);
    if (rc == 0)
        ret->folder = memory_strdup(model->folder);
    subgraph_release(&whole);
    model_free(model);
    return rc;
}

int run_model_open(struct run_model *model, struct error *err)
{
    int rc = model->model == NULL ? model_file_open(model->context, &model->model, err) : 0;

    if (rc == 0)
        rc = model_lower_constants(model->model, err);
    return rc == 0 ? model_sort_nodes(model->model, err) : rc;
}

int run_model_load(void *data, struct log *log, struct backend_request *ret, struct model **ret_model,
                   struct error *err)
{
    struct run_model *model = data;
    struct command_context context = *model->context;
    int rc = 0;

    context.log = log;
    if (!model->loaded && (model->in_groups || is_changed(&context)))
        rc = load(model, &context, err);
    if (rc == 0 && !model->has_engine && run_model_has_runner(&context, &engine_backend))
        rc = prepare_engine(model, err);
    if (rc < 0)
        return rc;
    model->loaded = true;
    *ret = model_file_request(&context);
    *ret_model = model->model;
    if (model->has_engine && model->program != NULL)
        ret->own = &model->trt.request;
    else if (model->has_engine)
        ret->engine = &model->engine.request;
    if (model->bytes != NULL) {
        ret->model_data = model->bytes;
        ret->model_size = model->size;
        ret->external_folder = model->folder;
    } else if (!model->in_groups) {
        ret->model_path = model_file_options(&context).model->path;
    }
    return 0;
}
