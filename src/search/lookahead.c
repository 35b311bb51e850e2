/* search/lookahead.c: see lookahead.h. */
#include "search/lookahead.h"

#include <stdlib.h>

#include "base/memory.h"

/* States expanded for each requested check. Most are checks themselves; others have a verdict already, or occur on
 * several branches. */
#define STATES_PER_ITEM 16

/* The state of the search after some actual or assumed verdicts. */
struct lookahead_state {
    struct lookahead_state *parent;      /* NULL: the root */
    struct lookahead_state *branches[3]; /* by enum verdict */
    enum verdict verdict;                /* of the branch from the parent */
    int64_t index;
    void *search; /* NULL: not created yet */
    bool over;    /* the search is over */
    bool described;
    struct foreseen foreseen;
    size_t list; /* the last list for which it was visited */
};

struct learned_verdict {
    struct hash identity;
    int64_t index;
    enum verdict verdict;
};

struct waiting_decision {
    struct lookahead_state *decision;
    double probability;
    size_t order; /* of discovery */
};

struct lookahead {
    const struct search_ops *ops;
    lookahead_describe *describe;
    void *data; /* of describe() */
    struct lookahead_state *root;
    size_t decisions; /* in the tree */
    size_t verdicts, failures;
    size_t list;  /* number of the current list */
    size_t limit; /* of decisions, above which those not visited for the last list are dropped */
    struct learned_list {
        struct learned_verdict *items;
        size_t count, capacity;
    } learned;
    struct waiting_list { /* a heap: the most probable first */
        struct waiting_decision *items;
        size_t count, capacity;
    } waiting;
};

/* ---- The tree ---- */

static struct lookahead_state *add_decision(struct lookahead *lookahead, struct lookahead_state *parent,
                                            enum verdict verdict)
{
    struct lookahead_state *ret = memory_alloc_zero(1, sizeof(*ret));

    ret->parent = parent;
    ret->verdict = verdict;
    ret->index = parent->index + 1;
    parent->branches[verdict] = ret;
    lookahead->decisions++;
    return ret;
}

static struct lookahead_state *first_branch(const struct lookahead_state *decision)
{
    for (size_t i = 0; i < ARRAY_LEN(decision->branches); i++)
        if (decision->branches[i])
            return decision->branches[i];
    return NULL;
}

/* Removes a decision and its subtree, without recursion, because trees can be deep. */
static void drop_state_tree(struct lookahead *lookahead, struct lookahead_state *top)
{
    struct lookahead_state *at = top;

    while (at) {
        struct lookahead_state *branch = first_branch(at), *parent = at->parent;

        if (branch) {
            at = branch;
            continue;
        }
        if (parent)
            parent->branches[at->verdict] = NULL;
        if (at->search)
            search_release(lookahead->ops, at->search);
        free(at->search);
        lookahead->decisions--;
        parent = at == top ? NULL : parent;
        free(at);
        at = parent;
    }
}

/* The next decision in a preorder walk: the first branch, else the next branch of an ancestor. */
static struct lookahead_state *next_decision(const struct lookahead_state *at)
{
    struct lookahead_state *branch = first_branch(at);

    for (; !branch && at->parent; at = at->parent)
        for (size_t i = at->verdict + 1; !branch && i < ARRAY_LEN(at->branches); i++)
            branch = at->parent->branches[i];
    return branch;
}

/* Keeps the tree small: dropped states are created again if needed. */
static void drop_unlikely(struct lookahead *lookahead)
{
    if (lookahead->decisions <= lookahead->limit)
        return;
    for (struct lookahead_state *at = lookahead->root; at; at = next_decision(at))
        for (size_t i = 0; i < ARRAY_LEN(at->branches); i++)
            if (at->branches[i] && at->branches[i]->list != lookahead->list)
                drop_state_tree(lookahead, at->branches[i]);
}

static void *copy_search(const struct search_ops *ops, const void *search)
{
    void *ret = memory_alloc(ops->size);

    search_copy(ops, ret, search);
    return ret;
}

