/* debug/reduce/reduce.c: see reduce.h. */
#include "debug/reduce/reduce.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/system.h"
#include "debug/belief/belief.h"
#include "debug/cut/candidate.h"
#include "debug/cut/external.h"
#include "debug/reduce/control.h"
#include "debug/reduce/part.h"
#include "debug/reduce/searches.h"
#include "debug/reduce/steps.h"
#include "onnx/model/text.h"
#include "onnx/write/model.h"

/* Key of the original model's verdict in the replay. */
#define VERIFY_KEY "_verify"
#define VERIFY_AGAIN_KEY "_verify_again"
#define INLINED_KEY "_inlined"

/* Key of the control that tests whether the check reads candidates. */
#define SIGHT_KEY "_sight"

struct reduce {
    const struct reduce_settings *settings;
    size_t original_nodes;
    struct debug_session *session;
    struct log *log;
    struct candidate_maker maker;
    struct found_part found;
    bool is_minimal;                  /* the result is 1-minimal, which was tested */
    enum ruled_out ruled_out;         /* evidence that the check does not fail on everything */
    bool controlled;                  /* controls have run */
    struct external_settings results; /* how output files are saved */
    struct external_settings checked; /* the same for checks before, with other file names */
    struct candidate_files files;
    double started; /* start time of the current search */
};

/* ---- The searches ---- */

/* Whether to re-check the result: with --flaky a failure may have been accidental. The minimal search re-checks by
 * itself. */
static bool rechecks_result(const struct reduce *reduce)
{
    return session_state(reduce->session).is_flaky && reduce->settings->mode != REDUCE_MINIMAL && !reduce->results.save;
}

static struct given_part give_part(struct reduce *reduce, const struct subgraph *part)
{
    return (struct given_part){
        .maker = &reduce->maker, .session = reduce->session, .files = &reduce->files, .part = part};
}

/* Re-checks the original for the session. */
static int verify_again(void *data, struct error *err)
{
    struct reduce *reduce = data;
    struct given_part original = give_part(reduce, &reduce->maker.whole);
    enum verdict verdict = VERDICT_FAIL;
    int rc = given_part_check(
        &original, (struct check_request){ROLE_REPETITION, VERIFY_AGAIN_KEY, "the original model"}, &verdict, err);

    if (rc == 0 && verdict == VERDICT_PASS)
        log_message(reduce->log, LOG_WARNING,
                    "The original model no longer fails: the check is not reproducible. Use --flaky if the failure is "
                    "intermittent");
    return rc;
}

/* The subgraph in the form in which results are written. With --no-verify only the failure is checked, not the form
 * with external weights. */
static struct given_part give_as_written(struct reduce *reduce, const struct subgraph *part)
{
    struct given_part ret = give_part(reduce, part);

    reduce->checked = (struct external_settings){.save = true, .threshold = reduce->results.threshold};
    if (reduce->results.save && reduce->settings->verify)
        ret.external = &reduce->checked;
    return ret;
}

static int confirm_as_written(struct reduce *reduce, const struct subgraph *part, const char *what,
                              enum verdict expected, struct error *err)
{
    struct given_part given = give_as_written(reduce, part);

    return given_part_confirm(&given, what, expected, err);
}

/* ---- Results ---- */

static int save_subgraph(struct reduce *reduce, struct subgraph *subgraph, const char *path, struct error *err)
{
    int rc = candidate_fill(&reduce->maker, subgraph, err);
    struct known_types types;
    struct subgraph written;

    log_message(reduce->log, LOG_INFO, "Saving ONNX model to: %s", path);
    if (rc == 0) {
        written = candidate_assume(&reduce->maker, subgraph, &types);
        rc = model_save(&written, path, &reduce->results, reduce->settings->ignore_external_data, err);
        known_types_release(&types);
    }
    if (rc == 0)
        candidate_files_leave_for(&reduce->files, subgraph, path);
    return rc;
}

/* Nodes are named in results of up to this many. */
enum { MOST_NAMED = 5 };

