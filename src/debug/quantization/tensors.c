/* debug/quantization/tensors.c: see tensors.h. */
#include "debug/quantization/tensors.h"

#include "base/interrupt.h"
#include "base/memory.h"
#include "onnx/external/tensor.h"

/* Number of tensors per run, which limits memory. */
#define TENSORS_AT_ONCE 16

struct values_measuring {
    struct study_runs *runs;
    const struct quantization_subject *subject;
    struct quantized_tensor *items;
    struct arena *arena;
};

static const struct value *value_of(const struct quantization_subject *subject, size_t quantizer)
{
    return &subject->model->values.items[subject->quantizers.items[quantizer].tensor];
}

/* Stores the reason why a tensor cannot be measured, and continues. */
static int note_failure(const struct values_measuring *measuring, size_t quantizer, int rc, const struct error *why,
                        struct error *err)
{
    if (rc == ERR_INTERRUPTED || rc == ERR_MEMORY)
        return error_set(err, (enum error_code)rc, "%s", why->message);
    if (rc < 0)
        measuring->items[quantizer].why_not = arena_strdup(measuring->arena, why->message);
    return 0;
}

static const char *why_not_measured(const struct quantizer *quantizer)
{
    return quantizer->problem != NULL      ? quantizer->problem
           : quantizer->dynamic            ? "its scale is computed when the model runs"
           : quantizer->scale.data == NULL ? "its scale is unknown"
                                           : NULL;
}

/* ---- Constants and inputs ---- */

static int add_constant(const struct values_measuring *measuring, size_t index, struct tensor_measuring *values,
                        struct error *err)
{
    const struct switched_model *switched = measuring->runs->switched;
    const struct tensor *constant = switched_model_constant(switched, index);
    struct model *model = measuring->subject->model;
    struct tensor stored;
    bool is_stored = measuring->subject->quantizers.items[index].form == QUANTIZER_STORED;
    int rc;

    if (constant != NULL && !is_stored)
        return tensor_measuring_add(values, constant, err);
    rc = external_tensor_borrow(
        model, model->initializers.items[value_of(measuring->subject, index)->initializer].message, &stored, err);
    if (rc < 0)
        return rc;
    if (constant != NULL)
        return tensor_measuring_add_pair(values, constant, &stored, err);
    if (measuring->subject->quantizers.items[index].form == QUANTIZER_PAIR)
        return tensor_measuring_add(values, &stored, err);
    measuring->items[index].of_stored = true;
    return tensor_measuring_add_stored(values, &stored, err);
}

/* The values of a model's input are the input data. */
static int add_input(const struct values_measuring *measuring, size_t index, struct tensor_measuring *values,
                     struct error *err)
{
    int rc = 0;

    for (size_t sample = 0; rc == 0 && sample < measuring->runs->samples; sample++) {
        const struct named_tensor *input =
            tensor_list_find(&measuring->runs->feeds[sample], value_of(measuring->subject, index)->name);

        if (input != NULL)
            rc = tensor_measuring_add(values, &input->tensor, err);
    }
    return rc;
}

static int measure_known(const struct values_measuring *measuring, size_t index, struct error *err)
{
    struct tensor_measuring *values;
    int rc = tensor_measuring_new(&measuring->subject->quantizers.items[index], &values, err);

    if (rc < 0)
        return rc;
    rc = value_of(measuring->subject, index)->initializer != INITIALIZER_NONE
             ? add_constant(measuring, index, values, err)
             : add_input(measuring, index, values, err);
    if (rc == 0)
        tensor_measuring_finish(values, &measuring->items[index].measures);
    tensor_measuring_free(values);
    return rc;
}

/* ---- What is computed ---- */

/* A few tensors, measured in one run with all quantizers disabled. */
struct group {
    size_t quantizers[TENSORS_AT_ONCE];
    struct tensor_measuring *values[TENSORS_AT_ONCE];
    const char *names[TENSORS_AT_ONCE];
    size_t count;
};

static int measure_sample(const struct values_measuring *measuring, struct group *group, size_t sample,
                          struct error *err)
{
    const struct words wanted = {.items = group->names, .count = group->count};
    struct tensor_list outputs SCOPED(tensor_list_release) = {0};
    struct bitset none SCOPED(bitset_release) = {0};
    int rc;

    bitset_init(&none, measuring->subject->quantizers.count);
    rc = study_runs_switched(measuring->runs, sample, &none, &wanted, &outputs, err);
    for (size_t i = 0; rc == 0 && i < group->count; i++) {
        const struct named_tensor *values = tensor_list_find(&outputs, text_of(group->names[i]));
        size_t index = group->quantizers[i];
        struct error why;

        if (values != NULL && measuring->items[index].why_not == NULL)
            rc = note_failure(measuring, index, tensor_measuring_add(group->values[i], &values->tensor, &why), &why,
                              err);
    }
    return rc;
}

