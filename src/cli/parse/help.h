/* cli/parse/help.h: usage lines, --help and --help-all, made from the tables of the command that was named. */
#ifndef CLI_PARSE_HELP_H
#define CLI_PARSE_HELP_H

#include "base/text/string_builder.h"
#include "cli/parse/parser.h"

/* Appends "usage: polygraphy debug reduce [options] model_file" and a line break. */
void help_usage(struct parse *parse, struct string_builder *ret);

/* Appends the help of the innermost command, no line longer than `width` columns if it can be helped: all of it, or a
 * page with the first paragraph of the description, the options that matter most, and the examples. */
enum help_extent { HELP_PAGE, HELP_ALL };
void help_render(struct parse *parse, enum help_extent extent, size_t width, struct string_builder *ret);

/* Appends what stands for one value of an option: "PATH", "{bisect,linear}" if choices are wanted, or the name in
 * capitals. */
void help_add_value_name(struct string_builder *ret, const struct option *option, bool with_choices);

/* How many bytes of an option's help say what it is: the first sentence; of a long one what is before the first colon
 * or semicolon. */
size_t help_summary_length(const char *help);

/* What --help or --help-all, whichever was given, asks for. */
enum help_extent help_extent_wanted(const struct parse *parse);

/* The width to render for: $COLUMNS, else the terminal's, else 80. */
size_t help_width(void);

#endif
