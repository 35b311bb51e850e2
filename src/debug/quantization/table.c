/* debug/quantization/table.c: see table.h. */
#include "debug/quantization/table.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/system.h"
#include "tensor/compare/slices.h"

/* Threshold for kernels that differ from simulated quantization: their noise exceeds a tenth of the quantization noise.
 */
#define FAITHFUL 10 /* dB */

#define ROUNDED 100 /* dB: above this, noise is that of float32 in another order of operations */

/* Slices of an output whose scale is a smaller share of the largest one are rounding errors of float32. */
#define LEAST_SLICE 1e-6

struct table_measuring {
    const struct quantization_subject *subject;
    struct quantization_table *table;
    struct study_runs runs;
    struct quantized_tensor *tensors; /* of each quantizer */
    /* Sums over the samples: for each output, and for each quantizer at each output. */
    struct noise *all_on, *runtime, *simulation, *all_off, *again, *alone, *left_out;
};

const struct tensor *quantization_find_output(const struct quantization_table *table, const struct tensor_list *outputs,
                                              size_t i)
{
    const struct named_tensor *found = tensor_list_find(outputs, text_of(table->outputs[i].name));

    return found != NULL ? &found->tensor : i < outputs->count ? &outputs->items[i].tensor : NULL;
}

/* ---- Effects at the outputs ---- */

static struct noise *new_sums(size_t count)
{
    return memory_alloc_zero(count + 1, sizeof(struct noise));
}

static void add_noise(const struct table_measuring *measuring, struct noise *sums, const struct tensor_list *actual,
                      const struct tensor_list *expected)
{
    for (size_t i = 0; i < measuring->table->output_count; i++) {
        const struct tensor *a = quantization_find_output(measuring->table, actual, i);
        const struct tensor *b = quantization_find_output(measuring->table, expected, i);

        if (a != NULL && b != NULL)
            noise_add(&sums[i], a, b);
        else
            sums[i].noise = INFINITY;
    }
}

/* Stores a crash and continues. */
static int note_crash(struct table_measuring *measuring, int rc, const struct error *why, const char **ret,
                      struct error *err)
{
    if (rc == 0)
        return 0;
    if (!bounded_process_is_end(why)) {
        *err = *why;
        return rc;
    }
    *ret = arena_strdup(&measuring->table->arena, why->message);
    return 0;
}

/* Reference of a run, destination of its noise, and its crash. */
struct effect {
    const struct tensor_list *expected;
    struct noise *sums;
    const char **crash;
    double *slice; /* ratio of the worst slice so far; NULL: not wanted */
};

/* Lowers `ret` to the ratio of the worst slice of the outputs that count. */
static void measure_slices(const struct table_measuring *measuring, const struct tensor_list *actual,
                           const struct tensor_list *expected, double *ret)
{
    for (size_t i = 0; i < measuring->table->output_count; i++) {
        const struct tensor *a = quantization_find_output(measuring->table, actual, i);
        const struct tensor *b = quantization_find_output(measuring->table, expected, i);
        struct slice_error slice;

        if (!measuring->table->outputs[i].counts || a == NULL || b == NULL)
            continue;
        slices_find_worst(b, a, LEAST_SLICE, &slice);
        if (slice.found)
            *ret = fmin(*ret, 20 * log10(slice.scale / slice.difference));
    }
}

/* Skips the run if the runtime has crashed with another sample. */
static int measure_run(struct table_measuring *measuring, size_t sample, const struct bitset *on,
                       const struct effect *ret, struct error *err)
{
    struct tensor_list outputs SCOPED(tensor_list_release) = {0};
    struct error why = {0};
    int rc;

    if (*ret->crash != NULL)
        return 0;
    rc = study_runs_switched(&measuring->runs, sample, on, NULL, &outputs, &why);
    if (rc == 0)
        add_noise(measuring, ret->sums, &outputs, ret->expected);
    if (rc == 0 && ret->slice != NULL)
        measure_slices(measuring, &outputs, ret->expected, ret->slice);
    return note_crash(measuring, rc, &why, ret->crash, err);
}

/* Measures the quantizer as the only one enabled, and as the only one disabled. */
static int measure_effect(struct table_measuring *measuring, size_t index, size_t sample, const struct tensor_list *off,
                          const struct tensor_list *reference, struct error *err)
{
    struct quantization_row *row = &measuring->table->rows[index];
    size_t at = index * measuring->table->output_count;
    const struct effect alone = {off, &measuring->alone[at], &row->alone_crash, &row->slice};
    const struct effect left_out = {reference, &measuring->left_out[at], &row->left_out_crash, NULL};
    SCOPED_BITSET(on);
    int rc;

    bitset_init(&on, measuring->subject->quantizers.count);
    bitset_add(&on, index);
    rc = measure_run(measuring, sample, &on, &alone, err);
    if (rc < 0)
        return rc;
    bitset_fill(&on);
    bitset_remove(&on, index);
    return measure_run(measuring, sample, &on, &left_out, err);
}

