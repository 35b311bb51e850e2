/* debug/check/patterns.h: the regular expressions of --fail-regex.
 *
 * They mean what they mean to Python's re.search() without flags: the output is UTF-8 text, \w, \d and \s know all of
 * Unicode, '.' stops at a line feed only, '^' matches at the beginning and '$' at the end or before a last line feed.
 * Bytes that are not UTF-8 match nothing and do no harm.
 */
#ifndef DEBUG_CHECK_PATTERNS_H
#define DEBUG_CHECK_PATTERNS_H

#include <stddef.h>

#include "base/error.h"
#include "base/process/process.h"

struct check_patterns;

/* Compiles `count` patterns. ERR_INVALID names the one that is wrong and the position in it. `texts` has to outlive
 * `ret`. */
int check_patterns_new(const char *const *texts, size_t count, struct check_patterns **ret, struct error *err);
void check_patterns_free(struct check_patterns *patterns);

/* Finds the first of the first `count` patterns, in the order in which they were given, that is anywhere in a stream
 * that was captured; `count` when there is none. A search that backtracks beyond all bounds is an error: to say that
 * nothing was found could turn a failure into a pass. When the stream's middle was not kept, either end is searched by
 * itself, and what cannot be told without the middle is no match: then that none was found does not say that there is
 * none. */
int check_patterns_search(const struct check_patterns *patterns, size_t count, const struct process_output *output,
                          size_t *ret, struct error *err);

#endif
