/* base/file/shared_map.c: see shared_map.h. */
#include "base/file/shared_map.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/file/file.h"
#include "base/memory.h"

struct shared_map {
    atomic_size_t users;
    struct file_map map;
};

int shared_map_open(const char *path, struct shared_map **ret, struct error *err)
{
    struct shared_map *map = memory_alloc_zero(1, sizeof(*map));
    int rc = file_map_open(path, &map->map, err);

    if (rc < 0) {
        free(map);
        return rc;
    }
    atomic_init(&map->users, 1);
    *ret = map;
    return 0;
}

struct span shared_map_content(const struct shared_map *map)
{
    return (struct span){map->map.data, map->map.size};
}

struct shared_map *shared_map_join(struct shared_map *map)
{
    atomic_fetch_add(&map->users, 1);
    return map;
}

void shared_map_leave(void *map)
{
    struct shared_map *shared = map;

    if (atomic_fetch_sub(&shared->users, 1) > 1)
        return;
    file_map_release(&shared->map);
    free(shared);
}
