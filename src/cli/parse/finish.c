/* cli/parse/finish.c: conversion of the words that the parser assigned to options into typed values. */
#include <string.h>

#include "base/text/number.h"
#include "cli/parse/command.h"
#include "cli/parse/parser.h"

/* Writes one value into its field. The parser has already validated the words. */
static void store_single_word(const struct option *option, const char *word, void *field)
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

static struct words words_of_one(struct parse *parse, const char *word)
{
    const char **items = arena_alloc_zero(&parse->arena, 2, sizeof(*items));

    items[0] = word;
    return (struct words){items, 1};
}

/* `values` is the struct that the option's group fills. */
static int store_option_value(struct parse *parse, const struct option *option, const struct option_state *state,
                              char *values, struct error *err)
{
    struct words words = {state->words, state->count};
    const char *name = state->name ? state->name : option->names[0];
    void *field;

    if (state->name && option->refusal)
        return error_set(err, ERR_UNSUPPORTED, "%s: %s; see " FROM_POLYGRAPHY("%s"), name, option->refusal,
                         option->topic);
    if (!state->name && option->fallback)
        words = words_of_one(parse, option->fallback);
    else if (!state->name && option->kind != OPTION_ORDERED && option->kind != OPTION_OFF)
        return 0;
    if (option->struct_size == 0)
        return 0;
    field = values + option->offset;
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
        store_single_word(option, words.items[0], field);
        break;
    case OPTION_ORDERED:
        if (words.count > 0)
            *(struct words *)field = words;
        break;
    case OPTION_MANY:
    case OPTION_ANY:
    case OPTION_REST:
        *(struct words *)field = words;
        break;
    }
    return 0;
}

static int fill_values(struct parse *parse, const struct group_state *state, char *values, struct error *err)
{
    const struct option_group *group = state->group;

    for (size_t i = 0; i < group->count; i++) {
        int rc = store_option_value(parse, &group->options[i], &state->options[i], values, err);

        if (rc < 0)
            return rc;
    }
    return group->finish ? group->finish(parse, values, err) : 0;
}

static int finish_visible_group(struct parse *parse, const struct visible_group *visible, struct error *err)
{
    struct group_state *state = visible->state;

    if (state->finished)
        return 0;
    state->finished = true;
    return fill_values(parse, state, (char *)parse->settings + visible->offset, err);
}

int parse_fill_group(struct parse *parse, const struct option_group *group, void *values, struct error *err)
{
    for (size_t i = 0; i < parse->visible_count; i++)
        if (parse->visible[i].state->group == group)
            return fill_values(parse, parse->visible[i].state, values, err);
    return 0;
}

int parse_finish_group(struct parse *parse, const struct option_group *group, struct error *err)
{
    for (size_t i = 0; i < parse->visible_count; i++)
        if (parse->visible[i].state->group == group)
            return finish_visible_group(parse, &parse->visible[i], err);
    return 0;
}

int parse_finish(struct parse *parse, struct log *log, struct error *err)
{
    int rc = 0;

    parse->log = log;
    for (size_t i = 0; rc == 0 && i < parse->visible_count; i++)
        rc = finish_visible_group(parse, &parse->visible[i], err);
    return rc;
}
