/* lint/groups.c: see groups.h. */
#include "lint/groups.h"

#include <stdlib.h>

#include "base/text/string_builder.h"

#define MOST_SHOWN 5

void lint_groups_release(struct lint_groups *groups)
{
    name_map_release(&groups->index);
    free(groups->groups.items);
}

bool lint_groups_add(struct lint_groups *groups, struct arena *arena, unsigned rule, struct text what,
                     enum log_level level)
{
    SCOPED_STRING(key);
    uint32_t at;

    string_add_format(&key, "%u ", rule);
    string_add_without_names(&key, what);
    at = name_map_find(&groups->index, text_of(key.data));
    if (at == NAME_MAP_NONE) {
        at = (uint32_t)groups->groups.count;
        name_map_add(&groups->index, text_of(arena_strdup(arena, key.data)), at);
        *VECTOR_APPEND(&groups->groups) = (struct lint_group){.what = text_of(arena_text(arena, what)), .level = level};
    }
    return ++groups->groups.items[at].count <= MOST_SHOWN;
}

void lint_groups_log_rest(const struct lint_groups *groups, struct log *log)
{
    VECTOR_EACH (const struct lint_group, group, groups->groups)
        if (group->count > MOST_SHOWN)
            log_message(log, group->level, "LINT | %zu more like: " TEXT_FORMAT " (-v shows each)",
                        group->count - MOST_SHOWN, TEXT_ARGS(group->what));
}
