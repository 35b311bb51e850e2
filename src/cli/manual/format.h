/* cli/manual/format.h: the output format of a manual: mdoc(7), or Markdown for Sphinx.
 *
 * Texts come from the tables: plain text, with `...` around literals. Words in the form of options are treated as
 * literals, too (manual_next_span()). Each function appends to `ret`.
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

/* The kind of entries in a list. */
enum manual_term { MANUAL_STATUS, MANUAL_VARIABLE, MANUAL_FILE, MANUAL_OPTIONS };

struct manual_format {
    const char *extension;                                                       /* file name extension of a page, with
                                                                                  * its dot */
    void (*title)(struct string_builder *ret, const struct manual_title *title); /* the part before the sections */

    /* The synopsis: "[options]", the required options and words, then the optional ones. */
    void (*synopsis)(struct string_builder *ret, const char *command, const struct option *const *options, size_t count,
                     bool has_subcommands);
    void (*section)(struct string_builder *ret, const char *title);
    void (*subsection)(struct string_builder *ret, const char *title);
    void (*paragraph)(struct string_builder *ret, const char *text);
    void (*example)(struct string_builder *ret, struct text lines); /* command lines, unformatted */

    /* A list: begin, entries of one kind, end. */
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

/* Removes the next span from `text`: plain text, or a literal without its marks. Returns false at the end. */
bool manual_next_span(struct text *text, struct text *ret, bool *ret_literal);

/* Whether the choices, "bisect | linear", are short enough to be shown instead of a name for the value. */
bool manual_shows_choices(const struct option *option);

#endif
