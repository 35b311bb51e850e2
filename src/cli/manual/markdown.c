/* cli/manual/markdown.c: manuals in Markdown, for a website that Sphinx generates with MyST's parser.
 *
 * Options are Sphinx objects, so that each can be linked to and searched by name. Paths of documents become links
 * relative to the folder of the manuals, next to which `make html` puts the documents.
 */
#include <ctype.h>
#include <string.h>

#include "base/memory.h"
#include "cli/manual/format.h"
#include "cli/parse/help.h"
#include "cli/parse/parse.h"

static void add_escaped_markdown(struct string_builder *ret, struct text text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] != '\0' && strchr("\\`*_{}[]<>#|~$&^!", text.data[i]) != NULL)
            string_add_char(ret, '\\');
        string_add_char(ret, text.data[i]);
    }
}

/* Adds text without marks; "docs/memory.md" becomes a link. */
static void add_linked(struct string_builder *ret, struct text text)
{
    const struct text folder = TEXT("docs/"), extension = TEXT(".md");

    for (;;) {
        size_t before = text_find(text, folder), length = folder.size;
        const char *name;

        if (before == SIZE_MAX)
            break;
        add_escaped_markdown(ret, (struct text){text.data, before});
        name = text.data + before;
        while (before + length < text.size && (isalnum((unsigned char)name[length]) || name[length] == '-'))
            length++;
        if (text.size - before - length >= extension.size &&
            memcmp(name + length, extension.data, extension.size) == 0) {
            length += extension.size;
            string_add_format(ret, "[%.*s](../%.*s)", (int)length, name, (int)length, name);
        } else {
            string_add_bytes(ret, name, length);
        }
        text = (struct text){name + length, text.size - before - length};
    }
    add_escaped_markdown(ret, text);
}

static void add_marked_text(struct string_builder *ret, const char *text)
{
    struct text rest = text_of(text), span;
    bool literal;

    while (manual_next_span(&rest, &span, &literal)) {
        string_add(ret, literal ? "`" : "");
        if (literal)
            string_add_text(ret, span);
        else
            add_linked(ret, span);
        string_add(ret, literal ? "`" : "");
    }
    string_add_char(ret, '\n');
}

/* ---- The parts of a page ---- */

static void write_title(struct string_builder *ret, const struct manual_title *title)
{
    string_add_format(ret, "# %s\n\n", title->command);
    add_marked_text(ret, title->summary);
    string_add_format(ret, "\n```{program} %s\n```\n", title->command);
}

/* "EXIT STATUS" is how a manual writes it. */
static void write_section(struct string_builder *ret, const char *title)
{
    string_add_format(ret, "\n## %c", title[0]);
    for (title++; *title != '\0'; title++)
        string_add_char(ret, (char)tolower((unsigned char)*title));
    string_add_char(ret, '\n');
}

static void write_subsection(struct string_builder *ret, const char *title)
{
    string_add(ret, "\n### ");
    add_marked_text(ret, title);
}

static void add_value_names(struct string_builder *ret, const struct option *option)
{
    bool optional = option->kind == OPTION_MAYBE || option->kind == OPTION_ANY;
    bool several = option->kind == OPTION_MANY || option->kind == OPTION_ANY || option->kind == OPTION_REST;

    string_add(ret, optional ? " [" : " ");
    if (option_is_positional(option))
        string_add(ret, option->names[0]);
    else
        help_add_value_name(ret, option, manual_shows_choices(option));
    string_add(ret, several ? " ..." : "");
    string_add(ret, optional ? "]" : "");
}

static void write_synopsis(struct string_builder *ret, const char *command, const struct option *const *options,
                           size_t count, bool has_subcommands)
{
    string_add_format(ret, "\n```text\n%s [options]", command);
    for (size_t i = 0; i < count; i++) {
        if (!option_is_positional(options[i]))
            string_add_format(ret, " %s", options[i]->names[0]);
        add_value_names(ret, options[i]);
    }
    string_add_format(ret, "%s\n```\n", has_subcommands ? " command ..." : "");
}

static void write_paragraph(struct string_builder *ret, const char *text)
{
    string_add_char(ret, '\n');
    add_marked_text(ret, text);
}

static void write_example(struct string_builder *ret, struct text lines)
{
    string_add(ret, "\n```sh\n");
    string_add_text(ret, lines);
    if (lines.data[lines.size - 1] != '\n')
        string_add_char(ret, '\n');
    string_add(ret, "```\n");
}

static void open_list(struct string_builder *ret)
{
    string_add_char(ret, '\n');
}

static void close_list(struct string_builder *ret)
{
    string_add_char(ret, '\n');
}

static void write_option(struct string_builder *ret, const struct option *option, const char *text)
{
    string_add(ret, "```{option} ");
    if (option_is_positional(option))
        string_add(ret, option->names[0]);
    for (size_t i = 0; !option_is_positional(option) && i < ARRAY_LEN(option->names) && option->names[i]; i++)
        string_add_format(ret, "%s%s", i > 0 ? ", " : "", option->names[i]);
    if (option_is_positional(option))
        string_add(ret, option->kind == OPTION_MANY || option->kind == OPTION_ANY ? " ..." : "");
    else if (option_takes_values(option))
        add_value_names(ret, option);
    string_add(ret, "\n\n");
    add_marked_text(ret, text);
    string_add(ret, "```\n");
}

static void write_command(struct string_builder *ret, const char *page, const char *command, const char *summary)
{
    string_add_format(ret, "- [%s](%s.md): ", command, page);
    add_marked_text(ret, summary);
}

static void write_term_entry(struct string_builder *ret, enum manual_term term, const char *name, const char *text)
{
    (void)term;
    string_add(ret, "- ");
    for (size_t length; *name != '\0'; name += length + strspn(name + length, ", ")) {
        length = strcspn(name, ", ");
        string_add_format(ret, "`%.*s`%s", (int)length, name, name[length] != '\0' ? ", " : ": ");
    }
    add_marked_text(ret, text);
}

static void write_references(struct string_builder *ret, const char *const *pages, size_t count)
{
    string_add_char(ret, '\n');
    for (size_t i = 0; i < count; i++)
        string_add_format(ret, "%s[%s](%s.md)", i > 0 ? ", " : "", pages[i], pages[i]);
    string_add_char(ret, '\n');
}

const struct manual_format manual_markdown = {
    .extension = ".md",
    .title = write_title,
    .synopsis = write_synopsis,
    .section = write_section,
    .subsection = write_subsection,
    .paragraph = write_paragraph,
    .example = write_example,
    .begin_list = open_list,
    .option = write_option,
    .command = write_command,
    .entry = write_term_entry,
    .end_list = close_list,
    .references = write_references,
};