static void report_found(struct reduce *reduce)
{
    const struct model *model = reduce->maker.whole.model;
    SCOPED_STRING(labels);
    size_t nodes = bitset_count(&reduce->found.bad.nodes);
    long long checks = (long long)(session_state(reduce->session).passed + session_state(reduce->session).failed);

    belief_report_rates(reduce->session, "The original model", "The result", subgraph_identity(&reduce->found.bad));
    for (size_t i = 0, at = 0; i < nodes && nodes <= MOST_NAMED; i++, at++) {
        at = bitset_next(&reduce->found.bad.nodes, at);
        string_add(&labels, i == 0 ? ": '" : ", '");
        model_add_node_label(model, (uint32_t)at, &labels);
        string_add_format(&labels, "' (" TEXT_FORMAT ")", TEXT_ARGS(model->nodes.items[at].op_type));
    }
    log_message(reduce->log, LOG_FINISH, "Reduced %zu nodes to %zu%s, %lld iterations in %.1f s",
                reduce->original_nodes, nodes, labels.data, checks, stopwatch_now() - reduce->started);
}

/* Path of the n-th result, malloc'd: reduced.onnx, reduced_2.onnx, and so on. A name that the user did not type is
 * skipped if the file exists, unless this session wrote it. */
static char *path_of_culprit(const struct reduce *reduce, const char *path, size_t number)
{
    const char *extension = file_extension(path);
    struct string_builder ret;

    string_init(&ret);
    if (number == 1) {
        string_add(&ret, path);
        return string_take(&ret);
    }
    do {
        string_clear(&ret);
        string_add_format(&ret, "%.*s_%zu%s", (int)(extension - path), path, number++, extension);
    } while (!session_state(reduce->session).resumes && file_exists(ret.data));
    return string_take(&ret);
}

static int save_bad(struct reduce *reduce, size_t number, struct error *err)
{
    size_t nodes = bitset_count(&reduce->found.bad.nodes);
    struct simplify_settings simplify = reduce->settings->simplify;
    struct simplified_model simpler;
    struct subgraph *bad = &reduce->found.bad;
    char *path SCOPED_FREE = NULL;
    int rc;

    if (reduce->settings->output == NULL)
        return 0;
    simplify.number = number;
    rc = simplify_run(&simplify, &reduce->maker, &reduce->found.bad, reduce->session, &simpler, err);
    if (rc < 0)
        return rc;
    if (simpler.bytes != NULL)
        bad = &simpler.whole;
    if (reduce->settings->mode == REDUCE_BISECT && nodes > 1 && nodes * 4 >= reduce->original_nodes)
        log_message(reduce->log, LOG_WARNING,
                    "It looks like this model could potentially be reduced further. Try --mode=linear on the result.");
    if (number > 1)
        reduce->results.file_name = NULL; /* the file of weights belongs to the first model */
    subgraph_log_summary(reduce->log, "Minimum Bad Model:", bad);
    path = path_of_culprit(reduce, reduce->settings->output, number);
    rc = save_subgraph(reduce, bad, path, err);
    if (rc == 0)
        session_log_check_of(reduce->session, path);
    simplified_model_release(&simpler);
    return rc;
}

static int save_good(struct reduce *reduce, struct error *err)
{
    uint32_t not_a_tensor;
    int rc;

    if (reduce->settings->min_good == NULL)
        return 0;
    if (!reduce->found.has_good) {
        log_message(reduce->log, LOG_WARNING,
                    "Could not find a minimal model that passes: no candidate passed, so '%s' is not written",
                    reduce->settings->min_good);
        return 0;
    }
    rc = candidate_complete(&reduce->maker, &reduce->found.good, &not_a_tensor, err);
    if (rc == 0)
        rc = confirm_as_written(reduce, &reduce->found.good, "the model of --min-good", VERDICT_PASS, err);
    reduce->controlled = true;
    if (rc < 0)
        return rc;
    if (reduce->settings->output != NULL)
        reduce->results.file_name = NULL; /* the file of weights belongs to the other model */
    subgraph_log_summary(reduce->log, "Minimum Good Model:", &reduce->found.good);
    return save_subgraph(reduce, &reduce->found.good, reduce->settings->min_good, err);
}

