/* debug/precision/precision.c: see precision.h. */
#include "debug/precision/precision.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search/greedy_search.h"

/* Some of them are Polygraphy's. */
const struct precision_words precision_words_of_layers = {
    .kind = "engine",
    .all = "all layers in higher precision",
    .none = "all layers in lower precision",
    .with_all = "with all layers in higher precision",
    .with_none = "with all layers in lower precision",
    .choosing = "Selecting",
    .chosen = "layer(s) to run in higher precision",
    .found = "the engine with the layers that were found",
    .unchanged = "The model in lower precision",
    .all_fail =
        "The check does not pass with all layers in higher precision: lower precision is not what makes it fail",
    .none_needed = "The check passes with all layers in lower precision: none of them has to be higher",
    .no_choice = "No layer runs in lower precision: there is nothing to choose from",
    .not_found = "Could not find a configuration that satisfied accuracy requirements.",
    .advice = "To achieve acceptable accuracy, try running these",
    .advised = "layer(s) in higher precision",
};

/* In the replay. */
#define ALL_HIGH_KEY "_all_high"
#define ALL_LOW_KEY "_all_low"
#define ALL_LOW_AGAIN_KEY "_all_low_again" /* after insist() */

/* So many names are shown in the line that says what is selected. */
#define SHOWN_NAMES 4

struct session {
    const struct precision_target *target;
    const struct precision_words *words;
    const struct precision_run_settings *settings;
    struct loop *loop;
    struct log *log;
    struct bitset lowered;
    size_t *order;      /* the layer at each position of the search */
    size_t order_count; /* minimal: only those that are lowered */
    double *scores;
    uint32_t *groups;       /* of each position */
    size_t first, presumed; /* positions of layers that do not fit; of those that overflow */
    struct precision_search search;
    uint32_t *sets; /* of each layer: see the target's savings() */
    const struct bitset *found;

    /* The layers that a state of the search at work has selected, without those that stay as they are. */
    void (*choose)(const struct session *session, const void *search, struct bitset *ret);
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
         i = bitset_next(&session->chosen, i + 1), shown++) {
        string_add(&names, shown == 0 ? ": " : ", ");
        string_add_quoted(&names, session->target->name(session->target->data, i));
    }
    if (count > shown)
        string_add_format(&names, " and %zu more", count - shown);
    log_message(session->log, LOG_INFO, "%s %zu %s%s", session->words->choosing, count, session->words->chosen,
                count > 0 ? names.data : "");
    string_release(&names);
}

static void choose_layers(const struct session *session, const void *data, struct bitset *ret)
{
    const struct precision_search *search = data;

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
    session->choose(session, search, &chosen);
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
        session->choose(session, search, &chosen);
        session->is_made = false;
        rc = target->prepare(target->data, &chosen, err);
        bitset_release(&chosen);
    }
    return rc == 0 ? target->write(target->data, paths->items[CANDIDATE_ARTIFACT], err) : rc;
}

/* ---- The order ---- */

struct ranked_layer {
    size_t layer;
    enum precision_range range;
    double block_score; /* the highest in its block */
    uint32_t block;
    double score;
};

/* Layers that do not fit are the first, then blocks with a high score. */
static int compare_ranks(const void *a, const void *b)
{
    const struct ranked_layer *left = a, *right = b;

    if (left->range != right->range)
        return left->range > right->range ? -1 : 1;
    if (left->block_score != right->block_score)
        return left->block_score > right->block_score ? -1 : 1;
    if (left->block != right->block)
        return left->block < right->block ? -1 : 1;
    if (left->score != right->score)
        return left->score > right->score ? -1 : 1;
    return left->layer < right->layer ? -1 : 1;
}

/* Without blocks, each layer is one. */
static void rank_layers(const struct session *session, struct ranked_layer *ret)
{
    const struct precision_target *target = session->target;
    double *best = memory_alloc_zero(target->count, sizeof(*best));

    for (size_t i = 0; i < target->count; i++) {
        ret[i] = (struct ranked_layer){.layer = i,
                                       .range = target->range != NULL ? target->range(target->data, i) : PRECISION_FITS,
                                       .block = target->block != NULL ? target->block(target->data, i) : (uint32_t)i,
                                       .score = session->scores[i]};
        if (bitset_has(&session->lowered, i) && ret[i].score > best[ret[i].block])
            best[ret[i].block] = ret[i].score;
    }
    for (size_t i = 0; i < target->count; i++)
        ret[i].block_score = best[ret[i].block];
    free(best);
}

static void log_ranges(const struct session *session)
{
    if (session->first > 0)
        log_message(
            session->log, LOG_INFO,
            "%zu layer(s) are outside of the range of the lower precision on these data: values of %zu overflow, "
            "those of %zu vanish. They are tried in higher precision first",
            session->first, session->presumed, session->first - session->presumed);
}

