/* debug/accuracy/precision.c: does it fail in lower precision only, and which layers need the higher one?
 *
 * What a type can hold is compared with the ranges that the reference has, which says where to look, and how to put it.
 * The proof is a set of layers found by building (`debug precision`), and what becomes of it in bfloat16, which has the
 * range of float32 and fewer digits than float16.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "debug/accuracy/misfit.h"
#include "debug/accuracy/questions.h"

#define HINTS_TOLD 3
#define NODES_ALONE 2   /* so many are tried one by one */
#define NODES_GROWN 12  /* more than so many are not made smaller */
#define LARGE_SHARE 3.0 /* from one in so many layers on, no single one is to blame */

/* ---- The question ---- */

struct need {
    struct parts parts;
    const struct format *format; /* NULL: int8 */
    struct known_range *ranges;  /* of values */
    struct words names;          /* of the nodes of the layers that need higher precision */
    struct bitset nodes;         /* those that are not inside of others: in bodies nothing is known of tensors */
    struct words layers;         /* NAME:float32 for each */
    int64_t lowered;             /* layers that could be in lower precision */
    int64_t checks;
    bool is_minimal;
    enum misfit misfit; /* the worst in what these nodes read and make */
    uint32_t value;     /* whose that is */
    uint32_t node;      /* which reads or makes it */
};

static enum misfit look_at_node(const struct need *need, uint32_t node, uint32_t *ret_value)
{
    return misfit_at_node(need->format, need->parts.model, need->ranges, node, ret_value);
}

static const char *describe_misfit(struct need *need, uint32_t value, uint32_t node, enum misfit misfit)
{
    return misfit_describe(&need->parts, need->format, &need->ranges[value], value, node, misfit);
}

/* What a node makes, or gets from outside of the network. */
static bool is_first_to_have(const struct need *need, uint32_t node, uint32_t value)
{
    uint32_t producer = need->parts.model->values.items[value].producer;

    return producer == node || producer == NODE_NONE;
}

/* What in the reference does not fit worst, in the order of the network. */
static void tell_hints(struct need *need)
{
    struct investigation *investigation = need->parts.investigation;
    enum misfit worst = HAS_TINY;
    size_t told = 0;
    uint32_t value = VALUE_NONE;

    for (uint32_t i = 0; i < need->nodes.size; i++) {
        enum misfit misfit = look_at_node(need, i, &value);

        if (misfit > worst && is_first_to_have(need, i, value))
            worst = misfit;
    }
    for (uint32_t i = 0; worst > HAS_TINY && i < need->nodes.size; i++)
        if (look_at_node(need, i, &value) == worst && is_first_to_have(need, i, value) && told++ < HINTS_TOLD)
            log_message(investigation->log, LOG_INFO, "    In the reference %s",
                        describe_misfit(need, value, i, worst));
    if (told > HINTS_TOLD)
        log_message(investigation->log, LOG_INFO, "    and %zu more like that", told - HINTS_TOLD);
}

/* ---- Experiments ---- */

static int run_in_float(struct investigation *investigation, enum agreement *ret, struct error *err)
{
    struct experiment *experiment;
    struct call call;
    int rc;

    call_begin(&call, investigation, "float32",
               investigation_text(investigation, "In float32, %d runs", RUNS_OF_ONE_BUILD));
    call_add(&call, "run", investigation->settings->model, NULL);
    call_add_words(&call, investigation->settings->loading);
    call_add_words(&call, investigation->settings->suspect_in_float);
    call_add_inputs(&call, RUNS_OF_ONE_BUILD);
    call_add(&call, "--load-outputs", investigation->repeated_golden, NULL);
    call_add_words(&call, investigation->whole.tolerance);
    rc = call_judge(&call, &experiment, err);
    if (rc < 0)
        return rc;
    experiment->checks = RUNS_OF_ONE_BUILD;
    *ret = experiment->agreement;
    return 0;
}

