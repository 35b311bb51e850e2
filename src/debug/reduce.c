/* debug/reduce.c: see reduce.h. */
#include "debug/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/stopwatch.h"
#include "debug/candidate_files.h"
#include "debug/reduce_candidate.h"
#include "debug/reduce_minimal.h"
#include "onnx/model_save.h"
#include "onnx/model_text.h"

#define VERIFY_KEY "_verify" /* of the original model's verdict in the replay */

/* One phase: what is cut, where, and what was found. */
struct phase {
    struct subgraph base;
    uint32_t *nodes; /* of base, in order: what the search's indices stand for */
    struct index_search search;
    bool done;
};

struct reduce {
    const struct reduce_settings *settings;
    struct loop *loop;
    struct log *log;
    size_t original_nodes;
    struct candidate_maker maker;
    struct phase phases[2]; /* by enum index_direction */
    struct phase *phase;    /* the one that runs */

    struct subgraph candidate; /* the one that describe() made last */
    bool has_candidate;
    bool skipped;         /* it cannot be checked */
    struct subgraph bad;  /* the smallest that failed */
    struct subgraph good; /* minimal search: one that passed */
    bool has_good;
    bool is_minimal;                          /* so was `bad` seen to be, node by node */
    enum expectation expectation;             /* of what is checked apart */
    const struct external_settings *external; /* how write() saves; NULL: everything inside */
    struct external_settings results;         /* how the files that the user wants are saved */
    struct candidate_files files;
};

static void drop_candidate(struct reduce *reduce)
{
    if (reduce->has_candidate)
        subgraph_release(&reduce->candidate);
    reduce->has_candidate = false;
}

static void keep_as_bad(struct reduce *reduce, const struct subgraph *subgraph)
{
    struct subgraph copy;

    subgraph_init_copy(&copy, subgraph);
    subgraph_release(&reduce->bad);
    reduce->bad = copy;
}

/* ---- What the loop asks ---- */

static int describe_cut(void *data, int64_t index, bool quiet, struct loop_candidate *ret, struct error *err)
{
    struct reduce *reduce = data;
    struct phase *phase = reduce->phase;
    uint32_t not_a_tensor = VALUE_NONE;
    int rc;

    (void)index; /* the search knows where it stands */
    drop_candidate(reduce);
    rc = candidate_cut(&reduce->maker, &phase->base, phase->search.direction, phase->nodes[phase->search.next], quiet,
                       &reduce->candidate, err);
    if (rc < 0)
        return rc;
    reduce->has_candidate = true;
    /* Of candidates with a known verdict, too: what is known of the model must not depend on when a session was resumed. */
    rc = candidate_complete(&reduce->maker, &reduce->candidate, &not_a_tensor, err);
    if (rc < 0 && rc != ERR_BACKEND)
        return rc;
    if (rc < 0)
        log_once(reduce->log, LOG_WARNING, "%s\nThe model is not cut here.", err->message);
    reduce->skipped = rc < 0 || not_a_tensor != VALUE_NONE;
    *ret = (struct loop_candidate){.action = CANDIDATE_CHECK,
                                   .num_nodes = (int64_t)bitset_count(&reduce->candidate.nodes),
                                   .has_identity = true,
                                   .identity = subgraph_identity(&reduce->candidate)};
    if (reduce->skipped) {
        ret->action = CANDIDATE_SKIP;
        ret->skip_verdict = VERDICT_PASS;
    }
    if (not_a_tensor != VALUE_NONE && !quiet)
        log_message(reduce->log, LOG_WARNING,
                    "'" TEXT_FORMAT
                    "' is not a tensor, so it can be neither fed nor compared: the model is not cut here",
                    TEXT_ARGS(reduce->candidate.model->values.items[not_a_tensor].name));
    return 0;
}

static int write_candidate(void *data, const char *path, struct error *err)
{
    struct reduce *reduce = data;

    return candidate_write(&reduce->maker, &reduce->candidate, path, reduce->external, err);
}

