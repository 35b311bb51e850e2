/* debug/loop/lanes.c: see lanes.h. */
#include "debug/loop/lanes.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "format/polygraphy/iteration_info.h"

/* Lanes for each job: checks that have ended ahead of their turn keep theirs until then. */
#define LANES_PER_JOB 4

/* Numbers that places of an earlier session, with more jobs (64 at most), may have had. */
#define MOST_NUMBERS (LANES_PER_JOB * 64 + 1)

struct lane_thread {
    struct check_lanes *lanes;
    struct lane *lane;
    pthread_t id;
    bool runs;   /* it is to be joined */
    bool ended;  /* guarded by the mutex */
    int stop[2]; /* a byte in this pipe ends the check */
};

struct check_lanes {
    const struct check *check;
    struct lanes_settings settings;
    struct log *log;
    struct lane *items; /* the first one has the usual names. With several jobs it is for checks apart */
    size_t count;
    pthread_mutex_t mutex;
    pthread_cond_t end; /* of a check */
    size_t ends, ends_seen;
};

/* ---- All of them ---- */

struct check_lanes *check_lanes_new(const struct check *check, const struct lanes_settings *settings, struct log *log)
{
    struct check_lanes *lanes = memory_alloc_zero(1, sizeof(*lanes));

    lanes->check = check;
    lanes->settings = *settings;
    lanes->log = log;
    lanes->count = settings->jobs > 1 ? LANES_PER_JOB * settings->jobs + 1 : 1;
    lanes->items = memory_alloc_zero(lanes->count, sizeof(*lanes->items));
    pthread_mutex_init(&lanes->mutex, NULL);
    pthread_cond_init(&lanes->end, NULL);
    for (size_t i = 0; i < lanes->count; i++) {
        struct lane *lane = &lanes->items[i];

        candidate_place_init(&lane->place, &settings->usual, settings->folder, i);
        lane->place.files[CANDIDATE_ARTIFACT].kept = settings->keep_artifact && i == 0;
        lane->thread = memory_alloc_zero(1, sizeof(*lane->thread));
        *lane->thread = (struct lane_thread){.lanes = lanes, .lane = lane, .stop = {-1, -1}};
    }
    return lanes;
}

static void wait_for(struct lane *lane)
{
    if (lane->thread->runs)
        pthread_join(lane->thread->id, NULL);
    lane->thread->runs = false;
    for (int i = 0; i < 2; i++) {
        if (lane->thread->stop[i] >= 0)
            close(lane->thread->stop[i]);
        lane->thread->stop[i] = -1;
    }
}

/* Nothing is left of the check. It has ended. */
static void set_free(struct check_lanes *lanes, struct lane *lane)
{
    wait_for(lane);
    if (lane->thread->ended && lane->rc == 0)
        process_result_release(&lane->result);
    lane->thread->ended = false;
    candidate_place_remove(&lane->place, lanes->log);
    lane->state = LANE_FREE;
}

void check_lanes_free(struct check_lanes *lanes)
{
    if (lanes == NULL)
        return;
    for (size_t i = 0; i < lanes->count; i++)
        lane_drop(lanes, &lanes->items[i]);
    for (size_t i = 0; i < lanes->count; i++) {
        struct lane *lane = &lanes->items[i];

        if (lane->state != LANE_FREE)
            set_free(lanes, lane);
        candidate_place_release(&lane->place);
        free(lane->thread);
    }
    pthread_cond_destroy(&lanes->end);
    pthread_mutex_destroy(&lanes->mutex);
    free(lanes->items);
    free(lanes);
}

size_t check_lanes_jobs(const struct check_lanes *lanes)
{
    return lanes->settings.jobs;
}

const char *check_lanes_artifact(const struct check_lanes *lanes)
{
    return lanes->items[0].place.paths[CANDIDATE_ARTIFACT];
}

/* ---- What is there already ---- */

static int refuse(enum candidate_file file, const char *path, struct error *err)
{
    if (file == CANDIDATE_ARTIFACT)
        return error_set(
            err, ERR_EXISTS,
            "'%s' already exists, refusing to overwrite: move it away, or choose another path with "
            "--intermediate-artifact; if it is from a session that was killed, --load-debug-replay goes on there, and "
            "--force begins anew",
            path);
    return error_set(
        err, ERR_EXISTS,
        "'%s' already exists, refusing to overwrite: it is written anew for each candidate, and removed in "
        "the end. Choose another path, or say --force if it is not needed any more",
        path);
}