/* Confirms that the result fails in the form in which it is written. */
static int confirm_bad(struct reduce *reduce, size_t number, bool *ret_fails, struct error *err)
{
    char key[64] = "_final";
    struct given_part bad = give_as_written(reduce, &reduce->found.bad);
    enum check_role role = rechecks_result(reduce) ? ROLE_REPETITION : ROLE_CANDIDATE;
    enum verdict verdict = VERDICT_PASS;
    bool seen =
        session_has_seen(reduce->session, subgraph_identity(&reduce->found.bad), &verdict) && verdict == VERDICT_FAIL;
    int rc = 0;

    if (number > 1)
        snprintf(key, sizeof(key), "_final_%zu", number);
    if (reduce->settings->verify && !session_state(reduce->session).is_interactive &&
        (!seen || reduce->results.save || rechecks_result(reduce)))
        rc = given_part_check(&bad, (struct check_request){role, key, "the result"}, &verdict, err);
    if (rc < 0)
        return rc;
    if (seen && verdict != VERDICT_FAIL && rechecks_result(reduce)) {
        seen = false;
        log_message(reduce->log, LOG_WARNING,
                    "The result does not fail when re-checked: the failure is not reproducible and the result is "
                    "unreliable. --mode minimal returns to a set that still fails");
    } else if (seen && verdict == VERDICT_PASS) {
        log_message(
            reduce->log, LOG_WARNING,
            "The result fails the check, but not with its weights as external data: they stay inside the model");
        reduce->results.save = false;
    }
    *ret_fails = seen || verdict == VERDICT_FAIL;
    bad = give_as_written(reduce, &reduce->found.bad);
    return *ret_fails ? given_part_confirm_known(&bad, "the result", VERDICT_FAIL, err) : 0;
}

/* ---- Whether the check is to be believed ---- */

/* Re-checks a model with a known verdict. */
static int recheck_subgraph(struct reduce *reduce, const struct subgraph *subgraph, size_t number, const char *what,
                            enum verdict *ret, struct error *err)
{
    struct given_part given = give_part(reduce, subgraph);
    char key[64];

    snprintf(key, sizeof(key), "_once_more_%zu", number);
    reduce->controlled = true;
    return given_part_check(&given, (struct check_request){ROLE_CONTROL_REPETITION, key, what}, ret, err);
}

/* This many equal verdicts in a row at the end of a search may be due to a check that stopped working. */
#define SUSPICIOUS_VERDICTS 4

/* After failures only, a candidate that passed must still pass; after passes only, the result must still fail. */
static int look_back(struct reduce *reduce, size_t number, struct error *err)
{
    const struct session_state state = session_state(reduce->session);
    enum verdict verdict;
    int rc;

    if (state.same_verdicts < SUSPICIOUS_VERDICTS)
        return 0;
    if (state.last_verdict == VERDICT_FAIL && reduce->found.has_good) {
        rc =
            recheck_subgraph(reduce, &reduce->found.good, number, "a candidate that passed, re-checked", &verdict, err);
        if (rc == 0 && verdict == VERDICT_FAIL)
            return belief_refuse_check(reduce->session, err,
                                       "the check fails on a candidate that passed before" BELIEF_NOT_REPRODUCIBLE);
        return rc;
    }
    rc = recheck_subgraph(reduce, &reduce->found.bad, number, "the result, re-checked", &verdict, err);
    if (rc == 0 && verdict != VERDICT_FAIL)
        return belief_refuse_check(reduce->session, err,
                                   "the result no longer fails when re-checked" BELIEF_NOT_REPRODUCIBLE);
    return rc;
}

/* Whether all verdicts of the search were inconclusive. */
static bool was_inconclusive(const struct reduce *reduce)
{
    return bitset_equal(&reduce->found.bad.nodes, &reduce->maker.whole.nodes) &&
           session_state(reduce->session).skipped > 0 && !session_state(reduce->session).has_passed &&
           session_state(reduce->session).checks->other_failure == 0 && !session_state(reduce->session).is_flaky;
}

