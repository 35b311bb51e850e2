/* cli/debug/quantization/result.c: as JSON and on the page, see result.h. */
#include "cli/debug/quantization/result.h"

#include <math.h>

#include "base/memory.h"
#include "base/text/string_builder.h"

static const struct quantizer *quantizer_of(const struct quantization_report *result,
                                            const struct quantization_row *row)
{
    return &result->subject->quantizers.items[row->quantizer];
}

/* ---- JSON ---- */

/* What is not known is null; JSON's readers know Infinity as Python writes it. */
static void write_number(struct json_writer *writer, const char *key, double value)
{
    if (json_writer_key_or_null(writer, key, !isnan(value)))
        json_writer_number(writer, value);
}

static void write_measures(const struct quantization_row *row, struct json_writer *writer)
{
    const struct tensor_measures *measures = &row->tensor.measures;

    json_writer_key(writer, "tensor");
    if (row->tensor.why_not != NULL) {
        json_writer_null(writer);
        json_writer_add_string(writer, "why_no_tensor", row->tensor.why_not);
        return;
    }
    json_writer_begin_object(writer);
    json_writer_add_count(writer, "elements", measures->elements);
    json_writer_add_count(writer, "not_finite", measures->not_finite);
    write_number(writer, "snr", measures->signal_to_noise);
    write_number(writer, "clipped", measures->clipped);
    write_number(writer, "clipped_below", measures->clipped_below);
    write_number(writer, "at_ends", measures->at_ends);
    write_number(writer, "unused", measures->unused);
    write_number(writer, "reach", measures->reach);
    json_writer_add_count(writer, "scales", measures->scales);
    json_writer_add_count(writer, "dead_scales", measures->dead_scales);
    json_writer_add_count(writer, "outlying_scales", measures->outlying_scales);
    write_number(writer, "worst_scale_snr", measures->worst_signal_to_noise);
    if (!isnan(measures->worst_signal_to_noise))
        json_writer_add_count(writer, "worst_scale", measures->worst_scale);
    json_writer_end_object(writer);
}

static void write_row(const struct quantization_report *result, const struct quantization_row *row,
                      struct json_writer *writer)
{
    const struct quantizer *quantizer = quantizer_of(result, row);
    const struct quantizer_twin *twin = quantization_twin(result->subject, row->quantizer);

    json_writer_begin_object(writer);
    json_writer_add_string(writer, "name", quantizer->name);
    json_writer_add_string(writer, "role", quantizer_role_name(quantizer->role));
    json_writer_add_string(writer, "form", quantizer_form_name(quantizer->form));
    json_writer_add_string(writer, "type", data_type_name(quantizer->type));
    if (json_writer_key_or_null(writer, "axis", quantizer->axis >= 0))
        json_writer_integer(writer, quantizer->axis);
    json_writer_add_count(writer, "block_size", (size_t)quantizer->block_size);
    if (twin != NULL && twin->tensor != VALUE_NONE)
        json_writer_add_text(writer, "float_tensor", result->subject->float_model->values.items[twin->tensor].name);
    json_writer_add_string(writer, "why_not_switched", row->why_not);
    write_number(writer, "alone", row->alone);
    if (row->alone_crash != NULL)
        json_writer_add_string(writer, "why_no_alone", row->alone_crash);
    else if (row->why_not == NULL)
        json_writer_add_string(writer, "output", result->table->outputs[row->output].name);
    write_number(writer, "gain", row->gain);
    if (row->left_out_crash != NULL)
        json_writer_add_string(writer, "why_no_gain", row->left_out_crash);
    write_measures(row, writer);
    json_writer_end_object(writer);
}

static void write_traps(const struct quantization_report *result, struct json_writer *writer)
{
    json_writer_begin_array_member(writer, "traps");
    for (size_t i = 0; i < result->traps->list.count; i++) {
        const struct quantization_trap *trap = &result->traps->list.items[i];

        json_writer_begin_object(writer);
        json_writer_add_string(writer, "kind", trap->key);
        json_writer_add_string(writer, "what", trap->what);
        json_writer_add_string(writer, "why", trap->why);
        json_writer_add_string(writer, "remedy", trap->remedy);
        json_writer_begin_array_member(writer, "quantizers");
        for (size_t k = 0; k < trap->quantizers.count; k++)
            json_writer_string(writer, result->subject->quantizers.items[trap->quantizers.items[k]].name);
        json_writer_end_array(writer);
        json_writer_end_object(writer);
    }
    json_writer_end_array(writer);
}

/* null where it is not known. */
static void write_rewriting(const struct quantization_rewriting *rewriting, struct json_writer *writer)
{
    if (!json_writer_begin_object_or_null(writer, "rewritten", rewriting->known))
        return;
    json_writer_add_count(writer, "integer_kernels", rewriting->integer_kernels);
    json_writer_add_strings(writer, "layers_in_float", rewriting->in_float.items, rewriting->in_float.count);
    json_writer_end_object(writer);
}

