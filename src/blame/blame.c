/* blame/blame.c: computes the ranking of suspects from a table of builds. */
#include "blame/blame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SETTLED 0.95         /* a probability above this counts as certain */
#define LONGEST_ESTIMATE 1e6 /* builds; larger estimates are reported as unknown */

void blame_table_init(struct blame_table *table, size_t build_count)
{
    *table = (struct blame_table){0};
    bitset_init(&table->failed, build_count);
}

void blame_table_release(struct blame_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        bitset_release(&table->items[i].builds);
    free(table->items);
    bitset_release(&table->failed);
    *table = (struct blame_table){0};
}

struct bitset *blame_table_add(struct blame_table *table, size_t layer)
{
    struct blame_column *column = VECTOR_APPEND(table);

    column->layer = layer;
    bitset_init(&column->builds, table->failed.size);
    return &column->builds;
}

struct association blame_table_association(const struct blame_table *table, size_t column)
{
    const struct bitset *builds = &table->items[column].builds;
    size_t failed = bitset_count(&table->failed);
    size_t with = bitset_count(builds);
    struct association ret = {0};

    BITSET_EACH (i, builds)
        ret.failed_with += bitset_has(&table->failed, i);
    ret.passed_with = with - ret.failed_with;
    ret.failed_without = failed - ret.failed_with;
    ret.passed_without = builds->size - with - ret.failed_without;
    return ret;
}

static bool builds_vary(const struct bitset *builds)
{
    size_t count = bitset_count(builds);

    return count > 0 && count < builds->size;
}

static void count_layers(struct blame *blame, const struct blame_table *table)
{
    size_t tactics = 0;

    for (; tactics < table->count && table->items[tactics].layer != BLAME_POOL; tactics++)
        if (table->items[tactics].layer >= blame->layer_count)
            blame->layer_count = table->items[tactics].layer + 1;

    bool *changes SCOPED_FREE = memory_alloc_zero(blame->layer_count, sizeof(*changes));
    for (size_t i = 0; i < tactics; i++)
        changes[table->items[i].layer] |= builds_vary(&table->items[i].builds);
    for (size_t i = 0; i < blame->layer_count; i++)
        blame->fixed_layer_count += !changes[i];
}

/* --- columns with the same builds --------------------------------------------------------------------------------- */

struct column_ref {
    const struct bitset *builds;
    size_t column;
};

static int compare_builds(const struct bitset *a, const struct bitset *b)
{
    return memcmp(a->words, b->words, bitset_words(a) * sizeof(*a->words));
}

static int compare_refs(const void *a, const void *b)
{
    const struct column_ref *one = a, *other = b;
    int order = compare_builds(one->builds, other->builds);

    return order != 0 ? order : (one->column > other->column) - (one->column < other->column);
}

static struct blame_suspect make_suspect(const struct blame_table *table, const size_t *columns, size_t count)
{
    struct association association = blame_table_association(table, columns[0]);

    return (struct blame_suspect){
        .columns = columns,
        .column_count = count,
        .association = association,
        .ochiai = association_ochiai(&association),
        .fisher = association_fisher(&association),
        .difference = association_difference(&association),
    };
}

/* Fills blame->columns with the varying columns, and blame->items with one suspect for each distinct one. */
static void group_columns(struct blame *blame, const struct blame_table *table)
{
    struct column_ref *refs SCOPED_FREE = memory_alloc_zero(table->count, sizeof(*refs));
    size_t count = 0, end;

    for (size_t i = 0; i < table->count; i++)
        if (builds_vary(&table->items[i].builds)) {
            refs[count++] = (struct column_ref){&table->items[i].builds, i};
            blame->pool_count += table->items[i].layer == BLAME_POOL;
        }
    blame->varying_count = count - blame->pool_count;
    qsort(refs, count, sizeof(*refs), compare_refs);

    blame->columns = memory_alloc_zero(count, sizeof(*blame->columns));
    blame->items = memory_alloc_zero(count, sizeof(*blame->items));
    for (size_t i = 0; i < count; i++)
        blame->columns[i] = refs[i].column;
    for (size_t start = 0; start < count; start = end) {
        end = start + 1;
        while (end < count && compare_builds(refs[end].builds, refs[start].builds) == 0)
            end++;
        blame->items[blame->count++] = make_suspect(table, &blame->columns[start], end - start);
    }
    blame->distinct_count = blame->count;
}

