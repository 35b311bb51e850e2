/* cli/completion/candidates.c: see candidates.h. */
#include "cli/completion/candidates.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "cli/completion/model_names.h"
#include "cli/parse/help.h"
#include "cli/parse/lookup.h"
#include "cli/parse/parser.h"

#define DATA_EXTENSIONS "json npz npy safetensors"

struct completion_request {
    struct candidates *ret;
    const struct parse *line; /* parse of all words except the one that is completed */
    const char *outer_model;  /* parse of the command line that contains this one; NULL: none */
    const char *attached;     /* unchanged text before the value: "--name=", or "" */
    const char *typed;        /* of the value */
    const struct option *option;
    const struct option_state *given; /* values of the option before the word */
};

static bool begins_with(const char *word, const char *beginning)
{
    return strncmp(word, beginning, strlen(beginning)) == 0;
}

static void add_candidate(struct completion_request *request, const char *word, const char *description)
{
    struct arena *arena = &request->ret->arena;

    *VECTOR_APPEND(request->ret) =
        (struct candidate){arena_printf(arena, "%s%s", request->attached, word), arena_strdup(arena, description)};
}

/* ---- Commands and options ---- */

static void add_subcommands(struct completion_request *request, const struct command *command)
{
    for (size_t i = 0; i < command->subcommand_count; i++)
        if (begins_with(command->subcommands[i]->name, request->typed))
            add_candidate(request, command->subcommands[i]->name, command->subcommands[i]->summary);
}

/* Whether an option can be offered: not refused, and not one that would override an earlier option. */
static bool may_be_given(const struct group_state *state, size_t index)
{
    const struct option *option = &state->group->options[index];

    if (option->refusal != NULL)
        return false;
    if (state->options[index].name != NULL)
        return option->append || option->kind == OPTION_COUNT || option->kind == OPTION_ORDERED;
    for (size_t i = 0; option->exclusive != 0 && i < state->group->count; i++)
        if (state->group->options[i].exclusive == option->exclusive && state->options[i].name != NULL)
            return false;
    return true;
}

/* Adds an option's first short and first long name that match; other names are kept for compatibility only. */
static void add_name_candidates(struct completion_request *request, const struct option *option)
{
    char *description SCOPED_FREE = memory_copy(option->help, help_summary_length(option->help));
    bool has[2] = {false, false};

    for (size_t i = 0; i < ARRAY_LEN(option->names) && option->names[i] != NULL; i++) {
        bool is_long = option->names[i][1] == '-';

        if (has[is_long] || !begins_with(option->names[i], request->typed))
            continue;
        add_candidate(request, option->names[i], description);
        has[is_long] = true;
    }
}

static void add_options(struct completion_request *request)
{
    const struct parse *line = request->line;

    for (size_t i = 0; i < line->visible_count; i++) {
        const struct group_state *state = line->visible[i].state;

        for (size_t k = 0; k < state->group->count; k++)
            if (!option_is_positional(&state->group->options[k]) && may_be_given(state, k))
                add_name_candidates(request, &state->group->options[k]);
    }
}

/* ---- Values ---- */

static bool is_given(const struct completion_request *request, const char *word)
{
    return text_is_one_of(text_of(word), request->given->words, request->given->count);
}

static void add_word_candidates(struct completion_request *request, const char *const *words)
{
    for (; words != NULL && *words != NULL; words++)
        if (begins_with(*words, request->typed) && !is_given(request, *words))
            add_candidate(request, *words, "");
}

/* The path of the model on the line, or NULL. */
static const char *find_model(const struct parse *line)
{
    for (size_t i = 0; i < line->visible_count; i++) {
        const struct group_state *state = line->visible[i].state;

        for (size_t k = 0; k < state->group->count; k++)
            if (state->group->options[k].file == OPTION_READS_MODEL &&
                option_is_positional(&state->group->options[k]) && state->options[k].count > 0)
                return state->options[k].words[0];
    }
    return NULL;
}