/* ---- Verdicts of candidates ---- */

/* A candidate is checked once: if it occurs earlier on this path, it has the same (actual or assumed) verdict. */
static void take_verdict_from_above(struct lookahead_state *decision)
{
    const struct hash identity = decision->foreseen.identity;

    for (const struct lookahead_state *at = decision; at->parent; at = at->parent)
        if (hash_equal(at->parent->foreseen.identity, identity)) {
            decision->foreseen.known = true;
            decision->foreseen.verdict = at->verdict;
            return;
        }
}

static void take_learned_verdict(const struct lookahead *lookahead, struct lookahead_state *decision)
{
    VECTOR_EACH (const struct learned_verdict, learned, lookahead->learned) {
        if (learned->index == decision->index && hash_equal(learned->identity, decision->foreseen.identity)) {
            decision->foreseen.known = true;
            decision->foreseen.verdict = learned->verdict;
        }
    }
}

/* Creates the state of the search, unless it exists, and describes its candidate. False if it has no branches. */
static bool look_at(struct lookahead *lookahead, struct lookahead_state *decision)
{
    const struct search_ops *ops = lookahead->ops;

    decision->list = lookahead->list;
    if (!decision->search) {
        decision->search = copy_search(ops, decision->parent->search);
        decision->over = !ops->advance(decision->search, decision->parent->foreseen.nodes, decision->verdict);
    }
    if (decision->over)
        return false;
    if (!decision->described) {
        if (!lookahead->describe(lookahead->data, decision->search, decision->index, &decision->foreseen))
            return false;
        decision->described = true;
        if (!decision->foreseen.known)
            take_verdict_from_above(decision);
    }
    if (!decision->foreseen.known)
        take_learned_verdict(lookahead, decision);
    return true;
}

/* ---- Priority queue ---- */

static bool is_before(const struct waiting_decision *a, const struct waiting_decision *b)
{
    return a->probability > b->probability || (a->probability == b->probability && a->order < b->order);
}

static void wait_for_state(struct lookahead *lookahead, struct lookahead_state *decision, double probability,
                           size_t order)
{
    struct waiting_list *waiting = &lookahead->waiting;
    struct waiting_decision added = {decision, probability, order};
    size_t at = waiting->count;

    (void)VECTOR_APPEND(waiting);
    for (; at > 0 && is_before(&added, &waiting->items[(at - 1) / 2]); at = (at - 1) / 2)
        waiting->items[at] = waiting->items[(at - 1) / 2];
    waiting->items[at] = added;
}

static struct waiting_decision take_first(struct waiting_list *waiting)
{
    struct waiting_decision ret = waiting->items[0], last = waiting->items[--waiting->count];
    size_t at = 0;

    for (size_t child = 1; child < waiting->count; child = 2 * at + 1) {
        if (child + 1 < waiting->count && is_before(&waiting->items[child + 1], &waiting->items[child]))
            child++;
        if (!is_before(&waiting->items[child], &last))
            break;
        waiting->items[at] = waiting->items[child];
        at = child;
    }
    waiting->items[at] = last;
    return ret;
}

/* Adds a check to the list. Probabilities of a check on several branches are added. Returns the new length. */
static size_t list_check(const struct lookahead_state *decision, double probability, struct lookahead_item *ret,
                         size_t count)
{
    size_t at = 0;

    while (at < count &&
           (ret[at].index != decision->index || !hash_equal(ret[at].identity, decision->foreseen.identity)))
        at++;
    if (at == count)
        ret[count++] = (struct lookahead_item){decision->foreseen.identity, decision->index, 0, decision->search};
    ret[at].probability += probability;
    for (; at > 0 && ret[at].probability > ret[at - 1].probability; at--) {
        struct lookahead_item moved = ret[at];

        ret[at] = ret[at - 1];
        ret[at - 1] = moved;
    }
    return count;
}

