/* cli/parse/lookup.c: options distinguished from values; suggestions for misspelled names. */
#include "cli/parse/lookup.h"

#include <string.h>

#include "base/text/names.h"
#include "base/text/number.h"
#include "cli/parse/command.h"

struct beginning_search {
    struct text wanted;
    struct option_match found;
    bool ambiguous;
    char *candidates; /* names that begin with `wanted`, for the message */
    struct arena *arena;
};

/* Whether an abbreviation of both names is unambiguous: both belong to one option, or one option yields. */
static bool is_settled_match(const struct option *a, const struct option *b)
{
    return a == b || a->yields != b->yields;
}

/* Several names of one option with the same prefix are not ambiguous. */
static bool visit_beginning(void *data, struct option_match match)
{
    struct beginning_search *search = data;

    if (strncmp(match.name, search->wanted.data, search->wanted.size) != 0)
        return true;
    if (search->found.state && !is_settled_match(option_of(&search->found), option_of(&match)))
        search->ambiguous = true;
    if (!search->found.state || (option_of(&search->found)->yields && !option_of(&match)->yields)) {
        search->found = match;
        search->ambiguous = false;
    }
    search->candidates = search->candidates ? arena_printf(search->arena, "%s, %s", search->candidates, match.name)
                                            : arena_strdup(search->arena, match.name);
    return true;
}

static enum word_class find_beginning(const struct parse *parse, struct text name, struct option_match *ret,
                                      struct error *err)
{
    SCOPED_ARENA(arena);
    struct beginning_search search = {.wanted = name, .arena = &arena};

    option_each_name(parse, visit_beginning, &search);
    if (search.ambiguous)
        error_set(err, ERR_INVALID, "ambiguous option: " TEXT_FORMAT " could match %s", TEXT_ARGS(name),
                  search.candidates);
    if (search.ambiguous)
        return WORD_AMBIGUOUS;
    if (!search.found.state)
        return WORD_UNKNOWN;
    *ret = search.found;
    return WORD_OPTION;
}

/* argparse reads -11 and -1.5 as values; -1e-3 is treated the same. */
static bool is_negative_number(const char *word)
{
    double number;

    return word[0] == '-' && strspn(word + 1, ".0123456789") > 0 && number_parse_float(text_of(word), &number);
}

enum word_class word_classify(const struct parse *parse, const char *word, struct option_match *ret, struct error *err)
{
    const char *equals = strchr(word, '=');
    struct text name = equals ? (struct text){word, (size_t)(equals - word)} : text_of(word);
    enum word_class class = WORD_UNKNOWN;

    if (word[0] != '-' || word[1] == '\0')
        return WORD_VALUE;
    if (strcmp(word, "--") == 0)
        return WORD_DASHES;
    if (option_find(parse, name, ret)) {
        ret->value = equals ? equals + 1 : NULL;
        return WORD_OPTION;
    }
    if (word[1] != '-' && option_find(parse, (struct text){word, 2}, ret)) {
        ret->value = word + 2;
        return WORD_OPTION;
    }
    if (word[1] == '-' && !parse_command(parse)->exact_names)
        class = find_beginning(parse, name, ret, err);
    if (class == WORD_OPTION)
        ret->value = equals ? equals + 1 : NULL;
    if (class == WORD_UNKNOWN && (is_negative_number(word) || strchr(word, ' ')))
        class = WORD_VALUE;
    return class;
}

/* ---- Suggestions ---- */

struct suggestion {
    struct text wanted;
    const char *best;
    size_t distance;
};

static void consider_suggestion(struct suggestion *suggestion, const char *name)
{
    struct text text = text_of(name);
    size_t distance = name_distance(suggestion->wanted, text);

    /* An abbreviation counts as a small spelling mistake. */
    if (text.size > suggestion->wanted.size && suggestion->wanted.size > 3 &&
        strncmp(name, suggestion->wanted.data, suggestion->wanted.size) == 0)
        distance = 1;
    if (distance < suggestion->distance) {
        suggestion->best = name;
        suggestion->distance = distance;
    }
}

static bool visit_similar(void *data, struct option_match match)
{
    consider_suggestion(data, match.name);
    return true;
}

const char *option_suggest(const struct parse *parse, const char *word)
{
    const struct command *command = parse_command(parse);
    struct suggestion suggestion = {.wanted = {word, strcspn(word, "=")}};

    suggestion.distance = suggestion.wanted.size / 3 + 1;
    if (word[0] == '-')
        option_each_name(parse, visit_similar, &suggestion);
    else
        for (size_t i = 0; i < command->subcommand_count; i++)
            consider_suggestion(&suggestion, command->subcommands[i]->name);
    return suggestion.best;
}

const char *parse_command_name(struct parse *parse)
{
    const char *name = parse->path[0]->name;

    for (size_t i = 1; i < parse->depth; i++)
        name = arena_printf(&parse->arena, "%s %s", name, parse->path[i]->name);
    return name;
}
