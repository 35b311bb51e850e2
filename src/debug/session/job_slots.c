/* debug/session/job_slots.c: see job_slots.h. */
#include "debug/session/job_slots.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "format/polygraphy/debug_replay.h"

/* Job slots for each job: checks that finish ahead of their turn keep theirs until then. */
#define SLOTS_PER_JOB 4

/* Upper bound of the numbers of places in an earlier session with more jobs (at most 64). */
#define MOST_NUMBERS (SLOTS_PER_JOB * 64 + 1)

struct job_thread {
    struct job_slots *slots;
    struct job_slot *slot;
    pthread_t id;
    bool runs;   /* the thread must be joined */
    bool ended;  /* guarded by the mutex */
    int stop[2]; /* a byte in this pipe kills the check */
};

struct job_slots {
    struct check *check;
    struct job_slots_settings settings;
    struct log *log;
    struct job_slot *items; /* the first has the usual names; with several jobs it is for checks outside of the search
                             * */
    size_t count;
    pthread_mutex_t mutex;
    pthread_cond_t end; /* signalled when a check finishes */
    size_t ends, ends_seen;
};

/* ---- All of them ---- */

struct job_slots *job_slots_new(struct check *check, const struct job_slots_settings *settings, struct log *log)
{
    struct job_slots *slots = memory_alloc_zero(1, sizeof(*slots));

    slots->check = check;
    slots->settings = *settings;
    slots->log = log;
    slots->count = settings->jobs > 1 ? SLOTS_PER_JOB * settings->jobs + 1 : 1;
    slots->items = memory_alloc_zero(slots->count, sizeof(*slots->items));
    pthread_mutex_init(&slots->mutex, NULL);
    pthread_cond_init(&slots->end, NULL);
    for (size_t i = 0; i < slots->count; i++) {
        struct job_slot *slot = &slots->items[i];

        candidate_place_init(&slot->place, &settings->usual, settings->folder, i);
        slot->place.files[CANDIDATE_ARTIFACT].kept = settings->keep_artifact && i == 0;
        slot->thread = memory_alloc_zero(1, sizeof(*slot->thread));
        *slot->thread = (struct job_thread){.slots = slots, .slot = slot, .stop = {-1, -1}};
    }
    return slots;
}

static void wait_for(struct job_slot *slot)
{
    if (slot->thread->runs)
        pthread_join(slot->thread->id, NULL);
    slot->thread->runs = false;
    for (int i = 0; i < 2; i++) {
        if (slot->thread->stop[i] >= 0)
            close(slot->thread->stop[i]);
        slot->thread->stop[i] = -1;
    }
}

/* Frees the slot of a finished check. */
static void set_free(struct job_slots *slots, struct job_slot *slot)
{
    wait_for(slot);
    if (slot->thread->ended && slot->rc == 0)
        process_result_release(&slot->result);
    slot->thread->ended = false;
    candidate_place_remove(&slot->place, slots->log);
    log_lines_release(&slot->lines);
    slot->state = SLOT_FREE;
}

void job_slots_free(struct job_slots *slots)
{
    if (slots == NULL)
        return;
    for (size_t i = 0; i < slots->count; i++)
        job_slot_drop(slots, &slots->items[i]);
    VECTOR_EACH (struct job_slot, slot, *slots) {
        if (slot->state != SLOT_FREE)
            set_free(slots, slot);
        candidate_place_release(&slot->place);
        free(slot->thread);
    }
    pthread_cond_destroy(&slots->end);
    pthread_mutex_destroy(&slots->mutex);
    free(slots->items);
    free(slots);
}

size_t job_slots_jobs(const struct job_slots *slots)
{
    return slots->settings.jobs;
}

const char *job_slots_artifact(const struct job_slots *slots)
{
    return slots->items[0].place.files[CANDIDATE_ARTIFACT].path;
}

/* ---- What is there already ---- */

static int refuse_path(enum candidate_file file, const char *path, struct error *err)
{
    if (file == CANDIDATE_ARTIFACT)
        return error_set(
            err, ERR_EXISTS,
            "'%s' already exists, refusing to overwrite: move it, or choose another path with --intermediate-artifact. "
            "If a killed session left it, resume with --load-debug-replay, or start over with --force",
            path);
    return error_set(err, ERR_EXISTS,
                     "'%s' already exists, refusing to overwrite: it is rewritten for each candidate and removed at "
                     "the end. Choose another path, or pass --force if the file is no longer needed",
                     path);
}

