/* debug/accuracy/ranges.c: see ranges.h. */
#include "debug/accuracy/ranges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "debug/accuracy/values.h"
#include "format/data/file.h"
#include "onnx/external/tensor.h"
#include "tensor/statistics/range.h"
#include "tensor/values/elements.h"

struct ranges {
    const struct model *model;
    struct known_range *items; /* of its values */
};

static void add_range(struct ranges *ranges, uint32_t value, const struct known_range *more)
{
    struct known_range *range = &ranges->items[value];

    if (!range->is_known) {
        *range = *more;
        return;
    }
    range->has_nans |= more->has_nans;
    range->has_infinities |= more->has_infinities;
    range->largest = fmax(range->largest, more->largest);
    if (range->smallest == 0 || (more->smallest > 0 && more->smallest < range->smallest))
        range->smallest = more->smallest;
    range->mean = (range->mean + more->mean) / 2; /* iterations are alike in size */
}

static void add_tensor(struct ranges *ranges, uint32_t value, const struct tensor *tensor)
{
    struct value_range range;

    enum arithmetic arithmetic = elements_arithmetic(tensor->type);

    if (arithmetic != ARITHMETIC_FLOAT32 && arithmetic != ARITHMETIC_FLOAT64)
        return;
    range_compute(tensor, &range);
    add_range(ranges, value,
              &(struct known_range){.is_known = true,
                                    .has_nans = range.nans > 0,
                                    .has_infinities = range.infinities > 0,
                                    .largest = range.largest_magnitude,
                                    .smallest = range.smallest_magnitude,
                                    .mean = NAN});
}

/* What the run with all tensors says of them. */
static void add_results(struct ranges *ranges, struct experiment *experiment)
{
    const json_t *outputs = result_find(experiment->result.root, "outputs"), *item;
    size_t i;

    json_array_foreach (outputs, i, item) {
        uint32_t value = model_find_tensor(ranges->model, text_of(result_text(experiment, item, "output")));

        if (value == VALUE_NONE || strstr(result_text(experiment, item, "dtype"), "float") == NULL)
            continue;
        add_range(ranges, value,
                  &(struct known_range){
                      .is_known = true,
                      .has_nans = result_number(experiment, item, "nans", 0) > 0,
                      .has_infinities = result_number(experiment, item, "infinities", 0) > 0,
                      .largest = result_number(experiment, item, "finite/largest_magnitude", 0),
                      .smallest = result_number(experiment, item, "finite/smallest_magnitude", 0),
                      .mean = result_number(experiment, item, "statistics/avg_magnitude", NAN),
                  });
    }
}

static int add_constants(struct ranges *ranges, struct error *err)
{
    for (size_t i = 0; i < ranges->model->initializers.count; i++) {
        const struct initializer *initializer = &ranges->model->initializers.items[i];
        struct tensor tensor;
        int rc;

        if (initializer->sparse)
            continue;
        rc = external_tensor_read(ranges->model, initializer->message, &tensor, err);
        if (rc < 0)
            return rc;
        add_tensor(ranges, initializer->value, &tensor);
        tensor_release(&tensor);
    }
    return 0;
}

static int add_inputs(struct ranges *ranges, const char *path, struct error *err)
{
    struct feed_dicts feeds = {0};
    int rc = data_file_add_inputs(&feeds, path, err);

    for (size_t i = 0; i < feeds.count; i++)
        for (size_t k = 0; k < feeds.items[i].count; k++) {
            const struct named_tensor *input = &feeds.items[i].items[k];
            uint32_t value = model_find_tensor(ranges->model, text_of(input->name));

            if (value != VALUE_NONE)
                add_tensor(ranges, value, &input->tensor);
        }
    feed_dicts_release(&feeds);
    return rc;
}

int ranges_read(struct investigation *investigation, const struct model *model, struct known_range **ret,
                struct error *err)
{
    struct ranges ranges = {.model = model};
    int rc = accuracy_make_values(investigation, err);

    *ret = NULL;
    if (rc < 0)
        return rc;
    ranges.items = memory_alloc_zero(model->values.count, sizeof(*ranges.items));
    add_results(&ranges, investigation->all_tensors);
    rc = add_constants(&ranges, err);
    if (rc == 0)
        rc = add_inputs(&ranges, investigation->whole.inputs, err);
    if (rc == 0)
        *ret = ranges.items;
    else
        free(ranges.items);
    return rc;
}
