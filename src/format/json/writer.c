/* format/json/writer.c: the layout of Python's json.dumps(value, indent=4). */
#include "format/json/writer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text/base64.h"
#include "base/text/number.h"

/* Bytes of buffered text: enough that the file writer does not copy them to its own buffer. */
#define FLUSH_SIZE ((size_t)1 << 17)

/* Bytes per encoding step, which give FLUSH_SIZE characters; both together fit in an L2 cache. */
#define BASE64_PIECE (FLUSH_SIZE / 4 * 3)

void json_writer_init(struct json_writer *writer)
{
    memset(writer, 0, sizeof(*writer));
    string_init(&writer->text);
}

int json_writer_open(struct json_writer *writer, const char *path, struct error *err)
{
    int rc;

    json_writer_init(writer);
    rc = file_writer_open(&writer->file, path, err);
    writer->has_file = rc == 0;
    return rc;
}

static void flush_text(struct json_writer *writer)
{
    if (writer->rc == 0)
        writer->rc = file_writer_add(&writer->file, writer->text.data, writer->text.size, &writer->error);
    string_clear(&writer->text);
}

static void flush_when_full(struct json_writer *writer)
{
    if (writer->has_file && writer->text.size >= FLUSH_SIZE)
        flush_text(writer);
}

int json_writer_status(const struct json_writer *writer, struct error *err)
{
    if (writer->rc < 0 && err)
        *err = writer->error;
    return writer->rc;
}

int json_writer_commit(struct json_writer *writer, enum file_durability durability, struct error *err)
{
    flush_text(writer);
    if (writer->rc < 0)
        return json_writer_status(writer, err);
    return file_writer_commit(&writer->file, durability, err);
}

int json_writer_open_elements(struct json_writer *writer, const char *path, unsigned depth, struct error *err)
{
    int rc = json_writer_open(writer, path, err);

    writer->depth = depth;
    writer->empty = true;
    return rc;
}

int json_writer_append(struct json_writer *writer, struct json_writer *elements, struct error *err)
{
    int rc;

    flush_text(elements);
    flush_text(writer);
    if (json_writer_status(elements, err) < 0 || json_writer_status(writer, err) < 0)
        return elements->rc < 0 ? elements->rc : writer->rc;
    rc = file_writer_flush(&elements->file, err);
    if (rc == 0)
        rc = file_writer_copy(&writer->file, elements->file.fd, 0, elements->file.written, err);
    writer->empty = elements->empty;
    return rc;
}

int json_writer_finish(struct json_writer *writer, struct error *err)
{
    int rc = json_writer_commit(writer, FILE_DURABLE, err);

    json_writer_release(writer);
    return rc;
}

void json_writer_release(struct json_writer *writer)
{
    if (writer->has_file)
        file_writer_release(&writer->file);
    string_release(&writer->text);
    writer->has_file = false;
}

static void add_line_break(struct json_writer *writer)
{
    if (writer->compact)
        return;
    string_add_char(&writer->text, '\n');
    for (unsigned i = 0; i < writer->depth; i++)
        string_add(&writer->text, "    ");
}

/* Writes the separator before the next value or member. */
static void begin_item(struct json_writer *writer)
{
    flush_when_full(writer);
    if (writer->after_key) {
        writer->after_key = false;
        return;
    }
    if (writer->depth == 0)
        return;
    if (!writer->empty)
        string_add_char(&writer->text, ',');
    add_line_break(writer);
    writer->empty = false;
}

static void begin_container(struct json_writer *writer, char bracket)
{
    begin_item(writer);
    string_add_char(&writer->text, bracket);
    writer->depth++;
    writer->empty = true;
}

static void end_container(struct json_writer *writer, char bracket)
{
    writer->depth--;
    if (!writer->empty)
        add_line_break(writer);
    string_add_char(&writer->text, bracket);
    writer->empty = false;
}

void json_writer_begin_object(struct json_writer *writer)
{
    begin_container(writer, '{');
}

void json_writer_end_object(struct json_writer *writer)
{
    end_container(writer, '}');
}

void json_writer_begin_array(struct json_writer *writer)
{
    begin_container(writer, '[');
}

void json_writer_end_array(struct json_writer *writer)
{
    end_container(writer, ']');
}

/* The code point of a valid UTF-8 sequence. */
static unsigned code_point(const char *sequence, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)sequence;
    unsigned value = length == 1 ? bytes[0] : bytes[0] & (0x7Fu >> length);

    for (size_t i = 1; i < length; i++)
        value = value << 6 | (bytes[i] & 0x3Fu);
    return value;
}

