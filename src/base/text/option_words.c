/* base/text/option_words.c: see option_words.h. */
#include "base/text/option_words.h"

#include "base/memory.h"

void option_words_add(struct word_list *list, struct arena *arena, const char *option, struct words values)
{
    bool has_dashes = false;

    for (size_t i = 0; i < values.count; i++)
        has_dashes = has_dashes || values.items[i][0] == '-';
    if (!has_dashes)
        *VECTOR_APPEND(list) = option;
    for (size_t i = 0; i < values.count; i++)
        *VECTOR_APPEND(list) = has_dashes ? arena_printf(arena, "%s=%s", option, values.items[i]) : values.items[i];
}