static void follow_state(struct lookahead *lookahead, struct lookahead_state *decision, enum verdict verdict,
                         double probability, size_t *order)
{
    struct lookahead_state *branch = decision->branches[verdict];

    if (!branch)
        branch = add_decision(lookahead, decision, verdict);
    wait_for_state(lookahead, branch, probability, (*order)++);
}

size_t lookahead_list(struct lookahead *lookahead, size_t most, struct lookahead_item *ret)
{
    double rate = (double)(lookahead->failures + 1) / (double)(lookahead->verdicts + 2);
    size_t states = most * STATES_PER_ITEM, order = 0, count = 0;

    lookahead->list++;
    lookahead->limit = 2 * states;
    lookahead->waiting.count = 0;
    wait_for_state(lookahead, lookahead->root, 1, order++);
    for (; states > 0 && count < most && lookahead->waiting.count > 0; states--) {
        struct waiting_decision first = take_first(&lookahead->waiting);
        const struct foreseen *foreseen = &first.decision->foreseen;
        double failure;

        if (!look_at(lookahead, first.decision))
            continue;
        if (foreseen->known) {
            follow_state(lookahead, first.decision, foreseen->verdict, first.probability, &order);
            continue;
        }
        failure = lookahead->ops->expect != NULL ? lookahead->ops->expect(first.decision->search) : 0;
        failure = failure > 0 ? failure : rate;
        count = list_check(first.decision, first.probability, ret, count);
        follow_state(lookahead, first.decision, VERDICT_FAIL, first.probability * failure, &order);
        follow_state(lookahead, first.decision, VERDICT_PASS, first.probability * (1 - failure), &order);
    }
    return count;
}

/* ---- Verdicts ---- */

void lookahead_learn(struct lookahead *lookahead, struct hash identity, int64_t index, enum verdict verdict)
{
    *VECTOR_APPEND(&lookahead->learned) = (struct learned_verdict){identity, index, verdict};
}

static void forget_learned(struct lookahead *lookahead, int64_t before)
{
    struct learned_list *learned = &lookahead->learned;
    size_t kept = 0;

    for (size_t i = 0; i < learned->count; i++)
        if (learned->items[i].index >= before)
            learned->items[kept++] = learned->items[i];
    learned->count = kept;
}

void lookahead_advance(struct lookahead *lookahead, int64_t nodes, enum verdict verdict)
{
    struct lookahead_state *root = lookahead->root, *branch = root->branches[verdict];

    if (root->over)
        return;
    lookahead->verdicts += verdict != VERDICT_SKIP;
    lookahead->failures += verdict == VERDICT_FAIL;
    if (branch && root->foreseen.nodes != nodes) { /* the prediction was wrong */
        drop_state_tree(lookahead, branch);
        branch = NULL;
    }
    if (!branch)
        branch = add_decision(lookahead, root, verdict);
    if (!branch->search) {
        branch->search = root->search;
        root->search = NULL;
        branch->over = !lookahead->ops->advance(branch->search, nodes, verdict);
    }
    root->branches[verdict] = NULL;
    branch->parent = NULL;
    lookahead->root = branch;
    drop_state_tree(lookahead, root);
    drop_unlikely(lookahead);
    forget_learned(lookahead, branch->index);
}

/* ---- Creation and release ---- */

struct lookahead *lookahead_new(const struct search_ops *ops, const void *search, int64_t index,
                                lookahead_describe *describe, void *data)
{
    struct lookahead *lookahead = memory_alloc_zero(1, sizeof(*lookahead));

    *lookahead = (struct lookahead){.ops = ops, .describe = describe, .data = data};
    lookahead->root = memory_alloc_zero(1, sizeof(*lookahead->root));
    lookahead->root->search = copy_search(ops, search);
    lookahead->root->index = index;
    lookahead->decisions = 1;
    return lookahead;
}

void lookahead_free(struct lookahead *lookahead)
{
    if (!lookahead)
        return;
    drop_state_tree(lookahead, lookahead->root);
    free(lookahead->learned.items);
    free(lookahead->waiting.items);
    free(lookahead);
}
