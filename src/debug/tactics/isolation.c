/* debug/tactics/isolation.c: see isolation.h. */
#include "debug/tactics/isolation.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

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
    bitset_init(&isolation->chosen, isolation->differences.count);
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
    bitset_release(&isolation->chosen);
    bitset_release(&isolation->kernel.layers);
    if (isolation->kernel.searched)
        group_search_ops.release(&isolation->kernel.search);
    if (isolation->search.count > 0)
        set_isolation_ops.release(&isolation->search);
    free(isolation->differences.items);
    *isolation = (struct tactic_isolation){0};
}

/* ---- Mixtures ---- */

static void copy_tensors(const struct tactic_tensors *from, struct tactic_tensors *ret)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct tactic_tensor *tensor = &from->items[i];
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

/* The good replay, with the tactics of `from_bad` (differences) out of the bad one. Layers that only one of them has
 * are left to the builder. */
static void mix(const struct tactic_isolation *isolation, const struct bitset *from_bad, struct tactic_replay *ret)
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

/* Built is only what has to be checked. */
static struct loop_candidate describe_mixture(const struct bitset *from_bad, enum expectation expectation)
{
    return (struct loop_candidate){
        .action = CANDIDATE_CHECK,
        .num_nodes = -1,
        .has_identity = true,
        .identity = hash_bytes(from_bad->words, bitset_words(from_bad) * sizeof(*from_bad->words)),
        .expectation = expectation,
    };
}

static void describe_candidate(struct tactic_isolation *isolation, const struct bitset *candidate,
                               enum candidate_turn turn, struct loop_candidate *ret)
{
    if (turn != CANDIDATE_AHEAD)
        bitset_assign(&isolation->chosen, candidate);
    if (turn == CANDIDATE_NOW)
        log_message(isolation->log, LOG_INFO, "Taking the tactics of %zu of %zu layer(s) from the bad replay",
                    bitset_count(candidate), candidate->size);
    *ret = describe_mixture(candidate, EXPECT_BOUNDARY);
}

static int describe(void *data, const void *search, enum candidate_turn turn, struct loop_candidate *ret,
                    struct error *err)
{
    (void)err;
    describe_candidate(data, &((const struct set_isolation *)search)->candidate, turn, ret);
    return 0;
}

static int describe_group(void *data, const void *search, enum candidate_turn turn, struct loop_candidate *ret,
                          struct error *err)
{
    (void)err;
    describe_candidate(data, &((const struct group_search *)search)->candidate, turn, ret);
    return 0;
}

/* Every layer could be built this way before, so that a mixture that cannot be built is an error. */
static int build(const struct tactic_isolation *isolation, const struct bitset *from_bad, void **ret, struct error *err)
{
    const struct engine_maker *maker = &isolation->maker;
    struct tactic_replay mixture;
    const struct engine_order order = {.iteration = -1, .forced = &mixture};
    void *engine = NULL;
    int rc;

    mix(isolation, from_bad, &mixture);
    rc = maker->build(maker->data, &order, &engine, err);
    if (rc == 0)
        rc = maker->save_byproducts(maker->data, engine, err);
    tactic_replay_release(&mixture);
    if (rc == 0)
        *ret = engine;
    else
        maker->drop(maker->data, engine);
    return rc;
}

static int prepare(void *data, const void *search, const char *path, struct loop_candidate *candidate,
                   struct error *err)
{
    struct tactic_isolation *isolation = data;
    int rc;

    (void)search, (void)candidate;
    drop_engine(isolation);
    rc = build(isolation, &isolation->chosen, &isolation->engine, err);
    if (rc < 0)
        return rc;
    isolation->builds++;
    log_message(isolation->log, LOG_INFO, "Saving engine to %s", path);
    return 0;
}

/* `ahead`: the candidate to be built, whose turn may come later; NULL: that which was prepared. */
static int write_candidate(const struct tactic_isolation *isolation, const struct bitset *ahead, const char *path,
                           struct error *err)
{
    const struct engine_maker *maker = &isolation->maker;
    void *engine;
    int rc;

    if (ahead == NULL)
        return maker->save(maker->data, isolation->engine, path, err);
    rc = build(isolation, ahead, &engine, err);
    if (rc < 0)
        return rc;
    rc = maker->save(maker->data, engine, path, err);
    maker->drop(maker->data, engine);
    return rc;
}

static int write(void *data, const void *search, enum candidate_turn turn, const struct candidate_paths *paths,
                 struct error *err)
{
    const struct bitset *candidate = &((const struct set_isolation *)search)->candidate;

