/* onnx/proto/wire.h: Protocol Buffers' wire format, read in place and written into a string builder.
 *
 * The module onnx/proto/ knows the bytes of ONNX's messages, and no model: fields (fields.h), attributes, tensors and
 * type descriptions are read where they lie, or written; pieces.h puts a message together from bytes in many places.
 * Spans of a mapped file come in; numbers, texts, tensors and spans go out. It may use base/ and tensor/.
 *
 * A message is a sequence of fields; each is a tag (number and wire type) and a value. Readers skip what they do not
 * know, so a walk touches only the bytes that it asks for. Source: protobuf.dev, "Encoding".
 */
#ifndef ONNX_PROTO_WIRE_H
#define ONNX_PROTO_WIRE_H

#include <stdbool.h>

#include "base/container/arena.h"
#include "base/text/text.h"
#include "base/error.h"
#include "base/text/string_builder.h"

enum wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2, /* strings, bytes, messages, packed arrays */
    WIRE_FIXED32 = 5,
};

struct wire_reader {
    const uint8_t *start; /* of the message */
    const uint8_t *next;
    const uint8_t *end;
    bool damaged; /* a field did not fit; wire_next() has returned false */
};

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value;    /* of a varint or fixed field */
    struct span bytes; /* of a WIRE_BYTES field */
    struct span whole; /* tag, length and value: what to copy to keep the field as it is */
};

struct wire_reader wire_reader_of(struct span message);

/* Reads the next field. False at the end and on damage: look at `damaged` then. */
bool wire_next(struct wire_reader *reader, struct wire_field *ret);

/* Reads on to the next field with this number that has bytes. False at the end and on damage. */
bool wire_next_bytes(struct wire_reader *reader, uint32_t number, struct span *ret);

/* The text of the last field with this number in a message; "" when there is none. Damage ends the search. */
struct text wire_find_text(struct span message, uint32_t number);

/* What a field with tag and length contains. */
struct span wire_content(struct span whole);

/* The error for a damaged message: `what` it is, and where in `file` (a span over the whole file). */
int wire_damage(const struct wire_reader *reader, struct span file, const char *what, struct error *err);

/* A packed array of varints is walked with a cursor over its bytes. False at the end; *damaged is set on damage. */
bool wire_next_packed_varint(struct span *cursor, uint64_t *ret, bool *damaged);

void wire_write_varint(struct string_builder *out, uint64_t value);
void wire_write_tag(struct string_builder *out, uint32_t number, enum wire_type type);
void wire_write_integer(struct string_builder *out, uint32_t number, int64_t value); /* a varint field */
void wire_write_bytes(struct string_builder *out, uint32_t number, const void *data, size_t size);
void wire_write_text(struct string_builder *out, uint32_t number, struct text text);

/* Appends the fields of a message but those with this number. */
void wire_copy_without(struct string_builder *out, struct span message, uint32_t number);

/* A field with tag and length, made in the arena; or the finished message as it is. */
struct span wire_make_field(struct arena *arena, uint32_t number, const struct string_builder *message);
struct span wire_keep(struct arena *arena, const struct string_builder *message);
size_t wire_varint_size(uint64_t value); /* bytes */

#endif
