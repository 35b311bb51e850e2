/* debug/check/patterns.h: the regular expressions of --fail-regex.
 *
 * Semantics are those of Python's re.search() without flags: the output is UTF-8 text, \w, \d and \s match Unicode
 * characters, '.' matches all but a line feed, '^' matches at the beginning, '$' at the end or before a last line feed.
 * Bytes that are not UTF-8 match nothing.
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

/* Finds the first of the first `count` patterns, in their order, that matches anywhere in a captured stream; `count` if
 * none does. ERR_* if a search exceeds the backtracking limits, since "not found" could turn a failure into a pass. If
 * the middle of the stream was dropped, head and tail are searched separately; then "not found" does not prove that
 * there is no match. */
int check_patterns_search(const struct check_patterns *patterns, size_t count, const struct process_output *output,
                          size_t *ret, struct error *err);

#endif
