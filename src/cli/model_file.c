/* cli/model_file.c: see model_file.h. */
#include "cli/model_file.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "backend/onnxrt/apart/backend.h"
#include "backend/type_inference.h"
#include "base/memory.h"
#include "onnx/edit/model.h"
#include "onnx/external/data.h"
#include "onnx/half/float16.h"
#include "onnx/model/mark_outputs.h"
#include "onnx/model/text.h"
#include "onnx/write/model.h"

struct backend_request model_file_request(const struct command_context *context, const struct model_file_settings *file)
{
    return (struct backend_request){.settings = &file->onnxrt.runtime, .log = context->log};
}

const struct backend *model_file_runtime(const struct model_file_settings *file)
{
    return file->bounds.apart ? &onnxrt_apart_backend : &onnxrt_backend;
}

static uint64_t file_size(const char *path)
{
    struct stat status;

    return path != NULL && stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

/* With the existing files of its weights. */
static uint64_t size_of(const struct model *model)
{
    struct text_list locations SCOPED_ITEMS = {0};
    uint64_t size = model->map.size;
    struct subgraph whole SCOPED(subgraph_release) = {0};

    subgraph_init_whole(&whole, (struct model *)model);
    if (external_data_locations(&whole, &locations, NULL) == 0)
        for (size_t i = 0; i < locations.count; i++) {
            char *path = NULL;

            if (external_data_path(model, locations.items[i], &path, NULL) == 0)
                size += file_size(path);
            free(path);
        }
    return size;
}

struct backend_request model_file_request_for(const struct command_context *context,
                                              const struct model_file_settings *file, const struct model *model)
{
    struct backend_request request = model_file_request(context, file);

    if (!file->bounds.apart)
        return request;
    request.bounds = onnxrt_apart_bounds(size_of(model), (uint64_t)file->onnxrt.max_memory);
    if (file->bounds.has_seconds)
        request.bounds.seconds = file->bounds.seconds;
    return request;
}

int model_file_report_end(const struct error *why, const char *wanted, const struct model *model, const char *without,
                          struct error *err)
{
    if (!bounded_process_is_end(why))
        return 0;
    error_set(err, ERR_BACKEND, "%s of '%s': %s. Find the node with `polygraphy check lint`, or %s", wanted,
              model->display_name, why->message, without);
    if (err != NULL)
        err->foreign_code = why->foreign_code;
    return ERR_BACKEND;
}

/* ---- Loading ---- */

int model_file_open(const struct command_context *context, const struct model_file_settings *file, struct model **ret,
                    struct error *err)
{
    log_message(context->log, LOG_INFO, "Loading model: %s", file->model.path);
    return model_open(file->model.path, file->load.external_data_dir, ret, err);
}

int model_file_infer(const struct command_context *context, const struct model_file_settings *file, struct model *model,
                     struct error *err)
{
    struct backend_request request;
    struct error why = {0};
    int rc;

    if (!file->inference.enabled)
        return 0;
    request = model_file_request_for(context, file, model);
    types_infer(model, NULL, model_file_runtime(file), &request, NULL, &why);
    rc = model_file_report_end(&why, "cannot infer the shapes", model,
                               "pass --no-onnxruntime-shape-inference to work without shapes", err);
    if (rc == 0 && why.code != 0)
        log_message(context->log, LOG_WARNING, "Shape inference is not possible: %s", why.message);
    return rc;
}

static void report_skipped(const struct model *model, const struct value_list *skipped, struct log *log)
{
    SCOPED_STRING(names);

    if (skipped->count == 0)
        return;
    for (size_t i = 0; i < skipped->count; i++)
        string_add_format(&names, "%s'" TEXT_FORMAT "'", i > 0 ? ", " : "",
                          TEXT_ARGS(model->values.items[skipped->items[i]].name));
    log_message(log, LOG_WARNING, "Not marked as outputs, because they are not tensors: [%s]", names.data);
}

int model_file_mark_outputs(const struct command_context *context, const struct model_file_settings *file,
                            struct model *model, struct error *err)
{
    const struct onnx_load_values *load = &file->load;
    struct value_list skipped SCOPED_ITEMS = {0};
    struct subgraph whole SCOPED(subgraph_release) = {0};
    int rc = 0;

    subgraph_init_whole(&whole, model);
    if (load->outputs.mark_all)
        outputs_mark_all(&whole, &skipped);
    else if (load->outputs.names.count > 0)
        rc = outputs_mark_named(&whole, load->outputs.names.items, load->outputs.names.count, err);
    report_skipped(model, &skipped, context->log);
    if (rc == 0 && load->exclude_outputs.count > 0)
        rc = outputs_exclude(&whole, load->exclude_outputs.items, load->exclude_outputs.count, err);
    if (rc < 0)
        return rc;
    if (load->output_operators.count > 0)
        rc = outputs_mark_operators(&whole, load->output_operators.items, load->output_operators.count, err);
    if (rc == 0)
        value_list_assign(&model->outputs, &whole.outputs);
    return rc;
}

struct float16_inference {
    struct log *log;
    const struct backend *runtime;
    struct backend_request request;
    struct error end; /* a crash or timeout of ONNX Runtime, after which it is not used again */
};

/* Infers the types of the main graph, or of a body, for the conversion. */
static void infer_for_float16(void *data, struct model *model, const struct subgraph *graph)
{
    struct float16_inference *inference = data;
    struct error why = {0};

    if (inference->end.code != 0 || types_infer(model, graph, inference->runtime, &inference->request, NULL, &why) == 0)
        return;
    if (bounded_process_is_end(&why))
        inference->end = why;
    else
        log_message(inference->log, LOG_WARNING, "Shape inference failed, so nodes with unknown types stay float32: %s",
                    why.message);
}

int model_file_convert_to_float16(const struct command_context *context, const struct model_file_settings *file,
                                  struct model *model, const struct words *also_keep,
                                  struct float16_outcome *ret_outcome, struct error *err)
{
    const struct onnx_load_values *load = &file->load;
    struct float16_inference inference = {.log = context->log, .runtime = model_file_runtime(file)};
    struct float16_settings settings = {
        .infer = infer_for_float16,
        .data = &inference,
        .log = context->log,
    };
    struct float16_outcome outcome;
    size_t own = load->keep_float32.count, more = also_keep != NULL ? also_keep->count : 0;
    const char **keep;
    int rc;

    if (ret_outcome != NULL)
        *ret_outcome = (struct float16_outcome){0};
    if (!load->fp_to_fp16)
        return 0;
    keep = memory_alloc_zero(own + more + 1, sizeof(*keep));
    for (size_t i = 0; i < own + more; i++)
        keep[i] = i < own ? load->keep_float32.items[i] : also_keep->items[i - own];
    settings.keep = keep;
    settings.keep_count = own + more;
    log_message(context->log, LOG_INFO, "Converting float tensors to float16");
    inference.request = model_file_request_for(context, file, model);
    rc = float16_convert(model, &settings, &outcome, err);
    if (rc == 0)
        rc = model_file_report_end(&inference.end, "cannot infer the types", model, "leave out --fp-to-fp16", err);
    if (rc == 0 && ret_outcome != NULL)
        *ret_outcome = outcome;
    else
        float16_outcome_release(&outcome);
    free(keep);
    return rc;
}

int model_file_load_keeping(const struct command_context *context, const struct model_file_settings *file,
                            const struct words *keep, struct float16_outcome *ret_outcome, struct model **ret,
                            struct error *err)
{
    struct model *model;
    int rc;

    if (ret_outcome != NULL)
        *ret_outcome = (struct float16_outcome){0};
    rc = model_file_open(context, file, &model, err);
    if (rc < 0)
        return rc;
    rc = model_file_infer(context, file, model, err);
    if (rc == 0)
        rc = model_file_mark_outputs(context, file, model, err);
    if (rc == 0)
        rc = model_file_convert_to_float16(context, file, model, keep, ret_outcome, err);
    if (rc < 0)
        model_free(model);
    else
        *ret = model;
    return rc;
}

int model_file_load(const struct command_context *context, const struct model_file_settings *file, struct model **ret,
                    struct error *err)
{
    return model_file_load_keeping(context, file, NULL, NULL, ret, err);
}

int model_file_load_original(const struct command_context *context, const struct model_file_settings *file,
                             struct model **ret, struct error *err)
{
    struct subgraph whole SCOPED(subgraph_release) = {0};
    int rc = model_file_load(context, file, ret, err);

    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, *ret);
    subgraph_log_summary(context->log, "Original Model:", &whole);
    return 0;
}

