/* debug/tactics/diff.h: what the tactics of bad builds have that those of good builds do not.
 *
 * The module debug/tactics/ is about builds that pass one time and fail the next: engines built again and again
 * (build.h), what their tactics differ in, which two to set against each other (pair.h), and by trying which of the
 * differences it is (isolation.h). Tactic replays, and whoever builds, come in; verdicts on tactics go out. It may use
 * the engine, and of debug the session.
 *
 *   tactic_diff_init(&diff);
 *   rc = tactic_builds_load(&diff.good, "replays/good", log, err);
 *   ...
 *   tactic_diff_compare(&diff);
 *
 * A tactic is an algorithm for a layer: the same algorithm in two layers is two tactics, and layers are the same when
 * their names are. Tactics that have their kernel in common are a pool: what is wrong with it may be wrong in all.
 */
#ifndef DEBUG_TACTICS_DIFF_H
#define DEBUG_TACTICS_DIFF_H

#include "base/log.h"
#include "blame/blame.h"
#include "format/polygraphy/tactic_replay.h"

struct tactic_build {
    char *path; /* of the replay, or of what stands in for it */
    struct tactic_replay replay;
};

struct tactic_builds {
    struct tactic_build *items;
    size_t count, capacity;
};

/* Appends the replays in a folder and all folders below it, in the order of their paths, or the one in a file. A file
 * that holds something else is skipped with a verbose line, one that cannot be read with a warning. Where there is no
 * replay at all, layer information of TensorRT's engines (format/tensorrt/layer_info.h) stands in for it; beside a
 * replay it is of the same build. */
int tactic_builds_load(struct tactic_builds *builds, const char *path, struct log *log, struct error *err);

struct seen_tactic {
    size_t layer; /* index */
    const struct tactic_algorithm *algorithm;
};

struct tactic_indices {
    size_t *items;
    size_t count, capacity;
};

struct tactic_layer {
    const char *name;
    struct tactic_indices tactics; /* in the order in which they appeared */
};

/* What the tactics of a pool have in common, and nothing outside of it has. */
enum tactic_pool_scope {
    POOL_IMPLEMENTATION, /* the implementation's number */
    POOL_TACTIC,         /* the tactic's, too: the layout, or with TensorRT the kernel */
    POOL_TENSORS,        /* types and strides of all tensors as well, hence shapes */
};

struct tactic_pool {
    enum tactic_pool_scope scope;
    struct tactic_indices tactics; /* ascending; at least two */
    struct tactic_indices layers;  /* that those are of, ascending */
};

struct tactic_diff {
    struct tactic_builds good, bad;

    /* From here on filled by tactic_diff_compare(). Layers and tactics are in the order in which they appear, bad
     * builds before good ones. */
    struct {
        struct tactic_layer *items;
        size_t count, capacity;
    } layers;
    struct {
        struct seen_tactic *items;
        size_t count, capacity;
    } tactics;
    struct {
        struct tactic_pool *items;
        size_t count, capacity;
    } pools;
    struct blame_table table; /* columns: the tactics, then the pools; builds: the bad ones, then the good ones */
    struct blame blame;
};

void tactic_diff_init(struct tactic_diff *diff);
void tactic_diff_release(struct tactic_diff *diff);

/* Compares what was loaded; to be called once. */
void tactic_diff_compare(struct tactic_diff *diff);

/* Whether bad builds have the tactic and no good build has: docs/coming-from-polygraphy.md, "Tactics that only
 * bad builds have". */
bool tactic_diff_only_in_bad(const struct tactic_diff *diff, size_t tactic);

/* The pool that a column of the table is, or NULL: it is a tactic. */
const struct tactic_pool *tactic_diff_pool(const struct tactic_diff *diff, size_t column);

/* What a pool is called: its tactics' name, or of implementations its beginning, see tactic_algorithm_kernel_text();
 * numbers where names are missing, or have nothing in common. */
void tactic_pool_name(const struct tactic_diff *diff, const struct tactic_pool *pool, struct string_builder *ret);

/* Whether the blame says anything: that takes good and bad builds. */
bool tactic_diff_is_ranked(const struct tactic_diff *diff);

#endif