static int reserve(struct check_lanes *lanes, struct candidate_place *place, bool take_over, struct error *err)
{
    for (enum candidate_file i = 0; i < CANDIDATE_FILES; i++) {
        const struct temporary_file *file = &place->files[i];

        if (file->path == NULL || !file_exists(file->path))
            continue;
        if (i == CANDIDATE_INFORMATION && iteration_info_may_replace(file->path)) {
            if (take_over)
                temporary_file_take_over(file);
            continue; /* as in Polygraphy it is just written */
        }
        /* A session that goes on has left its own files, but it writes none that look like this one. */
        if (i == CANDIDATE_INFORMATION && !lanes->settings.force)
            return refuse(i, file->path, err);
        if (!(take_over || lanes->settings.force) || !temporary_file_take_over(file))
            return refuse(i, file->path, err);
        if (i == CANDIDATE_ARTIFACT)
            log_message(lanes->log, LOG_INFO, "%s '%s', which %s", file->kept ? "Replacing" : "Removing", file->path,
                        take_over ? "the session that goes on here has left" : "was there before");
    }
    return 0;
}

int check_lanes_reserve(struct check_lanes *lanes, bool take_over, struct error *err)
{
    size_t numbers = take_over ? MOST_NUMBERS : lanes->count;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < numbers; i++) {
        struct candidate_place place;

        candidate_place_init(&place, &lanes->settings.usual, lanes->settings.folder, i);
        place.files[CANDIDATE_ARTIFACT].kept = lanes->items[0].place.files[CANDIDATE_ARTIFACT].kept && i == 0;
        if (i == 0 || take_over)
            candidate_place_remove_leftovers(&place);
        rc = reserve(lanes, &place, take_over, err);
        candidate_place_release(&place);
    }
    return rc;
}

/* ---- One of them ---- */

static bool key_equal(struct lane_key a, struct lane_key b)
{
    return hash_equal(a.identity, b.identity) && a.index == b.index && a.run == b.run;
}

struct lane *check_lanes_find(struct check_lanes *lanes, struct lane_key key)
{
    for (size_t i = 0; i < lanes->count; i++) {
        struct lane *lane = &lanes->items[i];

        if (lane->state != LANE_FREE && lane->state != LANE_DROPPED && key_equal(lane->key, key))
            return lane;
    }
    return NULL;
}

bool lane_has_ended(struct check_lanes *lanes, const struct lane *lane)
{
    bool ret;

    pthread_mutex_lock(&lanes->mutex);
    ret = lane->thread->ended;
    pthread_mutex_unlock(&lanes->mutex);
    return ret;
}

/* Gives back the threads and pipes of checks that have ended by now, and makes lanes free whose check was dropped. */
static void reap(struct check_lanes *lanes)
{
    for (size_t i = 0; i < lanes->count; i++) {
        struct lane *lane = &lanes->items[i];

        if (lane->state == LANE_DROPPED && lane_has_ended(lanes, lane))
            set_free(lanes, lane);
        else if (lane->state == LANE_LAUNCHED && lane_has_ended(lanes, lane))
            wait_for(lane);
    }
}

static bool is_running(struct check_lanes *lanes, const struct lane *lane)
{
    return (lane->state == LANE_LAUNCHED || lane->state == LANE_DROPPED) && !lane_has_ended(lanes, lane);
}

static size_t count_running(struct check_lanes *lanes)
{
    size_t ret = 0;

    for (size_t i = 0; i < lanes->count; i++)
        ret += is_running(lanes, &lanes->items[i]) ? 1 : 0;
    return ret;
}

static struct lane *find_free(struct check_lanes *lanes, int64_t index)
{
    size_t first = lanes->count > 1 && index >= 0 ? 1 : 0;

    reap(lanes);
    for (size_t i = first; i < lanes->count; i++)
        if (lanes->items[i].state == LANE_FREE)
            return &lanes->items[i];
    return NULL;
}

bool check_lanes_have_room(struct check_lanes *lanes)
{
    return count_running(lanes) < lanes->settings.jobs && find_free(lanes, 0) != NULL;
}

/* Drops the check that is furthest ahead of `index`, or else another one of that index, of those that run (`running`)
 * or of all. */
static void drop_furthest(struct check_lanes *lanes, int64_t index, bool running)
{
    struct lane *furthest = NULL;

    for (size_t i = 0; i < lanes->count; i++) {
        struct lane *lane = &lanes->items[i];

        if (lane->state == LANE_FREE || lane->state == LANE_DROPPED || (running && !is_running(lanes, lane)))
            continue;
        if (lane->key.index >= index && (furthest == NULL || lane->key.index > furthest->key.index))
            furthest = lane;
    }
    if (furthest != NULL)
        lane_drop(lanes, furthest);
}

int check_lanes_open(struct check_lanes *lanes, struct lane_key key, const struct candidate_content *content,
                     struct lane **ret, struct error *err)
{
    struct lane *lane;
    int rc;

