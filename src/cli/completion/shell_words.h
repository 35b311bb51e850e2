/* cli/completion/shell_words.h: an unfinished bash line split into words, and the text that replaces the last word.
 * Nothing is expanded.
 *
 * Readline replaces only the text after the last unquoted character of COMP_WORDBREAKS (which contains a colon), or
 * after the open quote.
 */
#ifndef CLI_COMPLETION_SHELL_WORDS_H
#define CLI_COMPLETION_SHELL_WORDS_H

#include "base/container/arena.h"
#include "base/text/shell_line.h"

struct shell_words {
    struct word_list words;     /* without quotes and redirections */
    size_t index;               /* of the word that ends at the cursor */
    struct word_list starts;    /* offsets in the line of the words up to this one */
    bool redirected;            /* it is a redirection's file, not a word of the command */
    size_t kept;                /* bytes of the unquoted word that readline keeps */
    struct shell_quotes quotes; /* at the cursor */
};

/* Splits the text before and after the cursor into words. `breaks` is COMP_WORDBREAKS. `arena` owns the words. */
void shell_words_split(const char *before, const char *behind, const char *breaks, struct arena *arena,
                       struct shell_words *ret);
void shell_words_release(struct shell_words *words);

/* Appends the text with which readline completes the word to `word`. */
void shell_words_add_reply(const struct shell_words *words, const char *word, struct string_builder *ret);

#endif
