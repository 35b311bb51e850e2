/* debug/loop/ahead.c: see ahead.h. */
#include "debug/loop/ahead.h"

#include <stdlib.h>

#include "base/memory.h"
#include "search/lookahead.h"

/* So many of the most probable checks are worth their work, for each that can run at a time: one that runs is not
 * dropped for another that is only a little more probable. */
#define LISTED_PER_JOB 2

struct checks_ahead {
    struct check_lanes *lanes;
    const struct check *check;
    const struct foresight *foresight;
    void *subject;
    struct known_verdicts known;
    struct log *log;
    struct lookahead *lookahead;
    struct lookahead_item *items;
    size_t count, most;
    const struct lane *needed; /* now */
};

/* Ahead of its turn nothing is said: the loop says it when the turn comes. */
static bool describe(void *data, const void *search, int64_t index, struct foreseen *ret)
{
    struct checks_ahead *ahead = data;
    struct loop_candidate candidate = {.num_nodes = -1};
    struct error ignored;
    bool muted = ahead->log != NULL && ahead->log->muted;
    int rc;

    if (ahead->log != NULL)
        ahead->log->muted = true;
    rc = ahead->foresight->describe(ahead->subject, search, &candidate, &ignored);
    if (ahead->log != NULL)
        ahead->log->muted = muted;
    if (rc < 0 || candidate.action == CANDIDATE_STOP || !candidate.has_identity)
        return false;
    *ret = (struct foreseen){.identity = candidate.identity, .nodes = candidate.num_nodes};
    ret->failure = ahead->foresight->expect ? ahead->foresight->expect(search) : 0;
    ret->known = ahead->known.find(ahead->known.data, index, &candidate, &ret->verdict, &ret->nodes);
    if (candidate.action == CANDIDATE_SKIP) {
        ret->known = true;
        ret->verdict = VERDICT_SKIP;
    }
    return true;
}

struct checks_ahead *checks_ahead_new(struct check_lanes *lanes, const struct check *check,
                                      const struct loop_subject *subject, const struct known_verdicts *known,
                                      struct log *log)
{
    const struct foresight *foresight = subject->foresight;
    struct checks_ahead *ahead = memory_alloc_zero(1, sizeof(*ahead));
    struct lookahead_subject looked_at = {.copy = foresight->copy,
                                          .release = foresight->release,
                                          .advance = foresight->advance,
                                          .describe = describe,
                                          .data = ahead};

    *ahead = (struct checks_ahead){.lanes = lanes,
                                   .check = check,
                                   .foresight = foresight,
                                   .subject = subject->data,
                                   .known = *known,
                                   .log = log,
                                   .most = LISTED_PER_JOB * check_lanes_jobs(lanes)};
    ahead->items = memory_alloc_zero(ahead->most, sizeof(*ahead->items));
    ahead->lookahead = lookahead_new(&looked_at, foresight->search(subject->data), 0);
    return ahead;
}

void checks_ahead_free(struct checks_ahead *ahead)
{
    if (ahead == NULL)
        return;
    lookahead_free(ahead->lookahead);
    free(ahead->items);
    free(ahead);
}

void checks_ahead_advance(struct checks_ahead *ahead, int64_t nodes, enum verdict verdict)
{
    lookahead_advance(ahead->lookahead, nodes, verdict);
}

/* The verdict of a check that has ended says which way the search will go. */
static void learn(void *data, struct lane *lane)
{
    struct checks_ahead *ahead = data;

    if (lane_has_ended(ahead->lanes, lane) && lane->rc == 0)
        lookahead_learn(ahead->lookahead, lane->key.identity, lane->key.index,
                        check_foresee(ahead->check, &lane->result));
}

static bool is_listed(const struct checks_ahead *ahead, struct lane_key key)
{
    for (size_t i = 0; i < ahead->count; i++)
        if (ahead->items[i].index == key.index && hash_equal(ahead->items[i].identity, key.identity))
            return true;
    return false;
}

static void drop_if_unlisted(void *data, struct lane *lane)
{
    struct checks_ahead *ahead = data;

    if (lane != ahead->needed && !lane_has_ended(ahead->lanes, lane) && !is_listed(ahead, lane->key))
        lane_drop(ahead->lanes, lane);
}

struct written_ahead {
    const struct checks_ahead *ahead;
    const struct lookahead_item *item;
};

static int write_ahead(void *data, const struct candidate_paths *paths, struct error *err)
{
    const struct written_ahead *written = data;

    return written->ahead->foresight->write(written->ahead->subject, written->item->search, paths, err);
}

/* False when that is not possible now: it will be seen why when its turn comes. */
static bool start(struct checks_ahead *ahead, const struct lookahead_item *item)
{
    struct lane_key key = {item->identity, item->index, 0};
    struct written_ahead written = {ahead, item};
    struct candidate_content content = {.write = write_ahead, .data = &written, .iteration = item->index};
    bool muted = ahead->log != NULL && ahead->log->muted;
    enum verdict verdict;
    struct lane *lane;
    struct error ignored;
    int rc;

    if (ahead->log != NULL)
        ahead->log->muted = true;
    rc = check_lanes_open(ahead->lanes, key, &content, &lane, &ignored);
    if (ahead->log != NULL)
        ahead->log->muted = muted;
    if (rc < 0)
        return false;
    if (ahead->known.look_up(ahead->known.data, lane, &verdict)) {
        lookahead_learn(ahead->lookahead, key.identity, key.index, verdict);
        return true;
    }
    if (lane_launch(ahead->lanes, lane, &ignored) == 0)
        return true;
    lane_drop(ahead->lanes, lane);
    return false;
}

void checks_ahead_fill(struct checks_ahead *ahead, const struct lane *needed)
{
    ahead->needed = needed;
    check_lanes_each(ahead->lanes, learn, ahead);
    ahead->count = lookahead_list(ahead->lookahead, ahead->most, ahead->items);
    check_lanes_each(ahead->lanes, drop_if_unlisted, ahead);
    for (size_t i = 0; i < ahead->count && check_lanes_have_room(ahead->lanes); i++) {
        const struct lookahead_item *item = &ahead->items[i];

        if (check_lanes_find(ahead->lanes, (struct lane_key){item->identity, item->index, 0}) == NULL &&
            !start(ahead, item))
            return;
    }
}
