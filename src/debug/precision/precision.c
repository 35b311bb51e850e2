/* debug/precision/precision.c: see precision.h. */
#include "debug/precision/precision.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"

/* How engines are built that the search begins with. */
#define ALL_HIGH "with all layers in higher precision"
#define ALL_LOW "with all layers in lower precision"

/* In the replay. */
#define ALL_HIGH_KEY "_all_high"
#define ALL_LOW_KEY "_all_low"
#define ALL_LOW_AGAIN_KEY "_all_low_again" /* after insist() */

/* So many names are shown in the line that says what is selected. */
#define SHOWN_NAMES 4

struct session {
    const struct precision_target *target;
    const struct precision_run_settings *settings;
    struct loop *loop;
    struct log *log;
    struct bitset lowered;
    size_t *order;      /* the layer at each position of the search */
    size_t order_count; /* minimal: only those that are lowered */
    double *scores;
    struct precision_search search;

    struct bitset chosen;         /* layers of the candidate that describe() made last */
    bool insists;                 /* the target's insist() returned true */
    const struct bitset *instead; /* of a candidate apart from the search; else NULL */
    bool again;                   /* it was checked before */
};

/* ---- Candidates ---- */

static void log_selection(const struct session *session)
{
    struct string_builder names;
    size_t count = bitset_count(&session->chosen), shown = 0;

    if (session->settings->mode != PRECISION_MINIMAL) {
        log_message(session->log, LOG_INFO, "Selecting %s %" PRId64 " layer(s) to run in higher precision",
                    session->settings->reverse ? "last" : "first", session->search.next);
        return;
    }
    string_init(&names);
    for (size_t i = bitset_next(&session->chosen, 0); i < session->chosen.size && shown < SHOWN_NAMES;
         i = bitset_next(&session->chosen, i + 1), shown++)
        string_add_format(&names, "%s'%s'", shown == 0 ? ": " : ", ", session->target->name(session->target->data, i));
    if (count > shown)
        string_add_format(&names, " and %zu more", count - shown);
    log_message(session->log, LOG_INFO, "Selecting %zu layer(s) to run in higher precision%s", count,
                count > 0 ? names.data : "");
    string_release(&names);
}

/* The layers that the search has selected, without those that stay as they are. */
static void choose_layers(struct session *session)
{
    bitset_clear(&session->chosen);
    for (size_t i = 0; i < session->order_count; i++)
        if (bitset_has(&session->search.candidate, i) && bitset_has(&session->lowered, session->order[i]))
            bitset_add(&session->chosen, session->order[i]);
}

static int prepare(struct session *session, struct loop_candidate *candidate, struct error *err)
{
    int rc = session->target->prepare(session->target->data, &session->chosen, err);

    if (rc == 0 || rc == ERR_INTERRUPTED || rc == ERR_MEMORY)
        return rc;
    log_message(session->log, LOG_WARNING, "%s", err->message);
    log_message(session->log, LOG_WARNING, "Failed to create network or engine, continuing to the next iteration.");
    candidate->action = CANDIDATE_SKIP;
    candidate->skip_verdict = VERDICT_FAIL;
    return 0;
}

/* With all layers chosen there is no lower precision, in whatever form. */
static struct hash identity(const struct session *session)
{
    struct hash hash =
        hash_bytes(session->chosen.words, bitset_words(&session->chosen) * sizeof(*session->chosen.words));

    if (session->insists && !bitset_equal(&session->chosen, &session->lowered))
        hash = hash_combine(hash, hash_bytes("insists", sizeof("insists")));
    return hash;
}

static int describe(void *data, int64_t index, bool quiet, struct loop_candidate *ret, struct error *err)
{
    struct session *session = data;
    enum verdict known;

    (void)index; /* the search knows where it stands */
    if (session->instead != NULL)
        bitset_assign(&session->chosen, session->instead);
    else
        choose_layers(session);
    if (!quiet && session->instead == NULL)
        log_selection(session);
    *ret = (struct loop_candidate){
        .action = CANDIDATE_CHECK, .num_nodes = -1, .has_identity = true, .identity = identity(session)};
    ret->expectation = session->again                          ? EXPECT_AGAIN
                       : session->instead == NULL              ? EXPECT_REMEDY
                       : session->instead == &session->lowered ? EXPECT_PASS
                                                               : EXPECT_FAILURE;
    if (quiet || (!session->again && loop_has_seen(session->loop, ret->identity, &known)))
        return 0;
    return prepare(session, ret, err);
}

static int write_candidate(void *data, const struct candidate_paths *paths, struct error *err)
{
    const struct session *session = data;

    return session->target->write(session->target->data, paths->items[CANDIDATE_ARTIFACT], err);
}

