/* debug/accuracy/subgraph.c: see subgraph.h. */
#include "debug/accuracy/subgraph.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "debug/accuracy/hypotheses.h"

/* Of a subgraph that grows. Engines fuse a node with what is next to it. */
#define MOST_GROWTH_STEPS 6
#define MOST_GROWN_NODES 24

/* ---- Values of the reference ---- */

static struct study_step *run_with_all_tensors(struct study *study, const char *extension)
{
    struct study_step *step =
        step_begin_model(study, "values", "All tensors in the reference", study->settings->reference);

    study->values = study_text(study, "%s/values%s", study->settings->folder, extension);
    study->layerwise = study_text(study, "%s/layerwise%s", study->settings->folder, extension);
    step_add(step, "--onnx-outputs", "mark", "all", "--load-inputs", study->whole.inputs, "--save-outputs",
             study->values, NULL);
    step_run(step);
    return step;
}

/* Makes input data of the model's own and of results. */
static bool combine_inputs(struct study *study, const char *results, const char *path, const char *name,
                           const char *why)
{
    struct study_step *step = step_begin(study, name, why);

    step->has_no_result = true;
    step_add(step, "data", "to-input", study->whole.inputs, results, "-o", path, NULL);
    return step_require(step);
}

bool study_make_values(struct study *study)
{
    struct study_step *step;

    if (study_has_failed(study) || study->values != NULL)
        return !study_has_failed(study);
    step = run_with_all_tensors(study, ".safetensors");
    if (step->exit_status > 0)
        step = run_with_all_tensors(study, ".json");
    if (step->exit_status > 0)
        error_set(&study->error, ERR_BACKEND, "the reference does not give out all tensors: %s",
                  step->complaint != NULL ? step->complaint : step->command);
    if (study_has_failed(study)) {
        study->values = study->layerwise = NULL;
        return false;
    }
    step->outcome = "done";
    study->all_tensors = step;
    return combine_inputs(study, study->values, study->layerwise, "layerwise",
                          "All tensors of the reference, as input data of subgraphs");
}

/* The data of a subgraph are its inputs, and nothing of the rest of the model. */
static void select_inputs(struct study *study, const char *path, const char *output)
{
    struct word_list names = {0};
    struct study_step *step;
    struct model *model;

    if (study_has_failed(study) || model_open(path, NULL, &model, &study->error) < 0)
        return;
    step = step_begin(study, "inputs", "Its input data");
    step->has_no_result = true;
    step_add(step, "data", "to-input", study->layerwise, "-o", output, NULL);
    for (size_t i = 0; i < model->inputs.count; i++)
        *VECTOR_APPEND(&names) = arena_text(&study->arena, model->values.items[model->inputs.items[i]].name);
    step_add_option(step, "--only", study_keep(study, &names));
    model_free(model);
    step_require(step);
}

struct failing_case study_make_case(struct study *study, const char *model, const char *name)
{
    const char *folder = study->settings->folder;
    struct failing_case ret = {.model = model,
                               .inputs = study_text(study, "%s/%s_inputs.json", folder, name),
                               .golden = study_text(study, "%s/%s_golden.json", folder, name),
                               .tolerance = study->layer_tolerance};
    struct study_step *step;

    select_inputs(study, model, ret.inputs);
    step = step_begin(study, "golden", study_text(study, "Golden outputs of %s", name));
    step_add(step, "run", model, NULL);
    step_add_words(step, study->settings->reference);
    step_add(step, "--load-inputs", ret.inputs, "--save-outputs", ret.golden, NULL);
    step_require(step);
    return ret;
}

struct failing_case study_values_case(const struct study *study, const char *model, struct words tolerance)
{
    return (struct failing_case){
        .model = model, .inputs = study->layerwise, .golden = study->values, .tolerance = tolerance};
}

/* ---- Names ---- */

const char *tensor_label(struct study *study, uint32_t value)
{
    return arena_text(&study->arena, study->model->values.items[value].name);
}

static bool name_is_shared(const struct model *model, uint32_t node)
{
    for (size_t i = 0; i < model->nodes.count; i++)
        if (i != node && text_equal(model->nodes.items[i].name, model->nodes.items[node].name))
            return true;
    return false;
}

