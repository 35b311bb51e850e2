/* debug/cut/types.c: see types.h. */
#include "debug/cut/types.h"

#include "backend/type_inference.h"
#include "base/memory.h"

static void set_type_from_value(struct candidate_maker *maker, uint32_t value)
{
    const struct tensor *tensor = reference_values_get(maker->reference, value);
    struct value_type type = {.element = tensor->type, .has_shape = true, .shape = tensor->shape};

    known_types_set(&maker->known.types, value, &type);
}

int candidate_maker_force_shapes(struct candidate_maker *maker, struct error *err)
{
    struct value_list all SCOPED_ITEMS = {0};
    int rc;

    reference_values_list_tensors(maker->reference, &maker->known.types, &all);
    rc = reference_values_record(maker->reference, &all, err);
    for (size_t i = 0; rc == 0 && i < all.count; i++)
        set_type_from_value(maker, all.items[i]);
    return rc;
}

bool candidate_lacks_type(const struct candidate_maker *maker, uint32_t value, bool needs_shape)
{
    struct value_type type;

    if (bitset_has(&maker->known.not_tensors, value))
        return false;
    subgraph_type(&maker->whole, value, &type);
    if (type.not_a_tensor != NULL)
        return false;
    return type.element == DATA_UNDEFINED || (needs_shape && !type.has_shape);
}

/* If the runtime rejects the model, parts of it or values may still have types. */
void candidate_infer_once(struct candidate_maker *maker)
{
    struct candidate_knowledge *known = &maker->known;
    const struct types_request request = {
        .backend = maker->settings->backend, .runtime = &maker->settings->request, .refine = maker->fixes_shapes};
    int rc;

    if (!maker->settings->static_inference)
        return;
    if (!known->inference_done) {
        rc = types_find(&maker->whole, &request, &known->types, &known->not_tensors, &known->inference_error);
        known->whole_refused = rc == ERR_BACKEND && !bounded_process_is_end(&known->inference_error);
    }
    known->inference_done = true;
    if (known->inference_error.code != 0)
        log_once(maker->log, LOG_WARNING, "Shape inference is not possible: %s", known->inference_error.message);
}

/* Type inference for the part of a rejected model that `values` depend on: the error may be elsewhere. */
static void infer_upstream(struct candidate_maker *maker, const struct value_list *values)
{
    const struct types_request request = {.backend = maker->settings->backend, .runtime = &maker->settings->request};
    struct subgraph part SCOPED(subgraph_release) = {0};

    subgraph_init_copy(&part, &maker->whole);
    value_list_assign(&part.outputs, values);
    subgraph_clean(&part, NULL, NULL, NULL);
    types_find(&part, &request, &maker->known.types, &maker->known.not_tensors, NULL);
}

/* ---- What nobody can tell ---- */

/* Makes assumptions for all values, once. */
static void make_assumptions(struct candidate_maker *maker)
{
    const struct types_request request = {
        .backend = maker->settings->backend, .runtime = &maker->settings->request, .assume = true};
    struct candidate_knowledge *known = &maker->known;

    if (known->has_assumed)
        return;
    known->has_assumed = true;
    known_types_release(&known->assumed);
    known_types_init_copy(&known->assumed, &known->types);
    if (maker->settings->static_inference)
        types_find(&maker->whole, &request, &known->assumed, &known->not_tensors, NULL);
}

struct subgraph candidate_assume(struct candidate_maker *maker, const struct subgraph *candidate,
                                 struct known_types *ret_types)
{
    const struct value_type anything = {.element = DATA_FLOAT32};
    struct subgraph ret = *candidate;

