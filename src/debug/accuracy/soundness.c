/* debug/accuracy/soundness.c: is the question sound? The reference runs the model, is reproducible, and its outputs are
 * numbers; else the nodes that make the NaN and infinities are found: from what is invalid in an output, back through
 * tensors that are invalid in the same way, to nodes that make it of numbers. Infinities that something removes again,
 * such as those of a mask, are not on that path.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/text/shell_line.h"
#include "base/text/string_builder.h"
#include "debug/accuracy/hypotheses.h"
#include "debug/accuracy/subgraph.h"

/* ---- Tolerances ---- */

/* Errors below the least absolute tolerance are left where values of about 1 cancel, and where reference values are all
 * 0; the default of `run`, 1e-5, would hide the errors of small tensors. An output that is smaller still has it
 * lowered. Infinities that both have are masks. */
static struct words norm_tolerance(struct study *study, const struct rounding_paths *paths)
{
    const double usual = 1e-7;
    double tolerance = rounding_tolerance(study->settings->unit_roundoff, paths);
    double relative = tolerance * study->smallest_output;
    const char *absolute = relative < usual ? study_text(study, "%.1g", relative) : "1e-7";

    return study_words(study, "--norm-tolerance", study_text(study, "%.2g", tolerance), "--atol", absolute,
                       "--infinities-compare-equal", NULL);
}

static bool read_rounding_paths(struct study *study, struct rounding_paths *ret)
{
    const struct accuracy_settings *settings = study->settings;
    struct model *model;

    if (model_open(settings->model, settings->external_data_dir, &model, &study->error) < 0)
        return false;
    rounding_paths_of(model, ret);
    model_free(model);
    return true;
}

struct words study_first_tolerance(struct study *study)
{
    struct rounding_paths paths;

    if (study->settings->tolerance.count > 0)
        return study->settings->tolerance;
    return read_rounding_paths(study, &paths) ? norm_tolerance(study, &paths) : (struct words){0};
}

static void decide_tolerances(struct study *study)
{
    const struct accuracy_settings *settings = study->settings;
    struct rounding_paths paths, of_a_node;
    const char *const *words;

    if (!read_rounding_paths(study, &paths))
        return;
    of_a_node = (struct rounding_paths){.depth = 1, .terms = paths.terms};
    study->part_tolerance = norm_tolerance(study, &of_a_node);
    study->layer_tolerance = norm_tolerance(study, &paths);
    study->whole.tolerance = settings->tolerance;
    study->tolerance_why = "as given";
    if (settings->tolerance.count > 0)
        return;
    study->whole.tolerance = study->layer_tolerance;
    words = study->layer_tolerance.items;
    study->tolerance_why = study_text(study,
                                      "%s %s %s %s (--norm-tolerance is relative to the largest magnitude of an "
                                      "output). Derived: 8 * (u * sqrt(depth) + "
                                      "v * sqrt(depth * terms)), u = %.2g, the unit roundoff of %s, v = 6e-08, that of "
                                      "float32, depth = %zu nodes on the "
                                      "longest path, terms = %zu products in the longest sum",
                                      words[0], words[1], words[2], words[3], settings->unit_roundoff,
                                      settings->precision, paths.depth, paths.terms);
    study_log(study, "Tolerance: %s", study->tolerance_why);
}

/* ---- The reference ---- */

static void run_lint(struct study *study, bool has_data)
{
    struct study_step *step = step_begin(study, "lint", "check lint: mistakes in the model");

    step_add(step, "check", "lint", study->settings->model, NULL);
    step_add_words(step, study->settings->loading);
    if (has_data)
        step_add_inputs(step, study->whole.inputs, 1);
    if (!step_run(step))
        return;
    step->outcome = step->exit_status == 0 ? "no mistakes" : "finds mistakes in the model";
    if (step->exit_status != 0)
        log_message(study->log, LOG_WARNING, "check lint finds mistakes in the model: see %s/log.txt", step->folder);
}

/* Another process, each input several times in it, and compared with a third one. */
static void run_reference_again(struct study *study)
{
    struct study_step *step = step_begin_model(
        study, "reference-repeated", "Outputs of the reference, each input several times", study->settings->reference);

    step_add_inputs(step, study->whole.inputs, RUNS_OF_ONE_BUILD);
    step_add(step, "--save-outputs", study->repeated_golden, NULL);
    step_require(step);
    step = step_begin_model(study, "reference-again", "The reference is reproducible", study->settings->reference);
    step->is_control = true;
    step_add_repeated_whole(step, RUNS_OF_ONE_BUILD);
    if (step_judge(step) != AGREES)
        study_conclude(study, OUTCOME_NO_QUESTION,
                       "The outputs of the reference differ from run to run, so there is nothing to compare with: look "
                       "for random operators, or use another reference");
}

