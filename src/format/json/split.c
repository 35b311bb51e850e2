/* format/json/split.c: see split.h. */
#include "format/json/split.h"

#include <string.h>

#include "base/memory.h"

/* Pages that were read are dropped every DROP_STEP bytes. */
#define DROP_STEP ((size_t)1 << 20)

struct splitter {
    const char *at, *end;
    const struct file_map *map;
    size_t dropped; /* bytes of the mapping */
};

static void skip_blanks(struct splitter *splitter)
{
    while (splitter->at < splitter->end && memchr(" \t\r\n", *splitter->at, 4) != NULL)
        splitter->at++;
}

static void drop_pages(struct splitter *splitter, size_t step)
{
    size_t done;

    if (splitter->map == NULL || splitter->map->data == NULL)
        return;
    done = (size_t)(splitter->at - (const char *)splitter->map->data);
    if (done < splitter->dropped + step)
        return;
    file_map_forget(splitter->map, splitter->dropped, done);
    splitter->dropped = done;
}

/* A quote after an odd number of backslashes is part of the string. */
static bool skip_string(struct splitter *splitter)
{
    const char *start = splitter->at + 1, *at = start;

    while (at < splitter->end && (at = memchr(at, '"', (size_t)(splitter->end - at))) != NULL) {
        const char *escape = at;

        while (escape > start && escape[-1] == '\\')
            escape--;
        splitter->at = ++at;
        if ((at - 1 - escape) % 2 == 0)
            return true;
    }
    return false;
}

/* Moves behind a value; what is inside of brackets is checked by the parser. */
static bool skip_value(struct splitter *splitter)
{
    const char *start = splitter->at;
    size_t depth = 0;

    while (splitter->at < splitter->end) {
        char c = *splitter->at;

        if (depth == 0 && memchr(",:]} \t\r\n", c, 8) != NULL)
            break;
        if (c == '"' && !skip_string(splitter))
            return false;
        if (c == '"') {
            drop_pages(splitter, DROP_STEP);
            continue;
        }
        depth += c == '[' || c == '{';
        depth -= c == ']' || c == '}';
        splitter->at++;
    }
    return splitter->at > start && depth == 0;
}

static bool take_character(struct splitter *splitter, char wanted)
{
    skip_blanks(splitter);
    if (splitter->at == splitter->end || *splitter->at != wanted)
        return false;
    splitter->at++;
    return true;
}

static bool take_value(struct splitter *splitter, struct text *ret)
{
    skip_blanks(splitter);
    ret->data = splitter->at;
    if (!skip_value(splitter))
        return false;
    ret->size = (size_t)(splitter->at - ret->data);
    return true;
}

static bool take_name(struct splitter *splitter, struct text *ret)
{
    skip_blanks(splitter);
    return splitter->at < splitter->end && *splitter->at == '"' && take_value(splitter, ret) &&
           take_character(splitter, ':');
}

/* Appends an element, or a member's name and value. */
static bool take_element(struct splitter *splitter, bool is_member, struct json_pieces *ret)
{
    struct text name, value;

    if ((is_member && !take_name(splitter, &name)) || !take_value(splitter, &value))
        return false;
    if (is_member)
        *VECTOR_APPEND(ret) = name;
    *VECTOR_APPEND(ret) = value;
    return true;
}

static bool split_container(struct text text, const struct file_map *map, bool is_object, struct json_pieces *ret)
{
    struct splitter splitter = {text.data, text.data + text.size, map, 0};
    char close = is_object ? '}' : ']';
    bool is_good = take_character(&splitter, is_object ? '{' : '[');

    if (!is_good)
        return false;
    if (!take_character(&splitter, close)) {
        do
            is_good = take_element(&splitter, is_object, ret);
        while (is_good && take_character(&splitter, ','));
        is_good = is_good && take_character(&splitter, close);
    }
    skip_blanks(&splitter);
    drop_pages(&splitter, 0);
    return is_good && splitter.at == splitter.end;
}

bool json_split_array(struct text text, const struct file_map *map, struct json_pieces *ret)
{
    return split_container(text, map, false, ret);
}

bool json_split_object(struct text text, const struct file_map *map, struct json_pieces *ret)
{
    return split_container(text, map, true, ret);
}

bool json_take_member(struct text *rest, struct text *ret_name, struct text *ret_value)
{
    struct splitter splitter = {rest->data, rest->data + rest->size, NULL, 0};

    take_character(&splitter, ',');
    if (!take_name(&splitter, ret_name) || !take_value(&splitter, ret_value))
        return false;
    *rest = (struct text){splitter.at, (size_t)(splitter.end - splitter.at)};
    return true;
}

bool json_members_are_of_class(const struct json_pieces *members, struct text class)
{
    bool ret = false;

    for (size_t i = 0; i + 1 < members->count; i += 2)
        ret |= text_equal(members->items[i], TEXT("\"polygraphy_class\"")) && text_equal(members->items[i + 1], class);
    return ret;
}
