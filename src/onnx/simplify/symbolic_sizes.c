/* onnx/simplify/symbolic_sizes.c: see symbolic_sizes.h. */
#include "onnx/simplify/symbolic_sizes.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onnx/inputs/pass.h"

static void add_input_sizes(struct symbolic_sizes *sizes, struct name_map *names, uint32_t value)
{
    struct fact *fact = &sizes->pass.facts[value];
    struct dimension dims[TENSOR_MAX_RANK];
    struct value_type type;

    value_info_decode(sizes->pass.model->values.items[value].info, &type);
    if (type.not_a_tensor != NULL || !type.has_shape)
        return;
    for (size_t i = 0; i < type.shape.rank; i++) {
        uint32_t variable = NAME_MAP_NONE;

        if (type.shape.dims[i] >= 0) {
            dims[i] = dimension_constant(type.shape.dims[i]);
            continue;
        }
        if (type.symbols[i].size > 0)
            variable = name_map_find(names, type.symbols[i]);
        if (variable == NAME_MAP_NONE) {
            variable = dimension_system_add(&sizes->system);
            if (type.symbols[i].size > 0)
                name_map_add(names, type.symbols[i], variable);
        }
        dims[i] = dimension_variable(variable);
    }
    fact->has_shape = true;
    fact->rank = type.shape.rank;
    fact->dims = pass_copy(&sizes->pass, dims, type.shape.rank);
}

void symbolic_sizes_init(struct symbolic_sizes *sizes, const struct model *model)
{
    SCOPED_NAME_MAP(names);

    *sizes = (struct symbolic_sizes){.arena = {0}};
    sizes->pass = (struct pass){.model = model, .system = &sizes->system, .arena = &sizes->arena, .proves = true};
    sizes->pass.facts = memory_alloc_zero(model->values.count + 1, sizeof(*sizes->pass.facts));
    pass_add_initializers(&sizes->pass);
    for (size_t i = 0; i < model->values.count; i++) {
        if (model->values.items[i].info_of_input) /* a constant that is an input, too, is only its default */
            sizes->pass.facts[i] = (struct fact){.has_shape = false};
        sizes->pass.facts[i].input = VALUE_NONE;
    }
    for (size_t i = 0; i < model->inputs.count; i++)
        add_input_sizes(sizes, &names, model->inputs.items[i]);
    pass_run(&sizes->pass);
}

void symbolic_sizes_release(struct symbolic_sizes *sizes)
{
    free(sizes->pass.facts);
    dimension_system_release(&sizes->system);
    arena_release(&sizes->arena);
}

bool symbolic_sizes_equal(const struct symbolic_sizes *sizes, const struct fact *a, const struct fact *b)
{
    if (!a->has_shape || !b->has_shape || a->rank != b->rank)
        return false;
    for (size_t i = 0; i < a->rank; i++)
        if (!dimension_is_same(&sizes->system, a->dims[i], b->dims[i]))
            return false;
    return true;
}
