/* debug/session/trial.c: trial of one candidate: files, check, artifacts, verdict. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/text/number.h"
#include "debug/session/speculation.h"
#include "debug/session/state.h"

/* ---- Its files ---- */

static struct job_key key_of(const struct trial *trial, size_t run)
{
    struct job_key ret = {.index = trial->index, .run = run};

    if (trial->candidate.has_identity)
        ret.identity = trial->candidate.identity;
    return ret;
}

/* Counts a candidate of the subject that was written. */
static void note_written(struct debug_session *session, const struct session_subject *subject)
{
    const char *path = session->settings.check.files.items[CANDIDATE_ARTIFACT];

    if (subject->saving == NULL || path == NULL)
        return;
    session->history.written++;
    log_message(session->log, LOG_INFO, "%s %s", subject->saving, path);
}

/* Writes the candidate to the slot's paths, replacing existing files. */
static int write_again(struct debug_session *session, const struct session_subject *subject,
                       struct candidate_description *candidate, struct job_slot *slot, struct error *err)
{
    bool is_its_turn = !candidate->is_ahead && (slot->key.run == 0 || job_slots_jobs(session->slots) == 1);
    bool has_artifact = session->settings.check.files.items[CANDIDATE_ARTIFACT] != NULL && subject->write != NULL;
    struct candidate_paths paths = candidate_place_begin(&slot->place, has_artifact);
    int rc = has_artifact ? subject->write(subject->data, candidate, &paths, err) : 0;

    if (rc < 0)
        goto done;
    if (candidate->action == CANDIDATE_SKIP) { /* not written */
        candidate_place_remove(&slot->place, NULL);
        return 0;
    }
    if (is_its_turn)
        note_written(session, subject);
    if (has_artifact && subject->save != NULL)
        rc = subject->save(subject->data, candidate, &paths, err);
done:
    return candidate_place_end(&slot->place, slot->key.index, rc, err);
}

int session_write(struct debug_session *session, const struct session_subject *subject,
                  struct candidate_description *candidate, struct job_key key, struct job_slot **ret, struct error *err)
{
    struct job_slot *slot = job_slots_take(session->slots, key);
    int rc = write_again(session, subject, candidate, slot, err);

    if (rc < 0 || candidate->action == CANDIDATE_SKIP) {
        job_slot_drop(session->slots, slot);
        return rc;
    }
    slot->has_file = candidate->has_file;
    slot->file = candidate->file;
    *ret = slot;
    return 0;
}

/* Finds the slot of a candidate written ahead of its turn, or writes it. No slot without an error: nothing to check. */
static int open_slot(struct debug_session *session, struct trial *trial, struct error *err)
{
    const struct session_subject *subject = trial->subject;
    int rc = 0;

    log_indent(session->log, 1);
    trial->slot = job_slots_find(session->slots, key_of(trial, 0));
    if (trial->slot != NULL) {
        log_show_lines(session->log, &trial->slot->lines);
        session_look_up_again(session, trial->slot);
        note_written(session, subject);
    } else {
        rc = session_write(session, subject, &trial->candidate, key_of(trial, 0), &trial->slot, err);
        if (trial->slot != NULL)
            session_look_up(session, trial->slot);
    }
    log_indent(session->log, -1);
    trial->has_file =
        trial->subject->may_be_kept && trial->slot != NULL && trial->slot->has_file && trial->candidate.has_identity;
    if (trial->has_file) /* external data are part of the identity only */
        trial->file = hash_combine(trial->candidate.identity, trial->slot->file);
    return rc;
}

/* Prepares another run of the check, which may have removed its files. */
static int open_again(struct debug_session *session, struct trial *trial, size_t run, struct error *err)
{
    const struct session_subject *subject = trial->subject;
    int rc;

    if (job_slots_jobs(session->slots) > 1) {
        job_slot_drop(session->slots, trial->slot);
        trial->slot = job_slots_find(session->slots, key_of(trial, run));
        return trial->slot != NULL
                   ? 0
                   : session_write(session, subject, &trial->candidate, key_of(trial, run), &trial->slot, err);
    }
    trial->slot->key.run = run;
    if (candidate_place_is_whole(&trial->slot->place))
        return 0;
    log_indent(session->log, 1);
    rc = write_again(session, subject, &trial->candidate, trial->slot, err);
    log_indent(session->log, -1);
    return rc;
}

