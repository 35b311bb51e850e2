/* engine/onednn/attempt.c: describing a layer to oneDNN. See onednn.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/onednn/onednn.h"

void onednn_attempt_init(struct onednn_attempt *attempt, const struct onednn *onednn,
                         const struct kernel_request *request)
{
    memset(attempt, 0, sizeof(*attempt));
    attempt->onednn = onednn;
    attempt->request = request;
}

/* Resets the description of the last set_single_operation(). */
static void attempt_clear(struct onednn_attempt *attempt)
{
    for (size_t i = 0; i < attempt->arguments.count; i++)
        free(attempt->arguments.items[i].owned_values);
    attempt->arguments.count = 0;
    free(attempt->computation.sources);
    free(attempt->computation.post_ops.items);
    memset(&attempt->computation, 0, sizeof(attempt->computation));
    attempt->output_known = attempt->output_fixed = attempt->fused = attempt->adds_tensor = false;
}

void onednn_attempt_release(struct onednn_attempt *attempt)
{
    attempt_clear(attempt);
    free(attempt->arguments.items);
    memset(attempt, 0, sizeof(*attempt));
}

static bool set_single_operation(struct onednn_attempt *attempt, const struct onednn_operation *operation)
{
    const struct layer *layer = attempt->request->layer;

    attempt_clear(attempt);
    /* all operations need the first input */
    return onednn_has_input(attempt, 0) && operation->describe(attempt) && attempt->output_known &&
           (layer->fused.count == 0 || attempt->fused);
}

struct implementation_visit {
    struct onednn_attempt *attempt;
    const struct onednn_operation *operation;
    bool (*visit)(void *context, struct onednn_attempt *attempt, const struct dnnl_primitive_desc *descriptor,
                  const char *implementation);
    void *context;
};

static bool visit_implementation(void *context, const struct dnnl_primitive_desc *descriptor)
{
    const struct implementation_visit *visit = context;
    const struct onednn_operation *operation = visit->operation;
    const char *name;

    if (visit->attempt->onednn->primitive_desc_query(descriptor, ONEDNN_QUERY_IMPL_INFO_STR, 0, &name) !=
            ONEDNN_SUCCESS ||
        (operation->accepts && !operation->accepts(visit->attempt, name)))
        return true;
    return visit->visit(visit->context, visit->attempt, descriptor, name);
}

void onednn_attempt_each(struct onednn_attempt *attempt, const struct onednn_operation *operation,
                         bool (*visit)(void *context, struct onednn_attempt *attempt,
                                       const struct dnnl_primitive_desc *descriptor, const char *implementation),
                         void *context)
{
    struct implementation_visit implementation = {attempt, operation, visit, context};

    if (set_single_operation(attempt, operation))
        onednn_computation_each(attempt->onednn, &attempt->computation, visit_implementation, &implementation);
}

/* ---- layouts ---- */

/* "acdb", "aBcd16b". */
static void spatial_layout(size_t rank, enum onednn_layouts choice, struct layout *ret)
{
    bool last = choice == ONEDNN_LAYOUTS_CHANNELS_LAST;
    char dimensions[ONEDNN_MAX_RANK + 1] = {'a'};
    size_t count = 1;

    if (!last)
        dimensions[count++] = 'B';
    for (size_t i = 2; i < rank; i++)
        dimensions[count++] = (char)('a' + (int)i);
    dimensions[count] = '\0';
    snprintf(ret->text, sizeof(ret->text), "%s%s", dimensions,
             last                               ? "b"
             : choice == ONEDNN_LAYOUTS_BLOCKED ? "16b"
                                                : "8b");
}

/* The descriptor of a tensor whose layout oneDNN chooses. */
static bool open_memory(const struct shape *shape, struct onednn_memory_desc *ret)
{
    if (!onednn_memory_of(&(struct layout){""}, shape, ret))
        return false;
    ret->kind = ONEDNN_MEMORY_OPEN;
    return true;
}

/* The descriptor in the layout being tried. `as_is`: the layout for ONEDNN_LAYOUTS_AS_IS; NULL: oneDNN chooses. */
static bool tried_memory(const struct onednn_attempt *attempt, const struct shape *shape, const struct layout *as_is,
                         struct onednn_memory_desc *ret)
{
    struct layout layout = {""};

    switch (attempt->layouts) {
    case ONEDNN_LAYOUTS_ANY:
        return open_memory(shape, ret);
    case ONEDNN_LAYOUTS_AS_IS:
        return as_is ? onednn_memory_of(as_is, shape, ret) : open_memory(shape, ret);
    case ONEDNN_LAYOUTS_PLAIN:
        break;
    case ONEDNN_LAYOUTS_CHANNELS_LAST:
    case ONEDNN_LAYOUTS_BLOCKED:
    case ONEDNN_LAYOUTS_BLOCKED_8:
        if (shape->rank < 3 || shape->rank > ONEDNN_MAX_RANK)
            return false;
        spatial_layout(shape->rank, attempt->layouts, &layout);
        break;
    }
    return onednn_memory_of(&layout, shape, ret);
}

