/* debug/loop/loop.c: the iterations of a debugging session. */
#include "debug/loop/loop.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file/file.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/system.h"
#include "base/text/number.h"
#include "debug/check/rules.h"
#include "debug/loop/log.h"
#include "debug/loop/resume_hint.h"
#include "debug/loop/state.h"

#define MAXIMUM_ITERATIONS 100000

/* ---- A session ---- */

/* In one folder files are told apart by their names only. */
static int check_names(const struct loop *loop, struct error *err)
{
    const char *const *files = loop->settings.check.files.items;
    int rc = 0;

    for (size_t i = 0; loop->settings.work_folder != NULL && i < CANDIDATE_FILES; i++)
        for (size_t j = 0; rc == 0 && files[i] != NULL && j < i; j++) {
            char *name = file_basename(files[i]), *other = files[j] != NULL ? file_basename(files[j]) : NULL;

            if (other != NULL && strcmp(name, other) == 0)
                rc = error_set(err, ERR_INVALID, "--work-dir: '%s' and '%s' would be the same file there", files[j],
                               files[i]);
            free(name);
            free(other);
        }
    return rc;
}

/* Checks at the same time need candidates at different paths, so the check has to say where it wants which. */
static int check_jobs(const struct loop *loop, struct error *err)
{
    const struct loop_settings *settings = &loop->settings;
    const char *const *files = settings->check.files.items;

    if (settings->jobs <= 1 && settings->work_folder == NULL)
        return 0;
    if (check_is_interactive(loop->check))
        return error_set(err, ERR_INVALID, "--jobs and --work-dir need --check: only one question is asked at a time");
    for (enum candidate_file i = 0; i < CANDIDATE_FILES; i++)
        if (files[i] != NULL && !check_words_name(check_words(loop->check), i))
            return error_set(err, ERR_INVALID,
                             "the check does not name '%s', and with --jobs or --work-dir each candidate has files of "
                             "its own: write %s where the command needs it",
                             files[i], check_words_placeholder(i));
    for (size_t i = 0; settings->jobs > 1 && i < settings->artifacts.paths.count; i++) {
        bool own = false;

        for (enum candidate_file j = 0; j < CANDIDATE_FILES; j++)
            own = own || (files[j] != NULL && strcmp(files[j], settings->artifacts.paths.items[i]) == 0);
        if (!own)
            return error_set(err, ERR_INVALID,
                             "--artifacts: with --jobs several checks would write '%s' at the same time; leave out one "
                             "of both",
                             settings->artifacts.paths.items[i]);
    }
    return 0;
}

static int open_files(struct loop *loop, const struct hash *model_hash, struct error *err)
{
    const struct loop_settings *settings = &loop->settings;
    const struct job_slots_settings slots = {.usual = settings->check.files,
                                             .keep_artifact = settings->keep_intermediate,
                                             .folder = settings->work_folder,
                                             .force = settings->force,
                                             .jobs = settings->jobs > 1 ? (size_t)settings->jobs : 1};
    struct session_replay *replay = &loop->replay;
    int rc = session_locks_take(&loop->locks, &settings->check.files, settings->work_folder,
                                &loop->settings.save_replay, loop->log, err);

    if (rc == 0)
        rc = session_replay_open(replay, settings->load_replay, settings->save_replay, settings->force_replay,
                                 model_hash ? *model_hash : (struct hash){0, 0}, check_hash(loop->check), loop->log,
                                 err);
    if (rc == 0 && settings->check.rules.compare_failures && replay->replay.has_failure_code)
        loop_take_failure(loop, &replay->replay);
    if (rc == 0 && settings->verdict_cache)
        rc = verdict_cache_open(settings->verdict_cache, check_hash(loop->check), loop->log, &loop->cache, err);
    if (rc == 0 && settings->work_folder)
        rc = file_make_folders(settings->work_folder, err);
    if (rc < 0)
        return rc;
    session_replay_remove_leftovers(replay);
    loop->slots = job_slots_new(loop->check, &slots, loop->log);
    return job_slots_reserve(loop->slots, replay->resumes, err);
}

