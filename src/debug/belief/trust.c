/* debug/belief/trust.c: tests of the check: it runs, it reads its candidate (control: an invalid file), its verdicts
 * are reproducible, and it leaves its input files unmodified. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/system.h"
#include "debug/belief/belief.h"
#include "debug/session/state.h"

/* Key of the control in the replay. */
#define LIKENESS_KEY "_likeness"

/* After this many equal verdicts in a row the control runs: a check that reads its candidates would rarely give them.
 * */
#define ALIKE_VERDICTS 5

#define NONSENSE "This is no model. It was written to see whether the check looks at its candidate.\n"

/* ---- The check runs ---- */

int belief_refuse_check(struct debug_session *session, struct error *err, const char *format, ...)
{
    SCOPED_STRING(text);
    va_list args;

    judge_show_hidden_output(session->judge);
    va_start(args, format);
    string_add_format_list(&text, format, args);
    va_end(args);
    string_add(&text, ": ");
    check_evidence_describe(&session->judge->evidence, &text);
    return error_set(err, ERR_INVALID, "%s", text.data);
}

/* Whether this was the first run of the check in this session, without a run on an original before it. */
static bool is_first_check(const struct debug_session *session)
{
    return session->verification.run == NULL && session->history.checks == 1 && !check_is_interactive(session->check);
}

int session_suspect_check(struct debug_session *session, struct trial *trial, struct error *err)
{
    enum expectation expectation = trial->candidate.expectation;
    int code = judge_take_broken_code(session->judge), rc;

    if (is_first_check(session) && !trial->candidate.has_identity && session->judge->unsound)
        return belief_refuse_check(session, err,
                                   "the check is inconclusive on its first run, by its exit code. Last run");
    if (code == 0)
        return 0;
    if (session->verification.runs || expectation == EXPECT_FAILURE || expectation == EXPECT_PASS ||
        is_first_check(session)) {
        judge_show_hidden_output(session->judge);
        return check_refuse_broken(session->check, code, session->verification.runs, err);
    }
    if (session->verification.run == NULL || session->verification.done)
        return 0;
    log_message(session->log, LOG_WARNING,
                "The check exited with code %d, as a shell does if a command cannot run. Re-checking the original to "
                "find out whether the check still works",
                code);
    if (job_slots_jobs(session->slots) == 1)
        trial->slot = NULL; /* there is only one, and the original needs it */
    session->verification.done = true;
    session->verification.runs = true;
    rc = session->verification.run(session->verification.data, err);
    session->verification.runs = false;
    return rc;
}

/* ---- The check reads its candidate ---- */

static int identify_nonsense(void *data, const void *search, struct candidate_description *ret, struct error *err)
{
    (void)data, (void)search, (void)err;
    ret->expectation = EXPECT_AGAIN;
    return 0;
}

static int write_nonsense(void *data, struct candidate_description *candidate, const struct candidate_paths *paths,
                          struct error *err)
{
    (void)data, (void)candidate;
    return file_write(paths->items[CANDIDATE_ARTIFACT], NONSENSE, sizeof(NONSENSE) - 1, FILE_INTERMEDIATE, err);
}

/* Verdict on the check from its run on the invalid file, after the verdict `suspicious` on a candidate. */
static enum verdict judge_nonsense(const struct debug_session *session, const struct check_evidence *before,
                                   enum verdict suspicious, enum verdict verdict)
{
    const struct check_evidence *now = &session->judge->evidence;

    if (suspicious == VERDICT_PASS)
        return verdict == VERDICT_PASS ? VERDICT_FAIL : VERDICT_PASS;
    if (before->runs == 0)
        return VERDICT_SKIP;
    if (!hash_equal(now->said, before->said))
        return VERDICT_PASS;
    return now->silent ? VERDICT_SKIP : VERDICT_FAIL;
}

static int run_on_nonsense(struct debug_session *session, struct trial *trial, enum verdict suspicious,
                           struct error *err)
{
    const struct check_evidence before = session->judge->evidence;
    int rc = session_identify(session, trial->subject, NULL, false, &trial->candidate, err);

