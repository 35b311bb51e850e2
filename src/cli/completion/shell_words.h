/* cli/completion/shell_words.h: an unfinished line of bash, taken apart into words, and what is put in the place of the
 * last one. Nothing is expanded.
 *
 * Readline has rules of its own where the text begins that it replaces: behind the last of the characters in
 * COMP_WORDBREAKS (there is a colon among them) that stands outside of quotes, or behind the quote that is open.
 */
#ifndef CLI_COMPLETION_SHELL_WORDS_H
#define CLI_COMPLETION_SHELL_WORDS_H

#include "base/container/arena.h"
#include "base/text/shell_line.h"

struct shell_words {
    struct word_list words;     /* without quotes, and without what is redirected */
    size_t index;               /* of the word that ends at the cursor */
    struct word_list starts;    /* up to this one: where in the line they begin */
    bool redirected;            /* it is a file behind < or >, and none of the command's words */
    size_t kept;                /* bytes of the word, without quotes, that stay as they are */
    struct shell_quotes quotes; /* at the cursor */
};

/* Takes apart what stands before and behind the cursor. `breaks` is COMP_WORDBREAKS. The words are in `arena`. */
void shell_words_split(const char *before, const char *behind, const char *breaks, struct arena *arena,
                       struct shell_words *ret);
void shell_words_release(struct shell_words *words);

/* Appends what readline is to put there so that the word becomes `word`. */
void shell_words_add_reply(const struct shell_words *words, const char *word, struct string_builder *ret);

#endif
