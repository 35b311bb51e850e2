/* cli/debug/quantization/notes.c: what is remarkable about a table of quantizers, line by line, see result.h. */
#include "cli/debug/quantization/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/names.h"
#include "base/text/string_builder.h"
#include "debug/quantization/scales.h"
#include "onnx/quantizer/fault_words.h"

/* Threshold for removed activations: a share of clipped values that rounding alone does not cause. */
#define CUT_OFF 0.01

/* Threshold for unused ranges: more than for one-sided values in a signed type. */
#define UNUSED 0.55

#define MOST_NAMES 5 /* in a sentence */

static const struct quantizer *quantizer_of(const struct quantization_report *result,
                                            const struct quantization_row *row)
{
    return &result->subject->quantizers.items[row->quantizer];
}

/* ---- Own noise ---- */

/* Threshold above the median of the role. */
#define OWN_NOISE 10 /* dB */
#define FEW 4        /* no median for fewer quantizers of a role */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Median of the ratios in the own tensors of a role; NAN with fewer than FEW. */
static double usual_ratio(const struct quantization_report *result, enum quantizer_role role)
{
    double *ratios SCOPED_FREE = memory_alloc_zero(result->table->count + 1, sizeof(*ratios));
    size_t count = 0;

    ARRAY_EACH (const struct quantization_row, row, result->table->rows, result->table->count)
        if (quantizer_of(result, row)->role == role && row->tensor.why_not == NULL &&
            !isnan(row->tensor.measures.signal_to_noise))
            ratios[count++] = row->tensor.measures.signal_to_noise;
    qsort(ratios, count, sizeof(*ratios), compare_numbers);
    return count >= FEW ? ratios[count / 2] : NAN;
}

/* Quantizers with far more noise in their own tensor than others of their role, independent of the outputs. Biases are
 * excluded: their 32-bit steps are arbitrarily fine. */
static void note_noisy(const struct quantization_report *result, struct result *ret)
{
    const double usual[] = {[QUANTIZER_ACTIVATION] = usual_ratio(result, QUANTIZER_ACTIVATION),
                            [QUANTIZER_WEIGHT] = usual_ratio(result, QUANTIZER_WEIGHT),
                            [QUANTIZER_BIAS] = usual_ratio(result, QUANTIZER_BIAS)};
    SCOPED_STRING(text);
    struct short_list list = {.text = &text, .most = MOST_NAMES};

    ARRAY_EACH (const struct quantization_row, row, result->table->rows, result->table->count) {
        const struct quantizer *quantizer = quantizer_of(result, row);

        if (row->tensor.why_not != NULL || quantizer->role == QUANTIZER_BIAS ||
            !(row->tensor.measures.signal_to_noise < usual[quantizer->role] - OWN_NOISE))
            continue;
        if (!short_list_next(&list))
            continue;
        string_add_quoted(&text, quantizer->name);
        string_add(&text, " (");
        result_add_decibels(row->tensor.measures.signal_to_noise, "%.1f dB", &text);
        if (row->tensor.measures.clipped > CUT_OFF)
            string_add_format(&text, ", %.0f%% clipped", 100 * row->tensor.measures.clipped);
        if (row->tensor.measures.unused > UNUSED)
            string_add_format(&text, ", %.0f%% of the range not used", 100 * row->tensor.measures.unused);
        string_add(&text, ")");
    }
    short_list_end(&list);
    if (list.count > 0)
        result_add_line(ret, RESULT_NOTE, "Far more noise in %s than other quantizers of %s role: %s",
                        list.count == 1 ? "its own tensor" : "their own tensors", list.count == 1 ? "its" : "their",
                        text.data);
}

/* ---- What sums it up ---- */

/* Number of quantizers that cause nine tenths of the noise measured one by one, and their share. */
static size_t find_main(const struct quantization_table *table, double *ret_share)
{
    const struct quantization_row *measured = &table->rows[table->crashed];
    size_t count = 0, most = table->switched - table->crashed;
    double sum = 0, part = 0;

    for (size_t i = 0; i < most; i++)
        sum += measured[i].alone_noise;
    if (!(sum > 0) || isinf(sum))
        return 0;
    while (count < most && part < 0.9 * sum)
        part += measured[count++].alone_noise;
    *ret_share = part / sum;
    return count;
}