static void warn_of_unnamed_artifact(const struct loop *loop)
{
    const char *path = loop->settings.check.files.items[CANDIDATE_ARTIFACT];

    if (path == NULL || check_is_interactive(loop->check) || check_words_tell_of_artifact(check_words(loop->check)))
        return;
    log_message(
        loop->log, LOG_WARNING,
        "The check names neither '%s' nor %s nor $POLYGRAPHY_ARTIFACT, as far as can be seen in the command and "
        "in scripts that it names. If it does not look at the candidate, it says the same of all",
        path, check_words_placeholder(CANDIDATE_ARTIFACT));
}

int loop_new(const struct loop_settings *settings, const struct hash *model_hash, struct log *log, struct loop **ret,
             struct error *err)
{
    struct loop *loop = memory_alloc_zero(1, sizeof(*loop));

    loop->started = stopwatch_now();
    loop->settings = *settings;
    if (settings->artifacts.started == 0)
        loop->settings.artifacts.started = time(NULL);
    loop->log = log;
    loop->nodes_now = -1;
    loop->nodes_whole = -1;
    seen_candidates_init(&loop->seen);
    seen_candidates_init(&loop->files);
    repeated_check_init(&loop->repeated, settings->check.rules.flaky, settings->check.rules.no_false_failures, log);

    int rc = check_new(&settings->check, log, &loop->check, err);
    if (rc == 0) {
        loop->judge = check_judge(loop->check);
        rc = check_jobs(loop, err);
    }
    if (rc == 0)
        rc = check_names(loop, err);
    if (rc == 0)
        rc = open_files(loop, model_hash, err);
    if (rc == 0) {
        loop_watch_files(loop);
        warn_of_unnamed_artifact(loop);
    }
    if (rc < 0) {
        loop_free(loop);
        return rc;
    }
    *ret = loop;
    return 0;
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    job_slots_free(loop->slots);
    check_free(loop->check);
    verdict_cache_close(loop->cache);
    session_replay_release(&loop->replay);
    seen_candidates_release(&loop->seen);
    seen_candidates_release(&loop->files);
    watched_files_release(&loop->watched);
    session_locks_release(&loop->locks);
    free(loop->resume_hint);
    free(loop);
}

void loop_show_progress(const struct loop *loop, const struct loop_subject *subject)
{
    struct loop_progress progress = {
        .done = loop->checks,
        .expected = subject->remaining ? subject->remaining(subject->data) : -1,
        .nodes_now = loop->nodes_now,
        .nodes_whole = loop->nodes_whole,
        .running = (int)job_slots_jobs(loop->slots),
        .seconds_per_check = loop->checks > 0 ? loop->check_seconds / (double)loop->checks : 0,
    };

    if (loop->settings.progress)
        loop->settings.progress(loop->settings.progress_data, &progress);
}

/* ---- A verdict ---- */

static void keep_failure_code(struct loop *loop)
{
    struct debug_replay *replay = &loop->replay.replay;

    replay->has_failure_code = loop->judge->has_failure;
    if (replay->has_failure_code)
        replay->failure_code = loop->judge->failure_code;
    snprintf(replay->failure_reason, sizeof(replay->failure_reason), "%s", loop->judge->failure_reason);
}

/* The verdict that an identical candidate has got; NULL: none. */
static const struct seen_candidate *find_seen(const struct loop *loop, const struct loop_candidate *candidate)
{
    return candidate->has_identity && candidate->expectation != EXPECT_AGAIN
               ? seen_candidates_find(&loop->seen, candidate->identity)
               : NULL;
}

/* That was run in this session, and had no original before it. */
static bool is_first_check(const struct loop *loop)
{
    return loop->verify == NULL && loop->checks == 1 && !check_is_interactive(loop->check);
}

int loop_refuse_check(struct loop *loop, struct error *err, const char *format, ...)
{
    struct string_builder text;
    va_list args;
    int rc;

    judge_show_hidden_output(loop->judge);
    string_init(&text);
    va_start(args, format);
    string_add_format_list(&text, format, args);
    va_end(args);
    string_add(&text, ": ");
    check_evidence_describe(&loop->judge->evidence, &text);
    rc = error_set(err, ERR_INVALID, "%s", text.data);
    string_release(&text);
    return rc;
}

