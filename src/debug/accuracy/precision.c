/* debug/accuracy/precision.c: does it fail in lower precision only, and which layers need the higher one?
 *
 * What a type can represent is compared with the ranges in the reference, which says where to look, and how to put it.
 * The evidence is a set of layers found by building (`debug precision`), and what becomes of it in bfloat16, which has
 * the range of float32 and less precision than float16.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "debug/accuracy/hypotheses.h"
#include "debug/accuracy/subgraph.h"

#define MOST_HINTS 3
#define MOST_OTHER_OVERFLOWS 20
#define MOST_LONE_NODES 2 /* are tried one by one */
#define MOST_GROWN_SET 12 /* nodes; a larger set is not made smaller */
#define LARGE_SHARE 3.0   /* from one in so many layers on, which of them matter is measured */

struct precision_need {
    struct study *study;
    const struct float_format *format; /* NULL: int8 */
    struct known_range *ranges;        /* of values */
    struct words names;                /* of the nodes of the layers that need higher precision */
    struct bitset nodes;               /* those outside of others: of tensors in bodies nothing is known */
    struct words layers;               /* NAME:float32 for each */
    struct study_step *search;         /* that has found them */
    double expected_error;             /* of rounding, relative to the largest magnitude: rounding_tolerance() */
    int64_t lowered;                   /* layers that could be in lower precision */
    int64_t checks;
    bool is_minimal;
    enum range_error error; /* the worst among inputs and outputs of these nodes */
    uint32_t value;         /* whose that is */
    uint32_t node;          /* that reads or makes it */
};

static enum range_error error_at_node(const struct precision_need *need, uint32_t node, uint32_t *ret_value)
{
    return range_error_at_node(need->format, need->study->model, need->ranges, node, ret_value);
}

static const char *describe_error(struct precision_need *need, uint32_t value, uint32_t node, enum range_error error)
{
    return describe_range_error(need->study, need->format, &need->ranges[value], value, node, error);
}

/* Whether this node makes the worst of its values itself, or reads it from outside of the network, and how bad it is:
 * FITS where another node made it. */
static enum range_error error_from_node(const struct precision_need *need, uint32_t node, uint32_t *ret_value)
{
    enum range_error ret = error_at_node(need, node, ret_value);
    uint32_t producer = ret > FITS ? need->study->model->values.items[*ret_value].producer : NODE_NONE;

    return producer == node || producer == NODE_NONE ? ret : FITS;
}

/* What fits worst in the reference, in the order of the network. Whether something there is too large. */
static bool log_hints(struct precision_need *need)
{
    struct study *study = need->study;
    enum range_error worst = HAS_TINY;
    bool is_too_large = false;
    size_t count = 0;
    uint32_t value = VALUE_NONE;

    for (uint32_t i = 0; i < need->nodes.size; i++) {
        enum range_error error = error_from_node(need, i, &value);

        is_too_large |= error_at_node(need, i, &value) == IS_TOO_LARGE;
        worst = error > worst ? error : worst;
    }
    for (uint32_t i = 0; worst > HAS_TINY && i < need->nodes.size; i++)
        if (error_from_node(need, i, &value) == worst && count++ < MOST_HINTS)
            study_log(study, "By the values of the reference: %s", describe_error(need, value, i, worst));
    if (count > MOST_HINTS)
        study_log(study, "and %zu more", count - MOST_HINTS);
    return is_too_large;
}

/* ---- Experiments ---- */

static enum agreement run_in_float(struct study *study)
{
    struct study_step *step =
        step_begin_model(study, "float32", study_text(study, "In float32, %d runs", RUNS_OF_ONE_BUILD),
                         study->settings->suspect_in_float);

    step_add_repeated_whole(step, RUNS_OF_ONE_BUILD);
    if (step_judge(step) != UNKNOWN)
        step->checks = RUNS_OF_ONE_BUILD;
    return step->agreement;
}

static struct study_step *search_needy_layers(struct precision_need *need)
{
    struct study *study = need->study;
    const struct failing_case *whole = &study->whole;
    struct study_step *step = step_begin(study, "precision", "The smallest set of layers that has to stay in float32");
    const char *engine = step_path(step, "candidate.engine");

