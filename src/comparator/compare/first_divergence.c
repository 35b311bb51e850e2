/* comparator/compare/first_divergence.c: see first_divergence.h. */
#include "comparator/compare/first_divergence.h"

#include <stdlib.h>

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

static bool any_is_bad(const struct model *model, struct edge_range range, const enum state *states)
{
    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(model, range, i);

        if (value != VALUE_NONE && states[value] == BAD)
            return true;
    }
    return false;
}

static void blame_nodes(const struct model *model, enum state *states, struct value_list *ret)
{
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];

        if (!any_is_bad(model, node->inputs, states) && !any_is_bad(model, node->captures, states)) {
            if (any_is_bad(model, node->outputs, states))
                *VECTOR_APPEND(ret) = i;
            continue;
        }
        for (size_t k = 0; k < node->outputs.count; k++) {
            uint32_t value = model_edge(model, node->outputs, k);

            if (value != VALUE_NONE && states[value] == UNKNOWN)
                states[value] = BAD;
        }
    }
}

static void find(const struct model *model, const struct tensor_verdict *verdicts, size_t count, struct value_list *ret)
{
    enum state *states = memory_alloc_zero(model->values.count, sizeof(*states));

    for (size_t i = 0; i < count; i++) {
        uint32_t value = model_find_value(model, text_of(verdicts[i].output));

        if (value != VALUE_NONE && states[value] != BAD)
            states[value] = verdicts[i].good ? GOOD : BAD;
    }
    blame_nodes(model, states, ret);
    free(states);
}

void first_divergence_find(const struct first_divergence *divergence, const struct model *model,
                           struct value_list *ret_differing, struct value_list *ret_invalid)
{
    find(model, divergence->compared.items, divergence->compared.count, ret_differing);
    find(model, divergence->validated.items, divergence->validated.count, ret_invalid);
}