static int search_layers(struct need *need, struct experiment **ret, struct error *err)
{
    struct investigation *investigation = need->parts.investigation;
    const struct failing_case *whole = &investigation->whole;
    const char *folder, *engine;
    struct call call;

    call_begin(&call, investigation, "precision", "The smallest set of layers that has to stay in float32");
    folder = call_folder(&call);
    engine = investigation_text(investigation, "%s/candidate.engine", folder);
    call.replay = investigation_text(investigation, "%s/replay.json", folder);
    call_add(&call, "debug", "precision", whole->model, "--mode", "minimal", "--load-inputs", whole->inputs,
             "--iter-artifact", engine, "--force", "--save-debug-replay", call.replay, "--hide-fail-output", NULL);
    if (need->format == &format_float16) /* the only one that the model is written in, with Casts */
        call_add(&call, "--output-onnx", investigation_path(investigation, "mixed.onnx"), NULL);
    call_add_words(&call, investigation->settings->loading);
    call_add_words(&call, investigation->settings->engine);
    if (investigation->occurrence != OCCURS_ALWAYS)
        call_add(&call, "--flaky", NULL);
    call_add(&call, "--check", "polygraphy", "run", engine, "--trt", "--load-inputs", whole->inputs, "--load-outputs",
             whole->golden, NULL);
    call_add_words(&call, whole->tolerance);
    return call_run(&call, ret, err);
}

static uint32_t find_node(const struct model *model, const char *name)
{
    for (uint32_t i = 0; i < model->nodes.count; i++)
        if (text_equal_string(model->nodes.items[i].name, name))
            return i;
    return NODE_NONE;
}

/* The text of an array's items. */
static void add_texts(struct call *ret, struct experiment *experiment, const json_t *array)
{
    const json_t *item;
    struct text word;
    size_t i;

    json_array_foreach (array, i, item)
        if (json_reader_text(&experiment->result, (json_t *)item, &word, NULL) == 0)
            call_add(ret, word.data, NULL);
}

/* Whether there is a set of layers. */
static bool take_layers(struct need *need, struct experiment *experiment)
{
    struct investigation *investigation = need->parts.investigation;
    const json_t *result = experiment->result.root, *layers = result_find(result, "layers"), *layer;
    struct call call;
    size_t i;

    if (experiment->exit_status != 0 || !experiment->has_result || !json_is_true(result_find(result, "found")) ||
        json_array_size(layers) == 0)
        return false;
    need->checks = result_count(experiment, result, "failed") + result_count(experiment, result, "passed");
    experiment->checks = experiment->builds = need->checks;
    need->lowered = result_count(experiment, result, "lowered");
    need->is_minimal = json_is_true(result_find(result, "minimal"));
    call_begin_words(&call, investigation);
    json_array_foreach (layers, i, layer)
        add_texts(&call, experiment, result_find(layer, "nodes"));
    need->names = call_keep(&call);
    for (i = 0; i < need->names.count; i++) {
        uint32_t node = find_node(need->parts.model, need->names.items[i]);

        if (node != NODE_NONE)
            bitset_add(&need->nodes, node);
    }
    call_begin_words(&call, investigation);
    add_texts(&call, experiment, result_find(result, "layer_precisions"));
    need->layers = call_keep(&call);
    experiment->outcome =
        investigation_text(investigation, "%zu of %lld layers", need->layers.count, (long long)need->lowered);
    return need->layers.count > 0;
}

/* The options that give the layers a precision. */
static struct words layer_options(struct need *need, const char *precision)
{
    struct investigation *investigation = need->parts.investigation;
    struct call call;

    call_begin_words(&call, investigation);
    call_add(&call, "--precision-constraints", "obey", "--layer-precisions", NULL);
    for (size_t i = 0; i < need->layers.count; i++) {
        const char *word = need->layers.items[i], *colon = strrchr(word, ':');
        int name = colon != NULL ? (int)(colon - word) : (int)strlen(word);

        call_add(&call, investigation_text(investigation, "%.*s:%s", name, word, precision), NULL);
    }
    return call_keep(&call);
}

/* Whether the layers may as well be in bfloat16: then it is not the digits that float16 lacks. */
static int try_bfloat16(struct need *need, bool *ret, struct error *err)
{
    struct investigation *investigation = need->parts.investigation;
    enum agreement agreement;
    struct experiment *experiment;
    struct call call;
    int rc;

    *ret = false;
    if (need->format != &format_float16)
        return 0;
    call_begin_comparison(&call, investigation, &investigation->whole, "bfloat16",
                          "These layers in bfloat16: float32's range, and fewer digits than float16");
    call_add_words(&call, investigation->settings->suspect);
    call_add(&call, "--bf16", NULL);
    call_add_words(&call, layer_options(need, "bfloat16"));
    rc = part_judge(&call, &experiment, &agreement, err);
    *ret = rc == 0 && agreement == AGREES;
    return rc;
}

/* ---- What is said ---- */

