/* bench/decision_speed.c: the time to decide what to check next, and what to check speculatively.
 *
 *   decision_speed BLOCKS JOBS CASES
 *
 * The graph is that of a transformer with BLOCKS blocks. A check fails when its culprits, three randomly placed nodes,
 * are in the candidate; it takes no time. Measured is the rest: passing a verdict to the minimal search and to its
 * speculation, and listing JOBS checks. Prints the mean of all decisions of a search, of the median search and of the
 * slowest one, in microseconds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../tests/support/block_graph.h"
#include "base/memory.h"
#include "base/system.h"
#include "search/lookahead.h"
#include "search/minimal_search.h"

#define CULPRITS 3
#define MOST_JOBS 256

static size_t culprits[CULPRITS];

static size_t random_below(size_t limit)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % limit;
}

static enum verdict check(const struct minimal_search *search)
{
    for (size_t i = 0; i < CULPRITS; i++)
        if (!bitset_has(&search->candidate, culprits[i]))
            return VERDICT_PASS;
    return VERDICT_FAIL;
}

/* ---- Speculation ---- */

static bool describe(void *data, const void *search, int64_t index, struct foreseen *ret)
{
    const struct bitset *candidate = &((const struct minimal_search *)search)->candidate;

    (void)data, (void)index;
    *ret = (struct foreseen){.identity = hash_bytes(candidate->words, bitset_words(candidate) * sizeof(uint64_t))};
    return true;
}

/* ---- The measurement ---- */

/* The mean of all decisions, in seconds. */
static double measure(const struct dag *dag, size_t jobs)
{
    struct lookahead_item items[MOST_JOBS];
    struct minimal_search search;
    struct lookahead *lookahead;
    struct bitset all;
    double total = 0;
    size_t decisions = 0;
    bool more;

    bitset_init(&all, dag->count);
    bitset_fill(&all);
    more = minimal_search_start(&search, dag, &all);
    lookahead = lookahead_new(&minimal_search_ops, &search, 0, describe, NULL);
    lookahead_list(lookahead, jobs, items);
    while (more) {
        enum verdict verdict = check(&search);
        double begin = stopwatch_now();

        more = minimal_search_ops.advance(&search, 0, verdict);
        lookahead_advance(lookahead, 0, verdict);
        lookahead_list(lookahead, jobs, items);
        total += stopwatch_now() - begin;
        decisions++;
    }
    lookahead_free(lookahead);
    minimal_search_ops.release(&search);
    bitset_release(&all);
    return total / (double)decisions;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    size_t blocks = argc == 4 ? strtoul(argv[1], NULL, 10) : 0;
    size_t jobs = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
    size_t cases = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
    double *means;
    struct dag dag;

    if (blocks == 0 || jobs == 0 || jobs > MOST_JOBS || cases == 0) {
        fprintf(stderr, "usage: decision_speed BLOCKS JOBS CASES\n");
        return 2;
    }
    means = memory_alloc_zero(cases, sizeof(*means));
    block_graph_init(&dag, blocks);
    for (size_t i = 0; i < cases; i++) {
        for (size_t k = 0; k < CULPRITS; k++)
            culprits[k] = random_below(dag.count);
        means[i] = measure(&dag, jobs);
    }
    dag_release(&dag);
    qsort(means, cases, sizeof(*means), compare);
    printf("%.1f %.1f\n", 1e6 * means[cases / 2], 1e6 * means[cases - 1]);
    free(means);
    return 0;
}