/* With --flaky the searches test reproducibility themselves. */
static int question_check(struct reduce *reduce, size_t number, struct error *err)
{
    enum control_outcome outcome;
    int rc = 0;

    if (session_state(reduce->session).is_interactive)
        return 0;
    if (was_inconclusive(reduce))
        return belief_refuse_check(
            reduce->session, err,
            "the check is inconclusive for every part of the model, so nothing can be reduced. Last run");
    if (session_state(reduce->session).has_passed) {
        if (reduce->ruled_out == RULED_OUT_BY_NOTHING)
            reduce->ruled_out = RULED_OUT_BY_CANDIDATE;
        if (reduce->settings->verify && !session_state(reduce->session).is_flaky &&
            !session_went_without(reduce->session, VERIFY_KEY))
            rc = look_back(reduce, number, err);
        return rc;
    }
    reduce->controlled = true;
    rc = reduce_control_run(&reduce->maker, &reduce->found.bad, reduce->session, reduce->log, &outcome, err);
    if (rc == 0 && outcome == CONTROL_PASSED)
        reduce->ruled_out = RULED_OUT_BY_CONTROL;
    else if (rc == 0)
        log_message(reduce->log, LOG_WARNING,
                    "No candidate passed, and no control model exists on which the check has to pass: it may fail on "
                    "every model");
    return rc;
}

/* With --no-remove-intermediate the remaining candidate is the result, not a control. */
static int leave_result(struct reduce *reduce, struct error *err)
{
    struct candidate_paths paths = {.items = {[CANDIDATE_ARTIFACT] = session_state(reduce->session).artifact}};
    int rc = candidate_fill(&reduce->maker, &reduce->found.bad, err);

    return rc == 0 && reduce->controlled ? candidate_write(&reduce->maker, &reduce->found.bad, &paths, NULL, NULL, err)
                                         : rc;
}

/* Logs what the minimal search has proven. */
static void certify_minimal(struct reduce *reduce)
{
    size_t nodes = bitset_count(&reduce->found.bad.nodes);

    if (!reduce->found.is_ended ||
        (reduce->ruled_out == RULED_OUT_BY_NOTHING && !session_state(reduce->session).is_interactive))
        return;
    reduce->is_minimal = reduce->found.untested == 0;
    if (nodes == 1)
        log_message(reduce->log, LOG_FINISH, "The model is 1-minimal: it is a single node");
    else if (reduce->found.untested > 0)
        log_message(reduce->log, LOG_WARNING,
                    "No single one of the %zu nodes can be removed, but %zu of them only because the check is "
                    "inconclusive without them",
                    nodes, reduce->found.untested);
    else
        log_message(reduce->log, LOG_FINISH,
                    "The model is 1-minimal: removing any single one of its %zu nodes makes the check pass", nodes);
}

/* Finds the smallest failing subgraph and saves it. */
static int find_culprit(struct reduce *reduce, struct reduce_result *ret, bool *ret_found, struct error *err)
{
    const struct reduce_settings *settings = reduce->settings;
    const struct cut_settings cuts = {settings->mode == REDUCE_LINEAR ? INDEX_LINEAR : INDEX_BISECT,
                                      settings->reduce_outputs, settings->reduce_inputs};
    size_t number = ret->count + 1;
    struct culprit *culprit;
    int rc;

    *ret_found = false;
    reduce->is_minimal = false;
    if (settings->mode == REDUCE_MINIMAL)
        rc = reduce_by_nodes(&reduce->maker, reduce->session, number, &reduce->found, err);
    else
        rc = reduce_by_cuts(&reduce->maker, &cuts, reduce->session, &reduce->found, err);
    if (rc < 0)
        return rc;
    rc = confirm_bad(reduce, number, ret_found, err);
    if (rc < 0 || !*ret_found)
        return rc;
    rc = question_check(reduce, number, err);
    if (rc < 0)
        return rc;
    if (settings->output != NULL)
        rc = confirm_as_written(reduce, &reduce->found.bad, "the result", VERDICT_FAIL, err);
    if (rc < 0)
        return rc;
    if (settings->keep_intermediate)
        rc = leave_result(reduce, err);
    if (rc < 0)
        return rc;
    if (settings->mode == REDUCE_MINIMAL)
        certify_minimal(reduce);
    culprit = VECTOR_APPEND(ret);
    culprit->is_minimal = reduce->is_minimal;
    bitset_init_copy(&culprit->nodes, &reduce->found.bad.nodes);
    return save_bad(reduce, number, err);
}

