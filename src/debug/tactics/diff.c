/* debug/tactics/diff.c: from tactic replays to a table of builds. */
#include "debug/tactics/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/container/name_map.h"
#include "base/file/file.h"
#include "base/file/list.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "format/tensorrt/replay.h"

/* --- loading ------------------------------------------------------------------------------------------------------ */

/* Reads the file at `path` into `ret`. */
typedef int read_build(const char *path, struct tactic_replay *ret, struct log *log, struct error *err);

static int read_replay(const char *path, struct tactic_replay *ret, struct log *log, struct error *err)
{
    log_message(log, LOG_VERBOSE, "Loading tactic replay file from %s", path);
    return tactic_replay_load(ret, path, err);
}

static int read_layer_info(const char *path, struct tactic_replay *ret, struct log *log, struct error *err)
{
    struct layer_info info SCOPED(layer_info_release) = {0};
    int rc = layer_info_open(&info, path, err);

    if (rc < 0)
        return rc;
    log_message(log, LOG_VERBOSE, "Loading layer information from %s", path);
    rc = layer_info_to_replay(&info, ret, err);
    if (rc < 0)
        log_message(log, LOG_WARNING, "%s: %s", path, err->message);
    return rc;
}

static int load_file(struct tactic_builds *builds, const char *path, read_build *read, struct log *log,
                     struct error *err)
{
    struct tactic_replay replay;
    struct error reason = {0};
    int rc;

    if (interrupt_pending())
        return error_set(err, ERR_INTERRUPTED, "interrupted while loading tactic replays");
    tactic_replay_init(&replay);
    rc = read(path, &replay, log, &reason);
    if (rc == 0) {
        *VECTOR_APPEND(builds) = (struct tactic_build){memory_strdup(path), replay};
        return 0;
    }
    tactic_replay_release(&replay);
    switch (rc) {
    case ERR_IO:
        log_once(log, LOG_WARNING, "%s, skipping.", reason.message);
        return 0;
    case ERR_MEMORY:
        return error_set(err, ERR_MEMORY, "%s", reason.message);
    default:
        if (read == read_replay)
            log_message(log, LOG_VERBOSE, "%s is not a valid tactic replay file, skipping.\n%s", path, reason.message);
        return 0;
    }
}

int tactic_builds_load(struct tactic_builds *builds, const char *path, struct log *log, struct error *err)
{
    static read_build *const readers[] = {read_replay, read_layer_info};
    struct file_list files SCOPED(file_list_release) = {0};
    size_t before = builds->count;
    int rc = 0;

    if (file_is_folder(path))
        rc = file_list_find(&files, path, err);
    else
        *VECTOR_APPEND(&files) = memory_strdup(path);
    for (size_t k = 0; k < ARRAY_LEN(readers) && builds->count == before; k++)
        for (size_t i = 0; i < files.count && rc >= 0; i++)
            rc = load_file(builds, files.items[i], readers[k], log, err);
    return rc;
}

static void builds_release(struct tactic_builds *builds)
{
    for (size_t i = 0; i < builds->count; i++) {
        tactic_replay_release(&builds->items[i].replay);
        free(builds->items[i].path);
    }
    free(builds->items);
}

void tactic_diff_init(struct tactic_diff *diff)
{
    *diff = (struct tactic_diff){0};
}

static void release_pool(struct tactic_pool *pool)
{
    free(pool->tactics.items);
    free(pool->layers.items);
}

