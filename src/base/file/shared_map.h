/* base/file/shared_map.h: a mapped file that stays mapped as long as anybody uses a part of it.
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

/* Maps a regular file, with the caller as its first user. Errors as file_map_open(). */
int shared_map_open(const char *path, struct shared_map **ret, struct error *err);

struct span shared_map_content(const struct shared_map *map);

/* One more user; gives `map`. */
struct shared_map *shared_map_join(struct shared_map *map);

/* The mapping of which these bytes are a part; NULL: they are in none. Valid as long as it is used. */
const struct file_map *shared_map_of(const void *data, size_t size);

/* Ends a use, in any thread; with the last one the file is unmapped. `map` is a struct shared_map *. */
void shared_map_leave(void *map);

#endif
