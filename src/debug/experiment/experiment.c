/* debug/experiment/experiment.c: see experiment.h. */
#include "debug/experiment/experiment.h"

#include <stdlib.h>

#include "base/memory.h"
#include "debug/belief/belief.h"

/* ---- Candidates ---- */

/* A set to check outside of a search, or a search that chooses one. */
struct experiment_request {
    struct experiment *experiment;
    const struct bitset *set;
    const struct experiment_search *search;
    const char *must_be_made; /* name of an end that has to pass; NULL: the candidate may be rejected */
};

struct item_set {
    struct experiment *experiment;
    struct bitset set;
};

static struct hash identity_of_set(const struct experiment *experiment, const struct bitset *set)
{
    const struct experiment_items *items = experiment->items;

    return items->identify != NULL ? items->identify(items->data, set)
                                   : hash_bytes(set->words, bitset_words(set) * sizeof(*set->words));
}

static int identify_set(void *data, const void *search, struct candidate_description *ret, struct error *err)
{
    const struct experiment_request *request = data;
    const struct experiment_search *searched = request->search;
    const struct experiment_items *items = request->experiment->items;
    struct item_set *content = memory_alloc(sizeof(*content));

    (void)err;
    content->experiment = request->experiment;
    bitset_init(&content->set, items->count);
    if (searched == NULL) {
        bitset_assign(&content->set, request->set);
    } else {
        searched->choose(items->data, search, &content->set);
        if (!ret->is_known)
            searched->announce(items->data, search, &content->set);
    }
    ret->has_identity = true;
    ret->identity = identity_of_set(request->experiment, &content->set);
    ret->expectation = items->expectation;
    ret->content = content;
    return 0;
}

/* Nothing is known of a candidate for which the GPU has too little memory. Ahead of its turn none has a verdict. */
static void judge_unmade_set(struct experiment *experiment, struct candidate_description *candidate,
                             const struct error *why)
{
    log_message(experiment->log, LOG_WARNING, "%s", why->message);
    log_message(experiment->log, LOG_WARNING, "Failed to create network or engine, continuing to the next iteration.");
    candidate->action = CANDIDATE_SKIP;
    candidate->skip_verdict = why->code == ERR_DEVICE_MEMORY || candidate->is_ahead
                                  ? VERDICT_SKIP
                                  : session_judge_unmade(experiment->session, why);
}

static int make_set(void *data, struct candidate_description *candidate, const struct candidate_paths *paths,
                    struct error *err)
{
    const struct item_set *content = candidate->content;
    const struct experiment_request *request = data;
    struct experiment *experiment = content->experiment;
    const struct experiment_items *items = experiment->items;
    int rc = 0;

    (void)paths;
    if (experiment->made != content) {
        experiment->made = NULL;
        rc = items->make(items->data, &content->set, err);
    }
    if (rc == 0)
        experiment->made = content;
    if (!items->fails_unmade || (rc != ERR_BACKEND && rc != ERR_UNSUPPORTED && rc != ERR_DEVICE_MEMORY))
        return rc;
    if (request->must_be_made != NULL)
        return error_context(err, "there is nothing to compare with, because no %s with %s could be made", items->kind,
                             request->must_be_made);
    judge_unmade_set(experiment, candidate, err);
    return 0;
}

static int save_set(void *data, struct candidate_description *candidate, const struct candidate_paths *paths,
                    struct error *err)
{
    const struct item_set *content = candidate->content;
    const struct experiment_items *items = content->experiment->items;

    (void)data;
    return items->save(items->data, paths->items[CANDIDATE_ARTIFACT], err);
}

static void release_set(void *data)
{
    struct item_set *content = data;

    if (content->experiment->made == content)
        content->experiment->made = NULL;
    bitset_release(&content->set);
    free(content);
}

static struct session_subject subject_of(struct experiment_request *request)
{
    const struct experiment_items *items = request->experiment->items;

    return (struct session_subject){.data = request,
                                    .kind = items->kind,
                                    .saving = items->saving,
                                    .identify = identify_set,
                                    .write = make_set,
                                    .save = save_set,
                                    .release = release_set};
}

/* ---- Checks ---- */

