/* debug/loop.c: the iterations of a debugging session. */
#include "debug/loop.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/number_text.h"
#include "base/stopwatch.h"
#include "debug/loop_log.h"
#include "debug/resume_hint.h"
#include "debug/seen_candidates.h"
#include "debug/temporary_file.h"
#include "format/iteration_info.h"

#define MAXIMUM_ITERATIONS 100000

struct loop {
    struct loop_settings settings;
    struct log *log;
    struct check *check;

    struct debug_replay replay;
    char *skip_current_path;   /* NULL: nothing is saved */
    const char *replay_remark; /* a warning about the replay that was loaded, or NULL */
    bool resumes;              /* the replay is of this very session, or is said to be */
    bool replay_announced;
    bool saved; /* at least once */

    struct temporary_file artifact, information;
    struct seen_candidates seen;
    struct repeated_check repeated; /* --flaky */
    int64_t verdicts[3];            /* how many iterations have each enum verdict */
    int64_t checks;                 /* that were run, for the budget */
    double started;
    char *resume_hint;
};

/* One candidate on its way to a verdict. */
struct trial {
    const struct loop_subject *subject;
    int64_t index;    /* -1: apart from the numbered iterations */
    const char *key;  /* in the replay */
    const char *what; /* how candidates that are identical refer to this one */
    enum expectation expectation;

    /* What came of it: */
    bool stopped; /* the subject wants to leave the loop: there is no verdict */
    int64_t num_nodes;
    enum verdict verdict;
    struct run_counts counts; /* with --flaky; of a check that was run */
};

/* ---- A session ---- */

/* Refuses a replay whose verdicts are about something else, unless that is wanted. */
static int check_binding(struct loop *loop, const char *model, const char *check, struct error *err)
{
    const struct debug_replay *replay = &loop->replay;
    const char *path = loop->settings.load_replay;

    loop->resumes = loop->settings.force_replay;
    if (!replay->has_session) {
        if (replay->count > 0)
            loop->replay_remark = "This debug replay does not say which model and which check it belongs to. "
                                  "Make sure that it fits";
        return 0;
    }
    bool same_model = strcmp(replay->model_hash, model) == 0;
    bool same_check = strcmp(replay->check_hash, check) == 0;
    if (same_model && same_check) {
        loop->resumes = true;
        return 0;
    }
    if (loop->settings.force_replay) {
        loop->replay_remark =
            "This debug replay belongs to another model or another check. Its verdicts are used because "
            "of --force-debug-replay";
        return 0;
    }
    return error_set(err, ERR_INVALID,
                     "debug replay '%s' belongs to another %s, where the verdicts may differ; leave it out, or use it "
                     "anyway with --force-debug-replay",
                     path,
                     same_check   ? "model, or to other options"
                     : same_model ? "check"
                                  : "model or other options, and to another check");
}

static int load_replay(struct loop *loop, const struct hash *model_hash, struct error *err)
{
    char model[HASH_TEXT_SIZE], check[HASH_TEXT_SIZE];
    int rc = 0;

    hash_to_text(model_hash ? *model_hash : (struct hash){0, 0}, model);
    hash_to_text(check_hash(loop->check), check);
    if (loop->settings.load_replay) {
        rc = debug_replay_load(&loop->replay, loop->settings.load_replay, err);
        if (rc == 0)
            rc = check_binding(loop, model, check, err);
    }
    if (rc < 0)
        return rc;
    loop->replay.has_session = true;
    memcpy(loop->replay.model_hash, model, HASH_TEXT_SIZE);
    memcpy(loop->replay.check_hash, check, HASH_TEXT_SIZE);
    return 0;
}

/* What a session that was killed has left must not be in the way of the one that goes on behind it. */
static int take_over(struct loop *loop, struct error *err)
{
    const char *path = loop->artifact.path;
    const char *const written[] = {path, loop->information.path, loop->settings.save_replay, loop->skip_current_path};

    for (size_t i = 0; i < ARRAY_LEN(written); i++)
        if (written[i])
            file_remove_leftovers(written[i]);
    if (loop->resumes)
        temporary_file_take_over(&loop->information);
    if (!path || !file_exists(path))
        return 0;
    if (loop->resumes && temporary_file_take_over(&loop->artifact)) {
        log_message(loop->log, LOG_INFO, "%s '%s', which the session that goes on here has left",
                    loop->artifact.kept ? "Replacing" : "Removing", path);
        return 0;
    }
    return error_set(
        err, ERR_EXISTS,
        "'%s' already exists, refusing to overwrite: move it away, or choose another path with "
        "--intermediate-artifact; if it is from a session that was killed, --load-debug-replay goes on there",
        path);
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
    loop->artifact.path = settings->intermediate_artifact;
    loop->artifact.kept = settings->keep_intermediate;
    loop->information.path = settings->iteration_info;
    debug_replay_init(&loop->replay);
    seen_candidates_init(&loop->seen);
    repeated_check_init(&loop->repeated, settings->check.flaky, settings->check.no_false_failures, log);
    if (settings->save_replay)
        loop->skip_current_path = debug_replay_skip_current_path(settings->save_replay);

    int rc = check_new(&settings->check, log, &loop->check, err);
    if (rc == 0)
        rc = load_replay(loop, model_hash, err);
    if (rc == 0 && settings->check.compare_failures && loop->replay.has_failure_code)
        check_set_failure_code(loop->check, (int)loop->replay.failure_code);
    if (rc == 0)
        rc = take_over(loop, err);
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
    check_free(loop->check);
    debug_replay_release(&loop->replay);
    seen_candidates_release(&loop->seen);
    free(loop->skip_current_path);
    free(loop->resume_hint);
    free(loop);
}

