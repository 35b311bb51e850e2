/* comparator/reference/run.c: see run.h. */
#include "comparator/reference/run.h"

#include <stdlib.h>

#include "backend/type_inference.h"
#include "base/container/name_map.h"
#include "base/memory.h"
#include "comparator/infer/layerwise.h"
#include "onnx/edit/model.h"
#include "onnx/edit/rebuild.h"

#define LARGEST_GROUP ((uint64_t)256 << 20) /* bytes per group */
#define SHARE_OF_FREE_DISK 4                /* 1/N of the free space is for values not requested */

void reference_run_add(struct reference_run *run, uint32_t value, bool asked)
{
    run->items = memory_grow(run->items, run->count, &run->capacity, sizeof(*run->items));
    run->items[run->count].value = value;
    run->items[run->count].asked = asked;
    run->items[run->count].dropped = false;
    run->items[run->count++].row = memory_alloc_zero(run->samples, sizeof(struct tensor));
}

void reference_run_release(struct reference_run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        for (size_t k = 0; run->items[i].row != NULL && k < run->samples; k++)
            tensor_release(&run->items[i].row[k]);
        free(run->items[i].row);
    }
    free(run->items);
    if (run->copy != NULL)
        model_free(run->copy);
}

static struct text find_item_name(const struct reference_run *run, size_t item)
{
    return run->whole->model->values.items[run->items[item].value].name;
}

/* ---- Disk space ---- */

struct sized_item {
    uint64_t size;
    size_t item;
};

static int compare_sizes(const void *one, const void *other)
{
    const struct sized_item *a = one, *b = other;

    return a->size != b->size ? (a->size > b->size) - (a->size < b->size) : (a->item > b->item) - (a->item < b->item);
}

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Drops the largest values that were not requested until the rest fits. `sizes` are the sizes of all items in one
 * sample. */
static void drop_largest(struct reference_run *run, const uint64_t *sizes)
{
    struct sized_item *order SCOPED_FREE = memory_alloc_zero(run->count, sizeof(*order));
    uint64_t sum = value_store_size(run->store);

    for (size_t i = 0; i < run->count; i++)
        order[i] = (struct sized_item){run->items[i].asked ? 0 : sizes[i], i};
    qsort(order, run->count, sizeof(*order), compare_sizes);
    for (size_t i = 0; i < run->count; i++) {
        uint64_t size = sizes[order[i].item];
        uint64_t all = size > UINT64_MAX / run->samples ? UINT64_MAX : size * run->samples;

        sum = add_saturating(sum, all);
        if (!run->items[order[i].item].asked && sum > run->disk)
            run->items[order[i].item].dropped = true;
    }
}

static int find_room(struct reference_run *run, struct error *err)
{
    uint64_t room;
    int rc = value_store_room(run->store, &room, err);

    if (rc == 0 && room / SHARE_OF_FREE_DISK < run->disk)
        run->disk = room / SHARE_OF_FREE_DISK;
    return rc;
}

static int keep_tensor(struct reference_run *run, size_t item, size_t sample, const struct tensor *tensor,
                       struct error *err)
{
    if (!run->items[item].asked && add_saturating(value_store_size(run->store), tensor->size) > run->disk)
        run->items[item].dropped = true; /* sizes were not known, or differ between samples */
    if (run->items[item].dropped)
        return 0;
    return value_store_add(run->store, tensor, &run->items[item].row[sample], err);
}

/* ---- In one session ---- */

/* Drops values that were not requested and that the session lacks or cannot return as tensors. */
static void drop_unreadable(struct reference_run *run, const struct backend_session *session)
{
    size_t count = session->output_count;
    const struct backend_io *outputs = session->outputs;
    SCOPED_NAME_MAP(readable);

    for (size_t i = 0; i < count; i++)
        if (outputs[i].not_a_tensor == NULL)
            name_map_add(&readable, text_of(outputs[i].name), 0);
    for (size_t i = 0; i < run->count; i++)
        if (!run->items[i].asked && name_map_find(&readable, find_item_name(run, i)) == NAME_MAP_NONE)
            run->items[i].dropped = true;
}

