/* format/numpy/npz.c: reads .npz files. */
#include "format/numpy/npz.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/file/shared_map.h"
#include "base/memory.h"
#include "base/memory_limit.h"
#include "format/numpy/npy.h"
#include "format/numpy/zip.h"

/* Deflate's maximum ratio: a match of 258 bytes needs two bits (RFC 1951, 3.2.5). */
#define DEFLATE_MAX_RATIO 1032
#define DEFLATE_SLACK 1024

#define NPY_EXTENSION ".npy"
#define DROP_STEP ((uint64_t)1 << 18) /* bytes */

struct member {
    struct text name; /* with its extension; in the archive */
    unsigned method, flags;
    uint32_t checksum;
    uint64_t packed_size, size; /* bytes */
    uint64_t header;            /* offset of its local header */
    struct span packed;         /* found by locate_member() */
};

/* ---- The directory ---- */

static int refuse_damaged_member(const char *what, struct error *err)
{
    return error_set(err, ERR_CORRUPT, "not a valid .npz file: %s", what);
}

/* The offset of the central directory and its number of members. */
struct directory {
    uint64_t offset, size, count;
};

/* Finds the end-of-directory record, which may be followed by a comment. */
static bool find_end(struct span file, size_t *ret)
{
    for (size_t comment = 0; comment <= UINT16_MAX && comment + ZIP_END_SIZE <= file.size; comment++) {
        const uint8_t *at = file.data + file.size - comment - ZIP_END_SIZE;

        if (zip_number(at, 4) == ZIP_END_MAGIC && zip_number(at + 20, 2) == comment) {
            *ret = (size_t)(at - file.data);
            return true;
        }
    }
    return false;
}

static int find_directory(struct span file, struct directory *ret, struct error *err)
{
    size_t end;
    const uint8_t *at;
    uint64_t offset;

    if (!find_end(file, &end))
        return refuse_damaged_member("the end-of-directory record is missing", err);
    at = file.data + end;
    *ret = (struct directory){zip_number(at + 16, 4), zip_number(at + 12, 4), zip_number(at + 10, 2)};
    if (end >= ZIP_LOCATOR64_SIZE && zip_number(at - ZIP_LOCATOR64_SIZE, 4) == ZIP_LOCATOR64_MAGIC) {
        offset = zip_number(at - ZIP_LOCATOR64_SIZE + 8, 8);
        if (end < ZIP_END64_SIZE || offset > end - ZIP_END64_SIZE ||
            zip_number(file.data + offset, 4) != ZIP_END64_MAGIC)
            return refuse_damaged_member("the 64-bit end-of-directory record is missing", err);
        at = file.data + offset;
        *ret = (struct directory){zip_number(at + 48, 8), zip_number(at + 40, 8), zip_number(at + 32, 8)};
    }
    if (ret->offset > end || ret->size > end - ret->offset || ret->count > ret->size / ZIP_ENTRY_SIZE)
        return refuse_damaged_member("the directory is outside of the file", err);
    return 0;
}

/* Replaces sizes and offset by those in the 64-bit extra field. */
static bool take_large_numbers(struct span extra, struct member *member)
{
    uint64_t *numbers[] = {&member->size, &member->packed_size, &member->header};
    size_t at = 0;

    while (extra.size - at >= 4) {
        size_t size = (size_t)zip_number(extra.data + at + 2, 2);
        size_t end = at + 4 + size;

        if (end > extra.size)
            return false;
        if (zip_number(extra.data + at, 2) == ZIP_EXTRA_64) {
            at += 4;
            for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
                if (*numbers[i] != ZIP_ELSEWHERE)
                    continue;
                if (end - at < 8)
                    return false;
                *numbers[i] = zip_number(extra.data + at, 8);
                at += 8;
            }
            return true;
        }
        at = end;
    }
    return true;
}

static bool is_npy_name(struct text name)
{
    size_t length = strlen(NPY_EXTENSION);

    return name.size >= length && memcmp(name.data + name.size - length, NPY_EXTENSION, length) == 0;
}

/* Reads the entry at `at` (before `end`) and advances. */
static bool take_entry(const uint8_t **at, const uint8_t *end, struct member *ret)
{
    const uint8_t *entry = *at;
    size_t name, extra, comment;

    if (end - entry < ZIP_ENTRY_SIZE || zip_number(entry, 4) != ZIP_ENTRY_MAGIC)
        return false;
    name = (size_t)zip_number(entry + 28, 2);
    extra = (size_t)zip_number(entry + 30, 2);
    comment = (size_t)zip_number(entry + 32, 2);
    if ((size_t)(end - entry) - ZIP_ENTRY_SIZE < name + extra + comment)
        return false;
    *ret = (struct member){
        .name = {(const char *)entry + ZIP_ENTRY_SIZE, name},
        .flags = (unsigned)zip_number(entry + 8, 2),
        .method = (unsigned)zip_number(entry + 10, 2),
        .checksum = (uint32_t)zip_number(entry + 16, 4),
        .packed_size = zip_number(entry + 20, 4),
        .size = zip_number(entry + 24, 4),
        .header = zip_number(entry + 42, 4),
    };
    *at = entry + ZIP_ENTRY_SIZE + name + extra + comment;
    return take_large_numbers((struct span){entry + ZIP_ENTRY_SIZE + name, extra}, ret);
}