/* The replay was loaded when the session began; the log tells so where it is first used. */
static void announce_replay(struct loop *loop)
{
    if (!loop->settings.load_replay || loop->replay_announced)
        return;
    loop->replay_announced = true;
    log_message(loop->log, LOG_INFO, "Loading debug replay from %s", loop->settings.load_replay);
    if (loop->replay_remark)
        log_message(loop->log, LOG_WARNING, "%s", loop->replay_remark);
}

/* ---- Files of an iteration ---- */

static void remove_temporary(struct loop *loop, struct temporary_file *file)
{
    if (!temporary_file_remove(file))
        log_message(loop->log, LOG_WARNING, "Could not clean up: %s", file->path);
}

static void clean_up(struct loop *loop)
{
    remove_temporary(loop, &loop->information);
    remove_temporary(loop, &loop->artifact);
}

static int write_artifact(struct loop *loop, const struct loop_subject *subject, struct error *err)
{
    if (!subject->write)
        return 0;
    log_indent(loop->log, 1);
    int rc = temporary_file_write(&loop->artifact, subject->write, subject->data, err);
    log_indent(loop->log, -1);
    return rc;
}

static int save_information(void *data, const char *path, struct error *err)
{
    return iteration_info_save(path, *(const int64_t *)data, err);
}

static int write_information(struct loop *loop, const struct trial *trial, struct error *err)
{
    int64_t index = trial->index;

    return temporary_file_write(&loop->information, save_information, &index, err);
}

/* Sorts the artifacts. A temporary file that was among them has found its place. */
static int sort_artifacts(struct loop *loop, const struct trial *trial, struct error *err)
{
    struct temporary_file *files[] = {&loop->artifact, &loop->information};
    bool there[ARRAY_LEN(files)];

    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        there[i] = files[i]->present && file_exists(files[i]->path);
    int rc = artifacts_sort(&loop->settings.artifacts, trial->verdict, trial->key, loop->log, err);
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        if (there[i] && !file_exists(files[i]->path))
            temporary_file_forget(files[i]);
    }
    return rc;
}

/* ---- A verdict ---- */

static void set_entry(struct loop *loop, const struct trial *trial, enum verdict verdict)
{
    struct replay_entry entry = {
        .iteration = trial->index >= 0 ? trial->index : 0, /* a replay knows no negative ones */
        .num_nodes = trial->num_nodes,
        .success = verdict != VERDICT_FAIL,
        .skipped = verdict == VERDICT_SKIP,
        .runs = (int64_t)trial->counts.runs,
        .fails = (int64_t)trial->counts.fails,
    };

    debug_replay_set_entry(&loop->replay, trial->key, &entry);
}

/* Notes in a file beside the replay that this candidate fails: should its check take the machine down, a session that
 * loads this file goes on behind it. */
static int save_as_failed(struct loop *loop, const struct trial *trial, struct error *err)
{
    if (!loop->skip_current_path)
        return 0;
    set_entry(loop, trial, VERDICT_FAIL);
    return debug_replay_save(&loop->replay, loop->skip_current_path, err);
}

static void keep_failure_code(struct loop *loop)
{
    int code;

    loop->replay.has_failure_code = check_failure_code(loop->check, &code);
    if (loop->replay.has_failure_code)
        loop->replay.failure_code = code;
}

static int save_verdict(struct loop *loop, const struct trial *trial, struct error *err)
{
    const char *path = loop->settings.save_replay;

    if (!path)
        return 0;
    set_entry(loop, trial, trial->verdict);
    keep_failure_code(loop);
    log_message(loop->log, LOG_INFO, "Saving debug replay to %s", path);
    int rc = debug_replay_save(&loop->replay, path, err);
    if (rc == 0)
        loop->saved = true;
    return rc;
}