/* "'a' (Conv) and 'b' (Relu)"; by their names alone where one of them is inside of another node. */
static const char *describe_nodes(struct need *need)
{
    if (bitset_count(&need->nodes) == need->names.count)
        return parts_describe(&need->parts, &need->nodes);
    return investigation_list(need->parts.investigation, need->names, (struct words){0});
}

static const char *describe_rounding(struct need *need)
{
    struct investigation *investigation = need->parts.investigation;
    const char *precision = investigation->settings->precision;
    double error = investigation->largest_error;
    size_t count = need->layers.count;

    if ((double)count * LARGE_SHARE < (double)need->lowered)
        return investigation_text(investigation, "%zu of %lld layers need%s more digits than %s has: %s", count,
                                  (long long)need->lowered, count == 1 ? "s" : "", precision, describe_nodes(need));
    if (isfinite(error))
        return investigation_text(
            investigation,
            "ordinary rounding of %s: %zu of %lld layers would have to stay in float32, no single "
            "one is to blame, and the tolerance is too tight for it; --norm-tolerance %.2g would "
            "pass",
            precision, count, (long long)need->lowered, error * 1.1);
    return investigation_text(investigation, "%zu of %lld layers have to stay in float32, as %s is not enough for them",
                              count, (long long)need->lowered, precision);
}

/* What does not fit, and how much of that is left where the outputs agree all the same. */
static const char *describe_range(struct need *need)
{
    const char *ret = describe_misfit(need, need->value, need->node, need->misfit);
    size_t others = 0;
    uint32_t value = VALUE_NONE;

    for (uint32_t i = 0; need->misfit == IS_TOO_LARGE && i < need->nodes.size; i++)
        others += !bitset_has(&need->nodes, i) && look_at_node(need, i, &value) == IS_TOO_LARGE &&
                  is_first_to_have(need, i, value);
    if (others == 0)
        return ret;
    return investigation_text(
        need->parts.investigation,
        "%s. In other layers %zu tensors are too large as well, which the outputs do not show with "
        "these data",
        ret, others);
}

static void conclude(struct need *need, bool may_be_bfloat16)
{
    struct investigation *investigation = need->parts.investigation;
    struct cause *cause = &investigation->cause;
    size_t count = need->layers.count;
    const char *layers = investigation_text(investigation, "%zu layer%s", count, count == 1 ? "" : "s");

    cause_add_proof(investigation, "in float32 it passes, in all of %d runs", RUNS_OF_ONE_BUILD);
    cause_add_proof(investigation, "it passes with %s of %lld in float32%s (%lld builds)", layers,
                    (long long)need->lowered,
                    !need->is_minimal ? ""
                    : count == 1      ? ", and without it it fails"
                                      : ", and with any one of them less it fails",
                    (long long)need->checks);
    if (may_be_bfloat16)
        cause_add_proof(investigation,
                        "with them in bfloat16, which has fewer digits than float16 but the range of float32, it "
                        "passes, too: so the range is it");
    cause->kind = CAUSE_PRECISION;
    if (need->misfit == IS_TOO_LARGE)
        cause->kind = CAUSE_OVERFLOW;
    else if (may_be_bfloat16 && need->misfit != FITS)
        cause->kind = CAUSE_UNDERFLOW;
    cause->sentence = cause->kind != CAUSE_PRECISION ? describe_range(need) : describe_rounding(need);
    cause->nodes = need->names;
    cause->mend = (struct mend){.what = investigation_text(investigation, "%s in float32", layers),
                                .options = layer_options(need, "float32")};
}

/* ---- The smallest case ---- */

/* One node that fails alone, or these nodes with their neighbours. */
static int find_part(struct need *need, struct bitset *part, bool *ret_found, struct error *err)
{
    struct words tolerance = need->parts.investigation->part_tolerance;
    struct lone_run run;
    size_t tried = 0;
    int rc;

    *ret_found = false;
    for (size_t i = bitset_next(&need->nodes, 0); i < need->nodes.size && tried < NODES_ALONE && !*ret_found;
         i = bitset_next(&need->nodes, i + 1)) {
        uint32_t value;

        if (look_at_node(need, (uint32_t)i, &value) < need->misfit)
            continue;
        tried++;
        bitset_clear(part);
        bitset_add(part, i);
        rc = part_run_alone(&need->parts, part, tolerance, &run, err);
        if (rc < 0)
            return rc;
        *ret_found = run.agreement == DIFFERS;
    }
    if (*ret_found || bitset_count(&need->nodes) > NODES_GROWN)
        return 0;
    bitset_assign(part, &need->nodes);
    rc = part_grow(&need->parts, part, tolerance, &run, err);
    *ret_found = rc == 0 && run.agreement == DIFFERS;
    return rc;
}

