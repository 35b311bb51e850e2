/* backend/onnxrt/assignment.c: see assignment.h. */
#include "backend/onnxrt/assignment.h"

#include <stdlib.h>
#include <string.h>

#include "backend/model_io.h"
#include "backend/onnxrt/settings.h"
#include "backend/subgraph_session.h"
#include "backend/type_inference.h"
#include "base/container/name_map.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "onnx/edit/model.h"

struct assigned_session {
    struct backend_session base;
    struct model *model;
    VECTOR(struct subgraph_session) parts; /* each reads only what those before it make */
};

/* ---- Nodes on the processor ---- */

static struct text name_of_output(const struct model *model, uint32_t node)
{
    uint32_t value = node_output(model, &model->nodes.items[node], 0);

    return value != VALUE_NONE ? model->values.items[value].name : TEXT("");
}

/* Finds the nodes that the names stand for, by their first outputs: indices of nodes are about to change. Texts are in
 * the model. The caller frees `ret`, also after an error. */
static int find_named_nodes(struct model *model, struct words names, struct text **ret, struct error *err)
{
    struct text *outputs = memory_alloc_zero(names.count + 1, sizeof(*outputs));
    SCOPED_NAME_MAP(labels);

    *ret = outputs;
    for (uint32_t i = 0; i < model->nodes.count; i++)
        name_map_add(&labels, text_of(model_node_label(model, i)), i);
    for (size_t i = 0; i < names.count; i++) {
        const char *name = names.items[i], *at = strchr(name, '@');
        uint32_t node = name_map_find(&labels, text_of(at != NULL ? at + 1 : name));

        if (node != NAME_MAP_NONE)
            outputs[i] = name_of_output(model, node);
        else if (*name != NAME_MAY_MISS)
            return error_set(err, ERR_INVALID, "the model has no node '%s' to run on the processor",
                             at != NULL ? at + 1 : name);
    }
    return 0;
}

static void mark_nodes(const struct model *model, const struct text *outputs, size_t count, struct bitset *ret)
{
    bitset_init(ret, model->nodes.count);
    for (size_t i = 0; i < count; i++) {
        uint32_t value = outputs[i].size > 0 ? model_find_value(model, outputs[i]) : VALUE_NONE;

        if (value != VALUE_NONE && model->values.items[value].producer != NODE_NONE)
            bitset_add(ret, model->values.items[value].producer);
    }
}

/* ---- Parts ---- */

/* Numbers the parts: those of the processor are even, others odd, and no node reads of a higher one. */
static bool raise_part(const struct model *model, uint32_t node, uint32_t *parts)
{
    const struct node *reader = &model->nodes.items[node];
    uint32_t before = parts[node];

    for (size_t i = 0; i < node_read_count(reader); i++) {
        uint32_t value = node_read(model, reader, i);
        uint32_t producer = value != VALUE_NONE ? model->values.items[value].producer : NODE_NONE;

        if (producer != NODE_NONE && parts[producer] > parts[node])
            parts[node] = parts[producer] + (parts[producer] + parts[node]) % 2;
    }
    return parts[node] != before;
}

/* The part of each node; malloc'd. Nodes may be in any order, but are in no circle. */
static uint32_t *number_parts(const struct model *model, const struct bitset *on_processor)
{
    uint32_t *ret = memory_alloc_zero(model->nodes.count + 1, sizeof(*ret));
    bool any = true;

    for (size_t i = 0; i < model->nodes.count; i++)
        ret[i] = bitset_has(on_processor, i) ? 0 : 1;
    for (size_t rounds = 0; any && rounds <= model->nodes.count; rounds++) {
        any = false;
        for (uint32_t i = 0; i < model->nodes.count; i++)
            any |= raise_part(model, i, ret);
    }
    return ret;
}

/* The values that nodes of other parts read, and outputs of the model. */
static void find_crossing(const struct model *model, const uint32_t *parts, struct bitset *ret)
{
    value_list_to_set(&model->outputs, model->values.count, ret);
    for (size_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < node_read_count(&model->nodes.items[i]); k++) {
            uint32_t value = node_read(model, &model->nodes.items[i], k);
            const struct node *producer = model_producer(model, value);

            if (producer != NULL && parts[producer - model->nodes.items] != parts[i])
                bitset_add(ret, value);
        }
}