/* When the check ends as a shell does that cannot run a command, that may be due to the candidate; but not on the
 * original. */
static int suspect_check(struct loop *loop, struct trial *trial, struct error *err)
{
    enum expectation expectation = trial->candidate.expectation;
    int code = judge_take_broken_code(loop->judge), rc;

    if (is_first_check(loop) && !trial->candidate.has_identity && loop->judge->unsound)
        return loop_refuse_check(loop, err, "the check says of itself that it cannot tell anything");
    if (code == 0)
        return 0;
    if (loop->verifies || expectation == EXPECT_FAILURE || expectation == EXPECT_PASS || is_first_check(loop)) {
        judge_show_hidden_output(loop->judge);
        return check_refuse_broken(loop->check, code, loop->verifies, err);
    }
    if (loop->verify == NULL || loop->verified)
        return 0;
    log_message(
        loop->log, LOG_WARNING,
        "The check ended with code %d, as if it could not be run any more. The original is checked again to see "
        "whether that is so",
        code);
    if (job_slots_jobs(loop->slots) == 1)
        trial->slot = NULL; /* there is only one, and the original needs it */
    loop->verified = true;
    loop->verifies = true;
    rc = loop->verify(loop->verify_data, err);
    loop->verifies = false;
    return rc;
}

/* Finds the verdict on a candidate that the replay does not know. */
static int find_verdict(struct loop *loop, struct trial *trial, struct error *err)
{
    const struct loop_candidate *candidate = &trial->candidate;
    const struct seen_candidate *seen = find_seen(loop, candidate);
    int rc = 0;

    if (candidate->action == CANDIDATE_SKIP) {
        trial->verdict = candidate->skip_verdict;
        if (trial->index >= 0)
            rc = artifacts_sort_leftovers(&loop->settings.artifacts, trial->verdict, trial->key, loop->log, err);
    } else if (seen) {
        loop_log_reuse(loop->log, trial->subject, seen);
        trial->verdict = seen->verdict;
        trial->source = seen->source;
    } else {
        rc = trial_check(loop, trial, err);
        if (rc == 0)
            rc = suspect_check(loop, trial, err);
        if (rc == 0)
            rc = loop_question_likeness(loop, trial, err);
    }
    if (rc < 0 || trial->anew)
        return rc;
    struct saved_verdict saved = {trial->index, trial->num_nodes, trial->verdict, trial->counts};
    keep_failure_code(loop);
    return session_replay_save(&loop->replay, trial->key, &saved, err);
}

static void remember(struct loop *loop, const struct trial *trial)
{
    const struct loop_candidate *candidate = &trial->candidate;
    const char *phase = trial->index >= 0 ? trial->subject->suffix : NULL;

    if (candidate->action == CANDIDATE_CHECK && trial->verdict != VERDICT_SKIP && !trial->anew &&
        find_seen(loop, candidate) == NULL) {
        loop->verdicts_told++;
        *(trial->verdict == VERDICT_PASS ? &loop->last_pass : &loop->last_failure) = loop->verdicts_told;
    }
    if (trial->verdict == VERDICT_FAIL && trial->num_nodes >= 0) {
        loop->nodes_now = trial->num_nodes;
        loop->nodes_whole = loop->nodes_whole < 0 ? trial->num_nodes : loop->nodes_whole;
    }
    if (loop->repeated.enabled)
        repeated_check_learn(&loop->repeated, candidate->expectation, trial->counts, trial->verdict);
    if (!candidate->has_identity || candidate->action != CANDIDATE_CHECK)
        return;
    struct seen_candidate seen = {trial->verdict, trial->source, trial->what, phase, trial->counts};
    if (candidate->expectation == EXPECT_AGAIN)
        seen_candidates_correct(&loop->seen, candidate->identity, seen);
    seen_candidates_add(&loop->seen, candidate->identity, seen);
}

/* What is known of the candidate is not good enough. */
static void expect_again(const struct loop *loop, struct trial *trial)
{
    const struct seen_candidate *seen = seen_candidates_find(&loop->seen, trial->candidate.identity);

    trial->candidate.expectation = EXPECT_AGAIN;
    trial->earlier = trial->candidate.has_identity && seen != NULL ? seen->source : VERDICT_OF_CHECK;
}