    if (candidate->model != maker->whole.model) {
        known_types_init(ret_types, candidate->model, &maker->arena);
        return ret;
    }
    known_types_init_copy(ret_types, &maker->known.types);
    ret.known = ret_types;
    for (size_t i = 0; i < candidate->inputs.count; i++) {
        uint32_t value = candidate->inputs.items[i];
        struct value_type type;
        struct span assumed;

        if (!bitset_has(&maker->known.untold, value) || !candidate_lacks_type(maker, value, true))
            continue;
        make_assumptions(maker);
        assumed = known_types_info(&maker->known.assumed, candidate->model, value);
        value_info_decode(assumed, &type);
        if (type.not_a_tensor == NULL && type.element == DATA_UNDEFINED)
            known_types_set(ret_types, value, &anything);
        else
            known_types_set_info(ret_types, value, assumed);
    }
    return ret;
}

/* ---- At the border ---- */

/* Lists inputs whose description is not sufficient for feeding (also the model's own, without a shape), then outputs
 * without a type; values of unknown type are omitted. Returns the number of inputs. */
static size_t list_lacking(const struct candidate_maker *maker, const struct subgraph *candidate,
                           struct value_list *ret)
{
    size_t inputs;

    ret->count = 0;
    for (size_t i = 0; i < candidate->inputs.count; i++)
        if (!bitset_has(&maker->known.untold, candidate->inputs.items[i]) &&
            candidate_lacks_type(maker, candidate->inputs.items[i],
                                 !bitset_has(&maker->whole_inputs, candidate->inputs.items[i])))
            value_list_add(ret, candidate->inputs.items[i]);
    inputs = ret->count;
    for (size_t i = 0; i < candidate->outputs.count; i++)
        if (!bitset_has(&maker->known.untold, candidate->outputs.items[i]) &&
            candidate_lacks_type(maker, candidate->outputs.items[i], false))
            value_list_add(ret, candidate->outputs.items[i]);
    return inputs;
}

static bool is_sequence(const struct candidate_maker *maker, uint32_t value)
{
    struct value_type type;

    subgraph_type(&maker->whole, value, &type);
    return type.not_a_tensor != NULL || bitset_has(&maker->known.not_tensors, value);
}

/* A value among `values` that is not a tensor and not at the border of the original model. */
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

/* Completes types from a run of the model. If that fails, outputs stay without a type: most runtimes infer it. */
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
    return error_context(err, "the type or shape of '" TEXT_FORMAT "' is unknown",
                         TEXT_ARGS(maker->whole.model->values.items[lacking->items[0]].name));
}

/* One by one, because a missing value of one says nothing about the others. */
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
            bitset_add(&maker->known.untold, lacking->items[i]);
            rc = 0;
        }
    }
    return rc < 0 ? error_set(err, (enum error_code)rc, "%s", why.message) : 0;
}

static bool is_any_untold(const struct candidate_maker *maker, const struct value_list *values)
{
    for (size_t i = 0; i < values->count; i++)
        if (bitset_has(&maker->known.untold, values->items[i]))
            return true;
    return false;
}

/* Candidates may begin at tensors of unknown type. */
static void warn_of_assumptions(const struct candidate_maker *maker, const struct subgraph *candidate)
{
    for (size_t i = 0; i < candidate->inputs.count; i++)
        if (bitset_has(&maker->known.untold, candidate->inputs.items[i]) &&
            candidate_lacks_type(maker, candidate->inputs.items[i], true))
            log_once(
                maker->log, LOG_WARNING,
                "The type or shape of some tensors is unknown. Candidates that begin there use what follows from the "
                "rest of the model, else float32 of any shape. If that is wrong, add value_info to the model.");
}

/* Lists inputs of the candidate, without the model's own, that have dynamic dimensions. */
static void list_dynamic(const struct candidate_maker *maker, const struct subgraph *candidate, struct value_list *ret)
{
    ret->count = 0;
    for (size_t i = 0; i < candidate->inputs.count; i++)
        if (!bitset_has(&maker->whole_inputs, candidate->inputs.items[i]) &&
            !bitset_has(&maker->known.not_tensors, candidate->inputs.items[i]) &&
            !bitset_has(&maker->known.untold, candidate->inputs.items[i]) &&
            !subgraph_is_static(&maker->whole, candidate->inputs.items[i]))
            value_list_add(ret, candidate->inputs.items[i]);
}

