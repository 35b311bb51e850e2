/* format/json/reader.h: JSON files in which a few strings hold gigabytes.
 *
 * The module format/json/ reads and writes JSON: in come mapped files, out go jansson's values without the long
 * strings, and the other way round text, piece by piece. class.h knows the marks by which Polygraphy says what a JSON
 * object is.
 *
 * The grammar is jansson's, but jansson copies every string several times. So the file is mapped, and jansson is given
 * a shortened text in which each long string stands as a reference to its place in the file. Whoever wants such a
 * string asks the reader, and decodes base64 straight from the mapping.
 *
 * By reference go: strings (not member names) that are long, hold an escape, or begin with the '@' that marks
 * references, and the bare words NaN, Infinity and -Infinity that Python writes for numbers and jansson does not take.
 * What begins with '@' in the shortened text is therefore always the reader's own, whatever the file holds.
 *
 * As in Python the last of several members with the same name wins. Nesting is limited to jansson's 2048 levels.
 */
#ifndef FORMAT_JSON_READER_H
#define FORMAT_JSON_READER_H

#include <jansson.h>

#include "base/file/file.h"
#include "base/text/text.h"

struct json_token {
    size_t offset, size;  /* in the file; of a string with its quotes */
    size_t shortened_end; /* where its reference ends in the shortened text */
};

struct json_reader {
    json_t *root;     /* an object or an array. Ask json_reader_text() and json_reader_number() for its values */
    char *name;       /* of the file, for messages; owned */
    struct text text; /* the whole file */
    struct file_map map;
    char *piped; /* the content of a file that cannot be mapped, or NULL */
    struct {
        struct json_token *items;
        size_t count, capacity;
    } tokens;
    json_t *unescaped; /* an array with the strings that json_reader_text() took out of the file */
};

/* Reads the file at `path`, which may also be a pipe. Damage gives ERR_CORRUPT with byte and line. */
int json_reader_open(struct json_reader *ret, const char *path, struct error *err);

/* The same for `size` bytes in memory, which have to outlive the reader; `name` is for messages. */
int json_reader_open_memory(struct json_reader *ret, const void *data, size_t size, const char *name,
                            struct error *err);
void json_reader_release(struct json_reader *reader); /* harmless on a zeroed struct */

/* The text of a string value: UTF-8 without NUL bytes, followed by a NUL; it lives as long as the reader. ERR_CORRUPT
 * when `value` is not a string; NULL, for a missing member, is allowed. The message does not name the file. */
int json_reader_text(struct json_reader *reader, const json_t *value, struct text *ret, struct error *err);

/* Like json_reader_text(), for strings that carry data: NUL characters are allowed. */
int json_reader_long_text(struct json_reader *reader, const json_t *value, struct text *ret, struct error *err);

/* A string just as it stands in the file between its quotes, without a copy: neither unescaped nor checked to be UTF-8.
 * False when `value` is not a string that went by reference. */
bool json_reader_raw_text(const struct json_reader *reader, const json_t *value, struct text *ret);

/* The value of a number or of one of the bare words. False when `value` is neither. */
bool json_reader_number(const struct json_reader *reader, const json_t *value, double *ret);

#endif