/* Takes one candidate from its description to a verdict. */
static int judge(struct loop *loop, struct trial *trial, struct error *err)
{
    const struct loop_subject *subject = trial->subject;
    struct saved_verdict known;
    bool is_known = !trial->anew && session_replay_find(&loop->replay, trial->key, &known);
    int rc;

    if (interrupt_pending())
        return error_set(err, ERR_INTERRUPTED, "interrupted");
    trial->candidate = (struct loop_candidate){.num_nodes = -1};
    log_indent(loop->log, 1);
    rc = subject->describe(subject->data, trial->index, is_known, &trial->candidate, err);
    log_indent(loop->log, -1);
    if (rc < 0)
        return rc;
    if (trial->anew)
        expect_again(loop, trial);
    trial->stopped = trial->candidate.action == CANDIDATE_STOP;
    trial->num_nodes = trial->candidate.num_nodes;
    if (trial->stopped)
        return 0;

    if (is_known) {
        log_message(loop->log, LOG_INFO, "Loading iteration information from debug replay: success=%s",
                    known.verdict == VERDICT_FAIL ? "False" : "True");
        trial->verdict = known.verdict;
        trial->source = VERDICT_OF_REPLAY;
        trial->num_nodes = known.nodes >= 0 ? known.nodes : trial->num_nodes;
        trial->counts = known.counts;
    } else {
        rc = find_verdict(loop, trial, err);
    }
    if (rc == 0)
        remember(loop, trial);
    return rc;
}

/* ---- Iterations ---- */

static char *replay_key(int64_t index, const char *suffix)
{
    struct string_builder key;

    string_init(&key);
    string_add_format(&key, "_N%" PRId64, index);
    if (suffix)
        string_add_format(&key, "_%s", suffix);
    return string_take(&key);
}

static int run_iteration(struct loop *loop, const struct loop_subject *subject, int64_t index, bool *ret_go_on,
                         struct error *err)
{
    double start = stopwatch_now();
    char *key = replay_key(index, subject->suffix);
    char title[64], what[64];
    struct trial trial = {.subject = subject, .index = index, .key = key, .what = what};

    snprintf(title, sizeof(title), "Iteration %" PRId64, index + 1);
    snprintf(what, sizeof(what), "iteration %" PRId64, index + 1);
    log_indent(loop->log, 1);
    loop_log_start(loop->log, subject, index + 1);
    int rc = judge(loop, &trial, err);
    if (rc == 0 && !trial.stopped) {
        loop_log_end(loop->log, trial.verdict, CHECKED_CANDIDATE, title, stopwatch_now() - start);
        loop->verdicts[trial.verdict]++;
        *ret_go_on = subject->advance(subject->data, index, trial.num_nodes, trial.verdict) &&
                     repeated_check_can_go_on(&loop->repeated);
    } else {
        *ret_go_on = false;
    }
    log_indent(loop->log, -1);
    trial_clean_up(loop, &trial);
    if (*ret_go_on && loop->speculation)
        speculation_advance(loop->speculation, trial.num_nodes,
                            trial.candidate.action == CANDIDATE_SKIP ? VERDICT_SKIP : trial.verdict);
    free(key);
    return rc;
}

/* ---- Looking ahead ---- */

struct context {
    struct loop *loop;
    const struct loop_subject *subject;
};

static bool find_known(void *data, int64_t index, const struct loop_candidate *candidate, enum verdict *ret,
                       int64_t *ret_nodes)
{
    const struct context *context = data;
    const struct seen_candidate *seen = find_seen(context->loop, candidate);
    char *key = replay_key(index, context->subject->suffix);
    struct saved_verdict saved;
    bool is_known = session_replay_find(&context->loop->replay, key, &saved);

    free(key);
    if (is_known) {
        *ret = saved.verdict;
        *ret_nodes = saved.nodes >= 0 ? saved.nodes : candidate->num_nodes;
    } else if (seen) {
        *ret = seen->verdict;
    }
    return is_known || seen;
}

