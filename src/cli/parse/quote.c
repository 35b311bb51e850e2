/* cli/parse/quote.c: words shown in messages. */
#include "cli/parse/quote.h"

#include <string.h>

void quote_word(const char *word, struct string_builder *ret)
{
    char quote = strchr(word, '\'') && !strchr(word, '"') ? '"' : '\'';
    size_t size = strlen(word);

    string_add_char(ret, quote);
    for (size_t i = 0; i < size;) {
        size_t length = text_utf8_length(word + i, size - i);
        unsigned char c = (unsigned char)word[i];

        if (c == (unsigned char)quote || c == '\\')
            string_add_format(ret, "\\%c", c);
        else if (c == '\n')
            string_add(ret, "\\n");
        else if (c == '\t')
            string_add(ret, "\\t");
        else if (c == '\r')
            string_add(ret, "\\r");
        else if (c < 0x20 || c == 0x7f || length == 0)
            string_add_format(ret, "\\x%02x", c);
        else
            string_add_bytes(ret, word + i, length);
        i += length > 0 ? length : 1;
    }
    string_add_char(ret, quote);
}
