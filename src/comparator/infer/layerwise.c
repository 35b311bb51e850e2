/* comparator/infer/layerwise.c: see layerwise.h. */
#include "comparator/infer/layerwise.h"

#include <stdlib.h>

#include "backend/type_inference.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/memory_limit.h"
#include "onnx/edit/model.h"
#include "onnx/write/model.h"

/* ---- Planning ---- */

/* State of planning. */
struct planner {
    struct layerwise *plan;
    const struct bitset *not_tensors;
    uint32_t *last_reader; /* of each value: its last consumer, or its producer */
    uint64_t bound;
    uint64_t largest;    /* size of the largest tensor of known size */
    uint32_t open_until; /* the last consumer of the non-tensor values produced so far */
};

uint64_t layerwise_value_size(struct span info)
{
    struct value_type type;
    size_t elements, bytes;

    value_info_decode(info, &type);
    if (type.not_a_tensor != NULL || !type.has_shape || type.element == DATA_UNDEFINED || !shape_is_static(&type.shape))
        return UINT64_MAX;
    elements = shape_elements(&type.shape);
    bytes = elements == SIZE_MAX || type.element == DATA_STRING ? SIZE_MAX : tensor_bytes(type.element, elements);
    return bytes == SIZE_MAX ? UINT64_MAX : bytes;
}

static uint64_t node_size(const struct planner *planner, const struct node *node)
{
    const struct model *model = planner->plan->model;
    uint64_t sum = 0;

    for (size_t k = 0; k < node->outputs.count; k++) {
        uint32_t value = model_edge(model, node->outputs, k);
        uint64_t size = value == VALUE_NONE ? 0 : layerwise_value_size(model->values.items[value].info);

        if (__builtin_add_overflow(sum, size == UINT64_MAX ? planner->largest : size, &sum))
            return UINT64_MAX;
    }
    return sum;
}

static void note_readers(struct planner *planner, struct edge_range range, uint32_t reader)
{
    for (size_t k = 0; k < range.count; k++) {
        uint32_t value = model_edge(planner->plan->model, range, k);

        if (value != VALUE_NONE)
            planner->last_reader[value] = reader;
    }
}

static void survey_model(struct planner *planner)
{
    const struct model *model = planner->plan->model;

    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];

        note_readers(planner, node->outputs, i);
        note_readers(planner, node->inputs, i);
        note_readers(planner, node->captures, i);
        for (size_t k = 0; k < node->outputs.count; k++) {
            uint32_t value = model_edge(model, node->outputs, k);
            uint64_t size = value == VALUE_NONE ? UINT64_MAX : layerwise_value_size(model->values.items[value].info);

            if (size != UINT64_MAX && size > planner->largest)
                planner->largest = size;
        }
    }
    if (planner->largest == 0)
        planner->largest = planner->bound / 16;
    for (size_t i = 0; i < model->outputs.count; i++) {
        uint64_t size = layerwise_value_size(model->values.items[model->outputs.items[i]].info);

        planner->plan->bytes += size == UINT64_MAX ? planner->largest : size;
    }
}

/* Extends `open_until`: a group may only start after the last consumer of values that cannot be fed. */
static void note_sequences(struct planner *planner, const struct node *node)
{
    for (size_t k = 0; k < node->outputs.count; k++) {
        uint32_t value = model_edge(planner->plan->model, node->outputs, k);

        if (value != VALUE_NONE && bitset_has(planner->not_tensors, value) &&
            planner->last_reader[value] > planner->open_until)
            planner->open_until = planner->last_reader[value];
    }
}

static struct layerwise_group *begin_group(struct layerwise *plan, uint32_t first)
{
    plan->groups = memory_grow(plan->groups, plan->count, &plan->capacity, sizeof(*plan->groups));
    plan->groups[plan->count] = (struct layerwise_group){.first = first, .end = first};
    return &plan->groups[plan->count++];
}

