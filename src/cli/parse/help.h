/* cli/parse/help.h: usage lines and --help, made from the tables of the command that was named. */
#ifndef CLI_PARSE_HELP_H
#define CLI_PARSE_HELP_H

#include "base/text/string_builder.h"
#include "cli/parse/parser.h"

/* Appends "usage: polygraphy debug reduce [options] model_file" and a line break. */
void help_usage(struct parse *parse, struct string_builder *ret);

/* Appends the whole help of the innermost command, no line longer than `width` columns if it can be helped. */
void help_render(struct parse *parse, size_t width, struct string_builder *ret);

/* The width to render for: $COLUMNS, else the terminal's, else 80. */
size_t help_width(void);

#endif