/* Infinities are the only invalid outputs: those of a mask, say. They are compared by position and sign. */
static bool has_only_infinities(struct study_step *reference)
{
    bool ret = true;
    const json_t *item;
    size_t i;

    json_array_foreach (result_find(reference->result.root, "validation"), i, item)
        ret = ret && result_number(reference, item, "nans", 1) == 0;
    return ret;
}

/* Once for each output of the reference that has them. */
static void log_infinities(struct study_step *reference)
{
    struct study *study = reference->study;
    const json_t *item;
    size_t i;

    json_array_foreach (result_find(reference->result.root, "validation"), i, item) {
        int64_t count = result_count(reference, item, "infinities");

        if (count > 0)
            study_add_note(study,
                           "output '%s' has %lld infinities in the reference: they are compared by position and sign; "
                           "to find the node that makes them: polygraphy run %s --onnxrt --validate --first-divergence",
                           result_text(reference, item, "output"), (long long)count, study->settings->model);
    }
}

void accuracy_test_soundness(struct study *study)
{
    struct study_step *step;

    study->whole.model = study->settings->model;
    study->whole.inputs = study_path(study, "inputs.json");
    study->whole.golden = study_path(study, "golden.json");
    study->repeated_golden = study_path(study, "golden_repeated.json");
    if (!study->settings->data_are_given)
        log_message(
            study->log, LOG_WARNING,
            "Input data are generated and may not reproduce the failure: pass the failing data with --load-inputs");
    /* What makes input data makes the first golden outputs, too. */
    step = step_begin_model(study, "reference", "The model runs in the reference", study->settings->reference);
    step_add_words(step, study->settings->data);
    step_add(step, "--save-inputs", study->whole.inputs, "--save-outputs", study->whole.golden, "--validate", NULL);
    if (!step_run(step))
        return;
    study->smallest_output = study_smallest_output(step);
    decide_tolerances(study);
    if (study_has_failed(study))
        return;
    if (step->exit_status == 0 || (step->exit_status == 1 && step->has_result && has_only_infinities(step))) {
        step->outcome = step->exit_status == 0 ? "runs; its outputs are numbers" : "runs, with infinities";
        log_infinities(step);
        run_lint(study, true);
        run_reference_again(study);
        if (study->outcome == OUTCOME_OPEN && study->settings->reference_is_command)
            study_runner_ignores_model(study, study->settings->reference, study->whole.golden, "reference");
        return;
    }
    study->reference_is_invalid = step->exit_status == 1 && step->has_result;
    if (study->reference_is_invalid) {
        step->outcome = "its outputs contain NaN or infinities";
        return;
    }
    step->outcome = "does not run";
    study_conclude(study, OUTCOME_NO_QUESTION,
                   "The model does not run in the reference, so there is nothing to compare with: %s",
                   step->complaint != NULL ? step->complaint : step->command);
    run_lint(study, false);
}

/* ---- Where NaN and infinities come from ---- */

struct nan_search {
    struct study *study;
    struct known_range *ranges;
    struct bitset seen;                /* values */
    struct bitset makers;              /* nodes that make something invalid of numbers */
    struct bitset converters;          /* nodes that make NaN of infinities */
    struct value_list data, constants, /* that are invalid themselves */
        open;                          /* invalid values whose origin is not known yet */
};

static bool is_invalid(const struct nan_search *search, uint32_t value)
{
    return value != VALUE_NONE && (search->ranges[value].has_nans || search->ranges[value].has_infinities);
}

static void add_open_value(struct nan_search *search, uint32_t value)
{
    if (bitset_has(&search->seen, value))
        return;
    bitset_add(&search->seen, value);
    *VECTOR_APPEND(&search->open) = value;
}

/* Goes on with those inputs of a node that are as invalid. Whether there are such. */
static bool follow_inputs(struct nan_search *search, const struct node *node, bool only_nans)
{
    bool ret = false;

    for (size_t i = 0; i < node_read_count(node); i++) {
        uint32_t value = node_read(search->study->model, node, i);

        if (!is_invalid(search, value) || (only_nans && !search->ranges[value].has_nans))
            continue;
        ret = true;
        add_open_value(search, value);
    }
    return ret;
}

static void find_origin(struct nan_search *search, uint32_t value)
{
    const struct model *model = search->study->model;
    uint32_t producer = model->values.items[value].producer;
    bool is_constant = model->values.items[value].initializer != INITIALIZER_NONE;

    if (producer == NODE_NONE)
        *VECTOR_APPEND(is_constant ? &search->constants : &search->data) = value;
    else if (search->ranges[value].has_nans && follow_inputs(search, &model->nodes.items[producer], true))
        return;
    else if (!follow_inputs(search, &model->nodes.items[producer], false))
        bitset_add(&search->makers, producer);
    else if (search->ranges[value].has_nans)
        bitset_add(&search->converters, producer);
}

