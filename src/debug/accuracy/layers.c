/* debug/accuracy/layers.c: which nodes is it? All tensors of the suspect are compared with those of the reference, and
 * what begins to differ is only where to look: a node is to blame when it fails alone, and when the whole model agrees
 * with nothing changed but that it is not computed: what it makes is taken from the reference.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text/string_builder.h"
#include "comparator/compare/first_divergence.h"
#include "debug/accuracy/intervention.h"
#include "debug/accuracy/questions.h"
#include "debug/accuracy/values.h"

/* So many nodes are tried alone for one comparison of all tensors, and so often these are compared. */
#define MOST_NODES 16
#define MOST_ROUNDS 16

struct blame {
    struct parts parts;
    struct bitset tried;        /* nodes that were run alone */
    struct bitset faulty;       /* those that are computed otherwise */
    struct words tolerance;     /* by which they fail */
    const char *suspect_values; /* all tensors of the suspect */
    uint32_t rounding;          /* a node that only rounds otherwise, which the others magnify; or NODE_NONE */
    const char **seen;          /* of each node that failed: where, and what it has there */
    const char **made;          /* likewise, the file with what it made alone in the suspect */
};

/* ---- All tensors ---- */

/* Of the whole model or of a part; those of the whole are kept. */
static int compare_all(struct blame *blame, const char *model, const char *why, struct experiment **ret,
                       enum agreement *ret_agreement, struct error *err)
{
    struct investigation *investigation = blame->parts.investigation;
    struct call call;

    part_begin_comparison(&call, &blame->parts, model, investigation->layer_tolerance, "all-tensors", why);
    call_add_words(&call, investigation->settings->suspect);
    call_add(&call, "--onnx-outputs", "mark", "all", NULL);
    if (model == investigation->settings->model)
        call_add(&call, "--save-outputs", blame->suspect_values, NULL);
    return part_judge(&call, ret, ret_agreement, err);
}

/* Whether the model's own outputs differ where all tensors are given out. */
static int judge_outputs(struct blame *blame, enum agreement *ret, struct error *err)
{
    struct investigation *investigation = blame->parts.investigation;
    struct experiment *experiment;
    struct call call;
    int rc;

    call_begin(&call, investigation, "outputs", "The model's own outputs among them");
    call_add(&call, "run", "--load-outputs", blame->suspect_values, investigation->whole.golden, NULL);
    call_add_words(&call, investigation->whole.tolerance);
    rc = part_judge(&call, &experiment, ret, err);
    if (experiment != NULL)
        experiment->checks = experiment->builds = 0;
    return rc;
}

/* The nodes whose outputs differ while what they read agrees. Of a part, only its nodes were asked; `inside` NULL: the
 * whole. */
static void find_first(struct blame *blame, struct experiment *experiment, const struct bitset *inside,
                       struct blamed_nodes *ret)
{
    const struct model *model = blame->parts.model;
    const json_t *comparisons = result_find(experiment->result.root, "comparisons"), *item;
    struct first_divergence divergence;
    struct blamed_nodes invalid = {0};
    size_t i;

    first_divergence_init(&divergence);
    json_array_foreach (comparisons, i, item)
        first_divergence_add_verdict(&divergence, result_text(experiment, item, "output"),
                                     json_is_true(result_find(item, "passed")));
    for (uint32_t k = 0; inside != NULL && k < model->nodes.count; k++) {
        const struct node *node = &model->nodes.items[k];

        for (size_t n = 0; !bitset_has(inside, k) && n < node->outputs.count; n++)
            if (model_edge(model, node->outputs, n) != VALUE_NONE)
                first_divergence_add_verdict(&divergence,
                                             parts_tensor(&blame->parts, model_edge(model, node->outputs, n)), true);
    }
    first_divergence_find(&divergence, model, ret, &invalid);
    first_divergence_release(&divergence);
    free(invalid.items);
}

/* ---- Alone ---- */

/* Where a comparison has failed, in words. */
static const char *describe_difference(struct investigation *investigation, struct experiment *experiment)
{
    const json_t *comparisons = result_find(experiment->result.root, "comparisons"), *item;
    size_t i;

    json_array_foreach (comparisons, i, item) {
        double suspect = result_number(experiment, item, "differences/worst/first", 0);
        double reference = result_number(experiment, item, "differences/worst/second", 0);

        if (json_is_true(result_find(item, "passed")))
            continue;
        return investigation_text(investigation, "%s has %.6g where the reference has %.6g",
                                  result_text(experiment, item, "output"), suspect, reference);
    }
    return "its outputs have other shapes";
}

