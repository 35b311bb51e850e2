/* debug/tactics/build.c: see build.h. */
#include "debug/tactics/build.h"

#include "debug/belief/belief.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* This many failures of the first builds with the same message are not due to the choice of tactics. */
#define ALIKE_FAILURES 5

/* Whether the next build may succeed. */
static bool may_succeed_next_time(int rc)
{
    return rc == ERR_BACKEND || rc == ERR_UNSUPPORTED || rc == ERR_MEMORY || rc == ERR_DEVICE_MEMORY;
}

struct builds {
    const struct build_session *settings;
    int64_t index; /* number of the current iteration */
    bool is_made;  /* its engine was built */
    void *engine;  /* of the current iteration; NULL: none */
    bool built;    /* an engine, so far */
    char *failure; /* the message of the last build that failed; NULL: there was none */
    size_t alike;  /* how many in a row have failed with it */
};

/* A session that only ends with a good engine would never end if none can be built. A lack of memory may be temporary.
 * */
static int note_failure(struct builds *builds, const struct error *why, struct error *err)
{
    bool same = builds->failure != NULL && strcmp(builds->failure, why->message) == 0;

    builds->alike = same ? builds->alike + 1 : 1;
    free(builds->failure);
    builds->failure = memory_strdup(why->message);
    if (builds->settings->until.end != ENDS_BY_PASS || builds->built || why->code == ERR_MEMORY ||
        why->code == ERR_DEVICE_MEMORY || builds->alike < ALIKE_FAILURES)
        return 0;
    return error_set(err, (enum error_code)why->code,
                     "no engine can be built: the first %d builds all failed with the same error: %s", ALIKE_FAILURES,
                     why->message);
}

/* Builds the next engine and its byproducts. */
static int build_engine(struct builds *builds, int64_t iteration, struct error *err)
{
    const struct engine_maker *maker = &builds->settings->maker;
    const struct engine_order order = {.iteration = iteration};
    int rc;

    maker->drop(maker->data, builds->engine);
    builds->engine = NULL;
    rc = maker->build(maker->data, &order, &builds->engine, err);
    return rc == 0 ? maker->save_byproducts(maker->data, builds->engine, err) : rc;
}

static int identify_build(void *data, const void *search, struct candidate_description *ret, struct error *err)
{
    struct builds *builds = data;

    (void)err;
    builds->index = ((const struct repetition *)search)->index;
    builds->is_made = false;
    ret->skip_verdict = VERDICT_FAIL;
    return 0;
}

/* Verdicts are not replayed, so every build is checked. */
static int write_build(void *data, struct candidate_description *candidate, const struct candidate_paths *paths,
                       struct error *err)
{
    struct builds *builds = data;
    const struct build_session *settings = builds->settings;
    const char *path = paths->items[CANDIDATE_ARTIFACT];
    struct error why = {0};
    int rc = builds->is_made ? 0 : build_engine(builds, builds->index, &why);

    builds->is_made = rc == 0;
    if (builds->is_made) {
        builds->built = true;
        log_message(settings->log, LOG_INFO, "Saving engine to %s", path);
        return settings->maker.save(settings->maker.data, builds->engine, path, err);
    }
    if (!may_succeed_next_time(rc))
        return error_set(err, (enum error_code)rc, "%s", why.message);
    rc = note_failure(builds, &why, err);
    if (rc < 0)
        return rc;
    log_message(settings->log, LOG_ERROR, "%s", why.message);
    log_message(settings->log, LOG_WARNING, "Failed to create network or engine, continuing to the next iteration.");
    candidate->action = CANDIDATE_SKIP;
    if (why.code == ERR_DEVICE_MEMORY) /* inconclusive */
        candidate->skip_verdict = VERDICT_SKIP;
    return 0;
}

/* No build passed: tests whether the check fails on everything. */
static int question_check(const struct build_session *settings, struct debug_session *session, struct error *err)
{
    const struct check_evidence *evidence = session_state(session).evidence;
    enum verdict sight;
    int rc;

    if (evidence->runs == 0 || session_state(session).is_interactive)
        return 0;
    if (evidence->alike && evidence->runs > 1)
        return belief_refuse_check(
            session, err,
            "all builds fail with the same output of the check, so the failure does not depend on the build. Last run");
    rc = belief_check_nonsense(session, "_sight", "engine", VERDICT_FAIL, &sight, err);
    if (rc < 0)
        return rc;
    if (sight == VERDICT_FAIL)
        return belief_refuse_check(session, err,
                                   "no build passed, and the check gives the same output for a file that is not a "
                                   "valid engine, so it may not read its input. Last run");
    log_message(settings->log, LOG_WARNING,
                "No build passed: it is unknown whether the builds are wrong or the check fails on everything");
    return 0;
}

int build_run(struct build_session *settings, struct debug_session *session, struct error *err)
{
    struct builds builds = {.settings = settings};
    struct session_subject subject = {.data = &builds,
                                      .ops = &repetition_ops,
                                      .search = &settings->until,
                                      .kind = "engine",
                                      .beside = settings->tactics,
                                      .end = settings->until.end,
                                      .looks_into_failure = true,
                                      .identify = identify_build,
                                      .write = write_build};
    int rc = session_search(session, &subject, err);

    if (rc == 0 && session_state(session).passed == 0 && session_state(session).failed > 0)
        rc = question_check(settings, session, err);
    settings->maker.drop(settings->maker.data, builds.engine);
    free(builds.failure);
    return rc;
}
