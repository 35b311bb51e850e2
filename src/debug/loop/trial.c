/* debug/loop/trial.c: one candidate on its way to a verdict: files, check, artifacts. */
#include "debug/loop/state.h"

/* ---- Its slot ---- */

static struct job_key key_of(const struct trial *trial, size_t run)
{
    struct job_key ret = {.index = trial->index, .run = run};

    if (trial->candidate.has_identity)
        ret.identity = trial->candidate.identity;
    return ret;
}

static int prepare(struct loop *loop, const struct trial *trial, struct error *err)
{
    const struct loop_subject *subject = trial->subject;
    const char *path = loop->settings.check.files.items[CANDIDATE_ARTIFACT];

    return subject->prepare != NULL && path != NULL ? subject->prepare(subject->data, path, err) : 0;
}

static struct candidate_content content_of(const struct loop *loop, const struct trial *trial)
{
    bool has_artifact = loop->settings.check.files.items[CANDIDATE_ARTIFACT] != NULL;

    return (struct candidate_content){
        .write = has_artifact ? trial->subject->write : NULL, .data = trial->subject->data, .iteration = trial->index};
}

static int open_slot(struct loop *loop, struct trial *trial, size_t run, struct error *err)
{
    struct candidate_content content = content_of(loop, trial);
    int rc;

    log_indent(loop->log, 1);
    rc = prepare(loop, trial, err);
    trial->slot = job_slots_find(loop->slots, key_of(trial, run));
    if (rc == 0 && trial->slot == NULL) {
        rc = job_slots_open(loop->slots, key_of(trial, run), &content, &trial->slot, err);
        if (rc == 0)
            loop_look_up(loop, trial->subject, trial->slot);
    } else if (rc == 0) {
        loop_look_up_again(loop, trial->slot);
    }
    trial->has_file = rc == 0 && trial->slot->has_file && trial->candidate.has_identity;
    if (trial->has_file)
        trial->file = hash_combine(trial->candidate.identity, trial->slot->file);
    log_indent(loop->log, -1);
    return rc;
}

/* The check is run once more. It may have taken its files away. */
static int open_again(struct loop *loop, struct trial *trial, size_t run, struct error *err)
{
    struct candidate_content content = content_of(loop, trial);
    int rc = 0;

    if (job_slots_jobs(loop->slots) > 1) {
        job_slot_drop(loop->slots, trial->slot);
        trial->slot = job_slots_find(loop->slots, key_of(trial, run));
        return trial->slot != NULL ? 0 : job_slots_open(loop->slots, key_of(trial, run), &content, &trial->slot, err);
    }
    trial->slot->key.run = run;
    if (candidate_place_is_whole(&trial->slot->place))
        return 0;
    log_indent(loop->log, 1);
    rc = prepare(loop, trial, err);
    if (rc == 0)
        rc = candidate_place_write(&trial->slot->place, &content, err);
    log_indent(loop->log, -1);
    return rc;
}

/* An unreliable check will be run on the same candidate several times: the next runs begin at once where there is
 * room. */
static void run_ahead(struct loop *loop, const struct trial *trial, size_t run)
{
    struct candidate_content content = content_of(loop, trial);
    struct error ignored; /* what is wrong will be seen when it is this run's turn */

    if (!loop->repeated.enabled || !trial->candidate.has_identity || !judge_knows_time_limit(loop->judge))
        return;
    for (size_t i = run + 1; i < run + job_slots_jobs(loop->slots) && job_slots_have_room(loop->slots); i++) {
        struct job_slot *slot = job_slots_find(loop->slots, key_of(trial, i));

        if (slot == NULL && (job_slots_open(loop->slots, key_of(trial, i), &content, &slot, &ignored) < 0 ||
                             job_slot_launch(loop->slots, slot, &ignored) < 0))
            return;
    }
}

/* ---- Its check ---- */

/* What the check finds, as often as it is run. */
struct context {
    struct loop *loop;
    struct trial *trial;
    size_t runs;
};

static int wait_for_end(struct loop *loop, const struct trial *trial, size_t run, struct error *err)
{
    struct job_slot *slot = trial->slot;
    /* One that could not be run ahead may have lacked what is there by now. */
    bool failed_ahead = slot->state == SLOT_LAUNCHED && job_slot_has_ended(loop->slots, slot) && slot->rc < 0;
    int rc = slot->state == SLOT_WRITTEN || failed_ahead || job_slots_jobs(loop->slots) == 1
                 ? job_slot_launch(loop->slots, slot, err)
                 : 0;

    if (rc < 0)
        return rc;
    run_ahead(loop, trial, run);
    while (!job_slot_has_ended(loop->slots, slot)) {
        if (loop->speculation != NULL && judge_knows_time_limit(loop->judge))
            speculation_fill(loop->speculation, slot);
        if (!job_slot_has_ended(loop->slots, slot))
            job_slots_sleep(loop->slots);
    }
    if (slot->rc < 0)
        *err = slot->err;
    return slot->rc;
}