/* Measures differences between two equal runs, which no quantizer causes. */
static int measure_again(struct table_measuring *measuring, const struct bitset *none, const struct tensor_list *off,
                         struct error *err)
{
    struct tensor_list again SCOPED(tensor_list_release) = {0};
    int rc = study_runs_switched(&measuring->runs, 0, none, NULL, &again, err);

    if (rc == 0)
        add_noise(measuring, measuring->again, &again, off);
    return rc;
}

/* The model with all enabled, against the reference and against the runtime's own run. */
static int measure_all_on(struct table_measuring *measuring, size_t sample, const struct tensor_list *reference,
                          struct error *err)
{
    const struct tensor_list *as_run = measuring->runs.as_run != NULL ? &measuring->runs.as_run[sample] : NULL;
    struct tensor_list on SCOPED(tensor_list_release) = {0};
    struct error why = {0};
    SCOPED_BITSET(all);
    int rc = 0;

    if (as_run != NULL)
        add_noise(measuring, measuring->runtime, as_run, reference);
    if (measuring->table->all_on_crash != NULL)
        return 0;
    bitset_init(&all, measuring->subject->quantizers.count);
    bitset_fill(&all);
    rc = study_runs_switched(&measuring->runs, sample, &all, NULL, &on, &why);
    if (rc == 0) {
        add_noise(measuring, measuring->all_on, &on, reference);
        if (as_run != NULL)
            add_noise(measuring, measuring->simulation, &on, as_run);
    }
    return note_crash(measuring, rc, &why, &measuring->table->all_on_crash, err);
}

static int measure_sample(struct table_measuring *measuring, size_t sample, struct error *err)
{
    struct tensor_list off SCOPED(tensor_list_release) = {0};
    const struct tensor_list *reference = &off;
    SCOPED_BITSET(none);
    int rc;

    bitset_init(&none, measuring->subject->quantizers.count);
    rc = study_runs_switched(&measuring->runs, sample, &none, NULL, &off, err);
    if (rc == 0 && sample == 0)
        rc = measure_again(measuring, &none, &off, err);
    if (rc < 0 && bounded_process_is_end(err))
        rc = study_runs_refuse_crash(err, "the model with all quantizers disabled");
    if (rc < 0)
        return rc;
    if (measuring->runs.of_float != NULL) {
        reference = &measuring->runs.of_float[sample];
        add_noise(measuring, measuring->all_off, &off, reference);
    }
    rc = measure_all_on(measuring, sample, reference, err);
    for (size_t i = 0; rc == 0 && i < measuring->table->count; i++)
        if (measuring->table->rows[i].why_not == NULL)
            rc = measure_effect(measuring, i, sample, &off, reference, err);
    return rc;
}

/* ---- The table ---- */

/* The lowest ratio of outputs that count, and the output; NAN: none. */
static double least_ratio(const struct table_measuring *measuring, const struct noise *sums, size_t *ret_output)
{
    double ret = NAN;

    *ret_output = 0;
    for (size_t i = 0; i < measuring->table->output_count; i++) {
        double ratio = noise_ratio(&sums[i]);

        if (measuring->table->outputs[i].counts && !isnan(ratio) && !(ratio >= ret)) {
            ret = ratio;
            *ret_output = i;
        }
    }
    return ret;
}

/* Increase of a ratio; 0 if it stays without noise, or lost. */
static double noise_rise(double from, double to)
{
    return from == to ? 0 : to - from;
}