    while ((lane = find_free(lanes, key.index)) == NULL) {
        drop_furthest(lanes, key.index, false);
        if ((lane = find_free(lanes, key.index)) != NULL)
            break;
        check_lanes_sleep(lanes);
    }
    rc = candidate_place_write(&lane->place, content, err);
    if (rc < 0)
        return rc;
    lane->key = key;
    lane->state = LANE_WRITTEN;
    lane->has_content = false;
    lane->cached = (struct cached_verdict){0};
    lane->run = (struct check_run){.files = candidate_place_paths(&lane->place),
                                   .iteration = key.index,
                                   .without_input = lanes->settings.jobs > 1};
    *ret = lane;
    return 0;
}

/* ---- Running ---- */

static void *run(void *data)
{
    struct lane_thread *thread = data;
    struct check_lanes *lanes = thread->lanes;
    struct lane *lane = thread->lane;

    lane->rc = check_execute(lanes->check, &lane->run, &lane->result, &lane->err);
    pthread_mutex_lock(&lanes->mutex);
    thread->ended = true;
    lanes->ends++;
    pthread_cond_signal(&lanes->end);
    pthread_mutex_unlock(&lanes->mutex);
    return NULL;
}

static int open_stop(struct lane *lane, struct error *err)
{
    if (pipe(lane->thread->stop) != 0)
        return error_set_errno(err, ERR_IO, "cannot run several checks at a time");
    for (int i = 0; i < 2; i++)
        fcntl(lane->thread->stop[i], F_SETFD, FD_CLOEXEC);
    lane->run.stop = &lane->thread->stop[0];
    return 0;
}

int lane_launch(struct check_lanes *lanes, struct lane *lane, struct error *err)
{
    int rc = 0, reason;

    if (lane->thread->ended) { /* once more */
        wait_for(lane);
        if (lane->rc == 0)
            process_result_release(&lane->result);
        lane->thread->ended = false;
        lane->state = LANE_WRITTEN;
    }
    lane->run.timeout = check_time_limit(lanes->check);
    if (lanes->settings.jobs == 1) {
        lane->state = LANE_LAUNCHED;
        run(lane->thread);
        return 0;
    }
    while (count_running(lanes) >= lanes->settings.jobs) {
        drop_furthest(lanes, lane->key.index, true);
        check_lanes_sleep(lanes);
    }
    rc = open_stop(lane, err);
    if (rc < 0)
        return rc;
    reason = pthread_create(&lane->thread->id, NULL, run, lane->thread);
    if (reason != 0) {
        wait_for(lane); /* for nothing but the pipe */
        errno = reason;
        return error_set_errno(err, ERR_IO, "cannot run several checks at a time");
    }
    lane->thread->runs = true;
    lane->state = LANE_LAUNCHED;
    return 0;
}

void check_lanes_sleep(struct check_lanes *lanes)
{
    pthread_mutex_lock(&lanes->mutex);
    while (lanes->ends == lanes->ends_seen)
        pthread_cond_wait(&lanes->end, &lanes->mutex);
    lanes->ends_seen = lanes->ends;
    pthread_mutex_unlock(&lanes->mutex);
}

void check_lanes_each(struct check_lanes *lanes, void (*visit)(void *data, struct lane *lane), void *data)
{
    for (size_t i = 0; i < lanes->count; i++)
        if (lanes->items[i].state == LANE_LAUNCHED)
            visit(data, &lanes->items[i]);
}

void lane_drop(struct check_lanes *lanes, struct lane *lane)
{
    if (lane->state == LANE_FREE || lane->state == LANE_DROPPED)
        return;
    if (is_running(lanes, lane)) {
        lane->state = LANE_DROPPED;
        if (write(lane->thread->stop[1], "", 1) < 0) {
            /* The pipe takes one byte at the least, and this is the only one. */
        }
        return;
    }
    set_free(lanes, lane);
}

void check_lanes_drop_until(struct check_lanes *lanes, int64_t index)
{
    for (size_t i = 0; i < lanes->count; i++)
        if (lanes->items[i].key.index <= index)
            lane_drop(lanes, &lanes->items[i]);
    reap(lanes);
}

void lane_keep_artifact(struct check_lanes *lanes, struct lane *lane)
{
    struct temporary_file *artifact = &lane->place.files[CANDIDATE_ARTIFACT];
    const char *usual = check_lanes_artifact(lanes);

    if (!lanes->settings.keep_artifact || !artifact->present || !file_exists(artifact->path))
        return;
    if (rename(artifact->path, usual) == 0)
        temporary_file_forget(artifact);
    else
        log_message(lanes->log, LOG_WARNING, "Could not move '%s' to '%s': %s", artifact->path, usual, strerror(errno));
}
