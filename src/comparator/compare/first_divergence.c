/* comparator/compare/first_divergence.c: see first_divergence.h. */
#include "comparator/compare/first_divergence.h"

#include <stdlib.h>

#include "base/container/bitset.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "tensor/compare/validate.h"

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

void first_divergence_add_all_invalid(struct first_divergence *divergence, const struct run_results *results)
{
    struct validation found;

    for (size_t r = 0; r < results->count; r++)
        for (size_t i = 0; i < results->items[r].count; i++)
            VECTOR_EACH (const struct named_tensor, output, results->items[r].items[i].outputs) {
                tensor_validate(&output->tensor, &found);
                if (found.nans + found.infinities > 0)
                    first_divergence_add_invalid(divergence, output->name);
            }
}

/* The state of each value. */
enum state { UNKNOWN, GOOD, BAD };

static bool any_value_is(const struct model *model, struct edge_range range, const enum state *states,
                         enum state wanted)
{
    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(model, range, i);

        if (value != VALUE_NONE && states[value] == wanted)
            return true;
    }
    return false;
}

/* Unknown outputs of nodes with a bad input are treated as bad. */
static void blame_nodes(const struct model *model, enum state *states, struct blamed_nodes *ret)
{
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];

        if (!any_value_is(model, node->inputs, states, BAD) && !any_value_is(model, node->captures, states, BAD)) {
            if (any_value_is(model, node->outputs, states, BAD))
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

/* `states` are from verdicts only. `reached` must be empty on entry. */
static size_t count_behind(const struct model *model, const enum state *states, uint32_t first, struct bitset *reached)
{
    size_t count = 0;

    reach_outputs(model, &model->nodes.items[first], reached);
    for (uint32_t i = first + 1; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];

        if (!any_reached(model, node->inputs, reached) && !any_reached(model, node->captures, reached))
            continue;
        reach_outputs(model, node, reached);
        count += any_value_is(model, node->outputs, states, BAD);
    }
    return count;
}

static void want_unknown(const struct model *model, struct edge_range range, const enum state *states,
                         struct bitset *wanted)
{
    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(model, range, i);

        if (value != VALUE_NONE && states[value] == UNKNOWN)
            bitset_add(wanted, value);
    }
}

/* `wanted` must be empty on entry. */
static size_t count_before(const struct model *model, const enum state *states, uint32_t last, struct bitset *wanted)
{
    size_t count = 0;

    want_unknown(model, model->nodes.items[last].inputs, states, wanted);
    want_unknown(model, model->nodes.items[last].captures, states, wanted);
    for (uint32_t i = last; i-- > 0;) {
        const struct node *node = &model->nodes.items[i];

        if (!any_reached(model, node->outputs, wanted))
            continue;
        count++;
        want_unknown(model, node->inputs, states, wanted);
        want_unknown(model, node->captures, states, wanted);
    }
    return count;
}

static enum state *list_value_states(const struct model *model, const struct tensor_verdict *verdicts, size_t count)
{
    enum state *states = memory_alloc_zero(model->values.count, sizeof(*states));

    for (size_t i = 0; i < count; i++) {
        uint32_t value = model_find_value(model, text_of(verdicts[i].output));

        if (value != VALUE_NONE && states[value] != BAD)
            states[value] = verdicts[i].good ? GOOD : BAD;
    }
    return states;
}

/* `all_known`: values without a verdict are good. */
static void find_blamed_nodes(const struct model *model, const struct tensor_verdict *verdicts, size_t count,
                              bool all_known, struct blamed_nodes *ret)
{
    enum state *states SCOPED_FREE = list_value_states(model, verdicts, count),
                       *spread SCOPED_FREE = list_value_states(model, verdicts, count);
    SCOPED_BITSET(reached);

    blame_nodes(model, spread, ret);
    bitset_init(&reached, model->values.count);
    for (size_t i = 0; i < ret->count; i++) {
        bitset_clear(&reached);
        ret->items[i].behind = count_behind(model, states, ret->items[i].node, &reached);
        bitset_clear(&reached);
        ret->items[i].before = all_known ? 0 : count_before(model, states, ret->items[i].node, &reached);
    }
}

void first_divergence_find(const struct first_divergence *divergence, const struct model *model,
                           struct blamed_nodes *ret_differing, struct blamed_nodes *ret_invalid)
{
    find_blamed_nodes(model, divergence->compared.items, divergence->compared.count, false, ret_differing);
    find_blamed_nodes(model, divergence->validated.items, divergence->validated.count, true, ret_invalid);
}

size_t first_divergence_list_unknown(const struct first_divergence *divergence, const struct model *model,
                                     struct string_builder *names)
{
    enum state *states SCOPED_FREE = list_value_states(model, divergence->compared.items, divergence->compared.count);
    size_t count = 0;

    for (uint32_t i = 0; i < model->values.count; i++) {
        struct text name = model->values.items[i].name;
        char *word SCOPED_FREE = NULL;

        if (states[i] != UNKNOWN || model->values.items[i].producer == NODE_NONE)
            continue;
        word = memory_copy(name.data, name.size);
        name_list_add(names, word);
        count++;
    }
    return count;
}