static void finish_rows(struct table_measuring *measuring)
{
    size_t output, outputs = measuring->table->output_count;
    bool has_all_on = measuring->table->all_on_crash == NULL;
    double all_on = has_all_on ? least_ratio(measuring, measuring->all_on, &output) : NAN;

    for (size_t i = 0; i < measuring->table->count; i++) {
        struct quantization_row *row = &measuring->table->rows[i];
        const struct noise *alone = &measuring->alone[i * outputs];

        row->tensor = measuring->tensors[i];
        if (row->why_not != NULL)
            continue;
        measuring->table->crashed += row->alone_crash != NULL;
        if (row->alone_crash == NULL) {
            row->alone = least_ratio(measuring, alone, &row->output);
            row->alone_noise = isnan(row->alone) ? 0 : pow(10, -row->alone / 10);
        }
        if (row->left_out_crash == NULL)
            row->gain = noise_rise(all_on, least_ratio(measuring, &measuring->left_out[i * outputs], &output));
    }
    for (size_t i = 0; i < outputs; i++) {
        struct quantization_output *item = &measuring->table->outputs[i];

        item->quantized = has_all_on && (measuring->table->switched > 0 || measuring->runs.of_float != NULL)
                              ? noise_ratio(&measuring->all_on[i])
                              : NAN;
        if (measuring->runs.as_run != NULL)
            item->as_run = noise_ratio(&measuring->runtime[i]);
        if (measuring->runs.as_run != NULL && has_all_on)
            item->simulation = noise_ratio(&measuring->simulation[i]);
        if (measuring->runs.of_float != NULL)
            item->all_off = noise_ratio(&measuring->all_off[i]);
        item->again = noise_ratio(&measuring->again[i]);
        item->compared = measuring->all_on[i].compared;
        item->left_out = measuring->all_on[i].left_out;
    }
}

double quantization_cost(const struct quantization_row *row)
{
    return fmin(row->alone, row->slice);
}

bool quantization_is_far(double ratio, double quantized)
{
    return ratio < fmin(quantized + FAITHFUL, ROUNDED) || (isinf(ratio) && ratio < 0);
}

/* Unknown values are last. */
static int compare_known(double x, double y)
{
    return isnan(x) || isnan(y) ? (int)isnan(x) - (int)isnan(y) : (x > y) - (x < y);
}

static int compare_rows(const void *a, const void *b)
{
    const struct quantization_row *x = a, *y = b;
    int order;

    if ((x->why_not == NULL) != (y->why_not == NULL))
        return x->why_not == NULL ? -1 : 1;
    if ((x->alone_crash == NULL) != (y->alone_crash == NULL))
        return x->alone_crash != NULL ? -1 : 1;
    order = compare_known(quantization_cost(x), quantization_cost(y));
    if (order == 0)
        order = compare_known(-x->gain, -y->gain);
    if (order != 0)
        return order;
    return x->quantizer < y->quantizer ? -1 : 1;
}

static void begin_table(struct table_measuring *measuring)
{
    const struct quantization_subject *subject = measuring->subject;
    struct quantization_table *table = measuring->table;
    bool any_counts = false;

    table->count = subject->quantizers.count;
    table->rows = memory_alloc_zero(table->count + 1, sizeof(*table->rows));
    table->output_count = subject->model->outputs.count;
    table->outputs = memory_alloc_zero(table->output_count + 1, sizeof(*table->outputs));
    for (size_t i = 0; i < table->count; i++) {
        table->rows[i] = (struct quantization_row){.quantizer = i, .alone = NAN, .slice = NAN, .gain = NAN};
        table->rows[i].why_not = switched_model_why_not(measuring->runs.switched, i);
        table->switched += table->rows[i].why_not == NULL;
    }
    for (size_t i = 0; i < table->output_count; i++) {
        uint32_t value = subject->model->outputs.items[i];
        struct value_type type;

        value_info_decode(subject->model->values.items[value].info, &type);
        table->outputs[i] =
            (struct quantization_output){.name = arena_text(&table->arena, subject->model->values.items[value].name),
                                         .counts = data_type_is_float(type.element),
                                         .as_run = NAN,
                                         .simulation = NAN,
                                         .bias_kept = NAN,
                                         .all_off = NAN,
                                         .again = NAN};
        any_counts |= table->outputs[i].counts;
    }
    for (size_t i = 0; !any_counts && i < table->output_count; i++)
        table->outputs[i].counts = true;
}

/* ---- Biases ---- */

static int add_bias_sample(struct table_measuring *measuring, size_t sample, const struct tensor_list *kept,
                           struct noise *sums, struct error *err)
{
    struct tensor_list on SCOPED(tensor_list_release) = {0};
    SCOPED_BITSET(all);
    int rc;

    bitset_init(&all, measuring->subject->quantizers.count);
    bitset_fill(&all);
    rc = study_runs_switched(&measuring->runs, sample, &all, NULL, &on, err);
    if (rc == 0)
        add_noise(measuring, sums, &on, kept);
    return rc;
}

/* Measures whether the runtime's kernels agree with the simulation if float weights and biases of layers stay as they
 * are in the model. ONNX Runtime stores such a weight as 8-bit integers with one scale, and a bias as 32-bit integers
 * in units of the input's scale times the weight's, where it may not fit. Without that result the cause stays unknown.
 */
