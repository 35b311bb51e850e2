/* format/json/split.h: the elements of a JSON array, and the members of an object, as pieces of text that are parsed
 * one by one: a file of any size needs the memory of one element.
 *
 * Only brackets, strings, commas and colons are looked at, and only one level deep.
 */
#ifndef FORMAT_JSON_SPLIT_H
#define FORMAT_JSON_SPLIT_H

#include "base/file/file.h"
#include "base/text/text.h"

struct json_pieces {
    struct text *items; /* pointing into the text */
    size_t count, capacity;
};

/* Appends the elements of the array in `text`. False if it is no array, or if brackets, strings or separators are
 * wrong. `map`: the mapping that contains the text, whose pages are dropped on the way; NULL: none. */
bool json_split_array(struct text text, const struct file_map *map, struct json_pieces *ret);

/* Takes the next member of an object's text behind its brace, or behind a member: name with its quotes, and value.
 * False if there is none. */
bool json_take_member(struct text *rest, struct text *ret_name, struct text *ret_value);

/* Like json_split_array(), for an object: appends name, value, name, value, ...; names with their quotes. */
bool json_split_object(struct text text, const struct file_map *map, struct json_pieces *ret);

/* Whether these members, of an object of Polygraphy, have this class: "\"RunResults\"", with its quotes. */
bool json_members_are_of_class(const struct json_pieces *members, struct text class);

#endif