static void make_groups(struct planner *planner)
{
    struct layerwise *plan = planner->plan;
    uint64_t size = 0;

    if (plan->model->nodes.count == 0) /* its outputs are inputs and initializers */
        begin_group(plan, 0);

    for (uint32_t i = 0; i < plan->model->nodes.count; i++) {
        const struct node *node = &plan->model->nodes.items[i];
        uint64_t more = node_size(planner, node);

        if (plan->count == 0 || (i > planner->open_until && size > 0 && more > planner->bound - size)) {
            begin_group(plan, i);
            size = 0;
        }
        size = more > planner->bound - size ? planner->bound : size + more;
        plan->groups[plan->count - 1].end = i + 1;
        note_sequences(planner, node);
    }
}

static void add_group_inputs(const struct layerwise *plan, size_t index, struct edge_range range,
                             const struct bitset *feedable, struct bitset *taken)
{
    for (size_t k = 0; k < range.count; k++) {
        uint32_t value = model_edge(plan->model, range, k);
        uint32_t producer;

        if (value == VALUE_NONE)
            continue;
        plan->last_use[value] = (uint32_t)index;
        producer = plan->model->values.items[value].producer;
        if (bitset_has(taken, value) || (producer == NODE_NONE && !bitset_has(feedable, value)) ||
            (producer != NODE_NONE && producer >= plan->groups[index].first))
            continue;
        bitset_add(taken, value);
        value_list_add(&plan->groups[index].inputs, value);
    }
}

/* Outputs without a producer (inputs and initializers) belong to the last group. */
static void add_loose_outputs(struct layerwise *plan, const struct bitset *feedable)
{
    struct layerwise_group *group = &plan->groups[plan->count - 1];

    for (size_t i = 0; i < plan->model->outputs.count; i++) {
        uint32_t value = plan->model->outputs.items[i];

        if (plan->model->values.items[value].producer != NODE_NONE || !bitset_has(&plan->wanted, value))
            continue;
        plan->last_use[value] = (uint32_t)plan->count - 1;
        value_list_add(&group->outputs, value);
        if (bitset_has(feedable, value) && !value_list_has(&group->inputs, value))
            value_list_add(&group->inputs, value);
    }
}

/* Determines inputs and outputs of each group. */
static void connect_groups(const struct planner *planner)
{
    struct layerwise *plan = planner->plan;
    const struct model *model = plan->model;
    SCOPED_BITSET(taken);
    SCOPED_BITSET(feedable);

    bitset_init(&feedable, model->values.count);
    bitset_init(&taken, model->values.count);
    for (size_t i = 0; i < model->inputs.count; i++)
        bitset_add(&feedable, model->inputs.items[i]);
    for (size_t g = 0; g < plan->count; g++) {
        struct layerwise_group *group = &plan->groups[g];

        bitset_clear(&taken);
        for (uint32_t i = group->first; i < group->end; i++) {
            const struct node *node = &model->nodes.items[i];

            add_group_inputs(plan, g, node->inputs, &feedable, &taken);
            add_group_inputs(plan, g, node->captures, &feedable, &taken);
            for (size_t k = 0; k < node->outputs.count; k++) {
                uint32_t value = model_edge(model, node->outputs, k);

                if (value == VALUE_NONE || bitset_has(&taken, value))
                    continue;
                bitset_add(&taken, value);
                plan->last_use[value] = (uint32_t)g;
                if (bitset_has(&plan->wanted, value) || planner->last_reader[value] >= group->end)
                    value_list_add(&group->outputs, value);
            }
        }
    }
    add_loose_outputs(plan, &feedable);
}

static int fix_input_shapes(struct model *model, const struct tensor_list *feed, struct error *err)
{
    for (size_t i = 0; i < feed->count; i++) {
        int rc = model_override_input(model, text_of(feed->items[i].name), &feed->items[i].tensor.shape, NULL, err);

        if (rc < 0)
            return rc;
    }
    model_forget_shapes(model);
    return 0;
}

/* The ValueInfoProtos of the inputs, malloc'd. */
static struct span *input_infos(const struct model *model)
{
    struct span *infos = memory_alloc_zero(model->inputs.count, sizeof(*infos));

