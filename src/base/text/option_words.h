/* base/text/option_words.h: an option and its values as words of a command line that this program writes. */
#ifndef BASE_TEXT_OPTION_WORDS_H
#define BASE_TEXT_OPTION_WORDS_H

#include "base/container/arena.h"
#include "base/text/text.h"

/* Appends the option and its values. A value that begins with '-' would be read as an option: then each value is
 * attached, --option=value, and all of them add up. New words are of the arena. */
void option_words_add(struct word_list *list, struct arena *arena, const char *option, struct words values);

#endif