/* Checks the rest of the model without the results so far, whose outputs are fed. */
static int check_rest(struct reduce *reduce, const struct bitset *rest, size_t number, bool *ret_fails,
                      struct error *err)
{
    struct given_part given = give_part(reduce, &reduce->found.bad);
    char key[64], what[64];
    struct subgraph part;
    enum verdict verdict;
    int rc;

    *ret_fails = false;
    if (bitset_count(rest) == 0)
        return 0;
    rc = candidate_of_nodes(&reduce->maker, rest, &part, err);
    if (rc < 0)
        return rc;
    subgraph_release(&reduce->found.bad);
    reduce->found.bad = part;
    snprintf(key, sizeof(key), "_rest_%zu", number);
    snprintf(what, sizeof(what), "the rest of the model, without %s", number == 1 ? "it" : "them");
    rc = given_part_check(&given, (struct check_request){ROLE_CANDIDATE, key, what}, &verdict, err);
    *ret_fails = rc == 0 && verdict == VERDICT_FAIL;
    return rc;
}

static int find_more(struct reduce *reduce, struct reduce_result *ret, struct error *err)
{
    SCOPED_BITSET(rest);
    bool more = true;
    int rc = 0;

    bitset_init_copy(&rest, &reduce->maker.whole.nodes);
    while (more && !session_state(reduce->session).is_spent) {
        bitset_subtract(&rest, &ret->items[ret->count - 1].nodes);
        reduce->started = stopwatch_now();
        rc = check_rest(reduce, &rest, ret->count, &more, err);
        if (rc < 0)
            return rc;
        if (!more)
            break;
        rc = find_culprit(reduce, ret, &more, err);
        if (rc < 0)
            return rc;
        if (more)
            report_found(reduce);
    }
    log_message(reduce->log, LOG_FINISH, "Found %zu part(s) that fail independently of each other%s", ret->count,
                more ? "; there may be more" : "");
    return rc;
}

/* Handles an original that passes: a check that also passes on an invalid file has not read it. */
static int report_good_original(struct reduce *reduce, struct error *err)
{
    bool late = session_state(reduce->session).evidence->timed_out;
    enum verdict sight;
    int rc = belief_check_nonsense(reduce->session, SIGHT_KEY, "model", VERDICT_PASS, &sight, err);

    if (rc < 0)
        return rc;
    if (sight == VERDICT_FAIL)
        return belief_refuse_check(reduce->session, err,
                                   "the check passes on the original model, but also on a file that is not a valid "
                                   "model, so it does not read its input. Last run");
    log_message(reduce->log, LOG_WARNING,
                "The original model does not fail the check%s: nothing to reduce. Run the check by hand on the model "
                "that fails, or pass --no-verify to reduce anyway. For an intermittent failure use --flaky "
                "(`polygraphy debug repeat` counts how often it fails).",
                late ? " (a timeout does not count as a failure)" : "");
    return 0;
}

/* A timeout can be the failure to reduce, unless options define another one. */
static int question_hang(struct reduce *reduce, struct error *err)
{
    if (session_state(reduce->session).ignores_hangs)
        return belief_refuse_check(reduce->session, err,
                                   "the check of the original model timed out, which is not a failure by --fail-regex "
                                   "or --fail-code: pass a longer --check-timeout. Last run");
    log_message(reduce->log, LOG_WARNING,
                "The check of the original model timed out: candidates that time out count as failures. If the check "
                "is only slow, pass a longer --check-timeout");
    return 0;
}

