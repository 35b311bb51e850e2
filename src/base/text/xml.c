/* base/text/xml.c: see xml.h. */
#include "base/text/xml.h"

/* Noncharacters are allowed in UTF-8, but U+FFFE and U+FFFF not in XML. */
static bool is_refused(const char *data, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)data;

    if (length == 1)
        return bytes[0] < 0x20 || bytes[0] == 0x7F;
    return length == 3 && bytes[0] == 0xEF && bytes[1] == 0xBF && bytes[2] >= 0xBE;
}

void xml_add_character(struct string_builder *out, const char *data, size_t length)
{
    if (length == 0 || is_refused(data, length))
        string_add(out, "\xEF\xBF\xBD");
    else if (*data == '<')
        string_add(out, "&lt;");
    else if (*data == '>')
        string_add(out, "&gt;");
    else if (*data == '&')
        string_add(out, "&amp;");
    else if (*data == '"')
        string_add(out, "&quot;");
    else
        string_add_bytes(out, data, length);
}

/* A reader turns tabs and line breaks in attributes into blanks, unless they are references. */
static void add_escaped_text(struct string_builder *out, struct text text, bool in_attribute)
{
    size_t length;

    for (size_t i = 0; i<text.size; i += length> 0 ? length : 1) {
        length = text_utf8_length(text.data + i, text.size - i);
        if (text.data[i] != '\t' && text.data[i] != '\n')
            xml_add_character(out, text.data + i, length);
        else if (in_attribute)
            string_add_format(out, "&#%d;", text.data[i]);
        else
            string_add_char(out, text.data[i]);
    }
}

void xml_add_content(struct string_builder *out, struct text text)
{
    add_escaped_text(out, text, false);
}

void xml_add_attribute(struct string_builder *out, const char *name, struct text value)
{
    string_add_format(out, " %s=\"", name);
    add_escaped_text(out, value, true);
    string_add_char(out, '"');
}
