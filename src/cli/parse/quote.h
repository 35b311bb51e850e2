/* cli/parse/quote.h: words shown in messages, quoted as Python's repr() does. */
#ifndef CLI_PARSE_QUOTE_H
#define CLI_PARSE_QUOTE_H

#include "base/text/string_builder.h"

/* Appends 'word', or "word" when it holds a single quote and no double one. Backslashes, line breaks and bytes that are
 * not printable are escaped, so that a message stays on its line. */
void quote_word(const char *word, struct string_builder *ret);

#endif
