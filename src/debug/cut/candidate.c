/* debug/cut/candidate.c: see candidate.h. */
#include "debug/cut/candidate.h"

#include "base/memory.h"
#include "format/polygraphy/feed_dicts.h"
#include "format/polygraphy/run_results.h"
#include "onnx/model/operators.h"
#include "onnx/model/text.h"
#include "tensor/compare/validate.h"

/* Runner name in the results that a check compares with. */
#define RUNNER_NAME "golden"

/* Logs the marked tensors, after type inference, so that the line has their types. */
static void log_marked(struct candidate_maker *maker, const char *what, const struct value_list *values)
{
    SCOPED_STRING(text);

    for (size_t i = 0; i < values->count; i++)
        if (candidate_lacks_type(maker, values->items[i], true))
            candidate_infer_once(maker);
    if (!log_shows(maker->log, LOG_INFO))
        return;
    variable_list_text(&text, &maker->whole, values);
    log_message(maker->log, LOG_INFO, "%s%s", what, text.data);
}

static void warn_of_branches(struct candidate_maker *maker)
{
    if (!maker->settings->random_data)
        return;
    log_once(
        maker->log, LOG_WARNING,
        "This model includes multiple branches/paths. In order to continue reducing, one branch needs to be folded "
        "away.\n"
        "Please ensure that you have provided a data loader argument directly to `debug reduce` (i.e. prior to "
        "`--check`) if your `--check` command is using a non-default data loader, for instance --load-inputs.\n"
        "Not doing so may result in false negatives!");
}

/* Turns `missing`, graph inputs of `base` that the candidate lacks, into constants, and everything that depends on them
 * alone. */
static void freeze_inputs(struct subgraph *candidate, const struct value_list *missing)
{
    struct value_list met SCOPED_ITEMS = {0};
    SCOPED_BITSET(constants);

    bitset_init(&constants, candidate->model->values.count);
    for (size_t i = 0; i < missing->count; i++)
        bitset_add(&constants, missing->items[i]);
    subgraph_fold(candidate, &constants);
    subgraph_clean(candidate, &constants, &met, NULL);
    for (size_t i = 0; i < met.count; i++)
        *VECTOR_APPEND(&candidate->frozen) = (struct frozen_value){met.items[i], NULL};
}

/* A frozen value is used for every sample, so it must be the same in all. It must not be the failure itself: a frozen
 * infinity would hide the node that produced it. */
static bool may_be_frozen(const struct candidate_maker *maker, const struct subgraph *candidate)
{
    for (size_t i = 0; i < candidate->frozen.count; i++) {
        const char *why = NULL;
        struct validation validation;

        tensor_validate(candidate->frozen.items[i].tensor, &validation);
        if (validation.nans + validation.infinities > 0)
            why = "contain infinities or NaN";
        else if (!reference_values_agree(maker->reference, candidate->frozen.items[i].value))
            why = "differ between the samples of the input data";
        if (why == NULL)
            continue;
        log_once(maker->log, LOG_WARNING,
                 "Some tensors that would be frozen to constants %s. The branches that produce them are kept, and "
                 "their inputs are fed.",
                 why);
        return false;
    }
    return true;
}

static void feed_inputs(struct subgraph *candidate, const struct value_list *missing)
{
    for (size_t i = 0; i < missing->count; i++)
        value_list_add(&candidate->inputs, missing->items[i]);
}

static void feed_instead(struct candidate_maker *maker, struct subgraph *candidate, const struct value_list *missing)
{
    if (maker->known.no_values.code != 0)
        log_once(maker->log, LOG_WARNING,
                 "There are no values to freeze tensors to: %s\nThe branches that produce them are kept, and their "
                 "inputs are fed.",
                 maker->known.no_values.message);
    feed_inputs(candidate, missing);
}

