/* base/file/shared_map.h: a reference-counted mapped file.
 *
 *   shared_map_open(path, &map, err);
 *   tensor.owner = shared_map_join(map), tensor.free_owner = shared_map_leave;
 *   shared_map_leave(map);
 */
#ifndef BASE_FILE_SHARED_MAP_H
#define BASE_FILE_SHARED_MAP_H

#include "base/error.h"
#include "base/file/file.h"
#include "base/text/text.h"

struct shared_map;

/* Maps a regular file, and closes it, so that any number of files can be mapped; the caller owns the first reference.
 * Errors as file_map_open(). */
int shared_map_open(const char *path, struct shared_map **ret, struct error *err);

struct span shared_map_content(const struct shared_map *map);

/* Lets the kernel drop the pages of [from, to) from memory, see file_map_forget(). */
void shared_map_forget(const struct shared_map *map, size_t from, size_t to);

/* Adds a reference; returns `map`. */
struct shared_map *shared_map_join(struct shared_map *map);

/* The shared mapping that contains these bytes; NULL if there is none. Valid while a reference exists. */
const struct shared_map *shared_map_of(const void *data, size_t size);

/* The path of the mapped file; NULL if another file, or none, has it now. Valid while a reference exists. */
const char *shared_map_path(const struct shared_map *map);

/* Drops a reference, from any thread; dropping the last one unmaps the file. `map` is a struct shared_map *. */
void shared_map_leave(void *map);

#endif
