/* base/text/shell_line.h: a line of the shell, into which words are put so that it takes them as they are.
 *
 * Whoever walks along such a line, character by character, knows inside which quotes it is. Expansions that hold quotes
 * of their own, and documents that stand in the line (<<), are not understood.
 */
#ifndef BASE_TEXT_SHELL_LINE_H
#define BASE_TEXT_SHELL_LINE_H

#include "base/text/string_builder.h"

/* Zeroed at the beginning of a line. */
struct shell_quotes {
    char quotes;  /* inside which ones; 0: none */
    bool escaped; /* a backslash stands in front of the next character */
};

/* Goes on by one character. */
void shell_quotes_step(struct shell_quotes *quotes, char character);

/* Appends `word` as it has to be written at this place. */
void shell_add_word(struct string_builder *line, const char *word, const struct shell_quotes *quotes);

/* Appends a blank, unless `line` is empty, and `word`, in quotes if it needs them: lines that are shown to be typed. */
void shell_add_argument(struct string_builder *line, const char *word);

#endif
