/* cli/parse/help.c: rendering help from option tables. */
#include "cli/parse/help.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text/number.h"
#include "cli/parse/command.h"
#include "cli/parse/lookup.h"

#define DEFAULT_WIDTH 80
#define LEAST_WIDTH 40
#define MOST_WIDTH 120
#define HELP_COLUMN 28 /* where explanations begin */

size_t help_width(void)
{
    int64_t width = DEFAULT_WIDTH;
    struct winsize window;

    if (!number_parse_integer(text_of(getenv("COLUMNS")), &width)) {
        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
            width = window.ws_col;
    }
    if (width < LEAST_WIDTH)
        return LEAST_WIDTH;
    return width > MOST_WIDTH ? MOST_WIDTH : (size_t)width;
}

static void add_blanks(struct string_builder *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        string_add_char(text, ' ');
}

/* Adds one paragraph, broken at blanks where it has to be. The current line is at `column`; further lines begin at
 * `indent`. */
static void add_wrapped(struct string_builder *ret, const char *paragraph, size_t column, size_t indent, size_t width)
{
    bool line_is_empty = true;

    while (*paragraph) {
        size_t length = strcspn(paragraph, " \n");

        if (!line_is_empty && column + 1 + length > width) {
            string_add_char(ret, '\n');
            add_blanks(ret, indent);
            column = indent;
        } else if (!line_is_empty) {
            string_add_char(ret, ' ');
            column++;
        }
        string_add_bytes(ret, paragraph, length);
        column += length;
        line_is_empty = false;
        paragraph += length;
        paragraph += *paragraph != '\0';
    }
    string_add_char(ret, '\n');
}

/* Paragraphs are separated by blank lines ("\n\n"). */
static void add_paragraphs(struct string_builder *ret, const char *text, size_t width)
{
    while (text && *text) {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        char *paragraph = memory_copy(text, length);

        string_add_char(ret, '\n');
        add_wrapped(ret, paragraph, 0, 0, width);
        free(paragraph);
        text += length + (end ? 2 : 0);
    }
}

/* "PATH", "{bisect,linear}", or the name in capitals: what stands for one value. */
static void add_value_name(struct string_builder *ret, const struct option *option)
{
    if (option->value_name) {
        string_add(ret, option->value_name);
    } else if (option->choices) {
        for (size_t i = 0; option->choices[i]; i++)
            string_add_format(ret, "%s%s", i == 0 ? "{" : ",", option->choices[i]);
        string_add_char(ret, '}');
    } else {
        const char *name = option->names[0] + strspn(option->names[0], "-");

        for (; *name; name++)
            string_add_char(ret, *name == '-' ? '_' : (char)toupper((unsigned char)*name));
    }
}

static void add_values(struct string_builder *ret, const struct option *option)
{
    switch (option->kind) {
    case OPTION_FLAG:
    case OPTION_OFF:
    case OPTION_COUNT:
    case OPTION_ORDERED:
        return;
    case OPTION_ONE:
        string_add_char(ret, ' ');
        add_value_name(ret, option);
        break;
    case OPTION_MAYBE:
    case OPTION_ANY:
        string_add(ret, " [");
        add_value_name(ret, option);
        string_add(ret, option->kind == OPTION_ANY ? " ...]" : "]");
        break;
    case OPTION_MANY:
    case OPTION_REST:
        string_add_char(ret, ' ');
        add_value_name(ret, option);
        string_add(ret, " ...");
        break;
    }
}

/* "model_file", "[model_file]", "paths ..." */
static void add_positional(struct string_builder *ret, const struct option *option)
{
    bool optional = option->kind == OPTION_MAYBE;

    string_add_format(ret, "%s%s%s%s", optional ? "[" : "", option->names[0], optional ? "]" : "",
                      option->kind == OPTION_MANY ? " ..." : "");
}

