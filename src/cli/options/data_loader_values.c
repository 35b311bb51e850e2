/* cli/options/data_loader_values.c: see data_loader_values.h. */
#include "cli/options/data_loader_values.h"

#include "base/container/arena.h"
#include "cli/options/groups.h"
#include "debug/check/check.h"

static void set_shapes(struct arena *arena, const struct input_shapes *from, struct data_loader_settings *settings)
{
    struct data_loader_shape *shapes = arena_alloc_zero(arena, from->count + 1, sizeof(*shapes));

    for (size_t i = 0; i < from->count; i++)
        shapes[i] = (struct data_loader_shape){from->items[i].name, from->items[i].shape};
    settings->shapes = shapes;
    settings->shape_count = from->count;
}

static int make(const struct command_context *context, const struct model_values *model, bool from_files,
                struct data_loader **ret, struct error *err)
{
    const struct data_loader_values *values = PARSE_VALUES(context->parse, struct data_loader_values);
    struct arena *arena = (struct arena *)&context->parse->arena;
    struct data_loader_settings *settings = arena_alloc(arena, sizeof(*settings));

    *settings = (struct data_loader_settings){
        .seed = (uint32_t)values->seed,
        .iterations = values->iterations,
        .has_integer_range = values->has_integer_range,
        .has_float_range = values->has_float_range,
        .integer_minimum = (double)values->int_min,
        .integer_maximum = (double)values->int_max,
        .float_minimum = values->float_min,
        .float_maximum = values->float_max,
        .ranges = values->ranges.items,
        .range_count = values->ranges.count,
        .files = values->load_inputs.items,
        .file_count = from_files ? values->load_inputs.count : 0,
        .by_name = check_is_around_us(),
    };
    if (settings->by_name)
        settings->advice = "give the data of all inputs; for parts of a model, --iter-inputs of `debug reduce "
                           "--mode minimal` writes a file that has them, for --load-inputs here";
    set_shapes(arena, &model->shapes, settings);
    return data_loader_new(settings, context->log, ret, err);
}

int data_loader_from_options(const struct command_context *context, const struct model_values *model,
                             struct data_loader **ret, struct error *err)
{
    return make(context, model, true, ret, err);
}

int data_loader_to_generate(const struct command_context *context, const struct model_values *model,
                            struct data_loader **ret, struct error *err)
{
    return make(context, model, false, ret, err);
}