/* ---- inputs ---- */

bool onednn_has_input(const struct onednn_attempt *attempt, size_t position)
{
    return position < attempt->request->layer->inputs.count && attempt->request->inputs[position].present;
}

static const struct kernel_input *float_input(const struct onednn_attempt *attempt, size_t position)
{
    const struct kernel_input *input = &attempt->request->inputs[position];

    return onednn_has_input(attempt, position) && input->type == DATA_FLOAT32 ? input : NULL;
}

static struct onednn_argument *add_attempt_argument(struct onednn_attempt *attempt, enum onednn_use use, int arg,
                                                    size_t position)
{
    struct onednn_argument *argument = VECTOR_APPEND(&attempt->arguments);

    memset(argument, 0, sizeof(*argument));
    argument->use = use;
    argument->arg = arg;
    argument->position = position;
    return argument;
}

/* Adds a constant with the descriptor `given`, to be packed as `wanted`. */
static void add_constant_argument(struct onednn_attempt *attempt, size_t position, int arg,
                                  const struct onednn_memory_desc *given)
{
    struct onednn_argument *argument = add_attempt_argument(attempt, ONEDNN_FROM_CONSTANT, arg, position);

    argument->given = *given;
    argument->values = attempt->request->inputs[position].constant;
}

bool onednn_use_input(struct onednn_attempt *attempt, size_t position, int arg, struct onednn_memory_desc *ret)
{
    const struct kernel_input *input = float_input(attempt, position);
    struct onednn_memory_desc given;

    if (!input)
        return false;
    if (input->constant) {
        if (!onednn_memory_of(&(struct layout){""}, &input->shape, &given) || !open_memory(&input->shape, ret))
            return false;
        add_constant_argument(attempt, position, arg, &given);
        return true;
    }
    add_attempt_argument(attempt, ONEDNN_FROM_INPUT, arg, position);
    if (attempt->tactic)
        return onednn_memory_of(&attempt->tactic->input_layouts[position], &input->shape, ret);
    return tried_memory(attempt, &input->shape, &input->layout, ret);
}

bool onednn_use_input_in(struct onednn_attempt *attempt, size_t position, int arg, const char *layout,
                         struct onednn_memory_desc *ret)
{
    const struct kernel_input *input = float_input(attempt, position);
    struct layout wanted = {""};
    struct onednn_memory_desc given;

    if (!input || strlen(layout) >= sizeof(wanted.text))
        return false;
    snprintf(wanted.text, sizeof(wanted.text), "%s", layout);
    if (!onednn_memory_of(&wanted, &input->shape, ret) ||
        !onednn_memory_of(&(struct layout){""}, &input->shape, &given))
        return false;
    if (input->constant)
        add_constant_argument(attempt, position, arg, &given);
    else
        add_attempt_argument(attempt, ONEDNN_FROM_INPUT, arg, position);
    return true;
}

static bool view_memory(const struct onednn_view *view, struct onednn_memory_desc *ret)
{
    struct shape shape = {.rank = view->rank};

    if (view->rank == 0 || view->rank > ONEDNN_MAX_RANK)
        return false;
    memcpy(shape.dims, view->dims, view->rank * sizeof(*view->dims));
    if (!onednn_memory_of(&(struct layout){""}, &shape, ret))
        return false;
    if (view->strides) {
        ret->kind = ONEDNN_MEMORY_STRIDES;
        memcpy(ret->strides, view->strides, view->rank * sizeof(*view->strides));
    }
    return true;
}

bool onednn_use_view(struct onednn_attempt *attempt, size_t position, int arg, const struct onednn_view *view,
                     struct onednn_memory_desc *ret)
{
    const struct kernel_input *input = float_input(attempt, position);
    struct onednn_argument *argument;

    if (!input || !view_memory(view, ret))
        return false;
    if (input->constant) {
        add_constant_argument(attempt, position, arg, ret);
        if (view->pack)
            ret->kind = ONEDNN_MEMORY_OPEN;
        return true;
    }
    argument = add_attempt_argument(attempt, ONEDNN_FROM_INPUT, arg, position);
    argument->fixed = true;
    argument->given = *ret;
    return true;
}

bool onednn_use_values(struct onednn_attempt *attempt, int arg, const struct onednn_view *view, float *values,
                       struct onednn_memory_desc *ret)
{
    struct onednn_argument *argument = add_attempt_argument(attempt, ONEDNN_FROM_CONSTANT, arg, 0);

