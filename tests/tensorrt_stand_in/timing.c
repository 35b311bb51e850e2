/* tests/tensorrt_stand_in/timing.c: timing caches: which tactic a layer had.
 *
 * As bytes: a magic, the release's number, then the entries.
 */
#include <string.h>

#include "base/hash.h"
#include "tensorrt_stand_in/network.h"

#define MAGIC "stand-in timing"

struct cache_header {
    char magic[16];
    int32_t release, reserved;
};

struct timing_key timing_key_of(const char *layer)
{
    struct hash hash = hash_bytes(layer, strlen(layer));
    struct timing_key ret;

    memcpy(ret.bytes, &hash.low, sizeof(hash.low));
    memcpy(ret.bytes + sizeof(hash.low), &hash.high, sizeof(hash.high));
    return ret;
}

struct timing_entry *timing_entry_find(const struct stand_in_timing_cache *cache, const struct timing_key *key)
{
    for (size_t i = 0; i < cache->entries.count; i++)
        if (memcmp(&cache->entries.items[i].key, key, sizeof(*key)) == 0)
            return &cache->entries.items[i];
    return NULL;
}

void timing_entry_set(struct stand_in_timing_cache *cache, const char *layer, int64_t implementation, int64_t tactic)
{
    struct timing_key key = timing_key_of(layer);
    struct timing_entry *entry = timing_entry_find(cache, &key);

    if (entry == NULL) {
        entry = VECTOR_APPEND(&cache->entries);
        *entry = (struct timing_entry){.key = key, .value.milliseconds = 0.01F};
    }
    entry->implementation = implementation;
    entry->value.tactic = (uint64_t)tactic;
}

struct object *timing_cache_object_new(const void *data, size_t size)
{
    struct stand_in_timing_cache *ret;
    struct cache_header header;
    size_t count = size > sizeof(header) ? (size - sizeof(header)) / sizeof(struct timing_entry) : 0;

    if (size > 0) {
        memset(&header, 0, sizeof(header));
        memcpy(&header, data, size < sizeof(header) ? size : sizeof(header));
        if (memcmp(header.magic, MAGIC, sizeof(header.magic)) != 0 || header.release != release_get()->version ||
            has_fault("timing-cache-refused")) {
            report_error("kINVALID_ARGUMENT", "ITimingCache: the timing cache is of another release or device");
            return NULL;
        }
    }
    ret = object_new(sizeof(*ret), "VTimingCache", NULL);
    for (size_t i = 0; i < count; i++)
        memcpy(VECTOR_APPEND(&ret->entries), (const char *)data + sizeof(header) + i * sizeof(struct timing_entry),
               sizeof(struct timing_entry));
    return &ret->object;
}

static struct object *serialize_cache(const void *self)
{
    struct stand_in_timing_cache *cache = object_of(self);
    struct cache_header header = {.magic = MAGIC, .release = release_get()->version};
    SCOPED_STRING(bytes);

    string_add_bytes(&bytes, &header, sizeof(header));
    string_add_bytes(&bytes, cache->entries.items, cache->entries.count * sizeof(struct timing_entry));
    return host_memory_new(bytes.data, bytes.size);
}

static bool combine_caches(void *self, const struct object *other, bool ignore_mismatch)
{
    struct stand_in_timing_cache *cache = object_of(self);
    const struct stand_in_timing_cache *from = (const struct stand_in_timing_cache *)other;

    (void)ignore_mismatch;
    for (size_t i = 0; i < from->entries.count; i++)
        if (timing_entry_find(cache, &from->entries.items[i].key) == NULL)
            *VECTOR_APPEND(&cache->entries) = from->entries.items[i];
    return true;
}

static bool reset_cache(void *self)
{
    ((struct stand_in_timing_cache *)object_of(self))->entries.count = 0;
    return true;
}

static int64_t query_keys(const void *self, struct timing_key *keys, int64_t capacity)
{
    struct stand_in_timing_cache *cache = object_of(self);

    for (size_t i = 0; keys != NULL && i < cache->entries.count && (int64_t)i < capacity; i++)
        keys[i] = cache->entries.items[i].key;
    return (int64_t)cache->entries.count;
}

static struct timing_value query_entry(const void *self, const struct timing_key *key)
{
    const struct timing_entry *entry = timing_entry_find(object_of(self), key);

    return entry != NULL ? entry->value : (struct timing_value){.tactic = UINT64_MAX};
}

static bool update_entry(void *self, const struct timing_key *key, const struct timing_value *value)
{
    struct timing_entry *entry = timing_entry_find(object_of(self), key);

    if (entry == NULL)
        return false;
    entry->implementation = 0;
    entry->value = *value;
    return true;
}

const struct method_row timing_methods[] = {
    {"VTimingCache", "serialize", "8.5..11.1:2 rtx:2", CALL(serialize_cache)},
    {"VTimingCache", "combine", "8.5..11.1:3 rtx:3", CALL(combine_caches)},
    {"VTimingCache", "reset", "8.5..11.1:4 rtx:4", CALL(reset_cache)},
    {"VTimingCache", "queryKeys", "10.8..11.1:5 rtx:5", CALL(query_keys)},
    {"VTimingCache", "query", "10.8..11.1:6 rtx:6", CALL(query_entry)},
    {"VTimingCache", "update", "10.8..11.1:7 rtx:7", CALL(update_entry)},
    {NULL, NULL, NULL, {NULL}},
};
