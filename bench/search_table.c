/* bench/search_table.c: results of the modes of `debug reduce`, and their numbers of checks and of parallel rounds.
 *
 *   search_table BLOCKS CASES [MODEL...]
 *
 * The first graph is that of a transformer with BLOCKS blocks, the others are those of the MODELs. A check fails when
 * all culprits are in the candidate. They are placed at random, close together or anywhere: CASES cases for each line,
 * a quarter of that for MODELs. Prints tables for docs/searching.md: remaining nodes, on average and at most; mean
 * number of checks, and of rounds when several run at a time and all take equally long; and how often the result is
 * 1-minimal, tested by leaving out every single node. As in the program, the same candidate is checked only once. Fails
 * when a result of the minimal search is not 1-minimal, or not the same with any number of checks at a time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/support/block_graph.h"
#include "../tests/support/simulated_reduction.h"
#include "base/memory.h"
#include "debug/reduce/node_dag.h"
#include "onnx/edit/model.h"

#define MOST_CULPRITS 4

/* A linear search takes up to two checks for each node, so large graphs get fewer cases. */
#define MOST_LINEAR_CHECKS 20000

static const size_t jobs[] = {1, 4, 16};

enum { JOBS = sizeof(jobs) / sizeof(jobs[0]) };

struct oracle {
    size_t culprits[2 * BLOCK_GRAPH_NODES], count;
};

struct tally {
    size_t cases, nodes, largest, minimal, different;
    size_t rounds[JOBS];
};

static uint64_t random_state = 1;

static bool fails(const struct oracle *oracle, const struct bitset *set)
{
    for (size_t i = 0; i < oracle->count; i++)
        if (!bitset_has(set, oracle->culprits[i]))
            return false;
    return true;
}

static enum verdict check(void *data, const void *search)
{
    return fails(data, simulated_reduction_candidate(search)) ? VERDICT_FAIL : VERDICT_PASS;
}

/* By brute force: whether the candidate passes without any single one of its nodes. */
static bool is_minimal(const struct oracle *oracle, struct bitset *set)
{
    bool ret = fails(oracle, set);

    for (size_t i = bitset_next(set, 0); ret && i < set->size; i = bitset_next(set, i + 1)) {
        bitset_remove(set, i);
        ret = !fails(oracle, set);
        bitset_add(set, i);
    }
    return ret;
}

/* Chooses different nodes, from one range as long as a block, or from anywhere. */
static void place_culprits(const struct dag *dag, bool near, struct oracle *oracle)
{
    size_t begin = near ? simulated_random(&random_state, dag->count - BLOCK_GRAPH_NODES + 1) : 0;
    size_t range = near ? BLOCK_GRAPH_NODES : dag->count;

    for (size_t i = 0; i < oracle->count; i++) {
        bool is_new;

        do {
            oracle->culprits[i] = begin + simulated_random(&random_state, range);
            is_new = true;
            for (size_t k = 0; k < i; k++)
                is_new &= oracle->culprits[k] != oracle->culprits[i];
        } while (!is_new);
    }
}

/* Searches once with each number of jobs. */
static void search(const struct dag *dag, enum simulated_mode mode, struct oracle *oracle, struct tally *tally)
{
    struct simulated_search subject = simulated_reduction_search;
    struct bitset found;
    size_t nodes = 0;

    subject.check = check;
    subject.data = oracle;
    bitset_init(&found, dag->count);
    for (size_t i = 0; i < JOBS; i++) {
        struct simulated_reduction reduction;

        if (simulated_reduction_start(&reduction, dag, mode))
            tally->rounds[i] += simulate_jobs(&subject, &reduction, jobs[i], NULL).rounds;
        if (i == 0)
            bitset_assign(&found, &reduction.base);
        else
            tally->different += !bitset_equal(&found, &reduction.base);
        simulated_reduction_release(&reduction);
    }
    nodes = bitset_count(&found);
    tally->cases++;
    tally->nodes += nodes;
    tally->largest = nodes > tally->largest ? nodes : tally->largest;
    tally->minimal += is_minimal(oracle, &found);
    bitset_release(&found);
}

