/* debug/accuracy/layers.c: which nodes is it? All tensors of the suspect are compared with those of the reference, and
 * what begins to differ is only where to look: a node is to blame when it fails alone, is farther from the exact value
 * than rounding explains, and when the whole model agrees with nothing changed but the outputs of that node, which are
 * taken from the reference. Where the reference is the one that is farther, the two change roles.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "comparator/compare/first_divergence.h"
#include "debug/accuracy/exact_value.h"
#include "debug/accuracy/hypotheses.h"
#include "debug/accuracy/subgraph.h"

/* Nodes that are tried alone for one comparison of all tensors, and such comparisons. */
#define MOST_DIVERGENT_NODES 16
#define MOST_ROUNDS 16

struct node_blame {
    struct study *study;
    struct bitset tried;                /* nodes that were run alone */
    struct bitset faulty;               /* those that the suspect computes wrongly */
    struct bitset wrong;                /* those that the reference computes wrongly */
    struct bitset rounded;              /* those that only round otherwise */
    struct words tolerance;             /* by which they fail */
    const char *suspect_values;         /* all tensors of the suspect */
    const char *inputs;                 /* of nodes alone, from the suspect's values; NULL: from the reference's */
    uint32_t rounding;                  /* a node that only rounds otherwise, which the others magnify; or NODE_NONE */
    const char **differences;           /* of each node that failed: where, and both values there */
    const char **made;                  /* likewise, the file with what it made alone in the suspect */
    struct exact_judgement *judgements; /* likewise */
    const char *made_together;          /* the file with what nodes that fail together made there; NULL: none */
};

/* ---- All tensors ---- */

/* Of the whole model or of a subgraph; those of the whole are kept. */
static struct study_step *compare_all_tensors(struct node_blame *blame, const char *model, const char *why)
{
    struct study *study = blame->study;
    const struct failing_case subject = study_values_case(study, model, study->layer_tolerance);
    struct study_step *step = step_begin_suspect(study, &subject, "all-tensors", why);

    step_add(step, "--onnx-outputs", "mark", "all", NULL);
    if (model == study->settings->model)
        step_add(step, "--save-outputs", blame->suspect_values, NULL);
    step_try(step);
    return step;
}

/* The nodes whose outputs differ while their inputs agree. Of a subgraph, only its nodes were compared; `inside` NULL:
 * the whole. */
static void find_first_divergences(struct node_blame *blame, struct study_step *step, const struct bitset *inside,
                                   struct blamed_nodes *ret)
{
    const struct model *model = blame->study->model;
    const json_t *comparisons = result_find(step->result.root, "comparisons"), *item;
    struct first_divergence divergence SCOPED(first_divergence_release) = {0};
    struct blamed_nodes invalid SCOPED_ITEMS = {0};
    size_t i;

    first_divergence_init(&divergence);
    json_array_foreach (comparisons, i, item)
        first_divergence_add_verdict(&divergence, result_text(step, item, "output"),
                                     json_is_true(result_find(item, "passed")));
    for (uint32_t k = 0; inside != NULL && k < model->nodes.count; k++) {
        const struct node *node = &model->nodes.items[k];

        for (size_t n = 0; !bitset_has(inside, k) && n < node->outputs.count; n++)
            if (model_edge(model, node->outputs, n) != VALUE_NONE)
                first_divergence_add_verdict(&divergence,
                                             tensor_label(blame->study, model_edge(model, node->outputs, n)), true);
    }
    first_divergence_find(&divergence, model, ret, &invalid);
}

/* ---- Alone ---- */

/* A number, or a boolean as one. */
static double read_element(struct study_step *step, const json_t *comparison, const char *path)
{
    const json_t *element = result_find(comparison, path);

    return json_is_boolean(element) ? json_is_true(element) : result_number(step, comparison, path, 0);
}

/* Where a comparison has failed, in words. */
static const char *describe_difference(struct study_step *step)
{
    const json_t *comparisons = result_find(step->result.root, "comparisons"), *item;
    size_t i;

    json_array_foreach (comparisons, i, item)
        if (!json_is_true(result_find(item, "passed")))
            return study_text(step->study, "%s has %.6g where the reference has %.6g",
                              result_text(step, item, "output"), read_element(step, item, "differences/worst/first"),
                              read_element(step, item, "differences/worst/second"));
    return "its outputs have other shapes";
}