static bool look_up(void *data, struct job_slot *slot, enum verdict *ret)
{
    const struct context *context = data;
    bool found = loop_look_up(context->loop, context->subject, slot);

    *ret = slot->cached.verdict;
    return found;
}

/* With an unreliable check it is the runs on one candidate that are done ahead. */
static bool can_look_ahead(const struct loop *loop, const struct loop_subject *subject)
{
    return job_slots_jobs(loop->slots) > 1 && subject->foresight && !loop->repeated.enabled;
}

static int run_iterations(struct loop *loop, const struct loop_subject *subject, int64_t *ret_count, bool *ret_go_on,
                          struct error *err)
{
    struct context context = {loop, subject};
    const struct known_verdicts known = {.find = find_known, .look_up = look_up, .data = &context};
    int rc = 0;

    *ret_count = 0;
    *ret_go_on = true;
    if (can_look_ahead(loop, subject))
        loop->speculation = speculation_new(loop->slots, loop->judge, subject, &known, loop->log);
    while (rc == 0 && *ret_go_on && *ret_count < MAXIMUM_ITERATIONS && !loop_is_spent(loop))
        rc = run_iteration(loop, subject, (*ret_count)++, ret_go_on, err);
    speculation_free(loop->speculation);
    loop->speculation = NULL;
    job_slots_drop_until(loop->slots, INT64_MAX);
    return rc;
}

int loop_run(struct loop *loop, const struct loop_subject *subject, struct error *err)
{
    int64_t passed_before = loop->verdicts[VERDICT_PASS], count;
    char number[NUMBER_TEXT_SIZE];
    bool go_on;

    session_replay_announce(&loop->replay);
    int rc = run_iterations(loop, subject, &count, &go_on, err);
    if (rc < 0)
        return rc;
    if (go_on && loop_is_spent(loop))
        log_message(loop->log, LOG_WARNING,
                    "The budget is used up after %" PRId64 " checks: what was found so far is not proven minimal",
                    loop->checks);
    else if (go_on)
        log_message(loop->log, LOG_WARNING, "Maximum number of iterations reached: %d.", MAXIMUM_ITERATIONS);

    if (count == 0)
        return 0;
    int64_t passed = loop->verdicts[VERDICT_PASS] - passed_before;
    if (!subject->looks_into_failure)
        loop_report_likeness(loop, count, passed);
    if (loop->verdicts[VERDICT_SKIP] > 0)
        log_message(loop->log, LOG_WARNING,
                    "%" PRId64 " iteration(s) so far were skipped: the check said nothing about the candidate",
                    loop->verdicts[VERDICT_SKIP]);
    log_message(loop->log, LOG_FINISH,
                "Finished %" PRId64 " iteration(s) | Passed: %" PRId64 "/%" PRId64 " | Pass Rate: %s%%", count, passed,
                count, number_to_text((double)passed * 100 / (double)count, number));
    return 0;
}

int trial_check_apart(struct loop *loop, struct trial *trial, struct error *err)
{
    enum checked checked = trial->is_control ? CHECKED_CONTROL : CHECKED_APART;
    double start = stopwatch_now();
    struct string_builder title;

    session_replay_announce(&loop->replay);
    string_init(&title);
    string_add_format(&title, "%s%s", trial->is_control ? "Control: " : "Check of ", trial->what);
    log_indent(loop->log, 1);
    log_message(loop->log, trial->is_control ? LOG_INFO : LOG_START, "RUNNING | %s", title.data);
    int rc = judge(loop, trial, err);
    if (rc == 0 && trial->stopped)
        rc = error_set(err, ERR_UNSUPPORTED, "%s cannot be checked", trial->what);
    if (rc == 0)
        loop_log_end(loop->log, trial->verdict, checked, title.data, stopwatch_now() - start);
    log_indent(loop->log, -1);
    trial_clean_up(loop, trial);
    string_release(&title);
    return rc;
}

int loop_check_apart(struct loop *loop, const struct loop_subject *subject, const char *key, const char *what,
                     enum verdict *ret, struct error *err)
{
    struct trial trial = {.subject = subject, .index = -1, .key = key, .what = what};
    int rc = trial_check_apart(loop, &trial, err);

    if (rc == 0)
        *ret = trial.verdict;
    return rc;
}

