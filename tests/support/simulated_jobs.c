/* support/simulated_jobs.c: see simulated_jobs.h. */
#include "support/simulated_jobs.h"

#include <stdlib.h>

#include "base/memory.h"

struct simulated_check {
    struct hash identity;
    int64_t index;
    enum verdict verdict;
};

struct check_list {
    struct simulated_check *items;
    size_t count, capacity;
};

struct simulation {
    const struct simulated_search *subject;
    struct check_list asked;   /* requested by the search */
    struct check_list done;    /* checks with a verdict */
    struct check_list running; /* their verdicts are not known yet */
    struct simulated_outcome outcome;
};

size_t simulated_random(uint64_t *state, size_t limit)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(*state >> 33) % limit;
}

/* -1: any index */
static const struct simulated_check *find(const struct check_list *list, struct hash identity, int64_t index)
{
    for (size_t i = 0; i < list->count; i++)
        if (hash_equal(list->items[i].identity, identity) && (index < 0 || list->items[i].index == index))
            return &list->items[i];
    return NULL;
}

static bool describe(void *data, const void *search, int64_t index, struct foreseen *ret)
{
    struct simulation *simulation = data;
    const struct simulated_check *known;

    (void)index;
    *ret = (struct foreseen){0};
    ret->identity = simulation->subject->identify(search, &ret->nodes);
    known = find(&simulation->asked, ret->identity, -1);
    ret->known = known != NULL;
    ret->verdict = known != NULL ? known->verdict : VERDICT_SKIP;
    return true;
}

/* Starts the listed checks while there are free jobs. */
static void start_checks(struct simulation *simulation, struct lookahead *lookahead, size_t jobs)
{
    struct lookahead_item *items = memory_alloc_zero(jobs, sizeof(*items));
    size_t count = lookahead_list(lookahead, jobs, items);

    for (size_t i = 0; i < count && simulation->running.count < jobs; i++) {
        if (find(&simulation->running, items[i].identity, items[i].index) != NULL)
            continue;
        *VECTOR_APPEND(&simulation->running) = (struct simulated_check){
            items[i].identity, items[i].index, simulation->subject->check(simulation->subject->data, items[i].search)};
        simulation->outcome.checks++;
    }
    free(items);
}

static void end_check(struct simulation *simulation, struct lookahead *lookahead, size_t which)
{
    struct simulated_check check = simulation->running.items[which];

    simulation->running.items[which] = simulation->running.items[--simulation->running.count];
    *VECTOR_APPEND(&simulation->done) = check;
    lookahead_learn(lookahead, check.identity, check.index, check.verdict);
}

/* Passes the available verdicts to the search. Returns false when it is finished. */
static bool give_verdicts(struct simulation *simulation, struct lookahead *lookahead, void *search)
{
    for (;;) {
        int64_t index = (int64_t)simulation->outcome.requests, nodes = 0;
        struct hash identity = simulation->subject->identify(search, &nodes);
        const struct simulated_check *check = find(&simulation->asked, identity, -1);
        struct simulated_check asked;

        if (check == NULL)
            check = find(&simulation->done, identity, index);
        if (check == NULL)
            return true;
        asked = *check;
        *VECTOR_APPEND(&simulation->asked) = asked;
        simulation->outcome.requests++;
        simulation->outcome.way = hash_combine(simulation->outcome.way, identity);
        simulation->outcome.way.low += asked.verdict;
        lookahead_advance(lookahead, nodes, asked.verdict);
        if (!simulation->subject->ops->advance(search, nodes, asked.verdict))
            return false;
    }
}

struct simulated_outcome simulate_jobs(const struct simulated_search *subject, void *search, size_t jobs,
                                       uint64_t *random)
{
    struct simulation simulation = {.subject = subject};
    struct lookahead *lookahead = lookahead_new(subject->ops, search, 0, describe, &simulation);

    do {
        start_checks(&simulation, lookahead, jobs);
        if (simulation.running.count == 0)
            abort(); /* the search needs a verdict, and its check was not started */
        simulation.outcome.rounds++;
        do
            end_check(&simulation, lookahead, random != NULL ? simulated_random(random, simulation.running.count) : 0);
        while (random == NULL && simulation.running.count > 0);
    } while (give_verdicts(&simulation, lookahead, search));
    lookahead_free(lookahead);
    free(simulation.asked.items);
    free(simulation.done.items);
    free(simulation.running.items);
    return simulation.outcome;
}
