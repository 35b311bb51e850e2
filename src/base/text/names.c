/* base/text/names.c: see names.h. */
#include "base/text/names.h"

#include <string.h>

/* ---- Lists and rules ---- */

void name_list_add(struct string_builder *list, const char *name)
{
    string_add_format(list, "%s'%s'", list->size > 0 ? ", " : "", name);
}

bool short_list_next(struct short_list *list)
{
    if (list->count++ >= list->most)
        return false;
    string_add(list->text, list->count > 1 ? ", " : "");
    return true;
}

void short_list_add(struct short_list *list, const char *name)
{
    if (short_list_next(list))
        string_add_quoted(list->text, name);
}

void short_list_end(struct short_list *list)
{
    if (list->count > list->most)
        string_add_format(list->text, " and %zu more", list->count - list->most);
}

const void *name_rule_find(const void *items, size_t count, size_t item_size, const char *name)
{
    const char *item = items;
    const void *matching = NULL, *unnamed = NULL;

    for (size_t i = 0; i < count; i++, item += item_size) {
        const char *rule = *(const char *const *)(const void *)item;

        if (strcmp(rule, name) == 0)
            return item;
        if (rule[0] == '\0')
            unnamed = item;
        else if (matching == NULL && text_matches_pattern(text_of(name), text_of(rule)))
            matching = item;
    }
    return matching != NULL ? matching : unnamed;
}

bool name_rule_covers(const char *rule, const char *name)
{
    return rule[0] == '\0' || strcmp(rule, name) == 0 || text_matches_pattern(text_of(name), text_of(rule));
}

/* ---- Close names ---- */

/* Limits the size of the table; longer names are usually generated. */
#define COMPARED_BYTES 200

void close_names_start(struct close_names *names, struct text wanted)
{
    *names = (struct close_names){.wanted = wanted};
}

static size_t smaller_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment, three rows of the table at a time. */
size_t name_distance(struct text a, struct text b)
{
    size_t rows[3][COMPARED_BYTES + 1];
    size_t width = smaller_size(b.size, COMPARED_BYTES), height = smaller_size(a.size, COMPARED_BYTES);

    for (size_t k = 0; k <= width; k++)
        rows[0][k] = k;
    for (size_t i = 1; i <= height; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t k = 1; k <= width; k++) {
            row[k] =
                smaller_size(above[k - 1] + (a.data[i - 1] != b.data[k - 1]), smaller_size(above[k], row[k - 1]) + 1);
            if (i > 1 && k > 1 && a.data[i - 1] == b.data[k - 2] && a.data[i - 2] == b.data[k - 1])
                row[k] = smaller_size(row[k], two_above[k - 2] + 1);
        }
    }
    return rows[height % 3][width];
}

void close_names_offer(struct close_names *names, struct text name)
{
    bool part = names->wanted.size > 0 && text_contains_ignoring_case(name, names->wanted);
    size_t distance = name_distance(names->wanted, name);
    size_t place;

    if (name.size == 0 || (!part && distance > (names->wanted.size + 1) / 3))
        return;
    for (size_t i = 0; i < names->count; i++)
        if (text_equal(names->best[i].name, name))
            return;
    for (place = 0; place < names->count && names->best[place].distance <= distance; place++)
        ;
    if (place == CLOSE_NAMES_LIMIT)
        return;
    if (names->count < CLOSE_NAMES_LIMIT)
        names->count++;
    memmove(&names->best[place + 1], &names->best[place], (names->count - place - 1) * sizeof(names->best[0]));
    names->best[place].name = name;
    names->best[place].distance = distance;
}

void close_names_add_to(const struct close_names *names, struct string_builder *ret)
{
    for (size_t i = 0; i < names->count; i++) {
        string_add(ret, i == 0 ? "; did you mean " : i + 1 == names->count ? " or " : ", ");
        string_add_format(ret, "'" TEXT_FORMAT "'", TEXT_ARGS(names->best[i].name));
    }
    if (names->count > 0)
        string_add_char(ret, '?');
}
