/* debug/reduce/candidate_types.c: see candidate_types.h. */
#include "debug/reduce/candidate_types.h"

#include <stdlib.h>

#include "backend/type_inference.h"
#include "base/memory.h"
#include "onnx/edit/model.h"

bool value_is_static(const struct model *model, uint32_t value)
{
    struct value_type type;

    value_info_decode(model->values.items[value].info, &type);
    return type.not_a_tensor != NULL || (type.has_shape && shape_is_static(&type.shape));
}

static void set_type_from_value(struct candidate_maker *maker, uint32_t value)
{
    const struct tensor *tensor = reference_values_get(maker->reference, value);
    struct value_type type = {.element = tensor->type, .has_shape = true, .shape = tensor->shape};

    model_set_type(maker->whole.model, value, &type);
}

int candidate_maker_force_shapes(struct candidate_maker *maker, struct error *err)
{
    struct value_list all = {0};
    int rc;

    reference_values_list_tensors(maker->reference, &all);
    rc = reference_values_record(maker->reference, &all, err);
    for (size_t i = 0; rc == 0 && i < all.count; i++)
        set_type_from_value(maker, all.items[i]);
    free(all.items);
    return rc;
}

bool candidate_lacks_type(const struct candidate_maker *maker, uint32_t value, bool needs_shape)
{
    struct value_type type;

    if (bitset_has(&maker->not_tensors, value))
        return false;
    value_info_decode(maker->whole.model->values.items[value].info, &type);
    if (type.not_a_tensor != NULL)
        return false;
    return type.element == DATA_UNDEFINED || (needs_shape && !type.has_shape);
}

/* A model that the runtime refuses is not the end: parts of it or values may still tell. */
void candidate_infer_once(struct candidate_maker *maker)
{
    int rc;

    if (!maker->settings->static_inference)
        return;
    if (!maker->inference_done) {
        if (maker->fixes_shapes)
            rc = types_refine(&maker->whole, maker->settings->backend, &maker->settings->request, &maker->not_tensors,
                              &maker->inference_error);
        else
            rc = types_infer(&maker->whole, maker->settings->backend, &maker->settings->request, &maker->not_tensors,
                             &maker->inference_error);
        maker->whole_refused = rc == ERR_BACKEND && !bounded_process_is_end(&maker->inference_error);
    }
    maker->inference_done = true;
    if (maker->inference_error.code != 0)
        log_once(maker->log, LOG_WARNING, "Shape inference is not possible: %s", maker->inference_error.message);
}

/* Inference over the part of a refused model that `values` are computed with: what is wrong may lie elsewhere. */
static void infer_upstream(struct candidate_maker *maker, const struct value_list *values)
{
    struct subgraph part;

    subgraph_init_copy(&part, &maker->whole);
    value_list_assign(&part.outputs, values);
    subgraph_clean(&part, NULL, NULL, NULL);
    types_infer(&part, maker->settings->backend, &maker->settings->request, &maker->not_tensors, NULL);
    subgraph_release(&part);
}

/* ---- What nobody can tell ---- */

/* Once, for all values. */
static void make_assumptions(struct candidate_maker *maker)
{
    struct model *model = maker->whole.model;
    struct candidate_knowledge before;

    if (maker->assumed != NULL)
        return;
    candidate_maker_remember(maker, &before);
    before.has_assumed = true;
    if (maker->settings->static_inference)
        types_assume(&maker->whole, maker->settings->backend, &maker->settings->request, &before.not_tensors, NULL);
    maker->assumed = memory_alloc(model->values.count * sizeof(*maker->assumed));
    for (size_t i = 0; i < model->values.count; i++)
        maker->assumed[i] = model->values.items[i].info;
    candidate_maker_forget(maker, &before);
}

static void assume_type(struct candidate_maker *maker, uint32_t value)
{
    const struct value_type anything = {.element = DATA_FLOAT32};
    struct model *model = maker->whole.model;
    struct value *described = &model->values.items[value];

    *VECTOR_APPEND(&maker->lent) = (struct assumption){value, described->info, described->info_prefix};
    if (maker->assumed[value].size > 0) {
        described->info = maker->assumed[value];
        described->info_prefix = 0;
    }
    if (candidate_lacks_type(maker, value, false))
        model_set_type(model, value, &anything);
}

void candidate_assume(struct candidate_maker *maker, const struct subgraph *candidate)
{
    for (size_t i = 0; i < candidate->inputs.count; i++) {
        uint32_t value = candidate->inputs.items[i];

        if (!bitset_has(&maker->untold, value) || !candidate_lacks_type(maker, value, true))
            continue;
        make_assumptions(maker);
        assume_type(maker, value);
    }
}

