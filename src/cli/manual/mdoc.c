/* cli/manual/mdoc.c: manuals in mdoc(7), the semantic language of BSD's manuals, which mandoc and groff read.
 *
 * A line that begins with a dot is a macro; anything else is text. Escapes begin with a backslash. Each sentence begins
 * a line, and no line of text is longer than 78 bytes if it can be helped: mandoc looks for both.
 */
#include <string.h>

#include "base/memory.h"
#include "base/system.h"
#include "cli/manual/format.h"
#include "cli/parse/help.h"
#include "cli/parse/parse.h"

#define WIDTH 78

/* ---- Escaping ---- */

/* Escapes for characters with a special meaning, and for hyphens and quotes, which formatters would replace by
 * typographic ones that cannot be copied to a command line. */
static const char *escape_of(char c)
{
    switch (c) {
    case '\\':
        return "\\e";
    case '-':
        return "\\-";
    case '\'':
        return "\\(aq";
    case '`':
        return "\\(ga";
    case '"':
        return "\\(dq";
    case '^':
        return "\\(ha";
    case '~':
        return "\\(ti";
    default:
        return NULL;
    }
}

static void add_escaped_roff(struct string_builder *ret, struct text text)
{
    for (size_t i = 0; i < text.size; i++) {
        const char *instead = escape_of(text.data[i]);

        if (instead != NULL)
            string_add(ret, instead);
        else
            string_add_char(ret, text.data[i]);
    }
}

/* Whether an argument of a macro would be parsed as a macro ("Op") or as punctuation. */
static bool is_special(const char *word)
{
    size_t size = strlen(word);

    if (size == 1)
        return strchr(".,:;()[]?!|", word[0]) != NULL;
    return (size == 2 || (size == 3 && word[0] == 'B')) && strchr("%ABCDEFILMNOPQRSTUVX", word[0]) != NULL &&
           word[1] >= 'a' && word[1] <= 'z';
}

static void add_argument(struct string_builder *ret, const char *word)
{
    bool has_blank = strchr(word, ' ') != NULL;

    string_add(ret, has_blank ? " \"" : " ");
    string_add(ret, is_special(word) ? "\\&" : "");
    add_escaped_roff(ret, text_of(word));
    string_add(ret, has_blank ? "\"" : "");
}

/* ---- Text ---- */

static void add_marked(struct string_builder *ret, const char *text)
{
    struct text rest = text_of(text), span;
    bool literal;

    while (manual_next_span(&rest, &span, &literal)) {
        string_add(ret, literal ? "\\fB" : "");
        add_escaped_roff(ret, span);
        string_add(ret, literal ? "\\fR" : "");
    }
}

/* Whether a sentence ends with the word before `next`. */
static bool ends_sentence(const char *word, size_t length, const char *next)
{
    return length > 1 && strchr(".?!", word[length - 1]) != NULL && !(*next >= 'a' && *next <= 'z');
}

/* Whether an escaped word is a name rather than plain English: names are not hyphenated. */
static bool is_name(const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (strchr("\\_{}[]/=0123456789", word[i]) != NULL || (i > 0 && word[i] >= 'A' && word[i] <= 'Z') ||
            (strchr(".:", word[i]) != NULL && i + 1 < length))
            return true;
    return false;
}

/* Wraps lines between words. A word with a leading dot is escaped at the beginning of a line, where it would be a
 * macro. */
static void add_filled(struct string_builder *ret, const char *text)
{
    size_t column = 0;
    bool break_line = false;

    for (text += strspn(text, " \n"); *text != '\0';) {
        size_t length = strcspn(text, " \n");
        const char *next = text + length + strspn(text + length, " \n");

        if (break_line || (column > 0 && column + 1 + length > WIDTH)) {
            string_add_char(ret, '\n');
            column = 0;
        }
        if (column > 0)
            string_add_char(ret, ' ');
        else if (*text == '.')
            string_add(ret, "\\&");
        string_add(ret, is_name(text, length) ? "\\%" : "");
        string_add_bytes(ret, text, length);
        column += length + 1;
        break_line = ends_sentence(text, length, next);
        text = next;
    }
    string_add_char(ret, '\n');
}

static void add_sentences(struct string_builder *ret, const char *text)
{
    SCOPED_STRING(marked);

    add_marked(&marked, text);
    add_filled(ret, marked.data);
}

/* ---- The parts of a page ---- */

/* The string AD makes newer groffs align text to the left: unbreakable names would leave no blanks to widen. */
static void write_title(struct string_builder *ret, const struct manual_title *title)
{
    string_add_format(ret, ".Dd %s\n.Dt ", title->date);
    for (const char *at = title->page; *at != '\0'; at++)
        string_add_char(ret, *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at);
    string_add(ret, " 1\n.Os polygraphy " POLYGRAPHY_VERSION "\n.ds AD l\n.Sh NAME\n.Nm");
    add_argument(ret, title->page);
    string_add(ret, "\n.Nd ");
    add_sentences(ret, title->summary);
}

static void write_section(struct string_builder *ret, const char *title)
{
    string_add_format(ret, ".Sh %s\n", title);
}

static void write_subsection(struct string_builder *ret, const char *title)
{
    string_add(ret, ".Ss");
    for (; *title != '\0'; title += strspn(title, " ")) {
        char *word SCOPED_FREE = memory_copy(title, strcspn(title, " "));

        add_argument(ret, word);
        title += strlen(word);
    }
    string_add_char(ret, '\n');
}