    for (size_t i = 0; i < model->inputs.count; i++)
        infos[i] = model->values.items[model->inputs.items[i]].info;
    return infos;
}

/* Known shapes may contradict branches that are never executed. Then inference is skipped. */
static int infer_from_feed(const struct layerwise *plan, const struct tensor_list *feed, struct bitset *not_tensors,
                           struct error *err)
{
    struct model *model = plan->model;
    struct span *infos SCOPED_FREE = input_infos(model);
    int rc = fix_input_shapes(model, feed, err);

    if (rc == 0)
        rc = types_infer(model, NULL, plan->backend, plan->request, not_tensors, err);
    for (size_t i = 0; i < model->inputs.count; i++) {
        model->values.items[model->inputs.items[i]].info = infos[i];
        model->values.items[model->inputs.items[i]].info_prefix = 0;
    }
    if (rc == ERR_BACKEND) {
        model_forget_shapes(model);
        rc = types_infer(model, NULL, plan->backend, plan->request, not_tensors, err);
    }
    return rc;
}

int layerwise_plan(struct layerwise *plan, const struct tensor_list *feed, struct error *err)
{
    const struct model *model = plan->model;
    struct planner planner = {.plan = plan, .bound = plan->bound};
    SCOPED_BITSET(not_tensors);
    int rc;

    bitset_init(&not_tensors, model->values.count);
    bitset_init(&plan->wanted, model->values.count);
    plan->last_use = memory_alloc_zero(model->values.count, sizeof(*plan->last_use));
    planner.last_reader = memory_alloc_zero(model->values.count, sizeof(*planner.last_reader));
    planner.not_tensors = &not_tensors;
    rc = infer_from_feed(plan, feed, &not_tensors, err);
    if (rc < 0) {
        layerwise_release(plan);
        goto done;
    }
    for (size_t i = 0; i < model->outputs.count; i++) {
        bitset_add(&plan->wanted, model->outputs.items[i]);
        if (bitset_has(&not_tensors, model->outputs.items[i]))
            value_list_add(&plan->left_out, model->outputs.items[i]);
    }
    bitset_subtract(&plan->wanted, &not_tensors);
    survey_model(&planner);
    make_groups(&planner);
    connect_groups(&planner);
done:
    free(planner.last_reader);
    return rc;
}

void layerwise_release(struct layerwise *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        free(plan->groups[i].inputs.items);
        free(plan->groups[i].outputs.items);
    }
    free(plan->left_out.items);
    free(plan->groups);
    free(plan->last_use);
    bitset_release(&plan->wanted);
    *plan = (struct layerwise){0};
}

/* ---- Running ---- */

void layerwise_run_init(struct layerwise_run *run, const struct layerwise *plan, const struct backend *backend,
                        const struct backend_request *request)
{
    *run = (struct layerwise_run){.plan = plan, .backend = backend, .request = *request};
    run->request.model = (struct backend_model){.external_folder = plan->model->folder};
    run->request.frugal = true;
    memory_limit_enforce(); /* these sessions have no memory arena with a limit */
    run->values = memory_alloc_zero(plan->model->values.count, sizeof(*run->values));
}

static void drop_values(struct layerwise_run *run, size_t unused_from)
{
    size_t kept = 0;

    for (size_t i = 0; i < run->held.count; i++) {
        uint32_t value = run->held.items[i];

        if (run->plan->last_use[value] >= unused_from)
            run->held.items[kept++] = value;
        else
            tensor_release(&run->values[value]);
    }
    run->held.count = kept;
}

void layerwise_run_release(struct layerwise_run *run)
{
    drop_values(run, SIZE_MAX);
    free(run->held.items);
    free(run->values);
    *run = (struct layerwise_run){0};
}

/* Collects the tensors that the group reads (borrowed) and sets their element types in the model. Shapes are not set,
 * except for requested tensors, because a runtime would check them against branches that are never executed. */