static int refuse_untyped(const struct subgraph *part, struct error *err)
{
    for (size_t i = 0; i < part->inputs.count; i++) {
        struct text name = part->model->values.items[part->inputs.items[i]].name;
        struct value_type type;

        subgraph_type(part, part->inputs.items[i], &type);
        if (type.not_a_tensor != NULL || type.element == DATA_UNDEFINED)
            return error_set(err, ERR_UNSUPPORTED, "nodes cannot be moved to the processor at '" TEXT_FORMAT "': %s",
                             TEXT_ARGS(name), type.not_a_tensor != NULL ? type.not_a_tensor : "its type is not known");
    }
    return 0;
}

static int open_part(struct assigned_session *session, const struct bitset *nodes, const struct bitset *crossing,
                     const struct backend_request *request, struct error *err)
{
    const struct model *model = session->model;
    struct subgraph whole SCOPED(subgraph_release) = {0}, part SCOPED(subgraph_release) = {0};
    struct subgraph_session opened;
    int rc;

    subgraph_init_whole(&whole, model);
    subgraph_init_nodes(&part, &whole, nodes);
    part.outputs.count = 0;
    BITSET_EACH (i, nodes)
        for (size_t k = 0; k < model->nodes.items[i].outputs.count; k++) {
            uint32_t value = node_output(model, &model->nodes.items[i], k);

            if (value != VALUE_NONE && bitset_has(crossing, value))
                value_list_add(&part.outputs, value);
        }
    if (part.outputs.count == 0) /* nothing reads what these nodes make */
        return 0;
    rc = refuse_untyped(&part, err);
    if (rc < 0)
        return rc;
    rc = subgraph_session_open(&opened, &part, &onnxrt_backend, request, err);
    if (rc == 0)
        *VECTOR_APPEND(&session->parts) = opened;
    return rc;
}

static int open_parts(struct assigned_session *session, const struct bitset *on_processor,
                      const struct backend_request *request, struct error *err)
{
    const struct model *model = session->model;
    struct onnxrt_settings elsewhere = *onnxrt_settings_of(request), here;
    struct backend_request own = *request;
    uint32_t *parts SCOPED_FREE = number_parts(model, on_processor), last = 0;
    SCOPED_BITSET(crossing);
    int rc = 0;

    elsewhere.on_processor = (struct words){0};
    here = elsewhere;
    here.execution = (struct onnxrt_execution){.session_config = elsewhere.execution.session_config};
    find_crossing(model, parts, &crossing);
    for (size_t i = 0; i < model->nodes.count; i++)
        last = parts[i] > last ? parts[i] : last;
    for (uint32_t part = 0; rc == 0 && part <= last; part++) {
        SCOPED_BITSET(nodes);

        bitset_init(&nodes, model->nodes.count);
        for (size_t i = 0; i < model->nodes.count; i++)
            if (parts[i] == part)
                bitset_add(&nodes, i);
        own.settings = part % 2 == 0 ? &here : &elsewhere;
        if (bitset_count(&nodes) > 0)
            rc = open_part(session, &nodes, &crossing, &own, err);
    }
    return rc;
}

/* ---- The session ---- */

/* Without optimizations, and on the processor, where every operator has a kernel. */
static int infer_types(struct model *model, const struct backend_request *request, struct error *err)
{
    struct onnxrt_settings settings = onnxrt_settings_unoptimized(request);
    struct backend_request runtime = *request;

    settings.on_processor = (struct words){0};
    runtime.settings = &settings;
    runtime.log = NULL;
    return types_infer(model, NULL, &onnxrt_backend, &runtime, NULL, err);
}

static int load_model(struct assigned_session *session, const struct backend_request *request,
                      struct bitset *ret_on_processor, struct error *err)
{
    struct words names = onnxrt_settings_of(request)->on_processor;
    struct text *outputs SCOPED_FREE = NULL;
    int rc = model_io_open(&request->model, &session->model, err);

    if (rc < 0)
        return rc;
    rc = find_named_nodes(session->model, names, &outputs, err);
    if (rc < 0)
        return rc;
    rc = model_lower_constants(session->model, err);
    if (rc < 0)
        return rc;
    rc = infer_types(session->model, request, err);
    if (rc == 0)
        mark_nodes(session->model, outputs, names.count, ret_on_processor);
    return rc;
}