/* What the check finds, as often as it is run. */
struct scene {
    struct loop *loop;
    const struct trial *trial;
    const char *const *environment;
    bool visited;
};

/* A check may have taken its files away. */
static int run_once(void *data, enum verdict *ret, struct error *err)
{
    struct scene *scene = data;
    struct loop *loop = scene->loop;
    int rc = 0;

    if (scene->visited && loop->artifact.path && !file_exists(loop->artifact.path))
        rc = write_artifact(loop, scene->trial->subject, err);
    if (rc == 0 && scene->visited && loop->information.path && !file_exists(loop->information.path))
        rc = write_information(loop, scene->trial, err);
    scene->visited = true;
    return rc == 0 ? check_run(loop->check, loop->artifact.path, scene->environment, ret, err) : rc;
}

static int run_check(struct loop *loop, struct trial *trial, struct error *err)
{
    char iteration[64];
    char *artifact = NULL;
    const char *environment[3] = {iteration};

    snprintf(iteration, sizeof(iteration), "POLYGRAPHY_ITERATION=%" PRId64, trial->index);
    if (loop->artifact.path) {
        struct string_builder builder;
        string_init(&builder);
        string_add_format(&builder, "POLYGRAPHY_ARTIFACT=%s", loop->artifact.path);
        artifact = string_take(&builder);
        environment[1] = artifact;
    }
    struct scene scene = {.loop = loop, .trial = trial, .environment = environment};
    struct single_run single = {.run = run_once, .data = &scene};
    int rc = loop->repeated.enabled ? repeated_check_run(&loop->repeated, trial->expectation, &single, &trial->counts,
                                                         &trial->verdict, err)
                                    : run_once(&scene, &trial->verdict, err);
    free(artifact);
    return rc;
}

static bool is_budget_spent(const struct loop *loop)
{
    const struct loop_settings *settings = &loop->settings;

    return (settings->max_checks > 0 && loop->checks >= settings->max_checks) ||
           (settings->deadline > 0 && stopwatch_now() - loop->started >= settings->deadline);
}

static int write_and_check(struct loop *loop, struct trial *trial, struct error *err)
{
    int rc = write_artifact(loop, trial->subject, err);

    if (rc == 0)
        rc = write_information(loop, trial, err);
    if (rc == 0)
        rc = save_as_failed(loop, trial, err);
    if (rc == 0)
        rc = run_check(loop, trial, err);
    loop->checks++;
    if (rc == 0 && trial->index >= 0)
        rc = sort_artifacts(loop, trial, err);
    return rc;
}

/* Finds the verdict on a candidate that the replay does not know. */
static int find_verdict(struct loop *loop, struct trial *trial, const struct loop_candidate *candidate,
                        struct error *err)
{
    const struct seen_candidate *seen = NULL;
    int rc = 0;

    if (candidate->has_identity && candidate->expectation != EXPECT_AGAIN)
        seen = seen_candidates_find(&loop->seen, candidate->identity);
    if (candidate->action == CANDIDATE_SKIP) {
        trial->verdict = candidate->skip_verdict;
        if (trial->index >= 0)
            rc = artifacts_sort_leftovers(&loop->settings.artifacts, trial->verdict, trial->key, loop->log, err);
    } else if (seen) {
        loop_log_reuse(loop->log, trial->subject, seen);
        trial->verdict = seen->verdict;
    } else {
        rc = write_and_check(loop, trial, err);
    }
    return rc == 0 ? save_verdict(loop, trial, err) : rc;
}

static void remember(struct loop *loop, const struct trial *trial, const struct loop_candidate *candidate)
{
    const char *phase = trial->index >= 0 ? trial->subject->suffix : NULL;

    if (loop->repeated.enabled)
        repeated_check_learn(&loop->repeated, trial->expectation, trial->counts, trial->verdict);
    if (!candidate->has_identity || candidate->action != CANDIDATE_CHECK)
        return;
    if (trial->expectation == EXPECT_AGAIN)
        seen_candidates_correct(&loop->seen, candidate->identity, trial->verdict, trial->counts);
    seen_candidates_add(&loop->seen, candidate->identity,
                        (struct seen_candidate){trial->verdict, trial->what, phase, trial->counts});
}