static void search_back(struct nan_search *search)
{
    const struct model *model = search->study->model;

    for (size_t i = 0; i < model->outputs.count; i++)
        if (is_invalid(search, model->outputs.items[i]))
            add_open_value(search, model->outputs.items[i]);
    while (search->open.count > 0)
        find_origin(search, search->open.items[--search->open.count]);
}

/* The first invalid element that a node made alone, in words; and whether it made one. */
static bool describe_invalid_element(struct study_step *step, const char **ret)
{
    const json_t *invalid = json_array_get(result_find(step->result.root, "first_divergence/invalid"), 0);
    const json_t *element = result_find(invalid, "element"), *item;
    double value = result_number(step, element, "value", 0);
    SCOPED_STRING(text);
    size_t i;

    if (!json_is_object(element))
        return json_is_object(invalid);
    string_add(&text, value != value ? "NaN" : "an infinity");
    json_array_foreach (result_find(element, "inputs"), i, item) {
        string_add(&text, i == 0 ? " where " : " and ");
        string_add_quoted(&text, result_text(step, item, "input"));
        string_add_format(&text, " is %.6g", result_number(step, item, "value", 0));
    }
    *ret = study_text(step->study, "%s", text.data);
    return true;
}

/* The node alone, on its inputs in the whole model: the minimal case, where it makes something invalid again. */
static bool run_node_alone(struct study *study, uint32_t node, const char **ret_element)
{
    struct failing_case *minimal = &study->minimal;
    struct study_step *step;
    bool ret;

    study_make_minimal(study, study_node(study, node), (struct words){0});
    if (minimal->model == NULL)
        return false;
    step = step_begin(study, "alone", "The node alone, with its inputs from the whole model");
    step_add(step, "run", minimal->model, NULL);
    step_add_words(step, study->settings->reference);
    step_add(step, "--load-inputs", minimal->inputs, "--validate", "--first-divergence", NULL);
    if (!step_run(step))
        return false;
    ret = step->exit_status == 1 && step->has_result && describe_invalid_element(step, ret_element);
    step->outcome = ret ? "reproduced" : "not reproduced";
    if (!ret)
        *minimal = (struct failing_case){0};
    return ret;
}

static const char *describe_node(struct study *study, uint32_t node)
{
    return study_text(study, "'%s' (" TEXT_FORMAT ")", node_label(study, node),
                      TEXT_ARGS(study->model->nodes.items[node].op_type));
}

static bool makes_nans(const struct nan_search *search, uint32_t node)
{
    const struct node *item = &search->study->model->nodes.items[node];

    for (size_t i = 0; i < item->outputs.count; i++) {
        uint32_t value = model_edge(search->study->model, item->outputs, i);

        if (value != VALUE_NONE && search->ranges[value].has_nans)
            return true;
    }
    return false;
}

/* Nodes that make it, after the first one. */
static const char *list_other_makers(struct nan_search *search, size_t first)
{
    struct study *study = search->study;
    size_t converter = bitset_next(&search->converters, 0);
    const char *ret = "";
    SCOPED_BITSET(others);

    bitset_init_copy(&others, &search->makers);
    bitset_remove(&others, first);
    if (bitset_count(&others) > 0)
        ret = study_text(study, "; so do%s %s", bitset_count(&others) == 1 ? "es" : "", describe_nodes(study, &others));
    if (converter < search->converters.size)
        ret = study_text(study, "%s; %s makes NaN of infinities", ret, describe_node(study, (uint32_t)converter));
    return ret;
}

/* A node that makes it of numbers. */
static void blame_maker(struct nan_search *search)
{
    struct study *study = search->study;
    uint32_t first = (uint32_t)bitset_next(&search->makers, 0);
    const char *label = describe_node(study, first);
    const char *element = makes_nans(search, first) ? "NaN of numbers" : "infinities of numbers";
    bool again = run_node_alone(study, first, &element);

    if (study_has_failed(study))
        return;
    study->cause.sentence =
        study_text(study, "the model itself makes it: %s makes %s%s", label, element, list_other_makers(search, first));
    study_add_evidence(study,
                       "in the reference %s is the first to make what reaches the outputs; all that it reads are "
                       "numbers",
                       label);
    if (again)
        study_add_evidence(study, "reproduced by this node alone, with its inputs from the whole model");
}