static bool advance(void *data, int64_t index, int64_t num_nodes, enum verdict verdict)
{
    struct reduce *reduce = data;
    struct index_search *search = &reduce->phase->search;
    int64_t before = search->best_bad;
    int64_t tried = search->next;
    bool more = reduce->skipped || verdict == VERDICT_SKIP ? index_search_skip(search)
                                                           : index_search_advance(search, num_nodes, verdict);

    (void)index;
    if (verdict == VERDICT_FAIL && search->best_bad == tried && before != tried && reduce->has_candidate)
        keep_as_bad(reduce, &reduce->candidate);
    return more;
}

static int64_t remaining(void *data)
{
    struct reduce *reduce = data;

    return index_search_remaining(&reduce->phase->search);
}

/* A given model instead of a cut: the original, or the result. */
static int describe_bad(void *data, int64_t index, bool quiet, struct loop_candidate *ret, struct error *err)
{
    struct reduce *reduce = data;
    uint32_t not_a_tensor;

    (void)index, (void)quiet;
    drop_candidate(reduce);
    subgraph_init_copy(&reduce->candidate, &reduce->bad);
    reduce->has_candidate = true;
    /* With external data it is another file than without. */
    *ret = (struct loop_candidate){.action = CANDIDATE_CHECK,
                                   .num_nodes = (int64_t)bitset_count(&reduce->candidate.nodes),
                                   .has_identity = reduce->external == NULL,
                                   .identity = subgraph_identity(&reduce->candidate),
                                   .expectation = reduce->expectation};
    return candidate_complete(&reduce->maker, &reduce->candidate, &not_a_tensor, err);
}

/* ---- The phases ---- */

static int run_phase(struct reduce *reduce, enum index_direction direction, struct error *err)
{
    const char *what = direction == INDEX_FOR_OUTPUTS ? "outputs" : "inputs";
    struct phase *phase = &reduce->phases[direction];
    struct loop_subject subject = {.data = reduce,
                                   .suffix = what,
                                   .describe = describe_cut,
                                   .write = write_candidate,
                                   .advance = advance,
                                   .remaining = remaining};
    size_t count = 0;
    int rc = 0;

    log_message(reduce->log, LOG_START, "Reducing model %s", what);
    reduce->phase = phase;
    phase->done = true;
    subgraph_init_copy(&phase->base, &reduce->bad);
    phase->nodes = memory_alloc_zero(bitset_count(&phase->base.nodes) + 1, sizeof(*phase->nodes));
    for (size_t i = bitset_next(&phase->base.nodes, 0); i < phase->base.nodes.size;
         i = bitset_next(&phase->base.nodes, i + 1))
        phase->nodes[count++] = (uint32_t)i;
    index_search_start(&phase->search, reduce->settings->mode, direction, (int64_t)count);
    if (count > 0)
        rc = loop_run(reduce->loop, &subject, err);
    if (rc == 0)
        log_message(reduce->log, LOG_FINISH, "Finished reducing model %s", what);
    return rc;
}

/* Both phases at once, and more: see search/minimal_search.h. */
static int run_minimal(struct reduce *reduce, struct error *err)
{
    struct minimal_reduction reduction;
    int rc;

    minimal_reduction_init(&reduction, &reduce->maker, &reduce->bad, reduce->loop, reduce->log);
    rc = minimal_reduction_run(&reduction, err);
    if (rc == 0) {
        keep_as_bad(reduce, &reduction.bad);
        reduce->has_good = reduction.has_good;
        reduce->is_minimal = reduction.is_minimal;
        if (reduction.has_good)
            subgraph_init_copy(&reduce->good, &reduction.good);
    }
    minimal_reduction_release(&reduction);
    return rc;
}

/* By an unreliable check a failure was seen that may have been none. The minimal search has seen to that itself. */
static bool looks_again_in_the_end(const struct reduce *reduce)
{
    return loop_is_flaky(reduce->loop) && !reduce->settings->minimal && !reduce->results.save;
}

static int check_bad_apart(struct reduce *reduce, const char *key, const char *what, enum verdict *ret,
                           struct error *err)
{
    struct loop_subject subject = {.data = reduce, .describe = describe_bad, .write = write_candidate};

    reduce->expectation = strcmp(key, VERIFY_KEY) == 0     ? EXPECT_FAILURE
                          : looks_again_in_the_end(reduce) ? EXPECT_AGAIN
                                                           : EXPECT_NOTHING;
    return loop_check_apart(reduce->loop, &subject, key, what, ret, err);
}

