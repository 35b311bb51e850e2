/* debug/accuracy/value_range.c: see hypotheses.h. */
#include "debug/accuracy/hypotheses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "debug/accuracy/subgraph.h"
#include "format/data/file.h"
#include "onnx/external/tensor.h"
#include "tensor/statistics/range.h"
#include "tensor/values/elements.h"

/* ---- Ranges ---- */

static void widen_range(struct known_range *range, const struct known_range *more)
{
    if (!range->is_known) {
        *range = *more;
        return;
    }
    range->has_nans |= more->has_nans;
    range->has_infinities |= more->has_infinities;
    range->largest = fmax(range->largest, more->largest);
    if (range->smallest == 0 || (more->smallest > 0 && more->smallest < range->smallest))
        range->smallest = more->smallest;
}

static void add_tensor_range(struct known_range *ret, const struct tensor *tensor)
{
    enum arithmetic arithmetic = elements_arithmetic(tensor->type);
    struct value_range range;

    if (arithmetic != ARITHMETIC_FLOAT32 && arithmetic != ARITHMETIC_FLOAT64)
        return;
    range_compute(tensor, &range);
    widen_range(ret, &(struct known_range){.is_known = true,
                                           .has_nans = range.nans > 0,
                                           .has_infinities = range.infinities > 0,
                                           .largest = range.largest_magnitude,
                                           .smallest = range.smallest_magnitude});
}

/* Those that the run with all tensors has reported. */
static void add_reported_ranges(struct study *study, struct known_range *ranges)
{
    struct study_step *step = study->all_tensors;
    const json_t *item;
    size_t i;

    json_array_foreach (result_find(step->result.root, "outputs"), i, item) {
        uint32_t value = model_find_tensor(study->model, text_of(result_text(step, item, "output")));

        if (value == VALUE_NONE || strstr(result_text(step, item, "dtype"), "float") == NULL)
            continue;
        widen_range(&ranges[value],
                    &(struct known_range){.is_known = true,
                                          .has_nans = result_number(step, item, "nans", 0) > 0,
                                          .has_infinities = result_number(step, item, "infinities", 0) > 0,
                                          .largest = result_number(step, item, "finite/largest_magnitude", 0),
                                          .smallest = result_number(step, item, "finite/smallest_magnitude", 0)});
    }
}

static int add_constant_ranges(const struct model *model, struct known_range *ranges, struct error *err)
{
    VECTOR_EACH (const struct initializer, initializer, model->initializers) {
        struct tensor tensor;
        int rc;

        if (initializer->sparse)
            continue;
        rc = external_tensor_read(model, initializer->message, &tensor, err);
        if (rc < 0)
            return rc;
        add_tensor_range(&ranges[initializer->value], &tensor);
        tensor_release(&tensor);
    }
    return 0;
}

static int add_input_ranges(const struct study *study, struct known_range *ranges, struct error *err)
{
    struct feed_dicts feeds = {0};
    int rc = data_file_add_inputs(&feeds, study->whole.inputs, err);

    for (size_t i = 0; i < feeds.count; i++)
        VECTOR_EACH (const struct named_tensor, input, feeds.items[i]) {
            uint32_t value = model_find_tensor(study->model, text_of(input->name));

            if (value != VALUE_NONE)
                add_tensor_range(&ranges[value], &input->tensor);
        }
    feed_dicts_release(&feeds);
    return rc;
}

struct known_range *study_read_ranges(struct study *study)
{
    struct known_range *ret;

    if (!study_make_values(study))
        return NULL;
    ret = memory_alloc_zero(study->model->values.count, sizeof(*ret));
    add_reported_ranges(study, ret);
    if (add_constant_ranges(study->model, ret, &study->error) == 0 && add_input_ranges(study, ret, &study->error) == 0)
        return ret;
    free(ret);
    return NULL;
}

/* ---- What does not fit ---- */

const struct float_format format_float16 = {"float16", 65504, 0x1p-14, 0x1p-25};
const struct float_format format_bfloat16 = {"bfloat16", 0x1.fep127, 0x1p-126, 0x1p-134};

static enum range_error range_error_of(const struct float_format *format, const struct known_range *range)
{
    if (format == NULL || !range->is_known || range->largest == 0)
        return FITS;
    if (range->largest > format->largest)
        return IS_TOO_LARGE;
    if (range->largest <= format->flushed)
        return IS_FLUSHED;
    if (range->largest < format->smallest_normal)
        return IS_SUBNORMAL;
    return range->smallest <= format->flushed ? HAS_TINY : FITS;
}

enum range_error range_error_at_node(const struct float_format *format, const struct model *model,
                                     const struct known_range *ranges, uint32_t index, uint32_t *ret_value)
{
    const struct node *node = &model->nodes.items[index];
    enum range_error ret = FITS;

    for (size_t i = 0; i < node->outputs.count + node_read_count(node); i++) {
        uint32_t value = i < node->outputs.count ? model_edge(model, node->outputs, i)
                                                 : node_read(model, node, i - node->outputs.count);
        enum range_error error = value != VALUE_NONE ? range_error_of(format, &ranges[value]) : FITS;

        if (error > ret) {
            ret = error;
            *ret_value = value;
        }
    }
    return ret;
}

const char *describe_range_error(struct study *study, const struct float_format *format,
                                 const struct known_range *range, uint32_t value, uint32_t node, enum range_error error)
{
    const struct model *model = study->model;
    bool is_constant = model->values.items[value].initializer != INITIALIZER_NONE;
    bool is_output = model->values.items[value].producer == node;
    const char *at_most = range->largest == range->smallest ? "" : "at most ";
    const char *where = study_text(study, "%s %s in '%s' (" TEXT_FORMAT "): %s '%s'", format->name,
                                   error == IS_TOO_LARGE ? "overflow" : "underflow", node_label(study, node),
                                   TEXT_ARGS(model->nodes.items[node].op_type),
                                   is_constant ? "constant"
                                   : is_output ? "output"
                                               : "input",
                                   tensor_label(study, value));

    if (error == IS_TOO_LARGE)
        return study_text(study, "%s reaches %.6g (max %.6g)", where, range->largest, format->largest);
    if (error == IS_FLUSHED)
        return study_text(study, "%s is %s%.3g, which becomes 0", where, at_most, range->largest);
    if (error == IS_SUBNORMAL)
        return study_text(study, "%s is %s%.3g, which has reduced precision below %.3g", where, at_most, range->largest,
                          format->smallest_normal);
    return study_text(study, "%s has values down to %.3g, which become 0", where, range->smallest);
}
