/* base/container/name_map.c: open addressing with linear probing, at most two thirds full. */
#include "base/container/name_map.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"

#define OCCUPIED ((uint32_t)1 << 31)

struct name_map_slot {
    struct text name;
    uint32_t value;
    uint32_t tag; /* OCCUPIED and 31 bits of the name's hash; 0 in an empty slot */
};

void name_map_init(struct name_map *map)
{
    *map = (struct name_map){0};
}

void name_map_release(struct name_map *map)
{
    free(map->slots);
    name_map_init(map);
}

static uint32_t hash_name_tag(struct text name)
{
    return (uint32_t)XXH3_64bits(name.data, name.size) | OCCUPIED;
}

/* The slot of `name`, or the empty slot where it would be inserted. */
static struct name_map_slot *find_name_slot(const struct name_map *map, struct text name, uint32_t tag)
{
    size_t mask = map->capacity - 1;

    for (size_t i = tag & mask;; i = (i + 1) & mask) {
        struct name_map_slot *slot = &map->slots[i];
        if (slot->tag == 0 || (slot->tag == tag && text_equal(slot->name, name)))
            return slot;
    }
}

static void grow_name_map(struct name_map *map)
{
    struct name_map larger = {.count = map->count, .capacity = map->capacity > 0 ? map->capacity * 2 : 16};
    size_t mask = larger.capacity - 1;

    /* Not calloc(): a search for an empty slot reads before it writes, which costs two page faults on zero pages. */
    larger.slots = memory_alloc(larger.capacity * sizeof(*larger.slots));
    memset(larger.slots, 0, larger.capacity * sizeof(*larger.slots));
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->slots[i].tag == 0)
            continue;
        size_t to = map->slots[i].tag & mask;
        while (larger.slots[to].tag != 0)
            to = (to + 1) & mask;
        larger.slots[to] = map->slots[i];
    }
    free(map->slots);
    *map = larger;
}

uint32_t name_map_find(const struct name_map *map, struct text name)
{
    if (map->count == 0)
        return NAME_MAP_NONE;
    const struct name_map_slot *slot = find_name_slot(map, name, hash_name_tag(name));
    return slot->tag != 0 ? slot->value : NAME_MAP_NONE;
}

/* The slot of `name`; a new name is inserted with `value`. */
static struct name_map_slot *find_or_add_slot(struct name_map *map, struct text name, uint32_t value)
{
    uint32_t tag = hash_name_tag(name);

    if (map->count + 1 > map->capacity / 3 * 2)
        grow_name_map(map);
    struct name_map_slot *slot = find_name_slot(map, name, tag);
    if (slot->tag == 0) {
        *slot = (struct name_map_slot){name, value, tag};
        map->count++;
    }
    return slot;
}

uint32_t name_map_add(struct name_map *map, struct text name, uint32_t value)
{
    return find_or_add_slot(map, name, value)->value;
}

void name_map_set(struct name_map *map, struct text name, uint32_t value)
{
    find_or_add_slot(map, name, value)->value = value;
}