/* Whether what a node has made wrong alone is its fault, and not that of how the suspect gives it out. */
static bool is_believed(struct node_blame *blame, uint32_t node, const struct lone_run *run)
{
    struct study *study = blame->study;
    uint32_t output = model_edge(study->model, study->model->nodes.items[node].outputs, 0);

    if (!study_suspect_returns_outputs(study, study_node(study, node), run->model))
        return false;
    if (output == VALUE_NONE || study_suspect_repeats_tensor(study, output, blame->suspect_values))
        return true;
    study_add_note(study,
                   "'%s' is wrong alone, but the suspect gives out '%s' with other values when it is the only output "
                   "than among all tensors, so its inner tensors are not believed there",
                   node_label(study, node), tensor_label(study, output));
    return false;
}

/* Which side is wrong where both differ: the node belongs to one of the sets then. */
static void judge_node(struct node_blame *blame, uint32_t node, const struct lone_run *run)
{
    struct study *study = blame->study;
    struct failing_case part = study_values_case(study, run->model, study->part_tolerance);
    struct exact_judgement *judgement = &blame->judgements[node];

    if (blame->inputs != NULL) {
        part.inputs = blame->inputs;
        part.golden = run->golden;
    }
    study_judge(study, &part, run->outputs, judgement);
    blame->differences[node] = describe_difference(run->step);
    blame->made[node] = run->outputs;
    if (judgement->side != SIDE_NOT_KNOWN)
        study_log(study, "    %s", describe_judgement(study, judgement));
    bitset_add(judgement->side == REFERENCE_IS_WRONG ? &blame->wrong
               : judgement->side == BOTH_ROUND       ? &blame->rounded
                                                     : &blame->faulty,
               node);
}

/* Runs them one by one. Whether one was found that either side computes wrongly. */
static bool try_nodes_alone(struct node_blame *blame, const struct blamed_nodes *nodes)
{
    struct study *study = blame->study;
    bool ret = false;
    size_t tried = 0;

    for (size_t i = 0; i < nodes->count && tried < MOST_DIVERGENT_NODES; i++) {
        uint32_t node = nodes->items[i].node;
        struct lone_run run;

        if (bitset_has(&blame->tried, node))
            continue;
        bitset_add(&blame->tried, node);
        tried++;
        run = blame->inputs != NULL
                  ? study_compare_nodes(study, study_node(study, node), blame->inputs, study->part_tolerance)
                  : study_run_nodes(study, study_node(study, node), study->part_tolerance);
        if (run.agreement != DIFFERS || !is_believed(blame, node, &run))
            continue;
        judge_node(blame, node, &run);
        ret |= !bitset_has(&blame->rounded, node);
    }
    return ret;
}

/* The error of the model's outputs with what the suspect makes in these nodes, the file `made`; NAN: unknown. */
static double measure_injected_error(struct study *study, const struct bitset *nodes, const char *made)
{
    double ret = 0;
    enum agreement agreement = study_measure_injection(study, nodes, made, &ret);

    return agreement == AGREES || agreement == DIFFERS ? ret : NAN;
}

/* Of nodes that fail together, or the sum of what each faulty node makes alone. 0: unknown. */
static double measure_explained_error(struct node_blame *blame, enum cause_kind kind)
{
    double ret = 0;

    if (kind != CAUSE_NODE)
        ret = measure_injected_error(blame->study, &blame->faulty, blame->made_together);
    else
        BITSET_EACH (i, &blame->faulty)
            ret += measure_injected_error(blame->study, study_node(blame->study, (uint32_t)i), blame->made[i]);
    return isnan(ret) ? 0 : ret;
}

/* Removes from several faulty nodes those whose fault does not show, if the whole agrees still. Whether the fault of
 * all that are left shows. */
static bool drop_harmless_nodes(struct node_blame *blame)
{
    struct study *study = blame->study;
    bool all_show = true;
    SCOPED_BITSET(showing);
    const char *model;

    bitset_init_copy(&showing, &blame->faulty);
    BITSET_EACH (i, &showing) {
        double error;
        enum agreement agreement =
            study_measure_injection(study, study_node(study, (uint32_t)i), blame->made[i], &error);

        if (agreement == AGREES)
            bitset_remove(&showing, i);
        all_show = all_show && agreement != REFUSES;
    }
    if (bitset_equal(&showing, &blame->faulty))
        return all_show;
    if (bitset_count(&showing) == 0 || study_replace_nodes(study, &showing, NULL, &model) != AGREES)
        return false;
    study_log(study, "%zu more fail alone, but the reference still agrees with their outputs",
              bitset_count(&blame->faulty) - bitset_count(&showing));
    bitset_assign(&blame->faulty, &showing);
    return all_show;
}

