/* engine/build/timing_cache.h: a cache of tactic times.
 *
 * A key is a hash of what a layer computes (operator, attributes, shapes, types and layouts; not names or weights), the
 * tactic, its provider's version, the number of threads and the processor. The file is JSON with a magic member; other
 * files are refused.
 */
#ifndef ENGINE_BUILD_TIMING_CACHE_H
#define ENGINE_BUILD_TIMING_CACHE_H

#include <math.h>

#include "base/hash.h"
#include "engine/tactic/tactic.h"
#include "format/json/writer.h"

/* Instead of seconds: a tactic that does not work for its layer; null in the file. */
#define TIMING_FAILED ((double)INFINITY)

struct timing_cache;

struct timing_cache *timing_cache_new(void);
void timing_cache_free(struct timing_cache *cache);

struct hash timing_cache_key(const struct kernel_request *request, const struct tactic *tactic);
bool timing_cache_find(const struct timing_cache *cache, struct hash key, double *ret_seconds);
void timing_cache_add(struct timing_cache *cache, struct hash key, double seconds); /* replaces an older time */
size_t timing_cache_count(const struct timing_cache *cache);

/* Adds the times in a file, all or none. An empty file is valid. ERR_CORRUPT if it is damaged, ERR_INVALID if it is
 * another kind of file; ERR_MISSING, ERR_IO. */
int timing_cache_load(struct timing_cache *cache, const char *path, struct error *err);
int timing_cache_parse(struct timing_cache *cache, struct span bytes, const char *display_name, struct error *err);

/* Merges these times into the file; newer times replace older ones. The file is locked, so concurrent processes lose no
 * times. Other kinds of files are not replaced: errors as timing_cache_load(). A device or a pipe gets only these
 * times. */
int timing_cache_save(const struct timing_cache *cache, const char *path, struct error *err);

/* Checks in advance whether timing_cache_save() could save to `path`; returns its errors. */
int timing_cache_check(const char *path, struct error *err);

void timing_cache_write(const struct timing_cache *cache, struct json_writer *writer);

#endif
