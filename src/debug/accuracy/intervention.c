/* debug/accuracy/intervention.c: see intervention.h. */
#include "debug/accuracy/intervention.h"

#include <stdlib.h>
#include <string.h>

#include "debug/accuracy/repetition.h"

/* The model in which what these nodes make is an input. */
static void cut_behind(struct parts *parts, const struct bitset *nodes, struct subgraph *ret)
{
    struct subgraph replaced;
    struct value_list outputs = {0}, missing = {0};

    subgraph_init_nodes(&replaced, &parts->whole, nodes);
    subgraph_init_copy(ret, &parts->whole);
    for (size_t i = 0; i < replaced.outputs.count; i++)
        value_list_add(&ret->inputs, replaced.outputs.items[i]);
    for (size_t i = 0; i < ret->outputs.count; i++)
        if (!value_list_has(&replaced.outputs, ret->outputs.items[i]))
            value_list_add(&outputs, ret->outputs.items[i]);
    value_list_assign(&ret->outputs, &outputs);
    subgraph_clean(ret, NULL, NULL, &missing);
    free(missing.items);
    free(outputs.items);
    subgraph_release(&replaced);
}

/* What was cut, with these inputs, has to make the outputs of the whole model. */
static struct failing_case with_inputs(const struct parts *parts, const char *model, const char *inputs)
{
    struct failing_case ret = accuracy_repeated_whole(parts->investigation);

    ret.model = model;
    ret.inputs = inputs;
    return ret;
}

/* A suspect that fails now and then has to agree so often that it is not by chance. */
static int judge(struct parts *parts, struct failing_case subject, bool in_suspect, const char *why,
                 enum agreement *ret, struct error *err)
{
    struct investigation *investigation = parts->investigation;
    int64_t times = in_suspect ? accuracy_enough_comparisons(investigation) : 1;
    int rc;

    do {
        struct experiment *experiment;
        struct call call;

        call_begin_comparison(&call, investigation, &subject, in_suspect ? "replaced" : "injected", why);
        call_add_words(&call, in_suspect ? investigation->settings->suspect : investigation->settings->reference);
        rc = part_judge(&call, &experiment, ret, err);
        if (experiment != NULL && !in_suspect)
            experiment->checks = experiment->builds = 0;
    } while (rc == 0 && *ret == AGREES && --times > 0);
    return rc;
}

int intervention_replace(struct parts *parts, const struct bitset *nodes, struct subgraph *ret_rest,
                         const char **ret_model, enum agreement *ret, struct error *err)
{
    struct investigation *investigation = parts->investigation;
    size_t count = bitset_count(nodes);
    struct subgraph rest;
    int rc;

    *ret_model = NULL;
    *ret = REFUSES;
    cut_behind(parts, nodes, &rest);
    if (ret_rest != NULL)
        subgraph_init_copy(ret_rest, &rest);
    if (rest.outputs.count == 0)
        *ret = AGREES;
    rc = part_extract(parts, &rest, NULL, "The model without these nodes", ret_model, err);
    subgraph_release(&rest);
    if (rc < 0 || *ret_model == NULL)
        return rc;
    return judge(parts, with_inputs(parts, *ret_model, investigation->layerwise), true,
                 investigation_text(investigation, "The whole, with the reference's values for what %zu node%s make%s",
                                    count, count == 1 ? "" : "s", count == 1 ? "s" : ""),
                 ret, err);
}

/* Results as input data, with those of the model. */
static int make_inputs(struct parts *parts, const char *results, const char *path, const char *why, struct error *err)
{
    struct experiment *experiment;
    struct call call;

    call_begin(&call, parts->investigation, "to-input", why);
    call.has_result = false;
    call_add(&call, "data", "to-input", parts->investigation->whole.inputs, results, "-o", path, NULL);
    return call_succeed(&call, &experiment, err);
}

int intervention_control(struct parts *parts, const char *model, const char *suspect_values, enum agreement *ret,
                         struct error *err)
{
    struct investigation *investigation = parts->investigation;
    const char *inputs = investigation_text(investigation, "%s/suspect_layerwise%s", investigation->settings->folder,
                                            strrchr(suspect_values, '.'));
    int rc = make_inputs(parts, suspect_values, inputs, "The suspect's values as input data", err);

    if (rc < 0)
        return rc;
    return judge(parts, with_inputs(parts, model, inputs), true, "The same with the suspect's values there", ret, err);
}

/* Whether what was made are outputs of the model, and differ themselves. */
static int compare_outputs(struct parts *parts, const char *made, enum agreement *ret, struct error *err)
{
    struct investigation *investigation = parts->investigation;
    struct experiment *experiment;
    struct call call;
    int rc;

    call_begin(&call, investigation, "outputs", "Those of them that are the model's outputs");
    call_add(&call, "run", "--load-outputs", made, investigation->whole.golden, NULL);
    call_add_words(&call, investigation->whole.tolerance);
    rc = part_judge(&call, &experiment, ret, err);
    if (experiment != NULL)
        experiment->checks = experiment->builds = 0;
    return rc;
}

int intervention_inject(struct parts *parts, uint32_t node, const char *made, enum agreement *ret, struct error *err)
{
    struct investigation *investigation = parts->investigation;
    const char *inputs = investigation_text(investigation, "%s.inputs%s", made, strrchr(made, '.'));
    const char *name = parts_node(parts, node), *model;
    struct subgraph rest;
    struct bitset one;
    bool makes_outputs;
    int rc = 0;

    *ret = AGREES;
    bitset_init(&one, parts->model->nodes.count);
    bitset_add(&one, node);
    cut_behind(parts, &one, &rest);
    bitset_release(&one);
    makes_outputs = rest.outputs.count < parts->whole.outputs.count;
    if (makes_outputs)
        rc = compare_outputs(parts, made, ret, err);
    if (rc < 0 || *ret == DIFFERS || rest.outputs.count == 0)
        goto done;
    *ret = REFUSES;
    rc = part_extract(parts, &rest, NULL, investigation_text(investigation, "The model without '%s'", name), &model,
                      err);
    if (rc < 0 || model == NULL)
        goto done;
    rc = make_inputs(parts, made, inputs, "What it made alone, as input data", err);
    if (rc < 0)
        goto done;
    rc = judge(parts, with_inputs(parts, model, inputs), false, "The reference with that", ret, err);
done:
    subgraph_release(&rest);
    return rc;
}

int intervention_find_rounding(struct parts *parts, const struct bitset *nodes, uint32_t *ret, struct error *err)
{
    struct bitset one;
    int rc = 0;

    *ret = NODE_NONE;
    bitset_init(&one, nodes->size);
    for (size_t i = bitset_next(nodes, 0); i < nodes->size && *ret == NODE_NONE; i = bitset_next(nodes, i + 1)) {
        enum agreement agreement;
        struct lone_run run;

        bitset_clear(&one);
        bitset_add(&one, i);
        rc = part_run_alone(parts, &one, parts->investigation->part_tolerance, &run, err);
        if (rc < 0)
            break;
        if (run.agreement != AGREES)
            continue;
        rc = intervention_inject(parts, (uint32_t)i, run.outputs, &agreement, err);
        if (rc < 0)
            break;
        if (agreement == DIFFERS)
            *ret = (uint32_t)i;
    }
    bitset_release(&one);
    return rc;
}
