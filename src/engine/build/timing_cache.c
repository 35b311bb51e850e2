/* engine/build/timing_cache.c: a hash table of times, and its file. */
#include "engine/build/timing_cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "format/json/reader.h"
#include "format/json/writer.h"

#define MAGIC_KEY "polygraphy_timing_cache"
#define VERSION 1

struct cached_timing {
    struct hash key;
    double seconds;
};

struct timing_cache {
    struct cached_timing *items; /* in the order in which they came */
    size_t count, capacity;
    size_t *slots;     /* number of an item plus 1; 0: free. Open addressing */
    size_t slot_count; /* a power of two, or 0 */
};

struct timing_cache *timing_cache_new(void)
{
    return memory_alloc_zero(1, sizeof(struct timing_cache));
}

void timing_cache_free(struct timing_cache *cache)
{
    if (!cache)
        return;
    free(cache->items);
    free(cache->slots);
    free(cache);
}

/* ---- The table ---- */

/* Where the key is, or the free slot where it would be put. There is always a free one. */
static size_t find_timing_slot(const struct timing_cache *cache, struct hash key)
{
    size_t mask = cache->slot_count - 1;
    size_t slot = (size_t)key.low & mask;

    while (cache->slots[slot] != 0 && !hash_equal(cache->items[cache->slots[slot] - 1].key, key))
        slot = (slot + 1) & mask;
    return slot;
}

static void enlarge_slots(struct timing_cache *cache)
{
    free(cache->slots);
    cache->slot_count = cache->slot_count ? 2 * cache->slot_count : 64;
    cache->slots = memory_alloc_zero(cache->slot_count, sizeof(*cache->slots));
    for (size_t i = 0; i < cache->count; i++)
        cache->slots[find_timing_slot(cache, cache->items[i].key)] = i + 1;
}

bool timing_cache_find(const struct timing_cache *cache, struct hash key, double *ret_seconds)
{
    size_t slot = cache->slot_count > 0 ? find_timing_slot(cache, key) : 0;

    if (cache->slot_count == 0 || cache->slots[slot] == 0)
        return false;
    *ret_seconds = cache->items[cache->slots[slot] - 1].seconds;
    return true;
}

void timing_cache_add(struct timing_cache *cache, struct hash key, double seconds)
{
    size_t slot;

    if (2 * (cache->count + 1) > cache->slot_count)
        enlarge_slots(cache);
    slot = find_timing_slot(cache, key);
    if (cache->slots[slot] == 0) {
        struct cached_timing *timing = VECTOR_APPEND(cache);

        timing->key = key;
        cache->slots[slot] = cache->count;
    }
    cache->items[cache->slots[slot] - 1].seconds = seconds;
}

size_t timing_cache_count(const struct timing_cache *cache)
{
    return cache->count;
}

/* ---- The file ---- */

static bool parse_hex_digits(const char *text, uint64_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < 16; i++) {
        char c = text[i];

        if (c >= '0' && c <= '9')
            *ret = *ret << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *ret = *ret << 4 | (uint64_t)(c - 'a' + 10);
        else
            return false;
    }
    return true;
}

/* What hash_to_text() writes. */
static bool parse_timing_key(const char *text, struct hash *ret)
{
    return strlen(text) == HASH_TEXT_SIZE - 1 && parse_hex_digits(text, &ret->high) &&
           parse_hex_digits(text + 16, &ret->low);
}

static int read_timing_seconds(struct json_reader *reader, json_t *value, double *ret, struct error *err)
{
    if (json_is_null(value)) {
        *ret = TIMING_FAILED;
        return 0;
    }
    if (!json_reader_number(reader, value, ret) || !isfinite(*ret) || *ret < 0)
        return error_set(err, ERR_CORRUPT, "a time in seconds is expected, not negative, or null");
    return 0;
}

static int check_timing_version(struct json_reader *reader, struct error *err)
{
    json_t *version = json_is_object(reader->root) ? json_object_get(reader->root, MAGIC_KEY) : NULL;

    if (!version)
        return error_set(err, ERR_INVALID,
                         "'%s' is no timing cache of this program: the member '" MAGIC_KEY "' is missing",
                         reader->name);
    if (!json_is_integer(version) || json_integer_value(version) != VERSION)
        return error_set(err, ERR_INVALID, "'%s' is a timing cache of another version than %d, which is read here",
                         reader->name, VERSION);
    return 0;
}