/* Sorts the artifacts. Files of the candidate among them are treated as moved. */
static int sort_artifacts(struct debug_session *session, const struct trial *trial, struct error *err)
{
    struct artifact_settings artifacts = session->settings.artifacts;
    int rc;

    artifacts.usual = session->settings.check.files;
    artifacts.actual = trial->slot->run.files;
    rc = artifacts_sort(&artifacts, trial->verdict, trial->key, session->log, err);
    if (artifacts.paths.count > 0)
        candidate_place_forget_moved(&trial->slot->place);
    return rc;
}

void trial_clean_up(struct debug_session *session, struct trial *trial)
{
    if (trial->slot != NULL)
        job_slot_keep_artifact(session->slots, trial->slot);
    job_slots_drop_until(session->slots, trial->index);
    session_release_candidate(trial->subject, &trial->candidate);
}

int session_identify(struct debug_session *session, const struct session_subject *subject, const void *search,
                     bool muted, struct candidate_description *ret, struct error *err)
{
    bool before = session->log != NULL && session->log->muted;
    int rc;

    *ret = (struct candidate_description){.num_nodes = -1, .is_known = ret->is_known};
    if (session->log != NULL)
        session->log->muted = before || muted;
    rc = subject->identify(subject->data, search, ret, err);
    if (session->log != NULL)
        session->log->muted = before;
    return rc;
}

void session_release_candidate(const struct session_subject *subject, struct candidate_description *candidate)
{
    if (candidate->content != NULL && subject->release != NULL)
        subject->release(candidate->content);
    candidate->content = NULL;
}

/* ---- Its check ---- */

/* An intermittent check runs several times on a candidate: starts the next runs if there is room. */
static void run_ahead(struct debug_session *session, struct trial *trial, size_t run)
{
    struct error ignored; /* reported in this run's turn */

    if (!session->repeated.enabled || !trial->candidate.has_identity || !judge_knows_time_limit(session->judge))
        return;
    for (size_t i = run + 1; i < run + job_slots_jobs(session->slots) && job_slots_have_room(session->slots); i++) {
        struct job_slot *slot = job_slots_find(session->slots, key_of(trial, i));

        if (slot != NULL)
            continue;
        if (session_write(session, trial->subject, &trial->candidate, key_of(trial, i), &slot, &ignored) < 0 ||
            slot == NULL || job_slot_launch(session->slots, slot, &ignored) < 0)
            return;
    }
}

static int run_once(struct debug_session *session, struct trial *trial, size_t run, enum verdict *ret,
                    struct error *err)
{
    struct job_slots *slots = session->slots;
    struct job_slot *slot;
    int rc = run > 0 ? open_again(session, trial, run, err) : 0;

    if (rc < 0)
        return rc;
    if (check_is_interactive(session->check))
        return check_ask(session->check, session->settings.check.files.items[CANDIDATE_ARTIFACT], ret, err);
    slot = trial->slot;
    check_announce(session->check, &slot->run);
    /* If running ahead failed, the reason may be gone by now. */
    if (slot->state == SLOT_WRITTEN || job_slots_jobs(slots) == 1 ||
        (slot->state == SLOT_LAUNCHED && job_slot_has_ended(slots, slot) && slot->rc < 0))
        rc = job_slot_launch(slots, slot, err);
    if (rc < 0)
        return rc;
    run_ahead(session, trial, run);
    while (!job_slot_has_ended(slots, slot)) {
        if (session->speculation != NULL && judge_knows_time_limit(session->judge))
            speculation_fill(session->speculation, slot);
        if (!job_slot_has_ended(slots, slot))
            job_slots_sleep(slots);
    }
    if (slot->rc < 0) {
        *err = slot->err;
        return slot->rc;
    }
    session->history.check_seconds += slot->result.seconds;
    rc = session_refuse_changes(session, slot, err);
    return rc == 0 ? judge_run(session->judge, &slot->result, ret, err) : rc;
}

