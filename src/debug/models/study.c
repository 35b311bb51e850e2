/* debug/models/study.c: see study.h. */
#include "debug/models/study.h"

#include <math.h>
#include <stdlib.h>

#include "backend/model_io.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "comparator/data/feed_match.h"
#include "debug/models/transfer.h"
#include "tensor/statistics/range.h"
#include "tensor/values/elements.h"

#define MOST_ROUNDS 32
#define MOST_ALONE 64 /* differences that are tried one by one when the first divergence gives none */

static const struct model *model_of_b(const struct model_study *study)
{
    return study->pairing->b.model;
}

/* ---- Inputs ---- */

/* Feeds B with the data of A, in B's types and shapes. */
static int feed_second_model(struct model_study *study, struct error *err)
{
    const struct model *a = study->pairing->a.model, *b = study->pairing->b.model;
    struct backend_io *items = model_io_new(b, NULL, &b->inputs);
    struct feed_inputs inputs = {items, b->inputs.count, true, study->log};
    struct tensor_list given = {0};
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < b->inputs.count; i++) {
        struct text name = b->values.items[b->inputs.items[i]].name;
        uint32_t partner = study->pairing->b.values[b->inputs.items[i]];
        const struct named_tensor *of_a =
            partner != VALUE_NONE ? tensor_list_find(&study->feed_a, a->values.items[partner].name) : NULL;
        struct tensor tensor;

        if (of_a == NULL) {
            rc = error_set(err, ERR_MISSING,
                           "input '" TEXT_FORMAT "' of B has no counterpart in A: the models cannot be run on the "
                           "same data",
                           TEXT_ARGS(name));
            break;
        }
        tensor_borrow(of_a->tensor.type, &of_a->tensor.shape, of_a->tensor.data, of_a->tensor.size, &tensor);
        tensor_list_add(&given, name, &tensor);
        rc = feed_match(&given, &inputs, i, &tensor, err);
        if (rc > 0)
            tensor_list_add(&study->feed_b, name, &tensor);
    }
    tensor_list_release(&given);
    model_io_free(items, b->inputs.count);
    return rc < 0 ? rc : 0;
}

static int feed_both_models(struct model_study *study, struct error *err)
{
    const struct model *a = study->pairing->a.model;
    struct backend_io *inputs = model_io_new(a, NULL, &a->inputs);
    int rc = data_loader_feed(study->loader, inputs, a->inputs.count, 0, &study->feed_a, err);

    model_io_free(inputs, a->inputs.count);
    return rc < 0 ? rc : feed_second_model(study, err);
}

/* ---- Comparisons ---- */

static double find_distance(const struct model_study *study, const struct run_values *b, uint32_t value_a,
                            uint32_t value_b)
{
    const struct tensor *one = study->values_a.items[value_a], *other = b->items[value_b];

    return one != NULL && other != NULL ? tensor_distance(one, other) : INFINITY;
}

/* How a tensor of B differs from its partner. */
static void describe_distance(const struct model_study *study, uint32_t value_b, struct string_builder *ret)
{
    uint32_t partner = study->pairing->b.values[value_b];
    const struct tensor *a = partner != VALUE_NONE ? study->values_a.items[partner] : NULL;
    const struct tensor *b = study->values_b.items[value_b];

    if (a != NULL && b != NULL)
        tensor_distance_describe(a, b, ret);
    else
        string_add(ret, "equals no tensor of A");
}

/* Whether an output of B has a partner that is a tensor. */
static bool is_compared_output(const struct model_study *study, uint32_t output)
{
    uint32_t partner = study->pairing->b.values[output];

    return partner != VALUE_NONE && study->values_a.items[partner] != NULL;
}

/* Whether the paired outputs agree; the worst one. */
static bool outputs_are_equal(const struct model_study *study, const struct run_values *b, double *ret_error,
                              uint32_t *ret_worst)
{
    const struct value_list *outputs = &model_of_b(study)->outputs;

    *ret_error = -1;
    for (size_t i = 0; i < outputs->count; i++) {
        uint32_t output = outputs->items[i];
        double distance =
            is_compared_output(study, output) ? find_distance(study, b, study->pairing->b.values[output], output) : 0;

        if (distance <= *ret_error)
            continue;
        *ret_error = distance;
        *ret_worst = outputs->items[i];
    }
    return *ret_error <= study->tolerance;
}

