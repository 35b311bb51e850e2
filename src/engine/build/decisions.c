/* engine/build/decisions.c: see decisions.h. */
#include "engine/build/decisions.h"

#include <string.h>

#include "base/memory.h"
#include "base/text/names.h"
#include "base/text/string_builder.h"

#define MOST_NAMES 8 /* of disabled decisions, in a line */

static bool layouts_are_plain(const struct model *model, const struct value_list *values, const struct layout *layouts)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->items[i] != VALUE_NONE && model->values.items[values->items[i]].initializer == INITIALIZER_NONE &&
            !layout_is_row_major(&layouts[i]))
            return false;
    return true;
}

bool tactic_is_plain(const struct tactic *tactic, const struct network *network, const struct layer *layer)
{
    return layouts_are_plain(network->model, &layer->inputs, tactic->input_layouts) &&
           layouts_are_plain(network->model, &layer->outputs, tactic->output_layouts);
}

static void add_decision(struct decision_list *list, const char *name, enum decision_state state)
{
    *VECTOR_APPEND(list) = (struct decision){.name = name, .kind = name, .state = state};
}

static void add_source_decisions(const struct engine *engine, const struct builder_settings *settings,
                                 struct arena *arena, struct decision_list *ret)
{
    for (size_t i = 0; i < engine->providers.count; i++) {
        const struct tactic_provider *provider = engine->providers.items[i];
        bool taken = false;

        for (size_t k = 0; !taken && k < engine->network->layers.count; k++)
            taken = engine->layers[k].tactic.provider == provider;
        if (taken)
            add_decision(ret, arena_printf(arena, TACTICS_OF "%s", provider->name), DECISION_TAKEN);
    }
    for (size_t i = 0; i < settings->sources_off.count; i++)
        add_decision(ret, arena_printf(arena, TACTICS_OF "%s", settings->sources_off.items[i]), DECISION_OFF);
}

static bool has_blocked_layouts(const struct engine *engine)
{
    const struct network *network = engine->network;

    for (size_t i = 0; i < network->layers.count; i++)
        if (!tactic_is_plain(&engine->layers[i].tactic, network, &network->layers.items[i]))
            return true;
    return false;
}

void engine_decisions(const struct engine *engine, const struct builder_settings *settings, struct arena *arena,
                      struct decision_list *ret)
{
    const struct network_decisions *decisions = &engine->network->decisions;

    add_source_decisions(engine, settings, arena, ret);
    if (settings->plain_layouts)
        add_decision(ret, BLOCKED_LAYOUTS, DECISION_OFF);
    else if (has_blocked_layouts(engine))
        add_decision(ret, BLOCKED_LAYOUTS, DECISION_TAKEN);
    for (size_t i = 0; i < decisions->count; i++)
        *VECTOR_APPEND(ret) = decisions->items[i];
}

/* ---- As a line ---- */

/* The number of taken decisions of this kind; 0 unless this is the first of them. */
static size_t count_decisions_of_kind(const struct decision_list *decisions, size_t first)
{
    size_t count = 0;

    for (size_t i = 0; i < decisions->count; i++) {
        if (decisions->items[i].state != DECISION_TAKEN ||
            strcmp(decisions->items[i].kind, decisions->items[first].kind) != 0)
            continue;
        if (i < first)
            return 0;
        count++;
    }
    return count;
}

void engine_decisions_text(const struct decision_list *decisions, struct string_builder *ret)
{
    const char *separator = "";
    struct short_list off = {.text = ret, .most = MOST_NAMES};

    for (size_t i = 0; i < decisions->count; i++) {
        const struct decision *decision = &decisions->items[i];
        size_t count = decision->state == DECISION_TAKEN ? count_decisions_of_kind(decisions, i) : 0;

        if (count == 0)
            continue;
        string_add_format(ret, "%s%s", separator, decision->kind);
        if (decision->label.size > 0)
            string_add_format(ret, " (%zu)", count);
        separator = ", ";
    }
    if (*separator == '\0')
        string_add(ret, "none");
    for (size_t i = 0; i < decisions->count; i++) {
        if (decisions->items[i].state != DECISION_OFF)
            continue;
        string_add(ret, off.count == 0 ? "; disabled: " : "");
        if (short_list_next(&off))
            string_add(ret, decisions->items[i].name);
    }
    short_list_end(&off);
}
