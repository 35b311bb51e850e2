/* debug/loop/trial.c: one candidate on its way to a verdict: files, check, artifacts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/text/number.h"
#include "debug/loop/speculation.h"
#include "debug/loop/state.h"

/* ---- Its files ---- */

static struct job_key key_of(const struct trial *trial, size_t run)
{
    struct job_key ret = {.index = trial->index, .run = run};

    if (trial->candidate.has_identity)
        ret.identity = trial->candidate.identity;
    return ret;
}

/* A candidate of the subject is there to be checked. */
static void note_written(struct loop *loop, const struct loop_subject *subject)
{
    const char *path = loop->settings.check.files.items[CANDIDATE_ARTIFACT];

    if (subject->saving == NULL || path == NULL)
        return;
    loop->history.written++;
    log_message(loop->log, LOG_INFO, "%s %s", subject->saving, path);
}

/* Writes it to the place of a slot, in place of what is there. */
static int write_again(struct loop *loop, const struct loop_subject *subject, struct loop_candidate *candidate,
                       struct job_slot *slot, struct error *err)
{
    bool is_its_turn = !candidate->is_ahead && (slot->key.run == 0 || job_slots_jobs(loop->slots) == 1);
    bool has_artifact = loop->settings.check.files.items[CANDIDATE_ARTIFACT] != NULL && subject->write != NULL;
    struct candidate_paths paths = candidate_place_begin(&slot->place, has_artifact);
    int rc = has_artifact ? subject->write(subject->data, candidate, &paths, err) : 0;

    if (rc < 0)
        goto done;
    if (candidate->action == CANDIDATE_SKIP) { /* nothing was written */
        candidate_place_remove(&slot->place, NULL);
        return 0;
    }
    if (is_its_turn)
        note_written(loop, subject);
    if (has_artifact && subject->save != NULL)
        rc = subject->save(subject->data, candidate, &paths, err);
done:
    return candidate_place_end(&slot->place, slot->key.index, rc, err);
}

int loop_write(struct loop *loop, const struct loop_subject *subject, struct loop_candidate *candidate,
               struct job_key key, struct job_slot **ret, struct error *err)
{
    struct job_slot *slot = job_slots_take(loop->slots, key);
    int rc = write_again(loop, subject, candidate, slot, err);

    if (rc < 0 || candidate->action == CANDIDATE_SKIP)
        job_slot_drop(loop->slots, slot);
    else
        *ret = slot;
    return rc;
}

/* Finds the slot that it was written to ahead of its turn, or writes it. Without a slot, but no error, there is nothing
 * to check. */
static int open_slot(struct loop *loop, struct trial *trial, struct error *err)
{
    const struct loop_subject *subject = trial->subject;
    int rc = 0;

    log_indent(loop->log, 1);
    trial->slot = job_slots_find(loop->slots, key_of(trial, 0));
    if (trial->slot != NULL) {
        log_show_lines(loop->log, &trial->slot->lines);
        loop_look_up_again(loop, trial->slot);
        note_written(loop, subject);
    } else {
        rc = loop_write(loop, subject, &trial->candidate, key_of(trial, 0), &trial->slot, err);
        if (trial->slot != NULL)
            loop_look_up(loop, subject, trial->slot);
    }
    log_indent(loop->log, -1);
    trial->has_file = trial->slot != NULL && trial->slot->has_file && trial->candidate.has_identity;
    if (trial->has_file)
        trial->file = hash_combine(trial->candidate.identity, trial->slot->file);
    return rc;
}

/* The check is run once more. It may have taken its files away. */
static int open_again(struct loop *loop, struct trial *trial, size_t run, struct error *err)
{
    const struct loop_subject *subject = trial->subject;
    int rc;

    if (job_slots_jobs(loop->slots) > 1) {
        job_slot_drop(loop->slots, trial->slot);
        trial->slot = job_slots_find(loop->slots, key_of(trial, run));
        return trial->slot != NULL
                   ? 0
                   : loop_write(loop, subject, &trial->candidate, key_of(trial, run), &trial->slot, err);
    }
    trial->slot->key.run = run;
    if (candidate_place_is_whole(&trial->slot->place))
        return 0;
    log_indent(loop->log, 1);
    rc = write_again(loop, subject, &trial->candidate, trial->slot, err);
    log_indent(loop->log, -1);
    return rc;
}

