/* cli/parse/help.c: rendering help from option tables. */
#include "cli/parse/help.h"

#include <assert.h>
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
#define LONG_SENTENCE 208 /* bytes: four lines */
#define HELP_COLUMN 28    /* column of explanations */

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

static void add_indentation(struct string_builder *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        string_add_char(text, ' ');
}

/* Adds one paragraph, wrapped at blanks. The current line is at `column`; further lines begin at `indent`. */
static void add_wrapped(struct string_builder *ret, const char *paragraph, size_t column, size_t indent, size_t width)
{
    bool line_is_empty = true;

    while (*paragraph) {
        size_t length = strcspn(paragraph, " \n");

        if (!line_is_empty && column + 1 + length > width) {
            string_add_char(ret, '\n');
            add_indentation(ret, indent);
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

/* Length of the first `count` paragraphs, which are separated by blank lines ("\n\n"). */
static void add_wrapped_paragraphs(struct string_builder *ret, const char *text, size_t count, size_t width)
{
    for (size_t i = 0; text && *text && i < count; i++) {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        char *paragraph SCOPED_FREE = memory_copy(text, length);

        string_add_char(ret, '\n');
        add_wrapped(ret, paragraph, 0, 0, width);
        text += length + (end ? 2 : 0);
    }
}

void help_add_value_name(struct string_builder *ret, const struct option *option, bool with_choices)
{
    if (option->value_name) {
        string_add(ret, option->value_name);
    } else if (option->choices && with_choices) {
        for (size_t i = 0; option->choices[i]; i++)
            string_add_format(ret, "%s%s", i == 0 ? "{" : ",", option->choices[i]);
        string_add_char(ret, '}');
    } else {
        const char *name = option->names[0] + strspn(option->names[0], "-");

        for (; *name; name++)
            string_add_char(ret, *name == '-' ? '_' : (char)toupper((unsigned char)*name));
    }
}

static void add_value_placeholders(struct string_builder *ret, const struct option *option)
{
    switch (option->kind) {
    case OPTION_FLAG:
    case OPTION_OFF:
    case OPTION_COUNT:
    case OPTION_ORDERED:
        return;
    case OPTION_ONE:
        string_add_char(ret, ' ');
        help_add_value_name(ret, option, true);
        break;
    case OPTION_MAYBE:
    case OPTION_ANY:
        string_add(ret, " [");
        help_add_value_name(ret, option, true);
        string_add(ret, option->kind == OPTION_ANY ? " ...]" : "]");
        break;
    case OPTION_MANY:
    case OPTION_REST:
        string_add_char(ret, ' ');
        help_add_value_name(ret, option, true);
        string_add(ret, " ...");
        break;
    }
}

/* "model_file", "[model_file]", "paths ...", "[paths ...]" */
static void add_positional_word(struct string_builder *ret, const struct option *option)
{
    bool optional = option->kind == OPTION_MAYBE || option->kind == OPTION_ANY;
    bool several = option->kind == OPTION_MANY || option->kind == OPTION_ANY;

    string_add_format(ret, "%s%s%s%s", optional ? "[" : "", option->names[0], several ? " ..." : "",
                      optional ? "]" : "");
}

size_t help_summary_length(const char *help)
{
    const char *end = strstr(help, ". ");
    size_t length = end != NULL ? (size_t)(end - help) : strlen(help);
    size_t clause = 0;

    if (length <= LONG_SENTENCE)
        return length;
    while (clause < length && !(strchr(":;", help[clause]) != NULL && help[clause + 1] == ' '))
        clause++;
    return clause;
}

/* Appends all names, or in short help the first short one and the first long one. */
static void add_option_names(struct string_builder *ret, const struct option *option, enum help_extent extent)
{
    bool has_long = false;

    for (size_t i = 0; i < ARRAY_LEN(option->names) && option->names[i]; i++) {
        bool is_long = strncmp(option->names[i], "--", 2) == 0;

        if (extent == HELP_ALL || !has_long)
            string_add_format(ret, "%s%s", i == 0 ? "" : ", ", option->names[i]);
        has_long |= is_long;
    }
}

/* One name to a line where all of them do not fit into one. */
static void add_option_heading(struct string_builder *ret, const char *heading, size_t width)
{
    bool fits = strlen("  ") + strlen(heading) <= width;

    string_add(ret, "  ");
    for (const char *comma; !fits && (comma = strstr(heading, ", -")) != NULL; heading = comma + 2) {
        string_add_bytes(ret, heading, (size_t)(comma + 1 - heading));
        string_add(ret, "\n  ");
    }
    string_add(ret, heading);
}

static void add_option_help(struct string_builder *ret, const struct option *option, enum help_extent extent,
                            size_t width)
{
    size_t start = ret->size;
    size_t length;
    SCOPED_STRING(heading);
    SCOPED_STRING(text);

    add_option_names(&heading, option, extent);
    if (!option_is_positional(option))
        add_value_placeholders(&heading, option);
    add_option_heading(ret, heading.data, width);
    length = ret->size - start;
    if (length + 2 > HELP_COLUMN) {
        string_add_char(ret, '\n');
        length = 0;
    }
    add_indentation(ret, HELP_COLUMN - length);

    string_add_bytes(&text, option->help,
                     extent == HELP_ALL ? strlen(option->help) : help_summary_length(option->help));
    if (option->fallback && option->fallback[0])
        string_add_format(&text, " (default: %s)", option->fallback);
    add_wrapped(ret, text.data, HELP_COLUMN, HELP_COLUMN, width);
}

static bool has_shown_options(const struct option_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (!group->options[i].refusal)
            return true;
    return false;
}

static void add_group_help(struct string_builder *ret, const struct option_group *group, const char *title_before,
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
            add_option_help(ret, &group->options[i], HELP_ALL, width);
}

static void add_tool_list(struct string_builder *ret, const struct command *command, size_t width)
{
    string_add(ret, "\nTools:\n");
    for (size_t i = 0; i < command->subcommand_count; i++) {
        size_t start = ret->size;

        string_add_format(ret, "  %s  ", command->subcommands[i]->name);
        if (ret->size - start < HELP_COLUMN / 2)
            add_indentation(ret, HELP_COLUMN / 2 - (ret->size - start));
        add_wrapped(ret, command->subcommands[i]->summary, ret->size - start, HELP_COLUMN / 2, width);
    }
}

static void add_required_words(struct string_builder *ret, const struct option_group *group, bool positional)
{
    ARRAY_EACH (const struct option, option, group->options, group->count) {
        if (option_is_positional(option) != positional || (!positional && !option->required))
            continue;
        string_add_char(ret, ' ');
        if (positional) {
            add_positional_word(ret, option);
        } else {
            string_add(ret, option->names[0]);
            add_value_placeholders(ret, option);
        }
    }
}

/* Examples are not wrapped, so that they can be copied. */
static void add_example_lines(struct string_builder *ret, const char *line)
{
    string_add(ret, "\nExample:\n");
    while (*line) {
        size_t length = strcspn(line, "\n");

        add_indentation(ret, 2);
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
            add_required_words(ret, command->groups[i].group, positional);
    for (size_t i = 0; i < command->subcommand_count; i++)
        string_add_format(ret, "%s%s", i == 0 ? " {" : ",", command->subcommands[i]->name);
    string_add(ret, command->subcommand_count > 0 ? "} ...\n" : "\n");
}

static const struct option_group *visible_group_at(const struct parse *parse, size_t i)
{
    return parse->visible[i].state->group;
}

static void add_groups_help(struct parse *parse, size_t width, struct string_builder *ret)
{
    const char *title = NULL;

    for (size_t i = 0; i < parse->visible_count; i++) {
        const struct option_group *group = visible_group_at(parse, i);

        if (!has_shown_options(group))
            continue;
        add_group_help(ret, group, title, width);
        title = group->title;
    }
}

static size_t count_options(const struct parse *parse)
{
    size_t ret = 0;

    for (size_t i = 0; i < parse->visible_count; i++)
        for (size_t k = 0; k < visible_group_at(parse, i)->count; k++)
            ret += visible_group_at(parse, i)->options[k].refusal == NULL;
    return ret;
}

/* Appends the main options of all groups in one list. Returns the number of the other options. */
static size_t add_essential_options(struct parse *parse, size_t width, struct string_builder *ret)
{
    const struct command *command = parse_command(parse);
    size_t shown = 0;

    string_add(ret, "\nOptions:\n");
    for (size_t i = 0; i < command->group_count; i++) {
        const struct option_group *group = command->groups[i].group;

        for (size_t k = 0; k < group->count; k++) {
            if (!option_is_positional(&group->options[k]))
                continue;
            add_option_help(ret, &group->options[k], HELP_PAGE, width);
            shown++;
        }
    }
    for (const char *name = command->essential; *name != '\0'; name += strspn(name, " ")) {
        size_t length = strcspn(name, " ");
        struct option_match match;
        bool found = option_find(parse, (struct text){name, length}, &match);

        assert(found);
        add_option_help(ret, option_of(&match), HELP_PAGE, width);
        shown++;
        name += length;
    }
    return count_options(parse) - shown;
}

enum help_extent help_extent_wanted(const struct parse *parse)
{
    const char *given = parse_given(parse, HELP_ALL_NAME);

    return given != NULL && strcmp(given, HELP_ALL_NAME) == 0 ? HELP_ALL : HELP_PAGE;
}

void help_render(struct parse *parse, enum help_extent extent, size_t width, struct string_builder *ret)
{
    const struct command *command = parse_command(parse);
    bool all = extent == HELP_ALL || command->essential == NULL;
    size_t others = 0;

    help_usage(parse, ret);
    add_wrapped_paragraphs(ret, command->description, all ? SIZE_MAX : 1, width);
    if (command->subcommands)
        add_tool_list(ret, command, width);
    if (all)
        add_groups_help(parse, width, ret);
    else
        others = add_essential_options(parse, width, ret);
    if (command->example)
        add_example_lines(ret, command->example);
    if (others > 0)
        string_add_format(ret, "\n%zu more options: %s " HELP_ALL_NAME "\n", others, parse_command_name(parse));
}
