/* base/text/shell_line.h: quoting of words for insertion into a shell command line.
 *
 * A caller that scans a line character by character tracks the quotes that surround the current position. Expansions
 * that contain quotes, and here-documents (<<), are not supported.
 */
#ifndef BASE_TEXT_SHELL_LINE_H
#define BASE_TEXT_SHELL_LINE_H

#include "base/text/string_builder.h"

/* Zeroed at the beginning of a line. */
struct shell_quotes {
    char quotes;  /* the surrounding quotation mark; 0: none */
    bool escaped; /* the next character follows a backslash */
};

/* Advances by one character. */
void shell_quotes_step(struct shell_quotes *quotes, char character);

/* Appends `word`, quoted as the current position requires. */
void shell_add_word(struct string_builder *line, const char *word, const struct shell_quotes *quotes);

/* Appends a blank, unless `line` is empty, and `word`, quoted if necessary: for command lines shown to the user. */
void shell_add_argument(struct string_builder *line, const char *word);

#endif
