/* debug/accuracy/untested_data.c: what the input data leave out where nothing fails: branches that they do not take,
 * bodies that do not run, and what becomes of constants that a smaller type has no number for.
 */
#include <stdlib.h>

#include "debug/accuracy/hypotheses.h"
#include "debug/accuracy/subgraph.h"
#include "format/data/file.h"
#include "tensor/values/elements.h"

#define MOST_CONSTANTS 5 /* that are listed */

void study_dismiss_error(struct study *study, const char *what)
{
    const char *sentence = study_text(study, "%s: %s", what, study->error.message);

    if (study->error.code == ERR_INTERRUPTED || study->out_of_budget)
        return;
    study->error = (struct error){0};
    study_add_not_tested(study, "%s", sentence);
}

/* Whether any element of a tensor in any iteration is 0 (false), and whether any is not. False where it is unknown. */
static bool read_truths(struct study *study, const struct feed_dicts *feeds, uint32_t value, bool *ret_zero,
                        bool *ret_other)
{
    bool ret = false;

    *ret_zero = *ret_other = false;
    for (size_t i = 0; value != VALUE_NONE && i < feeds->count; i++) {
        const struct named_tensor *item = tensor_list_find(&feeds->items[i], study->model->values.items[value].name);
        double run[ELEMENTS_RUN];

        if (item == NULL || elements_arithmetic(item->tensor.type) == ARITHMETIC_NONE)
            return false;
        ret = true;
        for (size_t first = 0; first < tensor_elements(&item->tensor); first += ELEMENTS_RUN) {
            size_t count = elements_in_run(tensor_elements(&item->tensor), first);

            elements_to_float64(&item->tensor, first, count, run);
            for (size_t k = 0; k < count; k++)
                *(run[k] == 0 ? ret_zero : ret_other) = true;
        }
    }
    return ret;
}

/* A condition or trip count that a node of the model computes, or that is an input. */
static void note_unused_body(struct study *study, const struct feed_dicts *feeds, uint32_t index)
{
    const struct node *node = &study->model->nodes.items[index];
    uint32_t value = node_input(study->model, node, 0);
    const char *label = node_label(study, index);
    bool zero, other;

    if ((!node_is(node, "If") && !node_is(node, "Loop")) || !read_truths(study, feeds, value, &zero, &other))
        return;
    if (node_is(node, "If") && zero != other)
        study_add_not_tested(study,
                             "the %s branch of '%s' (If): with these data its condition '%s' is always %s. Pass others "
                             "with --load-inputs",
                             zero ? "then" : "else", label, tensor_label(study, value), zero ? "false" : "true");
    if (node_is(node, "Loop") && zero && !other)
        study_add_not_tested(study,
                             "the body of '%s' (Loop): with these data its trip count '%s' is 0. Pass others with "
                             "--load-inputs",
                             label, tensor_label(study, value));
}

static void note_unused_bodies(struct study *study)
{
    struct feed_dicts feeds = {0};
    struct error err;

    if (data_file_add_inputs(&feeds, study->layerwise, &err) < 0) {
        study_add_not_tested(study, "which branches these data take: %s", err.message);
        return;
    }
    for (uint32_t i = 0; i < study->model->nodes.count; i++)
        if (study->model->nodes.items[i].has_subgraphs)
            note_unused_body(study, &feeds, i);
    feed_dicts_release(&feeds);
}

static bool model_has_bodies(const struct model *model)
{
    for (size_t i = 0; i < model->nodes.count; i++)
        if (model->nodes.items[i].has_subgraphs)
            return true;
    return false;
}

void study_note_unused_bodies(struct study *study)
{
    if (!study_open_model(study) || !model_has_bodies(study->model))
        return;
    if (study_make_values(study))
        note_unused_bodies(study);
    else
        study_dismiss_error(study, "which branches these data take");
}

void study_note_constants_beyond(struct study *study, const struct float_format *format)
{
    struct known_range *ranges;
    size_t count = 0;

    if (!study_open_model(study) || (ranges = study_read_ranges(study)) == NULL) {
        study_dismiss_error(study, "constants beyond the range of the type");
        return;
    }
    for (uint32_t i = 0; i < study->model->nodes.count; i++)
        for (size_t k = 0; k < node_read_count(&study->model->nodes.items[i]); k++) {
            uint32_t value = node_read(study->model, &study->model->nodes.items[i], k);

            if (value == VALUE_NONE || study->model->values.items[value].initializer == INITIALIZER_NONE ||
                !ranges[value].is_known || ranges[value].largest <= format->largest || count++ >= MOST_CONSTANTS)
                continue;
            study_add_not_tested(study,
                                 "rows that are masked whole: constant '%s' of '%s' (" TEXT_FORMAT
                                 ") reaches %.6g, an infinity in %s (max %.6g), and a Softmax of infinities alone is "
                                 "NaN. The outputs agree with these data; pass such rows with --load-inputs",
                                 tensor_label(study, value), node_label(study, i),
                                 TEXT_ARGS(study->model->nodes.items[i].op_type), ranges[value].largest, format->name,
                                 format->largest);
        }
    if (count > MOST_CONSTANTS)
        study_add_not_tested(study, "the same for %zu more constants", count - MOST_CONSTANTS);
    free(ranges);
}
