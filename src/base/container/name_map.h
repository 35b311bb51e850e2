/* base/container/name_map.h: a hash map from names to 32-bit numbers. Names are not copied: their memory must outlive
 * the map. */
#ifndef BASE_CONTAINER_NAME_MAP_H
#define BASE_CONTAINER_NAME_MAP_H

#include <stdint.h>

#include "base/memory.h"
#include "base/text/text.h"

struct name_map {
    struct name_map_slot *slots;
    size_t count;
    size_t capacity; /* a power of two, or 0 */
};

#define NAME_MAP_NONE UINT32_MAX

/* Declares a local map: empty, and released where its scope ends. */
#define SCOPED_NAME_MAP(name) struct name_map name SCOPED(name_map_release) = {0}

void name_map_init(struct name_map *map);
void name_map_release(struct name_map *map);
uint32_t name_map_find(const struct name_map *map, struct text name); /* NAME_MAP_NONE when absent */

/* Adds name -> value unless the map contains the name. Returns the value now stored for the name. */
uint32_t name_map_add(struct name_map *map, struct text name, uint32_t value);

/* Adds name -> value, replacing an older value. */
void name_map_set(struct name_map *map, struct text name, uint32_t value);

#endif
