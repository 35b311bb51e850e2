/* debug/tactics/isolation.c: see isolation.h. */
#include "debug/tactics/isolation.h"

#include <stdlib.h>

#include "base/memory.h"
#include "debug/experiment/experiment.h"

/* ---- Differences ---- */

void tactic_isolation_init(struct tactic_isolation *isolation, const struct tactic_replay *good,
                           const struct tactic_replay *bad)
{
    size_t common = 0;

    *isolation = (struct tactic_isolation){.good = good, .bad = bad};
    for (size_t i = 0; i < bad->count; i++) {
        const struct tactic_algorithm *algorithm = tactic_replay_find(good, bad->items[i].layer);

        common += algorithm != NULL;
        if (algorithm && !tactic_algorithm_equal(algorithm, &bad->items[i].algorithm))
            *VECTOR_APPEND(&isolation->differences) =
                (struct tactic_difference){bad->items[i].layer, algorithm, &bad->items[i].algorithm};
    }
    isolation->only_in_one = good->count - common + (bad->count - common);
    bitset_init(&isolation->kernel.layers, isolation->differences.count);
}

static void drop_engine(struct tactic_isolation *isolation)
{
    if (isolation->engine != NULL)
        isolation->maker.drop(isolation->maker.data, isolation->engine);
    isolation->engine = NULL;
}

void tactic_isolation_release(struct tactic_isolation *isolation)
{
    drop_engine(isolation);
    bitset_release(&isolation->kernel.layers);
    if (isolation->kernel.searched)
        search_release(&group_search_ops, &isolation->kernel.search);
    if (isolation->search.count > 0)
        search_release(&set_isolation_ops, &isolation->search);
    free(isolation->differences.items);
    *isolation = (struct tactic_isolation){0};
}

/* ---- Mixtures ---- */

static void copy_tensors(const struct tactic_tensors *from, struct tactic_tensors *ret)
{
    VECTOR_EACH (const struct tactic_tensor, tensor, *from) {
        struct tactic_tensor *copy = tactic_tensors_add(ret, text_of(tensor->dtype), tensor->strides, tensor->rank);

        copy->vectorized_dim = tensor->vectorized_dim;
        copy->components_per_element = tensor->components_per_element;
    }
}

static void add_choice(struct tactic_replay *replay, const char *layer, const struct tactic_algorithm *from)
{
    struct tactic_algorithm *algorithm = tactic_replay_set(replay, layer);

    algorithm->implementation = from->implementation;
    algorithm->tactic = from->tactic;
    algorithm->name = from->name ? memory_strdup(from->name) : NULL;
    copy_tensors(&from->inputs, &algorithm->inputs);
    copy_tensors(&from->outputs, &algorithm->outputs);
}

/* The good replay, with the tactics of `from_bad` (differences) from the bad one. The builder chooses for layers that
 * only one of them has. */
static void mix_replays(const struct tactic_isolation *isolation, const struct bitset *from_bad,
                        struct tactic_replay *ret)
{
    size_t next = 0;

    tactic_replay_init(ret);
    for (size_t i = 0; i < isolation->bad->count; i++) {
        const char *layer = isolation->bad->items[i].layer;
        const struct tactic_algorithm *algorithm = tactic_replay_find(isolation->good, layer);
        bool differs = next < isolation->differences.count && isolation->differences.items[next].layer == layer;

        if (!algorithm)
            continue;
        if (differs && bitset_has(from_bad, next))
            algorithm = isolation->differences.items[next].bad;
        next += differs;
        add_choice(ret, layer, algorithm);
    }
}

/* ---- Candidates ---- */

static void choose_isolated(void *data, const void *search, struct bitset *ret)
{
    (void)data;
    bitset_assign(ret, &((const struct set_isolation *)search)->candidate);
}

static void choose_of_group(void *data, const void *search, struct bitset *ret)
{
    (void)data;
    bitset_assign(ret, &((const struct group_search *)search)->candidate);
}

static void announce_mixture(void *data, const void *search, const struct bitset *from_bad)
{
    (void)search;
    log_message(((struct tactic_isolation *)data)->log, LOG_INFO,
                "Taking the tactics of %zu of %zu layer(s) from the bad replay", bitset_count(from_bad),
                from_bad->size);
}