/* Sorts the artifacts. A file of the candidate that was among them has found its place. */
static int sort_artifacts(struct loop *loop, const struct trial *trial, struct error *err)
{
    struct artifact_settings artifacts = loop->settings.artifacts;
    int rc;

    artifacts.usual = loop->settings.check.files;
    artifacts.actual = trial->slot->run.files;
    rc = artifacts_sort(&artifacts, trial->verdict, trial->key, loop->log, err);
    if (artifacts.paths.count > 0)
        candidate_place_forget_moved(&trial->slot->place);
    return rc;
}

void trial_clean_up(struct loop *loop, struct trial *trial)
{
    if (trial->slot != NULL)
        job_slot_keep_artifact(loop->slots, trial->slot);
    job_slots_drop_until(loop->slots, trial->index);
    loop_release_candidate(trial->subject, &trial->candidate);
}

int loop_identify(struct loop *loop, const struct loop_subject *subject, const void *search, bool muted,
                  struct loop_candidate *ret, struct error *err)
{
    bool before = loop->log != NULL && loop->log->muted;
    int rc;

    *ret = (struct loop_candidate){.num_nodes = -1, .is_known = ret->is_known};
    if (loop->log != NULL)
        loop->log->muted = before || muted;
    rc = subject->identify(subject->data, search, ret, err);
    if (loop->log != NULL)
        loop->log->muted = before;
    return rc;
}

void loop_release_candidate(const struct loop_subject *subject, struct loop_candidate *candidate)
{
    if (candidate->content != NULL && subject->release != NULL)
        subject->release(candidate->content);
    candidate->content = NULL;
}

/* ---- Its check ---- */

/* An unreliable check will be run on the same candidate several times: the next runs begin at once where there is
 * room. */
static void run_ahead(struct loop *loop, struct trial *trial, size_t run)
{
    struct error ignored; /* what is wrong will be seen when it is this run's turn */

    if (!loop->repeated.enabled || !trial->candidate.has_identity || !judge_knows_time_limit(loop->judge))
        return;
    for (size_t i = run + 1; i < run + job_slots_jobs(loop->slots) && job_slots_have_room(loop->slots); i++) {
        struct job_slot *slot = job_slots_find(loop->slots, key_of(trial, i));

        if (slot != NULL)
            continue;
        if (loop_write(loop, trial->subject, &trial->candidate, key_of(trial, i), &slot, &ignored) < 0 ||
            slot == NULL || job_slot_launch(loop->slots, slot, &ignored) < 0)
            return;
    }
}

static int run_once(struct loop *loop, struct trial *trial, size_t run, enum verdict *ret, struct error *err)
{
    struct job_slots *slots = loop->slots;
    struct job_slot *slot;
    int rc = run > 0 ? open_again(loop, trial, run, err) : 0;

    if (rc < 0)
        return rc;
    if (check_is_interactive(loop->check))
        return check_ask(loop->check, loop->settings.check.files.items[CANDIDATE_ARTIFACT], ret, err);
    slot = trial->slot;
    check_announce(loop->check);
    /* One that could not be run ahead may have lacked what is there by now. */
    if (slot->state == SLOT_WRITTEN || job_slots_jobs(slots) == 1 ||
        (slot->state == SLOT_LAUNCHED && job_slot_has_ended(slots, slot) && slot->rc < 0))
        rc = job_slot_launch(slots, slot, err);
    if (rc < 0)
        return rc;
    run_ahead(loop, trial, run);
    while (!job_slot_has_ended(slots, slot)) {
        if (loop->speculation != NULL && judge_knows_time_limit(loop->judge))
            speculation_fill(loop->speculation, slot);
        if (!job_slot_has_ended(slots, slot))
            job_slots_sleep(slots);
    }
    if (slot->rc < 0) {
        *err = slot->err;
        return slot->rc;
    }
    loop->history.check_seconds += slot->result.seconds;
    rc = loop_refuse_changes(loop, slot, err);
    return rc == 0 ? judge_run(loop->judge, &slot->result, ret, err) : rc;
}