int assigned_session_open(const struct backend_request *request, struct backend_session **ret, struct error *err)
{
    struct assigned_session *session;
    struct backend_session *base;
    SCOPED_BITSET(on_processor);
    int rc;

    if (onnxrt_settings_of(request)->optimized_path != NULL)
        return error_set(err, ERR_UNSUPPORTED,
                         "ONNX Runtime does not save the model where nodes are moved from a provider to the processor");
    session = memory_alloc_zero(1, sizeof(*session));
    base = &session->base;
    rc = load_model(session, request, &on_processor, err);
    if (rc == 0)
        rc = open_parts(session, &on_processor, request, err);
    if (rc < 0) {
        assigned_session_close(base);
        return rc;
    }
    base->input_count = session->model->inputs.count;
    base->inputs = model_io_new(session->model, NULL, &session->model->inputs);
    base->output_count = session->model->outputs.count;
    base->outputs = model_io_new(session->model, NULL, &session->model->outputs);
    log_message(request->log, LOG_VERBOSE,
                "%zu of %zu nodes run on the processor by request; the model has %zu parts for that",
                bitset_count(&on_processor), session->model->nodes.count, session->parts.count);
    *ret = base;
    return 0;
}

/* Takes an output from the values, or copies it where it is an input as well. */
static int take_output(const struct text name, const struct tensor_list *feed, struct tensor_list *values,
                       struct tensor_list *ret, struct error *err)
{
    struct named_tensor *made = tensor_list_find(values, name);
    struct tensor tensor = {0};
    int rc;

    if (made == NULL)
        return error_set(err, ERR_UNSUPPORTED, "output '" TEXT_FORMAT "' is made by no node", TEXT_ARGS(name));
    if (tensor_list_find(feed, name) == NULL) {
        tensor_list_add(ret, name, &made->tensor);
        return 0;
    }
    rc = tensor_copy(&made->tensor, &tensor, err);
    if (rc == 0)
        tensor_list_add(ret, name, &tensor);
    return rc;
}

static int run_parts(const struct assigned_session *session, struct tensor_list *values, double *ret_seconds,
                     struct error *err)
{
    VECTOR_EACH (const struct subgraph_session, part, session->parts) {
        struct tensor_list made = {0};
        double seconds = 0;
        int rc = part->backend->run(part->session, values, NULL, &made, &seconds, err);

        if (rc < 0)
            return rc;
        *ret_seconds += seconds;
        for (size_t i = 0; i < made.count; i++)
            tensor_list_add(values, text_of(made.items[i].name), &made.items[i].tensor);
        tensor_list_release(&made);
    }
    return 0;
}

int assigned_session_run(struct backend_session *base, const struct tensor_list *feed, const struct words *wanted,
                         struct tensor_list *ret, double *seconds, struct error *err)
{
    const struct assigned_session *session = (struct assigned_session *)base;
    struct tensor_list values SCOPED(tensor_list_release) = {0};
    size_t count = wanted != NULL ? wanted->count : base->output_count;
    double spent = 0;
    int rc;

    for (size_t i = 0; i < feed->count; i++) {
        const struct tensor *given = &feed->items[i].tensor;
        struct tensor lent;

        tensor_borrow(given->type, &given->shape, given->data, given->size, &lent);
        tensor_list_add(&values, text_of(feed->items[i].name), &lent);
    }
    rc = run_parts(session, &values, &spent, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = take_output(text_of(wanted != NULL ? wanted->items[i] : base->outputs[i].name), feed, &values, ret, err);
    if (rc < 0)
        tensor_list_release(ret);
    else if (seconds != NULL)
        *seconds = spent;
    return rc;
}

void assigned_session_close(struct backend_session *base)
{
    struct assigned_session *session = (struct assigned_session *)base;

    for (size_t i = 0; i < session->parts.count; i++)
        subgraph_session_close(&session->parts.items[i]);
    free(session->parts.items);
    model_io_free(base->inputs, base->input_count);
    model_io_free(base->outputs, base->output_count);
    model_free(session->model);
    free(session);
}