int model_file_override_shapes(const struct model_file_settings *file, struct model *model, struct error *err)
{
    const struct input_shapes *shapes = &file->model.shapes;

    VECTOR_EACH (const struct input_shape, input, *shapes) {
        struct text symbols[TENSOR_MAX_RANK];
        int rc;

        for (size_t j = 0; j < input->shape.rank; j++)
            symbols[j] = text_of(input->symbols != NULL ? input->symbols[j] : NULL);
        rc = model_override_input(model, text_of(input->name), &input->shape, symbols, err);
        if (rc < 0)
            return rc;
    }
    if (shapes->count > 0)
        model_forget_shapes(model);
    return 0;
}

/* ---- Saving ---- */

int model_file_save(const struct command_context *context, const struct model_file_settings *file,
                    const struct subgraph *subgraph, struct error *err)
{
    if (file->save.path == NULL)
        return 0;
    log_message(context->log, LOG_INFO, "Saving ONNX model to: %s", file->save.path);
    return model_save(subgraph, file->save.path, &file->save.external, file->load.ignore_external_data, err);
}

int model_file_save_new(const struct command_context *context, const struct model_file_settings *file,
                        const struct subgraph *subgraph, struct error *err)
{
    int rc = model_file_save(context, file, subgraph, err);

    if (rc == 0)
        subgraph_log_summary(context->log, "New Model:", subgraph);
    return rc;
}

int model_file_save_new_whole(const struct command_context *context, const struct model_file_settings *file,
                              struct model *model, struct error *err)
{
    struct subgraph whole SCOPED(subgraph_release) = {0};

    subgraph_init_whole(&whole, model);
    return model_file_save_new(context, file, &whole, err);
}