const char *node_label(struct study *study, uint32_t node)
{
    const struct node *item = &study->model->nodes.items[node];

    if (item->name.size == 0 || name_is_shared(study->model, node))
        for (size_t i = 0; i < item->outputs.count; i++)
            if (model_edge(study->model, item->outputs, i) != VALUE_NONE)
                return tensor_label(study, model_edge(study->model, item->outputs, i));
    return arena_text(&study->arena, item->name);
}

struct words node_labels(struct study *study, const struct bitset *nodes)
{
    struct word_list list = {0};

    BITSET_EACH (i, nodes)
        *VECTOR_APPEND(&list) = node_label(study, (uint32_t)i);
    return study_keep(study, &list);
}

const char *describe_nodes(struct study *study, const struct bitset *nodes)
{
    struct word_list operators = {0};

    BITSET_EACH (i, nodes)
        *VECTOR_APPEND(&operators) = arena_text(&study->arena, study->model->nodes.items[i].op_type);
    return study_list(study, node_labels(study, nodes), study_keep(study, &operators));
}

const struct bitset *study_node(struct study *study, uint32_t node)
{
    bitset_clear(&study->node);
    bitset_add(&study->node, node);
    return &study->node;
}

/* ---- Nodes alone ---- */

/* Writes a subgraph as a model; `path` NULL: into the experiment's folder. NULL where that is impossible. */
static const char *extract_subgraph(struct study *study, const struct subgraph *part, const char *path, const char *why)
{
    struct word_list inputs = {0}, outputs = {0};
    struct study_step *step;

    if (part->outputs.count == 0)
        return NULL;
    step = step_begin(study, "extract", why);
    if (path == NULL)
        path = step_path(step, "part.onnx");
    step_add(step, "surgeon", "extract", study->settings->model, "-o", path, "--load-inputs", study->whole.inputs,
             NULL);
    step_add_words(step, study->settings->loading);
    for (size_t i = 0; i < part->inputs.count; i++)
        *VECTOR_APPEND(&inputs) = study_text(study, "%s:auto:auto", tensor_label(study, part->inputs.items[i]));
    if (part->inputs.count > 0)
        step_add_option(step, "--inputs", study_keep(study, &inputs));
    for (size_t i = 0; i < part->outputs.count; i++)
        *VECTOR_APPEND(&outputs) = study_text(study, "%s:auto", tensor_label(study, part->outputs.items[i]));
    step_add_option(step, "--outputs", study_keep(study, &outputs));
    return step_make(step, path, "cut out", "cannot be cut out");
}

static const char *extract_nodes(struct study *study, const struct bitset *nodes, const char *path, const char *why)
{
    struct subgraph part SCOPED(subgraph_release);

    subgraph_init_nodes(&part, &study->graph, nodes);
    return extract_subgraph(study, &part, path, why);
}

const char *study_extract_tensor(struct study *study, uint32_t value)
{
    struct subgraph part SCOPED(subgraph_release);
    struct value_list missing = {0};

    subgraph_init_copy(&part, &study->graph);
    part.outputs.count = 0;
    value_list_add(&part.outputs, value);
    subgraph_clean(&part, NULL, NULL, &missing);
    free(missing.items);
    return extract_subgraph(study, &part, NULL,
                            study_text(study, "What computes '%s', alone", tensor_label(study, value)));
}

struct lone_run study_run_nodes(struct study *study, const struct bitset *nodes, struct words tolerance)
{
    struct lone_run ret = {.agreement = REFUSES};
    struct failing_case subject;
    struct study_step *step;

    ret.model = extract_nodes(study, nodes, NULL, study_text(study, "%s, cut out", describe_nodes(study, nodes)));
    if (ret.model == NULL)
        return ret;
    subject = study_values_case(study, ret.model, tolerance);
    ret.step = step = step_begin_suspect(study, &subject, "alone", "The same nodes alone in the suspect");
    ret.outputs = study_text(study, "%s/outputs%s", step->folder, strrchr(study->values, '.'));
    step_add(step, "--save-outputs", ret.outputs, NULL);
    ret.agreement = step_try(step);
    if (ret.agreement != DIFFERS)
        return ret;
    step = step_begin_control(study, &subject, "alone-in-reference", "The same nodes alone in the reference");
    if (step_try(step) != AGREES)
        ret.agreement = REFUSES;
    return ret;
}

