/* cli/run/junit.c: see junit.h. */
#include "cli/run/junit.h"

#include <math.h>
#include <string.h>

#include "base/text/number.h"
#include "cli/options/groups.h"
#include "tensor/values/elements.h"

static void add_rounded_number(struct string_builder *out, const char *before, double value)
{
    char number[NUMBER_TEXT_SIZE];

    string_add_format(out, "%s%s", before, number_to_text_rounded(value, 'g', 9, number));
}

static void add_element_value(struct string_builder *out, const char *before, const struct element_value *value)
{
    if (value->text != NULL)
        string_add_format(out, "%s%s", before, value->text);
    else if (elements_arithmetic(value->type) != ARITHMETIC_INTEGER)
        add_rounded_number(out, before, value->number);
    else if (data_type_is_signed(value->type))
        string_add_format(out, "%s%lld", before, (long long)value->integer);
    else
        string_add_format(out, "%s%llu", before, (unsigned long long)value->integer);
}

static void add_position(struct string_builder *out, const struct shape *shape, size_t element)
{
    struct shape position;

    shape_position(shape, element, &position);
    shape_to_text(&position, out);
}

/* "5 of 10 elements differ, first at (0, 3): 1.5, where the other has 2.5". */
static void add_first_bad(struct string_builder *out, const struct compared_record *record)
{
    string_add_format(out, "%zu of %zu elements differ", record->differences.mismatches, record->differences.elements);
    if (record->differences.mismatches == 0)
        return;
    string_add(out, ", first at ");
    add_position(out, &record->first.shape, record->first_bad.element);
    add_element_value(out, ": ", &record->first_bad.first);
    add_element_value(out, ", where the other has ", &record->first_bad.second);
}

static void add_differences(struct string_builder *out, const struct compared_record *record)
{
    const struct compare_result *differences = &record->differences;

    add_rounded_number(out, "largest error ", differences->absolute.maximum);
    add_rounded_number(out, " absolute, ", differences->relative.maximum);
    add_rounded_number(out, " relative; allowed: ", differences->atol);
    add_rounded_number(out, " absolute, ", record->criteria.simple.rtol);
    string_add_format(out, " relative (%s); ", compare_statistic_name(record->criteria.simple.statistic));
    add_first_bad(out, record);
}

static void add_metrics(struct string_builder *out, const struct compared_record *record)
{
    static const char *const words[COMPARISON_FUNCTIONS] = {
        [COMPARISON_L2] = "L2 norm of the difference ",
        [COMPARISON_COSINE_SIMILARITY] = "cosine similarity ",
        [COMPARISON_PSNR] = "PSNR in dB: ",
        [COMPARISON_SNR] = "SNR in dB: ",
        [COMPARISON_NMSE] = "normalized mean squared error ",
        [COMPARISON_TOKENS] = "share of tokens that differ ",
        [COMPARISON_KL] = "KL divergence in nats: ",
        [COMPARISON_TOPK] = "least overlap of the k best of a row ",
        [COMPARISON_SSIM] = "SSIM ",
        [COMPARISON_DETECTIONS] = "share of detections that differ ",
    };
    enum comparison_function function = record->function;

    add_rounded_number(out, words[function], record->differences.metric);
    add_rounded_number(out, comparison_limit_is_minimum(function) ? ", min required " : ", tolerance ",
                       record->criteria.limits[function]);
}

/* What it came to, in one sentence. */
static void describe_comparison(struct string_builder *out, const struct compared_record *record)
{
    if (record->differences.shape_mismatch) {
        string_add(out, "the shapes ");
        shape_to_text(&record->first.shape, out);
        string_add(out, " and ");
        shape_to_text(&record->second.shape, out);
        string_add(out, " do not go together");
    } else if (record->function == COMPARISON_INDICES) {
        string_add_format(out, "rankings %s, %zu places being allowed", record->passed ? "match" : "differ",
                          record->criteria.index_tolerance);
    } else if (record->function != COMPARISON_SIMPLE &&
               (record->has_metrics || comparison_function_requirement(record->function) != NULL)) {
        add_metrics(out, record);
    } else if (record->has_differences && record->differences.elements > 0) {
        add_differences(out, record);
    } else {
        string_add(out, record->passed ? "the outputs match" : "the outputs differ");
    }
}

static void add_comparison(struct junit *junit, const struct compared_record *record)
{
    struct text first = junit_runner(record->first.runner), second = junit_runner(record->second.runner);
    SCOPED_STRING(name);
    SCOPED_STRING(message);

    string_add(&name, record->first.name);
    if (strcmp(record->first.name, record->second.name) != 0)
        string_add_format(&name, " and %s", record->second.name);
    string_add_format(&name, ": " TEXT_FORMAT " against " TEXT_FORMAT ", iteration %zu", TEXT_ARGS(first),
                      TEXT_ARGS(second), record->iteration);
    if (record->function != COMPARISON_SIMPLE)
        string_add_format(&name, ", %s", comparison_function_label(record->function));
    describe_comparison(&message, record);
    junit_add_case(
        junit, &(struct junit_case){.name = name.data,
                                    .outcome = record->passed ? JUNIT_PASSED : JUNIT_FAILED,
                                    .message = message.data,
                                    .details = record->passed ? (struct text){message.data, message.size} : TEXT(""),
                                    .seconds = NAN});
}

static void add_validation(struct junit *junit, const struct validated_record *record)
{
    const struct validation *found = &record->found;
    bool passed = found->nans == 0 && found->infinities == 0;
    struct text runner = junit_runner(record->runner);
    SCOPED_STRING(name);
    SCOPED_STRING(message);

    string_add_format(&name, "%s: numbers of " TEXT_FORMAT ", iteration %zu", record->output, TEXT_ARGS(runner),
                      record->iteration);
    string_add_format(&message, "%zu NaN and %zu infinities among %zu elements, the first one at ", found->nans,
                      found->infinities, shape_elements(&record->shape));
    if (!passed)
        add_position(&message, &record->shape,
                     found->nans == 0                           ? found->first_infinity
                     : found->infinities == 0                   ? found->first_nan
                     : found->first_nan < found->first_infinity ? found->first_nan
                                                                : found->first_infinity);
    junit_add_case(junit, &(struct junit_case){.name = name.data,
                                               .outcome = passed ? JUNIT_PASSED : JUNIT_FAILED,
                                               .message = message.data,
                                               .seconds = NAN});
}

static void add_output_case(struct junit *junit, const struct described_output *output)
{
    struct text runner = junit_runner(output->runner);
    SCOPED_STRING(name);
    SCOPED_STRING(details);

    string_add_format(&name, "%s: computed by " TEXT_FORMAT ", iteration %zu", output->name, TEXT_ARGS(runner),
                      output->iteration);
    string_add_format(&details, "%s, ", data_type_name(output->type));
    shape_to_text(&output->shape, &details);
    string_add(&details, "; compared with nothing");
    junit_add_case(junit, &(struct junit_case){.name = name.data,
                                               .outcome = JUNIT_PASSED,
                                               .details = {details.data, details.size},
                                               .seconds = NAN});
}

void run_junit_fill(struct junit *junit, const struct run_report *results)
{
    if (junit == NULL)
        return;
    for (size_t i = 0; i < results->comparison_count; i++)
        add_comparison(junit, &results->comparisons[i]);
    for (size_t i = 0; i < results->validation_count; i++)
        add_validation(junit, &results->validations[i]);
    for (size_t i = 0; i < results->output_count && results->validation_count == 0; i++)
        add_output_case(junit, &results->outputs[i]);
}
