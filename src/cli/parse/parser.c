/* cli/parse/parser.c: assignment of the words of a command line to options. */
#include "cli/parse/parser.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/names.h"
#include "base/text/number.h"
#include "base/text/string_builder.h"
#include "cli/parse/command.h"
#include "cli/parse/lookup.h"

static const struct option help_rows[] = {
    {.names = {"-h", "--help", HELP_ALL_NAME}, .kind = OPTION_FLAG, .help = "show short or complete help and exit"},
};

static const struct option version_rows[] = {
    {.names = {"-v", "--version"}, .kind = OPTION_FLAG, .help = "show the version and exit"},
};

/* Groups before each command's own groups: -h, and -v for the root. */
static const struct option_group help_options = {
    .title = "Options",
    OPTION_ROWS(help_rows),
};

static const struct option_group version_options = {
    .title = "Options",
    OPTION_ROWS(version_rows),
};

/* ---- The commands on the path and their groups ---- */

static void show_group(struct parse *parse, const struct option_group *group, size_t offset)
{
    size_t index = 0;

    while (index < parse->group_count && parse->groups[index]->group != group)
        index++;
    if (index == parse->group_count) {
        struct group_state *state = arena_alloc_zero(&parse->arena, 1, sizeof(*state));

        state->group = group;
        state->options = arena_alloc_zero(&parse->arena, group->count, sizeof(*state->options));
        parse->groups[parse->group_count++] = state;
    }
    parse->visible[parse->visible_count++] = (struct visible_group){parse->groups[index], offset};
}

/* Makes `command` the innermost command, whose options are accepted from here on. */
static void descend_to_command(struct parse *parse, const struct command *command)
{
    size_t most_groups = parse->group_count + command->group_count + 2;
    struct group_state **groups = arena_alloc_zero(&parse->arena, most_groups, sizeof(*groups));

    assert(parse->depth < PARSE_MAX_DEPTH);
    for (size_t i = 0; i < parse->group_count; i++)
        groups[i] = parse->groups[i];
    parse->groups = groups;
    parse->visible = arena_alloc_zero(&parse->arena, most_groups, sizeof(*parse->visible));
    parse->visible_count = 0;
    parse->path[parse->depth++] = command;
    parse->settings = arena_alloc_zero(&parse->arena, 1, command->settings_size);

    show_group(parse, &help_options, 0);
    if (parse->depth == 1)
        show_group(parse, &version_options, 0);
    for (size_t i = 0; i < command->group_count; i++)
        show_group(parse, command->groups[i].group, command->groups[i].offset);
}

void parse_init(struct parse *parse, const struct command *root)
{
    *parse = (struct parse){0};
    arena_init(&parse->arena);
    descend_to_command(parse, root);
}

void parse_release(struct parse *parse)
{
    arena_release(&parse->arena);
    *parse = (struct parse){0};
}

/* ---- Assigning words ---- */

struct word_cursor {
    struct parse *parse;
    const char *const *words;
    size_t count, position;
    bool only_positional;     /* after -- */
    struct parse_place place; /* what the preceding option allows as the next word */
    struct error *err;
};

/* Appends a word, and keeps the list NULL-terminated. */
static void append_word(struct parse *parse, struct option_state *state, const char *word)
{
    if (state->count + 1 >= state->capacity) {
        size_t capacity = state->capacity ? 2 * state->capacity : 4;
        const char **words = arena_alloc_zero(&parse->arena, capacity, sizeof(*words));

        for (size_t i = 0; i < state->count; i++)
            words[i] = state->words[i];
        state->words = words;
        state->capacity = capacity;
    }
    state->words[state->count++] = word;
    state->words[state->count] = NULL;
}

static void forget_option_words(struct option_state *state)
{
    state->count = 0;
    if (state->words)
        state->words[0] = NULL;
}

/* "invalid choice: 'x' (choose from 'bisect', 'linear'); did you mean ..." */
static int refuse_choice(const char *title, const char *word, const char *const *choices, struct error *err)
{
    SCOPED_STRING(text);
    struct close_names close;

    string_add_quoted(&text, word);
    string_add(&text, " (choose from ");
    close_names_start(&close, text_of(word));
    for (size_t i = 0; choices[i]; i++) {
        string_add(&text, i > 0 ? ", " : "");
        string_add_quoted(&text, choices[i]);
        close_names_offer(&close, text_of(choices[i]));
    }
    string_add(&text, ")");
    close_names_add_to(&close, &text);
    return error_set(err, ERR_INVALID, "argument %s: invalid choice: %s", title, text.data);
}

