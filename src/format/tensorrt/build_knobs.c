/* format/tensorrt/build_knobs.c: see build_knobs.h. */
#include "format/tensorrt/build_knobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/container/name_map.h"
#include "base/memory.h"
#include "base/text/number.h"
#include "format/json/reader.h"

#define MOST_KNOBS 10000
#define MOST_VALUES 100
#define LONGEST_WORD 200 /* bytes of a name, or of a value */

/* ---- Words ---- */

/* A name, or a value: what a route can hold, which has blanks between its words, and '=' behind a name. */
static bool is_word(struct text text)
{
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)text.data[i] <= ' ' || (unsigned char)text.data[i] > '~' ||
            strchr("=[]|;'\"\\", text.data[i]) != NULL)
            return false;
    return text.size > 0 && text.size <= LONGEST_WORD;
}

static struct text without_dash(struct text text)
{
    return text_begins_with(text, "-") ? (struct text){text.data + 1, text.size - 1} : text;
}

/* What follows "-NAME=", or "NAME="; the whole text where it does not begin so. */
static struct text value_of(struct text text, struct text name)
{
    struct text rest = without_dash(text);

    if (rest.size > name.size && memcmp(rest.data, name.data, name.size) == 0 && rest.data[name.size] == '=')
        return (struct text){rest.data + name.size + 1, rest.size - name.size - 1};
    return text;
}

/* "[0|1|2]". False when it is anything else. */
static bool split_values(struct arena *arena, struct text list, struct build_knob *ret)
{
    const char *items[MOST_VALUES];

    if (list.size < 2 || list.data[0] != '[' || list.data[list.size - 1] != ']')
        return false;
    list = (struct text){list.data + 1, list.size - 2};
    while (true) {
        const char *bar = list.size > 0 ? memchr(list.data, '|', list.size) : NULL;
        struct text value = {list.data, bar != NULL ? (size_t)(bar - list.data) : list.size};

        if (!is_word(value) || ret->value_count == MOST_VALUES)
            return false;
        items[ret->value_count++] = arena_text(arena, value);
        if (bar == NULL)
            break;
        list = (struct text){bar + 1, list.size - value.size - 1};
    }
    ret->values = arena_copy(arena, items, ret->value_count * sizeof(*items));
    return true;
}

/* ---- The list ---- */

static bool read_knob(struct build_knobs *knobs, struct json_reader *reader, const json_t *entry,
                      struct build_knob *ret)
{
    struct text option, values, standard;

    if (json_reader_text(reader, json_object_get(entry, "option"), &option, NULL) < 0 ||
        json_reader_text(reader, json_object_get(entry, "allowed_values"), &values, NULL) < 0 ||
        json_reader_text(reader, json_object_get(entry, "default_value"), &standard, NULL) < 0)
        return false;
    option = without_dash(option);
    *ret = (struct build_knob){0};
    if (!is_word(option) || !split_values(&knobs->arena, value_of(values, option), ret))
        return false;
    standard = value_of(standard, option);
    for (size_t i = 0; i < ret->value_count && ret->standard == NULL; i++)
        if (text_equal_string(standard, ret->values[i]))
            ret->standard = ret->values[i];
    ret->name = arena_text(&knobs->arena, option);
    return ret->standard != NULL;
}

static int read_knob_list(struct build_knobs *knobs, struct json_reader *reader, struct error *err)
{
    const json_t *list = json_object_get(reader->root, "tuner_options");
    SCOPED_NAME_MAP(names);

    if (!json_is_array(list))
        return error_set(err, ERR_CORRUPT, "TensorRT's list of build routes has no member 'tuner_options'");
    if (json_array_size(list) > MOST_KNOBS)
        return error_set(err, ERR_CORRUPT, "TensorRT lists %zu build routes (at most %d are read)",
                         json_array_size(list), MOST_KNOBS);
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct build_knob knob;

        if (read_knob(knobs, reader, json_array_get(list, i), &knob) &&
            name_map_add(&names, text_of(knob.name), (uint32_t)i) == (uint32_t)i)
            *VECTOR_APPEND(knobs) = knob;
        else
            knobs->unread++;
    }
    return 0;
}

int build_knobs_parse(struct build_knobs *ret, struct text list, struct error *err)
{
    struct build_knobs knobs = {0};
    struct json_reader reader SCOPED(json_reader_release) = {0};
    int rc = json_reader_open_memory(&reader, list.data, list.size, "TensorRT's list of build routes", err);

    if (rc == 0)
        rc = read_knob_list(&knobs, &reader, err);
    if (rc < 0)
        build_knobs_release(&knobs);
    else
        *ret = knobs;
    return rc;
}

void build_knobs_release(struct build_knobs *knobs)
{
    free(knobs->items);
    arena_release(&knobs->arena);
    *knobs = (struct build_knobs){0};
}

/* ---- What a knob can be told ---- */

static const char *find_value(const struct build_knob *knob, const char *value)
{
    for (size_t i = 0; i < knob->value_count; i++)
        if (strcmp(knob->values[i], value) == 0)
            return knob->values[i];
    return NULL;
}

static const char *find_least_number(const struct build_knob *knob)
{
    const char *ret = NULL;
    int64_t least = INT64_MAX, number;

    for (size_t i = 0; i < knob->value_count; i++) {
        if (!number_parse_integer(text_of(knob->values[i]), &number))
            return NULL;
        if (number < least || ret == NULL) {
            least = number;
            ret = knob->values[i];
        }
    }
    return ret;
}

const char *build_knob_least(const struct build_knob *knob)
{
    static const char *const switches[][2] = {{"on", "off"}, {"true", "false"}};
    const char *least = find_least_number(knob);

    for (size_t i = 0; i < ARRAY_LEN(switches); i++)
        if (knob->value_count == 2 && find_value(knob, switches[i][0]) != NULL)
            least = find_value(knob, switches[i][1]);
    return least != NULL && strcmp(least, knob->standard) != 0 ? least : NULL;
}

const struct build_knob *build_knobs_find(const struct build_knobs *knobs, struct text name)
{
    for (size_t i = 0; i < knobs->count; i++)
        if (text_equal_string(name, knobs->items[i].name))
            return &knobs->items[i];
    return NULL;
}
