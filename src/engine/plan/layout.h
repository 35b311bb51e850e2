/* engine/plan/layout.h: the layout of a plan file, for its writer and its reader (docs/formats.md, "Plan files"). */
#ifndef ENGINE_PLAN_LAYOUT_H
#define ENGINE_PLAN_LAYOUT_H

#include <stdint.h>

#include "base/hash.h"

#define PLAN_MAGIC "PLGRPLAN"
#define PLAN_MAGIC_SIZE 8
#define PLAN_VERSION 1
#define PLAN_ALIGNMENT 64 /* bytes: of the model in the file, and of the weights in the model */

/* The header: little-endian numbers. The description follows directly; then zeros up to the model, which is the rest of
 * the file. */
enum {
    PLAN_AT_VERSION = 8,           /* 4 bytes, and 4 that are 0 */
    PLAN_AT_DESCRIPTION_SIZE = 16, /* 8 bytes each from here on */
    PLAN_AT_MODEL_OFFSET = 24,
    PLAN_AT_MODEL_SIZE = 32,
    PLAN_AT_MODEL_HASH = 40,       /* low, high: of the model, see plan_hash */
    PLAN_AT_DESCRIPTION_HASH = 56, /* low, high: of the header before this field, and of the description */
    PLAN_HEADER_SIZE = 72,
};

/* Read and write a number of 4 or 8 bytes, or a hash of 16 bytes, in the header. */
uint64_t plan_number_get(const uint8_t *at, size_t size);
void plan_number_put(uint8_t *at, uint64_t value, size_t size);
struct hash plan_hash_get(const uint8_t *at);
void plan_hash_put(uint8_t *at, struct hash hash);

/* Combined hashes of blocks of PLAN_HASH_RUN bytes, so that a model need not be contiguous. */
#define PLAN_HASH_RUN ((size_t)1 << 20)

struct plan_hash {
    struct hash hash; /* of the blocks so far */
    uint8_t *run;     /* PLAN_HASH_RUN bytes */
    size_t size;      /* bytes in it */
};

void plan_hash_init(struct plan_hash *state);
void plan_hash_add(struct plan_hash *state, const void *data, size_t size);
struct hash plan_hash_finish(struct plan_hash *state); /* releases it, too */

/* The hash of contiguous bytes. */
struct hash plan_hash_bytes(const uint8_t *data, size_t size);

struct hash plan_description_hash(const uint8_t *header, const void *description, size_t size);

#endif