static void drop_by_outputs(struct reference_run *run, const size_t *positions, const struct tensor_list *outputs)
{
    uint64_t *sizes SCOPED_FREE = memory_alloc_zero(run->count, sizeof(*sizes));

    for (size_t i = 0; i < outputs->count; i++)
        sizes[positions[i]] = outputs->items[i].tensor.size;
    drop_largest(run, sizes);
}

static int run_sample(struct reference_run *run, struct backend_session *session, size_t sample, char **names,
                      size_t *positions, struct error *err)
{
    struct tensor_list outputs SCOPED(tensor_list_release) = {0};
    size_t count = 0;
    int rc;

    for (size_t i = 0; i < run->count; i++)
        if (!run->items[i].dropped) {
            struct text name = find_item_name(run, i);

            names[count] = memory_copy(name.data, name.size);
            positions[count++] = i;
        }
    rc = run->backend->run(session, &run->feeds[sample], &(struct words){(const char *const *)names, count}, &outputs,
                           NULL, err);
    if (rc < 0)
        goto done;
    if (sample == 0)
        drop_by_outputs(run, positions, &outputs);
    for (size_t i = 0; i < count; i++) {
        rc = keep_tensor(run, positions[i], sample, &outputs.items[i].tensor, err);
        if (rc < 0)
            goto done;
        tensor_release(&outputs.items[i].tensor);
    }
    rc = value_store_commit(run->store, err);
done:
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    return rc;
}

int reference_run_session(struct reference_run *run, struct backend_session *session, struct error *err)
{
    char **names = memory_alloc_zero(run->count, sizeof(*names));
    size_t *positions SCOPED_FREE = memory_alloc_zero(run->count, sizeof(*positions));
    int rc = find_room(run, err);

    drop_unreadable(run, session);
    for (size_t i = 0; rc == 0 && i < run->samples; i++)
        rc = run_sample(run, session, i, names, positions, err);
    free(names);
    return rc;
}

/* ---- In groups ---- */

/* Whether the model states the sizes of all tensors, and they are small. */
static bool is_small_as_described(const struct reference_run *run)
{
    struct value_list all SCOPED_ITEMS = {0};
    uint64_t sum = 0;

    types_list_all(run->whole, &all);
    for (size_t i = 0; i < all.count; i++)
        sum = add_saturating(
            sum, layerwise_value_size(known_types_info(run->whole->known, run->whole->model, all.items[i])));
    return sum <= run->memory;
}

static int copy_model(struct reference_run *run, struct error *err)
{
    int rc;

    run->copy = model_copy(run->whole->model);
    if (run->whole->known != NULL)
        known_types_state(run->whole->known, run->copy);
    run->copy->outputs.count = 0;
    types_list_all(run->whole, &run->copy->outputs);
    rc = model_lower_constants(run->copy, err);
    return rc == 0 ? model_sort_nodes(run->copy, err) : rc;
}

static int plan_sample(const struct reference_run *run, size_t sample, struct layerwise *ret, struct error *err)
{
    *ret = (struct layerwise){.model = run->copy,
                              .backend = run->backend,
                              .request = run->request,
                              .bound = run->memory < LARGEST_GROUP ? run->memory : LARGEST_GROUP};
    return layerwise_plan(ret, &run->feeds[sample], err);
}

/* Engines do not use groups. A model that the runtime refuses here is refused later, when it is loaded as a whole. */
int reference_run_plan(struct reference_run *run, bool *ret_groups, struct error *err)
{
    struct layerwise plan;
    struct error why = {0};
    int rc = 0;

    *ret_groups = false;
    if (run->request == NULL || is_small_as_described(run))
        return 0;
    if (copy_model(run, &why) < 0)
        return 0;
    rc = plan_sample(run, 0, &plan, &why);
    if (rc == ERR_INTERRUPTED)
        return error_set(err, ERR_INTERRUPTED, "%s", why.message);
    if (rc < 0)
        return 0;
    *ret_groups = plan.bytes > run->memory;
    layerwise_release(&plan);
    return 0;
}