/* Runs them one by one. */
static int try_alone(struct blame *blame, const struct blamed_nodes *nodes, bool *ret_found, struct error *err)
{
    struct investigation *investigation = blame->parts.investigation;
    struct bitset one;
    size_t tried = 0;
    int rc = 0;

    *ret_found = false;
    bitset_init(&one, blame->tried.size);
    for (size_t i = 0; rc == 0 && i < nodes->count && tried < MOST_NODES; i++) {
        uint32_t node = nodes->items[i].node;
        struct lone_run run;

        if (bitset_has(&blame->tried, node))
            continue;
        bitset_add(&blame->tried, node);
        tried++;
        bitset_clear(&one);
        bitset_add(&one, node);
        rc = part_run_alone(&blame->parts, &one, investigation->part_tolerance, &run, err);
        if (rc < 0 || run.agreement != DIFFERS)
            continue;
        blame->seen[node] = describe_difference(investigation, run.experiment);
        blame->made[node] = run.outputs;
        bitset_add(&blame->faulty, node);
        *ret_found = true;
    }
    bitset_release(&one);
    return rc;
}

/* Takes out of several faulty nodes those whose fault does not show, if the whole agrees still. `*ret_all_show`: that
 * of all that are left does. */
static int drop_harmless(struct blame *blame, bool *ret_all_show, struct error *err)
{
    struct parts *parts = &blame->parts;
    enum agreement agreement;
    struct bitset showing;
    const char *model;
    int rc = 0;

    *ret_all_show = true;
    bitset_init_copy(&showing, &blame->faulty);
    for (size_t i = bitset_next(&showing, 0); i < showing.size; i = bitset_next(&showing, i + 1)) {
        rc = intervention_inject(parts, (uint32_t)i, blame->made[i], &agreement, err);
        if (rc < 0)
            goto done;
        if (agreement == AGREES)
            bitset_remove(&showing, i);
        *ret_all_show = *ret_all_show && agreement != REFUSES;
    }
    if (bitset_equal(&showing, &blame->faulty))
        goto done;
    agreement = DIFFERS;
    if (bitset_count(&showing) > 0)
        rc = intervention_replace(parts, &showing, NULL, &model, &agreement, err);
    *ret_all_show = *ret_all_show && agreement == AGREES;
    if (rc < 0 || agreement != AGREES)
        goto done;
    log_message(parts->investigation->log, LOG_INFO,
                "    %zu more fail alone, but what they make has the reference agree still",
                bitset_count(&blame->faulty) - bitset_count(&showing));
    bitset_assign(&blame->faulty, &showing);
done:
    bitset_release(&showing);
    return rc;
}

/* ---- What was found ---- */

/* "5 LayerNormalization nodes" if they are of one operator. */
static const char *count_nodes(struct blame *blame)
{
    const struct model *model = blame->parts.model;
    size_t first = bitset_next(&blame->faulty, 0), count = bitset_count(&blame->faulty);
    struct text op_type = model->nodes.items[first].op_type;

    for (size_t i = first; i < blame->faulty.size; i = bitset_next(&blame->faulty, i + 1))
        if (!text_equal(model->nodes.items[i].op_type, op_type))
            return investigation_text(blame->parts.investigation, "%zu nodes", count);
    return investigation_text(blame->parts.investigation, "%zu " TEXT_FORMAT " nodes", count, TEXT_ARGS(op_type));
}

/* The nodes that fail together, one of which only rounds otherwise. */
static const char *describe_magnified(struct blame *blame)
{
    struct parts *parts = &blame->parts;
    struct bitset others;
    const char *described;

    bitset_init_copy(&others, &blame->faulty);
    bitset_remove(&others, blame->rounding);
    described = parts_describe(parts, &others);
    bitset_release(&others);
    return investigation_text(parts->investigation,
                              "'%s' rounds otherwise than in the reference, which %s magnify beyond the tolerance",
                              parts_node(parts, blame->rounding), described);
}

