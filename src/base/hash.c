/* base/hash.c: XXH3 with 128 bits, from libxxhash. */
#include "base/hash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/file/file.h"
#include "base/memory.h"

#define PIECE ((size_t)64 << 10) /* stays in the processor's cache */

static struct hash from_xxh(XXH128_hash_t hash)
{
    return (struct hash){.low = hash.low64, .high = hash.high64};
}

struct hash hash_bytes(const void *data, size_t size)
{
    return from_xxh(XXH3_128bits(data, size));
}

struct hash hash_combine(struct hash a, struct hash b)
{
    uint64_t words[] = {a.low, a.high, b.low, b.high};

    return hash_bytes(words, sizeof(words));
}

bool hash_equal(struct hash a, struct hash b)
{
    return a.low == b.low && a.high == b.high;
}

void hash_to_text(struct hash hash, char ret[HASH_TEXT_SIZE])
{
    snprintf(ret, HASH_TEXT_SIZE, "%016" PRIx64 "%016" PRIx64, hash.high, hash.low);
}

int hash_file(const char *path, struct hash *ret, struct error *err)
{
    int fd = file_open_to_read(path, err);
    if (fd < 0)
        return fd;

    int rc = 0;
    char *buffer SCOPED_FREE = memory_alloc(PIECE);
    XXH3_state_t *state = XXH3_createState();
    if (!state) {
        rc = error_set(err, ERR_MEMORY, "cannot hash '%s': out of memory", path);
        goto done;
    }
    XXH3_128bits_reset(state);
    for (off_t offset = 0;;) {
        ssize_t got = pread(fd, buffer, PIECE, offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            rc = error_set_errno(err, ERR_IO, "cannot read '%s'", path);
            goto done;
        }
        if (got == 0)
            break;
        XXH3_128bits_update(state, buffer, (size_t)got);
        offset += got;
    }
    *ret = from_xxh(XXH3_128bits_digest(state));
done:
    XXH3_freeState(state);
    close(fd);
    return rc;
}
