/* debug/session/speculation.c: see speculation.h. */
#include "debug/session/speculation.h"

#include <stdlib.h>

#include "base/memory.h"
#include "search/lookahead.h"

/* Number of probable checks considered for each parallel one: a running check is not dropped for one that is only
 * slightly more probable. */
#define LISTED_PER_JOB 2

struct speculation {
    struct debug_session *session;
    const struct session_subject *subject;
    struct lookahead *lookahead;
    struct lookahead_item *items;
    size_t count, most;
    const struct job_slot *needed; /* now */
};

/* Mutes the log, because nothing is logged ahead of a candidate's turn. Returns whether it was muted before. */
static bool begin_ahead(const struct speculation *speculation)
{
    const struct session_subject *subject = speculation->subject;
    struct log *log = speculation->session->log;
    bool muted = log != NULL && log->muted;

    if (log != NULL)
        log->muted = true;
    if (subject->look_ahead != NULL)
        subject->look_ahead(subject->data, true);
    return muted;
}

static void end_ahead(const struct speculation *speculation, bool muted)
{
    const struct session_subject *subject = speculation->subject;

    if (subject->look_ahead != NULL)
        subject->look_ahead(subject->data, false);
    if (speculation->session->log != NULL)
        speculation->session->log->muted = muted;
}

static bool identify_ahead(void *data, const void *search, int64_t index, struct foreseen *ret)
{
    const struct speculation *speculation = data;
    const struct session_subject *subject = speculation->subject;
    struct debug_session *session = speculation->session;
    struct candidate_description candidate = {0};
    struct saved_verdict known;
    struct error ignored;
    bool muted = begin_ahead(speculation);
    int rc = session_identify(session, subject, search, true, &candidate, &ignored);

    session_release_candidate(subject, &candidate);
    end_ahead(speculation, muted);
    if (rc < 0 || !candidate.has_identity)
        return false;
    *ret = (struct foreseen){.identity = candidate.identity, .nodes = candidate.num_nodes};
    ret->known = session_find_known(session, subject, index, &candidate, &known);
    if (ret->known) {
        ret->verdict = session_verdict_to_tell(&candidate, known.verdict);
        ret->nodes = known.nodes >= 0 ? known.nodes : candidate.num_nodes;
    } else if (candidate.action == CANDIDATE_SKIP) {
        ret->known = true;
        ret->verdict = session_verdict_to_tell(&candidate, candidate.skip_verdict);
    }
    return true;
}

struct speculation *speculation_new(struct debug_session *session, const struct session_subject *subject)
{
    struct speculation *speculation = memory_alloc_zero(1, sizeof(*speculation));

    *speculation = (struct speculation){
        .session = session, .subject = subject, .most = LISTED_PER_JOB * job_slots_jobs(session->slots)};
    speculation->items = memory_alloc_zero(speculation->most, sizeof(*speculation->items));
    speculation->lookahead = lookahead_new(subject->ops, subject->search, 0, identify_ahead, speculation);
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

/* The verdict of a finished check determines the search's next step. */
static void learn_verdict(void *data, struct job_slot *slot)
{
    struct speculation *speculation = data;

    if (job_slot_has_ended(speculation->session->slots, slot) && slot->rc == 0)
        lookahead_learn(speculation->lookahead, slot->key.identity, slot->key.index,
                        judge_foresee(speculation->session->judge, &slot->result));
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
    struct job_slots *slots = speculation->session->slots;

    if (slot != speculation->needed && !job_slot_has_ended(slots, slot) && !is_listed(speculation, slot->key))
        job_slot_drop(slots, slot);
}

/* Its log lines are kept and shown in the candidate's turn. */
static int write_ahead(struct speculation *speculation, const void *search, struct job_key key,
                       struct candidate_description *candidate, struct job_slot **ret)
{
    struct debug_session *session = speculation->session;
    const struct session_subject *subject = speculation->subject;
    bool muted = begin_ahead(speculation);
    struct log_lines lines = {0};
    struct error ignored;
    int rc;

    *candidate = (struct candidate_description){0};
    rc = session_identify(session, subject, search, true, candidate, &ignored);
    candidate->is_ahead = true;

    if (rc == 0 && candidate->action == CANDIDATE_CHECK) {
        if (session->log != NULL)
            session->log->muted = muted;
        log_keep(session->log, &lines);
        rc = session_write(session, subject, candidate, key, ret, &ignored);
        log_keep(session->log, NULL);
    }
    if (rc == 0 && *ret != NULL)
        (*ret)->lines = lines;
    else
        log_lines_release(&lines);
    session_release_candidate(subject, candidate);
    end_ahead(speculation, muted);
    return rc;
}

/* False if that fails now; the error is reported in the candidate's turn. */
static bool start_ahead(struct speculation *speculation, const void *search, struct job_key key)
{
    struct debug_session *session = speculation->session;
    struct job_slot *slot = NULL;
    struct candidate_description candidate;
    struct error ignored;

    if (write_ahead(speculation, search, key, &candidate, &slot) < 0)
        return false;
    if (slot == NULL) {
        lookahead_learn(speculation->lookahead, key.identity, key.index,
                        session_verdict_to_tell(&candidate, candidate.skip_verdict));
        return true;
    }
    if (session_look_up(session, slot)) {
        lookahead_learn(speculation->lookahead, key.identity, key.index, slot->cached.verdict);
        return true;
    }
    if (job_slot_launch(session->slots, slot, &ignored) == 0)
        return true;
    job_slot_drop(session->slots, slot);
    return false;
}

void speculation_fill(struct speculation *speculation, const struct job_slot *needed)
{
    struct job_slots *slots = speculation->session->slots;

    speculation->needed = needed;
    job_slots_each(slots, learn_verdict, speculation);
    speculation->count = lookahead_list(speculation->lookahead, speculation->most, speculation->items);
    job_slots_each(slots, drop_if_unlisted, speculation);
    for (size_t i = 0; i < speculation->count && job_slots_have_room(slots); i++) {
        const struct lookahead_item *item = &speculation->items[i];
        struct job_key key = {item->identity, item->index, 0};

        if (job_slots_find(slots, key) == NULL && !start_ahead(speculation, item->search, key))
            return;
    }
}
