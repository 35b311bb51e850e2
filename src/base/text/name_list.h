/* base/text/name_list.h: names in messages: "'a', 'b'", as between the brackets of a Python list. */
#ifndef BASE_TEXT_NAME_LIST_H
#define BASE_TEXT_NAME_LIST_H

#include "base/text/string_builder.h"

static inline void name_list_add(struct string_builder *list, const char *name)
{
    string_add_format(list, "%s'%s'", list->size > 0 ? ", " : "", name);
}

#endif