static int run_once(void *data, enum verdict *ret, struct error *err)
{
    struct context *context = data;
    struct loop *loop = context->loop;
    struct job_slot *slot;
    int rc = 0;

    if (context->runs > 0)
        rc = open_again(loop, context->trial, context->runs, err);
    if (rc < 0)
        return rc;
    slot = context->trial->slot;
    if (check_is_interactive(loop->check)) {
        context->runs++;
        return check_ask(loop->check, loop->settings.check.files.items[CANDIDATE_ARTIFACT], ret, err);
    }
    check_announce(loop->check);
    rc = wait_for_end(loop, context->trial, context->runs++, err);
    if (rc < 0)
        return rc;
    loop->check_seconds += slot->result.seconds;
    rc = loop_refuse_changes(loop, slot, err);
    return rc == 0 ? judge_run(loop->judge, &slot->result, ret, err) : rc;
}

static int run_check(struct loop *loop, struct trial *trial, struct error *err)
{
    struct context context = {.loop = loop, .trial = trial};
    struct single_run single = {.run = run_once, .data = &context};

    return loop->repeated.enabled ? repeated_check_run(&loop->repeated, trial->candidate.expectation, &single,
                                                       &trial->counts, &trial->verdict, err)
                                  : run_once(&context, &trial->verdict, err);
}

/* ---- All of it ---- */

static struct saved_verdict to_be_saved(const struct trial *trial)
{
    return (struct saved_verdict){trial->index, trial->num_nodes, trial->verdict, trial->counts};
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

/* Whether a verdict of another session will do. What every other verdict is held against shows whether the check still
 * works. */
static bool may_be_known(enum expectation expectation)
{
    return expectation != EXPECT_AGAIN && expectation != EXPECT_FAILURE && expectation != EXPECT_PASS;
}

/* ---- What was checked, byte for byte ---- */

static void remember_file(struct loop *loop, const struct trial *trial)
{
    struct seen_candidate seen = {.verdict = trial->verdict, .what = trial->what};

    seen_candidates_correct(&loop->files, trial->file, seen);
    seen_candidates_add(&loop->files, trial->file, seen);
}

static int recall(struct loop *loop, struct trial *trial, bool *ret_known, struct error *err)
{
    const struct seen_candidate *seen;
    int rc = trial->subject->describe(trial->subject->data, trial->index, false, &trial->candidate, err);

    if (rc < 0 || trial->candidate.action != CANDIDATE_CHECK)
        return rc;
    rc = open_slot(loop, trial, 0, err);
    if (rc < 0 || !trial->has_file)
        return rc;
    seen = seen_candidates_find(&loop->files, trial->file);
    *ret_known = seen != NULL;
    if (seen != NULL)
        trial->verdict = seen->verdict;
    return 0;
}

int trial_recall(struct loop *loop, struct trial *trial, bool *ret_known, struct error *err)
{
    bool muted = loop->log != NULL && loop->log->muted;
    int rc;

    *ret_known = false;
    if (loop->log != NULL)
        loop->log->muted = true;
    rc = recall(loop, trial, ret_known, err);
    if (loop->log != NULL)
        loop->log->muted = muted;
    trial_clean_up(loop, trial);
    trial->slot = NULL;
    return rc;
}

int trial_check(struct loop *loop, struct trial *trial, struct error *err)
{
    struct saved_verdict saved = to_be_saved(trial);
    int rc = open_slot(loop, trial, 0, err);
    bool keeps = rc == 0 && trial->slot->has_content;
    struct hash question = keeps ? trial->slot->question : (struct hash){0};

    if (rc == 0 && trial->slot->cached.found && may_be_known(trial->candidate.expectation)) {
        loop_use_cached(loop, trial);
        return trial->index >= 0 ? sort_artifacts(loop, trial, err) : 0;
    }
    if (rc == 0 && !trial->anew)
        rc = session_replay_save_as_failed(&loop->replay, trial->key, &saved, err);
    loop_show_progress(loop, trial->subject);
    if (rc == 0)
        rc = run_check(loop, trial, err);
    loop->checks += trial->is_control ? 0 : 1;
    if (rc == 0 && keeps)
        loop_keep_in_cache(loop, trial, question);
    if (rc == 0 && trial->has_file && trial->verdict != VERDICT_SKIP)
        remember_file(loop, trial);
    if (rc == 0 && trial->index >= 0)
        rc = sort_artifacts(loop, trial, err);
    return rc;
}

void trial_clean_up(struct loop *loop, struct trial *trial)
{
    if (trial->slot != NULL)
        job_slot_keep_artifact(loop->slots, trial->slot);
    job_slots_drop_until(loop->slots, trial->index);
}