/* Validates a value as argparse does. */
static int check_option_word(struct parse *parse, const struct option *option, const char *word, struct error *err)
{
    const char *title = option_title(parse, option);
    SCOPED_STRING(quoted);
    int64_t integer;
    double number;
    int rc = 0;

    string_add_quoted(&quoted, word);
    if (option->type == OPTION_INTEGER && !number_parse_integer(text_of(word), &integer))
        rc = error_set(err, ERR_INVALID, "argument %s: invalid int value: %s", title, quoted.data);
    else if (option->type == OPTION_FLOAT && !number_parse_float(text_of(word), &number))
        rc = error_set(err, ERR_INVALID, "argument %s: invalid float value: %s", title, quoted.data);
    else if (option->choices && !option->choices[option_choice(option, word)])
        rc = refuse_choice(title, word, option->choices, err);
    return rc;
}

static int take_option_word(struct word_cursor *cursor, const struct option_match *match, const char *word)
{
    int rc = check_option_word(cursor->parse, option_of(match), word, cursor->err);

    if (rc == 0)
        append_word(cursor->parse, &match->state->options[match->index], word);
    return rc;
}

static bool next_word_is_value(const struct word_cursor *cursor)
{
    struct option_match ignored;
    struct error ignored_error;

    return cursor->position < cursor->count &&
           word_classify(cursor->parse, cursor->words[cursor->position], &ignored, &ignored_error) == WORD_VALUE;
}

static int take_rest_of_line(struct word_cursor *cursor, const struct option_match *match)
{
    const struct option *option = option_of(match);
    int rc = 0;

    if (cursor->position < cursor->count && strcmp(cursor->words[cursor->position], "--") == 0)
        cursor->position++;
    cursor->place.command = cursor->position;
    for (bool first = true; rc == 0 && cursor->position < cursor->count; first = false) {
        const char *word = cursor->words[cursor->position++];

        rc = take_option_word(cursor, match, word);
        if (first && option->stands_alone && option->stands_alone(word)) {
            cursor->place.command = SIZE_MAX;
            break;
        }
    }
    return rc;
}

static bool takes_several(const struct option *option)
{
    return option->kind == OPTION_MANY || option->kind == OPTION_ANY;
}

static int take_option_values(struct word_cursor *cursor, const struct option_match *match)
{
    const struct option *option = option_of(match);
    struct option_state *state = &match->state->options[match->index];
    size_t before = state->count;
    bool several = takes_several(option);
    int rc = 0;

    if (option->kind == OPTION_REST)
        return take_rest_of_line(cursor, match);
    while (rc == 0 && (several || state->count == before) && next_word_is_value(cursor))
        rc = take_option_word(cursor, match, cursor->words[cursor->position++]);
    if (rc == 0 && (several || state->count == before)) {
        cursor->place.option = *match;
        cursor->place.no_option = state->count == before && (option->kind == OPTION_ONE || option->kind == OPTION_MANY);
    }
    if (rc < 0 || state->count > before || option->kind == OPTION_ANY)
        return rc;
    if (option->kind != OPTION_MAYBE)
        return error_set(cursor->err, ERR_INVALID, "argument %s: expected %s argument",
                         option_title(cursor->parse, option), several ? "at least one" : "one");
    append_word(cursor->parse, state, "");
    return 0;
}

static int check_exclusive(struct word_cursor *cursor, const struct option_match *match)
{
    const struct option_group *group = match->state->group;
    const struct option *option = option_of(match);

    for (size_t i = 0; option->exclusive && i < group->count; i++)
        if (i != match->index && group->options[i].exclusive == option->exclusive && match->state->options[i].name)
            return error_set(cursor->err, ERR_INVALID, "argument %s: not allowed with argument %s",
                             option_title(cursor->parse, option), option_title(cursor->parse, &group->options[i]));
    return 0;
}

/* Finds the state in which occurrences of an ordered option are recorded: that of the first row with the same field. An
 * option with a value has another field and is recorded with the first ordered rows of its group. */
static void note_order(struct word_cursor *cursor, const struct option_match *match)
{
    const struct option_group *group = match->state->group;
    const struct option *option = &group->options[match->index];
    size_t first = 0;

    while (group->options[first].kind != OPTION_ORDERED ||
           (!option->ordered && group->options[first].offset != option->offset))
        first++;
    append_word(cursor->parse, &match->state->options[first], match->name + strspn(match->name, "-"));
}

