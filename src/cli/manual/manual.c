/* cli/manual/manual.c: contents and order of a manual page. */
#include "cli/manual/manual.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/manual/facts.h"
#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "cli/parse/lookup.h"

#define LONGEST_CHOICES 40 /* bytes */

/* ---- Texts ---- */

static bool is_option_start(const char *at, const char *end)
{
    const char *letter = at + (end - at > 1 && at[1] == '-' ? 2 : 1);

    return *at == '-' && letter < end && ((*letter | 32) >= 'a' && (*letter | 32) <= 'z');
}

static bool is_option_char(char c)
{
    return c == '-' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

bool manual_next_span(struct text *text, struct text *ret, bool *ret_literal)
{
    const char *at = text->data, *end = at + text->size, *start = at;

    if (at == end)
        return false;
    *ret_literal = true;
    if (*at == '`') {
        const char *close = memchr(at + 1, '`', (size_t)(end - at - 1));

        close = close != NULL ? close : end;
        *ret = (struct text){at + 1, (size_t)(close - at - 1)};
        at = close + (close < end);
    } else if (is_option_start(at, end)) {
        while (at < end && is_option_char(*at))
            at++;
        while (at[-1] == '-')
            at--;
        *ret = (struct text){start, (size_t)(at - start)};
    } else {
        *ret_literal = false;
        do
            at++;
        while (at < end && *at != '`' && !(strchr(" ('\"/", at[-1]) != NULL && is_option_start(at, end)));
        *ret = (struct text){start, (size_t)(at - start)};
    }
    *text = (struct text){at, (size_t)(end - at)};
    return true;
}

bool manual_shows_choices(const struct option *option)
{
    size_t length = 0;

    if (option->value_name != NULL || option->choices == NULL)
        return false;
    for (size_t i = 0; option->choices[i] != NULL; i++)
        length += strlen(option->choices[i]) + 3;
    return length <= LONGEST_CHOICES;
}

static void add_paragraphs(const struct manual_format *format, const char *text, struct string_builder *ret)
{
    while (text != NULL && *text != '\0') {
        const char *end = strstr(text, "\n\n");
        size_t length = end != NULL ? (size_t)(end - text) : strlen(text);
        char *paragraph SCOPED_FREE = memory_copy(text, length);

        format->paragraph(ret, paragraph);
        text += length + (end != NULL ? 2 : 0);
    }
}

/* ---- Names ---- */

static char *with_dashes(struct parse *parse, const char *words)
{
    char *ret = arena_strdup(parse_arena(parse), words);

    for (char *at = ret; (at = strchr(at, ' ')) != NULL;)
        *at = '-';
    return ret;
}

const char *manual_page_name(struct parse *parse)
{
    return with_dashes(parse, parse_command_name(parse));
}

/* "polygraphy-debug" of "polygraphy debug reduce", with `name` behind it if it is not NULL. */
static const char *page_beside(struct parse *parse, size_t depth, const char *name)
{
    const char *words = parse->path[0]->name;

    for (size_t i = 1; i < depth; i++)
        words = arena_printf(parse_arena(parse), "%s %s", words, parse->path[i]->name);
    if (name != NULL)
        words = arena_printf(parse_arena(parse), "%s %s", words, name);
    return with_dashes(parse, words);
}

/* ---- Sections ---- */

static void add_synopsis(struct parse *parse, const struct manual_format *format, struct string_builder *ret)
{
    const struct command *command = parse_command(parse);
    struct {
        const struct option **items;
        size_t count, capacity;
    } shown = {0};

    for (int positional = 0; positional < 2; positional++)
        for (size_t i = 0; i < command->group_count; i++)
            ARRAY_EACH (const struct option, option, command->groups[i].group->options, command->groups[i].group->count)
                if (option_is_positional(option) == positional && (positional || option->required))
                    *VECTOR_APPEND(&shown) = option;
    format->section(ret, "SYNOPSIS");
    format->synopsis(ret, parse_command_name(parse), shown.items, shown.count, command->subcommand_count > 0);
    free(shown.items);
}

static void add_description(struct parse *parse, const struct manual_format *format, struct string_builder *ret)
{
    const struct command *command = parse_command(parse);

    format->section(ret, "DESCRIPTION");
    add_paragraphs(format, command->description, ret);
    if (command->subcommand_count == 0)
        return;
    format->paragraph(ret, "Commands:");
    format->begin_list(ret);
    for (size_t i = 0; i < command->subcommand_count; i++) {
        const struct command *subcommand = command->subcommands[i];

        format->command(ret, page_beside(parse, parse->depth, subcommand->name), subcommand->name, subcommand->summary);
    }
    format->end_list(ret);
}

static void add_option_entry(const struct manual_format *format, const struct option *option,
                             struct string_builder *ret)
{
    SCOPED_STRING(text);

    string_add(&text, option->help);
    if (option->choices != NULL && !manual_shows_choices(option))
        for (size_t i = 0; option->choices[i] != NULL; i++)
            string_add_format(&text, "%s`%s`",
                              i == 0                   ? ". One of "
                              : option->choices[i + 1] ? ", "
                                                       : " and ",
                              option->choices[i]);
    if (option->fallback != NULL && option->fallback[0] != '\0')
        string_add_format(&text, " (default: `%s`)", option->fallback);
    format->option(ret, option, text.data);
}

static bool has_options(const struct option_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->options[i].refusal == NULL)
            return true;
    return false;
}