/* The shell passes the word as typed: ~ is not expanded. */
static const char *expand_home(struct arena *arena, const char *path)
{
    const char *home = getenv("HOME");

    return begins_with(path, "~/") && home != NULL ? arena_printf(arena, "%s%s", home, path + 1) : path;
}

static bool is_file(const char *path)
{
    struct stat status;

    return path != NULL && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Adds what follows NAME: the shape of the tensor, or one of the hints. */
static void add_behind_name(struct completion_request *request, const struct model_name *name, const char *value_name)
{
    struct arena *arena = &request->ret->arena;

    if (begins_with(value_name, "SHAPE") && request->option->hints == NULL && name->shape != NULL) {
        const char *word = arena_printf(arena, "%s:%s", name->name, name->shape);

        if (begins_with(word, request->typed))
            add_candidate(request, word, name->description);
    }
    for (const char *const *hint = request->option->hints; hint != NULL && *hint != NULL; hint++) {
        const char *word = arena_printf(arena, "%s:%s", name->name, *hint);

        if (begins_with(word, request->typed))
            add_candidate(request, word, "");
    }
}

static void add_model_name(void *data, const struct model_name *name)
{
    struct completion_request *request = data;
    const char *value_name = request->option->value_name;
    const char *colon = value_name != NULL ? strchr(value_name, ':') : NULL;
    size_t length = strlen(name->name);

    if (colon == NULL) {
        if (begins_with(name->name, request->typed) && !is_given(request, name->name))
            add_candidate(request, name->name, name->description);
    } else if (begins_with(request->typed, name->name) && request->typed[length] == ':') {
        add_behind_name(request, name, colon + 1 + (colon[1] == ']'));
    } else if (begins_with(name->name, request->typed)) {
        add_candidate(request, arena_printf(&request->ret->arena, "%s:", name->name), name->description);
    }
}

static void add_paths(struct completion_request *request)
{
    const struct option *option = request->option;

    if (option->file == OPTION_WRITES_FOLDER || option->file == OPTION_WRITES_RESULTS ||
        (option->value_name != NULL && strcmp(option->value_name, "FOLDER") == 0)) {
        request->ret->folders = true;
    } else if (option->file != OPTION_NO_FILE && option->file != OPTION_RUNS) {
        request->ret->files = true;
        request->ret->extensions = option->extensions;
        if (option->extensions == NULL && (option->file == OPTION_READS_DATA || option->file == OPTION_WRITES_DATA))
            request->ret->extensions = DATA_EXTENSIONS;
    }
}

/* Adds the subcommands of the command that the preceding words name. */
static void add_commands(struct completion_request *request)
{
    const struct command *command = request->line->path[0];

    for (size_t i = 0; i < request->given->count; i++) {
        const struct command *found = NULL;

        for (size_t k = 0; k < command->subcommand_count; k++)
            if (strcmp(command->subcommands[k]->name, request->given->words[i]) == 0)
                found = command->subcommands[k];
        if (found == NULL)
            return;
        command = found;
    }
    add_subcommands(request, command);
}

/* Adds names of the model on this line, or of that on the enclosing line. */
static void add_model_names(struct completion_request *request)
{
    const char *path = find_model(request->line);

    path = path != NULL ? expand_home(&request->ret->arena, path) : NULL;
    if (!is_file(path))
        path = request->outer_model;
    if (is_file(path))
        model_names_each(path, request->option->naming, add_model_name, request);
}

static void add_value_candidates(struct completion_request *request)
{
    const struct option *option = request->option;
    bool hints_follow_names = option->naming != OPTION_NO_NAMES && option->value_name != NULL &&
                              strchr(option->value_name, ':') != NULL && option->value_name[0] != '[';

    if (option->refusal != NULL)
        return;
    add_word_candidates(request, option->choices);
    if (!hints_follow_names)
        add_word_candidates(request, option->hints);
    if (option->naming == OPTION_COMMAND_NAMES)
        add_commands(request);
    else if (option->naming != OPTION_NO_NAMES)
        add_model_names(request);
    add_paths(request);
}

/* ---- Selection of candidates ---- */

static void find_candidates(const struct command *root, struct words words, size_t index, const char *outer_model,
                            struct candidates *ret);

/* The words after --check are a nested command line. If it runs this program, its model may exist only during checks;
 * the names of the original model are used then. */
static void find_in_command(const struct command *root, struct words words, size_t index, size_t first,
                            const struct completion_request *outer)
{
    const char *slash = strrchr(words.items[first], '/');
    const char *model = find_model(outer->line);

    outer->ret->command = first;
    if (first == index || strcmp(slash != NULL ? slash + 1 : words.items[first], root->name) != 0)
        return;
    outer->ret->command = SIZE_MAX;
    find_candidates(root, (struct words){words.items + first, words.count - first}, index - first,
                    model != NULL ? expand_home(&outer->ret->arena, model) : NULL, outer->ret);
}

static void find_option(struct completion_request *request, const struct parse *before)
{
    const char *equals = strchr(request->typed, '=');
    struct option_match match;
    struct error ignored;

    if (equals == NULL) {
        add_options(request);
    } else if (word_classify(before, request->typed, &match, &ignored) == WORD_OPTION && match.value == equals + 1 &&
               option_takes_values(option_of(&match))) {
        request->attached =
            arena_text(&request->ret->arena, (struct text){request->typed, (size_t)(equals + 1 - request->typed)});
        request->typed = equals + 1;
        request->option = option_of(&match);
        request->given = &match.state->options[match.index];
        add_value_candidates(request);
    }
}

static void find_at(struct completion_request *request, const struct parse *before, const struct parse_place *place)
{
    const char *word = request->typed;

    if (word[0] == '-' && !place->no_option) {
        find_option(request, before);
    } else if (place->option.state != NULL) {
        request->option = option_of(&place->option);
        request->given = &place->option.state->options[place->option.index];
        add_value_candidates(request);
    } else {
        add_subcommands(request, parse_command(before));
    }
    if (word[0] == '\0' && !place->no_option && request->ret->count == 0 && !request->ret->files &&
        !request->ret->folders)
        add_options(request);
}

static void find_candidates(const struct command *root, struct words words, size_t index, const char *outer_model,
                            struct candidates *ret)
{
    const char **others SCOPED_FREE = memory_alloc_zero(words.count + 1, sizeof(*others));
    struct parse before SCOPED(parse_release) = {0}, line SCOPED(parse_release) = {0};
    struct parse_place place, ignored;
    size_t count = 0;
    struct completion_request request = {
        .ret = ret, .line = &line, .outer_model = outer_model, .attached = "", .typed = words.items[index]};

    /* A value occupies its position; a word that looks like an option may be a value. */
    for (size_t i = 1; i < words.count; i++)
        if (i != index || words.items[i][0] != '-')
            others[count++] = words.items[i];
    parse_init(&before, root);
    parse_init(&line, root);
    parse_words_so_far(&before, index - 1, words.items + 1, &place);
    parse_words_so_far(&line, count, others, &ignored);
    if (place.command != SIZE_MAX)
        find_in_command(root, words, index, place.command + 1, &request);
    else
        find_at(&request, &before, &place);
}

void candidates_find(const struct command *root, struct words words, size_t index, struct candidates *ret)
{
    *ret = (struct candidates){.command = SIZE_MAX};
    arena_init(&ret->arena);
    if (index > 0 && index < words.count)
        find_candidates(root, words, index, NULL, ret);
}

void candidates_release(struct candidates *candidates)
{
    free(candidates->items);
    arena_release(&candidates->arena);
    *candidates = (struct candidates){0};
}