static int run_repeatedly(struct debug_session *session, struct trial *trial, struct error *err)
{
    struct repeated_runs runs = repeated_runs_begin(&session->repeated, trial->candidate.expectation);

    for (size_t run = 0; repeated_runs_want_more(&runs); run++) {
        enum verdict verdict;
        int rc = interrupt_pending() ? error_set(err, ERR_INTERRUPTED, "interrupted")
                                     : run_once(session, trial, run, &verdict, err);

        if (rc < 0)
            return rc;
        repeated_runs_add(&session->repeated, &runs, verdict);
    }
    trial->verdict = repeated_runs_end(&session->repeated, &runs);
    trial->counts = runs.counts;
    return 0;
}

static void show_progress(const struct debug_session *session, const struct session_subject *subject)
{
    const struct history *history = &session->history;
    struct session_progress progress = {
        .done = history->checks,
        .expected =
            subject->ops != NULL && subject->ops->remaining != NULL ? subject->ops->remaining(subject->search) : -1,
        .nodes_now = history->nodes_now,
        .nodes_whole = history->nodes_whole,
        .running = (int)job_slots_jobs(session->slots),
        .seconds_per_check = history->checks > 0 ? history->check_seconds / (double)history->checks : 0,
    };

    if (session->settings.progress)
        session->settings.progress(session->settings.progress_data, &progress);
}

/* Whether a verdict of another session is accepted. Verdicts that others are compared with must be new, to test that
 * the check still works. */
static bool may_be_known(enum expectation expectation)
{
    return expectation != EXPECT_AGAIN && expectation != EXPECT_FAILURE && expectation != EXPECT_PASS;
}

int trial_check(struct debug_session *session, struct trial *trial, struct error *err)
{
    struct saved_verdict presumed = {trial->index, trial->num_nodes, trial->verdict, trial->counts};
    struct hash question;
    bool keeps;
    int rc = open_slot(session, trial, err);

    if (rc < 0 || trial->slot == NULL)
        return rc;
    keeps = trial->slot->has_content;
    question = trial->slot->question;
    if (trial->slot->cached.found && may_be_known(trial->candidate.expectation)) {
        session_use_cached(session, trial);
        return trial->index >= 0 ? sort_artifacts(session, trial, err) : 0;
    }
    if (!trial->anew)
        rc = session_replay_save_as_failed(&session->replay, trial->key, &presumed, err);
    if (rc < 0)
        return rc;
    show_progress(session, trial->subject);
    rc = session->repeated.enabled ? run_repeatedly(session, trial, err)
                                   : run_once(session, trial, 0, &trial->verdict, err);
    session->history.checks += trial_is_control(trial) ? 0 : 1;
    if (rc < 0)
        return rc;
    if (keeps)
        session_keep_in_cache(session, trial, question);
    if (trial->has_file && trial->verdict != VERDICT_SKIP)
        seen_candidates_add(&session->history.files, trial->file,
                            (struct seen_candidate){.verdict = trial->verdict, .what = trial->what}, true);
    return trial->index >= 0 ? sort_artifacts(session, trial, err) : 0;
}

/* ---- What is known of it ---- */

/* The verdict on an identical candidate; NULL: none. */
static const struct seen_candidate *find_seen(const struct debug_session *session,
                                              const struct candidate_description *candidate)
{
    return candidate->has_identity && candidate->expectation != EXPECT_AGAIN
               ? seen_candidates_find(&session->history.candidates, candidate->identity)
               : NULL;
}

char *session_replay_key(int64_t index, const char *suffix)
{
    struct string_builder key;

    string_init(&key);
    string_add_format(&key, "_N%" PRId64, index);
    if (suffix)
        string_add_format(&key, "_%s", suffix);
    return string_take(&key);
}

bool session_find_known(const struct debug_session *session, const struct session_subject *subject, int64_t index,
                        const struct candidate_description *candidate, struct saved_verdict *ret)
{
    const struct seen_candidate *seen = find_seen(session, candidate);
    char *key SCOPED_FREE = session_replay_key(index, subject->suffix);
    bool is_known = session_replay_find(&session->replay, key, ret);

    if (!is_known && seen != NULL)
        *ret = (struct saved_verdict){.nodes = -1, .verdict = seen->verdict};
    return is_known || seen != NULL;
}

enum verdict session_verdict_to_tell(const struct candidate_description *candidate, enum verdict verdict)
{
    return candidate->action == CANDIDATE_SKIP && candidate->skip_verdict == VERDICT_PASS ? VERDICT_SKIP : verdict;
}

