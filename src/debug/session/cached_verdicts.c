/* debug/session/cached_verdicts.c: verdicts of other sessions (debug/record/verdict_cache.h). */
#include <stdio.h>
#include <string.h>

#include "debug/session/state.h"

/* Hashes the content of the candidate's files. Candidates without an artifact are not cached. */
static void hash_content(struct debug_session *session, struct job_slot *slot)
{
    const struct candidate_paths *files = &slot->run.files;
    const char *more[3] = {0};
    size_t count = 0;
    struct error why;

    if (session->cache == NULL || files->items[CANDIDATE_ARTIFACT] == NULL || check_is_interactive(session->check))
        return;
    for (enum candidate_file i = CANDIDATE_INPUTS; i <= CANDIDATE_GOLDEN; i++)
        if (files->items[i] != NULL)
            more[count++] = files->items[i];
    slot->has_content =
        session->settings.hash_content(files->items[CANDIDATE_ARTIFACT], more, &slot->content, &why) == 0;
    if (!slot->has_content)
        log_message(session->log, LOG_WARNING, "The verdict cache is not used: %s", why.message);
}

/* The key of the verdict depends on the signature of the failure. */
static struct hash verdict_key_now(const struct debug_session *session, const struct job_slot *slot)
{
    const struct judge *judge = session->judge;
    struct hash ret = slot->content;

    if (judge->has_failure)
        ret = hash_combine(ret, hash_bytes(&judge->failure_code, sizeof(judge->failure_code)));
    if (judge->failure_reason[0] != '\0')
        ret = hash_combine(ret, hash_bytes(judge->failure_reason, strlen(judge->failure_reason)));
    return ret;
}

static void ask_cache(struct debug_session *session, struct job_slot *slot)
{
    struct error why;

    slot->question = verdict_key_now(session, slot);
    slot->cached = (struct cached_verdict){0};
    if (verdict_cache_find(session->cache, slot->question, &slot->cached, &why) < 0)
        log_message(session->log, LOG_WARNING, "%s", why.message);
}

bool session_look_up(struct debug_session *session, struct job_slot *slot)
{
    hash_content(session, slot);
    if (slot->has_content)
        ask_cache(session, slot);
    return slot->cached.found;
}

void session_look_up_again(struct debug_session *session, struct job_slot *slot)
{
    if (slot->has_content && !hash_equal(slot->question, verdict_key_now(session, slot)))
        ask_cache(session, slot);
}

void session_use_cached(struct debug_session *session, struct trial *trial)
{
    const struct cached_verdict *cached = &trial->slot->cached;

    trial->verdict = cached->verdict;
    trial->source = VERDICT_OF_CACHE;
    trial->counts = (struct run_counts){cached->runs, cached->fails};
    if (cached->verdict == VERDICT_FAIL && cached->has_code)
        judge_expect_failure(session->judge, cached->code, cached->reason);
    log_message(session->log, LOG_INFO, "Found in the verdict cache: its verdict is reused");
}

void session_keep_in_cache(struct debug_session *session, const struct trial *trial, struct hash question)
{
    struct cached_verdict cached = {
        .found = true, .verdict = trial->verdict, .runs = trial->counts.runs, .fails = trial->counts.fails};
    struct error why;

    if (trial->verdict == VERDICT_FAIL && session->judge->has_failure) {
        cached.has_code = true;
        cached.code = session->judge->failure_code;
        snprintf(cached.reason, sizeof(cached.reason), "%s", session->judge->failure_reason);
    }
    if (verdict_cache_add(session->cache, question, &cached, &why) < 0)
        log_message(session->log, LOG_WARNING, "%s", why.message);
}