/* Keeps where an option stands, and the words that it was given there: those from `first` on. */
static void note_use(struct parse *parse, const struct option_match *match, size_t first)
{
    const struct option_state *state = &match->state->options[match->index];
    struct option_use *use;

    if (parse->use_count == parse->use_capacity) {
        size_t capacity = parse->use_capacity ? 2 * parse->use_capacity : 8;
        struct option_use *uses = arena_alloc_zero(&parse->arena, capacity, sizeof(*uses));

        for (size_t i = 0; i < parse->use_count; i++)
            uses[i] = parse->uses[i];
        parse->uses = uses;
        parse->use_capacity = capacity;
    }
    use = &parse->uses[parse->use_count++];
    *use = (struct option_use){.state = match->state, .index = match->index, .name = state->name};
    use->words = arena_alloc_zero(&parse->arena, state->count - first + 1, sizeof(*use->words));
    for (size_t i = first; i < state->count; i++)
        use->words[use->count++] = state->words[i];
}

/* Takes the values of one occurrence of an option: those before it are forgotten, unless they add up. Of an option with
 * several values, occurrences with attached ones do: --name=--a --name=--b gives it two that begin with dashes. */
static int take_values_of_match(struct word_cursor *cursor, const struct option_match *match)
{
    struct option_state *state = &match->state->options[match->index];
    size_t first;
    int rc;

    if (!option_of(match)->append && !(takes_several(option_of(match)) && match->value != NULL && state->is_attached))
        forget_option_words(state);
    state->is_attached = match->value != NULL;
    first = state->count;
    rc = match->value ? take_option_word(cursor, match, match->value) : take_option_values(cursor, match);
    if (rc == 0)
        note_use(cursor->parse, match, first);
    return rc;
}

/* Records one occurrence of an option and consumes its values. A cluster of short flags is split: the attached text
 * begins with the next flag's letter. */
static int take_option_match(struct word_cursor *cursor, struct option_match match)
{
    for (;;) {
        const struct option *option = option_of(&match);
        struct option_state *state = &match.state->options[match.index];
        struct option_match next;
        char letter[3] = "-";
        int rc = check_exclusive(cursor, &match);

        if (rc < 0)
            return rc;
        state->name = match.name;
        state->occurrences++;
        if (option->kind == OPTION_ORDERED || option->ordered)
            note_order(cursor, &match);
        if (option_takes_values(option))
            return take_values_of_match(cursor, &match);
        if (option->kind == OPTION_ORDERED)
            note_use(cursor->parse, &match, state->count);
        if (!match.value)
            return 0;
        letter[1] = match.value[0];
        if (match.name[1] == '-' || !letter[1] || !option_find(cursor->parse, text_of(letter), &next)) {
            SCOPED_STRING(quoted);

            string_add_quoted(&quoted, match.value);
            rc = error_set(cursor->err, ERR_INVALID, "argument %s: ignored explicit argument %s",
                           option_title(cursor->parse, option), quoted.data);
            return rc;
        }
        next.value = match.value[1] ? match.value + 1 : NULL;
        match = next;
    }
}

/* The next positional option without a word. */
static bool find_next_positional(const struct parse *parse, struct option_match *ret)
{
    for (size_t i = 0; i < parse->visible_count; i++) {
        struct group_state *state = parse->visible[i].state;

        for (size_t k = 0; k < state->group->count; k++) {
            const struct option *option = &state->group->options[k];

            if (option_is_positional(option) && (state->options[k].count == 0 || takes_several(option))) {
                *ret = (struct option_match){state, k, option->names[0], NULL};
                return true;
            }
        }
    }
    return false;
}

int parse_enter_subcommand(struct parse *parse, const char *word, struct error *err)
{
    const struct command *command = parse_command(parse);
    const char **names;

    for (size_t i = 0; i < command->subcommand_count; i++)
        if (strcmp(command->subcommands[i]->name, word) == 0) {
            descend_to_command(parse, command->subcommands[i]);
            return 0;
        }
    for (const struct missing_command *missing = command->missing; missing != NULL && missing->name != NULL; missing++)
        if (strcmp(missing->name, word) == 0)
            return error_set(err, ERR_UNSUPPORTED, "'%s' is not supported: %s; see " FROM_POLYGRAPHY("%s"), word,
                             missing->instead, missing->topic);
    names = arena_alloc_zero(&parse->arena, command->subcommand_count + 1, sizeof(*names));
    for (size_t i = 0; i < command->subcommand_count; i++)
        names[i] = command->subcommands[i]->name;
    refuse_choice(parse->depth == 1 ? "tool" : "subtool", word, names, err);
    return ERR_INVALID;
}