static void add_option(struct string_builder *ret, const struct option *option, size_t width)
{
    size_t start = ret->size;
    size_t length;
    struct string_builder text;

    string_add(ret, "  ");
    for (size_t i = 0; i < ARRAY_LEN(option->names) && option->names[i]; i++)
        string_add_format(ret, "%s%s", i == 0 ? "" : ", ", option->names[i]);
    if (!option_is_positional(option))
        add_values(ret, option);
    length = ret->size - start;
    if (length + 2 > HELP_COLUMN) {
        string_add_char(ret, '\n');
        length = 0;
    }
    add_blanks(ret, HELP_COLUMN - length);

    string_init(&text);
    string_add(&text, option->help);
    if (option->fallback && option->fallback[0])
        string_add_format(&text, " (default: %s)", option->fallback);
    add_wrapped(ret, text.data, HELP_COLUMN, HELP_COLUMN, width);
    string_release(&text);
}

static bool is_shown(const struct option_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (!group->options[i].refusal)
            return true;
    return false;
}

static void add_group(struct string_builder *ret, const struct option_group *group, const char *title_before,
                      size_t width)
{
    if (!title_before || strcmp(title_before, group->title) != 0)
        string_add_format(ret, "\n%s:\n", group->title);
    if (group->description) {
        string_add(ret, "  ");
        add_wrapped(ret, group->description, 2, 2, width);
    }
    for (size_t i = 0; i < group->count; i++)
        if (!group->options[i].refusal)
            add_option(ret, &group->options[i], width);
}

static void add_subcommands(struct string_builder *ret, const struct command *command, size_t width)
{
    string_add(ret, "\nTools:\n");
    for (size_t i = 0; i < command->subcommand_count; i++) {
        size_t start = ret->size;

        string_add_format(ret, "  %s  ", command->subcommands[i]->name);
        if (ret->size - start < HELP_COLUMN / 2)
            add_blanks(ret, HELP_COLUMN / 2 - (ret->size - start));
        add_wrapped(ret, command->subcommands[i]->summary, ret->size - start, HELP_COLUMN / 2, width);
    }
}

static void add_required(struct string_builder *ret, const struct option_group *group, bool positional)
{
    for (size_t i = 0; i < group->count; i++) {
        const struct option *option = &group->options[i];

        if (option_is_positional(option) != positional || (!positional && !option->required))
            continue;
        string_add_char(ret, ' ');
        if (positional) {
            add_positional(ret, option);
        } else {
            string_add(ret, option->names[0]);
            add_values(ret, option);
        }
    }
}

/* Lines stay as they are: they are there to be copied. */
static void add_example(struct string_builder *ret, const char *line)
{
    string_add(ret, "\nExample:\n");
    while (*line) {
        size_t length = strcspn(line, "\n");

        add_blanks(ret, 2);
        string_add_bytes(ret, line, length);
        string_add_char(ret, '\n');
        line += length + (line[length] == '\n');
    }
}

void help_usage(struct parse *parse, struct string_builder *ret)
{
    const struct command *command = parse_command(parse);

    string_add_format(ret, "usage: %s [options]", parse_command_name(parse));
    for (int positional = 0; positional < 2; positional++)
        for (size_t i = 0; i < command->group_count; i++)
            add_required(ret, command->groups[i], positional);
    for (size_t i = 0; i < command->subcommand_count; i++)
        string_add_format(ret, "%s%s", i == 0 ? " {" : ",", command->subcommands[i]->name);
    string_add(ret, command->subcommand_count > 0 ? "} ...\n" : "\n");
}

void help_render(struct parse *parse, size_t width, struct string_builder *ret)
{
    const struct command *command = parse_command(parse);
    const char *title = NULL;

    help_usage(parse, ret);
    add_paragraphs(ret, command->description, width);
    if (command->subcommands)
        add_subcommands(ret, command, width);
    for (size_t i = 0; i < parse->visible_count; i++) {
        const struct option_group *group = parse->groups[parse->visible[i]]->group;

        if (!is_shown(group))
            continue;
        add_group(ret, group, title, width);
        title = group->title;
    }
    if (command->example)
        add_example(ret, command->example);
}