int experiment_check(struct experiment *experiment, const struct bitset *set, struct check_request request,
                     enum verdict *ret, struct error *err)
{
    struct experiment_request asked = {
        .experiment = experiment, .set = set, .must_be_made = request.role == ROLE_GOOD_END ? request.what : NULL};
    struct session_subject subject = subject_of(&asked);

    return session_check(experiment->session, &subject, request, ret, err);
}

int experiment_run(struct experiment *experiment, const struct experiment_search *search, struct error *err)
{
    struct experiment_request request = {.experiment = experiment, .search = search};
    struct session_subject subject = subject_of(&request);

    subject.ops = search->ops;
    subject.search = search->search;
    subject.suffix = search->suffix;
    return session_search(experiment->session, &subject, err);
}

int experiment_confirm(struct experiment *experiment, const struct bitset *set, const char *what, enum verdict expected,
                       struct error *err)
{
    struct experiment_request request = {.experiment = experiment, .set = set};
    struct session_subject subject = subject_of(&request);
    struct hash identity = identity_of_set(experiment, set);
    bool has_run = session_has_run(experiment->session, identity);
    enum verdict known;

    if (has_run && (!experiment->items->confirms_always || session_state(experiment->session).is_flaky))
        return 0;
    if (!experiment->items->confirms_always &&
        !(session_has_seen(experiment->session, identity, &known) && known == expected))
        return 0;
    return belief_confirm(experiment->session, &subject, what, expected, err);
}

/* ---- Ends ---- */

/* ERR_INVALID if the check is the reason for this verdict. */
static int question_verdict(const struct experiment *experiment, const char *how, enum verdict verdict,
                            struct error *err)
{
    struct debug_session *session = experiment->session;
    const char *kind = experiment->items->kind;
    enum verdict sight = VERDICT_PASS;
    int rc = 0;

    if (session_state(session).is_flaky || session_state(session).is_interactive ||
        session_state(session).evidence->runs == 0)
        return 0;
    if (verdict == VERDICT_SKIP)
        return belief_refuse_check(
            session, err, "the check is inconclusive for the %s %s, so the search cannot start. Last run", kind, how);
    rc = belief_check_nonsense(session, "_sight", kind, verdict, &sight, err);
    if (rc < 0 || sight == VERDICT_PASS)
        return rc;
    if (verdict == VERDICT_PASS)
        return belief_refuse_check(session, err,
                                   "the check passes on the %s %s, but also on a file that is not a valid %s, so it "
                                   "does not read its input. Last run",
                                   kind, how, kind);
    return belief_refuse_check(
        session, err,
        "the check fails on the %s %s, and %s a file that is not a valid %s, so it " BELIEF_MAY_IGNORE_INPUT
        ". Last run",
        kind, how, sight == VERDICT_SKIP ? "without output also on" : "with the same output on", kind);
}

int experiment_question_end(struct experiment *experiment, const struct experiment_end *end, enum verdict verdict,
                            struct error *err)
{
    SCOPED_STRING(what);
    int rc = question_verdict(experiment, end->how, verdict, err);

    if (rc < 0)
        return rc;
    string_add_format(&what, "the %s %s", experiment->items->kind, end->how);
    return experiment_confirm(experiment, end->set, what.data, verdict, err);
}

int experiment_look_back(struct experiment *experiment, const struct experiment_end *good,
                         const struct experiment_end *bad, struct error *err)
{
    struct debug_session *session = experiment->session;
    const struct experiment_end *end;
    SCOPED_STRING(key);
    SCOPED_STRING(what);
    enum verdict verdict;
    int rc;

    if (session_state(session).is_flaky || session_state(session).is_interactive ||
        session_state(session).same_verdicts == 0)
        return 0;
    end = session_state(session).last_verdict == VERDICT_PASS ? bad : good;
    string_add_format(&key, "%s_once_more", end->key);
    string_add_format(&what, "%s, re-checked", end->name);
    rc = experiment_check(experiment, end->set, (struct check_request){ROLE_CONTROL_REPETITION, key.data, what.data},
                          &verdict, err);
    if (rc == 0 && verdict != (end == bad ? VERDICT_FAIL : VERDICT_PASS))
        rc = belief_refuse_check(session, err, "the %s %s no longer %s when re-checked" BELIEF_NOT_REPRODUCIBLE,
                                 experiment->items->kind, end->how, end == bad ? "fails" : "passes");
    return rc;
}