/* Infinities, or NaN, are in a constant. */
static void blame_constant(struct nan_search *search)
{
    struct study *study = search->study;
    struct cause *cause = &study->cause;
    uint32_t constant = search->constants.items[0];
    bool is_nan = search->ranges[constant].has_nans;
    uint32_t converter = (uint32_t)bitset_next(&search->converters, 0);
    const char *name = tensor_label(study, constant), *element = "";

    study_add_evidence(study, "from the outputs all tensors back to '%s' have NaN or infinities in the reference",
                       name);
    cause->sentence =
        study_text(study, "the model itself contains it: constant '%s' has %s", name, is_nan ? "NaN" : "infinities");
    if (is_nan || converter >= search->converters.size)
        return;
    cause->sentence =
        study_text(study, "the model itself makes it: %s makes NaN of the infinities in the constant '%s'",
                   describe_node(study, converter), name);
    if (run_node_alone(study, converter, &element))
        study_add_evidence(study, "reproduced by this node alone, with its inputs from the whole model");
}

struct words study_independent_runner(struct study *study)
{
    const struct words *reference = &study->settings->reference;
    struct words ret = study_words(study, "--onnxrt", "--onnxrt-optimization-level", "none", NULL);

    if (study->settings->reference_is_onnxrt && reference->count == ret.count && has_word(*reference, "none"))
        return (struct words){0};
    return ret;
}

/* The command that finds where the reference differs from an independent one. */
static const char *command_to_find_node(struct study *study, struct words independent)
{
    const struct accuracy_settings *settings = study->settings;
    const struct words parts[] = {independent, settings->reference, settings->loading, settings->data};
    SCOPED_STRING(line);

    string_add(&line, "polygraphy debug accuracy");
    shell_add_argument(&line, settings->model);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        for (size_t k = 0; k < parts[i].count; k++)
            shell_add_argument(&line, parts[i].items[k]);
    return study_text(study, "%s", line.data);
}

/* Whether an independent runner makes NaN of the same data, too. Else the reference is wrong, not the model, and that
 * is the conclusion. True where that cannot be tested: the cause is not proven then. */
static bool model_makes_it_elsewhere(struct study *study)
{
    const char *const runner = "--onnxrt --onnxrt-optimization-level none";
    struct words independent = study_independent_runner(study);
    struct study_step *step;

    if (independent.count == 0) {
        study->cause.whole_agrees = true;
        return true;
    }
    step = step_begin_model(study, "independent", "ONNX Runtime without optimizations", independent);
    step_add_inputs(step, study->whole.inputs, 1);
    step_add(step, "--validate", NULL);
    if (!step_run(step))
        return false;
    if (step->exit_status == 1 && step->has_result && !has_only_infinities(step)) {
        step->outcome = "its outputs contain NaN, too";
        study_add_evidence(study, "%s makes NaN of the same data, too", runner);
        study->cause.whole_agrees = true;
        return true;
    }
    if (step->exit_status != 0 && !step->has_result) {
        step->outcome = "does not run";
        study_add_not_tested(study, "whether the model or the reference makes NaN: %s does not run the model", runner);
        return true;
    }
    step->outcome = "its outputs contain no NaN";
    study_conclude(study, OUTCOME_NO_QUESTION,
                   "The reference is wrong: its outputs contain NaN, those of %s do not. To find the node: %s", runner,
                   command_to_find_node(study, independent));
    return false;
}

static void blame_origin(struct nan_search *search)
{
    struct study *study = search->study;
    SCOPED_BITSET(nodes);

    if (search->data.count > 0) {
        study_conclude(study, OUTCOME_NO_QUESTION,
                       "There are NaN or infinities in the input data, in '%s', and they reach the outputs of any "
                       "runtime: pass other data",
                       tensor_label(study, search->data.items[0]));
        return;
    }
    bitset_init_copy(&nodes, &search->makers);
    bitset_unite(&nodes, &search->converters);
    if (bitset_count(&nodes) + search->constants.count == 0) {
        study_conclude(study, OUTCOME_NO_QUESTION,
                       "The reference's outputs contain NaN or infinities, but not with all tensors as outputs: they "
                       "depend on its fusions or foldings. Try another reference, or --onnxrt-optimization-level none");
        return;
    }
    study->cause.nodes = node_labels(study, &nodes);
    if (bitset_count(&search->makers) > 0)
        blame_maker(search);
    else
        blame_constant(search);
    study->cause.kind = CAUSE_NAN;
}

void accuracy_test_nan(struct study *study)
{
    struct nan_search search = {.study = study};

    if (!model_makes_it_elsewhere(study) || !study_open_model(study))
        return;
    search.ranges = study_read_ranges(study);
    if (search.ranges == NULL)
        return;
    bitset_init(&search.seen, study->model->values.count);
    bitset_init(&search.makers, study->model->nodes.count);
    bitset_init(&search.converters, study->model->nodes.count);
    search_back(&search);
    blame_origin(&search);
    bitset_release(&search.seen);
    bitset_release(&search.makers);
    bitset_release(&search.converters);
    free(search.data.items);
    free(search.constants.items);
    free(search.open.items);
    free(search.ranges);
}
