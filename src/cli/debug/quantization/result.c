/* cli/debug/quantization/result.c: the tables, see result.h. */
#include "cli/debug/quantization/result.h"

#include <math.h>

#include "base/memory.h"
#include "base/text/string_builder.h"
#include "onnx/quantizer/fault_words.h"

/* ---- Quantizers ---- */

static const struct result_column quantizer_columns[] = {
    {"alone", "alone", RESULT_DECIBELS, false},
    {"gain", "gain", RESULT_GAIN, false},
    {"slice", "slice", RESULT_DECIBELS, false},
    {"own", "own", RESULT_DECIBELS, false},
    {"clipped", "clipped", RESULT_SHARE, false},
    {"zeroed", "to 0", RESULT_SHARE, false},
    {"unused", "unused", RESULT_SHARE, false},
    {"dead_scales", "dead", RESULT_COUNT, false},
    {"outlying_scales", "outlying", RESULT_COUNT, false},
    {"scales", "scales", RESULT_COUNT, false},
    {"reach", "reach", RESULT_RATIO, false},
    {"type", "type", RESULT_TEXT, false},
    {"role", "role", RESULT_TEXT, false},
    {"name", "quantizer", RESULT_TEXT, false},
    {"granularity", "scales along", RESULT_TEXT, true},
    {"why_not", "not measured, because", RESULT_TEXT, true},
    {"form", NULL, RESULT_TEXT, false},
    {"axis", NULL, RESULT_COUNT, false},
    {"block_size", NULL, RESULT_COUNT, false},
    {"float_tensor", NULL, RESULT_TEXT, false},
    {"output", NULL, RESULT_TEXT, false},
    {"why_not_switched", NULL, RESULT_TEXT, false},
    {"why_no_alone", NULL, RESULT_TEXT, false},
    {"why_no_gain", NULL, RESULT_TEXT, false},
    {"why_no_tensor", NULL, RESULT_TEXT, false},
    {"elements", NULL, RESULT_COUNT, false},
    {"not_finite", NULL, RESULT_COUNT, false},
    {"clipped_below", NULL, RESULT_SHARE, false},
    {"at_ends", NULL, RESULT_SHARE, false},
    {"worst_scale_snr", NULL, RESULT_DECIBELS, false},
    {"worst_scale", NULL, RESULT_COUNT, false},
};

static const struct result_table quantizer_table = {
    .key = "quantizers",
    .title = "Quantizers",
    .line =
        "Quantizers by cost. In dB, signal to quantization noise: at the outputs with only this one enabled (alone), "
        "gained there by disabling it (gain), in their worst slice (slice), in its own tensor (own)",
    .log_rows = 20,
    .columns = quantizer_columns,
    .column_count = ARRAY_LEN(quantizer_columns)};

/* "tensor", "axis 0", "blocks of 32 along axis 1", "4 groups along axis 0, assigned by index" */
static void add_granularity(const struct quantizer *quantizer, struct string_builder *ret)
{
    if (quantizer->groups != NULL && quantizer->axis >= 0)
        string_add_format(ret, "%lld groups along axis %lld, assigned by index",
                          (long long)quantizer->scale.shape.dims[quantizer->axis], (long long)quantizer->axis);
    else if (quantizer->block_size > 0)
        string_add_format(ret, "blocks of %lld along axis %lld", (long long)quantizer->block_size,
                          (long long)quantizer->axis);
    else if (quantizer->axis >= 0)
        string_add_format(ret, "axis %lld", (long long)quantizer->axis);
    else
        string_add(ret, "tensor");
}

/* Reason for missing numbers; NULL: none is missing. */
static const char *find_missing_reason(const struct quantization_report *result, const struct quantization_row *row)
{
    const char *const reasons[] = {row->why_not, row->alone_crash, row->left_out_crash, result->table->all_on_crash};

    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (reasons[i] != NULL)
            return reasons[i];
    return NULL;
}

static struct result_cell effect_cell(double value, const char *crash)
{
    return crash != NULL ? (struct result_cell){.text = "crash"} : (struct result_cell){.number = value};
}