static void print_tally(const struct tally *tally)
{
    double cases = (double)tally->cases;

    printf(" %.1f (%zu) |", (double)tally->nodes / cases, tally->largest);
    for (size_t i = 0; i < JOBS; i++)
        printf(i == 0 ? " %.1f |" : i == 1 ? " %.1f" : ", %.1f", (double)tally->rounds[i] / cases);
    printf(" | %.0f %% |", 100 * (double)tally->minimal / cases);
}

static bool is_sound(const struct tally *tally)
{
    return tally->different == 0;
}

/* Returns whether all results of the minimal search are 1-minimal, and none depends on the number of jobs. */
static bool print_line(const struct dag *dag, size_t culprits, bool near, size_t cases)
{
    struct oracle oracle = {.count = culprits};
    struct tally tallies[SIMULATED_MODES] = {0};
    bool ret = true;

    for (size_t i = 0; i < cases; i++) {
        place_culprits(dag, near, &oracle);
        for (enum simulated_mode mode = 0; mode < SIMULATED_MODES; mode++)
            if (mode != SIMULATED_LINEAR || i == 0 || i * 2 * dag->count < MOST_LINEAR_CHECKS)
                search(dag, mode, &oracle, &tallies[mode]);
    }
    printf("| %zu %s |", culprits, near ? "near" : "anywhere");
    for (enum simulated_mode mode = 0; mode < SIMULATED_MODES; mode++) {
        print_tally(&tallies[mode]);
        ret &= is_sound(&tallies[mode]);
    }
    printf("\n");
    return ret && tallies[SIMULATED_MINIMAL].minimal == cases;
}