/* Finds the member's bytes after its local header, whose name and extra fields may differ in length from the
 * directory's. */
static bool locate_member(struct span file, struct member *member)
{
    uint64_t begin;

    if (member->header > file.size || file.size - member->header < ZIP_LOCAL_SIZE ||
        zip_number(file.data + member->header, 4) != ZIP_LOCAL_MAGIC)
        return false;
    begin = member->header + ZIP_LOCAL_SIZE + zip_number(file.data + member->header + 26, 2) +
            zip_number(file.data + member->header + 28, 2);
    if (begin > file.size || member->packed_size > file.size - begin)
        return false;
    member->packed = (struct span){file.data + begin, (size_t)member->packed_size};
    return true;
}

/* Checks a member before it is unpacked. */
static int check_member(struct span file, struct member *member, struct error *err)
{
    uint64_t most = member->packed_size;

    if ((member->method != ZIP_STORED && member->method != ZIP_DEFLATED) || member->flags & ZIP_FLAG_ENCRYPTED)
        return error_set(err, ERR_UNSUPPORTED, "'" TEXT_FORMAT "' in the .npz file is neither stored nor deflated",
                         TEXT_ARGS(member->name));
    if (!locate_member(file, member))
        return error_set(err, ERR_CORRUPT, "'" TEXT_FORMAT "' is outside of the .npz file", TEXT_ARGS(member->name));
    if (member->method == ZIP_DEFLATED)
        most = member->packed_size * DEFLATE_MAX_RATIO + DEFLATE_SLACK;
    if (member->size > most || (member->method == ZIP_STORED && member->size != member->packed_size))
        return error_set(
            err, ERR_CORRUPT, "'" TEXT_FORMAT "' in the .npz file claims %llu bytes in %llu compressed ones",
            TEXT_ARGS(member->name), (unsigned long long)member->size, (unsigned long long)member->packed_size);
    return 0;
}

/* What the directory says about a member that list_members() has checked. */
static struct member entry_at(const struct npz *npz, size_t index)
{
    const uint8_t *entry = npz->file.data + npz->entries[index];
    struct member ret;

    take_entry(&entry, npz->file.data + npz->file.size, &ret);
    return ret;
}

/* Looks at the member itself, too. */
static struct member member_at(const struct npz *npz, size_t index)
{
    struct member ret = entry_at(npz, index);

    locate_member(npz->file, &ret);
    return ret;
}

/* Looking at the local headers of all members must not keep their pages in memory. */
static void drop_pages(const struct npz *npz, const struct member *member, uint64_t *dropped)
{
    if (npz->map == NULL || member->header < *dropped + DROP_STEP)
        return;
    shared_map_forget(npz->map, (size_t)*dropped, (size_t)member->header);
    *dropped = member->header;
}

struct span npz_packed(const struct npz *npz, size_t index)
{
    return member_at(npz, index).packed;
}

static int list_members(struct npz *npz, struct error *err)
{
    struct directory directory = {0};
    const uint8_t *at, *end;
    uint64_t packed = 0, dropped = 0;
    int rc = find_directory(npz->file, &directory, err);

    if (rc < 0)
        return rc;
    at = npz->file.data + directory.offset;
    end = at + directory.size;
    for (uint64_t i = 0; i < directory.count; i++) {
        size_t entry = (size_t)(at - npz->file.data);
        struct member member;

        if (!take_entry(&at, end, &member))
            return refuse_damaged_member("its directory is damaged", err);
        if (!is_npy_name(member.name))
            continue;
        if (memchr(member.name.data, '\0', member.name.size) != NULL)
            return error_set(err, ERR_CORRUPT, "array %zu of the .npz file has a NUL character in its name",
                             npz->count);
        rc = check_member(npz->file, &member, err);
        if (rc < 0)
            return rc;
        packed += member.packed_size;
        if (packed > npz->file.size)
            return refuse_damaged_member("its members overlap", err);
        drop_pages(npz, &member, &dropped);
        npz->entries = memory_grow(npz->entries, npz->count, &npz->capacity, sizeof(*npz->entries));
        npz->entries[npz->count++] = entry;
    }
    return npz->count > 0 ? 0 : error_set(err, ERR_CORRUPT, "the .npz file contains no array");
}

static int open_archive(struct span file, struct shared_map *map, struct npz *ret, struct error *err)
{
    int rc;

    *ret = (struct npz){.file = file, .map = map};
    rc = list_members(ret, err);
    if (rc < 0)
        npz_close(ret);
    return rc;
}

int npz_open_memory(struct span file, struct npz *ret, struct error *err)
{
    return open_archive(file, NULL, ret, err);
}

