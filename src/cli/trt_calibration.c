/* cli/trt_calibration.c: see trt_calibration.h. */
#include "cli/trt_calibration.h"

#include <sys/stat.h>

#include "backend/model_io.h"
#include "backend/tensorrt/backend.h"
#include "base/memory.h"
#include "cli/options/groups.h"

static int open_loader(const struct command_context *context, const struct builder_settings *builder,
                       const struct model_file_settings *model, struct data_loader **ret, struct error *err)
{
    size_t count = builder->profile_count > 0 ? builder->profile_sizes[0] : 0;
    struct input_shape *shapes SCOPED_FREE = memory_alloc_zero(count + 1, sizeof(*shapes));
    struct model_file_settings sample = *model;

    for (size_t i = 0; i < count; i++)
        shapes[i] =
            (struct input_shape){.name = builder->profiles[0][i].name, .shape = builder->profiles[0][i].optimum};
    if (count > 0)
        sample.model.shapes = (struct input_shapes){shapes, count};
    return data_loader_from_options(context, &sample, NULL, ret, err);
}

static int load_samples(struct data_loader *loader, const struct model *model, struct tensorrt_samples *ret,
                        struct error *err)
{
    struct backend_io *inputs = model_io_new(model, NULL, &model->inputs);
    int64_t count = data_loader_iterations(loader);
    int rc = 0;

    for (int64_t i = 0; rc == 0 && i < count; i++) {
        struct tensor_list feed SCOPED(tensor_list_release) = {0};

        rc = data_loader_feed(loader, inputs, model->inputs.count, i, &feed, err);
        for (size_t k = 0; rc == 0 && k < feed.count; k++) {
            tensor_list_add(&ret->tensors, text_of(feed.items[k].name), &feed.items[k].tensor);
            feed.items[k].tensor = (struct tensor){0};
        }
    }
    model_io_free(inputs, model->inputs.count);
    ret->count = (size_t)count;
    ret->are_generated = data_loader_generates(loader);
    return rc;
}

static int make_samples(struct trt_calibration *calibration, const struct command_context *context,
                        const struct builder_settings *builder, const struct model_file_settings *file,
                        struct error *err)
{
    const struct backend_model source = {.path = file->model.path};
    struct model *model = NULL;
    int rc = model_io_open(&source, &model, err);

    if (rc == 0)
        rc = open_loader(context, builder, file, &calibration->loader, err);
    if (rc == 0)
        rc = load_samples(calibration->loader, model, &calibration->samples, err);
    model_free(model);
    return rc;
}

static bool has_calibration(void)
{
    const struct tensorrt_description *library;

    return tensorrt_find(NULL, &library, NULL) == 0 && !library->is_rtx && library->major < 11;
}

int trt_calibration_init(struct trt_calibration *calibration, const struct command_context *context,
                         const struct engine_values *values, const struct model_file_settings *model,
                         struct tensorrt_settings *settings, struct error *err)
{
    static const enum tensorrt_calibration_algorithm algorithms[] = {
        [CALIBRATION_ENTROPY] = TENSORRT_ENTROPY_CALIBRATION_2,
        [CALIBRATION_FIRST_ENTROPY] = TENSORRT_ENTROPY_CALIBRATION,
        [CALIBRATION_MINMAX] = TENSORRT_MINMAX_CALIBRATION,
        [CALIBRATION_PERCENTILE] = TENSORRT_LEGACY_CALIBRATION};
    struct stat status;

    settings->calibration_algorithm = algorithms[values->calibration_method];
    settings->calibration_quantile = values->quantile;
    settings->calibration_cache = NULL;
    if (!parse_given(context->parse, "--regression-cutoff"))
        settings->regression_cutoff = 0.5;
    if (!settings->int8 || settings->strongly_typed || !has_calibration() || model->model.type == MODEL_ENGINE ||
        calibration->loader != NULL)
        return 0;
    if (values->calibration_cache != NULL && stat(values->calibration_cache, &status) == 0 && status.st_size > 0) {
        log_message(context->log, LOG_INFO, "Reading calibration cache from %s", values->calibration_cache);
        settings->calibration_cache = values->calibration_cache;
        return 0;
    }
    settings->samples = &calibration->samples;
    return make_samples(calibration, context, &values->request.builder, model, err);
}

void trt_calibration_release(struct trt_calibration *calibration)
{
    tensor_list_release(&calibration->samples.tensors);
    data_loader_free(calibration->loader);
}