static int reserve_path(struct job_slots *slots, struct candidate_place *place, bool take_over, struct error *err)
{
    for (enum candidate_file i = 0; i < CANDIDATE_FILES; i++) {
        const struct temporary_file *file = &place->files[i];

        if (file->path == NULL || !file_exists(file->path))
            continue;
        if (i == CANDIDATE_INFORMATION && iteration_info_may_replace(file->path)) {
            if (take_over)
                temporary_file_take_over(file);
            continue; /* overwritten, as in Polygraphy */
        }
        /* A resumed session may have left its own files, but none that look like this one. */
        if (i == CANDIDATE_INFORMATION && !slots->settings.force)
            return refuse_path(i, file->path, err);
        if (!(take_over || slots->settings.force) || !temporary_file_take_over(file))
            return refuse_path(i, file->path, err);
        if (i == CANDIDATE_ARTIFACT)
            log_message(slots->log, LOG_INFO, "%s '%s', which %s", file->kept ? "Replacing" : "Removing", file->path,
                        take_over ? "the resumed session has left" : "existed before");
    }
    return 0;
}

int job_slots_reserve(struct job_slots *slots, bool take_over, struct error *err)
{
    size_t numbers = take_over ? MOST_NUMBERS : slots->count;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < numbers; i++) {
        struct candidate_place place SCOPED(candidate_place_release) = {0};

        candidate_place_init(&place, &slots->settings.usual, slots->settings.folder, i);
        place.files[CANDIDATE_ARTIFACT].kept = slots->items[0].place.files[CANDIDATE_ARTIFACT].kept && i == 0;
        if (i == 0 || take_over)
            candidate_place_remove_leftovers(&place);
        rc = reserve_path(slots, &place, take_over, err);
    }
    return rc;
}

/* ---- One of them ---- */

static bool key_equal(struct job_key a, struct job_key b)
{
    return hash_equal(a.identity, b.identity) && a.index == b.index && a.run == b.run;
}

struct job_slot *job_slots_find(struct job_slots *slots, struct job_key key)
{
    VECTOR_EACH (struct job_slot, slot, *slots)
        if (slot->state != SLOT_FREE && slot->state != SLOT_DROPPED && key_equal(slot->key, key))
            return slot;
    return NULL;
}

bool job_slot_has_ended(struct job_slots *slots, const struct job_slot *slot)
{
    bool ret;

    pthread_mutex_lock(&slots->mutex);
    ret = slot->thread->ended;
    pthread_mutex_unlock(&slots->mutex);
    return ret;
}

/* Releases the threads and pipes of finished checks, and frees the slots of dropped ones. */
static void reap_dropped(struct job_slots *slots)
{
    VECTOR_EACH (struct job_slot, slot, *slots) {
        if (slot->state == SLOT_DROPPED && job_slot_has_ended(slots, slot))
            set_free(slots, slot);
        else if (slot->state == SLOT_LAUNCHED && job_slot_has_ended(slots, slot))
            wait_for(slot);
    }
}

static bool is_running(struct job_slots *slots, const struct job_slot *slot)
{
    return (slot->state == SLOT_LAUNCHED || slot->state == SLOT_DROPPED) && !job_slot_has_ended(slots, slot);
}

static size_t count_running(struct job_slots *slots)
{
    size_t ret = 0;

    for (size_t i = 0; i < slots->count; i++)
        ret += is_running(slots, &slots->items[i]) ? 1 : 0;
    return ret;
}

static struct job_slot *find_free(struct job_slots *slots, int64_t index)
{
    size_t first = slots->count > 1 && index >= 0 ? 1 : 0;

    reap_dropped(slots);
    for (size_t i = first; i < slots->count; i++)
        if (slots->items[i].state == SLOT_FREE)
            return &slots->items[i];
    return NULL;
}

bool job_slots_have_room(struct job_slots *slots)
{
    return count_running(slots) < slots->settings.jobs && find_free(slots, 0) != NULL;
}

/* Drops the check that is furthest ahead of `index`, or else another one of that index, among the running ones
 * (`running`) or all. */
static void drop_furthest(struct job_slots *slots, int64_t index, bool running)
{
    struct job_slot *furthest = NULL;

    VECTOR_EACH (struct job_slot, slot, *slots) {
        if (slot->state == SLOT_FREE || slot->state == SLOT_DROPPED || (running && !is_running(slots, slot)))
            continue;
        if (slot->key.index >= index && (furthest == NULL || slot->key.index > furthest->key.index))
            furthest = slot;
    }
    if (furthest != NULL)
        job_slot_drop(slots, furthest);
}

struct job_slot *job_slots_take(struct job_slots *slots, struct job_key key)
{
    struct job_slot *slot;