int trial_recall(struct debug_session *session, struct trial *trial, bool *ret_known, struct error *err)
{
    const struct session_subject *subject = trial->subject;
    bool muted = session->log != NULL && session->log->muted;
    const struct seen_candidate *seen;
    int rc;

    *ret_known = false;
    if (session->log != NULL)
        session->log->muted = true;
    rc = session_identify(session, subject, subject->search, true, &trial->candidate, err);
    if (rc < 0 || trial->candidate.action != CANDIDATE_CHECK)
        goto done;
    rc = open_slot(session, trial, err);
    if (rc < 0 || !trial->has_file)
        goto done;
    seen = seen_candidates_find(&session->history.files, trial->file);
    *ret_known = seen != NULL;
    trial->verdict = seen != NULL ? seen->verdict : trial->verdict;
done:
    if (session->log != NULL)
        session->log->muted = muted;
    trial_clean_up(session, trial);
    trial->slot = NULL;
    return rc;
}

/* ---- All of it ---- */

bool trial_is_control(const struct trial *trial)
{
    return trial->role == ROLE_CONTROL || trial->role == ROLE_CONTROL_REPETITION;
}

static enum expectation expectation_of(const struct trial *trial)
{
    if (trial->anew || trial->role == ROLE_REPETITION || trial->role == ROLE_CONTROL_REPETITION)
        return EXPECT_AGAIN;
    if (trial->role == ROLE_GOOD_END)
        return EXPECT_PASS;
    return trial->role == ROLE_BAD_END ? EXPECT_FAILURE : trial->candidate.expectation;
}

void trial_log_end(struct log *log, enum verdict verdict, enum checked what_it_was, const char *what, double seconds)
{
    static const char *const words[] = {
        [VERDICT_PASS] = "PASSED", [VERDICT_FAIL] = "FAILED", [VERDICT_SKIP] = "SKIPPED"};
    static const enum log_level levels[][3] = {
        [CHECKED_CANDIDATE] = {[VERDICT_PASS] = LOG_FINISH, [VERDICT_FAIL] = LOG_ERROR, [VERDICT_SKIP] = LOG_WARNING},
        [CHECKED_APART] = {[VERDICT_PASS] = LOG_FINISH, [VERDICT_FAIL] = LOG_FINISH, [VERDICT_SKIP] = LOG_WARNING},
        [CHECKED_CONTROL] = {[VERDICT_PASS] = LOG_INFO, [VERDICT_FAIL] = LOG_INFO, [VERDICT_SKIP] = LOG_INFO},
    };
    char number[NUMBER_TEXT_SIZE];

    /* Polygraphy logs all digits, for candidates of the search only. */
    log_message(log, levels[what_it_was][verdict], "%s | %s | Duration %ss", words[verdict], what,
                what_it_was == CHECKED_CANDIDATE ? number_to_text(seconds, number)
                                                 : number_to_text_short(seconds, number));
}

/* Reuses the verdict on an identical candidate. */
static void reuse_verdict(struct debug_session *session, struct trial *trial, const struct seen_candidate *seen)
{
    const char *phase = trial->subject->suffix;

    if (seen->phase && (!phase || strcmp(seen->phase, phase) != 0))
        log_message(session->log, LOG_INFO, "Identical to %s of the %s: its verdict is reused", seen->what,
                    seen->phase);
    else
        log_message(session->log, LOG_INFO, "Identical to %s: its verdict is reused", seen->what);
    trial->verdict = seen->verdict;
    trial->source = seen->source;
}

static void remember_verdict(struct debug_session *session, const struct trial *trial)
{
    const struct candidate_description *candidate = &trial->candidate;
    struct seen_candidate seen = {trial->verdict, trial->source, trial->what,
                                  trial->index >= 0 ? trial->subject->suffix : NULL, trial->counts};

    if (candidate->action == CANDIDATE_CHECK && trial->verdict != VERDICT_SKIP && !trial->anew &&
        find_seen(session, candidate) == NULL)
        history_count(&session->history, trial->verdict);
    if (trial->verdict == VERDICT_FAIL)
        history_note_nodes(&session->history, trial->num_nodes);
    if (session->repeated.enabled)
        repeated_check_learn(&session->repeated, candidate->expectation, trial->counts, trial->verdict);
    if (candidate->has_identity && candidate->action == CANDIDATE_CHECK)
        seen_candidates_add(&session->history.candidates, candidate->identity, seen,
                            candidate->expectation == EXPECT_AGAIN);
}