static void note_main(const struct quantization_report *result, struct result *ret)
{
    double share;
    size_t count = find_main(result->table, &share);
    SCOPED_STRING(names);
    struct short_list list = {.text = &names, .most = MOST_NAMES};

    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        short_list_add(&list, quantizer_of(result, &result->table->rows[result->table->crashed + i])->name);
    short_list_end(&list);
    result_add_line(ret, RESULT_NOTE,
                    "%.0f%% of the noise with only one quantizer enabled is that of %zu of %zu quantizers: %s",
                    100 * share, count, result->table->switched - result->table->crashed, names.data);
}

/* Warns if figures of an output may not be about quantization. */
static void note_output(const struct quantization_report *result, const struct quantization_output *output,
                        struct result *ret)
{
    SCOPED_STRING(text);

    result_add_decibels(output->simulation, "%.1f dB", &text);
    if (quantization_is_far(output->again, output->quantized)) {
        string_clear(&text);
        result_add_decibels(output->again, "%.1f dB", &text);
        result_add_line(ret, RESULT_CAUTION,
                        "Output '%s' is not reproducible: %s between two runs with the same data and all quantizers "
                        "disabled. The figures of this output are not significant",
                        output->name, text.data);
    } else if (quantization_is_far(output->simulation, output->quantized) && !isnan(output->bias_kept) &&
               !quantization_is_far(output->bias_kept, output->quantized)) {
        result_add_line(ret, RESULT_CAUTION,
                        "Output '%s': ONNX Runtime quantizes a layer's float weight or bias: its kernels differ from "
                        "simulated quantization (%s between both), and do not with " QUANTIZATION_BIAS_OPTIMIZER
                        " disabled. Fix: --onnxrt-disable-optimizers " QUANTIZATION_BIAS_OPTIMIZER
                        ", a quantizer of the weight, or for a bias larger scales of the layer's input and weight",
                        output->name, text.data);
    } else if (quantization_is_far(output->simulation, output->quantized)) {
        result_add_line(
            ret, RESULT_CAUTION,
            "Output '%s': the runtime's kernels differ from simulated quantization (%s between both). The table shows "
            "simulated quantization; `debug passes` finds the optimizer that causes the difference",
            output->name, text.data);
    }
    if (output->left_out > 0)
        result_add_line(
            ret, RESULT_CAUTION,
            "Output '%s': %zu of %zu elements of the reference are infinite or NaN; the figures are of the others",
            output->name, output->left_out, output->left_out + output->compared);
    if (result->float_path != NULL && quantization_is_far(output->all_off, output->quantized))
        result_add_line(ret, RESULT_CAUTION,
                        "Output '%s' differs from the float model with all possible quantizers disabled: the others, "
                        "or another difference between the two models, are the cause",
                        output->name);
}

/* ---- Crashes of the runtime ---- */

static const char *alone_crash(const struct quantization_row *row)
{
    return row->alone_crash;
}

static const char *left_out_crash(const struct quantization_row *row)
{
    return row->left_out_crash;
}

/* Adds a line about rows with such a crash, with the message of the first. */
static void note_crashes_of(const struct quantization_report *result,
                            const char *(*crash_of)(const struct quantization_row *row), const char *when,
                            struct result *ret)
{
    const char *first = NULL;
    SCOPED_STRING(names);
    struct short_list list = {.text = &names, .most = MOST_NAMES};

    for (size_t i = 0; i < result->table->count; i++) {
        const char *crash = crash_of(&result->table->rows[i]);

        if (crash == NULL)
            continue;
        if (first == NULL)
            first = crash;
        short_list_add(&list, quantizer_of(result, &result->table->rows[i])->name);
    }
    short_list_end(&list);
    if (list.count > 0)
        result_add_line(ret, RESULT_CAUTION, "Runs with only one quantizer %s crashed for %zu of %zu (%s): %s", when,
                        list.count, result->table->switched, names.data, first);
}

static void note_crashes(const struct quantization_report *result, struct result *ret)
{
    if (result->table->all_on_crash != NULL)
        result_add_line(
            ret, RESULT_CAUTION,
            "The simulation with all quantizers enabled crashed, so the gain of disabling one is unknown: %s",
            result->table->all_on_crash);
    note_crashes_of(result, alone_crash, "enabled", ret);
    note_crashes_of(result, left_out_crash, "disabled", ret);
}

