/* base/hash.h: content hashes (XXH3, 128 bit), for comparing files and candidates. Not for security. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct hash {
    uint64_t low, high;
};

#define HASH_TEXT_SIZE 33 /* 32 hexadecimal digits and a NUL */

struct hash hash_bytes(const void *data, size_t size);
struct hash hash_combine(struct hash a, struct hash b); /* order matters */
bool hash_equal(struct hash a, struct hash b);
void hash_to_text(struct hash hash, char ret[HASH_TEXT_SIZE]); /* high digits first */

/* The hash of a file's content, read in pieces so that a large file does not stay in memory. */
int hash_file(const char *path, struct hash *ret, struct error *err);

#endif
