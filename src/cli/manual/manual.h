/* cli/manual/manual.h: a command's manual, made from the tables that --help is made from.
 *
 * The module cli/manual/ writes what is known of a command as a page for man(1), or in Markdown for a website: manual.c
 * says what stands in which order, facts.h has what no option tells (exit statuses, environment variables, files), and
 * a struct manual_format knows how it is spelled. It uses the tables of cli/parse/, and names no command but in
 * facts.c.
 */
#ifndef CLI_MANUAL_MANUAL_H
#define CLI_MANUAL_MANUAL_H

#include "cli/manual/format.h"
#include "cli/parse/parse.h"

/* "polygraphy-debug-reduce": what the page of the innermost command is called. Owned by the parse. */
const char *manual_page_name(struct parse *parse);

/* Appends the page of the innermost command. `date` is what it shows as its date: "November 23, 2026". */
void manual_render(struct parse *parse, const struct manual_format *format, const char *date,
                   struct string_builder *ret);

#endif
