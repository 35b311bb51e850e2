/* format/json/writer.h: writes JSON piece by piece, with the exact layout of Python's json.dumps(value, indent=4).
 *
 *   json_writer_open(&writer, "iteration.json", err);
 *   json_writer_begin_object(&writer);
 *   json_writer_add_integer(&writer, "iteration", 0);
 *   json_writer_end_object(&writer);
 *   rc = json_writer_commit(&writer, FILE_DURABLE, err);
 *   json_writer_release(&writer);
 *
 * Functions that add values return nothing: if the file cannot be written, the first error is stored, later output is
 * skipped, and commit reports the error.
 */
#ifndef FORMAT_JSON_WRITER_H
#define FORMAT_JSON_WRITER_H

#include "base/file/file.h"
#include "base/text/string_builder.h"
#include "format/json/reader.h"

struct json_writer {
    struct string_builder text; /* not yet written to the file; everything when writing to memory */
    struct file_writer file;
    bool has_file;
    bool compact;     /* all in one line; set before the first value */
    bool strict;      /* NaN and infinities are strings: JSON has no such numbers */
    unsigned depth;   /* open objects and arrays */
    bool empty;       /* the innermost of them has no members yet */
    bool after_key;   /* the next value belongs to a member's name */
    uint8_t carry[3]; /* incomplete base64 group */
    size_t carried;
    int rc; /* of the first failure, which `error` describes */
    struct error error;
};

/* Writes to memory: the result is `writer->text`. */
void json_writer_init(struct json_writer *writer);

/* Writes to the file at `path`, which is replaced by json_writer_commit(). */
int json_writer_open(struct json_writer *writer, const char *path, struct error *err);
int json_writer_commit(struct json_writer *writer, enum file_durability durability, struct error *err);
int json_writer_finish(struct json_writer *writer, struct error *err); /* commits durably, and releases */
void json_writer_release(struct json_writer *writer);                  /* without commit no file is left */

/* The first failure so far, or 0: for callers that can stop early. */
int json_writer_status(const struct json_writer *writer, struct error *err);

void json_writer_begin_object(struct json_writer *writer);
void json_writer_end_object(struct json_writer *writer);
void json_writer_begin_array(struct json_writer *writer);
void json_writer_end_array(struct json_writer *writer);
void json_writer_key(struct json_writer *writer, const char *name);
void json_writer_key_text(struct json_writer *writer, struct text name);

/* Write a value: an element of an array, or the value after json_writer_key(). Bytes that are not UTF-8 are written as
 * U+FFFD. */
void json_writer_string(struct json_writer *writer, const char *string);
void json_writer_text(struct json_writer *writer, struct text text);
void json_writer_integer(struct json_writer *writer, int64_t value);
void json_writer_integers(struct json_writer *writer, const int64_t *values, size_t count); /* an array */
void json_writer_number(struct json_writer *writer, double value); /* also NaN, Infinity, -Infinity */
void json_writer_boolean(struct json_writer *writer, bool value);
void json_writer_null(struct json_writer *writer);

/* Writes the name of a member, and null if `is_known` is false. True: the caller writes the value next. */
bool json_writer_key_or_null(struct json_writer *writer, const char *name, bool is_known);

/* Write a member of the open object: its name and its value. */
bool json_writer_begin_object_or_null(struct json_writer *writer, const char *name, bool is_known); /* true: begun */
void json_writer_begin_object_member(struct json_writer *writer, const char *name);
void json_writer_begin_array_member(struct json_writer *writer, const char *name);
void json_writer_add_string(struct json_writer *writer, const char *name, const char *string); /* NULL becomes null */
void json_writer_add_text(struct json_writer *writer, const char *name, struct text text);
void json_writer_add_integer(struct json_writer *writer, const char *name, int64_t value);
void json_writer_add_count(struct json_writer *writer, const char *name, uint64_t value);
void json_writer_add_number(struct json_writer *writer, const char *name, double value);
void json_writer_add_boolean(struct json_writer *writer, const char *name, bool value);
void json_writer_add_strings(struct json_writer *writer, const char *name, const char *const *items, size_t count);

/* Write a base64 string of bytes that are added in any number of pieces. */
void json_writer_begin_base64(struct json_writer *writer);
int json_writer_add_base64(struct json_writer *writer, const void *data, size_t size, struct error *err);
void json_writer_end_base64(struct json_writer *writer);

/* Writes a value that another writer has written to memory. */
void json_writer_fragment(struct json_writer *writer, const struct json_writer *fragment);

/* Starts a file at `path` with elements of an array, for json_writer_append(). `depth`: objects and arrays around
 * them. */
int json_writer_open_elements(struct json_writer *writer, const char *path, unsigned depth, struct error *err);

/* Appends the elements to the innermost array, which is empty. `elements` may be released afterwards, and is not
 * committed. */
int json_writer_append(struct json_writer *writer, struct json_writer *elements, struct error *err);

/* Appends the members of an object that another writer has begun in memory, and not ended, to the outermost object,
 * which must be open. */
void json_writer_members(struct json_writer *writer, const struct json_writer *object);

/* Copies a value from another file, including nested values. ERR_CORRUPT if a string in it is damaged. */
int json_writer_value(struct json_writer *writer, struct json_reader *reader, json_t *value, struct error *err);

/* Appends a string with its quotes, in ASCII. A byte that is not UTF-8 becomes what Python's "surrogateescape" makes of
 * it (PEP 383), so that different names stay different: os.fsencode() gives the bytes back. */
void json_add_quoted(struct string_builder *text, struct text string);

#endif