static void add_json_escaped(struct string_builder *text, unsigned character)
{
    static const char named[] = "\b\t\n\f\r\"\\";
    static const char letters[] = "btnfr\"\\";
    const char *found = character != 0 && character < 0x80 ? strchr(named, (int)character) : NULL;

    if (found)
        string_add_format(text, "\\%c", letters[found - named]);
    else if (character >= ' ' && character <= '~')
        string_add_char(text, (char)character);
    else if (character < 0x10000)
        string_add_format(text, "\\u%04x", character);
    else /* surrogate pair: RFC 8259, section 7 */
        string_add_format(text, "\\u%04x\\u%04x", 0xD800 + ((character - 0x10000) >> 10),
                          0xDC00 + ((character - 0x10000) & 0x3FF));
}

#define LONE_SURROGATE 0xDC00u

void json_add_quoted(struct string_builder *text, struct text string)
{
    size_t length;

    string_add_char(text, '"');
    for (size_t i = 0; i < string.size; i += length ? length : 1) {
        length = text_utf8_length(string.data + i, string.size - i);
        add_json_escaped(text,
                         length ? code_point(string.data + i, length) : LONE_SURROGATE + (unsigned char)string.data[i]);
    }
    string_add_char(text, '"');
}

void json_writer_key(struct json_writer *writer, const char *name)
{
    json_writer_key_text(writer, text_of(name));
}

void json_writer_key_text(struct json_writer *writer, struct text name)
{
    begin_item(writer);
    json_add_quoted(&writer->text, name);
    string_add(&writer->text, ": ");
    writer->after_key = true;
}

void json_writer_string(struct json_writer *writer, const char *string)
{
    json_writer_text(writer, text_of(string));
}

void json_writer_text(struct json_writer *writer, struct text text)
{
    begin_item(writer);
    json_add_quoted(&writer->text, text);
}

void json_writer_integer(struct json_writer *writer, int64_t value)
{
    begin_item(writer);
    string_add_format(&writer->text, "%" PRId64, value);
}

void json_writer_integers(struct json_writer *writer, const int64_t *values, size_t count)
{
    json_writer_begin_array(writer);
    for (size_t i = 0; i < count; i++)
        json_writer_integer(writer, values[i]);
    json_writer_end_array(writer);
}

void json_writer_number(struct json_writer *writer, double value)
{
    char buffer[NUMBER_TEXT_SIZE];
    const char *word = isnan(value) ? "NaN" : !isinf(value) ? NULL : value > 0 ? "Infinity" : "-Infinity";

    if (word != NULL && writer->strict) {
        json_writer_string(writer, word);
        return;
    }
    begin_item(writer);
    string_add(&writer->text, word != NULL ? word : number_to_text(value, buffer));
}

void json_writer_boolean(struct json_writer *writer, bool value)
{
    begin_item(writer);
    string_add(&writer->text, value ? "true" : "false");
}

void json_writer_null(struct json_writer *writer)
{
    begin_item(writer);
    string_add(&writer->text, "null");
}

bool json_writer_key_or_null(struct json_writer *writer, const char *name, bool is_known)
{
    json_writer_key(writer, name);
    if (!is_known)
        json_writer_null(writer);
    return is_known;
}

bool json_writer_begin_object_or_null(struct json_writer *writer, const char *name, bool is_known)
{
    if (json_writer_key_or_null(writer, name, is_known))
        json_writer_begin_object(writer);
    return is_known;
}

void json_writer_begin_object_member(struct json_writer *writer, const char *name)
{
    json_writer_key(writer, name);
    json_writer_begin_object(writer);
}

void json_writer_begin_array_member(struct json_writer *writer, const char *name)
{
    json_writer_key(writer, name);
    json_writer_begin_array(writer);
}

void json_writer_add_string(struct json_writer *writer, const char *name, const char *string)
{
    if (json_writer_key_or_null(writer, name, string != NULL))
        json_writer_string(writer, string);
}

void json_writer_add_text(struct json_writer *writer, const char *name, struct text text)
{
    json_writer_key(writer, name);
    json_writer_text(writer, text);
}

void json_writer_add_integer(struct json_writer *writer, const char *name, int64_t value)
{
    json_writer_key(writer, name);
    json_writer_integer(writer, value);
}