/* --help and logging, which all commands have, are last. */
static bool is_common(const struct parse *parse, size_t visible)
{
    const struct option_group *group = parse->visible[visible].state->group;

    return visible == 0 || (visible == 1 && parse->depth == 1) || group == &logging_options;
}

static void add_groups(const struct parse *parse, const struct manual_format *format, bool common,
                       struct string_builder *ret)
{
    const char *title = NULL;

    for (size_t i = 0; i < parse->visible_count; i++) {
        const struct option_group *group = parse->visible[i].state->group;

        if (is_common(parse, i) != common || !has_options(group))
            continue;
        if (title == NULL || strcmp(title, group->title) != 0)
            format->subsection(ret, i == 0 ? "Help" : group->title);
        if (group->description != NULL)
            format->paragraph(ret, group->description);
        format->begin_list(ret);
        for (size_t k = 0; k < group->count; k++)
            if (group->options[k].refusal == NULL)
                add_option_entry(format, &group->options[k], ret);
        format->end_list(ret);
        title = group->title;
    }
}

/* Options that are refused with the same sentence are grouped. */
static void add_refused(const struct parse *parse, const struct manual_format *format, struct string_builder *ret)
{
    const char *refusal = NULL;
    SCOPED_STRING(names);

    for (size_t i = 0; i < parse->visible_count; i++) {
        const struct option_group *group = parse->visible[i].state->group;

        ARRAY_EACH (const struct option, option, group->options, group->count) {
            if (option->refusal == NULL)
                continue;
            if (refusal == NULL) {
                format->subsection(ret, "Not supported");
                format->paragraph(ret, "These options of Polygraphy are refused, with the reason and the alternative:");
                format->begin_list(ret);
            } else if (strcmp(refusal, option->refusal) != 0) {
                format->entry(ret, MANUAL_OPTIONS, names.data, refusal);
                string_clear(&names);
            }
            refusal = option->refusal;
            for (size_t n = 0; n < ARRAY_LEN(option->names) && option->names[n] != NULL; n++)
                string_add_format(&names, "%s%s", names.size > 0 ? ", " : "", option->names[n]);
        }
    }
    if (refusal != NULL) {
        format->entry(ret, MANUAL_OPTIONS, names.data, refusal);
        format->end_list(ret);
    }
}

/* ---- Facts other than options ---- */

static bool names_command(struct parse *parse, const struct manual_fact *fact)
{
    const char *name = parse_command_name(parse), *blank = strchr(name, ' ');

    return fact->command != NULL && blank != NULL && strcmp(blank + 1, fact->command) == 0;
}

/* The program's page contains all facts; a command's page the facts of that command, and general exit statuses that it
 * does not redefine. */
static bool is_wanted(struct parse *parse, const struct manual_facts *facts, const struct manual_fact *fact)
{
    struct option_match ignored;

    if (parse->depth == 1)
        return true;
    if (fact->command != NULL)
        return names_command(parse, fact);
    if (fact->option != NULL)
        return option_find(parse, text_of(fact->option), &ignored);
    for (size_t i = 0; i < facts->count; i++)
        if (names_command(parse, &facts->items[i]) && strcmp(facts->items[i].name, fact->name) == 0)
            return false;
    return facts == &manual_exit_statuses;
}