/* Each layer was built with either tactic before, so a mixture that cannot be built is an error. */
static int build_mixture(void *data, const struct bitset *from_bad, struct error *err)
{
    struct tactic_isolation *isolation = data;
    const struct engine_maker *maker = &isolation->maker;
    struct tactic_replay mixture;
    const struct engine_order order = {.iteration = -1, .forced = &mixture};
    int rc;

    drop_engine(isolation);
    mix_replays(isolation, from_bad, &mixture);
    rc = maker->build(maker->data, &order, &isolation->engine, err);
    if (rc == 0)
        rc = maker->save_byproducts(maker->data, isolation->engine, err);
    tactic_replay_release(&mixture);
    if (rc < 0)
        drop_engine(isolation);
    return rc;
}

static int save_engine(void *data, const char *path, struct error *err)
{
    const struct tactic_isolation *isolation = data;

    return isolation->maker.save(isolation->maker.data, isolation->engine, path, err);
}

/* ---- The replays themselves ---- */

#define WITH_GOOD "with the tactics of the good replay"
#define WITH_BAD "with the tactics of the bad replay"

/* All tactics of one replay. */
static void take_whole(const struct tactic_isolation *isolation, bool bad, struct bitset *ret)
{
    bitset_init(ret, isolation->differences.count);
    if (bad)
        bitset_fill(ret);
}

/* The search needs a build that passes and one that fails. */
static int check_ends(struct tactic_isolation *isolation, struct experiment *experiment,
                      const struct experiment_end *good, const struct experiment_end *bad, struct error *err)
{
    enum verdict verdict;
    int rc = experiment_check(experiment, good->set, (struct check_request){ROLE_GOOD_END, good->key, good->name},
                              &verdict, err);

    if (rc < 0)
        return rc;
    if (verdict != VERDICT_PASS) {
        isolation->outcome = ISOLATION_GOOD_FAILS;
        return experiment_question_end(experiment, good, verdict, err);
    }
    rc = experiment_check(experiment, bad->set, (struct check_request){ROLE_BAD_END, bad->key, bad->name}, &verdict,
                          err);
    if (rc < 0 || verdict == VERDICT_FAIL)
        return rc;
    isolation->outcome = ISOLATION_BAD_PASSES;
    return experiment_question_end(experiment, bad, verdict, err);
}

/* ---- The kernel ---- */

/* False if the tactics found have several kernels, or the good build has the same kernel there in another layout. */
static bool find_kernel(struct tactic_isolation *isolation)
{
    const struct bitset *found = &isolation->search.found;
    struct isolation_kernel *kernel = &isolation->kernel;
    int64_t implementation = isolation->differences.items[bitset_next(found, 0)].bad->implementation;

    for (size_t i = 0; i < isolation->differences.count; i++) {
        const struct tactic_difference *difference = &isolation->differences.items[i];
        bool has_it = difference->bad->implementation == implementation;
        bool only_bad = has_it && difference->good->implementation != implementation;

        if (bitset_has(found, i) && !only_bad)
            return false;
        if (only_bad)
            bitset_add(&kernel->layers, i);
    }
    VECTOR_EACH (const struct tactic_choice, choice, *isolation->bad) {
        const struct tactic_algorithm *good = tactic_replay_find(isolation->good, choice->layer);

        kernel->kept +=
            good && good->implementation == implementation && choice->algorithm.implementation == implementation;
    }
    return true;
}

/* Searches the layers in which the kernel is wrong: the bad build fails without the tactics found as long as other
 * layers use that kernel, too. */
static int search_kernel(struct tactic_isolation *isolation, struct experiment *experiment, struct error *err)
{
    const struct bitset *found = &isolation->search.found;
    struct isolation_kernel *kernel = &isolation->kernel;
    const struct experiment_search search = {.ops = &group_search_ops,
                                             .search = &kernel->search,
                                             .suffix = "kernel",
                                             .choose = choose_of_group,
                                             .announce = announce_mixture};

    kernel->known = find_kernel(isolation);
    if (!kernel->known || isolation->search.necessary || bitset_equal(&kernel->layers, found))
        return 0;
    log_message(isolation->log, LOG_INFO,
                "The bad build also fails without this tactic, but has its kernel in %zu layers: searching for the "
                "layers in which that kernel is wrong",
                bitset_count(&kernel->layers));
    group_search_start(&kernel->search, &kernel->layers, bitset_count(found) == 1 ? bitset_next(found, 0) : SIZE_MAX);
    kernel->searched = true;
    return experiment_run(experiment, &search, err);
}