static void add_row(const struct quantization_report *result, const struct quantization_row *row, struct result *ret)
{
    const struct quantizer *quantizer = &result->subject->quantizers.items[row->quantizer];
    const struct quantizer_twin *twin = quantization_twin(result->subject, row->quantizer);
    const struct tensor_measures *measures = &row->tensor.measures;
    bool has_tensor = row->tensor.why_not == NULL;
    bool has_output = row->why_not == NULL && row->alone_crash == NULL;
    SCOPED_STRING(float_tensor);
    SCOPED_STRING(granularity);

    if (twin != NULL && twin->tensor != VALUE_NONE)
        string_add_text(&float_tensor, result->subject->float_model->values.items[twin->tensor].name);
    add_granularity(quantizer, &granularity);
    result_add_row(
        ret,
        (const struct result_cell[]){
            effect_cell(row->alone, row->alone_crash),
            effect_cell(row->gain, row->left_out_crash),
            {.number = row->alone_crash == NULL ? row->slice : NAN},
            {.number = has_tensor ? measures->signal_to_noise : NAN},
            {.number = has_tensor ? measures->clipped : NAN},
            {.number = has_tensor ? measures->zeroed : NAN},
            {.number = has_tensor ? measures->unused : NAN},
            {.number = has_tensor ? (double)measures->dead_scales : NAN},
            {.number = has_tensor ? (double)measures->outlying_scales : NAN},
            {.number = has_tensor ? (double)measures->scales : NAN},
            {.number = has_tensor ? measures->reach : NAN},
            {.text = data_type_name(quantizer->type)},
            {.text = quantizer_role_name(quantizer->role)},
            {.text = quantizer->name},
            {.text = granularity.data},
            {.text = find_missing_reason(result, row)},
            {.text = quantizer_form_name(quantizer->form)},
            {.number = quantizer->axis >= 0 ? (double)quantizer->axis : NAN},
            {.number = (double)quantizer->block_size},
            {.text = float_tensor.size > 0 ? float_tensor.data : NULL},
            {.text = has_output ? result->table->outputs[row->output].name : NULL},
            {.text = row->why_not},
            {.text = row->alone_crash},
            {.text = row->left_out_crash},
            {.text = row->tensor.why_not},
            {.number = has_tensor ? (double)measures->elements : NAN},
            {.number = has_tensor ? (double)measures->not_finite : NAN},
            {.number = has_tensor ? measures->clipped_below : NAN},
            {.number = has_tensor ? measures->at_ends : NAN},
            {.number = has_tensor ? measures->worst_signal_to_noise : NAN},
            {.number = has_tensor && !isnan(measures->worst_signal_to_noise) ? (double)measures->worst_scale : NAN}});
}

/* ---- Outputs and traps ---- */

static const struct result_column output_columns[] = {
    {"name", "output", RESULT_TEXT, false},
    {"all_on", "all enabled", RESULT_DECIBELS, false},
    {"as_run", "as run", RESULT_DECIBELS, false},
    {"simulation", "as run against all enabled", RESULT_DECIBELS, false},
    {"bias_kept", NULL, RESULT_DECIBELS, false},
    {"all_off", "all disabled against the float model", RESULT_DECIBELS, false},
    {"counts", "counts", RESULT_FLAG, false},
};

static const struct result_table output_table = {.key = "outputs",
                                                 .title = "Outputs: signal to quantization noise",
                                                 .line = "Outputs, signal to quantization noise in dB",
                                                 .log_rows = 20,
                                                 .columns = output_columns,
                                                 .column_count = ARRAY_LEN(output_columns)};

static void add_outputs(const struct quantization_table *table, struct result *ret)
{
    result_begin_table(ret, &output_table);
    ARRAY_EACH (const struct quantization_output, output, table->outputs, table->output_count) {
        result_add_row(ret, (const struct result_cell[]){{.text = output->name},
                                                         effect_cell(output->quantized, table->all_on_crash),
                                                         {.text = table->why_not_run, .number = output->as_run},
                                                         {.number = output->simulation},
                                                         {.number = output->bias_kept},
                                                         {.number = output->all_off},
                                                         {.number = output->counts}});
    }
}

