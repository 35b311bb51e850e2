/* debug/accuracy/nan.c: which nodes make the NaN and infinities that reach the outputs, in the reference itself?
 *
 * From what is bad in an output the way leads back, through tensors that are bad in the same way, to nodes that make it
 * of numbers: infinities that something takes away again, such as those of a mask, are not on it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/string_builder.h"
#include "debug/accuracy/part.h"
#include "debug/accuracy/questions.h"
#include "debug/accuracy/ranges.h"

struct search {
    struct parts parts;
    struct known_range *ranges;
    struct bitset seen;                /* values */
    struct bitset makers;              /* nodes that make something bad of numbers */
    struct bitset turners;             /* nodes that make NaN of infinities */
    struct value_list data, constants, /* that are bad themselves */
        open;                          /* bad values whose origin is still asked for */
};

static bool is_bad(const struct search *search, uint32_t value)
{
    return value != VALUE_NONE && (search->ranges[value].has_nans || search->ranges[value].has_infinities);
}

/* ---- The way back ---- */

/* Goes on with what the producer of a value reads that is as bad. Whether there is such a thing. */
static bool follow_inputs(struct search *search, const struct node *node, bool only_nans)
{
    bool ret = false;

    for (size_t i = 0; i < node_read_count(node); i++) {
        uint32_t value = node_read(search->parts.model, node, i);

        if (!is_bad(search, value) || (only_nans && !search->ranges[value].has_nans))
            continue;
        ret = true;
        if (bitset_has(&search->seen, value))
            continue;
        bitset_add(&search->seen, value);
        *VECTOR_APPEND(&search->open) = value;
    }
    return ret;
}

static void find_origin(struct search *search, uint32_t value)
{
    const struct model *model = search->parts.model;
    uint32_t producer = model->values.items[value].producer;
    const struct node *node;

    if (producer == NODE_NONE) {
        *VECTOR_APPEND(model->values.items[value].initializer != INITIALIZER_NONE ? &search->constants
                                                                                  : &search->data) = value;
        return;
    }
    node = &model->nodes.items[producer];
    if (search->ranges[value].has_nans && follow_inputs(search, node, true))
        return;
    if (!follow_inputs(search, node, false))
        bitset_add(&search->makers, producer);
    else if (search->ranges[value].has_nans)
        bitset_add(&search->turners, producer);
}

static void search_back(struct search *search)
{
    const struct model *model = search->parts.model;

    for (size_t i = 0; i < model->outputs.count; i++)
        if (is_bad(search, model->outputs.items[i]) && !bitset_has(&search->seen, model->outputs.items[i])) {
            bitset_add(&search->seen, model->outputs.items[i]);
            *VECTOR_APPEND(&search->open) = model->outputs.items[i];
        }
    while (search->open.count > 0)
        find_origin(search, search->open.items[--search->open.count]);
}

/* ---- The proof ---- */

/* The first bad element that a node made alone, in words; and whether it made one. */
static bool describe_element(struct search *search, struct experiment *experiment, const char **ret)
{
    struct investigation *investigation = search->parts.investigation;
    const json_t *invalid = json_array_get(result_find(experiment->result.root, "first_divergence/invalid"), 0);
    const json_t *element = result_find(invalid, "element"), *item;
    double value = result_number(experiment, element, "value", 0);
    struct string_builder text;
    size_t i;

    if (!json_is_object(element))
        return json_is_object(invalid);
    string_init(&text);
    string_add(&text, value != value ? "NaN" : "an infinity");
    json_array_foreach (result_find(element, "inputs"), i, item) {
        string_add(&text, i == 0 ? " where " : " and ");
        string_add_quoted(&text, result_text(experiment, item, "input"));
        string_add_format(&text, " is %.6g", result_number(experiment, item, "value", 0));
    }
    *ret = investigation_text(investigation, "%s", text.data);
    string_release(&text);
    return true;
}

/* The node alone, from what it gets in the whole model. */
static int run_alone(struct search *search, uint32_t node, bool *ret_again, const char **ret_element, struct error *err)
{
    struct investigation *investigation = search->parts.investigation;
    struct failing_case *minimal = &investigation->minimal;
    struct experiment *experiment;
    struct call call;
    struct bitset one;
    int rc;

    *ret_again = false;
    bitset_init(&one, search->parts.model->nodes.count);
    bitset_add(&one, node);
    rc = part_make_minimal(&search->parts, &one, (struct words){0}, err);
    bitset_release(&one);
    if (rc < 0 || minimal->model == NULL)
        return rc;
    call_begin(&call, investigation, "alone", "The node alone, from what it gets in the whole model");
    call_add(&call, "run", minimal->model, NULL);
    call_add_words(&call, investigation->settings->reference);
    call_add(&call, "--load-inputs", minimal->inputs, "--validate", "--first-divergence", NULL);
    rc = call_run(&call, &experiment, err);
    if (rc < 0)
        return rc;
    *ret_again =
        experiment->exit_status == 1 && experiment->has_result && describe_element(search, experiment, ret_element);
    experiment->outcome = *ret_again ? "makes it again" : "makes none";
    return 0;
}

/* ---- What is said ---- */

static const char *node_label(struct search *search, uint32_t node)
{
    return investigation_text(search->parts.investigation, "'%s' (" TEXT_FORMAT ")", parts_node(&search->parts, node),
                              TEXT_ARGS(search->parts.model->nodes.items[node].op_type));
}