void tactic_diff_release(struct tactic_diff *diff)
{
    blame_release(&diff->blame);
    blame_table_release(&diff->table);
    for (size_t i = 0; i < diff->layers.count; i++)
        free(diff->layers.items[i].tactics.items);
    free(diff->layers.items);
    free(diff->tactics.items);
    for (size_t i = 0; i < diff->pools.count; i++)
        release_pool(&diff->pools.items[i]);
    free(diff->pools.items);
    builds_release(&diff->good);
    builds_release(&diff->bad);
    tactic_diff_init(diff);
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

/* Finds the layer, or adds it. */
static size_t layer_index(struct tactic_diff *diff, struct name_map *names, const char *name)
{
    size_t index = name_map_add(names, text_of(name), (uint32_t)diff->layers.count);

    if (index == diff->layers.count)
        *VECTOR_APPEND(&diff->layers) = (struct tactic_layer){.name = name};
    return index;
}

/* Finds the algorithm among those of the layer, or adds it. A layer has few, so the search is linear. */
static size_t tactic_index(struct tactic_diff *diff, size_t layer, const struct tactic_algorithm *algorithm)
{
    struct tactic_indices *tactics = &diff->layers.items[layer].tactics;

    for (size_t i = 0; i < tactics->count; i++)
        if (tactic_algorithm_equal(diff->tactics.items[tactics->items[i]].algorithm, algorithm))
            return tactics->items[i];
    *VECTOR_APPEND(tactics) = diff->tactics.count;
    *VECTOR_APPEND(&diff->tactics) = (struct seen_tactic){layer, algorithm};
    blame_table_add(&diff->table, layer);
    return diff->tactics.count - 1;
}

static void tabulate_tactics(struct tactic_diff *diff, struct name_map *names, const struct tactic_builds *builds,
                             size_t first_build)
{
    for (size_t i = 0; i < builds->count; i++) {
        const struct tactic_replay *replay = &builds->items[i].replay;

        for (size_t k = 0; k < replay->count; k++) {
            size_t layer = layer_index(diff, names, replay->items[k].layer);
            size_t tactic = tactic_index(diff, layer, &replay->items[k].algorithm);

            bitset_add(&diff->table.items[tactic].builds, first_build + i);
        }
    }
}

/* ---- Pools ---- */

static bool have_in_common(const struct tactic_algorithm *a, const struct tactic_algorithm *b,
                           enum tactic_pool_scope scope)
{
    switch (scope) {
    case POOL_IMPLEMENTATION:
        return a->implementation == b->implementation;
    case POOL_TACTIC:
        return a->implementation == b->implementation && a->tactic == b->tactic;
    default:
        return tactic_algorithm_equal(a, b);
    }
}

static bool are_equal(const struct tactic_indices *a, const struct tactic_indices *b)
{
    return a->count == b->count && memcmp(a->items, b->items, a->count * sizeof(*a->items)) == 0;
}

/* Keeps the pool unless it equals another one. */
static void keep_pool(struct tactic_diff *diff, struct tactic_pool *pool)
{
    bool known = pool->tactics.count < 2;

    for (size_t i = 0; i < diff->pools.count && !known; i++)
        known = are_equal(&diff->pools.items[i].tactics, &pool->tactics);
    if (known)
        release_pool(pool);
    else
        *VECTOR_APPEND(&diff->pools) = *pool;
}

/* The pool of all tactics that share this with `first`, which is the first of them. */
static struct tactic_pool gather_pool(const struct tactic_diff *diff, size_t first, enum tactic_pool_scope scope,
                                      bool *taken)
{
    struct tactic_pool pool = {.scope = scope};
    SCOPED_BITSET(layers);

    bitset_init(&layers, diff->layers.count);
    for (size_t i = first; i < diff->tactics.count; i++) {
        const struct seen_tactic *tactic = &diff->tactics.items[i];

        if (taken[i] || !have_in_common(diff->tactics.items[first].algorithm, tactic->algorithm, scope))
            continue;
        taken[i] = true;
        *VECTOR_APPEND(&pool.tactics) = i;
        bitset_add(&layers, tactic->layer);
    }
    BITSET_EACH (i, &layers)
        *VECTOR_APPEND(&pool.layers) = i;
    return pool;
}

static void pool_tactics(struct tactic_diff *diff)
{
    for (int scope = POOL_IMPLEMENTATION; scope <= POOL_TENSORS; scope++) {
        bool *taken SCOPED_FREE = memory_alloc_zero(diff->tactics.count, sizeof(*taken));

        for (size_t i = 0; i < diff->tactics.count; i++)
            if (!taken[i]) {
                struct tactic_pool pool = gather_pool(diff, i, (enum tactic_pool_scope)scope, taken);

                keep_pool(diff, &pool);
            }
    }
    for (size_t i = 0; i < diff->pools.count; i++) {
        const struct tactic_indices *tactics = &diff->pools.items[i].tactics;
        struct bitset *builds = blame_table_add(&diff->table, BLAME_POOL);

        for (size_t k = 0; k < tactics->count; k++)
            bitset_unite(builds, &diff->table.items[tactics->items[k]].builds);
    }
}

const struct tactic_pool *tactic_diff_pool(const struct tactic_diff *diff, size_t column)
{
    return column < diff->tactics.count ? NULL : &diff->pools.items[column - diff->tactics.count];
}

void tactic_pool_name(const struct tactic_diff *diff, const struct tactic_pool *pool, struct string_builder *ret)
{
    const struct tactic_algorithm *first = diff->tactics.items[pool->tactics.items[0]].algorithm;
    SCOPED_STRING(name);

    if (pool->scope == POOL_IMPLEMENTATION || !first->name)
        tactic_algorithm_kernel_text(first, &name);
    else
        string_add(&name, first->name);
    for (size_t i = 1; first->name && i < pool->tactics.count; i++) {
        const char *other = diff->tactics.items[pool->tactics.items[i]].algorithm->name;

        if (!other || strncmp(other, name.data, name.size) != 0) {
            string_clear(&name);
            string_add_format(&name, "(Implementation: %lld)", (long long)first->implementation);
            break;
        }
    }
    string_add_text(ret, (struct text){name.data, name.size});
    if (!first->name && pool->scope != POOL_IMPLEMENTATION)
        string_add_format(ret, " (Tactic: %lld)", (long long)first->tactic);
}

void tactic_diff_compare(struct tactic_diff *diff)
{
    SCOPED_NAME_MAP(names);

    blame_table_init(&diff->table, diff->bad.count + diff->good.count);
    for (size_t i = 0; i < diff->bad.count; i++)
        bitset_add(&diff->table.failed, i);
    tabulate_tactics(diff, &names, &diff->bad, 0);
    tabulate_tactics(diff, &names, &diff->good, diff->bad.count);
    pool_tactics(diff);
    blame_rank(&diff->blame, &diff->table);
}

bool tactic_diff_only_in_bad(const struct tactic_diff *diff, size_t tactic)
{
    struct association association = blame_table_association(&diff->table, tactic);

    return association.failed_with > 0 && association.passed_with == 0;
}

bool tactic_diff_is_ranked(const struct tactic_diff *diff)
{
    return diff->good.count > 0 && diff->bad.count > 0;
}
