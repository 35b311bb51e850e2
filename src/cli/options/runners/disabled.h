/* cli/options/runners/disabled.h: POLYGRAPHY_DISABLED: which decisions a check of `debug passes` is to do without.
 *
 * A list of names with ';' in between, or @FILE: a file with one name a line, where the list is longer than a variable
 * may be. Whoever runs a model obeys the names that it knows, and leaves the others to others. Which those are can be
 * told from a name alone:
 *
 *   NAME, KEY=VALUE, threads   ONNX Runtime: an optimizer, an entry of its session configuration, all threads but one
 *   KIND:WHAT                  a decision of another runner, or of all
 *   ?KIND:WHAT                 the same, and no error where the model has nothing of that name
 */
#ifndef CLI_OPTIONS_RUNNERS_DISABLED_H
#define CLI_OPTIONS_RUNNERS_DISABLED_H

#include "base/text/names.h"
#include "cli/parse/parse.h"

/* The names of one kind in the environment, without "KIND:", or those of no kind where it is NULL; none when the
 * variable is not set. NAME_MAY_MISS stays in front of those that have it. They live as long as the parse. */
int disabled_names_read(struct parse *parse, const char *kind, struct words *ret, struct error *err);

/* Warns of the first name of a kind that no runner of this program knows. Errors of reading the variable. */
int disabled_names_doubt(struct parse *parse, struct error *err);

/* Whether a name is of any kind: it begins with small letters and a colon, with or without NAME_MAY_MISS. */
bool disabled_name_has_kind(const char *name);

#endif