    while ((slot = find_free(slots, key.index)) == NULL) {
        drop_furthest(slots, key.index, false);
        if ((slot = find_free(slots, key.index)) != NULL)
            break;
        job_slots_sleep(slots);
    }
    slot->key = key;
    slot->state = SLOT_WRITTEN;
    slot->has_content = false;
    slot->has_file = false;
    slot->cached = (struct cached_verdict){0};
    slot->run = (struct check_run){.files = candidate_place_paths(&slot->place),
                                   .iteration = key.index,
                                   .without_input = slots->settings.jobs > 1};
    return slot;
}

/* ---- Running ---- */

static void *run_thread(void *data)
{
    struct job_thread *thread = data;
    struct job_slots *slots = thread->slots;
    struct job_slot *slot = thread->slot;

    slot->rc = check_execute(slots->check, &slot->run, &slot->result, &slot->err);
    pthread_mutex_lock(&slots->mutex);
    thread->ended = true;
    slots->ends++;
    pthread_cond_signal(&slots->end);
    pthread_mutex_unlock(&slots->mutex);
    return NULL;
}

static int open_stop(struct job_slot *slot, struct error *err)
{
    if (pipe(slot->thread->stop) != 0)
        return error_set_errno(err, ERR_IO, "cannot run checks in parallel");
    for (int i = 0; i < 2; i++)
        fcntl(slot->thread->stop[i], F_SETFD, FD_CLOEXEC);
    slot->run.stop = &slot->thread->stop[0];
    return 0;
}

int job_slot_launch(struct job_slots *slots, struct job_slot *slot, struct error *err)
{
    int rc = 0, reason;

    if (slot->thread->ended) { /* check again */
        wait_for(slot);
        if (slot->rc == 0)
            process_result_release(&slot->result);
        slot->thread->ended = false;
        slot->state = SLOT_WRITTEN;
    }
    slot->run.timeout = check_judge(slots->check)->rules.timeout;
    if (slots->settings.jobs == 1) {
        slot->rc = check_execute(slots->check, &slot->run, &slot->result, &slot->err);
        slot->thread->ended = true;
        slot->state = SLOT_LAUNCHED;
        return 0;
    }
    while (count_running(slots) >= slots->settings.jobs) {
        drop_furthest(slots, slot->key.index, true);
        job_slots_sleep(slots);
    }
    rc = open_stop(slot, err);
    if (rc < 0)
        return rc;
    reason = pthread_create(&slot->thread->id, NULL, run_thread, slot->thread);
    if (reason != 0) {
        wait_for(slot); /* waits for the pipe only */
        errno = reason;
        return error_set_errno(err, ERR_IO, "cannot run checks in parallel");
    }
    slot->thread->runs = true;
    slot->state = SLOT_LAUNCHED;
    return 0;
}

void job_slots_sleep(struct job_slots *slots)
{
    pthread_mutex_lock(&slots->mutex);
    while (slots->ends == slots->ends_seen)
        pthread_cond_wait(&slots->end, &slots->mutex);
    slots->ends_seen = slots->ends;
    pthread_mutex_unlock(&slots->mutex);
}

void job_slots_each(struct job_slots *slots, void (*visit)(void *data, struct job_slot *slot), void *data)
{
    for (size_t i = 0; i < slots->count; i++)
        if (slots->items[i].state == SLOT_LAUNCHED)
            visit(data, &slots->items[i]);
}

void job_slot_drop(struct job_slots *slots, struct job_slot *slot)
{
    if (slot->state == SLOT_FREE || slot->state == SLOT_DROPPED)
        return;
    if (is_running(slots, slot)) {
        slot->state = SLOT_DROPPED;
        if (write(slot->thread->stop[1], "", 1) < 0) {
            /* The pipe has room for one byte, and this is the only one. */
        }
        return;
    }
    set_free(slots, slot);
}

void job_slots_drop_until(struct job_slots *slots, int64_t index)
{
    for (size_t i = 0; i < slots->count; i++)
        if (slots->items[i].key.index <= index)
            job_slot_drop(slots, &slots->items[i]);
    reap_dropped(slots);
}

void job_slot_keep_artifact(struct job_slots *slots, struct job_slot *slot)
{
    struct temporary_file *artifact = &slot->place.files[CANDIDATE_ARTIFACT];
    const char *usual = job_slots_artifact(slots);

    if (!slots->settings.keep_artifact || !artifact->present || !file_exists(artifact->path))
        return;
    if (rename(artifact->path, usual) == 0)
        temporary_file_forget(artifact);
    else
        log_message(slots->log, LOG_WARNING, "Could not move '%s' to '%s': %s", artifact->path, usual, strerror(errno));
}