static int run_repeatedly(struct loop *loop, struct trial *trial, struct error *err)
{
    struct repeated_runs runs = repeated_runs_begin(&loop->repeated, trial->candidate.expectation);

    for (size_t run = 0; repeated_runs_want_more(&runs); run++) {
        enum verdict verdict;
        int rc = interrupt_pending() ? error_set(err, ERR_INTERRUPTED, "interrupted")
                                     : run_once(loop, trial, run, &verdict, err);

        if (rc < 0)
            return rc;
        repeated_runs_add(&loop->repeated, &runs, verdict);
    }
    trial->verdict = repeated_runs_end(&loop->repeated, &runs);
    trial->counts = runs.counts;
    return 0;
}

static void show_progress(const struct loop *loop, const struct loop_subject *subject)
{
    const struct history *history = &loop->history;
    struct loop_progress progress = {
        .done = history->checks,
        .expected =
            subject->ops != NULL && subject->ops->remaining != NULL ? subject->ops->remaining(subject->search) : -1,
        .nodes_now = history->nodes_now,
        .nodes_whole = history->nodes_whole,
        .running = (int)job_slots_jobs(loop->slots),
        .seconds_per_check = history->checks > 0 ? history->check_seconds / (double)history->checks : 0,
    };

    if (loop->settings.progress)
        loop->settings.progress(loop->settings.progress_data, &progress);
}

/* Whether a verdict of another session will do. What every other verdict is held against shows whether the check still
 * works. */
static bool may_be_known(enum expectation expectation)
{
    return expectation != EXPECT_AGAIN && expectation != EXPECT_FAILURE && expectation != EXPECT_PASS;
}

int trial_check(struct loop *loop, struct trial *trial, struct error *err)
{
    struct saved_verdict presumed = {trial->index, trial->num_nodes, trial->verdict, trial->counts};
    struct hash question;
    bool keeps;
    int rc = open_slot(loop, trial, err);

    if (rc < 0 || trial->slot == NULL)
        return rc;
    keeps = trial->slot->has_content;
    question = trial->slot->question;
    if (trial->slot->cached.found && may_be_known(trial->candidate.expectation)) {
        loop_use_cached(loop, trial);
        return trial->index >= 0 ? sort_artifacts(loop, trial, err) : 0;
    }
    if (!trial->anew)
        rc = session_replay_save_as_failed(&loop->replay, trial->key, &presumed, err);
    if (rc < 0)
        return rc;
    show_progress(loop, trial->subject);
    rc = loop->repeated.enabled ? run_repeatedly(loop, trial, err) : run_once(loop, trial, 0, &trial->verdict, err);
    loop->history.checks += trial_is_control(trial) ? 0 : 1;
    if (rc < 0)
        return rc;
    if (keeps)
        loop_keep_in_cache(loop, trial, question);
    if (trial->has_file && trial->verdict != VERDICT_SKIP)
        seen_candidates_add(&loop->history.files, trial->file,
                            (struct seen_candidate){.verdict = trial->verdict, .what = trial->what}, true);
    return trial->index >= 0 ? sort_artifacts(loop, trial, err) : 0;
}

/* ---- What is known of it ---- */

/* The verdict that an identical candidate has got; NULL: none. */
static const struct seen_candidate *find_seen(const struct loop *loop, const struct loop_candidate *candidate)
{
    return candidate->has_identity && candidate->expectation != EXPECT_AGAIN
               ? seen_candidates_find(&loop->history.candidates, candidate->identity)
               : NULL;
}