/* Sizes that differ between samples stay dynamic. */
static void set_sizes_from_values(struct candidate_maker *maker, uint32_t value)
{
    const struct shape *first = &reference_values_get(maker->reference, value)->shape;
    struct value_type type;

    subgraph_type(&maker->whole, value, &type);
    if (type.shape.rank != first->rank)
        return;
    for (size_t i = 0; i < first->rank; i++) {
        bool same = type.shape.dims[i] < 0;

        for (size_t k = 1; same && k < reference_values_samples(maker->reference); k++)
            same = reference_values_in(maker->reference, value, k)->shape.dims[i] == first->dims[i];
        if (same)
            type.shape.dims[i] = first->dims[i];
    }
    known_types_set(&maker->known.types, value, &type);
}

/* If the inputs have fixed shapes, each tensor has a size, also where inference fails. A size that a check generates,
 * mostly 1, would differ. */
static int fix_shapes(struct candidate_maker *maker, const struct subgraph *candidate, struct error *err)
{
    struct value_list dynamic SCOPED_ITEMS = {0};
    int rc = 0;

    if (!maker->fixes_shapes)
        return 0;
    list_dynamic(maker, candidate, &dynamic);
    if (dynamic.count > 0) {
        candidate_infer_once(maker);
        list_dynamic(maker, candidate, &dynamic);
    }
    if (dynamic.count > 0 && maker->known.no_shapes.code == 0)
        rc = reference_values_record(maker->reference, &dynamic, &maker->known.no_shapes);
    if (rc == ERR_INTERRUPTED)
        error_set(err, ERR_INTERRUPTED, "%s", maker->known.no_shapes.message);
    else if (dynamic.count > 0 && maker->known.no_shapes.code != 0)
        log_once(maker->log, LOG_WARNING, "Inputs of cuts keep the dynamic shapes that they have in the model: %s",
                 maker->known.no_shapes.message);
    else
        for (size_t i = 0; i < dynamic.count; i++)
            set_sizes_from_values(maker, dynamic.items[i]);
    return rc == ERR_INTERRUPTED ? rc : 0;
}

int candidate_complete(struct candidate_maker *maker, const struct subgraph *candidate, uint32_t *ret_not_a_tensor,
                       struct error *err)
{
    struct value_list lacking SCOPED_ITEMS = {0};
    size_t lacking_inputs = list_lacking(maker, candidate, &lacking);
    int rc = 0;

    for (size_t i = 0; i < candidate->outputs.count; i++)
        if (candidate_lacks_type(maker, candidate->outputs.items[i], true)) /* its rank may be all that is known */
            candidate_infer_once(maker);
    if (lacking.count > 0) {
        candidate_infer_once(maker);
        lacking_inputs = list_lacking(maker, candidate, &lacking);
    }
    if (lacking.count > 0 && maker->known.whole_refused) {
        infer_upstream(maker, &lacking);
        lacking_inputs = list_lacking(maker, candidate, &lacking);
    }
    *ret_not_a_tensor = find_sequence_at_border(maker, candidate);
    if (lacking.count > 0 && *ret_not_a_tensor == VALUE_NONE)
        rc = complete_from_values(maker, &lacking, lacking_inputs, err);
    if (rc == ERR_BACKEND && maker->settings->cuts_anywhere) {
        *err = (struct error){0};
        rc = complete_one_by_one(maker, &lacking, err);
    }
    if (rc < 0)
        return rc;
    if (is_any_untold(maker, &candidate->inputs) || is_any_untold(maker, &candidate->outputs)) {
        make_assumptions(maker);
        *ret_not_a_tensor = find_sequence_at_border(maker, candidate);
    }
    if (*ret_not_a_tensor != VALUE_NONE)
        return 0;
    warn_of_assumptions(maker, candidate);
    return fix_shapes(maker, candidate, err);
}
