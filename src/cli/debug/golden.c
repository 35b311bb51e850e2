/* cli/debug/golden.c: see golden.h. */
#include "cli/debug/golden.h"

#include <string.h>

#include "backend/model_io.h"
#include "cli/engine_file.h"
#include "cli/trt.h"

int golden_engine_choose(struct golden_engine *golden, struct log *log, struct hash *hash, struct error *err)
{
    int rc = trt_choose(log, NULL, TRT_RUNS, &golden->library, err);

    if (rc == 0 && golden->library != NULL)
        *hash = hash_combine(*hash, hash_bytes(golden->library->name, strlen(golden->library->name)));
    return rc;
}

static void widen_shapes(const struct shape *shape, struct tensorrt_shapes *shapes)
{
    for (size_t i = 0; i < shape->rank && i < shapes->maximum.rank; i++) {
        if (shape->dims[i] < shapes->minimum.dims[i])
            shapes->minimum.dims[i] = shape->dims[i];
        if (shape->dims[i] > shapes->maximum.dims[i])
            shapes->maximum.dims[i] = shape->dims[i];
    }
}

/* Adds the shapes of one sample to those of the inputs whose sizes are open. */
static void add_sample(struct golden_engine *golden, const struct backend_io *inputs, size_t count,
                       const struct tensor_list *feed, struct tensorrt_shapes *items)
{
    size_t *used = &golden->profile.count, known = *used, open = 0;

    for (size_t i = 0; i < count; i++) {
        const struct named_tensor *given = tensor_list_find(feed, text_of(inputs[i].name));

        if (given == NULL || (inputs[i].has_shape && shape_is_static(&inputs[i].shape)))
            continue;
        if (known > 0)
            widen_shapes(&given->tensor.shape, &items[open++]);
        else
            items[(*used)++] = (struct tensorrt_shapes){arena_strdup(&golden->arena, inputs[i].name),
                                                        given->tensor.shape, given->tensor.shape, given->tensor.shape};
    }
}

static int find_shapes(struct golden_engine *golden, const struct model *model, struct data_loader *loader,
                       struct error *err)
{
    size_t count = model->inputs.count;
    struct tensorrt_shapes *items = arena_alloc_zero(&golden->arena, count + 1, sizeof(*items));
    struct backend_io *inputs = model_io_new(model, NULL, &model->inputs);
    int rc = 0;

    golden->profile.items = items;
    for (int64_t i = 0; rc == 0 && i < data_loader_iterations(loader); i++) {
        struct tensor_list feed SCOPED(tensor_list_release) = {0};

        rc = data_loader_feed(loader, inputs, count, i, &feed, err);
        if (rc == 0)
            add_sample(golden, inputs, count, &feed, items);
    }
    model_io_free(inputs, count);
    return rc;
}

static bool has_open_sizes(const struct model *model)
{
    struct backend_io *inputs = model_io_new(model, NULL, &model->inputs);
    bool ret = false;

    for (size_t i = 0; i < model->inputs.count; i++)
        ret = ret || !inputs[i].has_shape || !shape_is_static(&inputs[i].shape);
    model_io_free(inputs, model->inputs.count);
    return ret;
}

int golden_engine_init(struct golden_engine *golden, const struct command_context *context,
                       const struct model_file_settings *file, const struct model *model, struct data_loader *loader,
                       struct error *err)
{
    int rc = 0;

    arena_init(&golden->arena);
    if (golden->library == NULL) {
        golden->backend = &engine_backend;
        golden->settings = &golden->builtin;
        return engine_file_golden(&golden->builtin, context, file, loader, err);
    }
    if (has_open_sizes(model))
        rc = find_shapes(golden, model, loader, err);
    golden->request = (struct tensorrt_request){.keeps_types = true};
    if (golden->profile.count > 0)
        golden->request.settings.profiles = (struct tensorrt_profiles){&golden->profile, 1};
    golden->backend = &tensorrt_backend;
    golden->settings = &golden->request;
    return rc;
}

void golden_engine_release(struct golden_engine *golden)
{
    engine_settings_release(&golden->builtin);
    arena_release(&golden->arena);
}