/* ---- The answer ---- */

/* "5 LayerNormalization nodes" if they are of one operator. */
static const char *count_blamed_nodes(struct node_blame *blame, const struct bitset *nodes)
{
    const struct model *model = blame->study->model;
    size_t first = bitset_next(nodes, 0), count = bitset_count(nodes);
    struct text op_type = model->nodes.items[first].op_type;

    for (size_t i = first; i < nodes->size; i = bitset_next(nodes, i + 1))
        if (!text_equal(model->nodes.items[i].op_type, op_type))
            return study_text(blame->study, "%zu nodes", count);
    return study_text(blame->study, "%zu " TEXT_FORMAT " nodes", count, TEXT_ARGS(op_type));
}

/* The nodes that fail together, one of which only rounds otherwise. */
static const char *describe_magnified_rounding(struct node_blame *blame)
{
    struct study *study = blame->study;
    SCOPED_BITSET(others);

    bitset_init_copy(&others, &blame->faulty);
    bitset_remove(&others, blame->rounding);
    study->cause.small_error_node = node_label(study, blame->rounding);
    return study_text(study,
                      "'%s' differs from the reference by less than the tolerance, and the error is beyond it after %s",
                      study->cause.small_error_node, describe_nodes(study, &others));
}

/* Nodes whose exact value is not known: either side may be the wrong one. */
static const char *describe_unjudged(struct node_blame *blame, const char *described)
{
    struct study *study = blame->study;
    size_t first = bitset_next(&blame->faulty, 0);
    SCOPED_BITSET(unjudged);

    bitset_init(&unjudged, blame->faulty.size);
    for (size_t i = first; i < blame->faulty.size; i = bitset_next(&blame->faulty, i + 1))
        if (blame->judgements[i].side == SIDE_NOT_KNOWN)
            bitset_add(&unjudged, i);
    if (bitset_count(&unjudged) == 0)
        return NULL;
    if (bitset_count(&blame->faulty) == 1)
        return study_text(study,
                          "the suspect and the reference compute %s differently: alone, %s; which of the two is wrong "
                          "is not known",
                          described, blame->differences[first]);
    return study_text(study,
                      "the suspect and the reference compute %s differently, each alone: %s; which of the two is wrong "
                      "is not known of %s",
                      count_blamed_nodes(blame, &blame->faulty), described, describe_nodes(study, &unjudged));
}

static const char *describe_blame(struct node_blame *blame, enum cause_kind kind)
{
    struct study *study = blame->study;
    const char *described = describe_nodes(study, &blame->faulty);
    const char *unjudged = kind == CAUSE_NODE ? describe_unjudged(blame, described) : NULL;

    if (unjudged != NULL)
        return unjudged;
    if (kind == CAUSE_NODE && bitset_count(&blame->faulty) == 1)
        return study_text(study, "%s is computed wrongly: alone, %s", described,
                          blame->differences[bitset_next(&blame->faulty, 0)]);
    if (kind == CAUSE_NODE)
        return study_text(study, "%s are computed wrongly, each alone: %s", count_blamed_nodes(blame, &blame->faulty),
                          described);
    if (kind == CAUSE_FUSION)
        return study_text(study, "%s are correct if their tensors are outputs, and wrong if they are fused", described);
    if (blame->rounding != NODE_NONE)
        return describe_magnified_rounding(blame);
    if (bitset_count(&blame->faulty) == 1)
        return study_text(study, "%s fails", described);
    return study_text(study, "%s fail together; removing any one of them makes them pass", described);
}

static void set_blamed_nodes(struct node_blame *blame, const struct bitset *nodes)
{
    struct study *study = blame->study;
    struct word_list tensors = {0};
    struct subgraph part SCOPED(subgraph_release);

    study->cause.nodes = node_labels(study, nodes);
    subgraph_init_nodes(&part, &study->graph, nodes);
    for (size_t i = 0; i < part.outputs.count; i++)
        *VECTOR_APPEND(&tensors) = tensor_label(study, part.outputs.items[i]);
    study->cause.tensors = study_keep(study, &tensors);
}

/* What the exact value says of each node. */
static void add_judgements(struct node_blame *blame, const struct bitset *nodes)
{
    struct study *study = blame->study;

    study->cause.is_judged = true;
    BITSET_EACH (i, nodes)
        study_add_judgement(study, study_text(study, "'%s'", node_label(study, (uint32_t)i)), &blame->judgements[i]);
}