static int measure_biases(struct table_measuring *measuring, struct error *err)
{
    struct noise *sums SCOPED_FREE = new_sums(measuring->table->output_count);
    struct tensor_list *kept = NULL;
    struct error why = {0};
    int rc = study_runs_record_biases(&measuring->runs, &kept, &why);

    for (size_t i = 0; rc == 0 && i < measuring->table->samples; i++)
        rc = add_bias_sample(measuring, i, &kept[i], sums, &why);
    study_outputs_free(kept, measuring->table->samples);
    if (rc < 0)
        return rc == ERR_INTERRUPTED ? error_set(err, ERR_INTERRUPTED, "interrupted") : 0;
    for (size_t i = 0; i < measuring->table->output_count; i++)
        measuring->table->outputs[i].bias_kept = noise_ratio(&sums[i]);
    return 0;
}

static bool any_is_far(const struct quantization_table *table)
{
    for (size_t i = 0; i < table->output_count; i++)
        if (quantization_is_far(table->outputs[i].simulation, table->outputs[i].quantized))
            return true;
    return false;
}

static void begin_sums(struct table_measuring *measuring)
{
    size_t outputs = measuring->table->output_count;

    measuring->tensors = memory_alloc_zero(measuring->table->count + 1, sizeof(*measuring->tensors));
    measuring->all_on = new_sums(outputs);
    measuring->runtime = new_sums(outputs);
    measuring->simulation = new_sums(outputs);
    measuring->all_off = new_sums(outputs);
    measuring->again = new_sums(outputs);
    measuring->alone = new_sums(measuring->table->count * outputs);
    measuring->left_out = new_sums(measuring->table->count * outputs);
}

static void measuring_release(struct table_measuring *measuring)
{
    study_runs_end(&measuring->runs);
    free(measuring->tensors);
    free(measuring->all_on);
    free(measuring->runtime);
    free(measuring->simulation);
    free(measuring->all_off);
    free(measuring->again);
    free(measuring->alone);
    free(measuring->left_out);
}

static int check_outputs(const struct quantization_subject *subject, struct error *err)
{
    const struct model *model = subject->model, *other = subject->float_model;

    if (other != NULL && other->outputs.count != model->outputs.count)
        return error_set(err, ERR_INVALID, "'%s' has %zu outputs, '%s' has %zu: these are different networks",
                         model->display_name, model->outputs.count, other->display_name, other->outputs.count);
    return 0;
}

int quantization_measure(const struct quantization_study *study, struct quantization_table *ret, struct error *err)
{
    struct table_measuring measuring = {.subject = study->subject, .table = ret};
    struct study_runs *runs = &measuring.runs;
    int rc = check_outputs(study->subject, err);

    *ret = (struct quantization_table){.samples = (size_t)data_loader_iterations(study->loader)};
    arena_init(&ret->arena);
    if (rc < 0)
        return rc;
    rc = study_runs_begin(runs, study, ret->samples, err);
    if (rc < 0)
        goto done;
    if (runs->why_not_run.code != 0)
        ret->why_not_run = arena_strdup(&ret->arena, runs->why_not_run.message);
    begin_table(&measuring);
    begin_sums(&measuring);
    runs->expected = 1 + ret->samples * (2 + 2 * ret->switched) + quantized_tensors_runs(runs);
    log_message(study->log, LOG_INFO,
                "Measuring %zu quantizer%s, each as the only one enabled and the only one disabled: %zu runs",
                ret->switched, ret->switched == 1 ? "" : "s", runs->expected);
    rc = quantized_tensors_measure(runs, measuring.tensors, &ret->arena, err);
    for (size_t i = 0; rc == 0 && i < ret->samples; i++)
        rc = measure_sample(&measuring, i, err);
    if (rc < 0)
        goto done;
    finish_rows(&measuring);
    if (any_is_far(ret))
        rc = measure_biases(&measuring, err);
    if (rc < 0)
        goto done;
    qsort(ret->rows, ret->count, sizeof(*ret->rows), compare_rows);
    ret->runs = runs->done;
    ret->seconds = stopwatch_now() - runs->begun;
done:
    measuring_release(&measuring);
    if (rc < 0)
        quantization_table_release(ret);
    return rc;
}

void quantization_table_release(struct quantization_table *table)
{
    free(table->rows);
    free(table->outputs);
    arena_release(&table->arena);
    *table = (struct quantization_table){0};
}
