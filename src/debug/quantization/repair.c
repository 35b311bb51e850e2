/* debug/quantization/repair.c: see repair.h. */
#include "debug/quantization/repair.h"

#include <math.h>
#include <stdlib.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "debug/quantization/scales.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/model.h"
#include "onnx/write/model.h"
#include "tensor/quantization/noise.h"

struct repair_measuring {
    const struct quantization_study *study;
    const struct quantization_table *table;
    const struct quantizer_range *ranges;
    struct study_runs runs;
    struct tensor_list *reference;
};

bool repair_is_worse(const struct repair_ratios *ratios)
{
    return !(ratios->repaired > ratios->quantized);
}

/* ---- Outlying scales ---- */

static bool has_outlying_scale(const struct quantizer *quantizer)
{
    return quantizer->role == QUANTIZER_WEIGHT && quantizer->form == QUANTIZER_STORED &&
           quantizer->scale_type == DATA_FLOAT32 && quantizer->dequantize.count > 0 && quantizer->groups == NULL &&
           scale_is_outlying(quantizer_find_outlying_scale(quantizer).factor);
}

static bool any_scale_is_outlying(const struct quantizers *quantizers)
{
    for (size_t i = 0; i < quantizers->count; i++)
        if (has_outlying_scale(&quantizers->items[i]))
            return true;
    return false;
}

/* Replaces outlying scales of a constant by the median in a copy of the model. */
static int replace_scales(struct model *model, const struct quantizer *quantizer, struct error *err)
{
    const struct node *node = &model->nodes.items[quantizer->dequantize.items[0]];
    double median = quantizer_find_outlying_scale(quantizer).median;
    const float *scales = quantizer->scale.data;
    size_t count = tensor_elements(&quantizer->scale);
    void *changed;
    int rc = model_new_tensor(model, node_input(model, node, 1), DATA_FLOAT32, &quantizer->scale.shape, &changed, err);

    for (size_t i = 0; rc == 0 && i < count; i++)
        ((float *)changed)[i] =
            scale_is_outlying(fabs((double)scales[i]) / median) ? copysignf((float)median, scales[i]) : scales[i];
    return rc;
}

/* ---- Runs ---- */

static int replace_all_scales(struct model *model, const struct quantizers *quantizers, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < quantizers->count; i++)
        if (has_outlying_scale(&quantizers->items[i]))
            rc = replace_scales(model, &quantizers->items[i], err);
    return rc;
}

static int write_whole(const struct model *model, struct backend_model *ret, struct error *err)
{
    struct subgraph whole;
    char *bytes;
    int rc;

    subgraph_init_whole(&whole, model);
    rc = model_write_memory(&whole, &bytes, &ret->size, err);
    subgraph_release(&whole);
    if (rc == 0)
        ret->data = bytes;
    return rc;
}

/* The model with these changes, in memory. `rescales`: without outlying scales. */
static int write_changed(const struct repair_measuring *measuring, const struct quantizer_changes *changes,
                         bool rescales, struct backend_model *ret, struct error *err)
{
    struct quantization_subject subject = *measuring->study->subject;
    struct model *changed = NULL;
    int rc = 0;

    subject.model = model_copy(subject.model);
    if (rescales)
        rc = replace_all_scales(subject.model, &subject.quantizers, err);
    if (rc < 0)
        goto done;
    rc = quantizer_changes_apply(&subject, measuring->ranges, changes, &changed, NULL, err);
    if (rc < 0)
        goto done;
    rc = write_whole(changed, ret, err);
done:
    model_free(changed);
    model_free(subject.model);
    return rc;
}

static int record_changed(struct repair_measuring *measuring, const struct quantizer_changes *changes, bool rescales,
                          bool in_float, struct tensor_list **ret, struct error *err)
{
    struct backend_model model = measuring->study->request.model;
    char *folder SCOPED_FREE = file_folder(model.path);
    int rc;

    model.path = NULL;
    if (model.external_folder == NULL)
        model.external_folder = folder;
    rc = write_changed(measuring, changes, rescales, &model, err);
    if (rc < 0)
        return rc;
    rc = study_runs_record(&measuring->runs, &model, in_float, ret, err);
    free((void *)model.data);
    return rc;
}

