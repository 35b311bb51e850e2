/* cli/debug/quantization/log.c: the lines of the log, see result.h. */
#include "cli/debug/quantization/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/names.h"
#include "base/text/string_builder.h"

#define MOST_ROWS 20 /* of the log */

/* The runtime computes something else than quantization does to values: its own noise is more than a tenth of that. */
#define FAITHFUL 10 /* dB */

#define ROUNDED 100 /* dB: float32 that is computed in another order makes less noise */

/* Removed activations: a share of values below the range that rounding alone does not make. */
#define CUT_OFF 0.01

/* More than what is left of a signed type for values of one sign. */
#define UNUSED 0.55

#define MOST_NAMES 5 /* that a sentence has */

static const struct quantizer *quantizer_of(const struct quantization_report *result,
                                            const struct quantization_row *row)
{
    return &result->subject->quantizers.items[row->quantizer];
}

/* ---- Texts and numbers ---- */

/* Without quotes, where what it holds must not end the line either. */
static void add_in_line(struct string_builder *ret, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n\t");

        string_add_visible(ret, (struct text){text, length});
        text += length;
        if (*text != '\0')
            string_add(ret, *text++ == '\n' ? "\\n" : "\\t");
    }
}

static void add_decibels(struct string_builder *ret, double value, const char *format)
{
    if (isnan(value))
        string_add(ret, "-");
    else if (isinf(value))
        string_add(ret, value > 0 ? "exact" : "lost");
    else
        string_add_format(ret, format, value);
}

static void add_share(struct string_builder *ret, double share)
{
    if (isnan(share))
        string_add(ret, "-");
    else if (share > 0 && share < 0.0001)
        string_add(ret, "<0.01%");
    else
        string_add_format(ret, "%.2f%%", 100 * share);
}

/* ---- The table, as lines of equal columns ---- */

#define COLUMNS 10

static const char *const headings[COLUMNS] = {"alone", "gain",     "own",  "clipped", "unused",
                                              "dead",  "outlying", "type", "role",    "quantizer"};

static void fill_measures(const struct quantization_row *row, struct string_builder *cells)
{
    const struct tensor_measures *measures = &row->tensor.measures;

    for (size_t i = 2; i < 7; i++)
        if (row->tensor.why_not != NULL)
            string_add(&cells[i], "-");
    if (row->tensor.why_not != NULL)
        return;
    add_decibels(&cells[2], measures->signal_to_noise, "%.1f");
    add_share(&cells[3], measures->clipped);
    add_share(&cells[4], measures->unused);
    string_add_format(&cells[5], "%zu", measures->dead_scales);
    if (measures->scales > 1)
        string_add_format(&cells[6], "%zu/%zu", measures->outlying_scales, measures->scales);
    else if (isnan(measures->reach))
        string_add(&cells[6], "-");
    else
        string_add_format(&cells[6], "%.1fx", measures->reach);
}

static void fill_row(const struct quantization_report *result, const struct quantization_row *row,
                     struct string_builder *cells)
{
    const struct quantizer *quantizer = quantizer_of(result, row);

    if (row->alone_crash != NULL)
        string_add(&cells[0], "crash");
    else
        add_decibels(&cells[0], row->alone, "%.1f");
    if (row->left_out_crash != NULL)
        string_add(&cells[1], "crash");
    else
        add_decibels(&cells[1], row->gain, "%+.1f");
    fill_measures(row, cells);
    string_add(&cells[7], data_type_name(quantizer->type));
    string_add(&cells[8], quantizer_role_name(quantizer->role));
    add_in_line(&cells[9], quantizer->name);
}

