/* debug/models/recorded.c: see recorded.h. */
#include "debug/models/recorded.h"

#include <math.h>
#include <stdlib.h>

#include "backend/model_io.h"
#include "base/memory.h"
#include "tensor/statistics/range.h"
#include "tensor/values/elements.h"

static int run_first_model(struct recorded_study *study, struct error *err)
{
    const struct model *model = study->model;
    struct tensor *constants SCOPED_FREE = memory_alloc_zero(model->values.count + 1, sizeof(*constants));
    const struct paired_model side = {.model = study->model, .constants = constants};
    const struct values_runner runner = {study->backend, study->request, &study->feed};
    struct backend_io *inputs = model_io_new(model, NULL, &model->inputs);
    int rc = data_loader_feed(study->loader, inputs, model->inputs.count, 0, &study->feed, err);

    model_io_free(inputs, model->inputs.count);
    return rc < 0 ? rc : model_values_run(&runner, model, &side, &study->values_a, err);
}

static void list_recorded(struct recorded_study *study)
{
    const struct tensor_list *recorded = study->recorded;

    study->values_b = (struct run_values){.count = recorded->count};
    study->values_b.items = memory_alloc_zero(recorded->count + 1, sizeof(const struct tensor *));
    for (size_t i = 0; i < recorded->count; i++)
        study->values_b.items[i] = &recorded->items[i].tensor;
}

/* B's tensor of the same name, if it can be compared. */
static const struct tensor *find_namesake(const struct recorded_study *study, uint32_t value)
{
    const struct named_tensor *found = tensor_list_find(study->recorded, study->model->values.items[value].name);

    return found != NULL ? &found->tensor : NULL;
}

/* Whether a tensor that equals it is no coincidence: zeros, for example, are in many places. */
static bool is_distinctive(const struct tensor *tensor)
{
    struct value_range range;

    if (elements_arithmetic(tensor->type) == ARITHMETIC_NONE || tensor_elements(tensor) == 0)
        return false;
    range_compute(tensor, &range);
    return range.minimum < range.maximum;
}

static void compare_values(struct recorded_study *study)
{
    struct value_summaries summaries SCOPED(value_summaries_release);

    value_summaries_make(&study->values_b, &summaries);
    for (uint32_t i = 0; i < study->values_a.count; i++) {
        const struct tensor *a = study->values_a.items[i], *b = a != NULL ? find_namesake(study, i) : NULL;

        if (a == NULL || model_producer(study->model, i) == NULL)
            continue;
        study->values++;
        if ((b != NULL && tensor_distance(a, b) <= study->tolerance) ||
            (is_distinctive(a) &&
             value_summaries_find(&summaries, &study->values_b, a, study->tolerance) != VALUE_NONE))
            bitset_add(&study->equal, i);
        else if (b != NULL)
            bitset_add(&study->different, i);
    }
    study->equal_values = bitset_count(&study->equal);
}

static void count_outputs(struct recorded_study *study)
{
    for (size_t i = 0; i < study->model->outputs.count; i++) {
        uint32_t output = study->model->outputs.items[i];
        const struct tensor *b = find_namesake(study, output);

        study->equal_outputs += bitset_has(&study->equal, output);
        study->different_outputs += bitset_has(&study->different, output);
        if (b != NULL && study->values_a.items[output] != NULL)
            study->error = fmax(study->error, tensor_distance(study->values_a.items[output], b));
    }
}

/* The nodes that compute a value from what is equal, in `ret`; the values that they read and that are not equal stop
 * nothing. */
static void collect_nodes(const struct recorded_study *study, uint32_t value, struct bitset *ret)
{
    const struct model *model = study->model;
    struct value_list wanted SCOPED_ITEMS = {0};

    *VECTOR_APPEND(&wanted) = value;
    while (wanted.count > 0) {
        const struct node *node = model_producer(model, wanted.items[--wanted.count]);
        size_t number = node != NULL ? (size_t)(node - model->nodes.items) : 0;

        if (node == NULL || bitset_has(ret, number))
            continue;
        bitset_add(ret, number);
        for (size_t i = 0; i < node_read_count(node); i++) {
            uint32_t read = node_read(model, node, i);

            if (read != VALUE_NONE && !bitset_has(&study->equal, read))
                *VECTOR_APPEND(&wanted) = read;
        }
    }
}

/* The values on the way to outputs that differ. */
static void mark_needed(const struct recorded_study *study, struct bitset *ret)
{
    bitset_init(ret, study->model->nodes.count);
    for (size_t i = 0; i < study->model->outputs.count; i++)
        if (bitset_has(&study->different, study->model->outputs.items[i]))
            collect_nodes(study, study->model->outputs.items[i], ret);
}

/* Nodes are sorted: what the first value that differs is computed from does not differ. */
static void find_first_value(struct recorded_study *study)
{
    const struct model *model = study->model;
    SCOPED_BITSET(needed);

    mark_needed(study, &needed);
    BITSET_EACH (i, &needed)
        for (size_t k = 0; k < model->nodes.items[i].outputs.count; k++) {
            uint32_t value = node_output(model, &model->nodes.items[i], k);

            if (value == VALUE_NONE || !bitset_has(&study->different, value))
                continue;
            study->first_value = value;
            tensor_distance_describe(study->values_a.items[value], find_namesake(study, value), &study->text);
            collect_nodes(study, value, &study->nodes);
            return;
        }
}

int recorded_study_run(struct recorded_study *study, struct error *err)
{
    int rc;

    study->first_value = VALUE_NONE;
    string_init(&study->text);
    bitset_init(&study->nodes, study->model->nodes.count);
    bitset_init(&study->equal, study->model->values.count);
    bitset_init(&study->different, study->model->values.count);
    rc = run_first_model(study, err);
    if (rc < 0)
        return rc;
    list_recorded(study);
    if (study->tolerance == 0)
        study->tolerance = model_values_tolerance(study->model, NULL, &study->values_a, &study->values_b);
    compare_values(study);
    count_outputs(study);
    find_first_value(study);
    return 0;
}

void recorded_study_release(struct recorded_study *study)
{
    if (study->nodes.words == NULL)
        return;
    string_release(&study->text);
    bitset_release(&study->nodes);
    bitset_release(&study->equal);
    bitset_release(&study->different);
    model_values_release(&study->values_a);
    free(study->values_b.items);
    tensor_list_release(&study->feed);
}