/* Both sides run `model`, with these inputs. UNKNOWN where the reference does not run it. */
static struct lone_run compare_sides(struct study *study, const char *model, const char *inputs, struct words tolerance,
                                     const char *what)
{
    struct lone_run ret = {.agreement = UNKNOWN, .model = model};
    struct failing_case subject = study_values_case(study, model, tolerance);
    struct study_step *step = step_begin(study, "reference-part", study_text(study, "%s in the reference", what));

    ret.golden = subject.golden = study_text(study, "%s/golden%s", step->folder, strrchr(study->values, '.'));
    step->is_control = true;
    step_add(step, "run", model, NULL);
    step_add_words(step, study->settings->reference);
    subject.inputs = inputs;
    step_add_inputs(step, inputs, 1);
    step_add(step, "--save-outputs", ret.golden, NULL);
    if (!step_run(step) || step->exit_status != 0)
        return ret;
    ret.step = step = step_begin_suspect(study, &subject, "suspect-part", study_text(study, "%s in the suspect", what));
    ret.outputs = study_text(study, "%s/outputs%s", step->folder, strrchr(study->values, '.'));
    step_add(step, "--save-outputs", ret.outputs, NULL);
    ret.agreement = step_try(step);
    return ret;
}

struct lone_run study_compare_nodes(struct study *study, const struct bitset *nodes, const char *inputs,
                                    struct words tolerance)
{
    const char *what = describe_nodes(study, nodes);
    const char *model = extract_nodes(study, nodes, NULL, study_text(study, "%s, cut out", what));

    return model != NULL ? compare_sides(study, model, inputs, tolerance, what)
                         : (struct lone_run){.agreement = UNKNOWN};
}

void study_make_minimal(struct study *study, const struct bitset *nodes, struct words tolerance)
{
    const char *model = extract_nodes(study, nodes, study_path(study, "minimal.onnx"), "The minimal case");

    if (model == NULL)
        return;
    study->minimal = study_make_case(study, model, "minimal");
    study->minimal.tolerance = tolerance;
}

/* ---- Subgraphs that grow ---- */

/* Adds the consumers of the nodes' outputs, or the producers of their inputs. False: these are too many. */
static bool add_neighbours(const struct model *model, bool consumers, struct bitset *nodes)
{
    SCOPED_BITSET(before);
    size_t count;

    bitset_init_copy(&before, nodes);
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];

        for (size_t k = 0; k < node_read_count(node); k++) {
            uint32_t value = node_read(model, node, k);
            uint32_t producer = value != VALUE_NONE ? model->values.items[value].producer : NODE_NONE;

            if (producer != NODE_NONE && bitset_has(&before, consumers ? producer : i))
                bitset_add(nodes, consumers ? i : producer);
        }
    }
    count = bitset_count(nodes);
    if (count > MOST_GROWN_NODES)
        bitset_assign(nodes, &before);
    return count <= MOST_GROWN_NODES;
}

/* Removes one node after the other until the set is 1-minimal. The nodes fail; `ret` is the last run that did. */
static void shrink_nodes(struct study *study, struct bitset *nodes, struct words tolerance, struct lone_run *ret)
{
    size_t last = nodes->size, needed = 0;

    while (needed < bitset_count(nodes) && bitset_count(nodes) > 1) {
        struct lone_run run;

        last = bitset_previous(nodes, last);
        if (last == nodes->size)
            last = bitset_previous(nodes, nodes->size);
        bitset_remove(nodes, last);
        run = study_run_nodes(study, nodes, tolerance);
        needed = run.agreement == DIFFERS ? 0 : needed + 1;
        if (run.agreement == DIFFERS)
            *ret = run;
        else
            bitset_add(nodes, last);
    }
}

struct lone_run study_grow_nodes(struct study *study, struct bitset *nodes, struct words tolerance)
{
    struct lone_run ret = {.agreement = REFUSES};

