/* debug/tactics/diff.h: tactics that bad builds have and good builds lack.
 *
 * The module debug/tactics/ examines builds of one network that differ in their verdicts: repeated builds (build.h),
 * differences in tactics, the choice of two builds to compare (pair.h), and the isolation of the tactics that make the
 * difference (isolation.h). Inputs: tactic replays and a builder. Outputs: verdicts on tactics. It may use the engine,
 * and of debug the session.
 *
 *   tactic_diff_init(&diff);
 *   rc = tactic_builds_load(&diff.good, "replays/good", log, err);
 *   ...
 *   tactic_diff_compare(&diff);
 *
 * A tactic is an algorithm of a layer: the same algorithm in two layers is two tactics; layers are identified by name.
 * Tactics with the same kernel form a pool: a wrong kernel may be wrong in all of them.
 */
#ifndef DEBUG_TACTICS_DIFF_H
#define DEBUG_TACTICS_DIFF_H

#include "base/log.h"
#include "blame/blame.h"
#include "format/polygraphy/tactic_replay.h"

struct tactic_build {
    char *path; /* of the replay, or of the layer information in its place */
    struct tactic_replay replay;
};

struct tactic_builds {
    struct tactic_build *items;
    size_t count, capacity;
};

/* Appends the replays in a folder and its subfolders, in the order of their paths, or the one in a file. Other files
 * are skipped with a verbose line, unreadable ones with a warning. Without any replay, layer information of TensorRT's
 * engines (format/tensorrt/layer_info.h) is used instead; next to a replay it is of the same build. */
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
    struct tactic_indices tactics; /* in order of appearance */
};

/* What the tactics of a pool have in common, and no others have. */
enum tactic_pool_scope {
    POOL_IMPLEMENTATION, /* the number of the implementation */
    POOL_TACTIC,         /* also the number of the tactic: the layout, or with TensorRT the kernel */
    POOL_TENSORS,        /* also types and strides of all tensors, hence shapes */
};

struct tactic_pool {
    enum tactic_pool_scope scope;
    struct tactic_indices tactics; /* ascending; at least two */
    struct tactic_indices layers;  /* of these tactics, ascending */
};

struct tactic_diff {
    struct tactic_builds good, bad;

    /* The following members are set by tactic_diff_compare(). Layers and tactics are in order of appearance, bad builds
     * first. */
    VECTOR(struct tactic_layer) layers;
    VECTOR(struct seen_tactic) tactics;
    VECTOR(struct tactic_pool) pools;
    struct blame_table table; /* columns: the tactics, then the pools; builds: the bad ones, then the good ones */
    struct blame blame;
};

void tactic_diff_init(struct tactic_diff *diff);
void tactic_diff_release(struct tactic_diff *diff);

/* Compares the loaded builds. Call it once. */
void tactic_diff_compare(struct tactic_diff *diff);

/* Whether bad builds have the tactic and no good build has it: docs/coming-from-polygraphy.md, "Tactics that only bad
 * builds have". */
bool tactic_diff_only_in_bad(const struct tactic_diff *diff, size_t tactic);

/* The pool of a column of the table, or NULL if the column is a tactic. */
const struct tactic_pool *tactic_diff_pool(const struct tactic_diff *diff, size_t column);

/* Name of a pool: the name of its tactics, or, for implementations, its beginning, see tactic_algorithm_kernel_text();
 * numbers if names are missing or have nothing in common. */
void tactic_pool_name(const struct tactic_diff *diff, const struct tactic_pool *pool, struct string_builder *ret);

/* Whether there are both good and bad builds to rank by. */
bool tactic_diff_is_ranked(const struct tactic_diff *diff);

#endif