char *loop_replay_key(int64_t index, const char *suffix)
{
    struct string_builder key;

    string_init(&key);
    string_add_format(&key, "_N%" PRId64, index);
    if (suffix)
        string_add_format(&key, "_%s", suffix);
    return string_take(&key);
}

bool loop_find_known(const struct loop *loop, const struct loop_subject *subject, int64_t index,
                     const struct loop_candidate *candidate, struct saved_verdict *ret)
{
    const struct seen_candidate *seen = find_seen(loop, candidate);
    char *key = loop_replay_key(index, subject->suffix);
    bool is_known = session_replay_find(&loop->replay, key, ret);

    free(key);
    if (!is_known && seen != NULL)
        *ret = (struct saved_verdict){.nodes = -1, .verdict = seen->verdict};
    return is_known || seen != NULL;
}

enum verdict loop_verdict_to_tell(const struct loop_candidate *candidate, enum verdict verdict)
{
    return candidate->action == CANDIDATE_SKIP && candidate->skip_verdict == VERDICT_PASS ? VERDICT_SKIP : verdict;
}

int trial_recall(struct loop *loop, struct trial *trial, bool *ret_known, struct error *err)
{
    const struct loop_subject *subject = trial->subject;
    bool muted = loop->log != NULL && loop->log->muted;
    const struct seen_candidate *seen;
    int rc;

    *ret_known = false;
    if (loop->log != NULL)
        loop->log->muted = true;
    rc = loop_identify(loop, subject, subject->search, true, &trial->candidate, err);
    if (rc < 0 || trial->candidate.action != CANDIDATE_CHECK)
        goto done;
    rc = open_slot(loop, trial, err);
    if (rc < 0 || !trial->has_file)
        goto done;
    seen = seen_candidates_find(&loop->history.files, trial->file);
    *ret_known = seen != NULL;
    trial->verdict = seen != NULL ? seen->verdict : trial->verdict;
done:
    if (loop->log != NULL)
        loop->log->muted = muted;
    trial_clean_up(loop, trial);
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

    /* All digits are Polygraphy's, which has no other checks than those of candidates. */
    log_message(log, levels[what_it_was][verdict], "%s | %s | Duration %ss", words[verdict], what,
                what_it_was == CHECKED_CANDIDATE ? number_to_text(seconds, number)
                                                 : number_to_text_short(seconds, number));
}

/* Its verdict is that of another candidate. */
static void reuse(struct loop *loop, struct trial *trial, const struct seen_candidate *seen)
{
    const char *phase = trial->subject->suffix;

    if (seen->phase && (!phase || strcmp(seen->phase, phase) != 0))
        log_message(loop->log, LOG_INFO, "Identical to %s of the %s: its verdict is reused", seen->what, seen->phase);
    else
        log_message(loop->log, LOG_INFO, "Identical to %s: its verdict is reused", seen->what);
    trial->verdict = seen->verdict;
    trial->source = seen->source;
}

static void remember(struct loop *loop, const struct trial *trial)
{
    const struct loop_candidate *candidate = &trial->candidate;
    struct seen_candidate seen = {trial->verdict, trial->source, trial->what,
                                  trial->index >= 0 ? trial->subject->suffix : NULL, trial->counts};

    if (candidate->action == CANDIDATE_CHECK && trial->verdict != VERDICT_SKIP && !trial->anew &&
        find_seen(loop, candidate) == NULL)
        history_count(&loop->history, trial->verdict);
    if (trial->verdict == VERDICT_FAIL)
        history_note_nodes(&loop->history, trial->num_nodes);
    if (loop->repeated.enabled)
        repeated_check_learn(&loop->repeated, candidate->expectation, trial->counts, trial->verdict);
    if (candidate->has_identity && candidate->action == CANDIDATE_CHECK)
        seen_candidates_add(&loop->history.candidates, candidate->identity, seen,
                            candidate->expectation == EXPECT_AGAIN);
}