static void log_rows(const struct quantization_report *result, size_t shown, struct log *log)
{
    struct string_builder *cells = memory_alloc_zero((shown + 1) * COLUMNS, sizeof(*cells));
    size_t widths[COLUMNS] = {0};
    SCOPED_STRING(line);

    for (size_t i = 0; i < (shown + 1) * COLUMNS; i++)
        string_init(&cells[i]);
    for (size_t k = 0; k < COLUMNS; k++)
        string_add(&cells[k], headings[k]);
    for (size_t i = 0; i < shown; i++)
        fill_row(result, &result->table->rows[i], &cells[(i + 1) * COLUMNS]);
    for (size_t i = 0; i < (shown + 1) * COLUMNS; i++)
        if (cells[i].size > widths[i % COLUMNS])
            widths[i % COLUMNS] = cells[i].size;
    for (size_t i = 0; i <= shown; i++) {
        string_clear(&line);
        for (size_t k = 0; k < COLUMNS; k++) {
            bool is_number = k < 7;
            int width = k + 1 < COLUMNS ? (int)widths[k] : 0;

            string_add_format(&line, is_number ? "%s%*s" : "%s%-*s", k > 0 ? "  " : "", width,
                              cells[i * COLUMNS + k].size > 0 ? cells[i * COLUMNS + k].data : "");
        }
        log_message(log, LOG_FINISH, "    %s", line.data);
    }
    for (size_t i = 0; i < (shown + 1) * COLUMNS; i++)
        string_release(&cells[i]);
    free(cells);
}

/* ---- Own noise ---- */

/* That of most others is so much less. */
#define OWN_NOISE 10 /* dB */
#define FEW 4        /* of which nobody says what is usual */

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of a role's own ratios; NAN with fewer than FEW. */
static double usual_ratio(const struct quantization_report *result, enum quantizer_role role)
{
    double *ratios = memory_alloc_zero(result->table->count + 1, sizeof(*ratios)), ret;
    size_t count = 0;

    for (size_t i = 0; i < result->table->count; i++) {
        const struct quantization_row *row = &result->table->rows[i];

        if (quantizer_of(result, row)->role == role && row->tensor.why_not == NULL &&
            !isnan(row->tensor.measures.signal_to_noise))
            ratios[count++] = row->tensor.measures.signal_to_noise;
    }
    qsort(ratios, count, sizeof(*ratios), compare_numbers);
    ret = count >= FEW ? ratios[count / 2] : NAN;
    free(ratios);
    return ret;
}

/* Those that lose much more of their own tensor than others of their role, whatever that does at the outputs. Biases
 * have steps as fine as 32 bits allow: how much they lose says little. */
static void log_noisy(const struct quantization_report *result, struct log *log)
{
    const double usual[] = {[QUANTIZER_ACTIVATION] = usual_ratio(result, QUANTIZER_ACTIVATION),
                            [QUANTIZER_WEIGHT] = usual_ratio(result, QUANTIZER_WEIGHT),
                            [QUANTIZER_BIAS] = usual_ratio(result, QUANTIZER_BIAS)};
    SCOPED_STRING(text);
    struct short_list list = {.text = &text, .most = MOST_NAMES};

    for (size_t i = 0; i < result->table->count; i++) {
        const struct quantization_row *row = &result->table->rows[i];
        const struct quantizer *quantizer = quantizer_of(result, row);

        if (row->tensor.why_not != NULL || quantizer->role == QUANTIZER_BIAS ||
            !(row->tensor.measures.signal_to_noise < usual[quantizer->role] - OWN_NOISE))
            continue;
        if (!short_list_next(&list))
            continue;
        string_add_quoted(&text, quantizer->name);
        string_add(&text, " (");
        add_decibels(&text, row->tensor.measures.signal_to_noise, "%.1f dB");
        if (row->tensor.measures.clipped > CUT_OFF)
            string_add_format(&text, ", %.0f%% clipped", 100 * row->tensor.measures.clipped);
        if (row->tensor.measures.unused > UNUSED)
            string_add_format(&text, ", %.0f%% of the range not used", 100 * row->tensor.measures.unused);
        string_add(&text, ")");
    }
    short_list_end(&list);
    if (list.count > 0)
        log_message(log, LOG_FINISH, "Far noisier in %s than others of %s role: %s",
                    list.count == 1 ? "its own tensor" : "their own tensors", list.count == 1 ? "its" : "their",
                    text.data);
}

/* ---- What sums it up ---- */

/* Of those that were measured, how many make nine tenths of the noise that all make one by one; their share. */
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

static void log_main(const struct quantization_report *result, struct log *log)
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
    log_message(log, LOG_FINISH, "Of the noise that quantizers make alone, %.0f%% is of %zu of %zu: %s", 100 * share,
                count, result->table->switched - result->table->crashed, names.data);
}