static void conclude(struct blame *blame, enum cause_kind kind, bool whole_is_left, bool all_show)
{
    struct investigation *investigation = blame->parts.investigation;
    struct cause *cause = &investigation->cause;
    const char *described = parts_describe(&blame->parts, &blame->faulty);
    bool is_one = bitset_count(&blame->faulty) == 1;
    struct subgraph part;
    struct call call;

    cause->kind = kind;
    cause->nodes = parts_names(&blame->parts, &blame->faulty);
    subgraph_init_nodes(&part, &blame->parts.whole, &blame->faulty);
    call_begin_words(&call, investigation);
    for (size_t i = 0; i < part.outputs.count; i++)
        call_add(&call, parts_tensor(&blame->parts, part.outputs.items[i]), NULL);
    cause->tensors = call_keep(&call);
    subgraph_release(&part);
    if (kind == CAUSE_NODE && is_one)
        cause->sentence = investigation_text(investigation, "%s is computed wrongly: alone, %s", described,
                                             blame->seen[bitset_next(&blame->faulty, 0)]);
    else if (kind == CAUSE_NODE)
        cause->sentence =
            investigation_text(investigation, "%s are computed wrongly, each alone: %s", count_nodes(blame), described);
    else if (kind == CAUSE_FUSION)
        cause->sentence = investigation_text(
            investigation, "%s are right when their tensors are outputs, and wrong when they are fused", described);
    else if (blame->rounding == NODE_NONE)
        cause->sentence = investigation_text(
            investigation, "%s fail together, and no longer when any one of them is left out", described);
    else
        cause->sentence = describe_magnified(blame);
    cause_add_proof(investigation, "%s fail%s in the suspect, from the reference's values; the reference itself agrees",
                    is_one               ? "alone, it"
                    : kind == CAUSE_NODE ? "each alone, they"
                                         : "cut out, they",
                    is_one ? "s" : "");
    if (kind == CAUSE_PART && blame->rounding != NODE_NONE)
        cause_add_proof(
            investigation,
            "what '%s' makes alone agrees by %s %s; put into the reference, it has the outputs of the model "
            "differ",
            parts_node(&blame->parts, blame->rounding), investigation->part_tolerance.items[0],
            investigation->part_tolerance.items[1]);
    if (kind == CAUSE_NODE && !is_one && all_show)
        cause_add_proof(investigation,
                        "what any one of them makes alone, put into the reference, has the outputs of the "
                        "model differ");
    if (whole_is_left)
        cause_add_proof(investigation,
                        "with the reference's values for what %s make%s the whole model agrees, and with the suspect's "
                        "values in the same place it does not",
                        is_one ? "it" : "they", is_one ? "s" : "");
    else
        cause_add_proof(investigation, "%s make%s all outputs of the model", is_one ? "it" : "they", is_one ? "s" : "");
}

/* The whole agrees without them. */
static int confirm(struct blame *blame, enum cause_kind kind, const char *model, struct error *err)
{
    struct investigation *investigation = blame->parts.investigation;
    enum agreement agreement = DIFFERS;
    bool all_show = false;
    struct bitset first;
    int rc = 0;

    if (model != NULL)
        rc = intervention_control(&blame->parts, model, blame->suspect_values, &agreement, err);
    if (rc == 0 && bitset_count(&blame->faulty) > 1 && kind == CAUSE_NODE)
        rc = drop_harmless(blame, &all_show, err);
    if (rc < 0)
        return rc;
    if (agreement != DIFFERS) {
        log_message(investigation->log, LOG_INFO,
                    "    It may be the cut that makes the model agree, and not the values: so that proves nothing");
        return 0;
    }
    conclude(blame, kind, model != NULL, all_show);
    investigation->cause.whole_agrees = true;
    if (kind != CAUSE_NODE)
        return part_make_minimal(&blame->parts, &blame->faulty, blame->tolerance, err);
    bitset_init(&first, blame->faulty.size);
    bitset_add(&first, bitset_next(&blame->faulty, 0));
    rc = part_make_minimal(&blame->parts, &first, blame->tolerance, err);
    bitset_release(&first);
    return rc;
}

/* ---- Nodes that fail in company ---- */

