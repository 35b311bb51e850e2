/* debug/session/session.c: the iterations of a debugging session. */
#include "debug/session/session.h"

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
#include "debug/session/speculation.h"
#include "debug/session/state.h"

#define MAXIMUM_ITERATIONS 100000

/* ---- A session ---- */

/* Files in one folder need different names. */
static int check_names(const struct debug_session *session, struct error *err)
{
    const char *const *files = session->settings.check.files.items;
    int rc = 0;

    for (size_t i = 0; session->settings.work_folder != NULL && i < CANDIDATE_FILES; i++)
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

/* Parallel checks need candidates at different paths, so the check's command has to name them. */
static int check_jobs(const struct debug_session *session, struct error *err)
{
    const struct session_settings *settings = &session->settings;
    const char *const *files = settings->check.files.items;

    if (settings->jobs <= 1 && settings->work_folder == NULL)
        return 0;
    if (check_is_interactive(session->check))
        return error_set(
            err, ERR_INVALID,
            "--jobs and --work-dir need --check: without it, you are asked for one verdict after the other");
    if (settings->check.caller > 0 && settings->jobs > 1)
        return error_set(err, ERR_INVALID,
                         "--jobs: checks of --check-fd run one after the other; leave out one of the two options");
    for (enum candidate_file i = 0; i < CANDIDATE_FILES; i++)
        if (files[i] != NULL && !check_words_name(check_words(session->check), i))
            return error_set(err, ERR_INVALID,
                             "the check does not name '%s': with --jobs or --work-dir each candidate has separate "
                             "files. Write %s in the command, which stands for the path",
                             files[i], check_words_placeholder(i));
    for (size_t i = 0; settings->jobs > 1 && i < settings->artifacts.paths.count; i++) {
        bool own = false;

        for (enum candidate_file j = 0; j < CANDIDATE_FILES; j++)
            own = own || (files[j] != NULL && strcmp(files[j], settings->artifacts.paths.items[i]) == 0);
        if (!own)
            return error_set(err, ERR_INVALID,
                             "--artifacts: with --jobs, parallel checks would overwrite each other's '%s'; leave out "
                             "one of the two options",
                             settings->artifacts.paths.items[i]);
    }
    return 0;
}

static int open_files(struct debug_session *session, const struct hash *model_hash, struct error *err)
{
    const struct session_settings *settings = &session->settings;
    const struct job_slots_settings slots = {.usual = settings->check.files,
                                             .keep_artifact = settings->keep_intermediate,
                                             .folder = settings->work_folder,
                                             .force = settings->force,
                                             .jobs = settings->jobs > 1 ? (size_t)settings->jobs : 1};
    struct session_replay *replay = &session->replay;
    struct replay_binding binding;
    struct hash cached_check;
    int rc = session_locks_take(&session->locks, &settings->check.files, settings->work_folder,
                                &session->settings.save_replay, session->log, err);

    if (rc < 0)
        return rc;
    binding = (struct replay_binding){.load_path = settings->load_replay,
                                      .save_path = settings->save_replay,
                                      .force = settings->force_replay,
                                      .model = model_hash ? *model_hash : (struct hash){0, 0},
                                      .check = hash_combine(check_hash(session->check), session->check_scripts)};
    rc = session_replay_open(replay, &binding, session->log, err);
    if (rc < 0)
        return rc;
    if (settings->check.rules.compare_failures && replay->replay.has_failure_code)
        /* the failure of the earlier session is searched for */
        judge_expect_failure(session->judge, (int)replay->replay.failure_code, replay->replay.failure_reason);
    cached_check = hash_combine(check_hash(session->check), session->check_files);
    if (settings->check.has_lists) /* a list depends on the model */
        cached_check = hash_combine(cached_check, binding.model);
    if (settings->verdict_cache)
        rc = verdict_cache_open(settings->verdict_cache, cached_check, session->log, &session->cache, err);
    if (rc == 0 && settings->work_folder)
        rc = file_make_folders(settings->work_folder, err);
    if (rc < 0)
        return rc;
    session_replay_remove_leftovers(replay);
    session->slots = job_slots_new(session->check, &slots, session->log);
    return job_slots_reserve(session->slots, replay->resumes, err);
}

static void warn_of_unnamed_artifact(const struct debug_session *session)
{
    const char *path = session->settings.check.files.items[CANDIDATE_ARTIFACT];

    if (path == NULL || check_is_interactive(session->check) || session->settings.check.caller > 0 ||
        check_words_tell_of_artifact(check_words(session->check)))
        return;
    log_message(session->log, LOG_WARNING,
                "Neither the check's command nor a script in it mentions '%s', %s or $POLYGRAPHY_ARTIFACT. If the "
                "check does not read the candidate, it gives the same verdict for all",
                path, check_words_placeholder(CANDIDATE_ARTIFACT));
}

void session_log_check_of(const struct debug_session *session, const char *path)
{
    struct candidate_paths files = session->settings.check.files;
    SCOPED_STRING(line);
    const struct check_words *words;
    char **items;

    if (check_is_interactive(session->check) || session->settings.check.caller > 0 ||
        !check_words_name(check_words(session->check), CANDIDATE_ARTIFACT))
        return;
    words = check_words(session->check);
    files.items[CANDIDATE_ARTIFACT] = path;
    items = check_words_for(words, &files, NULL);
    if (words->shell && session->settings.check.launcher.count == 0)
        string_add(&line, items[words->count - 1]);
    else
        for (size_t i = 0; items[i] != NULL; i++)
            shell_add_argument(&line, items[i]);
    log_message(session->log, LOG_INFO, "To check it again: %s", line.data);
    check_words_free(items);
}

int session_new(const struct session_settings *settings, const struct hash *model_hash, struct log *log,
                struct debug_session **ret, struct error *err)
{
    struct debug_session *session = memory_alloc_zero(1, sizeof(*session));

    session->started = stopwatch_now();
    session->settings = *settings;
    if (settings->artifacts.started == 0)
        session->settings.artifacts.started = time(NULL);
    session->log = log;
    history_init(&session->history);
    repeated_check_init(&session->repeated, settings->check.rules.flaky, settings->check.rules.no_false_failures, log);

    int rc = check_new(&settings->check, log, &session->check, err);
    if (rc < 0)
        goto done;
    session->judge = check_judge(session->check);
    rc = check_jobs(session, err);
    if (rc < 0)
        goto done;
    rc = check_names(session, err);
    if (rc < 0)
        goto done;
    session_watch_files(session);
    rc = open_files(session, model_hash, err);
    if (rc < 0)
        goto done;
    warn_of_unnamed_artifact(session);
    *ret = session;
    session = NULL;
done:
    session_free(session);
    return rc;
}

void session_free(struct debug_session *session)
{
    if (!session)
        return;
    job_slots_free(session->slots);
    check_free(session->check);
    verdict_cache_close(session->cache);
    session_replay_release(&session->replay);
    history_release(&session->history);
    watched_files_release(&session->watched);
    session_locks_release(&session->locks);
    free(session->resume_hint);
    free(session);
}

void session_free_pointed(struct debug_session **session)
{
    session_free(*session);
}

/* ---- Iterations ---- */

static bool is_spent(const struct debug_session *session)
{
    const struct session_settings *settings = &session->settings;

    return (settings->max_checks > 0 && session->history.checks >= settings->max_checks) ||
           (settings->deadline > 0 && stopwatch_now() - session->started >= settings->deadline);
}

static void report_iterations(const struct debug_session *session, const struct session_subject *subject, int64_t count,
                              int64_t passed)
{
    int64_t skipped = session->history.iterations[VERDICT_SKIP];
    char number[NUMBER_TEXT_SIZE];

    if (!subject->looks_into_failure)
        session_report_likeness(session, count, passed);
    if (skipped > 0)
        log_message(session->log, LOG_WARNING,
                    "%" PRId64 " iteration(s) so far were skipped: the check was inconclusive", skipped);
    log_message(session->log, LOG_FINISH,
                "Finished %" PRId64 " iteration(s) | Passed: %" PRId64 "/%" PRId64 " | Pass Rate: %s%%", count, passed,
                count, number_to_text((double)passed * 100 / (double)count, number));
}

/* Gets the verdict on the candidate that the search asks for, and passes it to the search. */
static int run_iteration(struct debug_session *session, const struct session_subject *subject, int64_t index,
                         bool *ret_go_on, struct error *err)
{
    double start = stopwatch_now();
    char *key = session_replay_key(index, subject->suffix);
    char title[64], what[64];
    struct trial trial = {.subject = subject, .index = index, .key = key, .what = what};
    enum verdict told = VERDICT_SKIP;
    int rc;

    snprintf(title, sizeof(title), "Iteration %" PRId64, index + 1);
    snprintf(what, sizeof(what), "iteration %" PRId64, index + 1);
    *ret_go_on = false;
    log_indent(session->log, 1);
    if (subject->ops->remaining != NULL)
        log_message(session->log, LOG_START, "RUNNING | %s | Approximately %" PRId64 " iteration(s) remaining", title,
                    subject->ops->remaining(subject->search));
    else
        log_message(session->log, LOG_START, "RUNNING | %s", title);
    rc = trial_judge(session, &trial, err);
    if (rc == 0) {
        trial_log_end(session->log, trial.verdict, CHECKED_CANDIDATE, title, stopwatch_now() - start);
        session->history.iterations[trial.verdict]++;
        told = session_verdict_to_tell(&trial.candidate, trial.verdict);
        if (subject->took != NULL)
            subject->took(subject->data, subject->search, &trial.candidate, trial.num_nodes, told);
        *ret_go_on = subject->ops->advance(subject->search, trial.num_nodes, told) &&
                     repeated_check_can_go_on(&session->repeated);
    }
    log_indent(session->log, -1);
    trial_clean_up(session, &trial);
    if (*ret_go_on && session->speculation != NULL)
        speculation_advance(session->speculation, trial.num_nodes, told);
    free(key);
    return rc;
}

int session_search(struct debug_session *session, const struct session_subject *subject, struct error *err)
{
    const int64_t *passed = &session->history.iterations[VERDICT_PASS];
    int64_t passed_before = *passed, count = 0;
    bool go_on = true;
    int rc = 0;

    session_replay_announce(&session->replay);
    if (job_slots_jobs(session->slots) > 1 && !session->repeated.enabled) /* then runs on one candidate are parallel */
        session->speculation = speculation_new(session, subject);
    while (rc == 0 && go_on && count < MAXIMUM_ITERATIONS && !is_spent(session))
        rc = run_iteration(session, subject, count++, &go_on, err);
    speculation_free(session->speculation);
    session->speculation = NULL;
    job_slots_drop_until(session->slots, INT64_MAX);
    if (rc < 0)
        return rc;
    if (go_on && is_spent(session))
        log_message(session->log, LOG_WARNING,
                    "Budget exhausted after %" PRId64 " checks: the result is not proven minimal",
                    session->history.checks);
    else if (go_on)
        log_message(session->log, LOG_WARNING, "Maximum number of iterations reached: %d.", MAXIMUM_ITERATIONS);
    if (count > 0)
        report_iterations(session, subject, count, *passed - passed_before);
    return 0;
}

int trial_check_apart(struct debug_session *session, struct trial *trial, struct error *err)
{
    bool is_control = trial_is_control(trial);
    enum checked checked = is_control ? CHECKED_CONTROL : CHECKED_APART;
    double start = stopwatch_now();
    SCOPED_STRING(title);

    session_replay_announce(&session->replay);
    string_add_format(&title, "%s%s", is_control ? "Control: " : "Check of ", trial->what);
    log_indent(session->log, 1);
    log_message(session->log, is_control ? LOG_INFO : LOG_START, "RUNNING | %s", title.data);
    int rc = trial_judge(session, trial, err);
    if (rc == 0)
        trial_log_end(session->log, trial->verdict, checked, title.data, stopwatch_now() - start);
    log_indent(session->log, -1);
    trial_clean_up(session, trial);
    return rc;
}

int session_check(struct debug_session *session, const struct session_subject *subject, struct check_request request,
                  enum verdict *ret, struct error *err)
{
    struct trial trial = {
        .subject = subject, .index = -1, .role = request.role, .key = request.key, .what = request.what};
    int rc = trial_check_apart(session, &trial, err);

    if (rc == 0)
        *ret = trial.verdict;
    return rc;
}

void session_verify_with(struct debug_session *session, int (*verify)(void *data, struct error *err), void *data)
{
    session->verification.run = verify;
    session->verification.data = data;
}

/* ---- What it has come to ---- */

/* Length of the run of equal verdicts that ends with the last one. */
static int64_t count_same_verdicts(const struct history *history)
{
    return history->last_pass > history->last_failure ? history->last_pass - history->last_failure
                                                      : history->last_failure - history->last_pass;
}

struct session_state session_state(const struct debug_session *session)
{
    const struct history *history = &session->history;
    const struct check_rules *rules = &session->settings.check.rules;

    return (struct session_state){
        .passed = history->iterations[VERDICT_PASS],
        .failed = history->iterations[VERDICT_FAIL],
        .skipped = history->iterations[VERDICT_SKIP],
        .written = history->written,
        .is_interactive = check_is_interactive(session->check),
        .is_flaky = session->repeated.enabled,
        .is_spent = is_spent(session),
        .ignores_hangs = rules->fail_patterns.count > 0 ||
                         (rules->fail_codes.count > 0 && !check_rules_name_code(rules, CHECK_TIMED_OUT_CODE)),
        .resumes = session->replay.resumes,
        .takes_over = session->replay.resumes || session->settings.force,
        .has_passed = history->last_pass > 0,
        .last_verdict = history->last_pass > history->last_failure ? VERDICT_PASS : VERDICT_FAIL,
        .same_verdicts = count_same_verdicts(history),
        .artifact = job_slots_artifact(session->slots),
        .evidence = &session->judge->evidence,
        .checks = &session->judge->counts,
    };
}

enum verdict session_judge_unmade(struct debug_session *session, const struct error *why)
{
    return judge_unmade(session->judge, why);
}

bool session_has_seen(const struct debug_session *session, struct hash identity, enum verdict *ret)
{
    const struct seen_candidate *seen = seen_candidates_find(&session->history.candidates, identity);

    if (seen)
        *ret = seen->verdict;
    return seen != NULL;
}

bool session_went_without(const struct debug_session *session, const char *key)
{
    return session->settings.load_replay && session->replay.replay.count > 0 &&
           !debug_replay_find(&session->replay.replay, key);
}

const char *session_resume_hint(struct debug_session *session, const char *const *command_line)
{
    const char *replay = session->replay.saved ? session->settings.save_replay : session->settings.load_replay;

    if (!replay)
        return NULL;
    char *command SCOPED_FREE = resume_hint_make(command_line, replay, session->settings.check.shell);
    struct string_builder hint;
    string_init(&hint);
    string_add_format(&hint, "Resume with: %s", command);
    free(session->resume_hint);
    session->resume_hint = string_take(&hint);
    return session->resume_hint;
}