static bool advance(void *data, int64_t index, int64_t num_nodes, enum verdict verdict)
{
    struct session *session = data;

    (void)index, (void)num_nodes;
    return precision_search_ops.advance(&session->search, -1, verdict);
}

static int64_t remaining(void *data)
{
    struct session *session = data;

    return precision_search_ops.remaining(&session->search);
}

/* ---- The order ---- */

struct ranked_layer {
    size_t layer;
    double score;
};

static int compare_scores(const void *a, const void *b)
{
    const struct ranked_layer *left = a, *right = b;

    if (left->score != right->score)
        return left->score > right->score ? -1 : 1;
    return left->layer < right->layer ? -1 : 1;
}

static int order_by_scores(struct session *session, struct error *err)
{
    size_t count = session->target->count;
    struct ranked_layer *ranked;

    session->scores = memory_alloc_zero(count, sizeof(*session->scores));
    int rc = session->target->score(session->target->data, session->scores, err);
    if (rc < 0)
        return rc;
    ranked = memory_alloc_zero(count, sizeof(*ranked));
    for (size_t i = 0; i < count; i++)
        if (bitset_has(&session->lowered, i))
            ranked[session->order_count++] = (struct ranked_layer){i, session->scores[i]};
    qsort(ranked, session->order_count, sizeof(*ranked), compare_scores);
    for (size_t i = 0; i < session->order_count; i++)
        session->order[i] = ranked[i].layer;
    free(ranked);
    return 0;
}

static int order_layers(struct session *session, struct error *err)
{
    size_t count = session->target->count;

    session->order = memory_alloc_zero(count, sizeof(*session->order));
    if (session->settings->mode == PRECISION_MINIMAL)
        return order_by_scores(session, err);
    session->order_count = count;
    for (size_t i = 0; i < count; i++)
        session->order[i] = session->settings->reverse ? count - 1 - i : i;
    return 0;
}

/* ---- Before the search ---- */

static int check_apart(struct session *session, const struct bitset *chosen, const char *key, const char *what,
                       enum verdict *ret, struct error *err)
{
    struct loop_subject subject = {.data = session, .kind = "engine", .describe = describe, .write = write_candidate};

    session->instead = chosen;
    int rc = loop_check_apart(session->loop, &subject, key, what, ret, err);
    session->instead = NULL;
    return rc;
}

static int check_end_again(void *data, bool bad, enum verdict *ret, struct error *err)
{
    struct session *session = data;
    struct loop_subject subject = {.data = session, .kind = "engine", .describe = describe, .write = write_candidate};
    struct bitset none;
    int rc;

    bitset_init(&none, session->target->count);
    session->instead = bad ? &none : &session->lowered;
    session->again = true;
    rc = loop_check_control(
        session->loop, &subject, bad ? ALL_LOW_KEY "_once_more" : ALL_HIGH_KEY "_once_more",
        bad ? "all layers in lower precision, once more" : "all layers in higher precision, once more", ret, err);
    session->again = false;
    session->instead = NULL;
    bitset_release(&none);
    return rc;
}

/* The answer rests on what the check said of these layers. If that is known from a debug replay or a verdict cache, it
 * is checked now. */
static int confirm(struct session *session, const struct bitset *chosen, const char *what, enum verdict expected,
                   struct error *err)
{
    struct loop_subject subject = {.data = session, .kind = "engine", .describe = describe, .write = write_candidate};
    struct bitset copy;
    enum verdict known;
    int rc = 0;

    bitset_init_copy(&copy, chosen);
    bitset_assign(&session->chosen, &copy);
    if (loop_has_seen(session->loop, identity(session), &known) && known == expected &&
        !loop_has_run(session->loop, identity(session))) {
        session->instead = &copy;
        session->again = true;
        rc = loop_confirm(session->loop, &subject, what, expected, err);
        session->again = false;
        session->instead = NULL;
    }
    bitset_release(&copy);
    return rc;
}

