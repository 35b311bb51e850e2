/* cli/parse/launcher_words.h: a command line in a single word, taken apart. */
#ifndef CLI_PARSE_LAUNCHER_WORDS_H
#define CLI_PARSE_LAUNCHER_WORDS_H

#include "cli/parse/option.h"

/* Splits at blanks, as a shell does: 'quotes', "quotes" and backslashes keep what they hold together. Nothing is
 * expanded. The words live in the parse. ERR_INVALID when a quote is not closed or there is no word at all; `spelling`
 * is the option's. */
option_convert convert_launcher;

#endif