static int gather_feed(const struct layerwise_run *run, const struct layerwise_group *group,
                       const struct tensor_list *feed, struct tensor_list *ret, struct error *err)
{
    struct model *model = run->plan->model;

    for (size_t i = 0; i < group->inputs.count; i++) {
        uint32_t value = group->inputs.items[i];
        struct text name = model->values.items[value].name;
        const struct named_tensor *fed = tensor_list_find(feed, name);
        const struct tensor *from = run->values[value].data == NULL && fed != NULL ? &fed->tensor : &run->values[value];
        struct value_type type = {.element = from->type, .has_shape = run->backend->wants_shapes, .shape = from->shape};
        struct tensor tensor;

        if (from->data == NULL)
            return error_set(err, ERR_INVALID, "'" TEXT_FORMAT "' is read before any node has made it",
                             TEXT_ARGS(name));
        tensor_borrow(from->type, &from->shape, from->data, from->size, &tensor);
        tensor_list_add(ret, name, &tensor);
        if (fed == NULL)
            model_set_type(model, value, &type);
    }
    return 0;
}

static int write_group(const struct layerwise *plan, const struct layerwise_group *group, char **ret, size_t *ret_size,
                       struct error *err)
{
    struct subgraph part SCOPED(subgraph_release) = {0};

    subgraph_init_whole(&part, plan->model);
    bitset_clear(&part.nodes);
    for (uint32_t i = group->first; i < group->end; i++)
        bitset_add(&part.nodes, i);
    value_list_assign(&part.inputs, &group->inputs);
    value_list_assign(&part.outputs, &group->outputs);
    return model_write_memory(&part, ret, ret_size, err);
}

static int run_session(struct layerwise_run *run, const struct tensor_list *feed, struct tensor_list *ret,
                       double *seconds, struct error *err)
{
    const struct backend *backend = run->backend;
    struct backend_session *session = NULL;
    double elapsed = 0;
    int rc = backend->open(&run->request, &session, err);

    for (int64_t i = 0; i <= run->warm_up && rc == 0; i++) {
        tensor_list_release(ret);
        rc = backend->run(session, feed, NULL, ret, &elapsed, err);
    }
    backend->close(session);
    *seconds += elapsed;
    return rc;
}

/* Keeps the outputs of the group, and returns the requested ones as views. */
static void take_group_outputs(struct layerwise_run *run, const struct layerwise_group *group, struct tensor_list *made,
                               struct tensor_list *ret)
{
    for (size_t i = 0; i < group->outputs.count; i++) {
        uint32_t value = group->outputs.items[i];
        struct tensor *tensor = &run->values[value], lent;

        *tensor = made->items[i].tensor;
        made->items[i].tensor = (struct tensor){0};
        value_list_add(&run->held, value);
        if (!bitset_has(&run->plan->wanted, value))
            continue;
        tensor_borrow(tensor->type, &tensor->shape, tensor->data, tensor->size, &lent);
        tensor_list_add(ret, run->plan->model->values.items[value].name, &lent);
    }
}

int layerwise_step(struct layerwise_run *run, size_t index, const struct tensor_list *feed, struct tensor_list *ret,
                   double *seconds, struct error *err)
{
    const struct layerwise_group *group = &run->plan->groups[index];
    struct tensor_list inputs SCOPED(tensor_list_release) = {0};
    struct tensor_list made SCOPED(tensor_list_release) = {0};
    char *bytes = NULL;
    int rc;

    drop_values(run, index);
    if (group->outputs.count == 0)
        return 0;
    if (interrupt_pending())
        return error_set(err, ERR_INTERRUPTED, "interrupted");
    rc = gather_feed(run, group, feed, &inputs, err);
    if (rc < 0)
        goto done;
    rc = write_group(run->plan, group, &bytes, &run->request.model.size, err);
    if (rc < 0)
        goto done;
    run->request.model.data = bytes;
    rc = run_session(run, &inputs, &made, seconds, err);
    if (rc < 0)
        goto done;
    take_group_outputs(run, group, &made, ret);
done:
    run->request.log = NULL; /* log the creation of a session only once */
    free(bytes);
    return rc;
}
