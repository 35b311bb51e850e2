/* comparator/compare/first_divergence.c: see first_divergence.h. */
#include "comparator/compare/first_divergence.h"

#include <stdlib.h>

#include "base/container/bitset.h"
#include "base/memory.h"

void first_divergence_init(struct first_divergence *divergence)
{
    *divergence = (struct first_divergence){0};
    arena_init(&divergence->names);
}

void first_divergence_release(struct first_divergence *divergence)
{
    arena_release(&divergence->names);
    free(divergence->compared.items);
    free(divergence->validated.items);
}

void first_divergence_add_verdict(struct first_divergence *divergence, const char *output, bool matched)
{
    *VECTOR_APPEND(&divergence->compared) = (struct tensor_verdict){arena_strdup(&divergence->names, output), matched};
}

void first_divergence_add_invalid(struct first_divergence *divergence, const char *output)
{
    *VECTOR_APPEND(&divergence->validated) = (struct tensor_verdict){arena_strdup(&divergence->names, output), false};
}

/* What is known of each value. */
enum state { UNKNOWN, GOOD, BAD };

static bool any_is(const struct model *model, struct edge_range range, const enum state *states, enum state wanted)
{
    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(model, range, i);

        if (value != VALUE_NONE && states[value] == wanted)
            return true;
    }
    return false;
}

/* What comes of something bad is taken for bad where nothing else is known. */
static void blame_nodes(const struct model *model, enum state *states, struct blamed_nodes *ret)
{
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];

        if (!any_is(model, node->inputs, states, BAD) && !any_is(model, node->captures, states, BAD)) {
            if (any_is(model, node->outputs, states, BAD))
                *VECTOR_APPEND(ret) = (struct blamed_node){.node = i};
            continue;
        }
        for (size_t k = 0; k < node->outputs.count; k++) {
            uint32_t value = model_edge(model, node->outputs, k);

            if (value != VALUE_NONE && states[value] == UNKNOWN)
                states[value] = BAD;
        }
    }
}

static bool any_reached(const struct model *model, struct edge_range range, const struct bitset *reached)
{
    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(model, range, i);

        if (value != VALUE_NONE && bitset_has(reached, value))
            return true;
    }
    return false;
}

static void reach_outputs(const struct model *model, const struct node *node, struct bitset *reached)
{
    for (size_t k = 0; k < node->outputs.count; k++) {
        uint32_t value = model_edge(model, node->outputs, k);

        if (value != VALUE_NONE)
            bitset_add(reached, value);
    }
}

/* `states` are those of verdicts alone. `reached` is empty on entry. */
static size_t count_behind(const struct model *model, const enum state *states, uint32_t first, struct bitset *reached)
{
    size_t count = 0;

    reach_outputs(model, &model->nodes.items[first], reached);
    for (uint32_t i = first + 1; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];

        if (!any_reached(model, node->inputs, reached) && !any_reached(model, node->captures, reached))
            continue;
        reach_outputs(model, node, reached);
        count += any_is(model, node->outputs, states, BAD);
    }
    return count;
}

static void find(const struct model *model, const struct tensor_verdict *verdicts, size_t count,
                 struct blamed_nodes *ret)
{
    enum state *states = memory_alloc_zero(model->values.count, sizeof(*states));
    enum state *spread = memory_alloc_zero(model->values.count, sizeof(*spread));
    struct bitset reached;

    for (size_t i = 0; i < count; i++) {
        uint32_t value = model_find_value(model, text_of(verdicts[i].output));

        if (value != VALUE_NONE && states[value] != BAD)
            spread[value] = states[value] = verdicts[i].good ? GOOD : BAD;
    }
    blame_nodes(model, spread, ret);
    bitset_init(&reached, model->values.count);
    for (size_t i = 0; i < ret->count; i++) {
        bitset_clear(&reached);
        ret->items[i].behind = count_behind(model, states, ret->items[i].node, &reached);
    }
    bitset_release(&reached);
    free(spread);
    free(states);
}

void first_divergence_find(const struct first_divergence *divergence, const struct model *model,
                           struct blamed_nodes *ret_differing, struct blamed_nodes *ret_invalid)
{
    find(model, divergence->compared.items, divergence->compared.count, ret_differing);
    find(model, divergence->validated.items, divergence->validated.count, ret_invalid);
}
