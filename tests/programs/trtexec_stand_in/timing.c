/* tests/programs/trtexec_stand_in/timing.c: timing caches, and times of tactics that are drawn by lot.
 *
 * A file begins with what nobody else has to understand, and with the version; the rest is the built-in engine's cache.
 */
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "engine/build/timing_cache.h"
#include "programs/trtexec_stand_in/stand_in.h"

#define MAGIC "\x0ctimingcache"
#define HEADER_SIZE 16 /* the magic, and the four numbers of the version */
/* Natural logarithm of the factor by which a time is off at the most: seeds, and not the load of the machine, have to
 * decide which tactic is the fastest. */
#define MOST_NOISE 8.0

static int read_file(struct timing_cache *cache, const char *path, size_t *ret_size, struct error *err)
{
    struct file_map map;
    int rc = file_map_open(path, &map, err);

    if (rc < 0)
        return rc;
    *ret_size = map.size;
    if (map.size < HEADER_SIZE || memcmp(map.data, MAGIC, HEADER_SIZE - 4) != 0 ||
        memcmp(map.data + HEADER_SIZE - 4, stand_in.numbers, 4) != 0)
        rc = error_set(err, ERR_CORRUPT, "Deserialize the timing cache of another version or device");
    else
        rc = timing_cache_parse(cache, (struct span){map.data + HEADER_SIZE, map.size - HEADER_SIZE}, path, err);
    file_map_release(&map);
    return rc;
}

bool timing_load(struct timing_cache *cache, const char *path)
{
    struct string_builder lock;
    struct error err = {0};
    size_t size = 0;
    int rc;

    string_init(&lock);
    string_add_format(&lock, "%s.lock", path);
    say('V', "[TRT] Trying to set exclusive file lock %s", lock.data);
    close(open(lock.data, O_CREAT | O_RDWR | O_CLOEXEC, 0644)); /* left behind */
    string_release(&lock);
    rc = read_file(cache, path, &size, &err);
    if (rc == 0)
        say('I', "[TRT] Loaded %zu bytes of timing cache from %s", size, path);
    else if (rc == ERR_MISSING)
        say('W', "[TRT] Could not read cache from: %s. A new cache will be generated and written.", path);
    else
        fprintf(stderr, "Exception detected: %s\n", err.message);
    return rc == 0 && timing_cache_count(cache) > 0;
}

void timing_save(struct timing_cache *cache, const char *path)
{
    struct json_writer json;
    struct file_writer writer;
    struct error err = {0};
    size_t size = 0;

    if (read_file(cache, path, &size, &err) < 0) /* existing times win */
        err = (struct error){0};
    json_writer_init(&json);
    timing_cache_write(cache, &json);
    if (file_writer_open(&writer, path, &err) == 0) {
        file_writer_add(&writer, MAGIC, HEADER_SIZE - 4, &err);
        file_writer_add(&writer, stand_in.numbers, 4, &err);
        file_writer_add(&writer, json.text.data, json.text.size, &err);
        if (file_writer_commit(&writer, FILE_INTERMEDIATE, &err) == 0)
            say('I', "[TRT] Saved %zu bytes of timing cache to %s", json.text.size + HEADER_SIZE, path);
    }
    json_writer_release(&json);
}

/* Between -1 and 1, by the seed and the key. */
static double draw(const char *seed, const char *key)
{
    struct string_builder text;
    struct hash hash;

    string_init(&text);
    string_add_format(&text, "%s %s", seed, key);
    hash = hash_bytes(text.data, text.size);
    string_release(&text);
    return (double)(hash.low >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

struct timing_cache *timing_disturbed(const struct timing_cache *cache, const char *seed)
{
    struct timing_cache *ret = timing_cache_new();
    struct json_writer json;
    struct error err = {0};
    const char *key;
    json_t *root, *value;
    char *text;

    json_writer_init(&json);
    timing_cache_write(cache, &json);
    root = json_loadb(json.text.data, json.text.size, 0, NULL);
    json_object_foreach (json_object_get(root, "seconds"), key, value)
        if (json_is_real(value))
            json_real_set(value, json_real_value(value) * exp(MOST_NOISE * draw(seed, key)));
    text = json_dumps(root, 0);
    if (timing_cache_parse(ret, (struct span){(const uint8_t *)text, strlen(text)}, "disturbed times", &err) < 0)
        say('E', "%s", err.message);
    free(text);
    json_decref(root);
    json_writer_release(&json);
    return ret;
}