    return write_candidate(data, turn == CANDIDATE_AHEAD ? candidate : NULL, paths->items[CANDIDATE_ARTIFACT], err);
}

static int write_group(void *data, const void *search, enum candidate_turn turn, const struct candidate_paths *paths,
                       struct error *err)
{
    const struct bitset *candidate = &((const struct group_search *)search)->candidate;

    return write_candidate(data, turn == CANDIDATE_AHEAD ? candidate : NULL, paths->items[CANDIDATE_ARTIFACT], err);
}

/* ---- The replays themselves ---- */

#define WITH_GOOD "with the tactics of the good replay"
#define WITH_BAD "with the tactics of the bad replay"

/* A candidate apart from the search, in place of its state. */
struct given_mixture {
    struct bitset from_bad;
    enum expectation expectation;
};

static int describe_given(void *data, const void *search, enum candidate_turn turn, struct loop_candidate *ret,
                          struct error *err)
{
    const struct given_mixture *given = search;
    struct tactic_isolation *isolation = data;

    (void)turn, (void)err;
    bitset_assign(&isolation->chosen, &given->from_bad);
    *ret = describe_mixture(&given->from_bad, given->expectation);
    return 0;
}

static struct loop_subject given_subject(struct tactic_isolation *isolation, struct given_mixture *given)
{
    return (struct loop_subject){.data = isolation,
                                 .search = given,
                                 .kind = "engine",
                                 .describe = describe_given,
                                 .prepare = prepare,
                                 .write = write};
}

/* All tactics of one replay. */
static void take_whole(const struct tactic_isolation *isolation, bool bad, struct bitset *ret)
{
    bitset_init(ret, isolation->differences.count);
    if (bad)
        bitset_fill(ret);
}

static int check_whole(struct tactic_isolation *isolation, bool bad, bool again, struct loop *loop, enum verdict *ret,
                       struct error *err)
{
    struct given_mixture given = {.expectation = again ? EXPECT_AGAIN : bad ? EXPECT_FAILURE : EXPECT_PASS};
    struct loop_subject subject = given_subject(isolation, &given);
    int rc;

    take_whole(isolation, bad, &given.from_bad);
    if (again)
        rc = loop_check_control(loop, &subject, bad ? "_bad_once_more" : "_good_once_more",
                                bad ? "the bad replay, once more" : "the good replay, once more", ret, err);
    else
        rc = loop_check_apart(loop, &subject, bad ? "_bad" : "_good", bad ? "the bad replay" : "the good replay", ret,
                              err);
    bitset_release(&given.from_bad);
    return rc;
}

/* The answer rests on what the check said of the engine with these tactics of the bad replay. If that is known from a
 * debug replay or a verdict cache, it is checked now. */
static int confirm(struct tactic_isolation *isolation, const struct bitset *from_bad, const char *what,
                   enum verdict expected, struct loop *loop, struct error *err)
{
    struct given_mixture given = {*from_bad, EXPECT_AGAIN};
    struct loop_subject subject = given_subject(isolation, &given);
    struct hash identity = describe_mixture(from_bad, EXPECT_AGAIN).identity;
    enum verdict known;

    return loop_has_seen(loop, identity, &known) && known == expected && !loop_has_run(loop, identity)
               ? loop_confirm(loop, &subject, what, expected, err)
               : 0;
}

/* One of the replays has another verdict than it should. */
static int question_whole(struct tactic_isolation *isolation, bool bad, enum verdict verdict, struct loop *loop,
                          struct error *err)
{
    struct bitset from_bad;
    int rc = loop_question_end(loop, "engine", bad ? WITH_BAD : WITH_GOOD, verdict, err);

    if (rc < 0)
        return rc;
    take_whole(isolation, bad, &from_bad);
    rc = confirm(isolation, &from_bad, bad ? "the engine " WITH_BAD : "the engine " WITH_GOOD, verdict, loop, err);
    bitset_release(&from_bad);
    return rc;
}

/* Without a build that passes and one that fails, there is nothing between them. */
static int check_ends(struct tactic_isolation *isolation, struct loop *loop, struct error *err)
{
    enum verdict verdict;
    int rc = check_whole(isolation, false, false, loop, &verdict, err);

    if (rc < 0)
        return rc;
    if (verdict != VERDICT_PASS) {
        isolation->outcome = ISOLATION_GOOD_FAILS;
        return question_whole(isolation, false, verdict, loop, err);
    }
    rc = check_whole(isolation, true, false, loop, &verdict, err);
    if (rc < 0 || verdict == VERDICT_FAIL)
        return rc;
    isolation->outcome = ISOLATION_BAD_PASSES;
    return question_whole(isolation, true, verdict, loop, err);
}

