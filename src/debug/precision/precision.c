/* debug/precision/precision.c: see precision.h. */
#include "debug/precision/precision.h"

#include "debug/belief/belief.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "debug/experiment/experiment.h"
#include "search/sets/greedy_search.h"

/* Some of these phrases are Polygraphy's. */
const struct precision_words precision_words_of_layers = {
    .kind = "engine",
    .all = "all layers in higher precision",
    .none = "all layers in lower precision",
    .with_all = "with all layers in higher precision",
    .with_none = "with all layers in lower precision",
    .choosing = "Selecting",
    .chosen = "layer(s) to run in higher precision",
    .found = "the engine with the found layers in higher precision",
    .unchanged = "The model in lower precision",
    .all_fail = "The check fails with all layers in higher precision: lower precision is not the cause",
    .none_needed = "The check passes with all layers in lower precision: no layer needs higher precision",
    .no_choice = "No layer runs in lower precision: nothing to search",
    .not_found = "Could not find a configuration that satisfied accuracy requirements.",
    .advice = "To achieve acceptable accuracy, try running these",
    .advised = "layer(s) in higher precision",
};

/* Keys in the replay. */
#define ALL_HIGH_KEY "_all_high"
#define ALL_LOW_KEY "_all_low"
#define ALL_LOW_AGAIN_KEY "_all_low_again" /* after insist() */

/* Number of names in the line about selected layers. */
#define SHOWN_NAMES 4

struct precision_run {
    const struct precision_target *target;
    const struct precision_words *words;
    const struct precision_run_settings *settings;
    struct experiment experiment; /* over layers: a candidate is the set of those in higher precision */
    struct log *log;
    struct bitset lowered, none;
    size_t *order;      /* the layer at each position of the search */
    size_t order_count; /* minimal: only those that are lowered */
    double *scores;
    uint32_t *groups;       /* of each position */
    size_t first, presumed; /* positions of layers out of range, and of those that overflow */
    struct precision_search search;
    uint32_t *sets; /* set of each layer: see the target's savings() */
    const struct bitset *found;
    bool insists; /* insist() of the target returned true */
};

/* ---- Candidates ---- */

static void announce_selection(void *data, const void *search, const struct bitset *chosen)
{
    const struct precision_run *run = data;
    SCOPED_STRING(names);
    size_t count = bitset_count(chosen), shown = 0;

    if (run->settings->mode != PRECISION_MINIMAL) {
        log_message(run->log, LOG_INFO, "Selecting %s %" PRId64 " layer(s) to run in higher precision",
                    run->settings->reverse ? "last" : "first", ((const struct precision_search *)search)->next);
        return;
    }
    for (size_t i = bitset_next(chosen, 0); i < chosen->size && shown < SHOWN_NAMES;
         i = bitset_next(chosen, i + 1), shown++) {
        string_add(&names, shown == 0 ? ": " : ", ");
        string_add_quoted(&names, run->target->name(run->target->data, i));
    }
    if (count > shown)
        string_add_format(&names, " and %zu more", count - shown);
    log_message(run->log, LOG_INFO, "%s %zu %s%s", run->words->choosing, count, run->words->chosen,
                count > 0 ? names.data : "");
}

/* The layers that the search has selected, among those in lower precision. */
static void choose_layers(void *data, const void *search, struct bitset *ret)
{
    const struct precision_run *run = data;
    const struct bitset *candidate = &((const struct precision_search *)search)->candidate;

    bitset_clear(ret);
    for (size_t i = 0; i < run->order_count; i++)
        if (bitset_has(candidate, i) && bitset_has(&run->lowered, run->order[i]))
            bitset_add(ret, run->order[i]);
}

/* With all layers chosen no layer is in lower precision, so the form does not matter. */
static struct hash identify_layers(void *data, const struct bitset *chosen)
{
    const struct precision_run *run = data;
    struct hash hash = hash_bytes(chosen->words, bitset_words(chosen) * sizeof(*chosen->words));

    if (run->insists && !bitset_equal(chosen, &run->lowered))
        hash = hash_combine(hash, hash_bytes("insists", sizeof("insists")));
    return hash;
}

static int make_layers(void *data, const struct bitset *chosen, struct error *err)
{
    const struct precision_target *target = ((const struct precision_run *)data)->target;

    return target->prepare(target->data, chosen, err);
}

static int save_layers(void *data, const char *path, struct error *err)
{
    const struct precision_target *target = ((const struct precision_run *)data)->target;

    return target->write(target->data, path, err);
}

/* ---- The order ---- */

struct ranked_layer {
    size_t layer;
    enum precision_range range;
    double block_score; /* highest score in its block */
    uint32_t block;
    double score;
};

/* Layers out of range first, then blocks by score. */
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

