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

    struct bitset chosen; /* layers of the candidate that was described last, for now */
    bool is_made;         /* the target has it ready to be written */
    bool insists;         /* the target's insist() returned true */
};

/* A candidate apart from the search, in place of its state. */
struct given_layers {
    const struct bitset *chosen;
    enum expectation expectation;
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
static void choose_layers(const struct session *session, const struct precision_search *search, struct bitset *ret)
{
    bitset_clear(ret);
    for (size_t i = 0; i < session->order_count; i++)
        if (bitset_has(&search->candidate, i) && bitset_has(&session->lowered, session->order[i]))
            bitset_add(ret, session->order[i]);
}

/* With all layers chosen there is no lower precision, in whatever form. */
static struct hash identity_of(const struct session *session, const struct bitset *chosen)
{
    struct hash hash = hash_bytes(chosen->words, bitset_words(chosen) * sizeof(*chosen->words));

    if (session->insists && !bitset_equal(chosen, &session->lowered))
        hash = hash_combine(hash, hash_bytes("insists", sizeof("insists")));
    return hash;
}

static int describe(void *data, const void *search, enum candidate_turn turn, struct loop_candidate *ret,
                    struct error *err)
{
    struct session *session = data;
    struct bitset chosen;

    (void)err;
    bitset_init(&chosen, session->target->count);
    choose_layers(session, search, &chosen);
    *ret = (struct loop_candidate){.action = CANDIDATE_CHECK,
                                   .num_nodes = -1,
                                   .has_identity = true,
                                   .identity = identity_of(session, &chosen),
                                   .expectation = EXPECT_REMEDY};
    if (turn != CANDIDATE_AHEAD) {
        bitset_assign(&session->chosen, &chosen);
        session->is_made = false;
    }
    if (turn == CANDIDATE_NOW)
        log_selection(session);
    bitset_release(&chosen);
    return 0;
}

static int describe_given(void *data, const void *search, enum candidate_turn turn, struct loop_candidate *ret,
                          struct error *err)
{
    const struct given_layers *given = search;
    struct session *session = data;

    (void)turn, (void)err;
    bitset_assign(&session->chosen, given->chosen);
    session->is_made = false;
    *ret = (struct loop_candidate){.action = CANDIDATE_CHECK,
                                   .num_nodes = -1,
                                   .has_identity = true,
                                   .identity = identity_of(session, given->chosen),
                                   .expectation = given->expectation};
    return 0;
}

static int prepare(void *data, const void *search, const char *path, struct loop_candidate *candidate,
                   struct error *err)
{
    struct session *session = data;
    const struct precision_target *target = session->target;
    int rc = session->is_made ? 0 : target->prepare(target->data, &session->chosen, err);