static void tell(const struct loop *loop, const struct trial *trial)
{
    bool was_run = trial->slot != NULL && trial->source == VERDICT_OF_CHECK && !check_is_interactive(loop->check) &&
                   job_slot_has_ended(loop->slots, trial->slot) && trial->slot->rc == 0;
    const struct judged_candidate candidate = {.iteration = trial->index,
                                               .what = trial->what,
                                               .nodes = trial->num_nodes,
                                               .verdict = trial->verdict,
                                               .result = was_run ? &trial->slot->result : NULL};

    if (loop->settings.judged != NULL && !trial_is_control(trial))
        loop->settings.judged(loop->settings.judged_data, &candidate);
}

/* The verdict, and what a failure is by now. */
static int save(struct loop *loop, const struct trial *trial, struct error *err)
{
    struct saved_verdict saved = {trial->index, trial->num_nodes, trial->verdict, trial->counts};
    struct debug_replay *replay = &loop->replay.replay;

    if (trial->anew)
        return 0;
    replay->has_failure_code = loop->judge->has_failure;
    if (replay->has_failure_code)
        replay->failure_code = loop->judge->failure_code;
    snprintf(replay->failure_reason, sizeof(replay->failure_reason), "%s", loop->judge->failure_reason);
    return session_replay_save(&loop->replay, trial->key, &saved, err);
}

/* Nothing is done about its verdict when writing it has shown that there is nothing to check. */
static int check_and_question(struct loop *loop, struct trial *trial, struct error *err)
{
    int rc = trial_check(loop, trial, err);

    if (rc < 0 || trial->candidate.action == CANDIDATE_SKIP)
        return rc;
    rc = loop_suspect_check(loop, trial, err);
    return rc == 0 ? loop_question_likeness(loop, trial, err) : rc;
}

int trial_judge(struct loop *loop, struct trial *trial, struct error *err)
{
    const struct loop_subject *subject = trial->subject;
    struct loop_candidate *candidate = &trial->candidate;
    const struct seen_candidate *seen;
    struct saved_verdict known;
    bool is_known = !trial->anew && session_replay_find(&loop->replay, trial->key, &known);
    int rc;

    if (interrupt_pending())
        return error_set(err, ERR_INTERRUPTED, "interrupted");
    candidate->is_known = is_known;
    log_indent(loop->log, 1);
    rc = loop_identify(loop, subject, subject->search, false, candidate, err);
    log_indent(loop->log, -1);
    if (rc < 0)
        return rc;
    if (trial->anew) { /* what is known of it is not good enough */
        seen = candidate->has_identity ? seen_candidates_find(&loop->history.candidates, candidate->identity) : NULL;
        trial->earlier = seen != NULL ? seen->source : VERDICT_OF_CHECK;
    }
    candidate->expectation = expectation_of(trial);
    seen = find_seen(loop, candidate);
    trial->num_nodes = candidate->num_nodes;
    if (is_known) {
        log_message(loop->log, LOG_INFO, "Loading iteration information from debug replay: success=%s",
                    known.verdict == VERDICT_FAIL ? "False" : "True");
        trial->verdict = known.verdict;
        trial->source = VERDICT_OF_REPLAY;
        trial->num_nodes = known.nodes >= 0 ? known.nodes : trial->num_nodes;
        trial->counts = known.counts;
        goto done;
    }
    if (candidate->action == CANDIDATE_CHECK && seen != NULL)
        reuse(loop, trial, seen);
    else if (candidate->action == CANDIDATE_CHECK)
        rc = check_and_question(loop, trial, err);
    if (rc == 0 && candidate->action == CANDIDATE_SKIP) {
        trial->verdict = candidate->skip_verdict;
        if (trial->index >= 0)
            rc = artifacts_sort_leftovers(&loop->settings.artifacts, trial->verdict, trial->key, loop->log, err);
    }
    if (rc < 0)
        return rc;
    rc = save(loop, trial, err);
    if (rc < 0)
        return rc;
done:
    remember(loop, trial);
    tell(loop, trial);
    return 0;
}