    argument->values = argument->owned_values = values;
    if (!view_memory(view, ret))
        return false;
    argument->given = *ret;
    if (view->pack)
        ret->kind = ONEDNN_MEMORY_OPEN;
    return true;
}

/* ---- the output ---- */

/* Adds the layer's only output, once. A model that declares another type than float32 is wrong, and the caller has
 * allocated memory for that type. */
static bool add_output_argument(struct onednn_attempt *attempt, int arg, const struct shape *shape)
{
    const struct layer *layer = attempt->request->layer;
    enum data_type type;

    if (attempt->output_known || layer->outputs.count == 0 || layer->outputs.items[0] == VALUE_NONE)
        return false;
    for (size_t i = 1; i < layer->outputs.count; i++) {
        if (layer->outputs.items[i] != VALUE_NONE)
            return false;
    }
    type = network_type(attempt->request->network, layer->outputs.items[0]);
    if (type != DATA_FLOAT32 && type != DATA_UNDEFINED)
        return false;
    add_attempt_argument(attempt, ONEDNN_TO_OUTPUT, arg, 0);
    attempt->output_shape = *shape;
    attempt->output_known = true;
    return true;
}

static bool output_as(struct onednn_attempt *attempt, int arg, const struct shape *shape, const struct layout *as_is,
                      struct onednn_memory_desc *ret)
{
    if (!add_output_argument(attempt, arg, shape))
        return false;
    if (attempt->tactic ? !onednn_memory_of(&attempt->tactic->output_layouts[0], shape, ret)
                        : !tried_memory(attempt, shape, as_is, ret))
        return false;
    attempt->output = *ret;
    return true;
}

bool onednn_use_output(struct onednn_attempt *attempt, int arg, const struct shape *shape,
                       struct onednn_memory_desc *ret)
{
    return output_as(attempt, arg, shape, NULL, ret);
}

bool onednn_use_output_like(struct onednn_attempt *attempt, int arg, const struct shape *shape, size_t position,
                            struct onednn_memory_desc *ret)
{
    return output_as(attempt, arg, shape, &attempt->request->inputs[position].layout, ret);
}

bool onednn_use_output_view(struct onednn_attempt *attempt, int arg, const struct shape *shape,
                            const struct onednn_view *view, struct onednn_memory_desc *ret)
{
    if (!add_output_argument(attempt, arg, shape) || !view_memory(view, ret))
        return false;
    attempt->arguments.items[attempt->arguments.count - 1].fixed = true;
    attempt->arguments.items[attempt->arguments.count - 1].given = *ret;
    attempt->output = *ret;
    attempt->output_fixed = true;
    return true;
}

/* ---- layouts required by oneDNN ---- */

static const struct dnnl_memory_desc *wanted_memory(const struct onednn_attempt *attempt,
                                                    const struct dnnl_primitive_desc *descriptor, int arg)
{
    return attempt->onednn->primitive_desc_query_md(descriptor, ONEDNN_QUERY_EXEC_ARG_MD, arg);
}

/* The required layout of one argument. Fixed arguments must be accepted in their layout. */
static bool argument_layout(const struct onednn_attempt *attempt, const struct dnnl_primitive_desc *descriptor,
                            const struct onednn_argument *argument, struct layout *ret)
{
    const struct dnnl_memory_desc *memory = wanted_memory(attempt, descriptor, argument->arg);

    if (!argument->fixed)
        return onednn_layout_of(attempt->onednn, memory, ret);
    ret->text[0] = '\0';
    return memory && onednn_memory_equal(attempt->onednn, &argument->given, memory);
}

bool onednn_attempt_layouts(const struct onednn_attempt *attempt, const struct dnnl_primitive_desc *descriptor,
                            struct layout *ret_inputs, struct layout *ret_output)
{
    const struct onednn_argument *arguments = attempt->arguments.items;

    ARRAY_EACH (const struct onednn_argument, argument, arguments, attempt->arguments.count) {
        const struct dnnl_memory_desc *memory;

        switch (argument->use) {
        case ONEDNN_FROM_INPUT:
            if (!argument_layout(attempt, descriptor, argument, &ret_inputs[argument->position]))
                return false;
            break;
        case ONEDNN_TO_OUTPUT:
            if (!argument_layout(attempt, descriptor, argument, ret_output))
                return false;
            break;
        case ONEDNN_FROM_CONSTANT:
            memory = wanted_memory(attempt, descriptor, argument->arg);
            if (!memory || attempt->onednn->memory_desc_get_size(memory) == 0)
                return false;
            break;
        case ONEDNN_ADDED_TO:
            break;
        }
    }
    for (size_t i = 0; i < attempt->arguments.count; i++) {
        if (arguments[i].use == ONEDNN_ADDED_TO)
            ret_inputs[arguments[i].position] = *ret_output;
    }
    return true;
}