const struct bitset *tactic_isolation_fault(const struct tactic_isolation *isolation)
{
    const struct isolation_kernel *kernel = &isolation->kernel;

    if (isolation->search.necessary)
        return &isolation->search.found;
    if (!kernel->searched || !kernel->search.cures)
        return NULL;
    return kernel->search.exact ? &kernel->search.guilty : &kernel->layers;
}

/* Confirms that the good build fails with the tactics found, and that the bad build passes without the wrong ones. */
static int confirm_answer(struct tactic_isolation *isolation, struct experiment *experiment, struct error *err)
{
    SCOPED_BITSET(from_bad);
    int rc = experiment_confirm(experiment, &isolation->search.found, "the engine with the found tactics", VERDICT_FAIL,
                                err);

    if (rc < 0 || !isolation->kernel.searched || !isolation->kernel.search.cures)
        return rc;
    take_whole(isolation, true, &from_bad);
    bitset_subtract(&from_bad, tactic_isolation_fault(isolation));
    return experiment_confirm(experiment, &from_bad, "the engine without the kernel in the layers where it is wrong",
                              VERDICT_PASS, err);
}

bool tactic_isolation_fixed_replay(const struct tactic_isolation *isolation, struct tactic_replay *ret)
{
    const struct bitset *fault = isolation->outcome == ISOLATION_FOUND ? tactic_isolation_fault(isolation) : NULL;
    SCOPED_BITSET(from_bad);

    if (fault == NULL)
        return false;
    take_whole(isolation, true, &from_bad);
    bitset_subtract(&from_bad, fault);
    mix_replays(isolation, &from_bad, ret);
    tactic_options_release(&ret->precision);
    tactic_options_copy(&isolation->bad->precision, &ret->precision);
    return true;
}

static int isolate_difference(struct tactic_isolation *isolation, struct experiment *experiment, struct error *err)
{
    const struct experiment_search search = {.ops = &set_isolation_ops,
                                             .search = &isolation->search,
                                             .choose = choose_isolated,
                                             .announce = announce_mixture};
    SCOPED_BITSET(none);
    SCOPED_BITSET(all);
    const struct experiment_end good = {&none, "_good", "the good replay", "with the tactics of the good replay"};
    const struct experiment_end bad = {&all, "_bad", "the bad replay", "with the tactics of the bad replay"};
    int rc;

    take_whole(isolation, false, &none);
    take_whole(isolation, true, &all);
    rc = check_ends(isolation, experiment, &good, &bad, err);
    if (rc < 0 || isolation->outcome != ISOLATION_FOUND)
        return rc;
    if (set_isolation_start(&isolation->search, isolation->differences.count))
        rc = experiment_run(experiment, &search, err);
    if (rc < 0)
        return rc;
    rc = search_kernel(isolation, experiment, err);
    if (rc < 0)
        return rc;
    rc = experiment_look_back(experiment, &good, &bad, err);
    if (rc == 0)
        rc = confirm_answer(isolation, experiment, err);
    return rc;
}

int tactic_isolation_run(struct tactic_isolation *isolation, struct debug_session *session, struct error *err)
{
    const struct experiment_items items = {.data = isolation,
                                           .count = isolation->differences.count,
                                           .kind = "engine",
                                           .saving = "Saving engine to",
                                           .expectation = EXPECT_BOUNDARY,
                                           .make = build_mixture,
                                           .save = save_engine};
    struct experiment experiment = {.items = &items, .session = session, .log = isolation->log};
    int64_t before = session_state(session).written;
    int rc;

    isolation->outcome = ISOLATION_FOUND;
    if (isolation->differences.count == 0) {
        isolation->outcome = ISOLATION_SAME;
        return 0;
    }
    rc = isolate_difference(isolation, &experiment, err);
    isolation->builds += (size_t)(session_state(session).written - before);
    return rc;
}