/* Turns the branches that begin with `missing` into constants, or feeds these graph inputs if freezing is not sound. */
static int freeze_missing(struct candidate_maker *maker, struct subgraph *candidate, const struct value_list *missing,
                          bool quiet, bool *ret_frozen, struct error *err)
{
    struct subgraph frozen;
    int rc;

    *ret_frozen = false;
    if (maker->known.values_missing) {
        feed_instead(maker, candidate, missing);
        return 0;
    }
    if (!quiet)
        warn_of_branches(maker);
    subgraph_init_copy(&frozen, candidate);
    freeze_inputs(&frozen, missing);
    rc = candidate_fill(maker, &frozen, err);
    if (rc < 0 && rc != ERR_INTERRUPTED && maker->settings->random_data) {
        maker->known.values_missing = true;
        maker->known.no_values = *err;
        subgraph_release(&frozen);
        feed_instead(maker, candidate, missing);
        return 0;
    }
    *ret_frozen = rc == 0 && may_be_frozen(maker, &frozen);
    if (*ret_frozen) {
        subgraph_release(candidate);
        *candidate = frozen;
        return 0;
    }
    subgraph_release(&frozen);
    feed_inputs(candidate, missing);
    return rc;
}

static void log_freezing(struct candidate_maker *maker, const struct value_list *missing)
{
    for (size_t i = 0; i < missing->count; i++) {
        struct value_list one = {.items = &missing->items[i], .count = 1};
        SCOPED_STRING(text);

        variable_list_text(&text, &maker->whole, &one);
        log_message(maker->log, LOG_INFO, "Freezing tensor: %.*s to eliminate branches.", (int)text.size - 2,
                    text.data + 1);
    }
}

static bool is_discrete(const struct candidate_maker *maker, uint32_t value)
{
    struct value_type type;

    subgraph_type(&maker->whole, value, &type);
    return type.not_a_tensor == NULL && (data_type_is_integer(type.element) || type.element == DATA_BOOL);
}

static bool depends_on_constants_alone(const struct candidate_maker *maker, uint32_t value)
{
    struct subgraph upstream SCOPED(subgraph_release) = {0};

    if (bitset_has(&maker->whole_inputs, value))
        return false;
    subgraph_init_copy(&upstream, &maker->whole);
    upstream.outputs.count = 0;
    value_list_add(&upstream.outputs, value);
    subgraph_clean(&upstream, NULL, NULL, NULL);
    return upstream.inputs.count == 0;
}

/* Adds the outputs of a node that are integers or booleans. */
static void add_discrete_outputs(const struct candidate_maker *maker, const struct node *node, struct bitset *ret)
{
    for (size_t i = 0; i < node->outputs.count; i++) {
        uint32_t value = model_edge(maker->whole.model, node->outputs, i);

        if (value != VALUE_NONE && is_discrete(maker, value))
            bitset_add(ret, value);
    }
}

/* Whether integers decide shapes: as an input of a node for which they are pads, sizes or indices, or of nodes that
 * compute such integers from them. Nodes are in the model's order. */
static bool decides_shapes(const struct candidate_maker *maker, const struct subgraph *candidate, uint32_t value)
{
    const struct model *model = maker->whole.model;
    SCOPED_BITSET(followed);

    bitset_init(&followed, model->values.count);
    bitset_add(&followed, value);
    BITSET_EACH (i, &candidate->nodes) {
        const struct node *node = &model->nodes.items[i];
        bool reads = false;

        for (size_t k = 0; k < node->inputs.count; k++) {
            uint32_t input = model_edge(model, node->inputs, k);

            if (input == VALUE_NONE || !bitset_has(&followed, input))
                continue;
            if (node_input_decides_shape(node, k))
                return true;
            reads = true;
        }
        if (reads)
            add_discrete_outputs(maker, node, &followed);
    }
    return false;
}

static bool is_certain(const struct candidate_maker *maker, const struct subgraph *candidate, uint32_t value)
{
    return !bitset_has(&maker->whole_inputs, value) && is_discrete(maker, value) &&
           (depends_on_constants_alone(maker, value) || decides_shapes(maker, candidate, value));
}

/* Shapes, axes and pads that are computed without input data have one value, and those that follow from input data have
 * that of the original; generated data are mostly invalid for both: adds such inputs of the candidate to `constants`,
 * unless no other inputs would remain. */
static int list_certain(struct candidate_maker *maker, const struct subgraph *candidate, struct bitset *constants,
                        struct error *err)
{
    struct value_list certain SCOPED_ITEMS = {0};
    struct error why = {0};
    int rc = 0;

