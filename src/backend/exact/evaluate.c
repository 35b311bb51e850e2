/* backend/exact/evaluate.c: a model node by node, see exact.h. */
#include <math.h>
#include <stdlib.h>

#include "backend/exact/kernels.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "onnx/external/tensor.h"
#include "tensor/values/elements.h"

#define LARGEST_INTEGER 0x1p53 /* beyond that a double has no odd numbers */

struct evaluation {
    const struct model *model;
    const struct exact_options *options;
    struct exact_value *values; /* of the model; what is not known has no data */
    struct bitset done;         /* nodes */
};

/* ---- Values that are given ---- */

static int widen_tensor(const struct evaluation *evaluation, const struct tensor *from, const char *name,
                        struct exact_value *ret, struct error *err)
{
    bool is_rounded = data_type_is_float(from->type);
    size_t elements = tensor_elements(from);
    double *items;
    int rc;

    if (elements_arithmetic(from->type) == ARITHMETIC_NONE)
        return error_set(err, ERR_UNSUPPORTED, "'%s' is of type %s, which is not computed in float64", name,
                         data_type_name(from->type));
    rc = tensor_allocate(DATA_FLOAT64, &from->shape, &ret->tensor, err);
    if (rc < 0)
        return rc;
    ret->type = from->type;
    items = tensor_writable(&ret->tensor);
    for (size_t first = 0; first < elements; first += ELEMENTS_RUN)
        elements_to_float64(from, first, elements_in_run(elements, first), &items[first]);
    for (size_t i = 0; is_rounded && i < elements; i++)
        items[i] = exact_round(evaluation->options, evaluation->options->magnitudes ? fabs(items[i]) : items[i]);
    return 0;
}