/* Without blocks, each layer is a block. */
static void rank_layers(const struct precision_run *run, struct ranked_layer *ret)
{
    const struct precision_target *target = run->target;
    double *best SCOPED_FREE = memory_alloc_zero(target->count, sizeof(*best));

    for (size_t i = 0; i < target->count; i++) {
        ret[i] = (struct ranked_layer){.layer = i,
                                       .range = target->range != NULL ? target->range(target->data, i) : PRECISION_FITS,
                                       .block = target->block != NULL ? target->block(target->data, i) : (uint32_t)i,
                                       .score = run->scores[i]};
        if (bitset_has(&run->lowered, i) && ret[i].score > best[ret[i].block])
            best[ret[i].block] = ret[i].score;
    }
    for (size_t i = 0; i < target->count; i++)
        ret[i].block_score = best[ret[i].block];
}

static void log_ranges(const struct precision_run *run)
{
    if (run->first > 0)
        log_message(run->log, LOG_INFO,
                    "%zu layer(s) exceed the range of the lower precision on these data: values overflow in %zu, "
                    "underflow in %zu. They are tried in higher precision first",
                    run->first, run->presumed, run->first - run->presumed);
}

/* Sets the order in which the search tries layers. */
static void take_in_order(struct precision_run *run, const struct ranked_layer *ranked)
{
    ARRAY_EACH (const struct ranked_layer, rank, ranked, run->target->count) {
        size_t position = run->order_count;

        if (!bitset_has(&run->lowered, rank->layer))
            continue;
        run->presumed += rank->range == PRECISION_OVERFLOWS;
        run->first += rank->range != PRECISION_FITS;
        if (position > 0)
            run->groups[position] =
                run->groups[position - 1] + (rank->range != rank[-1].range || rank->block != rank[-1].block);
        run->order[run->order_count++] = rank->layer;
    }
}

static int order_by_scores(struct precision_run *run, struct error *err)
{
    size_t count = run->target->count;
    struct ranked_layer *ranked SCOPED_FREE = NULL;

    run->scores = memory_alloc_zero(count, sizeof(*run->scores));
    run->groups = memory_alloc_zero(count, sizeof(*run->groups));
    int rc = run->target->score(run->target->data, run->scores, err);
    if (rc < 0)
        return rc;
    ranked = memory_alloc_zero(count, sizeof(*ranked));
    rank_layers(run, ranked);
    qsort(ranked, count, sizeof(*ranked), compare_ranks);
    take_in_order(run, ranked);
    log_ranges(run);
    return 0;
}

static int order_layers(struct precision_run *run, struct error *err)
{
    size_t count = run->target->count;

    run->order = memory_alloc_zero(count, sizeof(*run->order));
    if (run->settings->mode == PRECISION_MINIMAL)
        return order_by_scores(run, err);
    run->order_count = count;
    for (size_t i = 0; i < count; i++)
        run->order[i] = run->settings->reverse ? count - 1 - i : i;
    return 0;
}

/* ---- Before the search ---- */

static struct experiment_end good_end(const struct precision_run *run)
{
    return (struct experiment_end){&run->lowered, ALL_HIGH_KEY, run->words->all, run->words->with_all};
}

static struct experiment_end bad_end(const struct precision_run *run)
{
    return (struct experiment_end){&run->none, ALL_LOW_KEY, run->words->none, run->words->with_none};
}

static int check_end(struct precision_run *run, const struct experiment_end *end, enum verdict *ret, struct error *err)
{
    enum check_role role = end->set == &run->lowered ? ROLE_GOOD_END : ROLE_BAD_END;

    return experiment_check(&run->experiment, end->set, (struct check_request){role, end->key, end->name}, ret, err);
}

/* One step of a decoder, with all layers in lower precision. */
static int check_step(struct precision_run *run, size_t step, enum verdict *ret, struct error *err)
{
    const struct precision_steps *steps = &run->settings->steps;
    char key[64], what[96];

    snprintf(key, sizeof(key), "_all_low_step_%zu", step);
    snprintf(what, sizeof(what), "step %zu of the decoder, %s", step, run->words->with_none);
    if (steps->select(steps->data, step, err) < 0)
        return err->code;
    return experiment_check(&run->experiment, bad_end(run).set,
                            (struct check_request){ROLE_CONTROL_REPETITION, key, what}, ret, err);
}

static int find_failing_step(struct precision_run *run, size_t *ret, struct error *err)
{
    const struct precision_steps *steps = &run->settings->steps;

    for (size_t step = 0; step < steps->count && *ret == SIZE_MAX; step++) {
        enum verdict verdict;

        if (check_step(run, step, &verdict, err) < 0)
            return err->code;
        *ret = verdict == VERDICT_FAIL ? step : SIZE_MAX;
    }
    return steps->count > 0 ? steps->select(steps->data, SIZE_MAX, err) : 0;
}

