/* engine/plan/layout.c: see layout.h. */
#include "engine/plan/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

uint64_t plan_number_get(const uint8_t *at, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

void plan_number_put(uint8_t *at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

struct hash plan_hash_get(const uint8_t *at)
{
    return (struct hash){plan_number_get(at, 8), plan_number_get(at + 8, 8)};
}

void plan_hash_put(uint8_t *at, struct hash hash)
{
    plan_number_put(at, hash.low, 8);
    plan_number_put(at + 8, hash.high, 8);
}

void plan_hash_init(struct plan_hash *state)
{
    *state = (struct plan_hash){.run = memory_alloc(PLAN_HASH_RUN)};
}

static void finish_hash_run(struct plan_hash *state, const void *run, size_t size)
{
    state->hash = hash_combine(state->hash, hash_bytes(run, size));
}

void plan_hash_add(struct plan_hash *state, const void *data, size_t size)
{
    const uint8_t *next = data;

    while (size > 0) {
        size_t part = PLAN_HASH_RUN - state->size;

        part = part < size ? part : size;
        memcpy(state->run + state->size, next, part);
        state->size += part;
        next += part;
        size -= part;
        if (state->size < PLAN_HASH_RUN)
            continue;
        finish_hash_run(state, state->run, state->size);
        state->size = 0;
    }
}

struct hash plan_hash_finish(struct plan_hash *state)
{
    if (state->size > 0)
        finish_hash_run(state, state->run, state->size);
    free(state->run);
    return state->hash;
}

struct hash plan_hash_bytes(const uint8_t *data, size_t size)
{
    struct plan_hash state = {0};

    for (size_t done = 0; done < size; done += PLAN_HASH_RUN)
        finish_hash_run(&state, data + done, size - done < PLAN_HASH_RUN ? size - done : PLAN_HASH_RUN);
    return state.hash;
}

struct hash plan_description_hash(const uint8_t *header, const void *description, size_t size)
{
    return hash_combine(hash_bytes(header, PLAN_AT_DESCRIPTION_HASH), hash_bytes(description, size));
}
