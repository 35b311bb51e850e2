/* onnx/proto/wire.h: Protocol Buffers' wire format, read in place and written into a string builder.
 *
 * The module onnx/proto/ contains decoding (in place) and encoding of ONNX's messages: field numbers (fields.h),
 * attributes, tensors, type descriptions, and messages assembled from many pieces (pieces.h). It does not depend on the
 * index of a model, only on base/ and tensor/.
 *
 * A message is a sequence of fields; each is a tag (number and wire type) and a value. Readers skip unknown fields, so
 * a walk touches only the bytes of the fields that it needs. Source: protobuf.dev, "Encoding".
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

/* Reads the next field. False at the end and on damage (see `damaged`). */
bool wire_next(struct wire_reader *reader, struct wire_field *ret);

/* Advances to the next field of type WIRE_BYTES with this number. False at the end and on damage. */
bool wire_next_bytes(struct wire_reader *reader, uint32_t number, struct span *ret);

/* The text of the last field with this number in a message; "" if there is none. The search stops at damage. */
struct text wire_find_text(struct span message, uint32_t number);

/* The content of a field with tag and length. */
struct span wire_content(struct span whole);

/* Sets ERR_CORRUPT for a damaged message: `what` names it, `file` is the span of the whole file, for the offset. */
int wire_damage(const struct wire_reader *reader, struct span file, const char *what, struct error *err);

/* Reads the next element of a packed array of varints; `cursor` is the rest of its bytes. False at the end; sets
 * *damaged on damage. */
bool wire_next_packed_varint(struct span *cursor, uint64_t *ret, bool *damaged);

void wire_write_varint(struct string_builder *out, uint64_t value);
void wire_write_tag(struct string_builder *out, uint32_t number, enum wire_type type);
void wire_write_integer(struct string_builder *out, uint32_t number, int64_t value); /* a varint field */
void wire_write_bytes(struct string_builder *out, uint32_t number, const void *data, size_t size);
void wire_write_text(struct string_builder *out, uint32_t number, struct text text);

/* Appends all fields of a message except those with this number. */
void wire_copy_without(struct string_builder *out, struct span message, uint32_t number);

/* Copies a finished message to the arena: as a field with tag and length, or unchanged. */
struct span wire_make_field(struct arena *arena, uint32_t number, const struct string_builder *message);
struct span wire_keep(struct arena *arena, const struct string_builder *message);
size_t wire_varint_size(uint64_t value); /* bytes */

#endif
