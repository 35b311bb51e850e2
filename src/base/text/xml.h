/* base/text/xml.h: any bytes as text of an XML 1.0 document. */
#ifndef BASE_TEXT_XML_H
#define BASE_TEXT_XML_H

#include "base/text/string_builder.h"

/* Appends one character, the `length` bytes at `data` as text_utf8_length() tells, so that it can stand in content and
 * between double quotes. What XML cannot hold, and bytes that are no UTF-8 (`length` 0), become U+FFFD; tabs and line
 * breaks are among that. */
void xml_add_character(struct string_builder *out, const char *data, size_t length);

/* Appends the content of an element; tabs and line breaks stay. */
void xml_add_content(struct string_builder *out, struct text text);

/* Appends a blank, the name and the value of an attribute, in quotes. Tabs and line breaks reach the reader, too. */
void xml_add_attribute(struct string_builder *out, const char *name, struct text value);

#endif
