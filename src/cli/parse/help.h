/* cli/parse/help.h: usage lines, --help and --help-all, generated from the tables of the command. */
#ifndef CLI_PARSE_HELP_H
#define CLI_PARSE_HELP_H

#include "base/text/string_builder.h"
#include "cli/parse/parser.h"

/* Appends "usage: polygraphy debug reduce [options] model_file" and a line break. */
void help_usage(struct parse *parse, struct string_builder *ret);

/* Appends the help of the innermost command, wrapped to `width` columns where possible: all of it, or the short help
 * with the first paragraph of the description, the main options, and the examples. */
enum help_extent { HELP_PAGE, HELP_ALL };
void help_render(struct parse *parse, enum help_extent extent, size_t width, struct string_builder *ret);

/* Appends the placeholder of an option's value: "PATH", "{bisect,linear}" with `choices`, or the name in capitals. */
void help_add_value_name(struct string_builder *ret, const struct option *option, bool with_choices);

/* Length in bytes of an option's short help: the first sentence, or, if that is long, the part before the first colon
 * or semicolon. */
size_t help_summary_length(const char *help);

/* Appends the help that --help or --help-all requests. */
enum help_extent help_extent_wanted(const struct parse *parse);

/* The width of help in columns: $COLUMNS, the terminal's, or 80. */
size_t help_width(void);

#endif