static void group_clear(struct group *group)
{
    for (size_t i = 0; i < group->count; i++)
        tensor_measuring_free(group->values[i]);
    *group = (struct group){0};
}

static int add_to_group(const struct values_measuring *measuring, struct group *group, size_t index, struct error *err)
{
    const struct quantization_subject *subject = measuring->subject;
    const struct quantizer_twin *twin = quantization_twin(subject, index);
    struct error why;
    int rc = tensor_measuring_new(&subject->quantizers.items[index], &group->values[group->count], &why);

    if (rc == 0 && twin != NULL && twin->tensor != VALUE_NONE)
        tensor_measuring_bound(group->values[group->count], twin->least, twin->largest);
    group->names[group->count] = arena_text(measuring->arena, value_of(subject, index)->name);
    group->quantizers[group->count++] = index;
    return note_failure(measuring, index, rc, &why, err);
}

/* Handles a crash of the runtime in the run for these tensors. */
static void note_crash(const struct values_measuring *measuring, const struct group *group, const struct error *why)
{
    struct string_builder name;

    string_init(&name);
    string_add_quoted(&name, measuring->subject->quantizers.items[group->quantizers[0]].name);
    log_message(measuring->runs->study->log, LOG_WARNING,
                "Cannot measure the noise of %zu quantizers (%s ...) in their own tensors: %s", group->count, name.data,
                why->message);
    string_release(&name);
    for (size_t i = 0; i < group->count; i++)
        measuring->items[group->quantizers[i]].why_not = arena_strdup(measuring->arena, why->message);
}

static int measure_group(const struct values_measuring *measuring, struct group *group, struct error *err)
{
    struct error why = {0};
    int rc = 0;

    for (size_t sample = 0; rc == 0 && sample < measuring->runs->samples; sample++)
        rc = measure_sample(measuring, group, sample, &why);
    if (rc < 0 && bounded_process_is_end(&why)) {
        note_crash(measuring, group, &why);
        rc = 0;
    } else if (rc < 0) {
        *err = why;
    }
    for (size_t i = 0; i < group->count; i++) {
        struct quantized_tensor *item = &measuring->items[group->quantizers[i]];

        if (rc == 0 && item->why_not == NULL)
            tensor_measuring_finish(group->values[i], &item->measures);
    }
    group_clear(group);
    return rc;
}

/* ---- All of them ---- */

static bool is_computed(const struct study_runs *runs, size_t index)
{
    const struct quantization_subject *subject = runs->study->subject;

    return why_not_measured(&subject->quantizers.items[index]) == NULL &&
           switched_model_why_not(runs->switched, index) == NULL && value_of(subject, index)->producer != NODE_NONE;
}

size_t quantized_tensors_runs(const struct study_runs *runs)
{
    size_t computed = 0;

    for (size_t i = 0; i < runs->study->subject->quantizers.count; i++)
        computed += is_computed(runs, i);
    return runs->samples * ((computed + TENSORS_AT_ONCE - 1) / TENSORS_AT_ONCE);
}

/* Measures constants, with or without a switch, and inputs with one. */
static int measure_at_once(const struct values_measuring *measuring, size_t index, struct error *err)
{
    const char *why_no_switch = switched_model_why_not(measuring->runs->switched, index);
    struct quantized_tensor *item = &measuring->items[index];
    struct error why;

    item->why_not = why_not_measured(&measuring->subject->quantizers.items[index]);
    if (item->why_not == NULL && value_of(measuring->subject, index)->initializer == INITIALIZER_NONE)
        item->why_not = why_no_switch;
    return item->why_not != NULL ? 0 : note_failure(measuring, index, measure_known(measuring, index, &why), &why, err);
}

static int measure_computed(const struct values_measuring *measuring, struct error *err)
{
    struct group group = {0};
    int rc = 0;

    for (size_t i = 0; i < measuring->subject->quantizers.count; i++) {
        if (!is_computed(measuring->runs, i))
            continue;
        if (group.count == TENSORS_AT_ONCE)
            rc = measure_group(measuring, &group, err);
        if (rc == 0)
            rc = add_to_group(measuring, &group, i, err);
        if (rc < 0)
            goto done;
    }
    if (group.count > 0)
        rc = measure_group(measuring, &group, err);
done:
    group_clear(&group);
    return rc;
}

int quantized_tensors_measure(struct study_runs *runs, struct quantized_tensor *items, struct arena *arena,
                              struct error *err)
{
    const struct quantization_subject *subject = runs->study->subject;
    const struct values_measuring measuring = {.runs = runs, .subject = subject, .items = items, .arena = arena};

    for (size_t i = 0; i < subject->quantizers.count; i++) {
        int rc = 0;

        if (interrupt_pending())
            return error_set(err, ERR_INTERRUPTED, "interrupted");
        if (!is_computed(runs, i))
            rc = measure_at_once(&measuring, i, err);
        if (rc < 0)
            return rc;
    }
    return measure_computed(&measuring, err);
}
