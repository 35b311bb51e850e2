/* cli/parse/finish.c: making typed values of the words that the parser assigned to options. */
#include <string.h>

#include "base/text/number.h"
#include "cli/command.h"
#include "cli/parse/lookup.h"

static struct integers make_integers(struct parse *parse, struct words words)
{
    int64_t *items = arena_alloc_zero(&parse->arena, words.count, sizeof(*items));

    for (size_t i = 0; i < words.count; i++)
        number_parse_integer(text_of(words.items[i]), &items[i]);
    return (struct integers){items, words.count};
}

/* Writes one value into its field. The words have been checked when they were taken. */
static void store_one(const struct option *option, const char *word, void *field)
{
    switch (option->type) {
    case OPTION_TEXT:
        memcpy(field, &word, sizeof(word));
        break;
    case OPTION_INTEGER:
        number_parse_integer(text_of(word), field);
        break;
    case OPTION_FLOAT:
        number_parse_float(text_of(word), field);
        break;
    case OPTION_CHOICE: {
        size_t index = option_choice(option, word);
        int value = option->choice_values ? option->choice_values[index] : (int)index;

        memcpy(field, &value, sizeof(value));
        break;
    }
    }
}

static struct words one_word(struct parse *parse, const char *word)
{
    const char **items = arena_alloc_zero(&parse->arena, 2, sizeof(*items));

    items[0] = word;
    return (struct words){items, 1};
}

static int store(struct parse *parse, const struct option *option, const struct option_state *state, struct error *err)
{
    struct words words = {state->words, state->count};
    const char *name = state->name ? state->name : option->names[0];
    void *field;

    if (state->name && option->refusal)
        return error_set(err, ERR_UNSUPPORTED, "%s: %s", name, option->refusal);
    if (!state->name && option->fallback)
        words = one_word(parse, option->fallback);
    else if (!state->name && option->kind != OPTION_ORDERED && option->kind != OPTION_OFF)
        return 0;
    if (option->values == NULL)
        return 0;
    field = (char *)parse_values_of(parse, option->values) + option->offset;
    if (option->convert)
        return option->convert(parse, name, words, field, err);
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        break;
    case OPTION_OFF:
        *(bool *)field = state->name == NULL;
        break;
    case OPTION_COUNT:
        *(int *)field = state->occurrences;
        break;
    case OPTION_ONE:
    case OPTION_MAYBE:
        store_one(option, words.items[0], field);
        break;
    case OPTION_ORDERED:
        if (words.count > 0)
            *(struct words *)field = words;
        break;
    case OPTION_MANY:
    case OPTION_ANY:
    case OPTION_REST:
        if (option->type == OPTION_INTEGER)
            *(struct integers *)field = make_integers(parse, words);
        else
            *(struct words *)field = words;
        break;
    }
    return 0;
}

static int finish_state(struct parse *parse, struct group_state *state, struct error *err)
{
    const struct option_group *group = state->group;

    if (state->finished)
        return 0;
    state->finished = true;
    for (size_t i = 0; i < group->count; i++) {
        int rc = store(parse, &group->options[i], &state->options[i], err);

        if (rc < 0)
            return rc;
    }
    return group->finish ? group->finish(parse, err) : 0;
}

static struct group_state *find_group(const struct parse *parse, const struct option_group *group)
{
    for (size_t i = 0; i < parse->group_count; i++)
        if (parse->groups[i]->group == group)
            return parse->groups[i];
    return NULL;
}

int parse_finish_group(struct parse *parse, const struct option_group *group, struct error *err)
{
    struct group_state *state = find_group(parse, group);

    return state ? finish_state(parse, state, err) : 0;
}

int parse_finish(struct parse *parse, struct log *log, struct error *err)
{
    int rc = 0;

    parse->log = log;
    for (size_t i = 0; rc == 0 && i < parse->visible_count; i++)
        rc = finish_state(parse, parse->groups[parse->visible[i]], err);
    return rc;
}

void *parse_values_of(const struct parse *parse, const char *type)
{
    for (const struct parsed_values *item = parse->values; item != NULL; item = item->next)
        if (strcmp(item->type, type) == 0)
            return item->values;
    return NULL;
}

const char *parse_given(const struct parse *parse, const char *name)
{
    struct option_match match;

    if (!option_find(parse, text_of(name), &match))
        return NULL;
    return match.state->options[match.index].name;
}

const char *parse_last_word(const struct parse *parse, const char *name)
{
    struct option_match match;
    const struct option_state *state;

    if (!option_find(parse, text_of(name), &match))
        return NULL;
    state = &match.state->options[match.index];
    return state->count > 0 ? state->words[state->count - 1] : option_of(&match)->fallback;
}

static void list_if_given(const struct parse *parse, const char *name, struct string_builder *ret)
{
    const char *given = parse_given(parse, name);

    if (given != NULL)
        string_add_format(ret, "%s%s", ret->size > 0 ? ", " : "", given);
}

void parse_list_given(const struct parse *parse, const char *const *names, struct string_builder *ret)
{
    for (; *names != NULL; names++)
        list_if_given(parse, *names, ret);
}

void parse_list_given_of_group(const struct parse *parse, const struct option_group *group, struct string_builder *ret)
{
    for (size_t i = 0; i < group->count; i++)
        list_if_given(parse, group->options[i].names[0], ret);
}

struct arena *parse_arena(struct parse *parse)
{
    return &parse->arena;
}

struct log *parse_log(struct parse *parse)
{
    return parse->log;
}