/* Sets the outcome when there is nothing to search. */
static int verify(struct session *session, struct precision_result *result, bool *ret_verified, struct error *err)
{
    enum verdict high, low;
    struct bitset none;
    int rc;

    *ret_verified = session->settings->verify && !loop_is_interactive(session->loop) &&
                    !loop_went_without(session->loop, ALL_HIGH_KEY);
    if (!*ret_verified)
        return 0;
    rc = check_apart(session, &session->lowered, ALL_HIGH_KEY, "all layers in higher precision", &high, err);
    if (rc == 0 && high != VERDICT_PASS)
        rc = loop_question_end(session->loop, ALL_HIGH, high, err);
    if (rc == 0 && high != VERDICT_PASS)
        rc = confirm(session, &session->lowered, "the engine " ALL_HIGH, high, err);
    if (rc == 0 && high != VERDICT_PASS) {
        result->outcome = PRECISION_NOT_FOUND;
        log_message(session->log, LOG_WARNING,
                    "The check does not pass with all layers in higher precision: lower precision is not what makes it "
                    "fail");
        return 0;
    }
    if (rc < 0)
        return rc;
    bitset_init(&none, session->target->count);
    rc = check_apart(session, &none, ALL_LOW_KEY, "all layers in lower precision", &low, err);
    if (rc == 0 && low == VERDICT_PASS && session->target->insist != NULL &&
        session->target->insist(session->target->data)) {
        session->insists = true;
        rc = check_apart(session, &none, ALL_LOW_AGAIN_KEY, "all layers in lower precision, in the other form", &low,
                         err);
    }
    if (rc == 0 && low == VERDICT_PASS)
        rc = loop_question_end(session->loop, ALL_LOW, low, err);
    if (rc == 0 && low == VERDICT_PASS)
        rc = confirm(session, &none, "the engine " ALL_LOW, low, err);
    bitset_release(&none);
    if (rc == 0 && low == VERDICT_PASS) {
        result->outcome = PRECISION_FOUND;
        result->none_needed = true;
        log_message(session->log, LOG_WARNING,
                    "The check passes with all layers in lower precision: none of them has to be higher");
    }
    return rc;
}

static void warn_without_choice(const struct session *session)
{
    if (bitset_count(&session->lowered) == 0)
        log_message(session->log, LOG_WARNING, "No layer runs in lower precision: there is nothing to choose from");
}

/* ---- The search ---- */

static int search(struct session *session, bool verified, struct precision_result *result, struct error *err)
{
    struct loop_subject subject = {.data = session,
                                   .kind = "engine",
                                   .describe = describe,
                                   .write = write_candidate,
                                   .advance = advance,
                                   .remaining = remaining};
    const struct loop_ends ends = {.data = session, .good = ALL_HIGH, .bad = ALL_LOW, .check_again = check_end_again};
    int rc = order_layers(session, err);

    if (rc < 0)
        return rc;
    precision_search_start(&session->search, session->settings->mode, session->order_count, verified);
    rc = loop_run(session->loop, &subject, err);
    if (rc == 0 && verified)
        rc = loop_look_back(session->loop, &ends, err);
    if (rc < 0)
        return rc;
    result->outcome = session->search.outcome == PRECISION_FOUND ? PRECISION_FOUND : PRECISION_NOT_FOUND;
    choose_layers(session);
    rc = confirm(session, &session->chosen, "the engine with the layers that were found",
                 result->outcome == PRECISION_FOUND ? VERDICT_PASS : VERDICT_FAIL, err);
    if (rc == 0 && result->outcome == PRECISION_FOUND) {
        loop_report_rates(session->loop, "The model in lower precision", "The result", identity(session));
        bitset_assign(&result->chosen, &session->chosen);
        result->selected = (int64_t)bitset_count(&session->search.candidate);
        result->is_minimal = session->settings->mode == PRECISION_MINIMAL;
    }
    return rc;
}

static void log_result(const struct session *session, const struct precision_result *result)
{
    bool minimal = session->settings->mode == PRECISION_MINIMAL;

    if (result->outcome == PRECISION_NOT_FOUND)
        log_message(session->log, LOG_ERROR, "Could not find a configuration that satisfied accuracy requirements.");
    else
        log_message(session->log, LOG_FINISH,
                    "To achieve acceptable accuracy, try running %s %" PRId64 " layer(s) in higher precision",
                    minimal                      ? "these"
                    : session->settings->reverse ? "the last"
                                                 : "the first",
                    result->selected);
}

int precision_run(const struct precision_target *target, const struct precision_run_settings *settings,
                  struct loop *loop, struct log *log, struct precision_result *ret, struct error *err)
{
    struct session session = {.target = target, .settings = settings, .loop = loop, .log = log};
    bool verified;

    *ret = (struct precision_result){.outcome = PRECISION_SEARCHING};
    bitset_init(&ret->chosen, target->count);
    bitset_init(&session.chosen, target->count);
    bitset_init(&session.lowered, target->count);
    for (size_t i = 0; i < target->count; i++)
        if (target->is_lowered(target->data, i))
            bitset_add(&session.lowered, i);
    warn_without_choice(&session);
    int rc = verify(&session, ret, &verified, err);
    if (rc == 0 && ret->outcome == PRECISION_SEARCHING)
        rc = search(&session, verified, ret, err);
    if (rc == 0)
        log_result(&session, ret);
    ret->scores = session.scores;
    free(session.order);
    bitset_release(&session.chosen);
    bitset_release(&session.lowered);
    precision_search_ops.release(&session.search);
    if (rc < 0)
        precision_result_release(ret);
    return rc;
}

void precision_result_release(struct precision_result *result)
{
    bitset_release(&result->chosen);
    free(result->scores);
    result->scores = NULL;
}