    for (size_t i = 0; i < candidate->inputs.count; i++) {
        if (candidate_lacks_type(maker, candidate->inputs.items[i], true))
            candidate_infer_once(maker);
        if (is_certain(maker, candidate, candidate->inputs.items[i]))
            value_list_add(&certain, candidate->inputs.items[i]);
    }
    if (certain.count > 0 && certain.count < candidate->inputs.count && !maker->known.values_missing)
        rc = reference_values_record(maker->reference, &certain, &why);
    else
        certain.count = 0;
    for (size_t i = 0; rc == 0 && i < certain.count; i++)
        if (reference_values_agree(maker->reference, certain.items[i]))
            bitset_add(constants, certain.items[i]);
    return rc == ERR_INTERRUPTED ? error_set(err, ERR_INTERRUPTED, "%s", why.message) : 0;
}

/* Freezes the inputs of list_certain(). */
static int freeze_certain(struct candidate_maker *maker, struct subgraph *candidate, struct error *err)
{
    SCOPED_BITSET(constants);
    size_t kept = 0;
    int rc;

    bitset_init(&constants, maker->whole.model->values.count);
    rc = list_certain(maker, candidate, &constants, err);
    for (size_t i = 0; i < candidate->inputs.count; i++) {
        uint32_t value = candidate->inputs.items[i];

        if (bitset_has(&constants, value))
            *VECTOR_APPEND(&candidate->frozen) = (struct frozen_value){value, NULL};
        else
            candidate->inputs.items[kept++] = value;
    }
    candidate->inputs.count = kept;
    return rc;
}

static int cut_inputs(struct candidate_maker *maker, struct subgraph *candidate, uint32_t node, bool quiet,
                      struct error *err)
{
    struct value_list missing SCOPED_ITEMS = {0};
    int rc;

    subgraph_mark_inputs(candidate, node);
    rc = freeze_certain(maker, candidate, err);
    if (rc < 0)
        return rc;
    if (!quiet && candidate->inputs.count == 0)
        log_message(maker->log, LOG_WARNING, "No non-constant tensors are available to mark.");
    if (!quiet)
        log_marked(maker, "Marking model inputs: ", &candidate->inputs);
    subgraph_clean(candidate, NULL, NULL, &missing);
    if (missing.count > 0) {
        bool frozen;

        rc = freeze_missing(maker, candidate, &missing, quiet, &frozen, err);
        if (rc == 0 && frozen && !quiet)
            log_freezing(maker, &missing);
    }
    return rc;
}

int candidate_cut(struct candidate_maker *maker, const struct subgraph *base, struct cut_place place, bool quiet,
                  struct subgraph *ret, struct error *err)
{
    struct subgraph candidate;
    int rc = 0;

    subgraph_init_copy(&candidate, base);
    if (place.direction == INDEX_FOR_OUTPUTS) {
        subgraph_mark_outputs(&candidate, place.node);
        if (!quiet)
            log_marked(maker, "Marking model outputs: ", &candidate.outputs);
        subgraph_clean(&candidate, NULL, NULL, NULL);
    } else {
        rc = cut_inputs(maker, &candidate, place.node, quiet, err);
    }
    if (rc < 0)
        subgraph_release(&candidate);
    else
        *ret = candidate;
    return rc;
}

/* ---- Any nodes ---- */

/* Whether to freeze `value`; records the values of the original if the decision depends on them. */
static int choose_frozen(struct candidate_maker *maker, uint32_t value, bool *ret, struct error *err)
{
    struct value_list one = {.items = &value, .count = 1};
    int rc;

    *ret = false;
    if (candidate_lacks_type(maker, value, true))
        candidate_infer_once(maker);
    if (maker->known.values_missing || bitset_has(&maker->whole_inputs, value) || !is_discrete(maker, value) ||
        bitset_has(&maker->known.valueless, value))
        return 0;
    rc = reference_values_record(maker->reference, &one, err);
    if (rc == ERR_BACKEND) {
        bitset_add(&maker->known.valueless, value);
        rc = 0;
        log_once(maker->log, LOG_WARNING,
                 "Integer tensors that cannot be computed become inputs instead of constants: %s", err->message);
        *err = (struct error){0};
        return 0;
    }
    *ret = rc == 0 && reference_values_agree(maker->reference, value);
    return rc;
}

int candidate_of_nodes(struct candidate_maker *maker, const struct bitset *nodes, struct subgraph *ret,
                       struct error *err)
{
    struct subgraph candidate;
    size_t kept = 0;
    int rc = 0;