/* The lowest ratio of the outputs that count. */
static double find_worst_ratio(const struct repair_measuring *measuring, const struct tensor_list *actual)
{
    double ret = NAN;

    for (size_t i = 0; i < measuring->table->output_count; i++) {
        const struct quantization_output *output = &measuring->table->outputs[i];
        struct noise noise = {0};
        double ratio;

        for (size_t k = 0; output->counts && k < measuring->runs.samples; k++) {
            const struct tensor *a = quantization_find_output(measuring->table, &actual[k], i);
            const struct tensor *b = quantization_find_output(measuring->table, &measuring->reference[k], i);

            if (a != NULL && b != NULL)
                noise_add(&noise, a, b);
        }
        ratio = noise_ratio(&noise);
        if (!isnan(ratio) && !(ratio >= ret))
            ret = ratio;
    }
    return ret;
}

static int measure_changed(struct repair_measuring *measuring, const struct quantizer_changes *changes, bool rescales,
                           double *ret, struct error *err)
{
    struct tensor_list *outputs = NULL;
    int rc = record_changed(measuring, changes, rescales, false, &outputs, err);

    if (rc == 0)
        *ret = find_worst_ratio(measuring, outputs);
    study_outputs_free(outputs, measuring->runs.samples);
    return rc;
}

/* Measures against the float model, or the model without quantizers. */
static int measure_ratios(struct repair_measuring *measuring, const struct quantizer_changes *changes, bool rescales,
                          struct repair_ratios *ret, struct error *err)
{
    const struct quantization_study *study = measuring->study;
    struct backend_model model = study->request.model;
    struct quantizer_changes none, all;
    int rc;

    quantizer_changes_init(&none, study->subject->quantizers.count);
    quantizer_changes_init_all_off(&all, study->subject);
    model.path = study->float_path;
    rc = study->float_path != NULL ? study_runs_record(&measuring->runs, &model, true, &measuring->reference, err)
                                   : record_changed(measuring, &all, rescales, true, &measuring->reference, err);
    if (rc < 0)
        goto done;
    rc = measure_changed(measuring, &none, false, &ret->quantized, err);
    if (rc < 0)
        goto done;
    rc = measure_changed(measuring, changes, false, &ret->repaired, err);
    if (rc == 0 && rescales)
        rc = measure_changed(measuring, &none, true, &ret->rescaled, err);
done:
    study_outputs_free(measuring->reference, measuring->runs.samples);
    measuring->reference = NULL;
    quantizer_changes_release(&none);
    quantizer_changes_release(&all);
    return rc;
}

int quantization_measure_repair(const struct quantization_study *study, const struct quantizer_range *ranges,
                                const struct quantizer_changes *changes, struct quantization_table *table,
                                struct repair_measures *ret, struct error *err)
{
    const struct repair_ratios unknown = {NAN, NAN, NAN};
    struct repair_measuring measuring = {
        .study = study, .table = table, .ranges = ranges, .runs = {.study = study, .samples = table->samples}};
    struct error why = {0};
    int rc;

    *ret = (struct repair_measures){.reference = unknown, .other = unknown};
    rc = measure_ratios(&measuring, changes, false, &ret->reference, &why);
    if (rc == 0 && study->float_path == NULL && any_scale_is_outlying(&study->subject->quantizers))
        rc = measure_ratios(&measuring, changes, true, &ret->other, &why);
    study_runs_end(&measuring.runs);
    if (rc == ERR_INTERRUPTED)
        return error_set(err, ERR_INTERRUPTED, "interrupted");
    ret->is_known = rc == 0 && !isnan(ret->reference.quantized) && !isnan(ret->reference.repaired);
    if (!ret->is_known)
        ret->why_not = rc < 0 ? arena_strdup(&table->arena, why.message) : "no output has finite values";
    return 0;
}