/* ---- Results ---- */

static void log_summary(struct reduce *reduce, const char *title, const struct subgraph *subgraph)
{
    struct string_builder text;

    string_init(&text);
    subgraph_summary(&text, subgraph);
    log_message(reduce->log, LOG_INFO, "%s\n%s\n", title, text.data);
    string_release(&text);
}

static int save(struct reduce *reduce, struct subgraph *subgraph, const char *path, struct error *err)
{
    int rc = candidate_fill(&reduce->maker, subgraph, err);

    log_message(reduce->log, LOG_INFO, "Saving ONNX model to: %s", path);
    if (rc == 0)
        rc = model_save(subgraph, path, &reduce->results, reduce->settings->ignore_external_data, err);
    if (rc == 0)
        candidate_files_leave_for(&reduce->files, subgraph, path);
    return rc;
}

static void report_found(struct reduce *reduce, double started)
{
    struct model *model = reduce->maker.whole.model;
    size_t nodes = bitset_count(&reduce->bad.nodes);
    size_t first = bitset_next(&reduce->bad.nodes, 0);
    long long checks = (long long)(loop_passed(reduce->loop) + loop_failed(reduce->loop));

    loop_report_rates(reduce->loop, "The original model", "The result", subgraph_identity(&reduce->bad));
    if (nodes == 1)
        log_message(reduce->log, LOG_FINISH,
                    "Reduced %zu nodes to 1: '%s' (" TEXT_FORMAT "), %lld iterations in %.1f s", reduce->original_nodes,
                    model_node_label(model, (uint32_t)first), TEXT_ARGS(model->nodes.items[first].op_type), checks,
                    stopwatch_now() - started);
    else
        log_message(reduce->log, LOG_FINISH, "Reduced %zu nodes to %zu, %lld iterations in %.1f s",
                    reduce->original_nodes, nodes, checks, stopwatch_now() - started);
}

static int save_bad(struct reduce *reduce, struct error *err)
{
    size_t nodes = bitset_count(&reduce->bad.nodes);

    if (reduce->settings->output == NULL)
        return 0;
    if (!reduce->settings->minimal && reduce->settings->mode == INDEX_BISECT && nodes > 1 &&
        nodes * 4 >= reduce->original_nodes)
        log_message(reduce->log, LOG_WARNING,
                    "It looks like this model could potentially be reduced further. Try --mode=linear on the result.");
    log_summary(reduce, "Minimum Bad Model:", &reduce->bad);
    return save(reduce, &reduce->bad, reduce->settings->output, err);
}

/* Among the passing candidates of a phase, the closest in size to the result: the largest below it, else the smallest. Later
 * ones win over equally good earlier ones. Returns NULL when nothing passed. */
static const struct index_pass *closest_pass(const struct phase *phase, int64_t bad_nodes,
                                             const struct index_pass *best)
{
    for (size_t i = 0; phase->done && i < phase->search.passes.count; i++) {
        const struct index_pass *pass = &phase->search.passes.items[i];
        bool below = pass->nodes < bad_nodes;

        if (best == NULL || (below && (best->nodes >= bad_nodes || pass->nodes >= best->nodes)) ||
            (!below && best->nodes >= bad_nodes && pass->nodes <= best->nodes))
            best = pass;
    }
    return best;
}

/* Makes the passing candidate that is closest to the result again. False when nothing passed. */
static int find_good(struct reduce *reduce, bool *ret_found, struct subgraph *ret, struct error *err)
{
    int64_t bad_nodes = (int64_t)bitset_count(&reduce->bad.nodes);
    const struct phase *phase = &reduce->phases[INDEX_FOR_OUTPUTS];
    const struct index_pass *from_outputs = closest_pass(phase, bad_nodes, NULL);
    const struct index_pass *pass = closest_pass(&reduce->phases[INDEX_FOR_INPUTS], bad_nodes, from_outputs);

    *ret_found = reduce->has_good || pass != NULL;
    if (reduce->has_good)
        subgraph_init_copy(ret, &reduce->good);
    if (reduce->has_good || pass == NULL)
        return 0;
    if (pass != from_outputs)
        phase = &reduce->phases[INDEX_FOR_INPUTS];
    return candidate_cut(&reduce->maker, &phase->base, phase->search.direction, phase->nodes[pass->index], true, ret,
                         err);
}