void json_writer_add_count(struct json_writer *writer, const char *name, uint64_t value)
{
    json_writer_add_integer(writer, name, (int64_t)value);
}

void json_writer_add_number(struct json_writer *writer, const char *name, double value)
{
    json_writer_key(writer, name);
    json_writer_number(writer, value);
}

void json_writer_add_boolean(struct json_writer *writer, const char *name, bool value)
{
    json_writer_key(writer, name);
    json_writer_boolean(writer, value);
}

void json_writer_add_strings(struct json_writer *writer, const char *name, const char *const *items, size_t count)
{
    json_writer_begin_array_member(writer, name);
    for (size_t i = 0; i < count; i++)
        json_writer_string(writer, items[i]);
    json_writer_end_array(writer);
}

void json_writer_fragment(struct json_writer *writer, const struct json_writer *fragment)
{
    begin_item(writer);
    string_add_bytes(&writer->text, fragment->text.data, fragment->text.size);
}

void json_writer_members(struct json_writer *writer, const struct json_writer *object)
{
    size_t opening = strlen("{\n    ");

    if (object->text.size <= opening)
        return;
    begin_item(writer);
    string_add_bytes(&writer->text, object->text.data + opening, object->text.size - opening);
}

static void encode_bytes(struct json_writer *writer, const uint8_t *data, size_t size)
{
    char *room = string_reserve(&writer->text, BASE64_ENCODED_SIZE(size));

    base64_encode(data, size, room);
    writer->text.size += BASE64_ENCODED_SIZE(size);
    flush_when_full(writer);
}

void json_writer_begin_base64(struct json_writer *writer)
{
    begin_item(writer);
    string_add_char(&writer->text, '"');
    writer->carried = 0;
}

int json_writer_add_base64(struct json_writer *writer, const void *data, size_t size, struct error *err)
{
    const uint8_t *at = data;

    while (writer->carried > 0 && writer->carried < 3 && size > 0) {
        writer->carry[writer->carried++] = *at++;
        size--;
    }
    if (writer->carried == 3) {
        encode_bytes(writer, writer->carry, 3);
        writer->carried = 0;
    }
    while (size >= 3 && writer->rc == 0) {
        size_t piece = size < BASE64_PIECE ? size - size % 3 : BASE64_PIECE;

        encode_bytes(writer, at, piece);
        at += piece;
        size -= piece;
    }
    if (writer->rc == 0 && size > 0) {
        memcpy(writer->carry, at, size);
        writer->carried = size;
    }
    return json_writer_status(writer, err);
}

void json_writer_end_base64(struct json_writer *writer)
{
    if (writer->carried > 0)
        encode_bytes(writer, writer->carry, writer->carried);
    writer->carried = 0;
    string_add_char(&writer->text, '"');
}

static int add_members(struct json_writer *writer, struct json_reader *reader, json_t *value, struct error *err)
{
    const char *key;
    json_t *member;
    int rc = 0;

    json_writer_begin_object(writer);
    json_object_foreach (value, key, member) {
        json_writer_key(writer, key);
        rc = json_writer_value(writer, reader, member, err);
        if (rc < 0)
            return rc;
    }
    json_writer_end_object(writer);
    return 0;
}

static int add_elements(struct json_writer *writer, struct json_reader *reader, json_t *value, struct error *err)
{
    json_t *element;
    size_t index;
    int rc = 0;

    json_writer_begin_array(writer);
    json_array_foreach (value, index, element) {
        rc = json_writer_value(writer, reader, element, err);
        if (rc < 0)
            return rc;
    }
    json_writer_end_array(writer);
    return 0;
}

int json_writer_value(struct json_writer *writer, struct json_reader *reader, json_t *value, struct error *err)
{
    struct text string;
    double number;
    int rc;

    if (json_is_object(value))
        return add_members(writer, reader, value, err);
    if (json_is_array(value))
        return add_elements(writer, reader, value, err);

    if (json_is_integer(value)) {
        json_writer_integer(writer, json_integer_value(value));
    } else if (json_reader_number(reader, value, &number)) {
        json_writer_number(writer, number);
    } else if (json_is_boolean(value)) {
        json_writer_boolean(writer, json_is_true(value));
    } else if (json_is_null(value)) {
        json_writer_null(writer);
    } else {
        rc = json_reader_text(reader, value, &string, err);
        if (rc < 0)
            return rc;
        json_writer_string(writer, string.data);
    }
    return 0;
}