    subgraph_init_nodes(&candidate, &maker->whole, nodes);
    for (size_t i = 0; rc == 0 && i < candidate.inputs.count; i++) {
        uint32_t value = candidate.inputs.items[i];
        bool frozen;

        rc = choose_frozen(maker, value, &frozen, err);
        if (rc == 0 && frozen)
            *VECTOR_APPEND(&candidate.frozen) = (struct frozen_value){value, NULL};
        else
            candidate.inputs.items[kept++] = value;
    }
    candidate.inputs.count = kept;
    if (rc < 0)
        subgraph_release(&candidate);
    else
        *ret = candidate;
    return rc;
}

int candidate_fill(struct candidate_maker *maker, struct subgraph *candidate, struct error *err)
{
    struct value_list wanted SCOPED_ITEMS = {0};
    int rc;

    for (size_t i = 0; i < candidate->frozen.count; i++)
        if (candidate->frozen.items[i].tensor == NULL)
            value_list_add(&wanted, candidate->frozen.items[i].value);
    if (wanted.count == 0)
        return 0;
    rc = reference_values_record(maker->reference, &wanted, err);
    for (size_t i = 0; rc == 0 && i < candidate->frozen.count; i++)
        candidate->frozen.items[i].tensor = reference_values_get(maker->reference, candidate->frozen.items[i].value);
    return rc;
}

int candidate_prepare(struct candidate_maker *maker, struct subgraph *candidate, struct error *err)
{
    int rc = candidate_fill(maker, candidate, err);

    if (rc < 0)
        return rc;
    if (maker->settings->iteration_inputs != NULL)
        rc = reference_values_record(maker->reference, &candidate->inputs, err);
    if (rc < 0)
        return rc;
    if (maker->settings->iteration_golden != NULL)
        rc = reference_values_record(maker->reference, &candidate->outputs, err);
    return rc;
}

/* ---- Files ---- */

struct border {
    const struct reference_values *reference;
    const struct subgraph *candidate;
};

/* The tensors are borrowed from the reference values. */
static void list_values(const struct border *border, const struct value_list *values, size_t sample,
                        struct tensor_list *ret)
{
    for (size_t i = 0; i < values->count; i++) {
        const struct tensor *value = reference_values_in(border->reference, values->items[i], sample);
        struct tensor borrowed;

        tensor_borrow(value->type, &value->shape, value->data, value->size, &borrowed);
        tensor_list_add(ret, border->candidate->model->values.items[values->items[i]].name, &borrowed);
    }
}

static int save_inputs(const struct border *border, const char *path, struct error *err)
{
    struct feed_dicts feeds SCOPED(feed_dicts_release) = {0};

    for (size_t i = 0; i < reference_values_samples(border->reference); i++) {
        struct tensor_list *feed = VECTOR_APPEND(&feeds);

        *feed = (struct tensor_list){0};
        list_values(border, &border->candidate->inputs, i, feed);
    }
    return feed_dicts_save(&feeds, path, err);
}

static int save_golden(const struct border *border, const char *path, struct error *err)
{
    struct run_results results SCOPED(run_results_release) = {0};
    struct runner_results *runner = run_results_add_runner(&results, TEXT(RUNNER_NAME));

    for (size_t i = 0; i < reference_values_samples(border->reference); i++) {
        struct iteration_result *iteration = runner_results_add_iteration(runner, 0);

        list_values(border, &border->candidate->outputs, i, &iteration->outputs);
    }
    return run_results_save(&results, path, err);
}

int candidate_data_write(const struct reference_values *reference, const struct subgraph *candidate,
                         const struct candidate_paths *paths, struct error *err)
{
    const struct border border = {reference, candidate};
    int rc = 0;

    if (paths->items[CANDIDATE_INPUTS] != NULL)
        rc = save_inputs(&border, paths->items[CANDIDATE_INPUTS], err);
    if (rc == 0 && paths->items[CANDIDATE_GOLDEN] != NULL)
        rc = save_golden(&border, paths->items[CANDIDATE_GOLDEN], err);
    return rc;
}

int candidate_write(struct candidate_maker *maker, const struct subgraph *candidate,
                    const struct candidate_paths *paths, const struct external_settings *external,
                    struct hash *ret_hash, struct error *err)
{
    int rc = candidate_data_write(maker->reference, candidate, paths, err);
    struct known_types types SCOPED(known_types_release) = {0};
    struct subgraph written;

    if (rc < 0)
        return rc;
    written = candidate_assume(maker, candidate, &types);
    return model_write(&written, paths->items[CANDIDATE_ARTIFACT], external, FILE_INTERMEDIATE, ret_hash, err);
}