/* The order of those that the search chooses from. */
static void take_in_order(struct session *session, const struct ranked_layer *ranked)
{
    for (size_t i = 0; i < session->target->count; i++) {
        const struct ranked_layer *rank = &ranked[i];
        size_t position = session->order_count;

        if (!bitset_has(&session->lowered, rank->layer))
            continue;
        session->presumed += rank->range == PRECISION_OVERFLOWS;
        session->first += rank->range != PRECISION_FITS;
        if (position > 0)
            session->groups[position] =
                session->groups[position - 1] + (rank->range != rank[-1].range || rank->block != rank[-1].block);
        session->order[session->order_count++] = rank->layer;
    }
}

static int order_by_scores(struct session *session, struct error *err)
{
    size_t count = session->target->count;
    struct ranked_layer *ranked;

    session->scores = memory_alloc_zero(count, sizeof(*session->scores));
    session->groups = memory_alloc_zero(count, sizeof(*session->groups));
    int rc = session->target->score(session->target->data, session->scores, err);
    if (rc < 0)
        return rc;
    ranked = memory_alloc_zero(count, sizeof(*ranked));
    rank_layers(session, ranked);
    qsort(ranked, count, sizeof(*ranked), compare_ranks);
    take_in_order(session, ranked);
    log_ranges(session);
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
                                 .kind = session->words->kind,
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
    struct string_builder what;
    int rc;

    bitset_init(&none, session->target->count);
    string_init(&what);
    string_add_format(&what, "%s, once more", bad ? session->words->none : session->words->all);
    rc = loop_check_control(session->loop, &subject, bad ? ALL_LOW_KEY "_once_more" : ALL_HIGH_KEY "_once_more",
                            what.data, ret, err);
    string_release(&what);
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
    const char *how = chosen == &session->lowered ? session->words->with_all : session->words->with_none;
    struct string_builder what;
    int rc = loop_question_end(session->loop, session->words->kind, how, verdict, err);

    string_init(&what);
    string_add_format(&what, "the %s %s", session->words->kind, how);
    if (rc == 0)
        rc = confirm(session, chosen, what.data, verdict, err);
    string_release(&what);
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
    rc = check_apart(session, &session->lowered, ALL_HIGH_KEY, session->words->all, &high, err);
    if (rc < 0)
        return rc;
    if (high != VERDICT_PASS) {
        rc = question_end(session, &session->lowered, high, err);
        if (rc < 0)
            return rc;
        result->outcome = PRECISION_NOT_FOUND;
        log_message(session->log, LOG_WARNING, "%s", session->words->all_fail);
        return 0;
    }
    bitset_init(&none, session->target->count);
    rc = check_apart(session, &none, ALL_LOW_KEY, session->words->none, &low, err);
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
    log_message(session->log, LOG_WARNING, "%s", session->words->none_needed);
done:
    bitset_release(&none);
    return rc;
}

static void warn_without_choice(const struct session *session)
{
    if (bitset_count(&session->lowered) == 0)
        log_message(session->log, LOG_WARNING, "%s", session->words->no_choice);
}

/* ---- What is cheaper in higher precision ---- */

/* Those that were found, and the sets that the search leaves raised. */
static void choose_cheaper(const struct session *session, const void *data, struct bitset *ret)
{
    const struct greedy_search *search = data;

    bitset_assign(ret, session->found);
    for (size_t i = 0; i < session->target->count; i++)
        if (session->sets[i] != 0 && search->candidate[session->sets[i] - 1] != 0)
            bitset_add(ret, i);
}

/* The search is for what can be had while a check fails. */
static bool advance_raising(void *search, int64_t nodes, enum verdict verdict)
{
    return greedy_search_ops.advance(search, nodes, verdict == VERDICT_PASS ? VERDICT_FAIL : VERDICT_PASS);
}

static int raise_sets(struct session *session, size_t count, struct bitset *ret, struct error *err)
{
    struct greedy_search search;
    struct search_ops ops = greedy_search_ops;
    struct loop_subject subject = {.data = session,
                                   .ops = &ops,
                                   .search = &search,
                                   .suffix = "savings",
                                   .kind = session->words->kind,
                                   .describe = describe,
                                   .prepare = prepare,
                                   .write = write_candidate};
    uint8_t *alternatives = memory_alloc_zero(count, sizeof(*alternatives));
    int rc = 0;

    memset(alternatives, 1, count);
    ops.advance = advance_raising;
    ops.expect = NULL;
    session->choose = choose_cheaper;
    if (greedy_search_start(&search, alternatives, count))
        rc = loop_run(session->loop, &subject, err);
    for (size_t i = 0; rc == 0 && i < session->target->count; i++)
        if (session->sets[i] != 0 && search.current[session->sets[i] - 1] != 0)
            bitset_add(ret, i);
    greedy_search_ops.release(&search);
    free(alternatives);
    return rc;
}