/* Whether two that should be the same are not, beside the noise of quantization. Where all is lost, so is that. */
static bool is_far(double ratio, double quantized)
{
    return ratio < fmin(quantized + FAITHFUL, ROUNDED) || (isinf(ratio) && ratio < 0);
}

static void log_output(const struct quantization_report *result, const struct quantization_output *output,
                       struct log *log)
{
    SCOPED_STRING(text);

    string_add_quoted(&text, output->name);
    string_add(&text, ": ");
    add_decibels(&text, output->quantized, "%.1f dB");
    string_add(&text, " with all on");
    if (!isnan(output->as_run)) {
        string_add(&text, ", ");
        add_decibels(&text, output->as_run, "%.1f dB");
        string_add(&text, " as the runtime runs the model");
    }
    if (result->float_path != NULL) {
        string_add(&text, "; with all off ");
        add_decibels(&text, output->all_off, "%.1f dB");
        string_add(&text, " from the float model");
    }
    log_message(log, LOG_FINISH, "Output %s%s", text.data,
                output->counts ? "" : " (no floating numbers: it does not count)");
    string_clear(&text);
    add_decibels(&text, output->simulation, "%.1f dB");
    if (is_far(output->again, output->quantized)) {
        string_clear(&text);
        add_decibels(&text, output->again, "%.1f dB");
        log_message(log, LOG_WARNING,
                    "    The model computes something else each time it runs, with the same data and all quantizers "
                    "off: %s between two runs. What is said of quantizers at this output is chance",
                    text.data);
    } else if (is_far(output->simulation, output->quantized)) {
        log_message(log, LOG_WARNING,
                    "    The runtime's own kernels give something else than quantization alone: %s between both. "
                    "The table is about quantization; `debug passes` finds the optimizer that makes the rest",
                    text.data);
    }
    if (output->left_out > 0)
        log_message(log, LOG_WARNING,
                    "    %zu of %zu elements of the reference are infinite or no numbers: what is said of this output "
                    "is about the others",
                    output->left_out, output->left_out + output->compared);
    if (result->float_path != NULL && is_far(output->all_off, output->quantized))
        log_message(log, LOG_WARNING,
                    "    With all quantizers off that can be switched, it is not the float model: what cannot be "
                    "switched, or another difference between the two models, makes the rest");
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

/* Rows with such a crash, and the first one in its words. */
static void log_crashes_of(const struct quantization_report *result,
                           const char *(*crash_of)(const struct quantization_row *row), const char *when,
                           struct log *log)
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
        log_message(log, LOG_WARNING, "With only one quantizer %s there is no number for %zu of %zu (%s): %s", when,
                    list.count, result->table->switched, names.data, first);
}

static void log_crashes(const struct quantization_report *result, struct log *log)
{
    if (result->table->all_on_crash != NULL)
        log_message(log, LOG_WARNING,
                    "With all quantizers on, as simulated, there is no number, and so none for what is won without one "
                    "of them: %s",
                    result->table->all_on_crash);
    log_crashes_of(result, alone_crash, "on", log);
    log_crashes_of(result, left_out_crash, "off", log);
}

static void log_without_switch_for(const struct quantization_report *result, const struct quantization_row *first,
                                   size_t count, struct log *log)
{
    SCOPED_STRING(name);
    SCOPED_STRING(why);

    string_add_quoted(&name, quantizer_of(result, first)->name);
    add_in_line(&why, first->why_not);
    log_message(log, LOG_WARNING, "%zu of %zu quantizers cannot be switched off (%s ...): %s", count,
                result->table->count, name.data, why.data);
}

/* Rows without a switch, by the reason. */
static void log_without_switch(const struct quantization_report *result, struct log *log)
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
            log_without_switch_for(result, &table->rows[i], count, log);
    }
}