static void conclude_nodes(struct node_blame *blame, enum cause_kind kind, bool whole_is_left, bool all_show)
{
    struct study *study = blame->study;
    struct cause *cause = &study->cause;
    bool is_one = bitset_count(&blame->faulty) == 1;

    cause->kind = kind;
    cause->whole_agrees = true;
    set_blamed_nodes(blame, &blame->faulty);
    cause->explained_error = measure_explained_error(blame, kind);
    if (kind == CAUSE_NODE)
        add_judgements(blame, &blame->faulty);
    cause->sentence = describe_blame(blame, kind);
    study_add_evidence(study, "%s fail%s in the suspect, from the reference's values; the reference itself agrees",
                       is_one               ? "alone, it"
                       : kind == CAUSE_NODE ? "each alone, they"
                                            : "cut out, they",
                       is_one ? "s" : "");
    if (kind == CAUSE_PART && blame->rounding != NODE_NONE)
        study_add_evidence(study,
                           "what '%s' makes alone agrees by %s %s; put into the reference, it has the outputs of the "
                           "model differ",
                           node_label(study, blame->rounding), study->part_tolerance.items[0],
                           study->part_tolerance.items[1]);
    if (kind == CAUSE_NODE && !is_one && all_show)
        study_add_evidence(study, "what any one of them makes alone, put into the reference, has the outputs of the "
                                  "model differ");
    if (whole_is_left)
        study_add_evidence(study,
                           "with the reference's values for what %s make%s the whole model agrees, and with the "
                           "suspect's values in the same place it does not",
                           is_one ? "it" : "they", is_one ? "s" : "");
    else
        study_add_evidence(study, "%s make%s all outputs of the model", is_one ? "it" : "they", is_one ? "s" : "");
}

/* The whole agrees without them. */
static void confirm_nodes(struct node_blame *blame, enum cause_kind kind, const char *model)
{
    struct study *study = blame->study;
    enum agreement agreement = DIFFERS;
    bool all_show = false;
    const struct bitset *minimal = &blame->faulty;

    if (model != NULL)
        agreement = study_control_replacement(study, &blame->faulty, model, blame->suspect_values);
    if (bitset_count(&blame->faulty) > 1 && kind == CAUSE_NODE)
        all_show = drop_harmless_nodes(blame);
    if (agreement != DIFFERS)
        study_log(study, "It may be the cut that makes the model agree, and not the values: so that proves nothing");
    if (agreement != DIFFERS || study_has_failed(study))
        return;
    conclude_nodes(blame, kind, model != NULL, all_show);
    if (kind == CAUSE_NODE)
        minimal = study_node(study, (uint32_t)bitset_next(&blame->faulty, 0));
    study_make_minimal(study, minimal, blame->tolerance);
}

/* ---- Nodes that fail in company ---- */

/* One of the nodes that is right alone, but for rounding, and has the reference differ with that: what follows
 * magnifies it. NODE_NONE: there is none. */
static uint32_t find_rounding_node(struct node_blame *blame)
{
    struct study *study = blame->study;

    BITSET_EACH (i, &blame->faulty) {
        struct lone_run run = study_run_nodes(study, study_node(study, (uint32_t)i), study->part_tolerance);

        if ((run.agreement == AGREES || bitset_has(&blame->rounded, i)) &&
            study_inject_outputs(study, study_node(study, (uint32_t)i), run.outputs, NULL, NULL) == DIFFERS)
            return (uint32_t)i;
    }
    return NODE_NONE;
}

static void try_node_in_company(struct node_blame *blame, uint32_t node)
{
    struct study *study = blame->study;
    struct study_step *step;
    enum cause_kind kind = CAUSE_PART;
    struct failing_case subject;
    struct lone_run run;
    const char *model;

    study_log(study, "'%s' agrees alone: with its neighbours", node_label(study, node));
    bitset_add(&blame->faulty, node);
    blame->tolerance = study->layer_tolerance;
    run = study_grow_nodes(study, &blame->faulty, blame->tolerance);
    if (run.agreement != DIFFERS)
        return;
    blame->made_together = run.outputs;
    subject = study_values_case(study, run.model, blame->tolerance);
    step = step_begin_suspect(study, &subject, "marked", "These with all their tensors");
    step_add(step, "--onnx-outputs", "mark", "all", NULL);
    if (step_try(step) == AGREES && bitset_count(&blame->faulty) > 1)
        kind = CAUSE_FUSION;
    else
        blame->rounding = find_rounding_node(blame);
    if (study_replace_nodes(study, &blame->faulty, NULL, &model) == AGREES)
        confirm_nodes(blame, kind, model);
}

