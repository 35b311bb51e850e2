/* debug/loop/loop.c: the iterations of a debugging session. */
#include "debug/loop/loop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/system.h"
#include "base/text/number.h"
#include "base/text/shell_line.h"
#include "debug/check/rules.h"
#include "debug/loop/speculation.h"
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
    struct replay_binding binding;
    int rc = session_locks_take(&loop->locks, &settings->check.files, settings->work_folder,
                                &loop->settings.save_replay, loop->log, err);

    if (rc < 0)
        return rc;
    binding = (struct replay_binding){.load_path = settings->load_replay,
                                      .save_path = settings->save_replay,
                                      .force = settings->force_replay,
                                      .model = model_hash ? *model_hash : (struct hash){0, 0},
                                      .check = check_hash(loop->check)};
    rc = session_replay_open(replay, &binding, loop->log, err);
    if (rc < 0)
        return rc;
    if (settings->check.rules.compare_failures && replay->replay.has_failure_code)
        loop_take_failure(loop, &replay->replay);
    if (settings->verdict_cache)
        rc = verdict_cache_open(settings->verdict_cache,
                                /* a list is nothing without the model */
                                settings->check.has_lists ? hash_combine(binding.check, binding.model) : binding.check,
                                loop->log, &loop->cache, err);
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

void loop_tell_check_of(const struct loop *loop, const char *path)
{
    struct candidate_paths files = loop->settings.check.files;
    struct string_builder line;
    const struct check_words *words;
    char **items;

    if (check_is_interactive(loop->check) || !check_words_name(check_words(loop->check), CANDIDATE_ARTIFACT))
        return;
    words = check_words(loop->check);
    files.items[CANDIDATE_ARTIFACT] = path;
    items = check_words_for(words, &files, NULL);
    string_init(&line);
    if (words->shell && loop->settings.check.launcher.count == 0)
        string_add(&line, items[words->count - 1]);
    else
        for (size_t i = 0; items[i] != NULL; i++)
            shell_add_argument(&line, items[i]);
    log_message(loop->log, LOG_INFO, "To check it again: %s", line.data);
    string_release(&line);
    check_words_free(items);
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
    history_init(&loop->history);
    repeated_check_init(&loop->repeated, settings->check.rules.flaky, settings->check.rules.no_false_failures, log);

    int rc = check_new(&settings->check, log, &loop->check, err);
    if (rc < 0)
        goto done;
    loop->judge = check_judge(loop->check);
    rc = check_jobs(loop, err);
    if (rc < 0)
        goto done;
    rc = check_names(loop, err);
    if (rc < 0)
        goto done;
    rc = open_files(loop, model_hash, err);
    if (rc < 0)
        goto done;
    loop_watch_files(loop);
    warn_of_unnamed_artifact(loop);
    *ret = loop;
    loop = NULL;
done:
    loop_free(loop);
    return rc;
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    job_slots_free(loop->slots);
    check_free(loop->check);
    verdict_cache_close(loop->cache);
    session_replay_release(&loop->replay);
    history_release(&loop->history);
    watched_files_release(&loop->watched);
    session_locks_release(&loop->locks);
    free(loop->resume_hint);
    free(loop);
}

/* ---- Iterations ---- */

static void report(const struct loop *loop, const struct loop_subject *subject, int64_t count, int64_t passed)
{
    int64_t skipped = loop->history.iterations[VERDICT_SKIP];
    char number[NUMBER_TEXT_SIZE];

    if (!subject->looks_into_failure)
        loop_report_likeness(loop, count, passed);
    if (skipped > 0)
        log_message(loop->log, LOG_WARNING,
                    "%" PRId64 " iteration(s) so far were skipped: the check said nothing about the candidate",
                    skipped);
    log_message(loop->log, LOG_FINISH,
                "Finished %" PRId64 " iteration(s) | Passed: %" PRId64 "/%" PRId64 " | Pass Rate: %s%%", count, passed,
                count, number_to_text((double)passed * 100 / (double)count, number));
}

/* Takes the candidate that the search asks for to its verdict, of which the search learns. */
static int run_iteration(struct loop *loop, const struct loop_subject *subject, int64_t index, bool *ret_go_on,
                         struct error *err)
{
    double start = stopwatch_now();
    char *key = loop_replay_key(index, subject->suffix);
    char title[64], what[64];
    struct trial trial = {.subject = subject, .index = index, .key = key, .what = what};
    enum verdict told = VERDICT_SKIP;
    int rc;

