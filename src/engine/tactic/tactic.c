/* engine/tactic/tactic.c: see tactic.h. */
#include "engine/tactic/tactic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/text/string_builder.h"

/* Replays are JSON, whose numbers are exact up to 2^53, and TensorRT's implementation numbers are hexadecimal: so both
 * are positive and below that limit. 0 is reserved. */
static int64_t hash_tactic_number(struct text first, struct text second)
{
    struct hash hash = hash_combine(hash_bytes(first.data, first.size), hash_bytes(second.data, second.size));
    int64_t number = (int64_t)((hash.low ^ hash.high) & ((UINT64_C(1) << 53) - 1));

    return number > 0 ? number : 1;
}

struct tactic *tactic_list_add(struct tactic_list *list, struct tactic_provider *provider, const struct layer *layer,
                               struct text algorithm, struct text name)
{
    struct tactic *tactic = VECTOR_APPEND(list);

    *tactic = (struct tactic){.provider = provider};
    snprintf(tactic->name, sizeof(tactic->name), TEXT_FORMAT, TEXT_ARGS(name));
    tactic->implementation = hash_tactic_number(text_of(provider->name), algorithm);
    tactic->number = hash_tactic_number(text_of(provider->name), text_of(tactic->name));
    tactic->input_layouts = memory_alloc_zero(layer->inputs.count, sizeof(*tactic->input_layouts));
    tactic->output_layouts = memory_alloc_zero(layer->outputs.count, sizeof(*tactic->output_layouts));
    return tactic;
}

void tactic_list_release(struct tactic_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        tactic_release(&list->items[i]);
    free(list->items);
    *list = (struct tactic_list){0};
}

/* Whether a name, or a part of it, ends here. */
static bool character_is_boundary(char character)
{
    return character == '\0' || character == ':' || character == ' ';
}

bool tactic_rule_covers(const char *rule, const char *name)
{
    size_t end = 0;

    if (strcmp(rule, name) == 0) /* names may contain wildcard characters */
        return true;
    do {
        end++;
        if (character_is_boundary(name[end]) && text_matches_pattern((struct text){name, end}, text_of(rule)))
            return true;
    } while (name[end] != '\0');
    return false;
}

/* Whether any rule matches; marks all matching rules in `used`, which may be NULL. */
static bool rule_excludes_tactic(const struct tactic *tactic, const struct words *rules, bool *used)
{
    SCOPED_STRING(name);
    bool excluded = false;

    if (rules->count == 0)
        return false;
    string_add_format(&name, "%s:%s", tactic->provider->name, tactic->name);
    for (size_t i = 0; i < rules->count; i++)
        if (tactic_rule_covers(rules->items[i], name.data)) {
            excluded = true;
            if (used)
                used[i] = true;
        }
    return excluded;
}

bool tactic_is_excluded(const struct tactic *tactic, const struct words *rules)
{
    return rule_excludes_tactic(tactic, rules, NULL);
}

void tactic_list_exclude(struct tactic_list *list, const struct words *rules, bool *used)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++)
        if (rule_excludes_tactic(&list->items[i], rules, used))
            tactic_release(&list->items[i]);
        else
            list->items[kept++] = list->items[i];
    list->count = kept;
}

void tactic_copy(struct tactic *tactic, const struct tactic *from, const struct layer *layer)
{
    struct tactic copy = *from;

    copy.input_layouts = memory_alloc_zero(layer->inputs.count, sizeof(*copy.input_layouts));
    copy.output_layouts = memory_alloc_zero(layer->outputs.count, sizeof(*copy.output_layouts));
    for (size_t i = 0; i < layer->inputs.count; i++)
        copy.input_layouts[i] = from->input_layouts[i];
    for (size_t i = 0; i < layer->outputs.count; i++)
        copy.output_layouts[i] = from->output_layouts[i];
    *tactic = copy;
}

void tactic_release(struct tactic *tactic)
{
    free(tactic->input_layouts);
    free(tactic->output_layouts);
    *tactic = (struct tactic){0};
}

void kernel_free(struct kernel *kernel)
{
    if (kernel)
        kernel->functions->free(kernel);
}