/* " Ar PATH ...", " Op Ar PATH", " Cm bisect | linear" */
static void add_value_names(struct string_builder *ret, const struct option *option)
{
    SCOPED_STRING(name);

    if (option->kind == OPTION_MAYBE || option->kind == OPTION_ANY)
        string_add(ret, " Op");
    if (manual_shows_choices(option)) {
        string_add(ret, " Cm");
        for (size_t i = 0; option->choices[i] != NULL; i++) {
            string_add(ret, i > 0 ? " |" : "");
            add_argument(ret, option->choices[i]);
        }
    } else {
        help_add_value_name(&name, option, false);
        string_add(ret, " Ar");
        add_argument(ret, name.data);
    }
    if (option->kind == OPTION_MANY || option->kind == OPTION_ANY || option->kind == OPTION_REST)
        string_add(ret, " ...");
}

static void add_option_names(struct string_builder *ret, const struct option *option, size_t count)
{
    for (size_t i = 0; i < count && option->names[i] != NULL; i++) {
        string_add(ret, i > 0 ? " , Fl" : " Fl");
        add_argument(ret, option->names[i] + 1);
    }
}

static void add_positional(struct string_builder *ret, const struct option *option)
{
    string_add(ret, option->kind == OPTION_MAYBE || option->kind == OPTION_ANY ? " Op Ar" : " Ar");
    add_argument(ret, option->names[0]);
    string_add(ret, option->kind == OPTION_MANY || option->kind == OPTION_ANY ? " ..." : "");
}

static void write_synopsis(struct string_builder *ret, const char *command, const struct option *const *options,
                           size_t count, bool has_subcommands)
{
    size_t length = strcspn(command, " ");
    SCOPED_STRING(words);

    string_add_format(ret, ".Nm %.*s\n", (int)length, command);
    if (command[length] != '\0')
        string_add_format(ret, ".Cm%s\n", command + length);
    string_add(ret, ".Op Ar options\n");
    for (size_t i = 0; i < count; i++) {
        string_clear(&words);
        if (option_is_positional(options[i])) {
            add_positional(&words, options[i]);
        } else {
            add_option_names(&words, options[i], 1);
            add_value_names(&words, options[i]);
        }
        string_add_format(ret, ".%s\n", words.data + 1); /* without the blank before the macro */
    }
    string_add(ret, has_subcommands ? ".Ar command ...\n" : "");
}

static void write_paragraph(struct string_builder *ret, const char *text)
{
    size_t before = ret->size > 0 ? text_find_last((struct text){ret->data, ret->size - 1}, TEXT("\n")) : SIZE_MAX;

    /* A heading is already followed by space. */
    if (before != SIZE_MAX && strncmp(ret->data + before, "\n.S", 3) != 0)
        string_add(ret, ".Pp\n");
    add_sentences(ret, text);
}

static void write_example(struct string_builder *ret, struct text lines)
{
    string_add(ret, ".Bd -literal -offset 2n\n");
    while (lines.size > 0) {
        const char *end = memchr(lines.data, '\n', lines.size);
        size_t length = end != NULL ? (size_t)(end - lines.data) : lines.size;

        if (lines.data[0] == '.')
            string_add(ret, "\\&");
        add_escaped_roff(ret, (struct text){lines.data, length});
        string_add_char(ret, '\n');
        length += end != NULL;
        lines = (struct text){lines.data + length, lines.size - length};
    }
    string_add(ret, ".Ed\n");
}

static void open_list(struct string_builder *ret)
{
    string_add(ret, ".Bl -tag -width 6n\n");
}

static void close_list(struct string_builder *ret)
{
    string_add(ret, ".El\n");
}

static void write_option(struct string_builder *ret, const struct option *option, const char *text)
{
    string_add(ret, ".It");
    if (option_is_positional(option)) {
        add_positional(ret, option);
    } else {
        add_option_names(ret, option, ARRAY_LEN(option->names));
        if (option_takes_values(option))
            add_value_names(ret, option);
    }
    string_add_char(ret, '\n');
    add_sentences(ret, text);
}

static void write_command(struct string_builder *ret, const char *page, const char *command, const char *summary)
{
    (void)command;
    string_add_format(ret, ".It Xr %s 1\n", page);
    add_sentences(ret, summary);
}

static void write_term_entry(struct string_builder *ret, enum manual_term term, const char *name, const char *text)
{
    static const char *const macros[] = {
        [MANUAL_STATUS] = "", [MANUAL_VARIABLE] = " Ev", [MANUAL_FILE] = " Pa", [MANUAL_OPTIONS] = " Cm"};

    string_add_format(ret, ".It%s", macros[term]);
    for (size_t length; *name != '\0'; name += length + strspn(name + length, ", ")) {
        char *word SCOPED_FREE = memory_copy(name, length = strcspn(name, ", "));

        add_argument(ret, word);
        string_add(ret, name[length] != '\0' ? " ," : "");
    }
    string_add_char(ret, '\n');
    add_sentences(ret, text);
}

static void write_references(struct string_builder *ret, const char *const *pages, size_t count)
{
    for (size_t i = 0; i < count; i++)
        string_add_format(ret, ".Xr %s 1%s\n", pages[i], i + 1 < count ? " ," : "");
}

const struct manual_format manual_mdoc = {
    .extension = ".1",
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