/* Adds a section with the facts for the page; returns false without facts. */
static bool add_facts(struct parse *parse, const struct manual_format *format, const struct manual_facts *facts,
                      struct string_builder *ret)
{
    bool begun = false;

    VECTOR_EACH (const struct manual_fact, fact, *facts) {
        const char *text = fact->text;

        if (!is_wanted(parse, facts, fact))
            continue;
        if (!begun) {
            format->section(ret, facts->section);
            format->begin_list(ret);
        }
        begun = true;
        if (fact->command != NULL && parse->depth == 1)
            text = arena_printf(parse_arena(parse), "`%s`: %s", fact->command, text);
        format->entry(ret, facts->term, fact->name, text);
    }
    if (begun)
        format->end_list(ret);
    return begun;
}

static void add_all_facts(struct parse *parse, const struct manual_format *format, struct string_builder *ret)
{
    if (!add_facts(parse, format, &manual_variables, ret))
        format->section(ret, manual_variables.section);
    if (parse->depth > 1)
        format->paragraph(ret, arena_printf(parse_arena(parse), "Variables that concern all commands are in %s(1).",
                                            parse->path[0]->name));
    add_facts(parse, format, &manual_files, ret);
    add_facts(parse, format, &manual_exit_statuses, ret);
}

/* ---- Examples and other pages ---- */

/* Comments become sentences between the command lines: "# builds that fail" becomes "Builds that fail:". */
static void add_comment(const struct manual_format *format, struct text comment, struct string_builder *ret)
{
    SCOPED_STRING(text);

    string_add_text(&text, comment);
    if (text.data[0] >= 'a' && text.data[0] <= 'z')
        text.data[0] = (char)(text.data[0] - 'a' + 'A');
    if (strchr("?.:", text.data[text.size - 1]) == NULL)
        string_add_char(&text, ':');
    format->paragraph(ret, text.data);
}

static void add_examples(const struct manual_format *format, const char *line, struct string_builder *ret)
{
    const char *begin = NULL; /* the command lines since the last comment */

    format->section(ret, "EXAMPLES");
    for (; *line != '\0'; line += line[strcspn(line, "\n")] == '\n') {
        size_t length = strcspn(line, "\n");
        bool is_command = length > 0 && line[0] != '#';

        if (begin != NULL && !is_command)
            format->example(ret, (struct text){begin, (size_t)(line - begin)});
        if (length > 2 && line[0] == '#')
            add_comment(format, (struct text){line + 2, length - 2}, ret);
        begin = !is_command ? NULL : begin != NULL ? begin : line;
        line += length;
    }
    if (begin != NULL)
        format->example(ret, text_of(begin));
}

static int compare_pages(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The parent pages, sibling pages and subpages. */
static void add_references(struct parse *parse, const struct manual_format *format, struct string_builder *ret)
{
    const char *self = manual_page_name(parse);
    struct {
        const char **items;
        size_t count, capacity;
    } pages = {0};

    for (size_t depth = 1; depth < parse->depth; depth++)
        *VECTOR_APPEND(&pages) = page_beside(parse, depth, NULL);
    for (size_t depth = parse->depth > 1 ? parse->depth - 1 : 1; depth <= parse->depth; depth++)
        for (size_t i = 0; i < parse->path[depth - 1]->subcommand_count; i++) {
            const char *page = page_beside(parse, depth, parse->path[depth - 1]->subcommands[i]->name);

            if (strcmp(page, self) != 0)
                *VECTOR_APPEND(&pages) = page;
        }
    qsort(pages.items, pages.count, sizeof(*pages.items), compare_pages);
    format->section(ret, "SEE ALSO");
    format->references(ret, pages.items, pages.count);
    free(pages.items);
}

void manual_render(struct parse *parse, const struct manual_format *format, const char *date,
                   struct string_builder *ret)
{
    const struct command *command = parse_command(parse);
    struct manual_title title = {
        .page = manual_page_name(parse),
        .command = parse_command_name(parse),
        .summary = command->summary,
        .date = date,
    };

    format->title(ret, &title);
    add_synopsis(parse, format, ret);
    add_description(parse, format, ret);
    format->section(ret, "OPTIONS");
    add_groups(parse, format, false, ret);
    add_groups(parse, format, true, ret);
    add_refused(parse, format, ret);
    add_all_facts(parse, format, ret);
    if (command->example != NULL)
        add_examples(format, command->example, ret);
    add_references(parse, format, ret);
}