/* ---- The kernel ---- */

/* False when what was found is of several kernels, or the good build has the same one there, in another layout. */
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
    for (size_t i = 0; i < isolation->bad->count; i++) {
        const struct tactic_choice *choice = &isolation->bad->items[i];
        const struct tactic_algorithm *good = tactic_replay_find(isolation->good, choice->layer);

        kernel->kept +=
            good && good->implementation == implementation && choice->algorithm.implementation == implementation;
    }
    return true;
}

/* The bad build fails without what was found as long as other layers have the kernel that are at fault, too. */
static int search_layers(struct tactic_isolation *isolation, struct loop *loop, struct error *err)
{
    const struct bitset *found = &isolation->search.found;
    struct isolation_kernel *kernel = &isolation->kernel;
    struct loop_subject subject = {.data = isolation,
                                   .ops = &group_search_ops,
                                   .search = &kernel->search,
                                   .suffix = "kernel",
                                   .kind = "engine",
                                   .describe = describe_group,
                                   .prepare = prepare,
                                   .write = write_group};

    kernel->known = find_kernel(isolation);
    if (!kernel->known || isolation->search.necessary || bitset_equal(&kernel->layers, found))
        return 0;
    log_message(
        isolation->log, LOG_INFO,
        "The bad build fails without what was found as well, but has its kernel in %zu layers: looking for those "
        "where it is at fault",
        bitset_count(&kernel->layers));
    group_search_start(&kernel->search, &kernel->layers, bitset_count(found) == 1 ? bitset_next(found, 0) : SIZE_MAX);
    kernel->searched = true;
    return loop_run(loop, &subject, err);
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

/* Without what is at fault, the bad build passes. */
static int confirm_cure(struct tactic_isolation *isolation, struct loop *loop, struct error *err)
{
    struct bitset from_bad;
    int rc;

    if (!isolation->kernel.searched || !isolation->kernel.search.cures)
        return 0;
    take_whole(isolation, true, &from_bad);
    bitset_subtract(&from_bad, tactic_isolation_fault(isolation));
    rc = confirm(isolation, &from_bad, "the engine without the kernel where it is at fault", VERDICT_PASS, loop, err);
    bitset_release(&from_bad);
    return rc;
}

bool tactic_isolation_mend(const struct tactic_isolation *isolation, struct tactic_replay *ret)
{
    const struct bitset *fault = isolation->outcome == ISOLATION_FOUND ? tactic_isolation_fault(isolation) : NULL;
    struct bitset from_bad;

    if (fault == NULL)
        return false;
    take_whole(isolation, true, &from_bad);
    bitset_subtract(&from_bad, fault);
    mix(isolation, &from_bad, ret);
    tactic_options_release(&ret->precision);
    tactic_options_copy(&isolation->bad->precision, &ret->precision);
    bitset_release(&from_bad);
    return true;
}

struct end_check {
    struct tactic_isolation *isolation;
    struct loop *loop;
};

static int check_end_again(void *data, bool bad, enum verdict *ret, struct error *err)
{
    const struct end_check *end = data;

    return check_whole(end->isolation, bad, true, end->loop, ret, err);
}

int tactic_isolation_run(struct tactic_isolation *isolation, struct loop *loop, struct error *err)
{
    struct loop_subject subject = {.data = isolation,
                                   .ops = &set_isolation_ops,
                                   .search = &isolation->search,
                                   .kind = "engine",
                                   .describe = describe,
                                   .prepare = prepare,
                                   .write = write};
    struct end_check end = {isolation, loop};
    const struct loop_ends ends = {
        .data = &end, .what = "the engine", .good = WITH_GOOD, .bad = WITH_BAD, .check_again = check_end_again};
    int rc;

    isolation->outcome = ISOLATION_FOUND;
    if (isolation->differences.count == 0) {
        isolation->outcome = ISOLATION_SAME;
        return 0;
    }
    rc = check_ends(isolation, loop, err);
    if (rc < 0 || isolation->outcome != ISOLATION_FOUND)
        return rc;
    if (set_isolation_start(&isolation->search, isolation->differences.count)) {
        rc = loop_run(loop, &subject, err);
        if (rc < 0)
            return rc;
    }
    rc = search_layers(isolation, loop, err);
    if (rc < 0)
        return rc;
    rc = loop_look_back(loop, &ends, err);
    if (rc < 0)
        return rc;
    rc = confirm(isolation, &isolation->search.found, "the engine with the tactics that were found", VERDICT_FAIL, loop,
                 err);
    return rc == 0 ? confirm_cure(isolation, loop, err) : rc;
}