/* Takes one candidate from its description to a verdict. */
static int judge(struct loop *loop, struct trial *trial, struct error *err)
{
    const struct loop_subject *subject = trial->subject;
    const struct replay_entry *known = debug_replay_find(&loop->replay, trial->key);
    struct loop_candidate candidate = {.num_nodes = -1};
    int rc;

    if (interrupt_pending())
        return error_set(err, ERR_INTERRUPTED, "interrupted");
    log_indent(loop->log, 1);
    rc = subject->describe(subject->data, trial->index, known != NULL, &candidate, err);
    log_indent(loop->log, -1);
    if (rc < 0)
        return rc;
    trial->stopped = candidate.action == CANDIDATE_STOP;
    trial->num_nodes = candidate.num_nodes;
    trial->expectation = candidate.expectation;
    if (trial->stopped)
        return 0;

    if (known) {
        log_message(loop->log, LOG_INFO, "Loading iteration information from debug replay: success=%s",
                    known->success ? "True" : "False");
        trial->verdict = known->skipped ? VERDICT_SKIP : known->success ? VERDICT_PASS : VERDICT_FAIL;
        trial->num_nodes = known->num_nodes >= 0 ? known->num_nodes : candidate.num_nodes;
        trial->counts = (struct run_counts){(size_t)known->runs, (size_t)known->fails};
    } else {
        rc = find_verdict(loop, trial, &candidate, err);
    }
    if (rc == 0)
        remember(loop, trial, &candidate);
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
        loop_log_end(loop->log, trial.verdict, LOG_ERROR, title, stopwatch_now() - start);
        loop->verdicts[trial.verdict]++;
        *ret_go_on = subject->advance(subject->data, index, trial.num_nodes, trial.verdict) &&
                     repeated_check_can_go_on(&loop->repeated);
    } else {
        *ret_go_on = false;
    }
    log_indent(loop->log, -1);
    clean_up(loop);
    free(key);
    return rc;
}

int loop_run(struct loop *loop, const struct loop_subject *subject, struct error *err)
{
    int64_t passed_before = loop->verdicts[VERDICT_PASS], count = 0;
    char number[NUMBER_TEXT_SIZE];
    bool go_on = true;

    announce_replay(loop);
    while (go_on && count < MAXIMUM_ITERATIONS && !is_budget_spent(loop)) {
        int rc = run_iteration(loop, subject, count++, &go_on, err);
        if (rc < 0)
            return rc;
    }
    if (go_on && is_budget_spent(loop))
        log_message(loop->log, LOG_WARNING,
                    "The budget is used up after %" PRId64 " checks: what was found so far is not proven minimal",
                    loop->checks);
    else if (go_on)
        log_message(loop->log, LOG_WARNING, "Maximum number of iterations reached: %d.", MAXIMUM_ITERATIONS);

    if (count == 0)
        return 0;
    int64_t passed = loop->verdicts[VERDICT_PASS] - passed_before;
    if (loop->verdicts[VERDICT_SKIP] > 0)
        log_message(loop->log, LOG_WARNING,
                    "%" PRId64 " iteration(s) so far were skipped: the check said nothing about the candidate",
                    loop->verdicts[VERDICT_SKIP]);
    log_message(loop->log, LOG_FINISH,
                "Finished %" PRId64 " iteration(s) | Passed: %" PRId64 "/%" PRId64 " | Pass Rate: %s%%", count, passed,
                count, number_to_text((double)passed * 100 / (double)count, number));
    return 0;
}

int loop_check_apart(struct loop *loop, const struct loop_subject *subject, const char *key, const char *what,
                     enum verdict *ret, struct error *err)
{
    double start = stopwatch_now();
    struct trial trial = {.subject = subject, .index = -1, .key = key, .what = what};
    struct string_builder title;

    announce_replay(loop);
    string_init(&title);
    string_add_format(&title, "Check of %s", what);
    log_indent(loop->log, 1);
    log_message(loop->log, LOG_START, "RUNNING | %s", title.data);
    int rc = judge(loop, &trial, err);
    if (rc == 0 && trial.stopped)
        rc = error_set(err, ERR_UNSUPPORTED, "%s cannot be checked", what);
    /* A failure is what is hoped for here as often as not: no reason for the level of an error. */
    if (rc == 0)
        loop_log_end(loop->log, trial.verdict, LOG_FINISH, title.data, stopwatch_now() - start);
    log_indent(loop->log, -1);
    clean_up(loop);
    string_release(&title);
    if (rc == 0)
        *ret = trial.verdict;
    return rc;
}

/* ---- Questions ---- */

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
    return loop->settings.load_replay && loop->replay.count > 0 && !debug_replay_find(&loop->replay, key);
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

bool loop_is_interactive(const struct loop *loop)
{
    return check_is_interactive(loop->check);
}

bool loop_is_flaky(const struct loop *loop)
{
    return loop->repeated.enabled;
}

bool loop_resumes(const struct loop *loop)
{
    return loop->resumes;
}

const char *loop_resume_hint(struct loop *loop, const char *const *command_line)
{
    const char *replay = loop->saved ? loop->settings.save_replay : loop->settings.load_replay;

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