    step->replay = step_path(step, "replay.json");
    step_add(step, "debug", "precision", whole->model, "--mode", "minimal", "--load-inputs", whole->inputs,
             "--iter-artifact", engine, "--force", "--save-debug-replay", step->replay, "--hide-fail-output", NULL);
    if (need->format == &format_float16) /* the only one that the model is written in, with Casts */
        step_add(step, "--output-onnx", study_path(study, "mixed.onnx"), NULL);
    step_add_words(step, study->settings->loading);
    step_add_words(step, study->settings->engine);
    if (study->pattern != FAILS_ALWAYS)
        step_add(step, "--flaky", NULL);
    step_add(step, "--check", "polygraphy", "run", engine, "--trt", NULL);
    step_add_case(step, whole);
    step_run(step);
    return step;
}

static uint32_t find_named_node(const struct model *model, const char *name)
{
    for (uint32_t i = 0; i < model->nodes.count; i++)
        if (text_equal_string(model->nodes.items[i].name, name))
            return i;
    return NODE_NONE;
}

/* Whether there is a set of layers. */
static bool read_needy_layers(struct precision_need *need, struct study_step *step)
{
    struct study *study = need->study;
    const json_t *layers = result_find(step->result.root, "layers"), *layer;
    size_t i;

    if (step->exit_status != 0 || !step->has_result || !step_says(step, "found") || json_array_size(layers) == 0)
        return false;
    need->checks = step_count(step, "failed") + step_count(step, "passed");
    step->checks = step->builds = need->checks;
    need->lowered = step_count(step, "lowered");
    need->is_minimal = step_says(step, "minimal");
    json_array_foreach (layers, i, layer)
        need->names = study_add_words(study, need->names, result_words(step, result_find(layer, "nodes"), ""));
    for (i = 0; i < need->names.count; i++) {
        uint32_t node = find_named_node(study->model, need->names.items[i]);

        if (node != NODE_NONE)
            bitset_add(&need->nodes, node);
    }
    need->layers = result_words(step, result_find(step->result.root, "layer_precisions"), "");
    need->search = step;
    step->outcome = study_text(study, "%zu of %lld layers", need->layers.count, (long long)need->lowered);
    return need->layers.count > 0;
}

/* Whether the layers pass in bfloat16, too: then it is not the precision that float16 lacks. */
static bool try_bfloat16(struct precision_need *need)
{
    struct study *study = need->study;
    struct study_step *step;

    if (need->format != &format_float16)
        return false;
    step = step_begin_suspect(study, &study->whole, "bfloat16",
                              "These layers in bfloat16: float32's range, and fewer digits than float16");
    step_add(step, "--bf16", NULL);
    step_add_words(step, layers_with_precision(study, need->layers, "bfloat16"));
    return step_try(step) == AGREES;
}

/* ---- The answer ---- */

/* "'a' (Conv) and 'b' (Relu)"; by their names alone where one of them is inside of another node. */
static const char *describe_needy_nodes(struct precision_need *need)
{
    if (bitset_count(&need->nodes) == need->names.count)
        return describe_nodes(need->study, &need->nodes);
    return study_list(need->study, need->names, (struct words){0});
}

/* All layers add to the error, and it is what rounding makes anyway: the tolerance asks for more than that. */
static const char *describe_ordinary_rounding(struct precision_need *need, double error)
{
    struct study *study = need->study;
    const char *advice = study_verify_norm_tolerance(study, error);

    return study_text(study,
                      "ordinary rounding of %s: an error of %.2g of the largest magnitude, where %.2g is expected of "
                      "its precision and the depth of the model; %zu of %lld layers would have to stay in float32, and "
                      "no single one brings most of the error down%s%s",
                      study->settings->precision, error, need->expected_error, need->layers.count,
                      (long long)need->lowered, advice != NULL ? "; the model passes with --norm-tolerance " : "",
                      advice != NULL ? advice : "");
}

/* The nodes of one of the layers; of all of them where that is not known. */
static struct words nodes_of_layer(struct precision_need *need, size_t layer)
{
    const json_t *layers = result_find(need->search->result.root, "layers");

    if (json_array_size(layers) != need->layers.count)
        return need->names;
    return result_words(need->search, result_find(json_array_get(layers, layer), "nodes"), "");
}

