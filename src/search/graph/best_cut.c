/* search/graph/best_cut.c: see best_cut.h.
 *
 * Speculation calls this for many states between two checks, so few cuts are evaluated. The set behind an element
 * contains the sets behind its neighbours: this bounds the sizes of both sides and rules out most cuts.
 */
#include "search/graph/best_cut.h"

#define MOST_PIVOTS 256

/* Up to this number all pivots are evaluated. */
#define FEW_PIVOTS 16

struct cut_finder {
    const struct cut_question *question;
    uint32_t pivots[MOST_PIVOTS];
    size_t count, step; /* pivot i is suspect number i * step */
    size_t suspects;
    size_t first, end; /* all suspects are in first .. end-1 */
    size_t floor;      /* balance of a known cut: cuts below are not the best */

    /* At members of `blocked` one side is too small, and smaller still beyond them. */
    bool has_blocked;
    struct bitset blocked; /* a view, or `walked` */
    struct bitset reach, walked;
};

/* In a convex set (no path between two members leaves it) the ancestors of the pivot within the set are the set's
 * members among all its ancestors, because paths to the pivot stay in the set. A cut keeps a convex set convex: an
 * element on a path between two kept elements is in the set, and an ancestor of the pivot. The same holds for
 * descendants. */
static bool has_table(const struct cut_question *question)
{
    return question->is_convex && question->dag->closures[question->direction] != NULL;
}

static size_t smaller_count(size_t a, size_t b)
{
    return a < b ? a : b;
}

void cut_make(const struct cut_question *question, uint32_t pivot, struct bitset *ret)
{
    if (!has_table(question)) {
        dag_reach(question->dag, pivot, question->direction, question->current, ret);
        return;
    }
    struct bitset all = dag_closure(question->dag, pivot, question->direction);

    bitset_assign(ret, question->current);
    bitset_intersect(ret, &all);
}

/* The number of suspects that a cut keeps, and whether it removes anything. */
static bool try_cut(struct cut_finder *finder, uint32_t pivot, size_t *ret_inside)
{
    const struct cut_question *question = finder->question;
    struct bitset left = finder->reach;
    size_t first = finder->first, end = finder->end;

    if (has_table(question))
        left = dag_closure(question->dag, pivot, question->direction);
    else
        cut_make(question, pivot, &finder->reach);
    *(question->direction == DAG_ANCESTORS ? &end : &first) =
        question->direction == DAG_ANCESTORS ? pivot + (size_t)1 : pivot;
    *ret_inside = bitset_count_common_between(&left, question->suspects, first, end);
    return *ret_inside < finder->suspects ||
           bitset_count_common(&left, question->current) < bitset_count(question->current);
}

/* If the kept side at `pivot` is the larger one, cuts at elements that contain `pivot` cannot be better. */
static void block_neighbours(struct cut_finder *finder, uint32_t pivot)
{
    const struct cut_question *question = finder->question;
    enum dag_direction away = question->direction == DAG_ANCESTORS ? DAG_DESCENDANTS : DAG_ANCESTORS;

    if (has_table(question)) {
        finder->blocked = dag_closure(question->dag, pivot, away);
        return;
    }
    if (finder->walked.words == NULL)
        bitset_init(&finder->walked, question->dag->count);
    dag_reach(question->dag, pivot, away, question->current, &finder->walked);
    finder->blocked = finder->walked;
}

/* Bisects as if the graph were a line: this gives a good balance (the floor), and an element slightly beyond it that
 * blocks further ones. */
static void probe_middle(struct cut_finder *finder)
{
    size_t low = 0, high = finder->count, blocked_outside = 0;
    uint32_t blocking = 0;
    struct {
        uint32_t pivot;
        size_t outside;
    } probes[16]; /* enough to halve MOST_PIVOTS */
    size_t probe_count = 0;

    while (low < high) {
        size_t middle = (low + high) / 2, inside;
        uint32_t pivot = finder->pivots[middle];
        bool is_cut = try_cut(finder, pivot, &inside);
        size_t outside = finder->suspects - inside;

        if (is_cut && !bitset_has(finder->question->refused, pivot) && smaller_count(inside, outside) > finder->floor)
            finder->floor = smaller_count(inside, outside);
        probes[probe_count].pivot = pivot;
        probes[probe_count++].outside = outside;
        if ((inside < outside) == (finder->question->direction == DAG_ANCESTORS))
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = 0; i < probe_count; i++)
        if (probes[i].outside < finder->floor && probes[i].outside >= blocked_outside) {
            blocked_outside = probes[i].outside;
            blocking = probes[i].pivot;
            finder->has_blocked = true;
        }
    if (finder->has_blocked)
        block_neighbours(finder, blocking);
}

/* Elements are in topological order: ancestors have smaller, descendants larger numbers. */
static size_t most_inside(const struct cut_finder *finder, size_t i)
{
    return finder->question->direction == DAG_ANCESTORS ? i * finder->step + 1 : finder->suspects - i * finder->step;
}

bool best_cut_find(const struct cut_question *question, struct best_cut *ret)
{
    struct cut_finder finder = {.question = question, .suspects = bitset_count(question->suspects)};
    bool found = false;

    finder.step = finder.suspects / MOST_PIVOTS + 1;
    finder.count = bitset_sample(question->suspects, finder.step, finder.pivots);
    finder.first = bitset_next(question->suspects, 0);
    finder.end = finder.count > 0 ? bitset_previous(question->suspects, question->dag->count) + 1 : 0;
    if (!has_table(question))
        bitset_init(&finder.reach, question->dag->count);
    if (finder.count > FEW_PIVOTS)
        probe_middle(&finder);
    for (size_t i = 0; i < finder.count; i++) {
        uint32_t pivot = finder.pivots[i];
        size_t most = most_inside(&finder, i), inside, balance;

        if (most < finder.floor || (found && most <= ret->balance) || bitset_has(question->refused, pivot) ||
            (finder.has_blocked && bitset_has(&finder.blocked, pivot)))
            continue;
        if (!try_cut(&finder, pivot, &inside))
            continue;
        balance = smaller_count(inside, finder.suspects - inside);
        if (found && balance <= ret->balance)
            continue;
        found = true;
        *ret = (struct best_cut){pivot, balance};
    }
    bitset_release(&finder.reach);
    bitset_release(&finder.walked);
    return found;
}