    snprintf(title, sizeof(title), "Iteration %" PRId64, index + 1);
    snprintf(what, sizeof(what), "iteration %" PRId64, index + 1);
    *ret_go_on = false;
    log_indent(loop->log, 1);
    if (subject->ops->remaining != NULL)
        log_message(loop->log, LOG_START, "RUNNING | %s | Approximately %" PRId64 " iteration(s) remaining", title,
                    subject->ops->remaining(subject->search));
    else
        log_message(loop->log, LOG_START, "RUNNING | %s", title);
    rc = trial_judge(loop, &trial, err);
    if (rc == 0) {
        trial_log_end(loop->log, trial.verdict, CHECKED_CANDIDATE, title, stopwatch_now() - start);
        loop->history.iterations[trial.verdict]++;
        told = loop_verdict_to_tell(&trial.candidate, trial.verdict);
        if (subject->took != NULL)
            subject->took(subject->data, subject->search, &trial.candidate, trial.num_nodes, told);
        *ret_go_on =
            subject->ops->advance(subject->search, trial.num_nodes, told) && repeated_check_can_go_on(&loop->repeated);
    }
    log_indent(loop->log, -1);
    trial_clean_up(loop, &trial);
    if (*ret_go_on && loop->speculation != NULL)
        speculation_advance(loop->speculation, trial.num_nodes, told);
    free(key);
    return rc;
}

int loop_run(struct loop *loop, const struct loop_subject *subject, struct error *err)
{
    const int64_t *passed = &loop->history.iterations[VERDICT_PASS];
    int64_t passed_before = *passed, count = 0;
    bool go_on = true;
    int rc = 0;

    session_replay_announce(&loop->replay);
    if (job_slots_jobs(loop->slots) > 1 && !loop->repeated.enabled) /* then runs on one candidate are done ahead */
        loop->speculation = speculation_new(loop, subject);
    while (rc == 0 && go_on && count < MAXIMUM_ITERATIONS && !loop_is_spent(loop))
        rc = run_iteration(loop, subject, count++, &go_on, err);
    speculation_free(loop->speculation);
    loop->speculation = NULL;
    job_slots_drop_until(loop->slots, INT64_MAX);
    if (rc < 0)
        return rc;
    if (go_on && loop_is_spent(loop))
        log_message(loop->log, LOG_WARNING,
                    "The budget is used up after %" PRId64 " checks: what was found so far is not proven minimal",
                    loop->history.checks);
    else if (go_on)
        log_message(loop->log, LOG_WARNING, "Maximum number of iterations reached: %d.", MAXIMUM_ITERATIONS);
    if (count > 0)
        report(loop, subject, count, *passed - passed_before);
    return 0;
}

int trial_check_apart(struct loop *loop, struct trial *trial, struct error *err)
{
    bool is_control = trial_is_control(trial);
    enum checked checked = is_control ? CHECKED_CONTROL : CHECKED_APART;
    double start = stopwatch_now();
    struct string_builder title;

    session_replay_announce(&loop->replay);
    string_init(&title);
    string_add_format(&title, "%s%s", is_control ? "Control: " : "Check of ", trial->what);
    log_indent(loop->log, 1);
    log_message(loop->log, is_control ? LOG_INFO : LOG_START, "RUNNING | %s", title.data);
    int rc = trial_judge(loop, trial, err);
    if (rc == 0)
        trial_log_end(loop->log, trial->verdict, checked, title.data, stopwatch_now() - start);
    log_indent(loop->log, -1);
    trial_clean_up(loop, trial);
    string_release(&title);
    return rc;
}

int loop_check(struct loop *loop, const struct loop_subject *subject, struct check_request request, enum verdict *ret,
               struct error *err)
{
    struct trial trial = {
        .subject = subject, .index = -1, .role = request.role, .key = request.key, .what = request.what};
    int rc = trial_check_apart(loop, &trial, err);

    if (rc == 0)
        *ret = trial.verdict;
    return rc;
}

void loop_verify_with(struct loop *loop, int (*verify)(void *data, struct error *err), void *data)
{
    loop->verification.run = verify;
    loop->verification.data = data;
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
    return loop->history.last_pass > 0;
}

int64_t loop_same_verdicts(const struct loop *loop, enum verdict *ret)
{
    *ret = loop->history.last_pass > loop->history.last_failure ? VERDICT_PASS : VERDICT_FAIL;
    return loop->history.last_pass > loop->history.last_failure ? loop->history.last_pass - loop->history.last_failure
                                                                : loop->history.last_failure - loop->history.last_pass;
}

bool loop_has_seen(const struct loop *loop, struct hash identity, enum verdict *ret)
{
    const struct seen_candidate *seen = seen_candidates_find(&loop->history.candidates, identity);

    if (seen)
        *ret = seen->verdict;
    return seen != NULL;
}

void loop_report_rates(const struct loop *loop, const char *original, const char *result, struct hash identity)
{
    const struct seen_candidate *seen = seen_candidates_find(&loop->history.candidates, identity);

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
    return loop->history.iterations[VERDICT_PASS];
}

int64_t loop_failed(const struct loop *loop)
{
    return loop->history.iterations[VERDICT_FAIL];
}

int64_t loop_skipped(const struct loop *loop)
{
    return loop->history.iterations[VERDICT_SKIP];
}

int64_t loop_written(const struct loop *loop)
{
    return loop->history.written;
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

    return (settings->max_checks > 0 && loop->history.checks >= settings->max_checks) ||
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