static void note_without_switch_for(const struct quantization_report *result, const struct quantization_row *first,
                                    size_t count, struct result *ret)
{
    SCOPED_STRING(name);
    SCOPED_STRING(why);

    string_add_quoted(&name, quantizer_of(result, first)->name);
    string_add_in_line(&why, first->why_not);
    result_add_line(ret, RESULT_CAUTION, "%zu of %zu quantizers cannot be disabled (%s ...): %s", count,
                    result->table->count, name.data, why.data);
}

/* Adds lines about rows without a switch, grouped by reason. */
static void note_without_switch(const struct quantization_report *result, struct result *ret)
{
    const struct quantization_table *table = result->table;

    for (size_t i = table->switched; i < table->count; i++) {
        const char *why = table->rows[i].why_not;
        size_t count = 0;
        bool is_first = true;

        for (size_t k = table->switched; k < table->count; k++) {
            if (strcmp(table->rows[k].why_not, why) != 0)
                continue;
            is_first &= k >= i;
            count++;
        }
        if (is_first)
            note_without_switch_for(result, &table->rows[i], count, ret);
    }
}

/* Whether the quantizer's range may replace a Relu or Clip, as far as is known. */
static bool may_replace_activation(const struct quantization_report *result, const struct quantization_row *row)
{
    const struct quantizer_twin *twin = quantization_twin(result->subject, row->quantizer);

    return row->tensor.why_not == NULL && row->tensor.measures.clipped_below > CUT_OFF &&
           quantizer_of(result, row)->role == QUANTIZER_ACTIVATION && (twin == NULL || twin->tensor == VALUE_NONE);
}

static void note_cut_off(const struct quantization_report *result, struct result *ret)
{
    SCOPED_STRING(names);
    struct short_list list = {.text = &names, .most = MOST_NAMES};

    ARRAY_EACH (const struct quantization_row, row, result->table->rows, result->table->count) {
        if (!may_replace_activation(result, row) || !short_list_next(&list))
            continue;
        string_add_quoted(&names, quantizer_of(result, row)->name);
        string_add_format(&names, " (%.1f%%)", 100 * row->tensor.measures.clipped_below);
    }
    short_list_end(&list);
    if (list.count > 0)
        result_add_line(
            ret, RESULT_CAUTION,
            "Values clipped from below: %s. Where a range replaces a Relu or Clip that was removed from the "
            "model, disabling its quantizer changes what the model computes%s",
            names.data,
            result->float_path == NULL ? ". Pass --float MODEL to decide that"
                                       : "; the float model has no tensor for these");
}

/* ---- What nothing can be computed with ---- */

/* Problems of one kind only differ in names and numbers. */
static bool have_one_problem(const struct quantizer *a, const struct quantizer *b)
{
    return a->problem_kind == b->problem_kind && (a->problem_kind != NULL || strcmp(a->problem, b->problem) == 0);
}

/* Adds a line about the kind of the i-th quantizer's problem, unless an earlier one has the same. */
static void note_problem(const struct quantization_report *result, size_t i, struct result *ret)
{
    const struct quantization_table *table = result->table;
    const struct quantizer *first = quantizer_of(result, &table->rows[i]);
    SCOPED_STRING(names);
    SCOPED_STRING(problem);
    struct short_list list = {.text = &names, .most = MOST_NAMES};

    for (size_t k = 0; k < table->count; k++) {
        const struct quantizer *quantizer = quantizer_of(result, &table->rows[k]);

        if (quantizer->problem == NULL || !have_one_problem(quantizer, first))
            continue;
        if (k < i)
            return;
        short_list_add(&list, quantizer->name);
    }
    short_list_end(&list);
    string_add_in_line(&problem, first->problem);
    result_add_line(ret, RESULT_CAUTION,
                    "Noise in its own tensor was not measured for %zu of %zu quantizers (%s): %s%s", list.count,
                    table->count, names.data, list.count > 1 && first->problem_kind != NULL ? "of the first, " : "",
                    problem.data);
}

static void note_problems(const struct quantization_report *result, struct result *ret)
{
    for (size_t i = 0; i < result->table->count; i++)
        if (quantizer_of(result, &result->table->rows[i])->problem != NULL)
            note_problem(result, i, ret);
}

/* ---- Scales of a channel ---- */

/* A wrong scale of a constant is not seen without the float model: the reference has it, too, and what follows it is
 * blamed for the values that it makes. */
