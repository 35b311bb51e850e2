/* format/json/reader.h: reads JSON files with strings of gigabytes.
 *
 * The module format/json/ contains a reader of mapped JSON files, which uses jansson without copying long strings, a
 * writer of JSON piece by piece, and the classes of Polygraphy's JSON objects (class.h).
 *
 * jansson parses the JSON, but it copies every string several times. So the file is mapped, and jansson gets a
 * shortened text in which each long string is replaced by a reference to its position in the file. Callers get such
 * strings from the reader and decode base64 directly from the mapping.
 *
 * Replaced by references are strings (not member names) that are long, contain an escape, or begin with '@', the mark
 * of references, and the words NaN, Infinity and -Infinity, which Python writes for numbers and jansson does not
 * accept. So every string with '@' in the shortened text is a reference, whatever the file contains.
 *
 * As in Python the last of several members with the same name wins. Nesting is limited to jansson's 2048 levels.
 */
#ifndef FORMAT_JSON_READER_H
#define FORMAT_JSON_READER_H

#include <jansson.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/text.h"

struct json_token {
    size_t offset, size;  /* in the file; including the quotes of a string */
    size_t shortened_end; /* end of its reference in the shortened text */
};

struct json_reader {
    json_t *root;     /* an object or an array. Read its values with json_reader_text() and json_reader_number() */
    char *name;       /* of the file, for messages; owned */
    struct text text; /* the whole file */
    struct file_map map;
    char *piped; /* the content of a file that cannot be mapped, or NULL */
    VECTOR(struct json_token) tokens;
    json_t *unescaped; /* an array with the strings that json_reader_text() has decoded */
};

/* Reads the file at `path`, which may also be a pipe. ERR_CORRUPT for damage, with byte and line. */
int json_reader_open(struct json_reader *ret, const char *path, struct error *err);

/* Like json_reader_open(), for `size` bytes in memory, which must outlive the reader; `name` is for messages. */
int json_reader_open_memory(struct json_reader *ret, const void *data, size_t size, const char *name,
                            struct error *err);
void json_reader_release(struct json_reader *reader); /* harmless on a zeroed struct */

/* The text of a string value: UTF-8 without NUL bytes, followed by a NUL; it lives as long as the reader. ERR_CORRUPT
 * when `value` is not a string; NULL, for a missing member, is allowed. The message does not name the file. */
int json_reader_text(struct json_reader *reader, const json_t *value, struct text *ret, struct error *err);

/* Like json_reader_text(), for strings with binary data: NUL characters are allowed. */
int json_reader_long_text(struct json_reader *reader, const json_t *value, struct text *ret, struct error *err);

/* The raw text of a string between its quotes in the file, without a copy: neither unescaped nor validated as UTF-8.
 * False if `value` is not a reference to a string. */
bool json_reader_raw_text(const struct json_reader *reader, const json_t *value, struct text *ret);

/* The value of a number, or of NaN, Infinity or -Infinity. False if `value` is neither. */
bool json_reader_number(const struct json_reader *reader, const json_t *value, double *ret);

#endif
