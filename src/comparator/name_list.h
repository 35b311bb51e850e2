/* comparator/name_list.h: names in messages: "'a', 'b'", as between the brackets of a Python list. */
#ifndef COMPARATOR_NAME_LIST_H
#define COMPARATOR_NAME_LIST_H

#include "base/string_builder.h"

static inline void name_list_add(struct string_builder *list, const char *name)
{
    string_add_format(list, "%s'%s'", list->size > 0 ? ", " : "", name);
}

#endif