static int save_good(struct reduce *reduce, struct error *err)
{
    struct subgraph good;
    uint32_t not_a_tensor;
    bool found;
    int rc;

    if (reduce->settings->min_good == NULL)
        return 0;
    rc = find_good(reduce, &found, &good, err);
    if (rc < 0)
        return rc;
    if (!found) {
        log_message(reduce->log, LOG_WARNING,
                    "Could not find a minimal model that passes: no candidate passed, so '%s' is not written",
                    reduce->settings->min_good);
        return 0;
    }
    rc = candidate_complete(&reduce->maker, &good, &not_a_tensor, err);
    if (rc == 0) {
        if (reduce->settings->output != NULL)
            reduce->results.file_name = NULL; /* that file has the weights of the other model */
        log_summary(reduce, "Minimum Good Model:", &good);
        rc = save(reduce, &good, reduce->settings->min_good, err);
    }
    subgraph_release(&good);
    return rc;
}

/* The result has to be a model that was seen to fail, in the form that it is written in. */
static int confirm_bad(struct reduce *reduce, bool *ret_fails, struct error *err)
{
    const struct external_settings external = {.save = true, .threshold = reduce->results.threshold};
    enum verdict verdict = VERDICT_PASS;
    bool seen = loop_has_seen(reduce->loop, subgraph_identity(&reduce->bad), &verdict) && verdict == VERDICT_FAIL;
    int rc = 0;

    if (reduce->settings->verify && !loop_is_interactive(reduce->loop) &&
        (!seen || reduce->results.save || looks_again_in_the_end(reduce))) {
        reduce->external = reduce->results.save ? &external : NULL;
        rc = check_bad_apart(reduce, "_final", "the result", &verdict, err);
        reduce->external = NULL;
        candidate_files_drop_own_data(&reduce->files);
    }
    if (rc == 0 && seen && verdict != VERDICT_FAIL && looks_again_in_the_end(reduce)) {
        seen = false;
        log_message(reduce->log, LOG_WARNING,
                    "The result does not fail when it is looked at again, so the search was led astray. --mode minimal "
                    "goes back to where it was right");
    } else if (rc == 0 && seen && verdict == VERDICT_PASS) {
        log_message(reduce->log, LOG_WARNING,
                    "The result fails the check, but not when its weights are external data: they stay inside");
        reduce->results.save = false;
    }
    *ret_fails = rc == 0 && (seen || verdict == VERDICT_FAIL);
    return rc;
}

static int search_and_save(struct reduce *reduce, struct reduce_result *ret, struct error *err)
{
    double started = stopwatch_now();
    enum verdict verdict;
    bool fails = false;
    int rc = 0;

    if (reduce->settings->verify && !loop_is_interactive(reduce->loop) &&
        !loop_went_without(reduce->loop, VERIFY_KEY)) {
        rc = check_bad_apart(reduce, VERIFY_KEY, "the original model", &verdict, err);
        if (rc < 0)
            return rc;
        if (verdict == VERDICT_SKIP)
            return error_set(err, ERR_INVALID,
                             "the check says nothing about the original model, so it cannot tell anything about its "
                             "parts");
        if (verdict == VERDICT_PASS) {
            log_message(
                reduce->log, LOG_WARNING,
                "The original model does not fail the check, so there is nothing to reduce. Try the check on its own, "
                "on the model that fails; --no-verify reduces all the same.");
            ret->outcome = REDUCE_DOES_NOT_FAIL;
            return 0;
        }
    }
    if (reduce->settings->minimal)
        rc = run_minimal(reduce, err);
    if (!reduce->settings->minimal && reduce->settings->reduce_outputs)
        rc = run_phase(reduce, INDEX_FOR_OUTPUTS, err);
    if (rc == 0 && !reduce->settings->minimal && reduce->settings->reduce_inputs)
        rc = run_phase(reduce, INDEX_FOR_INPUTS, err);
    if (rc == 0)
        rc = confirm_bad(reduce, &fails, err);
    if (rc < 0)
        return rc;
    if (fails) {
        ret->outcome = REDUCE_FOUND;
        ret->is_minimal = reduce->is_minimal;
        bitset_init_copy(&ret->nodes, &reduce->bad.nodes);
        rc = save_bad(reduce, err);
    } else {
        ret->outcome = REDUCE_NOTHING_FAILED;
        log_message(reduce->log, LOG_WARNING, "No model was seen to fail the check: no reduced model is written.");
    }
    if (rc == 0)
        rc = save_good(reduce, err);
    if (rc == 0 && fails)
        report_found(reduce, started);
    return rc;
}