static void report_judged(const struct debug_session *session, const struct trial *trial)
{
    bool was_run = trial->slot != NULL && trial->source == VERDICT_OF_CHECK && !check_is_interactive(session->check) &&
                   job_slot_has_ended(session->slots, trial->slot) && trial->slot->rc == 0;
    const struct judged_candidate candidate = {.iteration = trial->index,
                                               .what = trial->what,
                                               .nodes = trial->num_nodes,
                                               .verdict = trial->verdict,
                                               .result = was_run ? &trial->slot->result : NULL};

    if (session->settings.judged != NULL && !trial_is_control(trial))
        session->settings.judged(session->settings.judged_data, &candidate);
}

/* Saves the verdict and the failure that is searched for. */
static int save_verdict(struct debug_session *session, const struct trial *trial, struct error *err)
{
    struct saved_verdict saved = {trial->index, trial->num_nodes, trial->verdict, trial->counts};
    struct debug_replay *replay = &session->replay.replay;

    if (trial->anew)
        return 0;
    replay->has_failure_code = session->judge->has_failure;
    if (replay->has_failure_code)
        replay->failure_code = session->judge->failure_code;
    snprintf(replay->failure_reason, sizeof(replay->failure_reason), "%s", session->judge->failure_reason);
    return session_replay_save(&session->replay, trial->key, &saved, err);
}

/* If writing finds nothing to check, the verdict needs no further tests. */
static int check_and_question(struct debug_session *session, struct trial *trial, struct error *err)
{
    int rc = trial_check(session, trial, err);

    if (rc < 0 || trial->candidate.action == CANDIDATE_SKIP)
        return rc;
    rc = session_suspect_check(session, trial, err);
    return rc == 0 ? session_question_likeness(session, trial, err) : rc;
}

int trial_judge(struct debug_session *session, struct trial *trial, struct error *err)
{
    const struct session_subject *subject = trial->subject;
    struct candidate_description *candidate = &trial->candidate;
    const struct seen_candidate *seen;
    struct saved_verdict known;
    bool is_known = !trial->anew && session_replay_find(&session->replay, trial->key, &known);
    int rc;

    if (interrupt_pending())
        return error_set(err, ERR_INTERRUPTED, "interrupted");
    candidate->is_known = is_known;
    log_indent(session->log, 1);
    rc = session_identify(session, subject, subject->search, false, candidate, err);
    log_indent(session->log, -1);
    if (rc < 0)
        return rc;
    if (trial->anew) { /* an earlier verdict is not sufficient */
        seen = candidate->has_identity ? seen_candidates_find(&session->history.candidates, candidate->identity) : NULL;
        trial->earlier = seen != NULL ? seen->source : VERDICT_OF_CHECK;
    }
    candidate->expectation = expectation_of(trial);
    seen = find_seen(session, candidate);
    trial->num_nodes = candidate->num_nodes;
    if (is_known) {
        log_message(session->log, LOG_INFO, "Loading iteration information from debug replay: success=%s",
                    known.verdict == VERDICT_FAIL ? "False" : "True");
        trial->verdict = known.verdict;
        trial->source = VERDICT_OF_REPLAY;
        trial->num_nodes = known.nodes >= 0 ? known.nodes : trial->num_nodes;
        trial->counts = known.counts;
        goto done;
    }
    if (candidate->action == CANDIDATE_CHECK && seen != NULL)
        reuse_verdict(session, trial, seen);
    else if (candidate->action == CANDIDATE_CHECK)
        rc = check_and_question(session, trial, err);
    if (rc == 0 && candidate->action == CANDIDATE_SKIP) {
        trial->verdict = candidate->skip_verdict;
        if (trial->index >= 0)
            rc = artifacts_sort_leftovers(&session->settings.artifacts, trial->verdict, trial->key, session->log, err);
    }
    if (rc < 0)
        return rc;
    rc = save_verdict(session, trial, err);
    if (rc < 0)
        return rc;
done:
    remember_verdict(session, trial);
    report_judged(session, trial);
    return 0;
}
