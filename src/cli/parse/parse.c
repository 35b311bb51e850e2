/* cli/parse/parse.c: see parse.h. */
#include "cli/parse/parse.h"

#include <string.h>

#include "base/memory.h"
#include "base/text/option_words.h"

/* ---- For commands and for `finish` functions of groups ---- */

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

const char *parse_positional_word(const struct parse *parse, const char *name)
{
    for (size_t i = 0; i < parse->visible_count; i++) {
        const struct group_state *state = parse->visible[i].state;

        for (size_t k = 0; k < state->group->count; k++)
            if (strcmp(state->group->options[k].names[0], name) == 0 && state->options[k].count > 0)
                return state->options[k].words[state->options[k].count - 1];
    }
    return NULL;
}

static void list_option_if_given(const struct parse *parse, const char *name, struct string_builder *ret)
{
    const char *given = parse_given(parse, name);

    if (given != NULL)
        string_add_format(ret, "%s%s", ret->size > 0 ? ", " : "", given);
}

void parse_list_given(const struct parse *parse, const char *const *names, struct string_builder *ret)
{
    for (; *names != NULL; names++)
        list_option_if_given(parse, *names, ret);
}

void parse_list_given_of_group(const struct parse *parse, const struct option_group *group, struct string_builder *ret)
{
    for (size_t i = 0; i < group->count; i++)
        list_option_if_given(parse, group->options[i].names[0], ret);
}

static bool is_excepted_name(const char *const *names, const char *name)
{
    for (; names != NULL && *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

void parse_add_given_of_group(const struct parse *parse, const struct option_group *group, const char *const *except,
                              struct word_list *ret)
{
    struct arena *arena = parse_arena((struct parse *)parse);

    ARRAY_EACH (const struct option, option, group->options, group->count) {
        struct option_match match;
        const struct option_state *state;

        if (option_is_positional(option) || option->kind == OPTION_ORDERED ||
            is_excepted_name(except, option->names[0]) || !option_find(parse, text_of(option->names[0]), &match))
            continue;
        state = &match.state->options[match.index];
        if (state->name == NULL)
            continue;
        if (option->kind == OPTION_ONE) { /* repeat the name before each value: some options append values */
            size_t first = option->append || state->count == 0 ? 0 : state->count - 1;

            for (size_t k = first; k < state->count; k++)
                option_words_add(ret, arena, state->name, (struct words){&state->words[k], 1});
            continue;
        }
        option_words_add(ret, arena, state->name, (struct words){state->words, state->count});
    }
}

struct arena *parse_arena(struct parse *parse)
{
    return &parse->arena;
}

struct log *parse_log(struct parse *parse)
{
    return parse->log;
}

const struct command *parse_command(const struct parse *parse)
{
    return parse->path[parse->depth - 1];
}

/* ---- Options ---- */

const struct option *option_of(const struct option_match *match)
{
    return &match->state->group->options[match->index];
}

bool option_is_positional(const struct option *option)
{
    return option->names[0][0] != '-';
}

bool option_takes_values(const struct option *option)
{
    return option->kind != OPTION_FLAG && option->kind != OPTION_OFF && option->kind != OPTION_COUNT &&
           option->kind != OPTION_ORDERED;
}

size_t option_choice(const struct option *option, const char *word)
{
    size_t index = 0;

    while (option->choices[index] && strcmp(option->choices[index], word) != 0)
        index++;
    return index;
}

const char *option_title(struct parse *parse, const struct option *option)
{
    const char *title = option->names[0];

    for (size_t i = 1; i < ARRAY_LEN(option->names) && option->names[i]; i++)
        title = arena_printf(&parse->arena, "%s/%s", title, option->names[i]);
    return title;
}

void option_each_name(const struct parse *parse, bool (*visit)(void *data, struct option_match match), void *data)
{
    for (size_t i = 0; i < parse->visible_count; i++) {
        struct group_state *state = parse->visible[i].state;

        for (size_t k = 0; k < state->group->count; k++) {
            const struct option *option = &state->group->options[k];

            for (size_t n = 0; n < ARRAY_LEN(option->names) && option->names[n]; n++)
                if (!option_is_positional(option) &&
                    !visit(data, (struct option_match){state, k, option->names[n], NULL}))
                    return;
        }
    }
}

struct exact_search {
    struct text wanted;
    struct option_match *ret;
    bool found;
};

static bool visit_exact(void *data, struct option_match match)
{
    struct exact_search *search = data;
    const char *former = option_of(&match)->former_name;

    search->found =
        text_equal_string(search->wanted, match.name) || (former != NULL && text_equal_string(search->wanted, former));
    if (search->found)
        *search->ret = match;
    return !search->found;
}

bool option_find(const struct parse *parse, struct text name, struct option_match *ret)
{
    struct exact_search search = {.wanted = name, .ret = ret};

    option_each_name(parse, visit_exact, &search);
    return search.found;
}