/* Sets the outcome if the ends leave nothing to search. */
static int verify_ends(struct precision_run *run, struct precision_result *result, bool *ret_verified,
                       struct error *err)
{
    const struct precision_target *target = run->target;
    const struct experiment_end good = good_end(run), bad = bad_end(run);
    struct experiment_end other_form = bad;
    enum verdict high, low;
    int rc;

    *ret_verified = run->settings->verify && !session_state(run->experiment.session).is_interactive &&
                    !session_went_without(run->experiment.session, ALL_HIGH_KEY);
    if (!*ret_verified)
        return 0;
    rc = check_end(run, &good, &high, err);
    if (rc == 0 && high != VERDICT_PASS) {
        rc = experiment_question_end(&run->experiment, &good, high, err);
        if (rc < 0)
            return rc;
        result->outcome = PRECISION_NOT_FOUND;
        log_message(run->log, LOG_WARNING, "%s", run->words->all_fail);
        return 0;
    }
    if (rc < 0)
        return rc;
    rc = check_end(run, &bad, &low, err);
    if (rc == 0 && low == VERDICT_PASS && target->insist != NULL && target->insist(target->data)) {
        run->insists = true;
        other_form.key = ALL_LOW_AGAIN_KEY;
        other_form.name = "all layers in lower precision, rounded by Casts";
        rc = check_end(run, &other_form, &low, err);
    }
    if (rc < 0)
        return rc;
    if (low != VERDICT_PASS)
        return find_failing_step(run, &result->step, err);
    rc = experiment_question_end(&run->experiment, &bad, low, err);
    if (rc < 0)
        return rc;
    result->outcome = PRECISION_FOUND;
    result->none_needed = true;
    log_message(run->log, LOG_WARNING, "%s", run->words->none_needed);
    return 0;
}

static void warn_without_choice(const struct precision_run *run)
{
    if (bitset_count(&run->lowered) == 0)
        log_message(run->log, LOG_WARNING, "%s", run->words->no_choice);
}

/* ---- What is cheaper in higher precision ---- */

/* The layers found, and the sets that the search leaves in higher precision. */
static void choose_cheaper(void *data, const void *search, struct bitset *ret)
{
    const struct precision_run *run = data;
    const uint8_t *candidate = ((const struct greedy_search *)search)->candidate;

    bitset_assign(ret, run->found);
    for (size_t i = 0; i < run->target->count; i++)
        if (run->sets[i] != 0 && candidate[run->sets[i] - 1] != 0)
            bitset_add(ret, i);
}

/* The search keeps sets while the check passes. */
static bool advance_raising(void *search, int64_t nodes, enum verdict verdict)
{
    return greedy_search_ops.advance(search, nodes, verdict == VERDICT_PASS ? VERDICT_FAIL : VERDICT_PASS);
}

static int raise_sets(struct precision_run *run, size_t count, struct bitset *ret, struct error *err)
{
    struct greedy_search search;
    struct search_ops ops = greedy_search_ops;
    const struct experiment_search searched = {
        .ops = &ops, .search = &search, .suffix = "savings", .choose = choose_cheaper, .announce = announce_selection};
    uint8_t *alternatives SCOPED_FREE = memory_alloc_zero(count, sizeof(*alternatives));
    int rc = 0;

    memset(alternatives, 1, count);
    ops.advance = advance_raising;
    ops.expect = NULL;
    if (greedy_search_start(&search, alternatives, count))
        rc = experiment_run(&run->experiment, &searched, err);
    for (size_t i = 0; rc == 0 && i < run->target->count; i++)
        if (run->sets[i] != 0 && search.current[run->sets[i] - 1] != 0)
            bitset_add(ret, i);
    search_release(&greedy_search_ops, &search);
    return rc;
}

/* Adds layers in higher precision that save Casts. */
static int add_savings(struct precision_run *run, struct precision_result *result, struct error *err)
{
    const struct precision_target *target = run->target;
    uint32_t count;
    int rc = 0;

    if (target->savings == NULL || run->settings->mode != PRECISION_MINIMAL)
        return 0;
    run->sets = memory_alloc_zero(target->count, sizeof(*run->sets));
    run->found = &result->chosen;
    count = target->savings(target->data, &result->chosen, run->sets);
    if (count > 0)
        rc = raise_sets(run, count, &result->added, err);
    free(run->sets);
    return rc;
}

/* ---- The search ---- */

static void start_search(struct precision_run *run, bool verified)
{
    struct precision_hints hints = {.first = (int64_t)run->first,
                                    .presumed = (int64_t)run->presumed,
                                    .groups = run->target->block != NULL ? run->groups : NULL};

    precision_search_start(&run->search, run->settings->mode, run->order_count, verified);
    if (run->settings->mode == PRECISION_MINIMAL)
        precision_search_hint(&run->search, &hints);
}