    for (int turn = 0; turn <= MOST_GROWTH_STEPS && ret.agreement != DIFFERS; turn++) {
        size_t before = bitset_count(nodes);

        /* What is fused to a node is more often behind it: sums, activations. */
        if (turn > 0 && (!add_neighbours(study->model, turn % 2 == 1, nodes) || bitset_count(nodes) == before))
            continue;
        ret = study_run_nodes(study, nodes, tolerance);
    }
    if (ret.agreement == DIFFERS)
        shrink_nodes(study, nodes, tolerance, &ret);
    return ret;
}

/* ---- The whole model with one change ---- */

bool find_labelled_nodes(const struct study *study, struct words labels, struct bitset *ret)
{
    for (size_t k = 0; k < labels.count; k++) {
        size_t found = 0;

        for (uint32_t i = 0; i < study->model->nodes.count; i++)
            if (strcmp(model_node_label(study->model, i), labels.items[k]) == 0) {
                bitset_add(ret, i);
                found++;
            }
        if (found != 1)
            return false;
    }
    return true;
}

enum agreement compare_output_files(struct study *study, const char *values, const char *golden, const char *why,
                                    double *ret_error)
{
    struct study_step *step = step_begin(study, "outputs", why);
    enum agreement ret;

    step->is_control = true;
    step_add(step, "run", "--load-outputs", values, golden, NULL);
    step_add_words(step, study->whole.tolerance);
    ret = step_try(step);
    if (ret_error != NULL && (ret == AGREES || ret == DIFFERS))
        *ret_error = comparison_error(step);
    return ret;
}

static bool is_made_by(const struct model *model, uint32_t value, const struct bitset *nodes)
{
    uint32_t producer = value != VALUE_NONE ? model->values.items[value].producer : NODE_NONE;

    return producer != NODE_NONE && bitset_has(nodes, producer);
}

void study_list_replaced_values(const struct study *study, const struct bitset *nodes, struct value_list *ret)
{
    const struct model *model = study->model;

    for (size_t i = 0; i < study->graph.outputs.count; i++)
        if (is_made_by(model, study->graph.outputs.items[i], nodes))
            value_list_add(ret, study->graph.outputs.items[i]);
    for (uint32_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; !bitset_has(nodes, i) && k < node_read_count(&model->nodes.items[i]); k++) {
            uint32_t value = node_read(model, &model->nodes.items[i], k);

            if (is_made_by(model, value, nodes) && !value_list_has(ret, value))
                value_list_add(ret, value);
        }
}

/* The model in which what these nodes make are inputs; nodes that nothing needs any more are removed. With
 * `keeps_front`, what they read are outputs, so that the nodes in front of them stay. */
static void cut_behind_nodes(const struct study *study, const struct bitset *nodes, bool keeps_front,
                             struct subgraph *ret)
{
    struct subgraph part SCOPED(subgraph_release);
    struct value_list replaced SCOPED_ITEMS = {0}, outputs SCOPED_ITEMS = {0}, missing SCOPED_ITEMS = {0};

    study_list_replaced_values(study, nodes, &replaced);
    subgraph_init_nodes(&part, &study->graph, nodes);
    subgraph_init_copy(ret, &study->graph);
    for (size_t i = 0; i < replaced.count; i++)
        value_list_add(&ret->inputs, replaced.items[i]);
    for (size_t i = 0; i < ret->outputs.count; i++)
        if (!value_list_has(&replaced, ret->outputs.items[i]))
            value_list_add(&outputs, ret->outputs.items[i]);
    for (size_t i = 0; keeps_front && i < part.inputs.count; i++)
        if (model_producer(study->model, part.inputs.items[i]) != NULL &&
            !value_list_has(&outputs, part.inputs.items[i]))
            value_list_add(&outputs, part.inputs.items[i]);
    value_list_assign(&ret->outputs, &outputs);
    subgraph_clean(ret, NULL, NULL, &missing);
}

/* The model with these inputs, which has to make the outputs of the whole. */
static struct failing_case changed_case(const struct study *study, const char *model, const char *inputs)
{
    struct failing_case ret = study_repeated_whole(study);