/* ---- Around the search ---- */

static bool is_dynamic(const struct model *model, uint32_t value)
{
    struct value_type type;

    value_info_decode(model->values.items[value].info, &type);
    return type.not_a_tensor == NULL && (!type.has_shape || !shape_is_static(&type.shape));
}

static void warn_of_shapes(struct reduce *reduce)
{
    const struct model *model = reduce->maker.whole.model;

    for (size_t i = 0; i < model->inputs.count; i++)
        if (is_dynamic(model, model->inputs.items[i])) {
            log_message(
                reduce->log, LOG_WARNING,
                "This model uses dynamic input shapes. You may need to give shapes with --model-input-shapes, so that "
                "cuts through the model have shapes that can be fed.");
            break;
        }
    for (size_t i = 0; i < model->nodes.count; i++)
        if (text_equal_string(model->nodes.items[i].op_type, "Shape")) {
            log_message(
                reduce->log, LOG_WARNING,
                "This model includes shape operations. Fold them first if they get in the way: polygraphy surgeon "
                "sanitize --fold-constants");
            break;
        }
}

/* Candidates refer to the original external data, which therefore have to be in reach of them. */
static int provide_external_data(struct reduce *reduce, struct error *err)
{
    struct text_list locations = {0};
    int rc;

    if (!reduce->settings->ignore_external_data)
        return candidate_files_provide(&reduce->files, &reduce->maker.whole, err);
    rc = external_data_locations(&reduce->maker.whole, &locations, err);
    if (locations.count > 0) {
        reduce->maker.values_missing = true;
        log_message(
            reduce->log, LOG_WARNING,
            "Without its external data the model has no values to freeze tensors to: branches that are cut off stay, "
            "and are fed.");
    }
    free(locations.items);
    return rc;
}

int reduce_run(struct model *model, size_t original_nodes, const struct reduce_settings *settings, struct loop *loop,
               struct log *log, struct reduce_result *ret, struct error *err)
{
    struct reduce reduce = {.settings = settings,
                            .loop = loop,
                            .log = log,
                            .original_nodes = original_nodes,
                            .results = settings->external};
    int rc;

    if (model->nodes.count == 0)
        return error_set(err, ERR_INVALID, "%s: the model has no nodes, so there is nothing to reduce",
                         model->display_name);
    candidate_maker_init(&reduce.maker, model, settings, log);
    subgraph_init_copy(&reduce.bad, &reduce.maker.whole);
    rc = candidate_files_init(&reduce.files, settings->intermediate_artifact, settings->keep_intermediate,
                              loop_resumes(loop), err);
    if (rc == 0 && settings->force_fallback)
        rc = candidate_maker_force_shapes(&reduce.maker, err);
    if (rc == 0) {
        warn_of_shapes(&reduce);
        rc = provide_external_data(&reduce, err);
    }
    if (rc == 0)
        rc = candidate_data_reserve(&reduce.maker.data, loop_resumes(loop), err);
    if (rc == 0) {
        rc = search_and_save(&reduce, ret, err);
        candidate_data_remove(&reduce.maker.data, log);
    }
    candidate_files_release(&reduce.files);
    drop_candidate(&reduce);
    subgraph_release(&reduce.bad);
    if (reduce.has_good)
        subgraph_release(&reduce.good);
    for (size_t i = 0; i < ARRAY_LEN(reduce.phases); i++)
        if (reduce.phases[i].done) {
            subgraph_release(&reduce.phases[i].base);
            free(reduce.phases[i].nodes);
            index_search_release(&reduce.phases[i].search);
        }
    candidate_maker_release(&reduce.maker);
    return rc;
}