static int read_constants(struct evaluation *evaluation, struct error *err)
{
    const struct model *model = evaluation->model;

    VECTOR_EACH (const struct initializer, initializer, model->initializers) {
        struct tensor tensor SCOPED(tensor_release) = {0};
        SCOPED_STRING(name);
        int rc;

        string_add_text(&name, model->values.items[initializer->value].name);
        if (initializer->sparse)
            return error_set(err, ERR_UNSUPPORTED, "'%s' is sparse, which is not computed in float64", name.data);
        rc = external_tensor_read_constant(model, initializer, &tensor, err);
        if (rc < 0)
            return rc;
        rc = widen_tensor(evaluation, &tensor, name.data, &evaluation->values[initializer->value], err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_feed(struct evaluation *evaluation, const struct tensor_list *feed, struct error *err)
{
    const struct model *model = evaluation->model;

    for (size_t i = 0; i < model->inputs.count; i++) {
        struct text name = model->values.items[model->inputs.items[i]].name;
        const struct named_tensor *item = tensor_list_find(feed, name);
        int rc;

        if (item == NULL)
            return error_set(err, ERR_MISSING, "input '" TEXT_FORMAT "' has no data", TEXT_ARGS(name));
        rc = widen_tensor(evaluation, &item->tensor, item->name, &evaluation->values[model->inputs.items[i]], err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- Nodes ---- */

/* An empty tensor takes no memory, whatever its other dimensions are; the loops over those would not end. */
static int check_extents(const struct exact_call *call, struct error *err)
{
    for (size_t i = 0; i < call->input_count; i++) {
        const struct exact_value *value = exact_input(call, i);
        double extent = 1;

        for (size_t axis = 0; value != NULL && exact_count(value) == 0 && axis < exact_shape(value)->rank; axis++)
            extent *= fmax(1, (double)exact_shape(value)->dims[axis]);
        if (extent > (double)EXACT_MOST_PRODUCTS)
            return exact_refuse(call, err, "an empty tensor with so large dimensions is not computed in float64");
    }
    return 0;
}

/* Integers are computed in float64 as well, which is exact up to 2^53. */
static int check_outputs(const struct exact_call *call, struct error *err)
{
    ARRAY_EACH (const struct exact_value, value, call->outputs, call->output_count) {
        if (value->tensor.data == NULL)
            return exact_refuse(call, err, "not all of its outputs are computed in float64");
        for (size_t i = 0; !data_type_is_float(value->type) && i < exact_count(value); i++)
            if (!(fabs(exact_items(value)[i]) <= LARGEST_INTEGER))
                return exact_refuse(call, err, "integers beyond 2^53 are not computed in float64");
    }
    return 0;
}

static int check_inputs(const struct exact_call *call, const struct exact_operator *operator, struct error * err)
{
    size_t needed = operator->inputs;

    if (needed == EXACT_ALL_INPUTS)
        needed = call->input_count > 0 ? call->input_count : 1;
    for (size_t i = 0; i < needed; i++)
        if (exact_input(call, i) == NULL)
            return exact_refuse_as(call, ERR_INVALID, "an input is missing", err);
    return 0;
}

static const struct exact_operator *find_operator(const struct node *node)
{
    static const struct exact_operator *const families[] = {
        exact_elementwise_operators,  exact_product_operators,   exact_pooling_operators,
        exact_reduction_operators,    exact_movement_operators,  exact_normalization_operators,
        exact_quantization_operators, exact_recurrent_operators, exact_einsum_operators,
        exact_selection_operators,    exact_resize_operators};

    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        for (const struct exact_operator *operator= families[i]; operator->name != NULL; operator++)
            if (node_is(node, operator->name))
                return operator;
    return NULL;
}

static int dispatch_call(struct exact_call *call, struct error *err)
{
    const struct exact_operator *operator= find_operator(call->node);
    int rc = check_extents(call, err);

    if (rc < 0)
        return rc;
    if (operator== NULL)
        return exact_refuse(call, err, "the operator is not computed in float64");
    rc = check_inputs(call, operator, err);
    if (rc < 0)
        return rc;
    if (operator->has_one_output && call->output_count> 1)
        return exact_refuse(call, err, "its further outputs are not computed in float64");
    call->details = operator->details;
    rc = operator->compute(call, err);
    return rc < 0 ? rc : check_outputs(call, err);
}

/* Results of floating types are rounded, whoever computed them. */
static void round_outputs(const struct exact_call *call)
{
    ARRAY_EACH (struct exact_value, value, call->outputs, call->output_count) {
        double *items = tensor_writable(&value->tensor);

        for (size_t i = 0; data_type_is_float(value->type) && i < exact_count(value); i++)
            items[i] = exact_round(call->options, items[i]);
    }
}

/* The last output that somebody named; those before it that nobody did are computed as well. */
static size_t count_outputs(const struct model *model, const struct node *node)
{
    size_t ret = node->outputs.count;

    while (ret > 1 && node_output(model, node, ret - 1) == VALUE_NONE)
        ret--;
    return ret;
}

/* Takes the result over; of what nobody named, or has already, nothing is kept. */
static void keep_output(struct evaluation *evaluation, uint32_t value, struct exact_value *output)
{
    if (value != VALUE_NONE && evaluation->values[value].tensor.data == NULL)
        evaluation->values[value] = *output;
    else
        tensor_release(&output->tensor);
}

static int evaluate_node(struct evaluation *evaluation, const struct node *node, struct error *err)
{
    const struct model *model = evaluation->model;
    const struct exact_value **inputs SCOPED_FREE = memory_alloc_zero(node->inputs.count + 1, sizeof(*inputs));
    struct exact_value outputs[EXACT_MOST_OUTPUTS] = {0};
    struct exact_call call = {.model = model,
                              .node = node,
                              .options = evaluation->options,
                              .inputs = inputs,
                              .input_count = node->inputs.count,
                              .outputs = outputs,
                              .output_count = count_outputs(model, node)};
    int rc;

    for (size_t i = 0; i < node->inputs.count; i++)
        if (node_input(model, node, i) != VALUE_NONE)
            inputs[i] = &evaluation->values[node_input(model, node, i)];
    if (call.output_count > EXACT_MOST_OUTPUTS || node->has_subgraphs)
        return exact_refuse(&call, err, "bodies are not computed in float64");
    if (interrupt_pending() != 0)
        return error_set(err, ERR_INTERRUPTED, "interrupted");
    rc = dispatch_call(&call, err);
    if (rc == 0)
        round_outputs(&call);
    for (size_t i = 0; i < call.output_count; i++)
        keep_output(evaluation, rc == 0 ? node_output(model, node, i) : VALUE_NONE, &outputs[i]);
    return rc;
}

static bool is_ready(const struct evaluation *evaluation, const struct node *node)
{
    for (size_t i = 0; i < node->inputs.count; i++) {
        uint32_t value = node_input(evaluation->model, node, i);

        if (value != VALUE_NONE && evaluation->values[value].tensor.data == NULL)
            return false;
    }
    return true;
}

/* In the order of the file, again and again where that is not sorted. */
static int evaluate_nodes(struct evaluation *evaluation, struct error *err)
{
    const struct model *model = evaluation->model;
    size_t left = model->nodes.count, before;

    do {
        before = left;
        for (size_t i = 0; i < model->nodes.count; i++) {
            int rc;

            if (bitset_has(&evaluation->done, i) || !is_ready(evaluation, &model->nodes.items[i]))
                continue;
            rc = evaluate_node(evaluation, &model->nodes.items[i], err);
            if (rc < 0)
                return rc;
            bitset_add(&evaluation->done, i);
            left--;
        }
    } while (left > 0 && left < before);
    return left == 0 ? 0 : error_set(err, ERR_INVALID, "%zu nodes have inputs that nothing makes", left);
}

static int take_outputs(struct evaluation *evaluation, struct tensor_list *ret, struct error *err)
{
    const struct model *model = evaluation->model;

    for (size_t i = 0; i < model->outputs.count; i++) {
        uint32_t value = model->outputs.items[i];
        struct tensor copy;
        int rc;

        if (evaluation->values[value].tensor.data == NULL)
            return error_set(err, ERR_INVALID, "nothing makes output '" TEXT_FORMAT "'",
                             TEXT_ARGS(model->values.items[value].name));
        rc = tensor_copy(&evaluation->values[value].tensor, &copy, err);
        if (rc < 0)
            return rc;
        tensor_list_add(ret, model->values.items[value].name, &copy);
    }
    return 0;
}

int exact_evaluate(const struct model *model, const struct tensor_list *feed, const struct exact_options *options,
                   struct tensor_list *ret, struct error *err)
{
    struct evaluation evaluation = {.model = model, .options = options};
    int rc;

    evaluation.values = memory_alloc_zero(model->values.count + 1, sizeof(*evaluation.values));
    bitset_init(&evaluation.done, model->nodes.count);
    rc = read_constants(&evaluation, err);
    if (rc < 0)
        goto done;
    rc = read_feed(&evaluation, feed, err);
    if (rc < 0)
        goto done;
    rc = evaluate_nodes(&evaluation, err);
    if (rc < 0)
        goto done;
    rc = take_outputs(&evaluation, ret, err);
done:
    if (rc < 0)
        tensor_list_release(ret);
    for (size_t i = 0; i < model->values.count; i++)
        tensor_release(&evaluation.values[i].tensor);
    free(evaluation.values);
    bitset_release(&evaluation.done);
    return rc;
}