static int try_in_company(struct blame *blame, uint32_t node, struct error *err)
{
    struct investigation *investigation = blame->parts.investigation;
    struct experiment *experiment;
    enum agreement agreement;
    enum cause_kind kind = CAUSE_PART;
    struct lone_run run;
    struct call call;
    const char *model;
    int rc;

    log_message(investigation->log, LOG_INFO, "    '%s' agrees alone: with its neighbours",
                parts_node(&blame->parts, node));
    bitset_add(&blame->faulty, node);
    blame->tolerance = investigation->layer_tolerance;
    rc = part_grow(&blame->parts, &blame->faulty, blame->tolerance, &run, err);
    if (rc < 0 || run.agreement != DIFFERS)
        return rc;
    part_begin_comparison(&call, &blame->parts, run.model, blame->tolerance, "marked", "These with all their tensors");
    call_add_words(&call, investigation->settings->suspect);
    call_add(&call, "--onnx-outputs", "mark", "all", NULL);
    rc = part_judge(&call, &experiment, &agreement, err);
    if (rc < 0)
        return rc;
    if (agreement == AGREES && bitset_count(&blame->faulty) > 1)
        kind = CAUSE_FUSION;
    else
        rc = intervention_find_rounding(&blame->parts, &blame->faulty, &blame->rounding, err);
    if (rc < 0)
        return rc;
    rc = intervention_replace(&blame->parts, &blame->faulty, NULL, &model, &agreement, err);
    return rc == 0 && agreement == AGREES ? confirm(blame, kind, model, err) : rc;
}

/* ---- The question ---- */

/* One faulty node after the other is replaced until the whole agrees. */
static int blame_nodes(struct blame *blame, struct experiment *compared, struct error *err)
{
    struct investigation *investigation = blame->parts.investigation;
    struct subgraph rest = {0};
    int rc = 0;

    for (int round = 0; round < MOST_ROUNDS; round++) {
        struct blamed_nodes nodes = {0};
        enum agreement agreement;
        const char *model;
        bool found;

        find_first(blame, compared, round > 0 ? &rest.nodes : NULL, &nodes);
        log_message(investigation->log, LOG_INFO, "    %zu node%s: what differs begins there", nodes.count,
                    nodes.count == 1 ? "" : "s");
        rc = try_alone(blame, &nodes, &found, err);
        if (rc == 0 && !found && round == 0 && nodes.count > 0)
            rc = try_in_company(blame, nodes.items[0].node, err);
        free(nodes.items);
        if (rc < 0 || !found)
            goto done;
        subgraph_release(&rest);
        rc = intervention_replace(&blame->parts, &blame->faulty, &rest, &model, &agreement, err);
        if (rc < 0 || agreement == REFUSES)
            goto done;
        if (agreement == AGREES) {
            rc = confirm(blame, CAUSE_NODE, model, err);
            goto done;
        }
        rc = compare_all(blame, model, "What is left, with all tensors", &compared, &agreement, err);
        if (rc < 0 || agreement == REFUSES)
            goto done;
    }
done:
    subgraph_release(&rest);
    return rc;
}

static int ask(struct blame *blame, bool *ret_cured, struct error *err)
{
    struct investigation *investigation = blame->parts.investigation;
    struct experiment *experiment;
    enum agreement agreement;
    int rc;

    blame->suspect_values = investigation_text(investigation, "%s/suspect_values%s", investigation->settings->folder,
                                               strrchr(investigation->values, '.'));
    rc = compare_all(blame, investigation->settings->model, "All tensors in the suspect", &experiment, &agreement, err);
    if (rc < 0)
        return rc;
    if (agreement == REFUSES) {
        log_message(investigation->log, LOG_INFO, "    With all tensors as outputs the suspect does not run");
        return 0;
    }
    rc = judge_outputs(blame, &agreement, err);
    *ret_cured = rc == 0 && agreement == AGREES;
    if (rc < 0 || agreement != DIFFERS)
        return rc;
    return blame_nodes(blame, experiment, err);
}

int accuracy_ask_layers(struct investigation *investigation, struct error *err)
{
    struct blame blame = {.tolerance = investigation->part_tolerance, .rounding = NODE_NONE};
    bool cured = false;
    int rc;

    investigation_begin_step(investigation, "Which nodes is it?");
    rc = accuracy_make_values(investigation, err);
    if (rc < 0)
        return rc;
    rc = parts_open(&blame.parts, investigation, err);
    if (rc < 0)
        return rc;
    blame.seen = arena_alloc_zero(&investigation->arena, blame.parts.model->nodes.count, sizeof(*blame.seen));
    blame.made = arena_alloc_zero(&investigation->arena, blame.parts.model->nodes.count, sizeof(*blame.made));
    bitset_init(&blame.tried, blame.parts.model->nodes.count);
    bitset_init(&blame.faulty, blame.parts.model->nodes.count);
    rc = ask(&blame, &cured, err);
    bitset_release(&blame.tried);
    bitset_release(&blame.faulty);
    parts_close(&blame.parts);
    return rc == 0 && cured ? accuracy_ask_fusion(investigation, err) : rc;
}