static bool print_table(const char *name, const struct dag *dag, size_t cases)
{
    static const char *const modes[] = {"bisect", "linear", "minimal"};
    bool ret = true;
    size_t linear = (MOST_LINEAR_CHECKS - 1) / (2 * dag->count) + 1;

    printf("%s: %zu nodes, means of %zu cases (linear: %zu):\n\n| culprits |", name, dag->count, cases,
           linear < cases ? linear : cases);
    for (enum simulated_mode mode = 0; mode < SIMULATED_MODES; mode++)
        printf(" %s: nodes (most) | checks | rounds of 4, 16 | 1-minimal |", modes[mode]);
    printf("\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t culprits = 1; culprits <= MOST_CULPRITS; culprits++)
        for (int near = culprits > 1; near >= 0; near--)
            ret &= print_line(dag, culprits, near != 0, cases);
    printf("\n");
    return ret;
}

/* ---- Graphs ---- */

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static bool print_model(const char *path, size_t cases)
{
    struct error err;
    struct model *model;
    struct dag dag;
    bool ret;

    if (model_open(path, NULL, &model, &err) < 0 || model_lower_constants(model, &err) < 0) {
        fprintf(stderr, "search_table: %s\n", err.message);
        exit(2);
    }
    node_dag_init(&dag, model);
    ret = dag.count >= BLOCK_GRAPH_NODES;
    if (ret)
        ret = print_table(name_of(path), &dag, cases);
    else
        fprintf(stderr, "search_table: %s has too few nodes\n", path);
    dag_release(&dag);
    model_free(model);
    return ret;
}

/* Placement of the culprits: `count` random nodes, or, if that is 0, all nodes of two innermost scopes. */
struct placement {
    size_t count;
    bool near;
};

static void add_scope(const struct dag *dag, struct oracle *oracle)
{
    size_t at = simulated_random(&random_state, dag->count);

    while (dag->shared_scopes[at] == BLOCK_GRAPH_SCOPES)
        at--;
    do
        oracle->culprits[oracle->count++] = at++;
    while (at < dag->count && dag->shared_scopes[at] == BLOCK_GRAPH_SCOPES);
}

static void place(const struct dag *dag, struct placement placement, struct oracle *oracle)
{
    oracle->count = placement.count;
    if (placement.count > 0) {
        place_culprits(dag, placement.near, oracle);
        return;
    }
    add_scope(dag, oracle);
    add_scope(dag, oracle); /* may be the same one */
}

/* Returns whether all results are 1-minimal. */
static bool print_scope_line(size_t blocks, struct placement placement, size_t cases)
{
    struct tally tallies[2] = {0};
    struct oracle oracle;
    struct dag dag[2];

    block_graph_init(&dag[0], blocks);
    block_graph_init(&dag[1], blocks);
    block_graph_add_scopes(&dag[1]);
    for (size_t i = 0; i < cases; i++) {
        place(&dag[1], placement, &oracle);
        for (size_t k = 0; k < 2; k++)
            search(&dag[k], SIMULATED_MINIMAL, &oracle, &tallies[k]);
    }
    if (placement.count == 0)
        printf("| all of two scopes |");
    else
        printf("| %zu %s |", placement.count, placement.near ? "near" : "anywhere");
    for (size_t k = 0; k < 2; k++) {
        printf(" %.1f |", (double)tallies[k].rounds[0] / (double)cases);
        dag_release(&dag[k]);
    }
    printf("\n");
    return is_sound(&tallies[0]) && is_sound(&tallies[1]) && tallies[0].minimal + tallies[1].minimal == 2 * cases;
}

static bool print_scopes(size_t blocks, size_t cases)
{
    bool ret = true;

    printf("Checks of the minimal search with and without scopes, %zu blocks:\n\n"
           "| culprits | without | with |\n|---|---|---|\n",
           blocks);
    for (size_t culprits = 1; culprits <= MOST_CULPRITS; culprits++)
        for (int near = culprits > 1; near >= 0; near--)
            ret &= print_scope_line(blocks, (struct placement){culprits, near != 0}, cases);
    ret &= print_scope_line(blocks, (struct placement){0, false}, cases);
    printf("\n");
    return ret;
}

/* Unconnected nodes, so that the graph cannot be cut. */
static bool print_deletion(size_t nodes, size_t cases)
{
    static const size_t parallel[] = {1, 4, 8, 16};
    struct simulated_search subject = simulated_reduction_search;
    struct oracle oracle = {.count = 3};
    struct dag dag;
    bool ret = true;

    subject.check = check;
    subject.data = &oracle;
    dag_init(&dag, nodes, NULL, 0);
    printf("Deletion alone, %zu nodes, 3 culprits anywhere:\n\n| -j | rounds | checks |\n|---|---|---|\n", nodes);
    for (size_t i = 0; i < ARRAY_LEN(parallel); i++) {
        size_t rounds = 0, checks = 0;

        random_state = 1;
        for (size_t k = 0; k < cases; k++) {
            struct simulated_reduction reduction;
            struct simulated_outcome outcome;

            place_culprits(&dag, false, &oracle);
            simulated_reduction_start(&reduction, &dag, SIMULATED_MINIMAL);
            outcome = simulate_jobs(&subject, &reduction, parallel[i], NULL);
            rounds += outcome.rounds;
            checks += outcome.checks;
            ret &= is_minimal(&oracle, &reduction.base);
            simulated_reduction_release(&reduction);
        }
        printf("| %zu | %.1f | %.1f |\n", parallel[i], (double)rounds / (double)cases, (double)checks / (double)cases);
    }
    printf("\n");
    dag_release(&dag);
    return ret;
}

int main(int argc, char **argv)
{
    size_t blocks = argc >= 3 ? strtoul(argv[1], NULL, 10) : 0;
    size_t cases = argc >= 3 ? strtoul(argv[2], NULL, 10) : 0;
    bool ok;
    struct dag dag;

    if (blocks == 0 || cases == 0) {
        fprintf(stderr, "usage: search_table BLOCKS CASES [MODEL...]\n");
        return 2;
    }
    block_graph_init(&dag, blocks);
    ok = print_table("transformer", &dag, cases);
    dag_release(&dag);
    for (int i = 3; i < argc; i++)
        ok &= print_model(argv[i], (cases + 3) / 4);
    ok &= print_deletion(200, cases);
    ok &= print_deletion(1000, cases);
    ok &= print_scopes(blocks, cases);
    if (!ok)
        fprintf(stderr,
                "search_table: a result of the minimal search is not 1-minimal, or one depends on the number of "
                "jobs\n");
    return ok ? 0 : 1;
}
