/* cli/help.c: `polygraphy help`: shows the help of a command, and writes manuals. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/system.h"
#include "base/text/number.h"
#include "cli/commands.h"
#include "cli/manual/manual.h"
#include "cli/options/groups.h"
#include "cli/parse/help.h"
#include "cli/parse/lookup.h"
#include "cli/parse/parser.h"
#include "cli/terminal/log_sink.h"

struct help_settings {
    struct common_settings common;

    /* its own */
    struct words command;
    const char *folder;
    int format;
};

static const char *const format_names[] = {"mdoc", "markdown", NULL};
static const struct manual_format *const formats[] = {&manual_mdoc, &manual_markdown};

#define ROW(member, ...) OPTION_ROW(struct help_settings, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(command, .names = {"command"}, .kind = OPTION_ANY, .naming = OPTION_COMMAND_NAMES,
        .help = "command to explain with all its options: `run`, `debug reduce` (default: list all commands)"),
    ROW(folder, .names = {"--write-manuals"}, .kind = OPTION_ONE, .value_name = "FOLDER", .file = OPTION_WRITES_FOLDER,
        .help = "write the manuals of this command and its subcommands to this folder, for `man`: polygraphy.1, "
                "polygraphy-debug-reduce.1. Their date is that of the release, or SOURCE_DATE_EPOCH"),
    ROW(format, .names = {"--manual-format"}, .kind = OPTION_ONE, .type = OPTION_CHOICE, .choices = format_names,
        .fallback = "mdoc",
        .help = "with --write-manuals: pages for `man`, or Markdown for a website that Sphinx generates with MyST's "
                "parser"),
};

static const struct option_group help_command_options = {
    .title = "Help",
    OPTION_ROWS(options),
};

/* Makes the command that the words name the innermost one. */
static int enter_command(struct parse *parse, const struct command *root, struct words words, struct error *err)
{
    parse_init(parse, root);
    for (size_t i = 0; i < words.count; i++) {
        int rc = 0;

        if (parse_command(parse)->subcommand_count == 0)
            rc = error_set(err, ERR_INVALID, "'%s' is not a subcommand of `%s`, which has none", words.items[i],
                           parse_command_name(parse));
        else
            rc = parse_enter_subcommand(parse, words.items[i], err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* "November 23, 2026". Reproducible builds specify the date with SOURCE_DATE_EPOCH. */
static int manual_date(char *ret, size_t size, struct error *err)
{
    const char *given = getenv("SOURCE_DATE_EPOCH");
    int64_t seconds = POLYGRAPHY_RELEASE_TIME;
    char month[32];
    struct tm date;
    time_t moment;

    if (given != NULL && (!number_parse_integer(text_of(given), &seconds) || seconds < 0))
        return error_set(err, ERR_INVALID, "SOURCE_DATE_EPOCH is '%s', which is not a number of seconds since 1970",
                         given);
    moment = (time_t)seconds;
    if (gmtime_r(&moment, &date) == NULL || strftime(month, sizeof(month), "%B", &date) == 0)
        return error_set(err, ERR_INVALID, "SOURCE_DATE_EPOCH is '%s', which is out of range for a date", given);
    snprintf(ret, size, "%s %d, %lld", month, date.tm_mday, date.tm_year + 1900LL);
    return 0;
}

static int write_manual(struct parse *parse, const struct help_settings *values, const char *date, struct error *err)
{
    const struct manual_format *format = formats[values->format];
    SCOPED_STRING(page);
    SCOPED_STRING(name);
    char *path SCOPED_FREE = NULL;

    string_add_format(&name, "%s%s", manual_page_name(parse), format->extension);
    path = file_join(values->folder, name.data);
    manual_render(parse, format, date, &page);
    return file_write(path, page.data, page.size, FILE_INTERMEDIATE, err);
}

/* Writes the pages of the command that the words name, and of its subcommands. */
static int write_manuals(const struct command *root, struct words words, const struct help_settings *values,
                         const char *date, struct error *err)
{
    const char *longer[PARSE_MAX_DEPTH];
    const struct command *command;
    struct parse parse SCOPED(parse_release) = {0};
    int rc = enter_command(&parse, root, words, err);

    if (rc < 0)
        return rc;
    rc = write_manual(&parse, values, date, err);
    command = parse_command(&parse);
    for (size_t i = 0; i < words.count; i++)
        longer[i] = words.items[i];
    for (size_t i = 0; i < command->subcommand_count && rc == 0; i++) {
        longer[words.count] = command->subcommands[i]->name;
        rc = write_manuals(root, (struct words){longer, words.count + 1}, values, date, err);
    }
    return rc;
}

/* Prints what --help shows for the program, and --help-all for a command. */
static int show_help(const struct command *root, struct words words, struct log_sink *sink, struct error *err)
{
    SCOPED_STRING(text);
    struct parse parse;
    int rc = enter_command(&parse, root, words, err);

    if (rc == 0) {
        help_render(&parse, words.count > 0 ? HELP_ALL : HELP_PAGE, help_width(), &text);
        log_sink_print(sink, (struct text){text.data, text.size});
    }
    parse_release(&parse);
    return rc;
}

static int help_run(const struct command_context *context, const struct help_settings *values, struct error *err)
{
    const struct command *root = context->parse->path[0];
    char date[64];
    int rc;

    if (values->folder == NULL)
        return show_help(root, values->command, context->sink, err);
    rc = manual_date(date, sizeof(date), err);
    return rc < 0 ? rc : write_manuals(root, values->command, values, date, err);
}

DEFINE_COMMAND_RUN(help_run, struct help_settings)

static const struct command_group groups[] = {
    COMMAND_GROUP(struct help_settings, common.logging, logging_options),
    {&help_command_options, 0},
};

const struct command cmd_help = {
    .name = "help",
    .summary = "explain a command, or write the manuals",
    .description = "Shows the same as `--help-all` of a command, or writes it as manuals.",
    .example = "polygraphy help debug reduce\n# write a manual and read it\npolygraphy help run --write-manuals "
               "manuals\nman -l manuals/polygraphy-run.1",
    COMMAND_GROUPS(groups),
    COMMAND_RUN(help_run),
};