    ret.model = model;
    ret.inputs = inputs;
    return ret;
}

/* Judges it in the suspect. One that fails now and then has to agree so often that it is not by chance. */
static enum agreement judge_changed_case(struct study *study, struct failing_case subject, const char *why)
{
    int64_t times = study_enough_comparisons(study);
    enum agreement ret;

    do
        ret = step_try(step_begin_suspect(study, &subject, "replaced", why));
    while (ret == AGREES && --times > 0);
    return ret;
}

enum agreement study_replace_nodes(struct study *study, const struct bitset *nodes, struct subgraph *ret_rest,
                                   const char **ret_model)
{
    size_t count = bitset_count(nodes);
    struct subgraph rest SCOPED(subgraph_release);

    cut_behind_nodes(study, nodes, false, &rest);
    if (ret_rest != NULL)
        subgraph_init_copy(ret_rest, &rest);
    if (study_has_failed(study))
        return UNKNOWN;
    *ret_model = extract_subgraph(study, &rest, NULL, "The model without these nodes");
    if (*ret_model == NULL)
        return rest.outputs.count == 0 ? AGREES : REFUSES;
    return judge_changed_case(study, changed_case(study, *ret_model, study->layerwise),
                              study_text(study, "The whole, with the reference's values for what %zu node%s make%s",
                                         count, count == 1 ? "" : "s", count == 1 ? "s" : ""));
}

enum agreement study_compare_rest(struct study *study, const struct bitset *nodes, struct words tolerance,
                                  const char **ret_model)
{
    struct subgraph rest SCOPED(subgraph_release) = {0};

    *ret_model = NULL;
    if (study_has_failed(study))
        return UNKNOWN;
    cut_behind_nodes(study, nodes, true, &rest);
    *ret_model = extract_subgraph(study, &rest, NULL, "The model without these nodes, which reads what they make");
    if (*ret_model == NULL)
        return !study_has_failed(study) && rest.outputs.count == 0 ? AGREES : UNKNOWN;
    return compare_sides(study, *ret_model, study->layerwise, tolerance, "That").agreement;
}

const char *study_suspect_inputs(struct study *study, const char *suspect_values)
{
    const char *ret =
        study_text(study, "%s/suspect_layerwise%s", study->settings->folder, strrchr(suspect_values, '.'));

    combine_inputs(study, suspect_values, ret, "to-input", "The suspect's values as input data");
    return ret;
}

enum agreement study_replace_in_reference(struct study *study, const struct bitset *nodes, const char *suspect_values,
                                          struct subgraph *ret_rest, const char **ret_model)
{
    struct failing_case subject = study->whole;
    struct subgraph rest SCOPED(subgraph_release);

    cut_behind_nodes(study, nodes, false, &rest);
    subgraph_init_copy(ret_rest, &rest);
    *ret_model = study_has_failed(study) ? NULL : extract_subgraph(study, &rest, NULL, "The model without these nodes");
    if (*ret_model == NULL)
        return study_has_failed(study) ? UNKNOWN : rest.outputs.count == 0 ? AGREES : REFUSES;
    subject.model = *ret_model;
    subject.inputs = study_suspect_inputs(study, suspect_values);
    subject.golden = suspect_values;
    return step_try(step_begin_control(study, &subject, "replaced-in-reference",
                                       "The reference, with the suspect's values for what these nodes make"));
}

/* Whether one of the model's outputs that these nodes make differs in the suspect. */
static bool has_wrong_output(struct study *study, const struct bitset *nodes, const char *suspect_values)
{
    const struct value_list *outputs = &study->graph.outputs;
    struct study_step *step;
    const json_t *item;
    bool ret = false;
    size_t i, made = 0;

    for (size_t k = 0; k < outputs->count; k++)
        made += is_made_by(study->model, outputs->items[k], nodes);
    if (made == 0 || study_has_failed(study))
        return false;
    step = step_begin(study, "outputs", "Those of them that are the model's outputs");
    step->is_control = true;
    step_add(step, "run", "--load-outputs", suspect_values, study->whole.golden, NULL);
    step_add_words(step, study->whole.tolerance);
    step_try(step);
    json_array_foreach (result_find(step->result.root, "comparisons"), i, item)
        for (size_t k = 0; k < outputs->count; k++)
            ret |= is_made_by(study->model, outputs->items[k], nodes) && !json_is_true(result_find(item, "passed")) &&
                   strcmp(result_text(step, item, "output"), tensor_label(study, outputs->items[k])) == 0;
    return ret;
}