/* Finds for all tensors of B's current run those of A that are equal; those of one type and shape may replace A's. */
static void match_values(struct model_study *study)
{
    const struct model *b = model_of_b(study);

    free(study->matches);
    study->matches = model_values_match(study->pairing, &study->values_a, &study->values_b, study->tolerance);
    for (size_t i = 0; i < study->values_a.count; i++)
        study->equal_in_b[i] = VALUE_NONE;
    for (uint32_t i = 0; i < b->values.count; i++) {
        uint32_t match = study->matches[i];

        if (match == VALUE_NONE || (model_producer(b, i) == NULL && study->pairing->b.values[i] != match) ||
            study->values_a.items[match]->type != study->values_b.items[i]->type ||
            !shape_equal(&study->values_a.items[match]->shape, &study->values_b.items[i]->shape))
            continue;
        if (study->equal_in_b[match] == VALUE_NONE || study->pairing->b.values[i] == match)
            study->equal_in_b[match] = i;
    }
}

/* Whether a tensor of B equals its partner, or, if it has none or the wrong one, any tensor of A. Its partner is the
 * right one if the tensor of A that it equals has an equal partner itself. */
static bool is_equal_value(const struct model_study *study, uint32_t value)
{
    uint32_t partner, match;

    if (value == VALUE_NONE || model_producer(model_of_b(study), value) == NULL)
        return true;
    partner = study->pairing->b.values[value];
    match = study->matches[value];
    if (match == VALUE_NONE || match == partner || partner == VALUE_NONE || study->values_a.items[partner] == NULL)
        return match != VALUE_NONE;
    return study->pairing->a.values[match] == VALUE_NONE || study->matches[study->pairing->a.values[match]] != match;
}

static bool have_equal_values(void *data, uint32_t value_a, uint32_t value_b)
{
    const struct model_study *study = data;

    return find_distance(study, &study->values_b, value_a, value_b) <= study->tolerance;
}

/* ---- Experiments ---- */

static int run_model(const struct model_study *study, const struct model *model, bool is_a, struct run_values *ret,
                     struct error *err)
{
    const struct values_runner runner = {study->backend, study->request, is_a ? &study->feed_a : &study->feed_b};

    return model_values_run(&runner, model, is_a ? &study->pairing->a : &study->pairing->b, ret, err);
}

/* Differences whose parts of A are put in. */
struct part_list {
    const struct model_difference **items;
    size_t count;
};

/* B with A's parts, and its tensors. */
struct experiment_run {
    struct model *model;
    struct run_values values;
};

/* Runs B with A's parts of the causes but `without` (SIZE_MAX: all), and of more differences. */
static int run_with_parts(struct model_study *study, const struct part_list *more, size_t without,
                          struct experiment_run *ret, struct error *err)
{
    size_t causes = study->causes.count, used = 0;
    const struct model_difference **parts SCOPED_FREE = memory_alloc((causes + more->count + 1) * sizeof(*parts));
    int rc;

    for (size_t i = 0; i < causes; i++)
        if (i != without)
            parts[used++] = &study->causes.items[i];
    for (size_t i = 0; i < more->count; i++)
        parts[used++] = more->items[i];
    *ret = (struct experiment_run){.model = NULL};
    if (interrupt_pending())
        return error_set(err, ERR_INTERRUPTED, "interrupted after %zu runs", study->runs);
    rc = model_transfer(study->pairing, study->equal_in_b, parts, used, &ret->model, err);
    if (rc < 0)
        return rc;
    study->runs++;
    return run_model(study, ret->model, false, &ret->values, err);
}

static void release_experiment(struct experiment_run *run)
{
    model_values_release(&run->values);
    if (run->model != NULL)
        model_free(run->model);
}

/* Puts A's parts in. They become causes, and this run the current one, if it makes `target` (VALUE_NONE: the outputs)
 * equal to its partner. */
static int try_parts(struct model_study *study, const struct part_list *parts, uint32_t target, bool *ret_accepted,
                     struct error *err)
{
    struct experiment_run run;
    struct error why = {0};
    double error;
    uint32_t worst;
    int rc = run_with_parts(study, parts, SIZE_MAX, &run, &why);