int npz_open(const char *path, struct npz *ret, struct error *err)
{
    struct shared_map *map;
    int rc = shared_map_open(path, &map, err);

    if (rc < 0)
        return rc;
    rc = open_archive(shared_map_content(map), map, ret, err);
    return rc < 0 ? error_context(err, "'%s'", path) : 0;
}

void npz_close(struct npz *npz)
{
    free(npz->entries);
    if (npz->map != NULL)
        shared_map_leave(npz->map);
    *npz = (struct npz){0};
}

struct text npz_name(const struct npz *npz, size_t index)
{
    struct text name = entry_at(npz, index).name;

    return (struct text){name.data, name.size - strlen(NPY_EXTENSION)};
}

/* ---- Members ---- */

static int check_sum(const struct member *member, const uint8_t *data, struct error *err)
{
    if (crc32_z(0, data, (size_t)member->size) == member->checksum)
        return 0;
    return error_set(err, ERR_CORRUPT, "'" TEXT_FORMAT "' in the .npz file is damaged: CRC mismatch",
                     TEXT_ARGS(member->name));
}

/* Unpacks to `data`, which has exactly the member's size. zlib's sizes have 32 bits, so this works in several steps. */
static bool inflate_to(const struct member *member, uint8_t *data)
{
    const uInt turn = 1u << 30;
    z_stream stream = {0};
    size_t read = 0, written = 0;
    int status = Z_OK;

    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return false;
    while (status == Z_OK) {
        size_t in = member->packed.size - read, out = (size_t)member->size - written;
        uint8_t none;

        stream.next_in = (Bytef *)(member->packed.data + read);
        stream.avail_in = in < turn ? (uInt)in : turn;
        stream.next_out = out > 0 ? data + written : &none; /* only the end-of-stream mark may be left */
        stream.avail_out = out < turn ? (uInt)out : turn;
        status = inflate(&stream, Z_NO_FLUSH);
        read = (size_t)(stream.next_in - member->packed.data);
        written += out > 0 ? (size_t)(stream.next_out - (data + written)) : 0;
    }
    inflateEnd(&stream);
    return status == Z_STREAM_END && written == member->size;
}

static int unpack_member(const struct member *member, uint8_t **ret, struct error *err)
{
    size_t size = (size_t)member->size;
    uint8_t *data = memory_limit_allows(size) ? malloc(size + 1) : NULL;
    int rc = 0;

    if (!data)
        return error_set(err, ERR_MEMORY, "not enough memory for the %zu bytes of '" TEXT_FORMAT "' in the .npz file",
                         size, TEXT_ARGS(member->name));
    if (member->method == ZIP_STORED)
        memcpy(data, member->packed.data, size);
    else if (!inflate_to(member, data))
        rc = error_set(err, ERR_CORRUPT, "'" TEXT_FORMAT "' in the .npz file is damaged: it cannot be decompressed",
                       TEXT_ARGS(member->name));
    if (rc == 0)
        rc = check_sum(member, data, err);
    if (rc == 0)
        *ret = data;
    else
        free(data);
    return rc;
}

static int read_unpacked(const struct member *member, struct tensor *ret, struct error *err)
{
    uint8_t *data = NULL;
    int rc = unpack_member(member, &data, err);

    return rc < 0 ? rc : npy_read_owned(data, (size_t)member->size, ret, err);
}

int npz_read(const struct npz *npz, size_t index, struct tensor *ret, struct error *err)
{
    struct member member = member_at(npz, index);
    int rc;

    if (member.method != ZIP_STORED)
        return read_unpacked(&member, ret, err);
    rc = check_sum(&member, member.packed.data, err);
    if (rc == 0)
        rc = npy_read(member.packed, ret, err);
    if (rc == 0 && ret->free_owner == NULL && npz->map != NULL) {
        ret->owner = shared_map_join(npz->map);
        ret->free_owner = shared_map_leave;
    }
    return rc;
}

static int add_to_list(const struct npz *npz, size_t index, struct tensor_list *ret, struct error *err)
{
    struct text name = npz_name(npz, index);
    struct tensor tensor;

    if (tensor_list_find(ret, name) != NULL)
        return error_set(err, ERR_CORRUPT, "the .npz file has two arrays '" TEXT_FORMAT "'", TEXT_ARGS(name));
    if (npz_read(npz, index, &tensor, err) < 0)
        return error_context(err, "array '" TEXT_FORMAT "'", TEXT_ARGS(name));
    tensor_list_add(ret, name, &tensor);
    return 0;
}

int npz_load(const char *path, struct tensor_list *ret, struct error *err)
{
    struct npz npz;
    int rc = npz_open(path, &npz, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < npz.count && rc == 0; i++)
        rc = add_to_list(&npz, i, ret, err);
    npz_close(&npz);
    return rc < 0 ? error_context(err, "'%s'", path) : 0;
}

int npz_read_first(struct span file, struct tensor *ret, struct error *err)
{
    struct member first;
    struct npz npz;
    int rc = npz_open_memory(file, &npz, err);

    if (rc < 0)
        return rc;
    first = member_at(&npz, 0);
    npz_close(&npz);
    return read_unpacked(&first, ret, err);
}