void quantization_result_write(const void *data, struct json_writer *writer)
{
    const struct quantization_report *result = data;
    const struct quantization_table *table = result->table;

    json_writer_add_string(writer, "model", result->subject->model->display_name);
    json_writer_add_string(writer, "float_model", result->float_path);
    json_writer_add_boolean(writer, "made_up_data", result->data_are_generated);
    json_writer_add_count(writer, "samples", table->samples);
    json_writer_add_count(writer, "runs", table->runs);
    write_number(writer, "seconds", table->seconds);
    json_writer_add_string(writer, "why_not_run", table->why_not_run);
    json_writer_add_string(writer, "why_no_all_on", table->all_on_crash);
    json_writer_begin_array_member(writer, "outputs");
    for (size_t i = 0; i < table->output_count; i++) {
        json_writer_begin_object(writer);
        json_writer_add_string(writer, "name", table->outputs[i].name);
        json_writer_add_boolean(writer, "counts", table->outputs[i].counts);
        write_number(writer, "all_on", table->outputs[i].quantized);
        write_number(writer, "as_run", table->outputs[i].as_run);
        write_number(writer, "simulation", table->outputs[i].simulation);
        write_number(writer, "all_off", table->outputs[i].all_off);
        json_writer_end_object(writer);
    }
    json_writer_end_array(writer);
    json_writer_begin_array_member(writer, "quantizers");
    for (size_t i = 0; i < table->count; i++)
        write_row(result, &table->rows[i], writer);
    json_writer_end_array(writer);
    write_rewriting(result->rewriting, writer);
    write_traps(result, writer);
}

/* ---- The page ---- */

/* "per tensor", "64 along axis 0", "blocks of 32 along axis 1" */
static void add_granularity(struct string_builder *ret, const struct quantizer *quantizer)
{
    if (quantizer->block_size > 0)
        string_add_format(ret, "blocks of %lld along axis %lld", (long long)quantizer->block_size,
                          (long long)quantizer->axis);
    else if (quantizer->axis >= 0)
        string_add_format(ret, "axis %lld", (long long)quantizer->axis);
    else
        string_add(ret, "tensor");
}

static struct report_cell number_cell(double value)
{
    return (struct report_cell){.number = value};
}

static struct report_cell effect_cell(double value, const char *crash)
{
    return crash != NULL ? (struct report_cell){.text = "crash"} : number_cell(value);
}

/* Why there is no number; "" where there are all. */
static const char *why_no_number(const struct quantization_report *result, const struct quantization_row *row)
{
    const char *const reasons[] = {row->why_not, row->alone_crash, row->left_out_crash, result->table->all_on_crash};

    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i] != NULL)
            return reasons[i];
    return "";
}

static void tell_row(const struct quantization_report *result, const struct quantization_row *row, struct report *page)
{
    const struct quantizer *quantizer = quantizer_of(result, row);
    const struct tensor_measures *measures = &row->tensor.measures;
    bool has = row->tensor.why_not == NULL;
    SCOPED_STRING(granularity);

    add_granularity(&granularity, quantizer);
    report_add_row(page, (struct report_cell[]){{.text = quantizer->name},
                                                {.text = quantizer_role_name(quantizer->role)},
                                                {.text = data_type_name(quantizer->type)},
                                                {.text = granularity.data},
                                                effect_cell(row->alone, row->alone_crash),
                                                effect_cell(row->gain, row->left_out_crash),
                                                number_cell(has ? measures->signal_to_noise : NAN),
                                                number_cell(has ? 100 * measures->clipped : NAN),
                                                number_cell(has ? 100 * measures->unused : NAN),
                                                number_cell(has ? (double)measures->dead_scales : NAN),
                                                number_cell(has ? (double)measures->outlying_scales : NAN),
                                                number_cell(has ? measures->reach : NAN),
                                                {.text = why_no_number(result, row)}});
}

/* A model that does not run says why. */
static struct report_cell as_run_cell(const struct quantization_table *table, size_t output)
{
    return table->why_not_run != NULL ? (struct report_cell){.text = table->why_not_run}
                                      : number_cell(table->outputs[output].as_run);
}

static void tell_traps(const struct quantization_report *result, struct report *page)
{
    static const char *const columns[] = {"what", "why", "remedy", "quantizers"};

    if (result->traps->list.count == 0)
        return;
    report_begin_table(page, "Known traps", columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < result->traps->list.count; i++) {
        const struct quantization_trap *trap = &result->traps->list.items[i];
        SCOPED_STRING(names);

        for (size_t k = 0; k < trap->quantizers.count; k++)
            string_add_format(&names, "%s%s", k > 0 ? ", " : "",
                              result->subject->quantizers.items[trap->quantizers.items[k]].name);
        report_add_row(page,
                       (struct report_cell[]){
                           {.text = trap->what}, {.text = trap->why}, {.text = trap->remedy}, {.text = names.data}});
    }
}

void quantization_result_tell(const struct quantization_report *result, struct report *page)
{
    static const char *const columns[] = {
        "quantizer",         "role",       "type",      "scales along", "alone, dB",       "gain, dB",
        "own, dB",           "clipped, %", "unused, %", "dead scales",  "outlying scales", "reach over 99.9 %",
        "no number, because"};
    static const char *const outputs[] = {"output", "all on, dB", "as run, dB", "as run against all on, dB",
                                          "all off against the float model, dB"};
    const struct quantization_table *table = result->table;

    if (page == NULL)
        return;
    report_begin_table(page, "Outputs: signal to quantization noise", outputs, ARRAY_LEN(outputs));
    for (size_t i = 0; i < table->output_count; i++)
        report_add_row(page, (struct report_cell[]){{.text = table->outputs[i].name},
                                                    effect_cell(table->outputs[i].quantized, table->all_on_crash),
                                                    as_run_cell(table, i),
                                                    number_cell(table->outputs[i].simulation),
                                                    number_cell(table->outputs[i].all_off)});
    report_begin_table(page, "Quantizers", columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < table->count; i++)
        tell_row(result, &table->rows[i], page);
    tell_traps(result, page);
}