static bool makes_nans(const struct search *search, uint32_t node)
{
    const struct node *item = &search->parts.model->nodes.items[node];

    for (size_t i = 0; i < item->outputs.count; i++) {
        uint32_t value = model_edge(search->parts.model, item->outputs, i);

        if (value != VALUE_NONE && search->ranges[value].has_nans)
            return true;
    }
    return false;
}

/* Nodes that make it, behind the first one. */
static const char *count_others(struct search *search)
{
    size_t makers = bitset_count(&search->makers), turner = bitset_next(&search->turners, 0);
    const char *ret = "";

    if (makers > 1)
        ret = investigation_text(search->parts.investigation, "; so do %zu other node%s", makers - 1,
                                 makers > 2 ? "s" : "");
    if (turner < search->turners.size)
        ret = investigation_text(search->parts.investigation, "%s; %s makes NaN of infinities", ret,
                                 node_label(search, (uint32_t)turner));
    return ret;
}

/* A node that makes it of numbers. */
static int blame_maker(struct search *search, struct error *err)
{
    struct investigation *investigation = search->parts.investigation;
    struct cause *cause = &investigation->cause;
    uint32_t first = (uint32_t)bitset_next(&search->makers, 0);
    const char *label = node_label(search, first);
    const char *element = makes_nans(search, first) ? "NaN of numbers" : "infinities of numbers";
    bool again;
    int rc = run_alone(search, first, &again, &element, err);

    if (rc < 0)
        return rc;
    if (!again)
        investigation->minimal = (struct failing_case){0};
    cause->sentence = investigation_text(investigation, "the model itself makes it: %s makes %s%s", label, element,
                                         count_others(search));
    cause_add_proof(investigation,
                    "in the reference %s is the first to make what reaches the outputs; all that it reads "
                    "are numbers",
                    label);
    if (again)
        cause_add_proof(investigation, "alone, from what it gets in the whole model, it makes it again");
    return 0;
}

/* Infinities, or NaN, are in a constant. */
static int blame_constant(struct search *search, struct error *err)
{
    struct investigation *investigation = search->parts.investigation;
    struct cause *cause = &investigation->cause;
    uint32_t constant = search->constants.items[0];
    bool is_nan = search->ranges[constant].has_nans, again;
    uint32_t turner = (uint32_t)bitset_next(&search->turners, 0);
    const char *name = parts_tensor(&search->parts, constant), *element = "";
    int rc;

    cause_add_proof(investigation, "from the outputs all tensors back to '%s' hold NaN or infinities in the reference",
                    name);
    cause->sentence = investigation_text(
        investigation, "the model itself holds it: there are %s in the constant '%s'%s", is_nan ? "NaN" : "infinities",
        name, is_nan ? "" : "; if they are meant, go on with --infinities-compare-equal");
    if (is_nan || turner >= search->turners.size)
        return 0;
    cause->sentence = investigation_text(investigation,
                                         "the model itself makes it: %s makes NaN of the infinities in the constant "
                                         "'%s'",
                                         node_label(search, turner), name);
    rc = run_alone(search, turner, &again, &element, err);
    if (rc == 0 && again)
        cause_add_proof(investigation, "alone, from what it gets in the whole model, it makes it again");
    else
        investigation->minimal = (struct failing_case){0};
    return rc;
}

static int blame(struct search *search, struct error *err)
{
    struct investigation *investigation = search->parts.investigation;
    struct cause *cause = &investigation->cause;
    struct bitset nodes;
    int rc = 0;

    if (search->data.count > 0) {
        investigation_conclude(investigation, OUTCOME_NO_QUESTION,
                               "There are NaN or infinities in the input data, in '%s', and they reach the outputs, "
                               "whoever computes them: give other data",
                               parts_tensor(&search->parts, search->data.items[0]));
        return 0;
    }
    bitset_init_copy(&nodes, &search->makers);
    bitset_unite(&nodes, &search->turners);
    if (bitset_count(&nodes) + search->constants.count == 0) {
        investigation_conclude(investigation, OUTCOME_NO_QUESTION,
                               "The reference's outputs hold NaN or infinities, but with all tensors given out they do "
                               "not: how it fuses or folds nodes decides on it. Try another reference, or "
                               "--onnxrt-optimization-level none");
    } else {
        cause->nodes = parts_names(&search->parts, &nodes);
        rc = bitset_count(&search->makers) > 0 ? blame_maker(search, err) : blame_constant(search, err);
        cause->kind = CAUSE_NAN;
    }
    bitset_release(&nodes);
    return rc;
}

int accuracy_ask_nan(struct investigation *investigation, struct error *err)
{
    struct search search = {0};
    int rc;

    investigation_begin_step(investigation, "Which node makes NaN or infinities?");
    rc = parts_open(&search.parts, investigation, err);
    if (rc < 0)
        return rc;
    rc = ranges_read(investigation, search.parts.model, &search.ranges, err);
    if (rc == 0) {
        bitset_init(&search.seen, search.parts.model->values.count);
        bitset_init(&search.makers, search.parts.model->nodes.count);
        bitset_init(&search.turners, search.parts.model->nodes.count);
        search_back(&search);
        rc = blame(&search, err);
        bitset_release(&search.seen);
        bitset_release(&search.makers);
        bitset_release(&search.turners);
    }
    free(search.data.items);
    free(search.constants.items);
    free(search.open.items);
    free(search.ranges);
    parts_close(&search.parts);
    return rc;
}