static int verify_original(struct reduce *reduce, enum verdict *ret, struct error *err)
{
    struct given_part original = give_part(reduce, &reduce->found.bad);
    int rc;

    *ret = VERDICT_FAIL;
    if (!reduce->settings->verify || session_state(reduce->session).is_interactive ||
        session_went_without(reduce->session, VERIFY_KEY))
        return 0;
    rc = given_part_check(&original, (struct check_request){ROLE_BAD_END, VERIFY_KEY, "the original model"}, ret, err);
    if (rc < 0)
        return rc;
    session_verify_with(reduce->session, verify_again, reduce);
    if (*ret == VERDICT_PASS)
        rc = given_part_confirm_known(&original, "the original model", VERDICT_PASS, err);
    if (rc < 0)
        return rc;
    if (*ret == VERDICT_SKIP)
        return belief_refuse_check(
            reduce->session, err,
            "the check is inconclusive for the original model, so its parts cannot be judged. Last run");
    if (*ret == VERDICT_FAIL && session_state(reduce->session).evidence->timed_out)
        return question_hang(reduce, err);
    return *ret == VERDICT_PASS ? report_good_original(reduce, err) : 0;
}

void reduce_result_release(struct reduce_result *result)
{
    for (size_t i = 0; i < result->count; i++)
        bitset_release(&result->items[i].nodes);
    free(result->items);
}

/* ---- Bodies ---- */

/* The search starts with this model. */
static int begin_model(struct reduce *reduce, const struct model *model, struct error *err)
{
    candidate_maker_init(&reduce->maker, model, &reduce->settings->candidates, reduce->log);
    subgraph_init_copy(&reduce->found.bad, &reduce->maker.whole);
    return reduce->settings->force_fallback ? candidate_maker_force_shapes(&reduce->maker, err) : 0;
}

static int replace_model(struct reduce *reduce, const struct model *model, struct error *err)
{
    bool values_missing = reduce->maker.known.values_missing;
    int rc;

    subgraph_release(&reduce->found.bad);
    candidate_maker_release(&reduce->maker);
    rc = begin_model(reduce, model, err);
    reduce->maker.known.values_missing |= values_missing;
    return rc;
}

/* Searches in the model with inlined bodies, if that fails, too. Unverified models are not changed. */
static int try_inlined(struct reduce *reduce, bool *ret_is_inlined, struct error *err)
{
    const struct model *original = reduce->maker.whole.model, *inlined = reduce->settings->inlined;
    struct given_part given = give_part(reduce, &reduce->found.bad);
    enum verdict verdict;
    int rc;

    if (inlined == NULL || !reduce->settings->verify || session_state(reduce->session).is_interactive ||
        session_went_without(reduce->session, VERIFY_KEY))
        return 0;
    rc = replace_model(reduce, inlined, err);
    if (rc == 0)
        rc = given_part_check(&given,
                              (struct check_request){ROLE_CANDIDATE, INLINED_KEY, "the model with inlined bodies"},
                              &verdict, err);
    if (rc < 0)
        return rc;
    *ret_is_inlined = verdict == VERDICT_FAIL;
    if (*ret_is_inlined) {
        reduce->original_nodes = inlined->nodes.count;
        log_message(reduce->log, LOG_INFO,
                    "Bodies of If, Loop and Scan are inlined, as the input data run through them: %zu nodes instead of "
                    "%zu",
                    inlined->nodes.count, original->nodes.count);
        return 0;
    }
    log_message(reduce->log, LOG_WARNING,
                "With the bodies of If, Loop and Scan inlined the model does not fail: their nodes are searched as a "
                "whole. The failure depends on control flow, or on other data than those of --load-inputs");
    return replace_model(reduce, original, err);
}

/* ---- Around the search ---- */