/* ---- Rounding that is magnified ---- */

/* The nodes that make what this one reads, and the node itself where it only rounds otherwise. */
static void find_rounding_sources(struct node_blame *blame, uint32_t node, struct bitset *ret)
{
    const struct model *model = blame->study->model;
    const struct node *item = &model->nodes.items[node];

    if (bitset_has(&blame->rounded, node)) {
        bitset_add(ret, node);
        return;
    }
    for (size_t i = 0; i < node_read_count(item); i++) {
        uint32_t value = node_read(model, item, i);
        uint32_t producer = value != VALUE_NONE ? model->values.items[value].producer : NODE_NONE;

        if (producer != NODE_NONE)
            bitset_add(ret, producer);
    }
}

/* Whether rounding where the first difference begins is enough to make the reference fail. */
static bool test_magnified_rounding(struct node_blame *blame, uint32_t first)
{
    struct study *study = blame->study;
    double error;
    SCOPED_BITSET(sources);

    bitset_init(&sources, study->model->nodes.count);
    find_rounding_sources(blame, first, &sources);
    if (bitset_count(&sources) == 0 || !study_is_ill_conditioned(study, &sources, &error))
        return false;
    set_blamed_nodes(blame, &sources);
    if (bitset_has(&blame->rounded, first))
        add_judgements(blame, &sources);
    conclude_condition(study, describe_nodes(study, &sources), error);
    return true;
}

/* ---- A reference that is wrong ---- */

/* `nodes` are all that either side computes wrongly. */
static void conclude_wrong_reference(struct node_blame *blame, const struct bitset *nodes)
{
    struct study *study = blame->study;
    struct cause *cause = &study->cause;
    const struct exact_judgement *judgement = &blame->judgements[bitset_next(&blame->wrong, 0)];
    bool is_one = bitset_count(&blame->wrong) == 1;
    const char *described = describe_nodes(study, &blame->wrong);

    cause->kind = CAUSE_REFERENCE;
    cause->whole_agrees = true;
    set_blamed_nodes(blame, nodes);
    cause->sentence =
        is_one
            ? study_text(study,
                         "the reference computes %s wrongly: its error is %.2g of the largest magnitude of the exact "
                         "value, the suspect's %.2g",
                         described, judgement->reference_error, judgement->suspect_error)
            : study_text(study, "the reference computes %s wrongly, each alone: %s",
                         count_blamed_nodes(blame, &blame->wrong), described);
    if (bitset_count(&blame->faulty) > 0)
        cause->sentence = study_text(study, "%s; and the suspect computes %s wrongly", cause->sentence,
                                     describe_nodes(study, &blame->faulty));
    add_judgements(blame, nodes);
    is_one = bitset_count(nodes) == 1;
    study_add_evidence(study, "with the suspect's values for what %s make%s the reference agrees with the suspect",
                       is_one ? "it" : "they", is_one ? "s" : "");
    study_make_minimal(study, study_node(study, (uint32_t)bitset_next(&blame->wrong, 0)), study->part_tolerance);
}

/* All tensors of what is left of the reference, when the suspect's values replace those that are wrong. */
static struct study_step *compare_reference_tensors(struct node_blame *blame, const char *model)
{
    struct study *study = blame->study;
    struct failing_case subject = study_values_case(study, model, study->layer_tolerance);
    struct study_step *step;

    subject.inputs = study_suspect_inputs(study, blame->suspect_values);
    subject.golden = blame->suspect_values;
    step = step_begin_control(study, &subject, "all-tensors", "What is left of the reference, with all tensors");
    step_add(step, "--onnx-outputs", "mark", "all", NULL);
    step_try(step);
    return step;
}