static int take_positional_word(struct word_cursor *cursor, const char *word)
{
    struct option_match match;

    if (parse_command(cursor->parse)->subcommands)
        return parse_enter_subcommand(cursor->parse, word, cursor->err);
    if (!find_next_positional(cursor->parse, &match)) {
        append_word(cursor->parse, &cursor->parse->unrecognized, word);
        return 0;
    }
    match.state->options[match.index].name = match.name;
    return take_option_word(cursor, &match, word);
}

static int take_next_word(struct word_cursor *cursor)
{
    const char *word = cursor->words[cursor->position++];
    struct option_match match;

    cursor->place = (struct parse_place){.command = SIZE_MAX};
    if (cursor->only_positional)
        return take_positional_word(cursor, word);
    switch (word_classify(cursor->parse, word, &match, cursor->err)) {
    case WORD_VALUE:
        return take_positional_word(cursor, word);
    case WORD_OPTION:
        return take_option_match(cursor, match);
    case WORD_UNKNOWN:
        append_word(cursor->parse, &cursor->parse->unrecognized, word);
        return 0;
    case WORD_DASHES:
        cursor->only_positional = true;
        return 0;
    case WORD_AMBIGUOUS:
        break;
    }
    return ERR_INVALID;
}

/* ---- Missing and unrecognised words ---- */

static int check_required(struct parse *parse, struct error *err)
{
    const char *missing = NULL;

    if (parse_command(parse)->subcommands)
        missing = parse->depth == 1 ? "tool" : "subtool";
    for (size_t i = 0; i < parse->visible_count; i++) {
        const struct group_state *state = parse->visible[i].state;

        for (size_t k = 0; k < state->group->count; k++) {
            const struct option *option = &state->group->options[k];
            bool required = option->required || (option_is_positional(option) && option->kind != OPTION_MAYBE &&
                                                 option->kind != OPTION_ANY);

            if (!required || state->options[k].name)
                continue;
            missing = missing ? arena_printf(&parse->arena, "%s, %s", missing, option_title(parse, option))
                              : option_title(parse, option);
        }
    }
    if (!missing)
        return 0;
    return error_set(err, ERR_INVALID, "the following arguments are required: %s", missing);
}

/* A suggestion for a word that no option accepts, for example an option that was given before its command's name. */
static const char *suggest_instead(struct parse *parse, const char *word)
{
    struct option_match match;
    struct error ignored;
    const char *similar;

    if (word_classify(parse, word, &match, &ignored) == WORD_OPTION)
        return arena_printf(&parse->arena, "write '%s' after the tool's name: %s %s", word, parse_command_name(parse),
                            word);
    similar = option_suggest(parse, word);
    return similar ? arena_printf(&parse->arena, "did you mean '%s'?", similar) : NULL;
}

static void report_unrecognized(struct parse *parse, struct error *err)
{
    const struct option_state *words = &parse->unrecognized;
    const char *suggestion = NULL;
    SCOPED_STRING(text);

    string_add(&text, "Unrecognized Options: [");
    for (size_t i = 0; i < words->count; i++) {
        string_add(&text, i > 0 ? ", " : "");
        string_add_quoted(&text, words->words[i]);
        if (!suggestion && words->words[i][0] == '-')
            suggestion = suggest_instead(parse, words->words[i]);
    }
    string_add(&text, "]");
    if (suggestion)
        string_add_format(&text, "; %s", suggestion);
    error_set(err, ERR_INVALID, "%s", text.data);
}

enum parse_outcome parse_words(struct parse *parse, size_t count, const char *const *words, struct error *err)
{
    struct word_cursor cursor = {.parse = parse, .words = words, .count = count, .err = err};

    while (cursor.position < cursor.count) {
        if (take_next_word(&cursor) < 0)
            return PARSE_REFUSED;
        if (parse_given(parse, "--help"))
            return PARSE_HELP;
        if (parse_given(parse, "--version"))
            return PARSE_VERSION;
    }
    if (check_required(parse, err) < 0)
        return PARSE_REFUSED;
    if (parse->unrecognized.count > 0) {
        report_unrecognized(parse, err);
        return PARSE_UNRECOGNIZED;
    }
    return PARSE_DONE;
}

void parse_words_so_far(struct parse *parse, size_t count, const char *const *words, struct parse_place *ret)
{
    struct error ignored;
    struct word_cursor cursor = {
        .parse = parse, .words = words, .count = count, .place = {.command = SIZE_MAX}, .err = &ignored};

    while (cursor.position < cursor.count)
        take_next_word(&cursor);
    *ret = cursor.place;
    if (ret->option.state == NULL && ret->command == SIZE_MAX) {
        find_next_positional(parse, &ret->option);
        ret->no_option = cursor.only_positional;
    }
}