    *ret_accepted = false;
    if (rc < 0) {
        release_experiment(&run);
        if (rc == ERR_INTERRUPTED)
            return error_set(err, ERR_INTERRUPTED, "%s", why.message);
        study->untested++;
        study->why_untested = why;
        return 0;
    }
    *ret_accepted = outputs_are_equal(study, &run.values, &error, &worst) ||
                    (target != VALUE_NONE &&
                     find_distance(study, &run.values, study->pairing->b.values[target], target) <= study->tolerance);
    if (!*ret_accepted) {
        release_experiment(&run);
        return 0;
    }
    for (size_t i = 0; i < parts->count; i++) {
        struct model_difference *cause = VECTOR_APPEND(&study->causes);

        *cause = *parts->items[i];
        cause->sentence = arena_strdup(&study->causes.arena, parts->items[i]->sentence);
    }
    model_values_release(&study->values_b);
    study->values_b = run.values;
    if (study->repaired != NULL)
        model_free(study->repaired);
    study->repaired = run.model;
    return 0;
}

/* The differences one by one, then all of them. */
static int try_differences(struct model_study *study, const struct model_differences *found, uint32_t target,
                           bool *ret_accepted, struct error *err)
{
    const struct model_difference **parts SCOPED_FREE = memory_alloc((found->count + 1) * sizeof(*parts));
    int rc = 0;

    *ret_accepted = false;
    for (size_t i = 0; i < found->count; i++)
        parts[i] = &found->items[i];
    for (size_t i = 0; rc == 0 && !*ret_accepted && i < found->count && i < MOST_ALONE; i++)
        rc = try_parts(study, &(struct part_list){&parts[i], 1}, target, ret_accepted, err);
    if (rc == 0 && !*ret_accepted && found->count > 1)
        rc = try_parts(study, &(struct part_list){parts, found->count}, target, ret_accepted, err);
    if (!*ret_accepted && found->count > MOST_ALONE)
        study->not_alone = found->count - MOST_ALONE;
    return rc;
}

/* ---- The first divergence ---- */

/* Nodes of B on the way from tensors that differ to outputs that differ. */
static void mark_needed_nodes(const struct model_study *study, struct bitset *ret)
{
    const struct model *b = model_of_b(study);
    SCOPED_BITSET(needed);

    bitset_init(&needed, b->values.count);
    for (size_t i = 0; i < b->outputs.count; i++)
        if (is_compared_output(study, b->outputs.items[i]) &&
            study->pairing->b.values[b->outputs.items[i]] != study->matches[b->outputs.items[i]])
            bitset_add(&needed, b->outputs.items[i]);
    for (size_t i = b->nodes.count; i-- > 0;) {
        const struct node *node = &b->nodes.items[i];
        bool is_needed = false;

        for (size_t k = 0; k < node->outputs.count; k++)
            is_needed |= node_output(b, node, k) != VALUE_NONE && bitset_has(&needed, node_output(b, node, k));
        if (!is_needed)
            continue;
        bitset_add(ret, i);
        for (size_t k = 0; k < node_read_count(node); k++)
            if (!is_equal_value(study, node_read(b, node, k)))
                bitset_add(&needed, node_read(b, node, k));
    }
}

static bool reads_equal_values_only(const struct model_study *study, const struct node *node)
{
    for (size_t i = 0; i < node_read_count(node); i++)
        if (!is_equal_value(study, node_read(model_of_b(study), node, i)))
            return false;
    return true;
}

/* The next node, from `from` on, all of whose inputs equal tensors of A while its output differs. */
static uint32_t find_divergence(const struct model_study *study, const struct bitset *needed, uint32_t from)
{
    const struct model *b = model_of_b(study);

    for (size_t i = bitset_next(needed, from); i < needed->size; i = bitset_next(needed, i + 1))
        if (reads_equal_values_only(study, &b->nodes.items[i]))
            return (uint32_t)i;
    return NODE_NONE;
}

static void note_first_divergence(struct model_study *study, uint32_t number)
{
    const struct node *node = &model_of_b(study)->nodes.items[number];

    for (size_t i = 0; study->first_node == NODE_NONE && i < node->outputs.count; i++) {
        uint32_t value = node_output(model_of_b(study), node, i);

        if (value == VALUE_NONE || is_equal_value(study, value))
            continue;
        study->first_node = number;
        study->first_value = value;
        describe_distance(study, value, &study->first_text);
    }
}

/* The first tensor with a partner that a node produces, or behind nodes without partners that follow it. The
 * differences of a paired node that is reached are appended to `ret`. */
