/* cli/manual/format.h: how the parts of a manual are spelled: as mdoc(7), or in Markdown for Sphinx.
 *
 * Texts are those of the tables: plain words, with `...` around what is to be typed. Words that look like options are
 * treated alike (manual_next_span()). Each function appends to `ret`.
 */
#ifndef CLI_MANUAL_FORMAT_H
#define CLI_MANUAL_FORMAT_H

#include "base/text/string_builder.h"
#include "base/text/text.h"
#include "cli/parse/option.h"

struct manual_title {
    const char *page;    /* "polygraphy-debug-reduce" */
    const char *command; /* "polygraphy debug reduce" */
    const char *summary;
    const char *date;
};

/* What the entries of a list are about. */
enum manual_term { MANUAL_STATUS, MANUAL_VARIABLE, MANUAL_FILE, MANUAL_OPTIONS };

struct manual_format {
    const char *extension;                                                       /* of a page's file, with its dot */
    void (*title)(struct string_builder *ret, const struct manual_title *title); /* what stands before all sections */

    /* The command line in short: "[options]", the options and words that have to be there, then those that may. */
    void (*synopsis)(struct string_builder *ret, const char *command, const struct option *const *options, size_t count,
                     bool has_subcommands);
    void (*section)(struct string_builder *ret, const char *title);
    void (*subsection)(struct string_builder *ret, const char *title);
    void (*paragraph)(struct string_builder *ret, const char *text);
    void (*example)(struct string_builder *ret, struct text lines); /* command lines, to be copied */

    /* A list is begun, gets entries of one kind, and is ended. */
    void (*begin_list)(struct string_builder *ret);
    void (*option)(struct string_builder *ret, const struct option *option, const char *text);
    void (*command)(struct string_builder *ret, const char *page, const char *command, const char *summary);
    /* `name` may be several, separated by commas. */
    void (*entry)(struct string_builder *ret, enum manual_term term, const char *name, const char *text);
    void (*end_list)(struct string_builder *ret);

    /* Other pages, in the order of their names. */
    void (*references)(struct string_builder *ret, const char *const *pages, size_t count);
};

extern const struct manual_format manual_mdoc;
extern const struct manual_format manual_markdown;

/* ---- For formats ---- */

/* Takes the next piece off `text`: plain text, or what is to be typed, without the marks around it. Returns false at
 * the end. */
bool manual_next_span(struct text *text, struct text *ret, bool *ret_literal);

/* Whether "bisect | linear" is shown in place of a name for the value: what is too long for that, the entry's text has
 * to tell. */
bool manual_shows_choices(const struct option *option);

#endif
