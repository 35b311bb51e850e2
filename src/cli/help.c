/* cli/help.c: `polygraphy help`: what a command does and takes, told without running it. */
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/options/groups.h"
#include "cli/parse/help.h"
#include "cli/parse/lookup.h"
#include "cli/parse/parser.h"
#include "cli/terminal/log_sink.h"

struct help_values {
    struct words command;
};

static const struct option options[] = {
    {
        .names = {"command"},
        .kind = OPTION_ANY,
        OPTION_FIELD(struct help_values, command),
        .help = "the command that is explained, with all its options: 'run', 'debug reduce'; without it all commands "
                "are listed",
    },
};

static const struct option_group help_command_options = {
    .title = "Help",
    .options = options,
    .count = ARRAY_LEN(options),
};

/* Goes down to the command that the words name. */
static int find_command(struct parse *parse, struct words words, struct error *err)
{
    for (size_t i = 0; i < words.count; i++) {
        int rc = 0;

        if (parse_command(parse)->subcommand_count == 0)
            rc = error_set(err, ERR_INVALID, "there is no '%s' in `%s`, which has no commands of its own",
                           words.items[i], parse_command_name(parse));
        else
            rc = parse_enter_subcommand(parse, words.items[i], err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int help_run(const struct command_context *context, struct error *err)
{
    const struct help_values *values = PARSE_VALUES(context->parse, struct help_values);
    enum help_extent extent = values->command.count > 0 ? HELP_ALL : HELP_PAGE;
    struct string_builder text;
    struct parse parse;
    int rc;

    string_init(&text);
    parse_init(&parse, context->parse->path[0]);
    rc = find_command(&parse, values->command, err);
    if (rc < 0)
        goto done;
    help_render(&parse, extent, help_width(), &text);
    log_sink_print(context->sink, (struct text){text.data, text.size});
done:
    parse_release(&parse);
    string_release(&text);
    return rc;
}

static const struct option_group *const groups[] = {&logging_options, &help_command_options};

const struct command cmd_help = {
    .name = "help",
    .summary = "explain a command",
    .description = "Shows what `--help-all` of a command shows.",
    .example = "polygraphy help debug reduce",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .run = help_run,
};