/* Into a cache of its own first: a damaged file adds nothing. */
static int read_timings(struct json_reader *reader, struct timing_cache *ret, struct error *err)
{
    const char *text;
    json_t *times, *value;
    int rc = check_timing_version(reader, err);

    if (rc < 0)
        return rc;
    times = json_object_get(reader->root, "seconds");
    if (!json_is_object(times))
        return error_set(err, ERR_CORRUPT, "'%s': the object 'seconds' is missing", reader->name);
    json_object_foreach (times, text, value) {
        struct hash key;
        double seconds = 0;

        if (!parse_timing_key(text, &key))
            return error_set(err, ERR_CORRUPT, "'%s': '%.40s' is no key: 32 hexadecimal digits are expected",
                             reader->name, text);
        if (read_timing_seconds(reader, value, &seconds, err) < 0)
            return error_context(err, "'%s': key '%s'", reader->name, text);
        timing_cache_add(ret, key, seconds);
    }
    return 0;
}

static void merge_timings(struct timing_cache *cache, const struct timing_cache *from)
{
    for (size_t i = 0; i < from->count; i++)
        timing_cache_add(cache, from->items[i].key, from->items[i].seconds);
}

/* `rc` is what opening the reader gave. */
static int read_timings_and_close(struct timing_cache *cache, struct json_reader *reader, int rc, struct error *err)
{
    struct timing_cache *loaded;

    if (rc < 0)
        return rc;
    loaded = timing_cache_new();
    rc = read_timings(reader, loaded, err);
    json_reader_release(reader);
    if (rc == 0)
        merge_timings(cache, loaded);
    timing_cache_free(loaded);
    return rc;
}

/* Of a regular file, only while its lock is held: an empty one is about to be filled, or belonged to a process that was
 * killed before it came to that. */
static int read_timing_file(struct timing_cache *cache, const char *path, struct error *err)
{
    struct json_reader reader;
    struct stat status;
    int rc;

    if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
        return 0;
    rc = json_reader_open(&reader, path, err);
    return read_timings_and_close(cache, &reader, rc, err);
}

/* Whether it is, or can become, a file that keeps its content: not a device or a pipe. */
static bool file_keeps_content(const char *path)
{
    struct stat status;

    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

int timing_cache_load(struct timing_cache *cache, const char *path, struct error *err)
{
    int lock = -1;
    int rc = file_keeps_content(path) ? file_lock(path, FILE_LOCK_TO_READ, &lock, err) : 0;

    if (rc == 0)
        rc = read_timing_file(cache, path, err);
    if (lock >= 0)
        close(lock);
    return rc;
}

int timing_cache_parse(struct timing_cache *cache, struct span bytes, const char *display_name, struct error *err)
{
    struct json_reader reader;
    int rc = json_reader_open_memory(&reader, bytes.data, bytes.size, display_name, err);

    return read_timings_and_close(cache, &reader, rc, err);
}

void timing_cache_write(const struct timing_cache *cache, struct json_writer *writer)
{
    char text[HASH_TEXT_SIZE];

    json_writer_begin_object(writer);
    json_writer_add_integer(writer, MAGIC_KEY, VERSION);
    json_writer_begin_object_member(writer, "seconds");
    for (size_t i = 0; i < cache->count; i++) {
        hash_to_text(cache->items[i].key, text);
        json_writer_key(writer, text);
        if (isfinite(cache->items[i].seconds))
            json_writer_number(writer, cache->items[i].seconds);
        else
            json_writer_null(writer);
    }
    json_writer_end_object(writer);
    json_writer_end_object(writer);
}

int timing_cache_check(const char *path, struct error *err)
{
    struct timing_cache *ignored;
    struct stat status;
    int rc;

    if (stat(path, &status) != 0 || !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
        return 0;
    ignored = timing_cache_new();
    rc = timing_cache_load(ignored, path, err);
    timing_cache_free(ignored);
    if (rc == ERR_CORRUPT)
        return error_context(err, "'%s' is no timing cache, or damaged: no times can be added to it", path);
    return rc;
}

static int write_timing_file(const struct timing_cache *cache, const char *path, struct error *err)
{
    struct json_writer writer;
    int rc = json_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    timing_cache_write(cache, &writer);
    rc = json_writer_commit(&writer, FILE_DURABLE, err);
    json_writer_release(&writer);
    return rc;
}

int timing_cache_save(const struct timing_cache *cache, const char *path, struct error *err)
{
    struct timing_cache *all;
    int lock;
    int rc;

    if (!file_keeps_content(path))
        return write_timing_file(cache, path, err);
    rc = file_lock(path, FILE_LOCK_TO_CHANGE, &lock, err);
    if (rc < 0)
        return rc;
    all = timing_cache_new();
    rc = read_timing_file(all, path, err);
    merge_timings(all, cache);
    if (rc == 0)
        rc = write_timing_file(all, path, err);
    timing_cache_free(all);
    close(lock);
    return rc;
}