/* --- posterior probabilities --------------------------------------------------------------------------------- */

static int compare_fisher(const void *a, const void *b)
{
    const struct blame_suspect *one = a, *other = b;

    return (one->fisher > other->fisher) - (one->fisher < other->fisher);
}

/* Holm's step-down correction: the smallest of m p-values counts m times, the next one m - 1 times, and so on; a later
 * one is never smaller than an earlier one. */
static void correct_for_many_tests(struct blame *blame)
{
    double least = 0;

    qsort(blame->items, blame->count, sizeof(*blame->items), compare_fisher);
    for (size_t i = 0; i < blame->count; i++) {
        least = fmax(least, fmin(1, blame->items[i].fisher * (double)(blame->count - i)));
        blame->items[i].holm = least;
    }
}

static void drop_those_that_do_no_harm(struct blame *blame)
{
    size_t kept = 0;

    for (size_t i = 0; i < blame->count; i++)
        if (association_is_positive(&blame->items[i].association))
            blame->items[kept++] = blame->items[i];
    blame->count = kept;
}

/* The prior probability that one of the suspect's columns is the culprit. */
static double prior_of(const struct blame *blame, const struct blame_table *table, const struct blame_suspect *suspect)
{
    double share = blame->pool_count > 0 ? 0.25 : 0.5, prior = 0;

    for (size_t i = 0; i < suspect->column_count; i++)
        prior += table->items[suspect->columns[i]].layer == BLAME_POOL ? share / (double)blame->pool_count
                                                                       : share / (double)blame->varying_count;
    return prior;
}

/* Converts log evidence to probabilities. The largest logarithm is subtracted first, so that exp() cannot overflow. */
static void weigh_evidence(struct blame *blame, const struct blame_table *table)
{
    const struct bitset *failed = &table->failed;
    size_t failed_count = bitset_count(failed);
    double none = association_log_evidence_of_none(failed_count, failed->size - failed_count) + log(0.5);
    double largest = none, sum;

    VECTOR_EACH (struct blame_suspect, suspect, *blame) {
        suspect->probability = association_log_evidence(&suspect->association) + log(prior_of(blame, table, suspect));
        largest = fmax(largest, suspect->probability);
    }
    blame->no_culprit = sum = exp(none - largest);
    for (size_t i = 0; i < blame->count; i++) {
        blame->items[i].probability = exp(blame->items[i].probability - largest);
        sum += blame->items[i].probability;
    }
    blame->no_culprit /= sum;
    for (size_t i = 0; i < blame->count; i++)
        blame->items[i].probability /= sum;
}

/* By probability; ties keep the order of the table. */
static int compare_suspects(const void *a, const void *b)
{
    const struct blame_suspect *one = a, *other = b;

    if (one->probability != other->probability)
        return one->probability < other->probability ? 1 : -1;
    return (one->columns[0] > other->columns[0]) - (one->columns[0] < other->columns[0]);
}

static long estimate_more_builds(const struct blame *blame)
{
    if (blame->count == 0)
        return -1;

    const struct blame_suspect *first = &blame->items[0];
    double probability = first->probability / (double)first->column_count;
    if (probability > SETTLED)
        return 0;
    double missing = log(SETTLED / (1 - SETTLED)) - log(probability / (1 - probability));
    double builds = ceil(missing / association_information(&first->association)); /* may be infinite */
    return builds <= LONGEST_ESTIMATE ? (long)fmax(builds, 1) : -1;
}

void blame_rank(struct blame *ret, const struct blame_table *table)
{
    *ret = (struct blame){0};
    count_layers(ret, table);
    group_columns(ret, table);
    correct_for_many_tests(ret);
    drop_those_that_do_no_harm(ret);
    weigh_evidence(ret, table);
    qsort(ret->items, ret->count, sizeof(*ret->items), compare_suspects);
    ret->more_builds = estimate_more_builds(ret);
}

void blame_release(struct blame *blame)
{
    free(blame->items);
    free(blame->columns);
    *blame = (struct blame){0};
}