/* Few layers, one that matters, one that cancels; else the size of the error says whether it is ordinary. */
static const char *describe_rounding(struct precision_need *need)
{
    struct study *study = need->study;
    const char *precision = study->settings->precision, *ret;
    size_t count = need->layers.count, decisive;
    double before = INFINITY, after = INFINITY;
    uint32_t node = NODE_NONE;

    if ((double)count * LARGE_SHARE < (double)need->lowered)
        return study_text(study, "insufficient precision of %s in %zu of %lld layers: %s", precision, count,
                          (long long)need->lowered, describe_needy_nodes(need));
    decisive = study_find_decisive_layer(study, need->layers, &before, &after);
    if (decisive != SIZE_MAX) {
        need->names = nodes_of_layer(need, decisive);
        return study_text(study,
                          "insufficient precision of %s in %s: with this layer alone in float32 the largest error "
                          "drops from %.2g to %.2g",
                          precision, study_list(study, need->names, (struct words){0}), before, after);
    }
    ret = describe_cancellation(study, need->ranges, &need->nodes, study->settings->unit_roundoff, &node);
    if (ret != NULL) {
        need->names = study_words(study, node_label(study, node), NULL);
        return study_text(study, "%s; %zu of %lld layers have to stay in float32", ret, count,
                          (long long)need->lowered);
    }
    if (before <= need->expected_error)
        return describe_ordinary_rounding(need, before);
    return study_text(study, "insufficient precision of %s in %zu of %lld layers together: %s", precision, count,
                      (long long)need->lowered, describe_needy_nodes(need));
}

/* What does not fit, and how much of that is left where the outputs agree all the same. */
static const char *describe_overflow(struct precision_need *need)
{
    const char *ret = describe_error(need, need->value, need->node, need->error);
    size_t others = 0;
    uint32_t value = VALUE_NONE;

    for (uint32_t i = 0; need->error == IS_TOO_LARGE && i < need->nodes.size; i++)
        others += !bitset_has(&need->nodes, i) && error_from_node(need, i, &value) == IS_TOO_LARGE;
    if (others == 0)
        return ret;
    return study_text(need->study,
                      "%s. In other layers %zu tensors are too large as well, which the outputs do not show with "
                      "these data",
                      ret, others);
}

/* Where too large values begin: the node makes one, and those of other nodes that it reads are known to be in range. */
static bool begins_overflow(const struct precision_need *need, uint32_t node, uint32_t *ret_value)
{
    const struct model *model = need->study->model;
    const struct node *item = &model->nodes.items[node];
    uint32_t value = VALUE_NONE;

    if (error_at_node(need, node, &value) != IS_TOO_LARGE)
        return false;
    *ret_value = value;
    for (size_t i = 0; i < node_read_count(item); i++) {
        value = node_read(model, item, i);
        if (value != VALUE_NONE && model->values.items[value].producer != NODE_NONE &&
            (!need->ranges[value].is_known || need->ranges[value].has_infinities ||
             need->ranges[value].largest > need->format->largest))
            return false;
    }
    return true;
}

/* Independent overflows hide behind the largest one: each is listed. */
static void list_other_overflows(struct precision_need *need)
{
    struct study *study = need->study;
    uint32_t value = VALUE_NONE;
    size_t count = 0;

    for (uint32_t i = 0; i < need->nodes.size; i++)
        if (i != need->node && bitset_has(&need->nodes, i) && begins_overflow(need, i, &value) &&
            count++ < MOST_OTHER_OVERFLOWS)
            study_add_evidence(study,
                               "by the values of the reference, an overflow begins in another of these layers, too: %s",
                               describe_error(need, value, i, IS_TOO_LARGE));
    if (count > 0)
        study->cause.sentence = study_text(study, "%s; by the values of the reference %zu more overflow%s",
                                           study->cause.sentence, count, count == 1 ? " begins" : "s begin");
}

static void conclude_precision(struct precision_need *need, bool passes_in_bfloat16)
{
    struct study *study = need->study;
    struct cause *cause = &study->cause;
    size_t count = need->layers.count;
    const char *layers = study_text(study, "%zu layer%s", count, count == 1 ? "" : "s");

    study_add_evidence(study, "passes in float32 (all of %d runs)", RUNS_OF_ONE_BUILD);
    study_add_evidence(study, "passes with %zu of %lld layers in float32%s%s (%lld builds)", count,
                       (long long)need->lowered,
                       !need->is_minimal ? ""
                       : count == 1      ? "; fails if it is moved back to "
                       : count == 2      ? "; fails if either is moved back to "
                                         : "; fails if any of them is moved back to ",
                       need->is_minimal ? study->settings->precision : "", (long long)need->checks);
    if (passes_in_bfloat16)
        study_add_evidence(study, "also passes with these layers in bfloat16 (float32 range, less precision), so the "
                                  "cause is range, not precision");
    cause->kind = CAUSE_PRECISION;
    if (need->error == IS_TOO_LARGE)
        cause->kind = CAUSE_OVERFLOW;
    else if (need->error == IS_FLUSHED || (passes_in_bfloat16 && need->error != FITS))
        cause->kind = CAUSE_UNDERFLOW;
    cause->sentence = cause->kind != CAUSE_PRECISION ? describe_overflow(need) : describe_rounding(need);
    if (cause->kind == CAUSE_OVERFLOW)
        list_other_overflows(need);
    cause->nodes = need->names;
    cause->fix = (struct cause_fix){.what = study_text(study, "%s in float32", layers),
                                    .options = layers_with_precision(study, need->layers, "float32")};
}

