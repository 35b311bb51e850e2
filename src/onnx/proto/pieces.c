/* onnx/proto/pieces.c: see pieces.h. */
#include "onnx/proto/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/proto/wire.h"

/* Below this size a copy through the writer's buffer is cheaper than a separate system call. */
#define KERNEL_COPY_SIZE ((size_t)128 << 10)

/* Pages of the mapping are released each time this many bytes of it were copied through the buffer. */
#define FORGET_STEP ((size_t)4 << 20)

/* Elements per conversion block. A divisor of FORGET_STEP. */
#define NARROW_RUN 1024

void pieces_init(struct piece_list *list)
{
    *list = (struct piece_list){0};
    arena_init(&list->arena);
}

void pieces_release(struct piece_list *list)
{
    arena_release(&list->arena);
    free(list->pieces.items);
}

void pieces_add(struct piece_list *list, struct span bytes)
{
    struct piece *last = list->pieces.count > 0 ? &list->pieces.items[list->pieces.count - 1] : NULL;

    if (bytes.size == 0)
        return;
    list->size += bytes.size;
    if (last != NULL && last->narrowed == DATA_UNDEFINED && last->bytes.data + last->bytes.size == bytes.data)
        last->bytes.size += bytes.size;
    else
        *VECTOR_APPEND(&list->pieces) = (struct piece){.bytes = bytes};
}

void pieces_add_narrowed(struct piece_list *list, struct span float32s, enum data_type type)
{
    if (float32s.size == 0)
        return;
    list->size += float32s.size / 2;
    *VECTOR_APPEND(&list->pieces) = (struct piece){.bytes = float32s, .narrowed = type};
}

void pieces_add_all(struct piece_list *list, const struct piece_list *from)
{
    for (size_t i = 0; i < from->pieces.count; i++)
        if (from->pieces.items[i].narrowed != DATA_UNDEFINED)
            pieces_add_narrowed(list, from->pieces.items[i].bytes, from->pieces.items[i].narrowed);
        else
            pieces_add(list, from->pieces.items[i].bytes);
}

void pieces_add_copy(struct piece_list *list, const void *data, size_t size)
{
    if (size > 0)
        pieces_add(list, (struct span){arena_copy(&list->arena, data, size), size});
}

void pieces_add_header(struct piece_list *list, uint32_t number, uint64_t size)
{
    SCOPED_STRING(header);

    wire_write_tag(&header, number, WIRE_BYTES);
    wire_write_varint(&header, size);
    pieces_add_copy(list, header.data, header.size);
}

void pieces_add_field(struct piece_list *list, uint32_t number, struct span content)
{
    pieces_add_header(list, number, content.size);
    pieces_add(list, content);
}

/* The data need not be aligned: they are anywhere in a file. */
static void narrow_float32s(const uint8_t *float32s, size_t count, enum data_type type, uint16_t *ret)
{
    for (size_t i = 0; i < count; i++) {
        float value;

        memcpy(&value, float32s + i * sizeof(value), sizeof(value));
        ret[i] = type == DATA_BFLOAT16 ? float32_to_bfloat16(value) : float32_to_float16(value);
    }
}

int pieces_write_narrowed(struct span float32s, enum data_type type, const struct file_map *map,
                          struct file_writer *writer, struct error *err)
{
    bool mapped = map != NULL && file_map_holds(map, float32s.data, float32s.size);
    uint16_t buffer[NARROW_RUN];
    int rc = 0;

    for (size_t done = 0; rc == 0 && done < float32s.size; done += sizeof(float) * NARROW_RUN) {
        size_t left = (float32s.size - done) / sizeof(float), count = left < NARROW_RUN ? left : NARROW_RUN;

        narrow_float32s(float32s.data + done, count, type, buffer);
        rc = file_writer_add(writer, buffer, count * sizeof(*buffer), err);
        if (mapped && done % FORGET_STEP == 0)
            file_map_forget(map, 0, map->size);
    }
    return rc;
}

int pieces_write(const struct piece_list *list, const struct file_map *map, struct file_writer *writer,
                 struct error *err)
{
    size_t touched = 0;

    for (size_t i = 0; i < list->pieces.count; i++) {
        struct span piece = list->pieces.items[i].bytes;
        /* Check the whole piece: it may have been joined to one that happens to follow the mapping in memory. */
        bool mapped = map != NULL && file_map_holds(map, piece.data, piece.size);
        int rc;

        if (list->pieces.items[i].narrowed != DATA_UNDEFINED)
            rc = pieces_write_narrowed(piece, list->pieces.items[i].narrowed, map, writer, err);
        else if (mapped && piece.size >= KERNEL_COPY_SIZE)
            rc = file_writer_copy(writer, map->fd, (uint64_t)(piece.data - map->data), piece.size, err);
        else
            rc = file_writer_add(writer, piece.data, piece.size, err);
        if (rc < 0)
            return rc;
        if (mapped && piece.size < KERNEL_COPY_SIZE) /* a kernel copy makes no pages resident */
            touched += piece.size;
        if (touched > FORGET_STEP) {
            file_map_forget(map, 0, map->size);
            touched = 0;
        }
    }
    return 0;
}

struct hash pieces_hash(const struct piece_list *list, const struct file_map *map)
{
    struct hash ret = {0};

    VECTOR_EACH (const struct piece, piece, list->pieces) {
        const struct span bytes = piece->bytes;
        const uint64_t place[] = {(uintptr_t)bytes.data, bytes.size, piece->narrowed};

        if (map != NULL && file_map_holds(map, bytes.data, bytes.size))
            ret = hash_combine(ret, hash_bytes(place, sizeof(place)));
        else
            ret = hash_combine(ret, hash_bytes(bytes.data, bytes.size));
    }
    return ret;
}

void pieces_copy(const struct piece_list *list, uint8_t *ret)
{
    for (size_t i = 0; i < list->pieces.count; i++) {
        struct span bytes = list->pieces.items[i].bytes;
        enum data_type type = list->pieces.items[i].narrowed;
        uint16_t buffer[NARROW_RUN];

        if (type == DATA_UNDEFINED) {
            memcpy(ret, bytes.data, bytes.size);
            ret += bytes.size;
            continue;
        }
        for (size_t left = bytes.size / sizeof(float); left > 0;) {
            size_t count = left < NARROW_RUN ? left : NARROW_RUN;

            narrow_float32s(bytes.data + bytes.size - left * sizeof(float), count, type, buffer);
            memcpy(ret, buffer, count * sizeof(*buffer));
            ret += count * sizeof(*buffer);
            left -= count;
        }
    }
}