    if (rc == 0)
        rc = trial_check(session, trial, err);
    judge_take_broken_code(session->judge); /* the invalid file may be the reason */
    if (rc < 0)
        return rc;
    trial->verdict = judge_nonsense(session, &before, suspicious, trial->verdict);
    check_evidence_leave_out(&session->judge->evidence, &before);
    return session_replay_save(&session->replay, trial->key,
                               &(struct saved_verdict){-1, -1, trial->verdict, trial->counts}, err);
}

static bool is_file(const char *path)
{
    struct stat status;

    return lstat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* With --no-remove-intermediate a candidate stays on disk, not the invalid file: renames an existing candidate and
 * returns its new name. */
static char *put_aside(const struct debug_session *session)
{
    const char *path = job_slots_artifact(session->slots);
    char *aside = session->settings.keep_intermediate && is_file(path) ? file_temporary_name(path) : NULL;

    if (aside != NULL && rename(path, aside) == 0)
        return aside;
    free(aside);
    return NULL;
}

static void put_back(const struct debug_session *session, char *aside)
{
    const char *path = job_slots_artifact(session->slots);

    if (aside != NULL && rename(aside, path) != 0)
        log_message(session->log, LOG_WARNING, "The last candidate remains at '%s': cannot rename it to '%s'", aside,
                    path);
    else if (aside == NULL && session->settings.keep_intermediate && is_file(path))
        unlink(path);
    free(aside);
}

int belief_check_nonsense(struct debug_session *session, const char *key, const char *kind, enum verdict suspicious,
                          enum verdict *ret, struct error *err)
{
    const struct session_subject subject = {.identify = identify_nonsense, .write = write_nonsense};
    struct trial trial = {
        .subject = &subject, .index = -1, .role = ROLE_CONTROL, .key = key, .what = "an invalid file", .num_nodes = -1};
    double start = stopwatch_now();
    SCOPED_STRING(title);
    struct saved_verdict known;
    bool is_known = session_replay_find(&session->replay, key, &known);
    char *aside = is_known ? NULL : put_aside(session);
    int rc = 0;

    string_add_format(&title, "Control: a file that is not a valid %s", kind);
    log_indent(session->log, 1);
    log_message(session->log, LOG_INFO, "RUNNING | %s", title.data);
    if (is_known)
        trial.verdict = known.verdict;
    else
        rc = run_on_nonsense(session, &trial, suspicious, err);
    if (rc == 0)
        trial_log_end(session->log, trial.verdict, CHECKED_CONTROL, title.data, stopwatch_now() - start);
    log_indent(session->log, -1);
    trial_clean_up(session, &trial);
    if (!is_known)
        put_back(session, aside);
    if (rc == 0)
        *ret = trial.verdict;
    return rc;
}

/* Whether the first candidates all had this verdict and a control is needed. Tools that end by themselves have other
 * controls. Passing checks may differ in their output; that a check also passes on the invalid file is enough. */
static bool is_suspicious(const struct debug_session *session, const struct session_subject *subject,
                          enum verdict verdict)
{
    const struct check_evidence *evidence = &session->judge->evidence;

    if (evidence->runs < ALIKE_VERDICTS)
        return false;
    if (verdict == VERDICT_PASS)
        return subject->end == ENDS_BY_FAILURE && session->history.last_failure == 0;
    return evidence->alike && (subject->end != ENDS_BY_ITSELF || (verdict == VERDICT_FAIL && !evidence->silent));
}

/* A check that only prints "failed" prints that for bad candidates and for an invalid file, whether it reads them or
 * not. This is no proof, so the search continues with a warning; tools that end by themselves run controls. `kind` is
 * NULL if there are no candidates. */
static void warn_of_equal_output(const struct debug_session *session, const struct session_subject *subject,
                                 const char *kind, enum verdict verdict, enum verdict sight)
{
    static const char *const words[] = {
        [VERDICT_PASS] = "passed", [VERDICT_FAIL] = "failed", [VERDICT_SKIP] = "were skipped"};
    const struct check_evidence *evidence = &session->judge->evidence;
    SCOPED_STRING(text);

    if (!evidence->alike)
        return;
    string_add_format(&text, "The first %d %s%s all %s with the same output", ALIKE_VERDICTS,
                      kind != NULL ? kind : "iteration", "s", words[verdict]);
    if (kind != NULL)
        string_add_format(&text,
                          sight == VERDICT_SKIP
                              ? ", and the check also fails without output on a file that is not a valid %s"
                              : ", and so did a file that is not a valid %s",
                          kind);
    string_add(&text, ": ");
    check_evidence_describe(evidence, &text);
    if (kind != NULL)
        string_add(&text, ". The check " BELIEF_MAY_IGNORE_INPUT);
    if (subject->end != ENDS_BY_ITSELF)
        string_add(&text, ". The session continues; make sure that the check tests what it should");
    else if (subject->kind == NULL)
        string_add(&text, ". If nothing passes, controls follow at the end");
    log_message(session->log, LOG_WARNING, "%s", text.data);
}

int session_question_likeness(struct debug_session *session, struct trial *trial, struct error *err)
{
    const struct session_subject *subject = trial->subject;
    const char *kind = subject->kind != NULL ? subject->kind : "model";
    enum verdict sight;
    int rc;

    if (session->questioned || session->verification.runs || session->repeated.enabled ||
        check_is_interactive(session->check) || trial_is_control(trial) ||
        !is_suspicious(session, subject, trial->verdict) ||
        (subject->beside != NULL && check_words_name_path(check_words(session->check), subject->beside)))
        return 0;
    session->questioned = true;
    if (session->settings.check.files.items[CANDIDATE_ARTIFACT] == NULL) {
        warn_of_equal_output(session, subject, NULL, trial->verdict, VERDICT_SKIP);
        return 0;
    }
    if (job_slots_jobs(session->slots) == 1)
        trial->slot = NULL; /* there is only one */
    rc = belief_check_nonsense(session, LIKENESS_KEY, kind, trial->verdict, &sight, err);
    if (rc < 0 || sight == VERDICT_PASS || (sight == VERDICT_SKIP && subject->end == ENDS_BY_ITSELF))
        return rc;
    if (trial->verdict == VERDICT_PASS)
        return belief_refuse_check(session, err,
                                   "the check passed on the first %d %ss, but also on a file that is not a valid %s, "
                                   "so it does not read its input. Last run",
                                   ALIKE_VERDICTS, kind, kind);
    warn_of_equal_output(session, subject, kind, trial->verdict, sight);
    return 0;
}

void session_report_likeness(const struct debug_session *session, int64_t count, int64_t passed)
{
    const struct check_evidence *evidence = &session->judge->evidence;
    SCOPED_STRING(text);

    if (session->verification.run != NULL || passed > 0 || count < 2 || evidence->runs < count || !evidence->alike ||
        session->history.iterations[VERDICT_FAIL] < count)
        return;
    check_evidence_describe(evidence, &text);
    log_message(session->log, LOG_WARNING,
                "All %" PRId64
                " iterations failed with the same output: the failure does not depend on the iteration. Last run: %s",
                count, text.data);
}

/* ---- The check is reproducible ---- */

bool session_has_run(const struct debug_session *session, struct hash identity)
{
    const struct seen_candidate *seen = seen_candidates_find(&session->history.candidates, identity);

    return seen != NULL && seen->source == VERDICT_OF_CHECK;
}

/* The earlier verdict is wrong. */
static int refuse_known_verdict(struct debug_session *session, const struct trial *trial, enum verdict expected,
                                struct error *err)
{
    static const char *const before[] = {
        [VERDICT_PASS] = "passed", [VERDICT_FAIL] = "failed", [VERDICT_SKIP] = "was inconclusive"};
    static const char *const now[] = {
        [VERDICT_PASS] = "passed", [VERDICT_FAIL] = "failed", [VERDICT_SKIP] = "was inconclusive"};
    const struct session_settings *settings = &session->settings;

    if (trial->earlier == VERDICT_OF_CHECK && trial->subject->may_be_kept)
        return belief_refuse_check(
            session, err,
            "%s %s, but %s when written with all inferred types and shapes. Add these to the model first (polygraphy "
            "surgeon sanitize), or use --flaky if the failure is intermittent. Last run",
            trial->what, before[expected], now[trial->verdict]);
    if (trial->earlier == VERDICT_OF_CHECK)
        return belief_refuse_check(session, err, "%s %s first, but %s when re-checked" BELIEF_NOT_REPRODUCIBLE,
                                   trial->what, before[expected], now[trial->verdict]);
    return belief_refuse_check(
        session, err,
        "%s %s according to the %s '%s', but %s when re-checked: the check has changed since, or its verdicts are not "
        "reproducible. %s, or use --flaky if the failure is intermittent. Last run",
        trial->what, before[expected], trial->earlier == VERDICT_OF_CACHE ? "verdict cache" : "debug replay",
        trial->earlier == VERDICT_OF_CACHE ? settings->verdict_cache : settings->load_replay, now[trial->verdict],
        trial->earlier == VERDICT_OF_CACHE ? "Delete that folder" : "Start over without --load-debug-replay");
}

int belief_confirm(struct debug_session *session, const struct session_subject *subject, const char *what,
                   enum verdict expected, struct error *err)
{
    struct trial trial = {.subject = subject, .index = -1, .key = "", .what = what, .anew = true};
    bool known = false;
    int rc = 0;

    if (check_is_interactive(session->check))
        return 0;
    if (subject->may_be_kept)
        rc = trial_recall(session, &trial, &known, err);
    if (rc == 0 && !known)
        rc = trial_check_apart(session, &trial, err);
    return rc < 0 || trial.verdict == expected ? rc : refuse_known_verdict(session, &trial, expected, err);
}

void belief_report_rates(const struct debug_session *session, const char *original, const char *result,
                         struct hash identity)
{
    const struct seen_candidate *seen = seen_candidates_find(&session->history.candidates, identity);

    repeated_check_report(&session->repeated, original, session->repeated.original);
    if (seen)
        repeated_check_report(&session->repeated, result, seen->counts);
}

/* ---- The check leaves its input files unmodified ---- */

static bool is_artifact(const struct debug_session *session, const char *path)
{
    for (size_t i = 0; i < CANDIDATE_FILES; i++)
        if (session->settings.check.files.items[i] != NULL && strcmp(session->settings.check.files.items[i], path) == 0)
            return true;
    return text_is_one_of(text_of(path), session->settings.artifacts.paths.items,
                          session->settings.artifacts.paths.count) ||
           text_is_one_of(text_of(path), session->settings.written.items, session->settings.written.count);
}

/* Files that cannot be read are ignored: the check reports them. */
static void note_content(struct debug_session *session, const struct named_file *file)
{
    struct file_identity identity;

    if (file_identity_take(file->path, &identity, NULL) < 0)
        return;
    session->check_files = hash_combine(session->check_files, identity.content);
    if (file->vital)
        session->check_scripts = hash_combine(session->check_scripts, identity.content);
}

void session_watch_files(struct debug_session *session)
{
    struct named_files named SCOPED(named_files_release) = {0};

    if (session->settings.model != NULL)
        watched_files_add(&session->watched, session->settings.model, true);
    for (size_t i = 0; i < session->settings.data.count; i++)
        watched_files_add(&session->watched, session->settings.data.items[i], true);
    check_words_list_files(check_words(session->check), &named);
    for (size_t i = 0; i < named.count; i++)
        if (!is_artifact(session, named.items[i].path)) {
            watched_files_add(&session->watched, named.items[i].path, named.items[i].vital);
            note_content(session, &named.items[i]);
        }
    if (check_words(session->check)->program != NULL)
        note_content(session, &(struct named_file){.path = check_words(session->check)->program});
}

void session_watch(struct debug_session *session, const char *path)
{
    watched_files_add(&session->watched, path, true);
}

int session_refuse_changes(struct debug_session *session, const struct job_slot *slot, struct error *err)
{
    enum candidate_file file = candidate_place_find_changed(&slot->place);
    const struct watched_file *changed;

    if (file != CANDIDATE_FILES)
        return error_set(err, ERR_INVALID,
                         "the check modified its input '%s'; verdict discarded. Let the check work on a copy",
                         session->settings.check.files.items[file]);
    while ((changed = watched_files_find_changed(&session->watched)) != NULL) {
        if (changed->vital)
            return error_set(err, ERR_INVALID,
                             "'%s' was modified while the check ran, so earlier verdicts no longer apply. Let the "
                             "check work on a copy",
                             changed->path);
        log_once(session->log, LOG_WARNING,
                 "'%s', which the check names, was modified while the check ran. If the check also reads that file, "
                 "its verdicts depend on earlier runs",
                 changed->path);
    }
    return 0;
}