/* Replaces nodes that either side computes wrongly, one after the other, until the two agree. */
static void blame_reference(struct node_blame *blame)
{
    struct study *study = blame->study;
    struct subgraph rest SCOPED(subgraph_release) = {0};
    enum agreement agreement = DIFFERS;
    SCOPED_BITSET(wrong);

    bitset_init_copy(&wrong, &blame->wrong);
    blame->inputs = study_suspect_inputs(study, blame->suspect_values);
    bitset_clear(&blame->tried);
    bitset_unite(&blame->tried, &wrong);
    for (int round = 0; round < MOST_ROUNDS && agreement == DIFFERS; round++) {
        struct blamed_nodes nodes SCOPED_ITEMS = {0};
        const char *model = NULL;

        subgraph_release(&rest);
        bitset_unite(&wrong, &blame->wrong);
        bitset_unite(&wrong, &blame->faulty);
        agreement = study_replace_in_reference(study, &wrong, blame->suspect_values, &rest, &model);
        if (agreement != DIFFERS)
            break;
        find_first_divergences(blame, compare_reference_tensors(blame, model), &rest.nodes, &nodes);
        agreement = try_nodes_alone(blame, &nodes) ? DIFFERS : UNKNOWN;
    }
    if (agreement == AGREES)
        conclude_wrong_reference(blame, &wrong);
    else
        study_log(study, "%s: wrong in the reference, but not all that differs", describe_nodes(study, &blame->wrong));
}

/* ---- The hypothesis ---- */

/* Tries what differs first; whether wrong nodes were found. */
static bool find_faulty_nodes(struct node_blame *blame, struct study_step *compared, const struct bitset *inside)
{
    struct blamed_nodes nodes = {0};
    bool ret;

    find_first_divergences(blame, compared, inside, &nodes);
    study_log(blame->study, "%zu node%s: what differs begins there", nodes.count, nodes.count == 1 ? "" : "s");
    ret = try_nodes_alone(blame, &nodes);
    if (!ret && inside == NULL && nodes.count > 0 && !test_magnified_rounding(blame, nodes.items[0].node))
        try_node_in_company(blame, nodes.items[0].node);
    free(nodes.items);
    return ret;
}

/* One faulty node after the other is replaced until the whole agrees. */
static void blame_diverging_nodes(struct node_blame *blame, struct study_step *compared)
{
    struct study *study = blame->study;
    struct subgraph rest SCOPED(subgraph_release) = {0};
    enum agreement agreement = DIFFERS;
    const char *model = NULL;

    for (int round = 0; round < MOST_ROUNDS && agreement == DIFFERS; round++) {
        if (round > 0)
            compared = compare_all_tensors(blame, model, "What is left, with all tensors");
        if (compared->agreement == UNKNOWN || compared->agreement == REFUSES ||
            !find_faulty_nodes(blame, compared, round > 0 ? &rest.nodes : NULL))
            return;
        if (bitset_count(&blame->wrong) > 0) {
            blame_reference(blame);
            return;
        }
        subgraph_release(&rest);
        agreement = study_replace_nodes(study, &blame->faulty, &rest, &model);
    }
    if (agreement == AGREES)
        confirm_nodes(blame, CAUSE_NODE, model);
}

static void compare_with_suspect(struct node_blame *blame)
{
    struct study *study = blame->study;
    struct study_step *compared;
    enum agreement agreement;

    blame->suspect_values =
        study_text(study, "%s/suspect_values%s", study->settings->folder, strrchr(study->values, '.'));
    compared = compare_all_tensors(blame, study->settings->model, "All tensors in the suspect");
    if (compared->agreement == REFUSES) {
        study_log(study, "With all tensors as outputs the suspect does not run");
        return;
    }
    agreement = compare_output_files(study, blame->suspect_values, study->whole.golden,
                                     "The model's own outputs among them", NULL);
    study->outputs_cure = agreement == AGREES;
    if (agreement == DIFFERS)
        blame_diverging_nodes(blame, compared);
}

void accuracy_test_layers(struct study *study)
{
    struct node_blame blame = {.study = study, .tolerance = study->part_tolerance, .rounding = NODE_NONE};
    size_t count;

    if (!study_make_values(study) || !study_open_model(study))
        return;
    count = study->model->nodes.count;
    blame.differences = arena_alloc_zero(&study->arena, count, sizeof(*blame.differences));
    blame.made = arena_alloc_zero(&study->arena, count, sizeof(*blame.made));
    blame.judgements = arena_alloc_zero(&study->arena, count, sizeof(*blame.judgements));
    bitset_init(&blame.tried, count);
    bitset_init(&blame.faulty, count);
    bitset_init(&blame.wrong, count);
    bitset_init(&blame.rounded, count);
    compare_with_suspect(&blame);
    bitset_release(&blame.tried);
    bitset_release(&blame.faulty);
    bitset_release(&blame.wrong);
    bitset_release(&blame.rounded);
}