/* Stores the search's result, `chosen`. */
static int take_answer(struct precision_run *run, struct precision_result *result, struct error *err)
{
    SCOPED_BITSET(answer);
    int rc = add_savings(run, result, err);

    if (rc < 0)
        return rc;
    bitset_init_copy(&answer, &result->chosen);
    bitset_unite(&answer, &result->added);
    rc = experiment_confirm(&run->experiment, &answer, run->words->found, VERDICT_PASS, err);
    if (rc == 0) {
        belief_report_rates(run->experiment.session, run->words->unchanged, "The result",
                            identify_layers(run, &answer));
        result->outcome = PRECISION_FOUND;
        result->selected = (int64_t)bitset_count(&run->search.candidate);
        result->is_minimal = run->settings->mode == PRECISION_MINIMAL;
    }
    return rc;
}

static int take_none(struct precision_run *run, struct precision_result *result, struct error *err)
{
    int rc = experiment_confirm(&run->experiment, &result->chosen, run->words->found, VERDICT_FAIL, err);

    result->outcome = PRECISION_NOT_FOUND;
    bitset_clear(&result->chosen);
    return rc;
}

static int search_layers(struct precision_run *run, bool verified, struct precision_result *result, struct error *err)
{
    const struct experiment_search searched = {
        .ops = &precision_search_ops, .search = &run->search, .choose = choose_layers, .announce = announce_selection};
    const struct experiment_end good = good_end(run), bad = bad_end(run);
    int rc = order_layers(run, err);

    if (rc < 0)
        return rc;
    start_search(run, verified);
    rc = experiment_run(&run->experiment, &searched, err);
    if (rc == 0 && verified)
        rc = experiment_look_back(&run->experiment, &good, &bad, err);
    if (rc < 0)
        return rc;
    choose_layers(run, &run->search, &result->chosen);
    return run->search.outcome == PRECISION_FOUND ? take_answer(run, result, err) : take_none(run, result, err);
}

static void log_result(const struct precision_run *run, const struct precision_result *result)
{
    bool minimal = run->settings->mode == PRECISION_MINIMAL;

    if (result->outcome == PRECISION_NOT_FOUND)
        log_message(run->log, LOG_ERROR, "%s", run->words->not_found);
    else if (minimal)
        log_message(run->log, LOG_FINISH, "%s %" PRId64 " %s", run->words->advice, result->selected,
                    run->words->advised);
    else
        log_message(run->log, LOG_FINISH,
                    "To achieve acceptable accuracy, try running the %s %" PRId64 " layer(s) in higher precision",
                    run->settings->reverse ? "last" : "first", result->selected);
}

int precision_run(const struct precision_target *target, const struct precision_run_settings *settings,
                  struct debug_session *session, struct log *log, struct precision_result *ret, struct error *err)
{
    const struct precision_words *words = target->words != NULL ? target->words : &precision_words_of_layers;
    struct precision_run run = {.target = target, .words = words, .settings = settings, .log = log};
    const struct experiment_items items = {.data = &run,
                                           .count = target->count,
                                           .kind = words->kind,
                                           .saving = target->saving,
                                           .expectation = EXPECT_REMEDY,
                                           .fails_unmade = true,
                                           .confirms_always = settings->verify,
                                           .identify = identify_layers,
                                           .make = make_layers,
                                           .save = save_layers};
    bool verified;

    run.experiment = (struct experiment){.items = &items, .session = session, .log = log};
    *ret = (struct precision_result){.outcome = PRECISION_SEARCHING, .unfit = -1, .step = SIZE_MAX};
    bitset_init(&ret->chosen, target->count);
    bitset_init(&ret->added, target->count);
    bitset_init(&run.none, target->count);
    bitset_init(&run.lowered, target->count);
    for (size_t i = 0; i < target->count; i++)
        if (target->is_lowered(target->data, i))
            bitset_add(&run.lowered, i);
    ret->lowered = (int64_t)bitset_count(&run.lowered);
    warn_without_choice(&run);
    int rc = verify_ends(&run, ret, &verified, err);
    if (rc == 0 && ret->outcome == PRECISION_SEARCHING)
        rc = search_layers(&run, verified, ret, err);
    if (rc == 0)
        log_result(&run, ret);
    ret->scores = run.scores;
    if (run.scores != NULL && target->range != NULL)
        ret->unfit = (int64_t)run.first;
    free(run.order);
    free(run.groups);
    bitset_release(&run.none);
    bitset_release(&run.lowered);
    search_release(&precision_search_ops, &run.search);
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