static void log_cut_off(const struct quantization_report *result, struct log *log)
{
    for (size_t i = 0; i < result->table->count; i++) {
        const struct quantization_row *row = &result->table->rows[i];
        const struct quantizer_twin *twin = quantization_twin(result->subject, row->quantizer);
        SCOPED_STRING(name);

        if (row->tensor.why_not != NULL || !(row->tensor.measures.clipped_below > CUT_OFF) ||
            quantizer_of(result, row)->role != QUANTIZER_ACTIVATION || (twin != NULL && !isinf(twin->least)))
            continue;
        string_add_quoted(&name, quantizer_of(result, row)->name);
        log_message(log, LOG_WARNING,
                    "%s cuts off %.1f%% of its values from below: if its range does the work of a Relu or Clip "
                    "that is no longer in the model, the model without it is another one. --float MODEL tells",
                    name.data, 100 * row->tensor.measures.clipped_below);
    }
}

/* ---- What nothing can be computed with ---- */

/* Problems of one kind differ in names and numbers alone. */
static bool have_one_problem(const struct quantizer *a, const struct quantizer *b)
{
    return a->problem_kind == b->problem_kind && (a->problem_kind != NULL || strcmp(a->problem, b->problem) == 0);
}

/* The kind of the i-th one's problem, unless one above it has the same. */
static void log_problem(const struct quantization_report *result, size_t i, struct log *log)
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
    add_in_line(&problem, first->problem);
    log_message(log, LOG_WARNING, "Nothing is measured in the own tensor of %zu of %zu quantizers (%s): %s%s",
                list.count, table->count, names.data,
                list.count > 1 && first->problem_kind != NULL ? "of the first, " : "", problem.data);
}

static void log_problems(const struct quantization_report *result, struct log *log)
{
    for (size_t i = 0; i < result->table->count; i++)
        if (quantizer_of(result, &result->table->rows[i])->problem != NULL)
            log_problem(result, i, log);
}

/* ---- Known traps ---- */

static void log_rewriting(const struct quantization_rewriting *rewriting, struct log *log)
{
    SCOPED_STRING(names);
    struct short_list list = {.text = &names, .most = MOST_NAMES};

    if (!rewriting->known)
        return;
    string_add(&names, " (");
    for (size_t i = 0; i < rewriting->in_float.count; i++)
        short_list_add(&list, rewriting->in_float.items[i]);
    short_list_end(&list);
    string_add(&names, ")");
    log_message(log, LOG_FINISH,
                "As ONNX Runtime has rewritten the model: kernels on integers: %zu; layers that compute in float what "
                "was dequantized: %zu%s",
                rewriting->integer_kernels, rewriting->in_float.count, rewriting->in_float.count > 0 ? names.data : "");
}

static void log_trap(const struct quantization_report *result, const struct quantization_trap *trap, struct log *log)
{
    SCOPED_STRING(names);
    struct short_list list = {.text = &names, .most = MOST_NAMES};

    for (size_t i = 0; i < trap->quantizers.count; i++)
        short_list_add(&list, result->subject->quantizers.items[trap->quantizers.items[i]].name);
    short_list_end(&list);
    log_message(log, LOG_FINISH, "Known trap: %s: %s", trap->what, names.data);
    log_message(log, LOG_FINISH, "    %s. Remedy: %s", trap->why, trap->remedy);
}

void quantization_result_log(const struct quantization_report *result, struct log *log)
{
    const struct quantization_table *table = result->table;
    size_t shown = table->count < MOST_ROWS ? table->count : MOST_ROWS;

    log_message(log, LOG_FINISH,
                "Quantizers, the costliest first. In dB, signal to quantization noise: at the outputs with only this "
                "one on (alone), what is won there without it (gain), in its own tensor (own)");
    log_rows(result, shown, log);
    if (shown < table->count)
        log_message(log, LOG_FINISH, "    and %zu more: --json and --report have all of them", table->count - shown);
    log_crashes(result, log);
    log_without_switch(result, log);
    log_cut_off(result, log);
    if (table->switched == 0 && result->float_path == NULL)
        log_message(log, LOG_WARNING,
                    "None can be switched off, so that nothing is known of the outputs: --float MODEL "
                    "gives them a reference");
    for (size_t i = 0; i < table->output_count && (table->switched > 0 || result->float_path != NULL); i++)
        log_output(result, &table->outputs[i], log);
    log_main(result, log);
    log_noisy(result, log);
    log_rewriting(result->rewriting, log);
    log_problems(result, log);
    for (size_t i = 0; i < result->traps->list.count; i++)
        log_trap(result, &result->traps->list.items[i], log);
}