static uint32_t find_target(struct model_study *study, uint32_t node, const struct bitset *needed,
                            struct model_differences *ret)
{
    const struct model *b = model_of_b(study);
    SCOPED_BITSET(reached);

    bitset_init(&reached, b->values.count);
    for (size_t i = node; i < needed->size; i = bitset_next(needed, i + 1)) {
        const struct node *next = &b->nodes.items[i];
        bool follows = i == node;

        for (size_t k = 0; !follows && k < node_read_count(next); k++)
            follows = node_read(b, next, k) != VALUE_NONE && bitset_has(&reached, node_read(b, next, k));
        if (!follows)
            continue;
        if (study->pairing->b.nodes[i] != NODE_NONE)
            model_differences_of_node(study->pairing, (uint32_t)i, have_equal_values, study, ret);
        for (size_t k = 0; k < next->outputs.count; k++) {
            uint32_t value = node_output(b, next, k);

            if (value == VALUE_NONE || is_equal_value(study, value))
                continue;
            if (study->pairing->b.values[value] != VALUE_NONE)
                return value;
            bitset_add(&reached, value);
        }
    }
    return VALUE_NONE;
}

/* A's nodes in place of those that produce `target`. */
static int try_nodes_of_a(struct model_study *study, uint32_t target, bool *ret_accepted, struct error *err)
{
    uint32_t value_a = study->pairing->b.values[target];
    struct model_differences found SCOPED(model_differences_release) = {0};
    const struct model_difference *part;

    if (model_producer(study->pairing->a.model, value_a) == NULL || model_producer(model_of_b(study), target) == NULL)
        return 0;
    model_differences_add_operator(study->pairing, value_a, target, &found);
    part = &found.items[0];
    return try_parts(study, &(struct part_list){&part, 1}, target, ret_accepted, err);
}

/* Looks for a difference that makes B equal to A where it diverges first. */
static int repair_divergence(struct model_study *study, bool *ret_accepted, struct error *err)
{
    SCOPED_BITSET(needed);
    int rc = 0;

    *ret_accepted = false;
    bitset_init(&needed, model_of_b(study)->nodes.count);
    mark_needed_nodes(study, &needed);
    for (uint32_t node = find_divergence(study, &needed, 0); rc == 0 && !*ret_accepted && node != NODE_NONE;
         node = find_divergence(study, &needed, node + 1)) {
        struct model_differences found SCOPED(model_differences_release) = {0};
        uint32_t target = find_target(study, node, &needed, &found);

        note_first_divergence(study, node);
        rc = try_differences(study, &found, target, ret_accepted, err);
        if (rc == 0 && !*ret_accepted && target != VALUE_NONE)
            rc = try_nodes_of_a(study, target, ret_accepted, err);
    }
    return rc;
}

/* Where nothing at the first divergence helps: all differences of paired nodes. */
static int try_all_differences(struct model_study *study, bool *ret_accepted, struct error *err)
{
    struct model_differences found SCOPED(model_differences_release) = {0};

    model_differences_find(study->pairing, &found);
    return try_differences(study, &found, VALUE_NONE, ret_accepted, err);
}

/* ---- The study ---- */

/* Drops causes without which the outputs agree, too. The others are tested again then. */
static int drop_unnecessary_causes(struct model_study *study, struct error *err)
{
    study->is_minimal = true;
    for (size_t i = study->causes.count; study->causes.count > 1 && i-- > 0;) {
        struct experiment_run run;
        struct error why;
        double error;
        uint32_t worst;
        int rc = run_with_parts(study, &(struct part_list){NULL, 0}, i, &run, &why);

        if (rc == 0 && outputs_are_equal(study, &run.values, &error, &worst)) {
            for (size_t k = i; k + 1 < study->causes.count; k++)
                study->causes.items[k] = study->causes.items[k + 1];
            study->causes.count--;
            study->error_after = error;
            model_free(study->repaired);
            study->repaired = run.model;
            run.model = NULL;
            study->is_minimal = true;
            i = study->causes.count;
        }
        study->is_minimal &= rc == 0;
        release_experiment(&run);
        if (rc == ERR_INTERRUPTED)
            return error_set(err, ERR_INTERRUPTED, "%s", why.message);
    }
    return 0;
}

