/* comparator/compare/validation.c: see validation.h. */
#include "comparator/compare/validation.h"

#include "base/text/number.h"
#include "tensor/compare/validate.h"

static void log_finding(struct log *log, const char *what, const char *kind, const struct tensor *tensor, size_t count,
                        size_t first)
{
    struct shape position;
    SCOPED_STRING(text);

    if (count == 0)
        return;
    shape_position(&tensor->shape, first, &position);
    shape_to_text(&position, &text);
    log_message(log, LOG_ERROR, "%s Detected | %zu of %zu values are %s, the first one at %s", what, count,
                tensor_elements(tensor), kind, text.data);
}

void validation_log_excess(struct log *log, const struct tensor *output, const struct tensor *reference)
{
    char number[NUMBER_TEXT_SIZE];
    SCOPED_STRING(text);
    struct shape position;
    struct excess excess;

    tensor_find_excess(output, reference, &excess);
    if (excess.count == 0)
        return;
    shape_position(&output->shape, excess.first, &position);
    string_add_format(&text, "%zu of %zu values are infinite or NaN where the reference has numbers, the first one at ",
                      excess.count, tensor_elements(output));
    shape_to_text(&position, &text);
    string_add_format(&text, ": the reference has %s there", number_to_text_rounded(excess.reference, 'g', 6, number));
    if (excess.limited_type != DATA_UNDEFINED)
        string_add_format(&text, "; %s ends at %s", data_type_name(excess.limited_type),
                          number_to_text_rounded(data_type_limit(excess.limited_type), 'g', 6, number));
    log_message(log, LOG_ERROR, "%s", text.data);
}

bool validation_output(const char *label, const struct named_tensor *output, const struct tensor *reference,
                       struct log *log)
{
    struct validation found;
    bool valid;

    log_message(log, LOG_START, "%sValidating output: %s (check_inf=True, check_nan=True)", label, output->name);
    tensor_validate(&output->tensor, &found);
    valid = found.nans == 0 && found.infinities == 0;
    log_indent(log, 1);
    log_finding(log, "NaN", "NaN", &output->tensor, found.nans, found.first_nan);
    log_finding(log, "Inf", "infinite", &output->tensor, found.infinities, found.first_infinity);
    if (!valid && reference != NULL)
        validation_log_excess(log, &output->tensor, reference);
    if (valid)
        log_message(log, LOG_FINISH, "PASSED | Output: %s is valid", output->name);
    else
        log_message(log, LOG_ERROR, "FAILED | Errors detected in output: %s", output->name);
    log_indent(log, -1);
    return valid;
}

void validation_log_runner(struct log *log, const char *runner, size_t bad, const char *first_bad)
{
    /* If all tensors are outputs, this is the origin of the problem. */
    if (bad > 1)
        log_message(log, LOG_ERROR, "%s: errors in %zu outputs, first of all in: %s", runner, bad, first_bad);
}

const struct tensor *validation_reference(const struct run_results *results, size_t runner, size_t iteration,
                                          const struct named_tensor *output)
{
    for (size_t k = 1; k < results->count; k++) {
        const struct runner_results *other = &results->items[(runner + k) % results->count];
        const struct named_tensor *same;

        if (iteration >= other->count)
            continue;
        same = tensor_list_find(&other->items[iteration].outputs, text_of(output->name));
        if (same != NULL && same->tensor.data != NULL && shape_equal(&same->tensor.shape, &output->tensor.shape))
            return &same->tensor;
    }
    return NULL;
}

bool validation_runner(const struct run_results *results, size_t index, struct log *log)
{
    const struct runner_results *runner = &results->items[index];
    const char *first_bad = NULL;
    size_t bad = 0;
    SCOPED_STRING(label);

    string_add_format(&label, "%-35s | ", runner->name);
    for (size_t i = 0; i < runner->count; i++) {
        const struct tensor_list *outputs = &runner->items[i].outputs;

        if (runner->count > 1)
            log_message(log, LOG_START, "%s | Iteration: %zu", runner->name, i);
        log_indent(log, runner->count > 1);
        for (size_t k = 0; k < outputs->count; k++) {
            const struct tensor *reference = validation_reference(results, index, i, &outputs->items[k]);

            if (validation_output(label.data, &outputs->items[k], reference, log))
                continue;
            first_bad = bad++ == 0 ? outputs->items[k].name : first_bad;
        }
        log_indent(log, -(runner->count > 1));
    }
    validation_log_runner(log, runner->name, bad, first_bad);
    return bad == 0;
}