static void warn_of_shapes(struct reduce *reduce)
{
    const struct model *model = reduce->maker.whole.model;

    for (size_t i = 0; i < model->inputs.count; i++)
        if (!subgraph_is_static(&reduce->maker.whole, model->inputs.items[i])) {
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

/* Makes the external data of the original accessible for candidates, which refer to it. */
static int provide_external_data(struct reduce *reduce, struct error *err)
{
    struct text_list locations SCOPED_ITEMS = {0};
    int rc;

    reduce->files.copy = reduce->settings->copy_weights;
    if (!reduce->settings->ignore_external_data) {
        rc = candidate_files_provide(&reduce->files, &reduce->maker.whole, err);
        for (size_t i = 0; rc == 0 && i < reduce->files.made.count; i++)
            session_watch(reduce->session, reduce->files.made.items[i]);
        return rc;
    }
    rc = external_data_locations(&reduce->maker.whole, &locations, err);
    if (locations.count > 0) {
        reduce->maker.known.values_missing = true;
        log_message(reduce->log, LOG_WARNING,
                    "Without its external data the model has no values to freeze tensors to: branches that are cut off "
                    "are kept, and their inputs are fed.");
    }
    return rc;
}

/* With steps: the search has the data of the first one that fails. */
static int choose_step(struct reduce *reduce, const struct model *model, size_t *ret, struct error *err)
{
    const struct step_checks checks = {model, &reduce->settings->candidates, reduce->settings->steps, reduce->session,
                                       reduce->log};
    int rc;

    if (checks.steps == NULL)
        return 0;
    rc = reduce_find_step(&checks, ret, err);
    return rc == 0 ? replace_model(reduce, model, err) : rc;
}

int reduce_run(const struct model *model, const struct reduce_settings *settings, struct debug_session *session,
               struct log *log, struct reduce_result *ret, struct error *err)
{
    struct reduce reduce = {.settings = settings,
                            .original_nodes = settings->original_nodes,
                            .session = session,
                            .log = log,
                            .results = settings->external};
    enum verdict original;
    bool found;
    int rc;

    ret->step = SIZE_MAX;
    if (model->nodes.count == 0)
        return error_set(err, ERR_INVALID, "%s: the model has no nodes, so there is nothing to reduce",
                         model->display_name);
    rc = begin_model(&reduce, model, err);
    if (rc < 0)
        goto done;
    rc = candidate_files_init(&reduce.files, session_state(session).artifact, settings->keep_intermediate,
                              session_state(session).takes_over, err);
    if (rc < 0)
        goto done;
    warn_of_shapes(&reduce);
    rc = provide_external_data(&reduce, err);
    if (rc < 0)
        goto done;
    reduce.started = stopwatch_now();
    rc = choose_step(&reduce, model, &ret->step, err);
    if (rc < 0)
        goto done;
    rc = verify_original(&reduce, &original, err);
    if (rc < 0)
        goto done;
    ret->outcome = original == VERDICT_PASS ? REDUCE_DOES_NOT_FAIL : REDUCE_NOTHING_FAILED;
    if (original == VERDICT_PASS)
        goto done;
    rc = try_inlined(&reduce, &ret->is_inlined, err);
    if (rc < 0)
        goto done;
    rc = find_culprit(&reduce, ret, &found, err);
    if (rc < 0)
        goto done;
    ret->ruled_out = reduce.ruled_out;
    if (found)
        ret->outcome = REDUCE_FOUND;
    else
        log_message(log, LOG_WARNING, "No model failed the check: no reduced model is written.");
    rc = save_good(&reduce, err);
    if (rc < 0)
        goto done;
    if (found && settings->min_good != NULL && settings->keep_intermediate)
        rc = leave_result(&reduce, err);
    if (rc < 0)
        goto done;
    ret->has_good = settings->min_good != NULL && reduce.found.has_good;
    if (!found)
        goto done;
    report_found(&reduce);
    if (settings->steps != NULL)
        reduce_report_step(ret->step, log);
    if (settings->all)
        rc = find_more(&reduce, ret, err);
done:
    candidate_files_release(&reduce.files);
    subgraph_release(&reduce.found.bad);
    if (reduce.found.has_good)
        subgraph_release(&reduce.found.good);
    candidate_maker_release(&reduce.maker);
    return rc;
}