/* The minimal case, which passes in float32. Without one nothing is lost. */
static int make_minimal(struct need *need, struct error *err)
{
    struct investigation *investigation = need->parts.investigation;
    struct experiment *experiment;
    enum agreement agreement = REFUSES;
    struct bitset part;
    struct call call;
    bool found;
    int rc;

    bitset_init(&part, need->nodes.size);
    rc = find_part(need, &part, &found, err);
    if (rc < 0 || !found)
        goto done;
    rc = part_make_minimal(&need->parts, &part, investigation->part_tolerance, err);
    if (rc < 0 || investigation->minimal.model == NULL)
        goto done;
    call_begin_comparison(&call, investigation, &investigation->minimal, "minimal-float32", "The same in float32");
    call_add_words(&call, investigation->settings->suspect_in_float);
    rc = part_judge(&call, &experiment, &agreement, err);
    if (rc == 0 && agreement == AGREES)
        cause_add_proof(investigation, "%s: alone wrong in %s, and right in float32",
                        parts_describe(&need->parts, &part), investigation->settings->precision);
    else
        investigation->minimal = (struct failing_case){0};
done:
    bitset_release(&part);
    return rc;
}

/* ---- The way ---- */

/* Whether values of the reference are beyond what the type of lower precision holds. */
static bool some_are_too_large(const struct need *need)
{
    for (uint32_t i = 0; i < need->parts.model->nodes.count; i++) {
        uint32_t value = VALUE_NONE;

        if (look_at_node(need, i, &value) == IS_TOO_LARGE)
            return true;
    }
    return false;
}

/* `if_too_large`: whether there are such values decides whether it is worth a search. */
static int ask(struct need *need, bool if_too_large, struct error *err)
{
    struct investigation *investigation = need->parts.investigation;
    struct experiment *experiment;
    bool may_be_bfloat16;
    int rc = ranges_read(investigation, need->parts.model, &need->ranges, err);

    if (rc < 0)
        return rc;
    tell_hints(need);
    if (if_too_large && !some_are_too_large(need))
        return 0;
    rc = search_layers(need, &experiment, err);
    if (rc < 0)
        return rc;
    if (!take_layers(need, experiment)) {
        experiment->outcome = experiment->complaint != NULL ? experiment->complaint : "there is no such set";
        log_message(investigation->log, LOG_INFO, "    %s", experiment->outcome);
        return 0;
    }
    for (size_t i = bitset_next(&need->nodes, 0); i < need->nodes.size; i = bitset_next(&need->nodes, i + 1)) {
        uint32_t value = VALUE_NONE;
        enum misfit misfit = look_at_node(need, (uint32_t)i, &value);

        if (misfit > need->misfit) {
            need->misfit = misfit;
            need->value = value;
            need->node = (uint32_t)i;
        }
    }
    rc = try_bfloat16(need, &may_be_bfloat16, err);
    if (rc < 0)
        return rc;
    conclude(need, may_be_bfloat16);
    return bitset_count(&need->nodes) > 0 ? make_minimal(need, err) : 0;
}

static int ask_precision(struct investigation *investigation, bool if_too_large, struct error *err)
{
    struct need need = {0};
    enum agreement agreement;
    int rc;

    investigation_begin_step(investigation, "Is it the lower precision?");
    rc = run_in_float(investigation, &agreement, err);
    if (rc < 0)
        return rc;
    if (agreement != AGREES) {
        log_message(investigation->log, LOG_INFO, "    It fails in float32 as well: the precision is not it");
        return 0;
    }
    if (strcmp(investigation->settings->precision, format_float16.name) == 0)
        need.format = &format_float16;
    else if (strcmp(investigation->settings->precision, format_bfloat16.name) == 0)
        need.format = &format_bfloat16;
    rc = parts_open(&need.parts, investigation, err);
    if (rc < 0)
        return rc;
    bitset_init(&need.nodes, need.parts.model->nodes.count);
    rc = ask(&need, if_too_large, err);
    bitset_release(&need.nodes);
    free(need.ranges);
    parts_close(&need.parts);
    return rc;
}

int accuracy_ask_precision(struct investigation *investigation, struct error *err)
{
    return ask_precision(investigation, false, err);
}

int accuracy_ask_range(struct investigation *investigation, struct error *err)
{
    return ask_precision(investigation, true, err);
}