void candidate_assume_no_more(struct candidate_maker *maker)
{
    for (size_t i = maker->lent.count; i-- > 0;) {
        struct value *described = &maker->whole.model->values.items[maker->lent.items[i].value];

        described->info = maker->lent.items[i].info;
        described->info_prefix = maker->lent.items[i].info_prefix;
    }
    maker->lent.count = 0;
}

/* ---- At the border ---- */

/* Inputs that cannot be fed as they are described (the model's own may have no shape there either), then outputs
 * without a type; but not what is known to be untold. Returns the number of inputs. */
static size_t list_lacking(const struct candidate_maker *maker, const struct subgraph *candidate,
                           struct value_list *ret)
{
    size_t inputs;

    ret->count = 0;
    for (size_t i = 0; i < candidate->inputs.count; i++)
        if (!bitset_has(&maker->untold, candidate->inputs.items[i]) &&
            candidate_lacks_type(maker, candidate->inputs.items[i],
                                 !bitset_has(&maker->whole_inputs, candidate->inputs.items[i])))
            value_list_add(ret, candidate->inputs.items[i]);
    inputs = ret->count;
    for (size_t i = 0; i < candidate->outputs.count; i++)
        if (!bitset_has(&maker->untold, candidate->outputs.items[i]) &&
            candidate_lacks_type(maker, candidate->outputs.items[i], false))
            value_list_add(ret, candidate->outputs.items[i]);
    return inputs;
}

static bool is_sequence(const struct candidate_maker *maker, uint32_t value)
{
    struct value_type type;

    value_info_decode(maker->whole.model->values.items[value].info, &type);
    return type.not_a_tensor != NULL || bitset_has(&maker->not_tensors, value);
}

/* A value among `values` that is no tensor and that the original model does not have at its own border. */
static uint32_t find_sequence(const struct candidate_maker *maker, const struct value_list *values,
                              const struct value_list *original)
{
    for (size_t i = 0; i < values->count; i++)
        if (is_sequence(maker, values->items[i]) && !value_list_has(original, values->items[i]))
            return values->items[i];
    return VALUE_NONE;
}

static uint32_t find_sequence_at_border(const struct candidate_maker *maker, const struct subgraph *candidate)
{
    uint32_t ret = find_sequence(maker, &candidate->inputs, &maker->whole.inputs);

    return ret != VALUE_NONE ? ret : find_sequence(maker, &candidate->outputs, &maker->whole.outputs);
}

/* Takes what is lacking from a run of the model. Outputs may go without a type when that is not possible: most runtimes
 * work it out for themselves. */
static int complete_from_values(struct candidate_maker *maker, const struct value_list *lacking, size_t lacking_inputs,
                                struct error *err)
{
    struct error why = {0};
    int rc = reference_values_record(maker->reference, lacking, &why);

    for (size_t i = 0; rc == 0 && i < lacking->count; i++)
        set_type_from_value(maker, lacking->items[i]);
    if (rc == 0)
        return 0;
    if (rc != ERR_INTERRUPTED && lacking_inputs == 0) {
        log_once(maker->log, LOG_WARNING, "Some outputs are written without a type: %s", why.message);
        return 0;
    }
    error_set(err, (enum error_code)rc, "%s", why.message);
    return error_context(err, "the type or shape of '" TEXT_FORMAT "' is not known",
                         TEXT_ARGS(maker->whole.model->values.items[lacking->items[0]].name));
}

/* One by one: that there is no value of one of them says nothing of the others. */
static int complete_one_by_one(struct candidate_maker *maker, const struct value_list *lacking, struct error *err)
{
    struct error why = {0};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < lacking->count; i++) {
        struct value_list one = {.items = &lacking->items[i], .count = 1};

        rc = reference_values_record(maker->reference, &one, &why);
        if (rc == 0) {
            set_type_from_value(maker, lacking->items[i]);
        } else if (rc == ERR_BACKEND) {
            bitset_add(&maker->untold, lacking->items[i]);
            rc = 0;
        }
    }
    return rc < 0 ? error_set(err, (enum error_code)rc, "%s", why.message) : 0;
}

static bool is_any_untold(const struct candidate_maker *maker, const struct value_list *values)
{
    for (size_t i = 0; i < values->count; i++)
        if (bitset_has(&maker->untold, values->items[i]))
            return true;
    return false;
}

/* An unknown part of the model is where candidates may begin. */
static void warn_of_assumptions(const struct candidate_maker *maker, const struct subgraph *candidate)
{
    for (size_t i = 0; i < candidate->inputs.count; i++)
        if (bitset_has(&maker->untold, candidate->inputs.items[i]) &&
            candidate_lacks_type(maker, candidate->inputs.items[i], true))
            log_once(
                maker->log, LOG_WARNING,
                "Nobody can tell the type or shape of some tensors. Candidates that begin there take them for what "
                "follows from the rest of the model, else for float32 of any shape. If that is wrong, describe "
                "them in the model (value_info).");
}

