/* lint/groups.h: findings that differ only in names and numbers, such as one for each of hundreds of equal layers. The
 * log shows the first ones of a group, and how many more there are; reports have all of them. */
#ifndef LINT_GROUPS_H
#define LINT_GROUPS_H

#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "base/log.h"
#include "base/text/text.h"

struct lint_groups {
    struct name_map index; /* key -> position in `items` */
    struct {
        struct lint_group {
            struct text what; /* of the first finding */
            size_t count;
            enum log_level level;
        } * items;
        size_t count, capacity;
    } groups;
};

void lint_groups_release(struct lint_groups *groups);

/* Counts a finding `what` of a rule: "Op: Mul | Does not affect outputs". Texts are copied into the arena. Returns
 * whether it is among the first ones of its group, which the log shows. */
bool lint_groups_add(struct lint_groups *groups, struct arena *arena, unsigned rule, struct text what,
                     enum log_level level);

/* Logs how many of each group were not shown. */
void lint_groups_log_rest(const struct lint_groups *groups, struct log *log);

#endif
