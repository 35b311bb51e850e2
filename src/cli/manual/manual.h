/* cli/manual/manual.h: a command's manual page, generated from the tables of --help.
 *
 * The module cli/manual/ writes a command's manual for man(1), or as Markdown for a website: manual.c has the contents
 * and their order, facts.h what is not an option (exit statuses, environment variables, files), a struct manual_format
 * the output format. It uses the tables of cli/parse/; only facts.c depends on particular commands.
 */
#ifndef CLI_MANUAL_MANUAL_H
#define CLI_MANUAL_MANUAL_H

#include "cli/manual/format.h"
#include "cli/parse/parse.h"

/* "polygraphy-debug-reduce": the name of the innermost command's page. Owned by the parse. */
const char *manual_page_name(struct parse *parse);

/* Appends the page of the innermost command. `date` is the page's date: "November 23, 2026". */
void manual_render(struct parse *parse, const struct manual_format *format, const char *date,
                   struct string_builder *ret);

#endif
