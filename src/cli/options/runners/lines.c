/* cli/options/runners/lines.c: see lines.h. */
#include "cli/options/runners/lines.h"

#include <string.h>

#include "backend/command/line.h"
#include "cli/options/groups.h"

static size_t runner_name_length(const char *word)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    size_t length = strspn(word, others);

    return word[0] != '\0' && strchr(letters, word[0]) != NULL && word[length] == '=' ? length : 0;
}

int convert_runner_lines(struct parse *parse, const char *spelling, struct words words, void *field, struct error *err)
{
    struct runner_line *items = arena_alloc_zero(parse_arena(parse), words.count, sizeof(*items));
    enum command_format formats[COMMAND_FILES];

    for (size_t i = 0; i < words.count; i++) {
        size_t length = runner_name_length(words.items[i]);
        struct text name = {words.items[i], length};

        items[i].line = words.items[i] + (length > 0 ? length + 1 : 0);
        if (length > 0)
            items[i].name = arena_text(parse_arena(parse), name);
        if (items[i].line[strspn(items[i].line, " \t\r\n")] == '\0')
            return error_set(err, ERR_INVALID, "%s needs a command, as in %s './run.sh {model} {inputs} {outputs}'",
                             spelling, spelling);
        if (command_line_formats(items[i].line, formats, err) < 0)
            return error_context(err, "%s", spelling);
    }
    *(struct runner_lines *)field = (struct runner_lines){items, words.count};
    return 0;
}

static bool is_runner_called(const struct runner_line *line, const char *name)
{
    return line->name == name || (line->name != NULL && name != NULL && strcmp(line->name, name) == 0);
}

/* The last line with this name, as with other options, or NULL. */
static const char *find_runner_line(const struct runner_lines *lines, const char *name)
{
    const char *ret = NULL;

    for (size_t i = 0; i < lines->count; i++)
        if (is_runner_called(&lines->items[i], name))
            ret = lines->items[i].line;
    return ret;
}

static int check_runner_names(const struct runner_values *values, struct error *err)
{
    const struct runner_lines *commands = &values->commands, *builds = &values->builds;

    for (size_t i = 0; i < commands->count; i++)
        for (size_t k = 0; k < i; k++)
            if (commands->items[i].name != NULL && is_runner_called(&commands->items[k], commands->items[i].name))
                return error_set(err, ERR_INVALID, "--runner: the name '%s' is given twice; use different names",
                                 commands->items[i].name);
    for (size_t i = 0; i < builds->count; i++)
        if (command_line_stays(builds->items[i].line))
            return error_set(err, ERR_INVALID,
                             "--runner-build: a command that builds does not stay: {requests} are those of --runner");
    if (builds->count > 0 && commands->count == 0)
        return error_set(err, ERR_INVALID,
                         "--runner-build has no effect without --runner: add a --runner that reads {engine}");
    for (size_t i = 0; i < builds->count; i++)
        if (builds->items[i].name != NULL && find_runner_line(commands, builds->items[i].name) == NULL)
            return error_set(err, ERR_INVALID, "--runner-build: no --runner has the name '%s'", builds->items[i].name);
    return 0;
}

int finish_runner_lines(struct parse *parse, void *given, struct error *err)
{
    struct runner_values *values = given;
    const char **builds = arena_alloc_zero(parse_arena(parse), values->commands.count + 1, sizeof(*builds));
    int rc = check_runner_names(values, err);

    if (rc < 0)
        return rc;
    if (values->timeout < 0)
        return error_set(err, ERR_INVALID, "--runner-timeout: %g is less than 0", values->timeout);
    for (size_t i = 0; i < values->commands.count; i++) {
        const struct runner_line *command = &values->commands.items[i];

        builds[i] = find_runner_line(&values->builds, command->name);
        if (builds[i] == NULL)
            builds[i] = find_runner_line(&values->builds, NULL);
        if (builds[i] != NULL && command_line_stays(command->line))
            return error_set(err, ERR_INVALID,
                             "--runner-build: '%s' is asked to build the model by one of its {requests}; leave "
                             "--runner-build out",
                             command->line);
        if (builds[i] == NULL && command_line_names(command->line, COMMAND_ENGINE))
            return error_set(err, ERR_INVALID,
                             "--runner: '%s' reads {engine}, but no command builds it: add --runner-build 'COMMAND "
                             "{model} {engine}'",
                             command->line);
    }
    values->build_commands = builds;
    return 0;
}
