/* base/text/xml.h: escapes arbitrary bytes as text of an XML 1.0 document. */
#ifndef BASE_TEXT_XML_H
#define BASE_TEXT_XML_H

#include "base/text/string_builder.h"

/* Appends one character, the `length` bytes at `data` (text_utf8_length()), escaped for content and for double quotes.
 * Characters that XML does not allow, bytes that are not UTF-8 (`length` 0), tabs and line breaks become U+FFFD. */
void xml_add_character(struct string_builder *out, const char *data, size_t length);

/* Appends the content of an element; tabs and line breaks stay. */
void xml_add_content(struct string_builder *out, struct text text);

/* Appends a blank, the name and the quoted value of an attribute. Tabs and line breaks are preserved. */
void xml_add_attribute(struct string_builder *out, const char *name, struct text value);

#endif