static void note_outlying_scales(const struct quantization_report *result, struct result *ret)
{
    SCOPED_STRING(names);
    struct short_list list = {.text = &names, .most = MOST_NAMES};

    for (size_t i = 0; i < result->table->count; i++) {
        const struct quantizer *quantizer = quantizer_of(result, &result->table->rows[i]);
        struct outlying_scale scale;

        if (quantizer->role != QUANTIZER_WEIGHT)
            continue;
        scale = quantizer_find_outlying_scale(quantizer);
        if (!scale_is_outlying(scale.factor) || !short_list_next(&list))
            continue;
        string_add_format(&names, "scale %zu of ", scale.channel);
        string_add_quoted(&names, quantizer->name);
        string_add_format(&names, " (%.3g times the median of its %zu scales)", scale.factor, scale.count);
    }
    short_list_end(&list);
    if (list.count == 0)
        return;
    result_add_line(ret, RESULT_CAUTION, "Suspect: %s: a wrong scale, or an unusual weight", names.data);
    if (result->float_path == NULL)
        result_add_line(ret, RESULT_NOT_TESTED,
                        "whether %s: the reference has it, too, so that other quantizers are blamed for what it makes; "
                        "pass --float MODEL",
                        list.count == 1 ? "that scale is right" : "these scales are right");
}

/* ---- Faults of stored weights ---- */

static void note_fault(const struct quantization_report *result, const struct weight_fault *found, struct result *ret)
{
    const struct stored_fault *fault = &found->fault;
    SCOPED_STRING(text);

    string_add_quoted(&text, result->subject->quantizers.items[found->quantizer].name);
    string_add(&text, " ");
    stored_fault_describe(fault, &text);
    string_add(&text, ": ");
    result_add_decibels(fault->before, "%.1f dB", &text);
    if (stored_fault_is_named(fault)) {
        string_add(&text, " in its own tensor as stored, ");
        result_add_decibels(fault->after, "%.1f dB", &text);
        string_add(&text, " with that undone");
    } else {
        string_add(&text, " in its own tensor; no other scales or zero points, and no swapped or shifted blocks, "
                          "elements or halves of bytes explain it");
    }
    result_add_line(ret, RESULT_CAUTION, "Against the float model, %s", text.data);
}

/* ---- Known traps ---- */

static void note_rewriting(const struct quantization_rewriting *rewriting, struct result *ret)
{
    SCOPED_STRING(names);
    struct short_list list = {.text = &names, .most = MOST_NAMES};

    if (!rewriting->known)
        return;
    string_add(&names, ": ");
    for (size_t i = 0; i < rewriting->in_float.count; i++)
        short_list_add(&list, rewriting->in_float.items[i]);
    short_list_end(&list);
    result_add_line(
        ret, RESULT_NOTE,
        "The model as ONNX Runtime rewrites it: %zu integer kernels; %zu layers compute dequantized values in float%s",
        rewriting->integer_kernels, rewriting->in_float.count, rewriting->in_float.count > 0 ? names.data : "");
}

static void note_trap(const struct quantization_report *result, const struct quantization_trap *trap,
                      struct result *ret)
{
    SCOPED_STRING(names);
    struct short_list list = {.text = &names, .most = MOST_NAMES};

    for (size_t i = 0; i < trap->quantizers.count; i++)
        short_list_add(&list, result->subject->quantizers.items[trap->quantizers.items[i]].name);
    short_list_end(&list);
    result_add_line(ret, RESULT_NOTE, "Known trap: %s: %s", trap->what, names.data);
    result_add_line(ret, RESULT_NOTE, "%s. Fix: %s", trap->why, trap->remedy);
}

void quantization_notes_fill(const struct quantization_report *result, struct result *ret)
{
    const struct quantization_table *table = result->table;
    bool has_numbers = table->switched > 0 || result->float_path != NULL;

    note_crashes(result, ret);
    note_without_switch(result, ret);
    note_cut_off(result, ret);
    if (!has_numbers)
        result_add_line(ret, RESULT_CAUTION,
                        "No quantizer can be disabled, so the outputs have no reference: pass --float MODEL");
    for (size_t i = 0; i < table->output_count && has_numbers; i++)
        note_output(result, &table->outputs[i], ret);
    note_main(result, ret);
    note_noisy(result, ret);
    VECTOR_EACH (const struct weight_fault, fault, result->faults->list)
        note_fault(result, fault, ret);
    note_outlying_scales(result, ret);
    note_rewriting(result->rewriting, ret);
    note_problems(result, ret);
    for (size_t i = 0; i < result->traps->list.count; i++)
        note_trap(result, &result->traps->list.items[i], ret);
}