    (void)search;
    session->is_made = rc == 0;
    if (rc == 0) {
        log_message(session->log, LOG_INFO, "%s %s", target->saving, path);
    } else if (rc == ERR_BACKEND || rc == ERR_UNSUPPORTED) { /* of this candidate */
        log_message(session->log, LOG_WARNING, "%s", err->message);
        log_message(session->log, LOG_WARNING, "Failed to create network or engine, continuing to the next iteration.");
        candidate->action = CANDIDATE_SKIP;
        candidate->skip_verdict = VERDICT_FAIL;
        rc = 0;
    }
    return rc;
}

static int write_candidate(void *data, const void *search, enum candidate_turn turn,
                           const struct candidate_paths *paths, struct error *err)
{
    struct session *session = data;
    const struct precision_target *target = session->target;
    struct bitset chosen;
    int rc = 0;

    if (turn == CANDIDATE_AHEAD) {
        bitset_init(&chosen, target->count);
        choose_layers(session, search, &chosen);
        session->is_made = false;
        rc = target->prepare(target->data, &chosen, err);
        bitset_release(&chosen);
    }
    return rc == 0 ? target->write(target->data, paths->items[CANDIDATE_ARTIFACT], err) : rc;
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

static struct loop_subject given_subject(struct session *session, struct given_layers *given)
{
    return (struct loop_subject){.data = session,
                                 .search = given,
                                 .kind = "engine",
                                 .describe = describe_given,
                                 .prepare = prepare,
                                 .write = write_candidate};
}

static int check_apart(struct session *session, const struct bitset *chosen, const char *key, const char *what,
                       enum verdict *ret, struct error *err)
{
    struct given_layers given = {chosen, chosen == &session->lowered ? EXPECT_PASS : EXPECT_FAILURE};
    struct loop_subject subject = given_subject(session, &given);

    return loop_check_apart(session->loop, &subject, key, what, ret, err);
}

static int check_end_again(void *data, bool bad, enum verdict *ret, struct error *err)
{
    struct session *session = data;
    struct bitset none;
    struct given_layers given = {bad ? &none : &session->lowered, EXPECT_AGAIN};
    struct loop_subject subject = given_subject(session, &given);
    int rc;

    bitset_init(&none, session->target->count);
    rc = loop_check_control(
        session->loop, &subject, bad ? ALL_LOW_KEY "_once_more" : ALL_HIGH_KEY "_once_more",
        bad ? "all layers in lower precision, once more" : "all layers in higher precision, once more", ret, err);
    bitset_release(&none);
    return rc;
}

/* The answer rests on what the check said of these layers. If that is known from a debug replay or a verdict cache, it
 * is checked now. */
static int confirm(struct session *session, const struct bitset *chosen, const char *what, enum verdict expected,
                   struct error *err)
{
    struct hash identity = identity_of(session, chosen);
    struct given_layers given = {chosen, EXPECT_AGAIN};
    struct loop_subject subject = given_subject(session, &given);
    enum verdict known;

    return loop_has_seen(session->loop, identity, &known) && known == expected && !loop_has_run(session->loop, identity)
               ? loop_confirm(session->loop, &subject, what, expected, err)
               : 0;
}

/* All layers in one precision have another verdict than they should. */
static int question_end(struct session *session, const struct bitset *chosen, enum verdict verdict, struct error *err)
{
    bool high = chosen == &session->lowered;
    int rc = loop_question_end(session->loop, high ? ALL_HIGH : ALL_LOW, verdict, err);

    return rc < 0 ? rc : confirm(session, chosen, high ? "the engine " ALL_HIGH : "the engine " ALL_LOW, verdict, err);
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
    if (rc < 0)
        return rc;
    if (high != VERDICT_PASS) {
        rc = question_end(session, &session->lowered, high, err);
        if (rc < 0)
            return rc;
        result->outcome = PRECISION_NOT_FOUND;
        log_message(session->log, LOG_WARNING,
                    "The check does not pass with all layers in higher precision: lower precision is not what makes it "
                    "fail");
        return 0;
    }
    bitset_init(&none, session->target->count);
    rc = check_apart(session, &none, ALL_LOW_KEY, "all layers in lower precision", &low, err);
    if (rc < 0 || low != VERDICT_PASS)
        goto done;
    if (session->target->insist != NULL && session->target->insist(session->target->data)) {
        session->insists = true;
        rc = check_apart(session, &none, ALL_LOW_AGAIN_KEY, "all layers in lower precision, in the other form", &low,
                         err);
        if (rc < 0 || low != VERDICT_PASS)
            goto done;
    }
    rc = question_end(session, &none, low, err);
    if (rc < 0)
        goto done;
    result->outcome = PRECISION_FOUND;
    result->none_needed = true;
    log_message(session->log, LOG_WARNING,
                "The check passes with all layers in lower precision: none of them has to be higher");
done:
    bitset_release(&none);
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
                                   .ops = &precision_search_ops,
                                   .search = &session->search,
                                   .kind = "engine",
                                   .describe = describe,
                                   .prepare = prepare,
                                   .write = write_candidate};
    const struct loop_ends ends = {
        .data = session, .what = "the engine", .good = ALL_HIGH, .bad = ALL_LOW, .check_again = check_end_again};
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
    choose_layers(session, &session->search, &result->chosen);
    rc = confirm(session, &result->chosen, "the engine with the layers that were found",
                 result->outcome == PRECISION_FOUND ? VERDICT_PASS : VERDICT_FAIL, err);
    if (rc == 0 && result->outcome == PRECISION_FOUND) {
        loop_report_rates(session->loop, "The model in lower precision", "The result",
                          identity_of(session, &result->chosen));
        result->selected = (int64_t)bitset_count(&session->search.candidate);
        result->is_minimal = session->settings->mode == PRECISION_MINIMAL;
    } else {
        bitset_clear(&result->chosen);
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
    ret->lowered = (int64_t)bitset_count(&session.lowered);
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
