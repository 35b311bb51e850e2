/* engine/build/timing_cache.h: how long tactics take, so that they are timed once.
 *
 * A key is a hash of what a layer computes (operator, attributes, shapes, types and layouts; not names or weights),
 * the tactic, its provider's version, the number of threads and the processor. The file is JSON of our own with a
 * magic member; others are refused.
 */
#ifndef ENGINE_BUILD_TIMING_CACHE_H
#define ENGINE_BUILD_TIMING_CACHE_H

#include <math.h>

#include "base/hash.h"
#include "engine/tactic/tactic.h"
#include "format/json/writer.h"

/* In place of seconds: a tactic that does not work for its layer. null in the file. */
#define TIMING_FAILED ((double)INFINITY)

struct timing_cache;

struct timing_cache *timing_cache_new(void);
void timing_cache_free(struct timing_cache *cache);

struct hash timing_cache_key(const struct kernel_request *request, const struct tactic *tactic);
bool timing_cache_find(const struct timing_cache *cache, struct hash key, double *ret_seconds);
void timing_cache_add(struct timing_cache *cache, struct hash key, double seconds); /* replaces an older time */
size_t timing_cache_count(const struct timing_cache *cache);

/* Adds what the file has, all or nothing. An empty file has no times. ERR_CORRUPT when it is damaged, ERR_INVALID when
 * it is something else; ERR_MISSING, ERR_IO. */
int timing_cache_load(struct timing_cache *cache, const char *path, struct error *err);
int timing_cache_parse(struct timing_cache *cache, struct span bytes, const char *display_name, struct error *err);

/* Adds these times to those of the file, where newer ones replace older ones. Processes that save to one file at a time
 * take turns, and none of their times is lost. What is no timing cache stays as it is: errors as of
 * timing_cache_load(). A device or a pipe gets these times alone. */
int timing_cache_save(const struct timing_cache *cache, const char *path, struct error *err);

/* For those who will save after a long time: the errors that timing_cache_save() would end with because of what is at
 * `path`. */
int timing_cache_check(const char *path, struct error *err);

void timing_cache_write(const struct timing_cache *cache, struct json_writer *writer);

#endif