/* Higher precision where nobody needs it, because that is cheaper. */
static int add_savings(struct session *session, struct precision_result *result, struct error *err)
{
    const struct precision_target *target = session->target;
    uint32_t count;
    int rc = 0;

    if (target->savings == NULL || session->settings->mode != PRECISION_MINIMAL)
        return 0;
    session->sets = memory_alloc_zero(target->count, sizeof(*session->sets));
    session->found = &result->chosen;
    count = target->savings(target->data, &result->chosen, session->sets);
    if (count > 0)
        rc = raise_sets(session, count, &result->added, err);
    free(session->sets);
    return rc;
}

/* ---- The search ---- */

static void start_search(struct session *session, bool verified)
{
    struct precision_hints hints = {.first = (int64_t)session->first,
                                    .presumed = (int64_t)session->presumed,
                                    .groups = session->target->block != NULL ? session->groups : NULL};

    precision_search_start(&session->search, session->settings->mode, session->order_count, verified);
    if (session->settings->mode == PRECISION_MINIMAL)
        precision_search_hint(&session->search, &hints);
}

/* `chosen` is what the search has found. */
static int take_answer(struct session *session, struct precision_result *result, struct error *err)
{
    struct bitset answer;
    int rc = add_savings(session, result, err);

    if (rc < 0)
        return rc;
    bitset_init_copy(&answer, &result->chosen);
    bitset_unite(&answer, &result->added);
    rc = confirm(session, &answer, session->words->found, VERDICT_PASS, err);
    if (rc == 0) {
        loop_report_rates(session->loop, session->words->unchanged, "The result", identity_of(session, &answer));
        result->outcome = PRECISION_FOUND;
        result->selected = (int64_t)bitset_count(&session->search.candidate);
        result->is_minimal = session->settings->mode == PRECISION_MINIMAL;
    }
    bitset_release(&answer);
    return rc;
}

static int take_none(struct session *session, struct precision_result *result, struct error *err)
{
    int rc = confirm(session, &result->chosen, session->words->found, VERDICT_FAIL, err);

    result->outcome = PRECISION_NOT_FOUND;
    bitset_clear(&result->chosen);
    return rc;
}

static int search(struct session *session, bool verified, struct precision_result *result, struct error *err)
{
    struct loop_subject subject = {.data = session,
                                   .ops = &precision_search_ops,
                                   .search = &session->search,
                                   .kind = session->words->kind,
                                   .describe = describe,
                                   .prepare = prepare,
                                   .write = write_candidate};
    struct loop_ends ends = {.data = session,
                             .good = session->words->with_all,
                             .bad = session->words->with_none,
                             .check_again = check_end_again};
    struct string_builder what;
    int rc = order_layers(session, err);

    if (rc < 0)
        return rc;
    start_search(session, verified);
    rc = loop_run(session->loop, &subject, err);
    string_init(&what);
    string_add_format(&what, "the %s", session->words->kind);
    ends.what = what.data;
    if (rc == 0 && verified)
        rc = loop_look_back(session->loop, &ends, err);
    string_release(&what);
    if (rc < 0)
        return rc;
    choose_layers(session, &session->search, &result->chosen);
    return session->search.outcome == PRECISION_FOUND ? take_answer(session, result, err)
                                                      : take_none(session, result, err);
}

static void log_result(const struct session *session, const struct precision_result *result)
{
    bool minimal = session->settings->mode == PRECISION_MINIMAL;

    if (result->outcome == PRECISION_NOT_FOUND)
        log_message(session->log, LOG_ERROR, "%s", session->words->not_found);
    else if (minimal)
        log_message(session->log, LOG_FINISH, "%s %" PRId64 " %s", session->words->advice, result->selected,
                    session->words->advised);
    else
        log_message(session->log, LOG_FINISH,
                    "To achieve acceptable accuracy, try running the %s %" PRId64 " layer(s) in higher precision",
                    session->settings->reverse ? "last" : "first", result->selected);
}

int precision_run(const struct precision_target *target, const struct precision_run_settings *settings,
                  struct loop *loop, struct log *log, struct precision_result *ret, struct error *err)
{
    struct session session = {.target = target,
                              .words = target->words != NULL ? target->words : &precision_words_of_layers,
                              .settings = settings,
                              .loop = loop,
                              .log = log,
                              .choose = choose_layers};
    bool verified;

    *ret = (struct precision_result){.outcome = PRECISION_SEARCHING, .unfit = -1};
    bitset_init(&ret->chosen, target->count);
    bitset_init(&ret->added, target->count);
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
    if (session.scores != NULL && target->range != NULL)
        ret->unfit = (int64_t)session.first;
    free(session.order);
    free(session.groups);
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
    bitset_release(&result->added);
    free(result->scores);
    result->scores = NULL;
}
