/* debug/check/words.h: where the words of a check name the files of the candidate.
 *
 * {artifact}, {inputs}, {golden} and {information} stand for these files. Their usual paths do, too, where they stand
 * as a word, as a path in a line of the shell, or as the value of an option (--model=polygraphy_debug.onnx). So
 * candidates can be checked at other paths than the usual ones, several at a time.
 */
#ifndef DEBUG_CHECK_WORDS_H
#define DEBUG_CHECK_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "debug/candidate/place.h"

/* "{artifact}" */
const char *check_words_placeholder(enum candidate_file file);

/* True when one of the words names that file. */
bool check_words_name(const char *const *words, size_t count, const struct candidate_paths *usual,
                      enum candidate_file file);

/* The words for a candidate whose files are at `actual`. `shell`: the last word is a line of the shell, where paths are
 * quoted as far as they need it. A NULL-terminated array of malloc'd words, for check_words_free(). */
char **check_words_for(const char *const *words, size_t count, bool shell, const struct candidate_paths *usual,
                       const struct candidate_paths *actual);
void check_words_free(char **words);

#endif