/* Inputs of the candidate that are not the model's own and have dynamic dimensions. */
static void list_dynamic(const struct candidate_maker *maker, const struct subgraph *candidate, struct value_list *ret)
{
    ret->count = 0;
    for (size_t i = 0; i < candidate->inputs.count; i++)
        if (!bitset_has(&maker->whole_inputs, candidate->inputs.items[i]) &&
            !bitset_has(&maker->not_tensors, candidate->inputs.items[i]) &&
            !bitset_has(&maker->untold, candidate->inputs.items[i]) &&
            !value_is_static(maker->whole.model, candidate->inputs.items[i]))
            value_list_add(ret, candidate->inputs.items[i]);
}

/* Sizes in which the samples differ stay open. */
static void set_sizes_from_values(struct candidate_maker *maker, uint32_t value)
{
    const struct shape *first = &reference_values_get(maker->reference, value)->shape;
    struct value_type type;

    value_info_decode(maker->whole.model->values.items[value].info, &type);
    if (type.shape.rank != first->rank)
        return;
    for (size_t i = 0; i < first->rank; i++) {
        bool same = type.shape.dims[i] < 0;

        for (size_t k = 1; same && k < reference_values_samples(maker->reference); k++)
            same = reference_values_in(maker->reference, value, k)->shape.dims[i] == first->dims[i];
        if (same)
            type.shape.dims[i] = first->dims[i];
    }
    model_set_type(maker->whole.model, value, &type);
}

/* Behind inputs of fixed shapes everything has a size, even where nobody can infer it. A size that a check makes up for
 * itself, mostly 1, would be another one. */
static int fix_shapes(struct candidate_maker *maker, const struct subgraph *candidate, struct error *err)
{
    struct value_list dynamic = {0};
    int rc = 0;

    if (!maker->fixes_shapes)
        return 0;
    list_dynamic(maker, candidate, &dynamic);
    if (dynamic.count > 0) {
        candidate_infer_once(maker);
        list_dynamic(maker, candidate, &dynamic);
    }
    if (dynamic.count > 0 && maker->no_shapes.code == 0)
        rc = reference_values_record(maker->reference, &dynamic, &maker->no_shapes);
    if (rc == ERR_INTERRUPTED)
        error_set(err, ERR_INTERRUPTED, "%s", maker->no_shapes.message);
    else if (dynamic.count > 0 && maker->no_shapes.code != 0)
        log_once(maker->log, LOG_WARNING, "Inputs of cuts keep the dynamic shapes that they have in the model: %s",
                 maker->no_shapes.message);
    else
        for (size_t i = 0; i < dynamic.count; i++)
            set_sizes_from_values(maker, dynamic.items[i]);
    free(dynamic.items);
    return rc == ERR_INTERRUPTED ? rc : 0;
}

int candidate_complete(struct candidate_maker *maker, const struct subgraph *candidate, uint32_t *ret_not_a_tensor,
                       struct error *err)
{
    struct value_list lacking = {0};
    size_t lacking_inputs = list_lacking(maker, candidate, &lacking);
    int rc = 0;

    for (size_t i = 0; i < candidate->outputs.count; i++)
        if (candidate_lacks_type(maker, candidate->outputs.items[i], true)) /* its rank may be all that can be told */
            candidate_infer_once(maker);
    if (lacking.count > 0) {
        candidate_infer_once(maker);
        lacking_inputs = list_lacking(maker, candidate, &lacking);
    }
    if (lacking.count > 0 && maker->whole_refused) {
        infer_upstream(maker, &lacking);
        lacking_inputs = list_lacking(maker, candidate, &lacking);
    }
    *ret_not_a_tensor = find_sequence_at_border(maker, candidate);
    if (lacking.count > 0 && *ret_not_a_tensor == VALUE_NONE)
        rc = complete_from_values(maker, &lacking, lacking_inputs, err);
    if (rc == ERR_BACKEND && maker->settings->minimal) {
        *err = (struct error){0};
        rc = complete_one_by_one(maker, &lacking, err);
    }
    if (rc == 0 && (is_any_untold(maker, &candidate->inputs) || is_any_untold(maker, &candidate->outputs))) {
        make_assumptions(maker);
        *ret_not_a_tensor = find_sequence_at_border(maker, candidate);
    }
    if (rc == 0 && *ret_not_a_tensor == VALUE_NONE)
        warn_of_assumptions(maker, candidate);
    if (rc == 0 && *ret_not_a_tensor == VALUE_NONE)
        rc = fix_shapes(maker, candidate, err);
    free(lacking.items);
    return rc;
}
