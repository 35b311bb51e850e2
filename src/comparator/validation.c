/* comparator/validation.c: see validation.h. */
#include "comparator/validation.h"

#include "comparator/name_list.h"
#include "tensor/validate.h"

static void log_finding(struct log *log, const char *what, const char *kind, const struct tensor *tensor, size_t count,
                        size_t first)
{
    struct shape position;
    struct string_builder text;

    if (count == 0)
        return;
    shape_position(&tensor->shape, first, &position);
    string_init(&text);
    shape_to_text(&position, &text);
    log_message(log, LOG_ERROR, "%s Detected | %zu of %zu values are %s, the first one at %s", what, count,
                tensor_elements(tensor), kind, text.data);
    string_release(&text);
}

bool validation_output(const struct named_tensor *output, struct log *log)
{
    struct validation found;
    bool valid;

    log_message(log, LOG_START, "Validating output: %s (check_inf=True, check_nan=True)", output->name);
    tensor_validate(&output->tensor, &found);
    valid = found.nans == 0 && found.infinities == 0;
    log_indent(log, 1);
    log_finding(log, "NaN", "NaN", &output->tensor, found.nans, found.first_nan);
    log_finding(log, "Inf", "infinite", &output->tensor, found.infinities, found.first_infinity);
    if (valid)
        log_message(log, LOG_FINISH, "PASSED | Output: %s is valid", output->name);
    else
        log_message(log, LOG_ERROR, "FAILED | Errors detected in output: %s", output->name);
    log_indent(log, -1);
    return valid;
}

void validation_log_runner(struct log *log, const char *runner, size_t bad, const char *first_bad)
{
    /* With all tensors marked as outputs, that is where the trouble began. */
    if (bad > 1)
        log_message(log, LOG_ERROR, "%s: errors in %zu outputs, first of all in: %s", runner, bad, first_bad);
}

bool validation_runner(const struct runner_results *runner, struct log *log)
{
    const char *first_bad = NULL;
    size_t bad = 0;

    for (size_t i = 0; i < runner->count; i++) {
        const struct tensor_list *outputs = &runner->items[i].outputs;

        if (runner->count > 1)
            log_message(log, LOG_START, "%s | Iteration: %zu", runner->name, i);
        log_indent(log, runner->count > 1);
        for (size_t k = 0; k < outputs->count; k++) {
            if (validation_output(&outputs->items[k], log))
                continue;
            first_bad = bad++ == 0 ? outputs->items[k].name : first_bad;
        }
        log_indent(log, -(runner->count > 1));
    }
    validation_log_runner(log, runner->name, bad, first_bad);
    return bad == 0;
}

bool validation_run(const struct run_results *results, struct log *log)
{
    struct string_builder names;
    bool valid = true;

    string_init(&names);
    for (size_t i = 0; i < results->count; i++)
        name_list_add(&names, results->items[i].name);
    log_message(log, LOG_START, "Output Validation | Runners: [%s]", names.data);
    string_release(&names);
    log_indent(log, 1);
    for (size_t i = 0; i < results->count; i++)
        valid &= validation_runner(&results->items[i], log);
    if (valid)
        log_message(log, LOG_FINISH, "PASSED | Output Validation");
    else
        log_message(log, LOG_ERROR, "FAILED | Output Validation");
    log_indent(log, -1);
    return valid;
}