static int run_both_models(struct model_study *study, struct error *err)
{
    int rc = feed_both_models(study, err);

    if (rc < 0)
        return rc;
    rc = run_model(study, study->pairing->a.model, true, &study->values_a, err);
    if (rc < 0)
        return error_context(err, "A does not run");
    rc = run_model(study, study->pairing->b.model, false, &study->values_b, err);
    return rc < 0 ? error_context(err, "B does not run") : 0;
}

static bool is_output_of(const struct model *model, uint32_t value)
{
    for (size_t i = 0; i < model->outputs.count; i++)
        if (model->outputs.items[i] == value)
            return true;
    return false;
}

static bool has_nonfinite(const struct tensor *tensor)
{
    struct value_range range;

    if (elements_arithmetic(tensor->type) == ARITHMETIC_NONE)
        return false;
    range_compute(tensor, &range);
    return range.nans + range.infinities > 0;
}

static int count_compared_outputs(struct model_study *study, struct error *err)
{
    const struct model *b = model_of_b(study);

    study->outputs_of_a_only = study->pairing->a.model->outputs.count;
    for (size_t i = 0; i < b->outputs.count; i++) {
        uint32_t partner = study->pairing->b.values[b->outputs.items[i]];

        study->outputs_of_a_only -= partner != VALUE_NONE && is_output_of(study->pairing->a.model, partner);
        if (is_compared_output(study, b->outputs.items[i]))
            study->nonfinite_outputs += has_nonfinite(study->values_a.items[partner]);
        else
            study->uncompared_outputs++;
    }
    if (study->uncompared_outputs == b->outputs.count)
        return error_set(err, ERR_MISSING,
                         "no output of B has a tensor of A as its counterpart: there is nothing to "
                         "compare");
    return 0;
}

static void count_equal_values(struct model_study *study)
{
    for (uint32_t i = 0; i < model_of_b(study)->values.count; i++) {
        if (model_producer(model_of_b(study), i) == NULL || study->values_b.items[i] == NULL)
            continue;
        study->values++;
        study->equal_values += is_equal_value(study, i);
    }
}

static int find_causes(struct model_study *study, struct error *err)
{
    bool agrees = false;
    int rc = 0;

    for (size_t round = 0; rc == 0 && !agrees && round < MOST_ROUNDS; round++) {
        bool accepted;

        if (round > 0)
            match_values(study);
        rc = repair_divergence(study, &accepted, err);
        if (rc == 0 && !accepted)
            rc = try_all_differences(study, &accepted, err);
        if (rc < 0 || !accepted)
            break;
        agrees = outputs_are_equal(study, &study->values_b, &study->error_after, &(uint32_t){0});
    }
    if (rc < 0)
        return rc;
    study->outcome = agrees ? MODELS_HAVE_CAUSE : MODELS_DIFFER;
    return agrees ? drop_unnecessary_causes(study, err) : 0;
}

int model_study_run(struct model_study *study, struct error *err)
{
    int rc = run_both_models(study, err);

    string_init(&study->first_text);
    string_init(&study->worst_text);
    study->first_node = NODE_NONE;
    if (rc == 0)
        rc = count_compared_outputs(study, err);
    if (rc < 0)
        return rc;
    if (study->tolerance == 0)
        study->tolerance = model_values_tolerance(study->pairing->a.model, study->pairing->b.model, &study->values_a,
                                                  &study->values_b);
    study->equal_in_b = memory_alloc((study->values_a.count + 1) * sizeof(*study->equal_in_b));
    match_values(study);
    count_equal_values(study);
    study->outcome = MODELS_AGREE;
    if (outputs_are_equal(study, &study->values_b, &study->error, &study->worst_output))
        return 0;
    describe_distance(study, study->worst_output, &study->worst_text);
    study->error_after = study->error;
    study->outcome = MODELS_DIFFER;
    return study->pairing->paired_nodes > 0 ? find_causes(study, err) : 0;
}

void model_study_release(struct model_study *study)
{
    model_differences_release(&study->causes);
    model_values_release(&study->values_a);
    model_values_release(&study->values_b);
    tensor_list_release(&study->feed_a);
    tensor_list_release(&study->feed_b);
    free(study->matches);
    free(study->equal_in_b);
    string_release(&study->first_text);
    string_release(&study->worst_text);
    if (study->repaired != NULL)
        model_free(study->repaired);
}