static const struct result_column trap_columns[] = {
    {"kind", NULL, RESULT_TEXT, false},
    {"what", "what", RESULT_TEXT, false},
    {"why", "why", RESULT_TEXT, false},
    {"remedy", "fix", RESULT_TEXT, false},
    {"quantizers", "quantizers", RESULT_NAMES, false},
};

static const struct result_table trap_table = {
    .key = "traps", .title = "Known traps", .columns = trap_columns, .column_count = ARRAY_LEN(trap_columns)};

static void add_traps(const struct quantization_report *result, struct result *ret)
{
    result_begin_table(ret, &trap_table);
    VECTOR_EACH (const struct quantization_trap, trap, result->traps->list) {
        struct word_list names SCOPED_ITEMS = {0};

        for (size_t k = 0; k < trap->quantizers.count; k++)
            *VECTOR_APPEND(&names) = result->subject->quantizers.items[trap->quantizers.items[k]].name;
        result_add_row(ret, (const struct result_cell[]){{.text = trap->key},
                                                         {.text = trap->what},
                                                         {.text = trap->why},
                                                         {.text = trap->remedy},
                                                         {.names = {names.items, names.count}}});
    }
}

/* ---- Faults of stored weights ---- */

static const struct result_column fault_columns[] = {
    {"name", "weight", RESULT_TEXT, false},
    {"kind", NULL, RESULT_TEXT, false},
    {"what", "against the float model", RESULT_TEXT, false},
    {"wrong_blocks", NULL, RESULT_COUNT, false},
    {"blocks", NULL, RESULT_COUNT, false},
    {"own", "own", RESULT_DECIBELS, false},
    {"own_undone", "own, fault undone", RESULT_DECIBELS, false},
};

static const struct result_table fault_table = {.key = "weight_faults",
                                                .title = "Faults of stored weights",
                                                .columns = fault_columns,
                                                .column_count = ARRAY_LEN(fault_columns)};

static void add_faults(const struct quantization_report *result, struct result *ret)
{
    result_begin_table(ret, &fault_table);
    VECTOR_EACH (const struct weight_fault, found, result->faults->list) {
        SCOPED_STRING(what);

        stored_fault_describe(&found->fault, &what);
        result_add_row(ret,
                       (const struct result_cell[]){{.text = result->subject->quantizers.items[found->quantizer].name},
                                                    {.text = stored_fault_key(found->fault.kind)},
                                                    {.text = what.data},
                                                    {.number = (double)found->fault.wrong},
                                                    {.number = (double)found->fault.blocks},
                                                    {.number = found->fault.before},
                                                    {.number = found->fault.after}});
    }
}

/* ---- All of it ---- */

static void add_rewriting_facts(const struct quantization_rewriting *rewriting, struct result *ret)
{
    if (!rewriting->known) {
        result_add_null(ret, "rewritten");
        return;
    }
    result_begin_record(ret, "rewritten");
    result_add_count(ret, "integer_kernels", rewriting->integer_kernels);
    result_add_names(ret, "layers_in_float", (struct words){rewriting->in_float.items, rewriting->in_float.count});
    result_end_record(ret);
}

void quantization_result_fill(const struct quantization_report *result, struct result *ret)
{
    const struct quantization_table *table = result->table;

    result_add_text(ret, "model", result->subject->model->display_name);
    result_add_text(ret, "float_model", result->float_path);
    result_add_flag(ret, "generated_data", result->data_are_generated);
    result_add_count(ret, "samples", table->samples);
    result_add_count(ret, "runs", table->runs);
    result_add_number(ret, "seconds", table->seconds);
    result_add_text(ret, "why_not_run", table->why_not_run);
    result_add_text(ret, "why_no_all_on", table->all_on_crash);
    add_rewriting_facts(result->rewriting, ret);
    result_begin_table(ret, &quantizer_table);
    for (size_t i = 0; i < table->count; i++)
        add_row(result, &table->rows[i], ret);
    add_outputs(table, ret);
    add_faults(result, ret);
    add_traps(result, ret);
    quantization_notes_fill(result, ret);
}
