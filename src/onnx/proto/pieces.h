/* onnx/proto/pieces.h: a message assembled from bytes in many places, without copying them.
 *
 * Adjacent pieces of one mapping are joined, so that a long run of unchanged nodes is one piece. New bytes are in the
 * list's arena.
 */
#ifndef ONNX_PROTO_PIECES_H
#define ONNX_PROTO_PIECES_H

#include "base/container/arena.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "base/file/file.h"
#include "tensor/values/data_type.h"

struct piece {
    struct span bytes;
    /* FLOAT16 or BFLOAT16: float32 data to be converted to this type, half as many bytes; UNDEFINED: unchanged */
    enum data_type narrowed;
};

struct piece_list {
    struct arena arena;
    VECTOR(struct piece) pieces;
    uint64_t size; /* bytes in all */
};

void pieces_init(struct piece_list *list);
void pieces_release(struct piece_list *list);
void pieces_add(struct piece_list *list, struct span bytes);                                  /* not copied */
void pieces_add_narrowed(struct piece_list *list, struct span float32s, enum data_type type); /* not copied */
void pieces_add_all(struct piece_list *list, const struct piece_list *from);
void pieces_add_copy(struct piece_list *list, const void *data, size_t size);
void pieces_add_field(struct piece_list *list, uint32_t number, struct span content); /* tag, length, content */
void pieces_add_header(struct piece_list *list, uint32_t number, uint64_t size);      /* tag and length alone */

/* Equal hashes: the lists write the same bytes, as long as the mapped file is unchanged. Pieces of `map` (may be NULL)
 * are hashed by their place in it, without reading them. */
struct hash pieces_hash(const struct piece_list *list, const struct file_map *map);

/* Writes all pieces. Large pieces of `map` (may be NULL) are copied by the kernel. */
int pieces_write(const struct piece_list *list, const struct file_map *map, struct file_writer *writer,
                 struct error *err);

/* Converts float32 data to float16 or bfloat16 (round to nearest even) in small blocks and writes them. `map` as
 * above. */
int pieces_write_narrowed(struct span float32s, enum data_type type, const struct file_map *map,
                          struct file_writer *writer, struct error *err);
void pieces_copy(const struct piece_list *list, uint8_t *ret);

#endif
