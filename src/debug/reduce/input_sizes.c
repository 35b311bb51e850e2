/* debug/reduce/input_sizes.c: see input_sizes.h. */
#include "debug/reduce/input_sizes.h"

#include <stdlib.h>

#include "base/container/name_map.h"
#include "base/memory.h"
#include "base/system.h"
#include "onnx/edit/model.h"

#define LONGEST_SEARCH 60                /* seconds */
#define LARGEST_INPUT ((size_t)16 << 20) /* elements */

static const int64_t tried_sizes[] = {2, 8, 16, 64, 224, 512};

/* Whether a tensor has dynamic dimensions; false without a known rank. */
static bool is_open(const struct value_type *type)
{
    return type->not_a_tensor == NULL && type->has_shape && !shape_is_static(&type->shape);
}

bool input_sizes_are_open(const struct subgraph *subgraph)
{
    for (size_t i = 0; i < subgraph->inputs.count; i++) {
        struct value_type type;

        subgraph_type(subgraph, subgraph->inputs.items[i], &type);
        if (is_open(&type))
            return true;
    }
    return false;
}

/* Lists names of first dimensions of inputs with several dimensions. */
static void list_batches(const struct subgraph *subgraph, struct name_map *ret)
{
    for (size_t i = 0; i < subgraph->inputs.count; i++) {
        struct value_type type;

        subgraph_type(subgraph, subgraph->inputs.items[i], &type);
        if (is_open(&type) && type.shape.rank > 1 && type.shape.dims[0] < 0)
            name_map_add(ret, type.symbols[0], 0);
    }
}

static void fill_sizes(const struct name_map *batches, struct value_type *type, int64_t size, bool batch_too)
{
    for (size_t i = 0; i < type->shape.rank; i++) {
        bool batch = type->symbols[i].size > 0 ? name_map_find(batches, type->symbols[i]) != NAME_MAP_NONE
                                               : i == 0 && type->shape.rank > 1;

        if (type->shape.dims[i] < 0)
            type->shape.dims[i] = batch && !batch_too ? 1 : size;
    }
}

struct search {
    const struct sandbox *sandbox;
    const struct subgraph *subgraph;
    struct arena *names;
    struct input_sizes *sizes;
};

/* Sets the dynamic dimensions in the copy of the model. False if the inputs become too large. */
static bool set_sizes(const struct search *search, struct model *copy, int64_t size, bool batch_too)
{
    const struct subgraph *subgraph = search->subgraph;
    SCOPED_NAME_MAP(batches);
    bool fits = true;

    list_batches(subgraph, &batches);
    search->sizes->count = 0;
    for (size_t i = 0; i < subgraph->inputs.count; i++) {
        uint32_t value = subgraph->inputs.items[i];
        struct value_type type;

        subgraph_type(subgraph, value, &type);
        if (!is_open(&type))
            continue;
        fill_sizes(&batches, &type, size, batch_too);
        fits &= shape_elements(&type.shape) <= LARGEST_INPUT;
        model_set_type(copy, value, &type);
        *VECTOR_APPEND(search->sizes) = (struct data_loader_shape){
            arena_text(search->names, subgraph->model->values.items[value].name), type.shape};
    }
    return fits;
}

static int try_sizes(const struct search *search, int64_t size, bool batch_too, enum soundness *ret,
                     struct error *ret_why, struct error *err)
{
    struct model *model = model_copy(search->subgraph->model);
    struct subgraph copy = *search->subgraph; /* shares all but the model */
    int rc = 0;

    *ret = SOUND_TO_LOAD;
    copy.model = model;
    if (set_sizes(search, model, size, batch_too)) {
        model_forget_shapes(model);
        rc = model_soundness(search->sandbox, &copy, false, ret, ret_why, err);
    }
    model_free(model);
    return rc;
}

int input_sizes_find(const struct sandbox *sandbox, const struct subgraph *subgraph, struct arena *names,
                     struct input_sizes *ret, struct error *err)
{
    const struct search search = {sandbox, subgraph, names, ret};
    double start = stopwatch_now();
    enum soundness soundness;
    int rc;

    *ret = (struct input_sizes){.outcome = INPUT_SIZES_FIT};
    if (!input_sizes_are_open(subgraph))
        return 0;
    rc = try_sizes(&search, 1, true, &soundness, &ret->why, err);
    if (rc < 0 || soundness > SOUND_TO_LOAD)
        return rc;
    ret->outcome = soundness == SOUND_NOT_AT_ALL ? INPUT_SIZES_UNKNOWN : INPUT_SIZES_NONE;
    for (size_t i = 0; ret->outcome == INPUT_SIZES_NONE && i < 2 * ARRAY_LEN(tried_sizes); i++) {
        if (stopwatch_now() - start > LONGEST_SEARCH)
            break;
        rc = try_sizes(&search, tried_sizes[i / 2], i % 2 == 1, &soundness, NULL, err);
        if (rc < 0)
            return rc;
        if (soundness > SOUND_TO_LOAD)
            ret->outcome = INPUT_SIZES_FOUND;
    }
    return 0;
}

void input_sizes_release(struct input_sizes *sizes)
{
    free(sizes->items);
    *sizes = (struct input_sizes){0};
}