/* ---- The smallest case ---- */

/* One node that fails alone, or these nodes with their neighbours. */
static bool find_failing_part(struct precision_need *need, struct bitset *part)
{
    struct study *study = need->study;
    size_t tried = 0;

    for (size_t i = bitset_next(&need->nodes, 0); i < need->nodes.size && tried < MOST_LONE_NODES;
         i = bitset_next(&need->nodes, i + 1)) {
        uint32_t value;

        if (error_at_node(need, (uint32_t)i, &value) < need->error)
            continue;
        tried++;
        bitset_assign(part, study_node(study, (uint32_t)i));
        if (study_run_nodes(study, part, study->part_tolerance).agreement == DIFFERS)
            return true;
    }
    bitset_assign(part, &need->nodes);
    return bitset_count(&need->nodes) <= MOST_GROWN_SET &&
           study_grow_nodes(study, part, study->part_tolerance).agreement == DIFFERS;
}

/* The minimal case, which passes in float32. Without one nothing is lost. */
static void make_lowered_minimal(struct precision_need *need)
{
    struct study *study = need->study;
    struct study_step *step;
    SCOPED_BITSET(part);

    bitset_init(&part, need->nodes.size);
    if (!find_failing_part(need, &part))
        return;
    study_make_minimal(study, &part, study->part_tolerance);
    if (study_has_failed(study) || study->minimal.model == NULL)
        return;
    step = step_begin_comparison(study, &study->minimal, "minimal-float32", "The minimal case in float32");
    step_add_words(step, study->settings->suspect_in_float);
    if (step_try(step) == AGREES)
        study_add_evidence(study, "%s: fails alone in %s, passes alone in float32", describe_nodes(study, &part),
                           study->settings->precision);
    else
        study->minimal = (struct failing_case){0};
}

/* ---- The hypothesis ---- */

static void find_worst_error(struct precision_need *need)
{
    BITSET_EACH (i, &need->nodes) {
        uint32_t value = VALUE_NONE;
        enum range_error error = error_at_node(need, (uint32_t)i, &value);

        if (error > need->error) {
            need->error = error;
            need->value = value;
            need->node = (uint32_t)i;
        }
    }
}

/* `if_too_large`: values beyond the range decide whether it is worth a search. */
static void find_layers(struct precision_need *need, bool if_too_large)
{
    struct study *study = need->study;
    struct study_step *step;
    bool passes_in_bfloat16;

    if (!log_hints(need) && if_too_large)
        return;
    step = search_needy_layers(need);
    if (!read_needy_layers(need, step)) {
        step->outcome = step->complaint != NULL ? step->complaint : "there is no such set";
        study_log(study, "%s", step->outcome);
        return;
    }
    find_worst_error(need);
    passes_in_bfloat16 = try_bfloat16(need);
    if (study_has_failed(study))
        return;
    conclude_precision(need, passes_in_bfloat16);
    if (bitset_count(&need->nodes) > 0)
        make_lowered_minimal(need);
}

static void test_lower_precision(struct study *study, bool if_too_large)
{
    struct precision_need need = {.study = study};
    struct rounding_paths paths;
    enum agreement agreement = run_in_float(study);

    if (agreement != AGREES)
        study_log(study, "It also fails in float32: the precision is not the cause");
    if (agreement != AGREES || !study_open_model(study))
        return;
    if (strcmp(study->settings->precision, format_float16.name) == 0)
        need.format = &format_float16;
    else if (strcmp(study->settings->precision, format_bfloat16.name) == 0)
        need.format = &format_bfloat16;
    rounding_paths_of(study->model, &paths);
    need.expected_error = rounding_tolerance(study->settings->unit_roundoff, &paths);
    need.ranges = study_read_ranges(study);
    if (need.ranges == NULL)
        return;
    bitset_init(&need.nodes, study->model->nodes.count);
    find_layers(&need, if_too_large);
    bitset_release(&need.nodes);
    free(need.ranges);
}

void accuracy_test_precision(struct study *study)
{
    test_lower_precision(study, false);
}

void accuracy_test_range(struct study *study)
{
    test_lower_precision(study, true);
}
