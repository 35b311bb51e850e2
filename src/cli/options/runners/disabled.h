/* cli/options/runners/disabled.h: POLYGRAPHY_DISABLED: the optimizations that a check of `debug passes` disables.
 *
 * A list of names separated by ';', or @FILE: a file with one name per line, for lists that exceed the size limit of a
 * variable. Each runner disables the optimizations that it has, and ignores names of other runners; the name shows
 * which runner it is for:
 *
 *   NAME, KEY=VALUE, threads   ONNX Runtime: an optimizer, an entry of its session configuration, all threads but one
 *   KIND:WHAT                  a decision of another runner, or of all
 *   ?KIND:WHAT                 the same, and no error where the model has nothing of that name
 */
#ifndef CLI_OPTIONS_RUNNERS_DISABLED_H
#define CLI_OPTIONS_RUNNERS_DISABLED_H

#include "base/text/names.h"
#include "cli/parse/parse.h"

/* Lists the names of one kind in the environment, without "KIND:" but with NAME_MAY_MISS, or those without a kind if
 * `kind` is NULL; an empty list if the variable is not set. The names belong to the parse. */
int disabled_names_read(struct parse *parse, const char *kind, struct words *ret, struct error *err);

/* Warns of the first name whose kind no runner of this program supports. Fails if the variable cannot be read. */
int disabled_names_doubt(struct parse *parse, struct error *err);

/* Whether a name has a kind: it begins with lower-case letters and a colon, after an optional NAME_MAY_MISS. */
bool disabled_name_has_kind(const char *name);

#endif
