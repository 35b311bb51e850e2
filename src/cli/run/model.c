/* cli/run/model.c: see model.h. */
#include "cli/run/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/model_file.h"
#include "onnx/edit/four_bit_identity.h"

void run_model_init(struct run_model *model, const struct command_context *context)
{
    *model = (struct run_model){.context = context};
}

void run_model_release(struct run_model *model)
{
    free(model->bytes);
    free(model->folder);
    if (model->has_engine)
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

/* How an engine is built was decided when it was. */
static void warn_of_building(const struct command_context *context)
{
    static const char *const of_networks[] = {"--trt-outputs",
                                              "--trt-exclude-outputs",
                                              "--layer-precisions",
                                              "--tensor-dtypes",
                                              "--strongly-typed",
                                              "--decide-branches",
                                              NULL};
    const struct model_values *values = PARSE_VALUES(context->parse, struct model_values);
    struct string_builder idle;

    string_init(&idle);
    parse_list_given_of_group(context->parse, &engine_config_options, &idle);
    parse_list_given(context->parse, of_networks, &idle);
    if (idle.size > 0)
        log_message(context->log, LOG_WARNING, "'%s' is built already: %s without effect", values->path, idle.data);
    string_release(&idle);
}

/* Only a plan file may be an engine already; what is called one and is not must not be taken for a model. */
static int prepare_engine(struct run_model *model, struct error *err)
{
    const struct model_values *values = PARSE_VALUES(model->context->parse, struct model_values);
    int rc = engine_file_init(&model->engine, model->context, err);

    if (rc < 0)
        return rc;
    model->has_engine = true;
    if (values->type == MODEL_ENGINE) {
        model->engine.request.builder = NULL;
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

/* Shape inference first, so that marked outputs get their types; it shows only in a saved model, since runtimes infer
 * shapes by themselves. */
static int load(struct run_model *ret, struct error *err)
{
    const struct onnx_save_values *save = PARSE_VALUES(ret->context->parse, struct onnx_save_values);
    struct subgraph whole;
    struct model *model;
    int rc = model_file_open(ret->context, &model, err);

    if (rc < 0)
        return rc;
    if (save->path != NULL)
        rc = model_file_infer(ret->context, model, err);
    if (rc == 0)
        rc = model_file_mark_outputs(ret->context, model, err);
    if (rc == 0)
        rc = model_file_convert_to_float16(ret->context, model, NULL, err);
    subgraph_init_whole(&whole, model);
    if (rc == 0)
        rc = model_file_save(ret->context, &whole, err);
    subgraph_release(&whole);
    if (rc == 0)
        rc = model_respell_four_bit_identities(model, NULL, err);
    subgraph_init_whole(&whole, model);
    if (rc == 0)
        rc = model_write_memory(&whole, &ret->bytes, &ret->size, err);
    if (rc == 0)
        ret->folder = memory_strdup(model->folder);
    subgraph_release(&whole);
    model_free(model);
    return rc;
}

int run_model_prepare(void *data, struct backend_request *ret, struct error *err)
{
    struct run_model *model = data;
    const struct model_values *values = PARSE_VALUES(model->context->parse, struct model_values);

    int rc = 0;

    if (!model->loaded && is_changed(model->context))
        rc = load(model, err);
    if (rc == 0 && !model->has_engine && run_model_has_runner(model->context, &engine_backend))
        rc = prepare_engine(model, err);
    if (rc < 0)
        return rc;
    model->loaded = true;
    *ret = model_file_request(model->context);
    if (model->has_engine)
        ret->engine = &model->engine.request;
    if (model->bytes == NULL) {
        ret->model_path = values->path;
    } else {
        ret->model_data = model->bytes;
        ret->model_size = model->size;
        ret->external_folder = model->folder;
    }
    return 0;
}
