/* comparator/data/model_inputs.c: see model_inputs.h. */
#include "comparator/data/model_inputs.h"

#include <stdlib.h>

#include "base/memory.h"

struct backend_io *model_inputs_new(const struct subgraph *whole)
{
    struct backend_io *inputs = memory_alloc_zero(whole->inputs.count + 1, sizeof(*inputs));

    for (size_t i = 0; i < whole->inputs.count; i++) {
        const struct value *value = &whole->model->values.items[whole->inputs.items[i]];
        struct value_type type;

        subgraph_type(whole, whole->inputs.items[i], &type);
        inputs[i].name = memory_copy(value->name.data, value->name.size);
        inputs[i].type = type.element;
        inputs[i].not_a_tensor = type.not_a_tensor;
        inputs[i].has_shape = type.has_shape;
        inputs[i].shape = type.shape;
        inputs[i].symbols = memory_alloc_zero(type.shape.rank + 1, sizeof(char *));
        for (size_t j = 0; j < type.shape.rank; j++)
            if (type.shape.dims[j] < 0 && type.symbols[j].size > 0)
                inputs[i].symbols[j] = memory_copy(type.symbols[j].data, type.symbols[j].size);
    }
    return inputs;
}

void model_inputs_free(struct backend_io *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < inputs[i].shape.rank; j++)
            free(inputs[i].symbols[j]);
        free(inputs[i].symbols);
        free(inputs[i].name);
    }
    free(inputs);
}