enum agreement study_control_replacement(struct study *study, const struct bitset *nodes, const char *model,
                                         const char *suspect_values)
{
    const char *inputs = study_suspect_inputs(study, suspect_values);

    if (has_wrong_output(study, nodes, suspect_values))
        return DIFFERS;
    return judge_changed_case(study, changed_case(study, model, inputs), "The same with the suspect's values there");
}

/* The model without these nodes, whose values come from the file `made`. Its model is NULL where it cannot be made. */
static struct failing_case make_injected_case(struct study *study, const struct bitset *nodes,
                                              const struct subgraph *rest, const char *made)
{
    const char *inputs = study_text(study, "%s.inputs%s", made, strrchr(made, '.'));
    const char *model =
        extract_subgraph(study, rest, NULL, study_text(study, "The model without %s", describe_nodes(study, nodes)));

    if (model != NULL && !combine_inputs(study, made, inputs, "to-input", "What they make, as input data"))
        model = NULL;
    return changed_case(study, model, inputs);
}

bool study_make_injection_base(struct study *study, const struct bitset *nodes, const char *values,
                               struct injection_base *ret)
{
    struct subgraph rest SCOPED(subgraph_release) = {0};
    struct failing_case subject;
    struct study_step *step;

    *ret = (struct injection_base){.values = values};
    if (study_has_failed(study))
        return false;
    cut_behind_nodes(study, nodes, false, &rest);
    if (rest.outputs.count == 0)
        return true;
    subject = make_injected_case(study, nodes, &rest, values);
    if (subject.model == NULL)
        return false;
    step = step_begin(study, "injected", "The reference with these values");
    step->is_control = true;
    ret->golden = step_path(step, "golden.json");
    step_add(step, "run", subject.model, NULL);
    step_add_words(step, study->settings->reference);
    step_add_inputs(step, subject.inputs, failing_case_runs(&subject));
    step_add(step, "--save-outputs", ret->golden, NULL);
    return step_run(step) && step->exit_status == 0;
}

enum agreement study_inject_outputs(struct study *study, const struct bitset *nodes, const char *made,
                                    const struct injection_base *base, double *ret_error)
{
    struct subgraph rest SCOPED(subgraph_release) = {0};
    enum agreement agreement = study_has_failed(study) ? UNKNOWN : AGREES;
    struct failing_case subject;
    struct study_step *step;

    cut_behind_nodes(study, nodes, false, &rest);
    if (rest.outputs.count < study->graph.outputs.count) /* some of what was made are outputs of the model */
        agreement = compare_output_files(study, made, base != NULL ? base->values : study->whole.golden,
                                         "Those of them that are the model's outputs", ret_error);
    if (agreement == UNKNOWN || agreement == DIFFERS || rest.outputs.count == 0)
        return agreement;
    subject = make_injected_case(study, nodes, &rest, made);
    if (subject.model == NULL)
        return REFUSES;
    subject.golden = base != NULL ? base->golden : subject.golden;
    step = step_begin_control(study, &subject, "injected", "The reference with that");
    agreement = step_try(step);
    if (ret_error != NULL && (agreement == AGREES || agreement == DIFFERS))
        *ret_error = comparison_error(step);
    return agreement;
}

enum agreement study_measure_injection(struct study *study, const struct bitset *nodes, const char *made,
                                       double *ret_error)
{
    struct injection_base base;

    *ret_error = 0;
    if (made == NULL || study->values == NULL || !study_make_injection_base(study, nodes, study->values, &base))
        return UNKNOWN;
    base.values = study->whole.golden; /* of the nodes' own outputs, those of the model count */
    return study_inject_outputs(study, nodes, made, &base, ret_error);
}