/* Unknown sizes count as the largest known one. */
static void drop_by_plan(struct reference_run *run, const struct layerwise *plan)
{
    uint64_t *sizes SCOPED_FREE = memory_alloc_zero(run->count, sizeof(*sizes));
    uint64_t largest = 0;

    for (size_t i = 0; i < run->count; i++) {
        sizes[i] = layerwise_value_size(plan->model->values.items[run->items[i].value].info);
        if (sizes[i] != UINT64_MAX && sizes[i] > largest)
            largest = sizes[i];
    }
    for (size_t i = 0; i < run->count; i++) {
        if (sizes[i] == UINT64_MAX)
            sizes[i] = largest;
        if (!run->items[i].asked && !bitset_has(&plan->wanted, run->items[i].value))
            run->items[i].dropped = true;
    }
    drop_largest(run, sizes);
}

/* The number of groups up to the last one that produces a requested value. ERR_UNSUPPORTED for a value that no group
 * produces. */
static int count_groups(const struct reference_run *run, const struct layerwise *plan, size_t *ret, struct error *err)
{
    SCOPED_BITSET(missing);
    uint32_t *makers SCOPED_FREE = memory_alloc_zero(plan->model->values.count, sizeof(*makers));
    int rc = 0;

    bitset_init(&missing, plan->model->values.count);
    for (size_t i = 0; i < run->count; i++)
        bitset_add(&missing, run->items[i].value);
    for (size_t g = 0; g < plan->count; g++)
        for (size_t i = 0; i < plan->groups[g].outputs.count; i++)
            if (bitset_has(&plan->wanted, plan->groups[g].outputs.items[i])) {
                makers[plan->groups[g].outputs.items[i]] = (uint32_t)g;
                bitset_remove(&missing, plan->groups[g].outputs.items[i]);
            }
    *ret = 0;
    for (size_t i = 0; i < run->count && rc == 0; i++) {
        if (run->items[i].dropped)
            continue;
        if (bitset_has(&missing, run->items[i].value))
            rc = error_set(err, ERR_UNSUPPORTED, "'" TEXT_FORMAT "' is no tensor that the model computes",
                           TEXT_ARGS(find_item_name(run, i)));
        if (makers[run->items[i].value] >= *ret)
            *ret = makers[run->items[i].value] + 1;
    }
    return rc;
}

static int run_group(struct reference_run *run, struct layerwise_run *layers, size_t group, size_t sample,
                     const struct name_map *items, struct error *err)
{
    struct tensor_list outputs SCOPED(tensor_list_release) = {0};
    double seconds = 0;
    int rc = layerwise_step(layers, group, &run->feeds[sample], &outputs, &seconds, err);

    for (size_t i = 0; rc == 0 && i < outputs.count; i++) {
        uint32_t item = name_map_find(items, text_of(outputs.items[i].name));

        if (item != NAME_MAP_NONE)
            rc = keep_tensor(run, item, sample, &outputs.items[i].tensor, err);
    }
    if (rc == 0)
        rc = value_store_commit(run->store, err);
    return rc;
}

/* Shapes may differ between samples, so each sample has its own plan. */
static int run_sample_in_groups(struct reference_run *run, size_t sample, const struct name_map *items,
                                struct error *err)
{
    struct layerwise plan SCOPED(layerwise_release) = {0};
    struct layerwise_run layers SCOPED(layerwise_run_release) = {0};
    size_t groups;
    int rc = plan_sample(run, sample, &plan, err);

    if (rc < 0)
        return rc;
    if (sample == 0)
        drop_by_plan(run, &plan);
    rc = count_groups(run, &plan, &groups, err);
    layerwise_run_init(&layers, &plan, plan.backend, run->request);
    layers.request.log = NULL;
    for (size_t i = 0; rc == 0 && i < groups; i++)
        rc = run_group(run, &layers, i, sample, items, err);
    return rc;
}

int reference_run_groups(struct reference_run *run, struct error *err)
{
    SCOPED_NAME_MAP(items);
    int rc = run->copy == NULL ? copy_model(run, err) : 0;

    if (rc == 0)
        rc = find_room(run, err);
    for (size_t i = 0; i < run->count; i++)
        name_map_add(&items, find_item_name(run, i), (uint32_t)i);
    for (size_t i = 0; rc == 0 && i < run->samples; i++)
        rc = run_sample_in_groups(run, i, &items, err);
    return rc;
}
