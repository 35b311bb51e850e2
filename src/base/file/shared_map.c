/* base/file/shared_map.c: see shared_map.h. */
#include "base/file/shared_map.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/memory.h"

struct shared_map {
    atomic_size_t users;
    struct file_map map; /* its file is closed */
    dev_t device;        /* of the file */
    ino_t inode;
    struct shared_map *next, *previous; /* list of all mappings */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct shared_map *first;

int shared_map_open(const char *path, struct shared_map **ret, struct error *err)
{
    struct shared_map *map = memory_alloc_zero(1, sizeof(*map));
    struct stat status = {0};
    int rc = file_map_open(path, &map->map, err);

    if (rc == 0 && fstat(map->map.fd, &status) < 0) {
        rc = error_set_errno(err, ERR_IO, "cannot access '%s'", path);
        file_map_release(&map->map);
    }
    if (rc < 0) {
        free(map);
        return rc;
    }
    map->device = status.st_dev;
    map->inode = status.st_ino;
    file_map_close(&map->map);
    atomic_init(&map->users, 1);
    pthread_mutex_lock(&mutex);
    map->next = first;
    if (first != NULL)
        first->previous = map;
    first = map;
    pthread_mutex_unlock(&mutex);
    *ret = map;
    return 0;
}

struct span shared_map_content(const struct shared_map *map)
{
    return (struct span){map->map.data, map->map.size};
}

void shared_map_forget(const struct shared_map *map, size_t from, size_t to)
{
    file_map_forget(&map->map, from, to);
}

struct shared_map *shared_map_join(struct shared_map *map)
{
    atomic_fetch_add(&map->users, 1);
    return map;
}

const struct shared_map *shared_map_of(const void *data, size_t size)
{
    struct shared_map *map;

    pthread_mutex_lock(&mutex);
    map = first;
    while (map != NULL && !file_map_holds(&map->map, data, size))
        map = map->next;
    pthread_mutex_unlock(&mutex);
    return map;
}

const char *shared_map_path(const struct shared_map *map)
{
    struct stat there;

    return stat(map->map.path, &there) == 0 && there.st_ino == map->inode && there.st_dev == map->device ? map->map.path
                                                                                                         : NULL;
}

void shared_map_leave(void *map)
{
    struct shared_map *shared = map;

    if (atomic_fetch_sub(&shared->users, 1) > 1)
        return;
    pthread_mutex_lock(&mutex);
    if (shared->previous != NULL)
        shared->previous->next = shared->next;
    else
        first = shared->next;
    if (shared->next != NULL)
        shared->next->previous = shared->previous;
    pthread_mutex_unlock(&mutex);
    file_map_release(&shared->map);
    free(shared);
}