int loop_check_control(struct loop *loop, const struct loop_subject *subject, const char *key, const char *what,
                       enum verdict *ret, struct error *err)
{
    struct trial trial = {.subject = subject, .index = -1, .key = key, .what = what, .is_control = true};
    int rc = trial_check_apart(loop, &trial, err);

    if (rc == 0)
        *ret = trial.verdict;
    return rc;
}

void loop_verify_with(struct loop *loop, int (*verify)(void *data, struct error *err), void *data)
{
    loop->verify = verify;
    loop->verify_data = data;
}

/* ---- Questions ---- */

const struct check_counts *loop_check_counts(const struct loop *loop)
{
    return &loop->judge->counts;
}

void loop_log_checks(const struct loop *loop)
{
    check_counts_log(&loop->judge->counts, loop->log);
}

const struct check_evidence *loop_evidence(const struct loop *loop)
{
    return &loop->judge->evidence;
}

bool loop_has_passed(const struct loop *loop)
{
    return loop->last_pass > 0;
}

int64_t loop_same_verdicts(const struct loop *loop, enum verdict *ret)
{
    *ret = loop->last_pass > loop->last_failure ? VERDICT_PASS : VERDICT_FAIL;
    return loop->last_pass > loop->last_failure ? loop->last_pass - loop->last_failure
                                                : loop->last_failure - loop->last_pass;
}

bool loop_has_seen(const struct loop *loop, struct hash identity, enum verdict *ret)
{
    const struct seen_candidate *seen = seen_candidates_find(&loop->seen, identity);

    if (seen)
        *ret = seen->verdict;
    return seen != NULL;
}

void loop_report_rates(const struct loop *loop, const char *original, const char *result, struct hash identity)
{
    const struct seen_candidate *seen = seen_candidates_find(&loop->seen, identity);

    repeated_check_report(&loop->repeated, original, loop->repeated.original);
    if (seen)
        repeated_check_report(&loop->repeated, result, seen->counts);
}

bool loop_went_without(const struct loop *loop, const char *key)
{
    return loop->settings.load_replay && loop->replay.replay.count > 0 && !debug_replay_find(&loop->replay.replay, key);
}

int64_t loop_passed(const struct loop *loop)
{
    return loop->verdicts[VERDICT_PASS];
}

int64_t loop_failed(const struct loop *loop)
{
    return loop->verdicts[VERDICT_FAIL];
}

int64_t loop_skipped(const struct loop *loop)
{
    return loop->verdicts[VERDICT_SKIP];
}

bool loop_looks_for_other_than_hangs(const struct loop *loop)
{
    const struct check_rules *rules = &loop->settings.check.rules;

    return rules->fail_patterns.count > 0 ||
           (rules->fail_codes.count > 0 && !check_rules_name_code(rules, CHECK_TIMED_OUT_CODE));
}

bool loop_is_interactive(const struct loop *loop)
{
    return check_is_interactive(loop->check);
}

bool loop_is_spent(const struct loop *loop)
{
    const struct loop_settings *settings = &loop->settings;

    return (settings->max_checks > 0 && loop->checks >= settings->max_checks) ||
           (settings->deadline > 0 && stopwatch_now() - loop->started >= settings->deadline);
}

bool loop_is_flaky(const struct loop *loop)
{
    return loop->repeated.enabled;
}

bool loop_resumes(const struct loop *loop)
{
    return loop->replay.resumes;
}

bool loop_takes_over(const struct loop *loop)
{
    return loop->replay.resumes || loop->settings.force;
}

const char *loop_artifact(const struct loop *loop)
{
    return job_slots_artifact(loop->slots);
}

const char *loop_resume_hint(struct loop *loop, const char *const *command_line)
{
    const char *replay = loop->replay.saved ? loop->settings.save_replay : loop->settings.load_replay;

    if (!replay)
        return NULL;
    char *command = resume_hint_make(command_line, replay, loop->settings.check.shell);
    struct string_builder hint;
    string_init(&hint);
    string_add_format(&hint, "Resume with: %s", command);
    free(command);
    free(loop->resume_hint);
    loop->resume_hint = string_take(&hint);
    return loop->resume_hint;
}
