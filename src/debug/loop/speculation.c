/* debug/loop/speculation.c: see speculation.h. */
#include "debug/loop/speculation.h"

#include <stdlib.h>

#include "base/memory.h"
#include "search/lookahead.h"

/* So many of the most probable checks are worth their work, for each that can run at a time: one that runs is not
 * dropped for another that is only a little more probable. */
#define LISTED_PER_JOB 2

struct speculation {
    struct job_slots *slots;
    const struct judge *judge;
    const struct foresight *foresight;
    void *subject;
    struct known_verdicts known;
    struct log *log;
    struct lookahead *lookahead;
    struct lookahead_item *items;
    size_t count, most;
    const struct job_slot *needed; /* now */
};

/* Ahead of its turn nothing is said: the loop says it when the turn comes. */
static bool describe(void *data, const void *search, int64_t index, struct foreseen *ret)
{
    struct speculation *speculation = data;
    struct loop_candidate candidate = {.num_nodes = -1};
    struct error ignored;
    bool muted = speculation->log != NULL && speculation->log->muted;
    int rc;

    if (speculation->log != NULL)
        speculation->log->muted = true;
    rc = speculation->foresight->describe(speculation->subject, search, &candidate, &ignored);
    if (speculation->log != NULL)
        speculation->log->muted = muted;
    if (rc < 0 || candidate.action == CANDIDATE_STOP || !candidate.has_identity)
        return false;
    *ret = (struct foreseen){.identity = candidate.identity, .nodes = candidate.num_nodes};
    ret->known = speculation->known.find(speculation->known.data, index, &candidate, &ret->verdict, &ret->nodes);
    if (candidate.action == CANDIDATE_SKIP) {
        ret->known = true;
        ret->verdict = VERDICT_SKIP;
    }
    return true;
}

struct speculation *speculation_new(struct job_slots *slots, const struct judge *judge,
                                    const struct loop_subject *subject, const struct known_verdicts *known,
                                    struct log *log)
{
    const struct foresight *foresight = subject->foresight;
    struct speculation *speculation = memory_alloc_zero(1, sizeof(*speculation));

    *speculation = (struct speculation){.slots = slots,
                                        .judge = judge,
                                        .foresight = foresight,
                                        .subject = subject->data,
                                        .known = *known,
                                        .log = log,
                                        .most = LISTED_PER_JOB * job_slots_jobs(slots)};
    speculation->items = memory_alloc_zero(speculation->most, sizeof(*speculation->items));
    speculation->lookahead = lookahead_new(foresight->ops, foresight->search(subject->data), 0, describe, speculation);
    return speculation;
}

void speculation_free(struct speculation *speculation)
{
    if (speculation == NULL)
        return;
    lookahead_free(speculation->lookahead);
    free(speculation->items);
    free(speculation);
}

void speculation_advance(struct speculation *speculation, int64_t nodes, enum verdict verdict)
{
    lookahead_advance(speculation->lookahead, nodes, verdict);
}

/* The verdict of a check that has ended says which way the search will go. */
static void learn(void *data, struct job_slot *slot)
{
    struct speculation *speculation = data;

    if (job_slot_has_ended(speculation->slots, slot) && slot->rc == 0)
        lookahead_learn(speculation->lookahead, slot->key.identity, slot->key.index,
                        judge_foresee(speculation->judge, &slot->result));
}

static bool is_listed(const struct speculation *speculation, struct job_key key)
{
    for (size_t i = 0; i < speculation->count; i++)
        if (speculation->items[i].index == key.index && hash_equal(speculation->items[i].identity, key.identity))
            return true;
    return false;
}

static void drop_if_unlisted(void *data, struct job_slot *slot)
{
    struct speculation *speculation = data;

    if (slot != speculation->needed && !job_slot_has_ended(speculation->slots, slot) &&
        !is_listed(speculation, slot->key))
        job_slot_drop(speculation->slots, slot);
}

struct written_ahead {
    const struct speculation *speculation;
    const struct lookahead_item *item;
};

static int write_ahead(void *data, const struct candidate_paths *paths, struct error *err)
{
    const struct written_ahead *written = data;

    return written->speculation->foresight->write(written->speculation->subject, written->item->search, paths, err);
}

/* False when that is not possible now: it will be seen why when its turn comes. */
static bool start(struct speculation *speculation, const struct lookahead_item *item)
{
    struct job_key key = {item->identity, item->index, 0};
    struct written_ahead written = {speculation, item};
    struct candidate_content content = {.write = write_ahead, .data = &written, .iteration = item->index};
    bool muted = speculation->log != NULL && speculation->log->muted;
    enum verdict verdict;
    struct job_slot *slot;
    struct error ignored;
    int rc;

    if (speculation->log != NULL)
        speculation->log->muted = true;
    rc = job_slots_open(speculation->slots, key, &content, &slot, &ignored);
    if (speculation->log != NULL)
        speculation->log->muted = muted;
    if (rc < 0)
        return false;
    if (speculation->known.look_up(speculation->known.data, slot, &verdict)) {
        lookahead_learn(speculation->lookahead, key.identity, key.index, verdict);
        return true;
    }
    if (job_slot_launch(speculation->slots, slot, &ignored) == 0)
        return true;
    job_slot_drop(speculation->slots, slot);
    return false;
}

void speculation_fill(struct speculation *speculation, const struct job_slot *needed)
{
    speculation->needed = needed;
    job_slots_each(speculation->slots, learn, speculation);
    speculation->count = lookahead_list(speculation->lookahead, speculation->most, speculation->items);
    job_slots_each(speculation->slots, drop_if_unlisted, speculation);
    for (size_t i = 0; i < speculation->count && job_slots_have_room(speculation->slots); i++) {
        const struct lookahead_item *item = &speculation->items[i];

        if (job_slots_find(speculation->slots, (struct job_key){item->identity, item->index, 0}) == NULL &&
            !start(speculation, item))
            return;
    }
}
