/* format/polygraphy/tactic_replay.h: the implementation that a builder chose for each layer: written by
 * `--save-tactics`, forced by `--load-tactics`, and read by `inspect tactics` and `inspect diff-tactics`.
 *
 * The file is Polygraphy's, with additional members that Polygraphy ignores: an algorithm may have a readable "name",
 * such as "jit:avx512_core"; a replay may contain the precision options of its build, and the timing cache that
 * reproduces it for builders that cannot be forced to use given tactics.
 */
#ifndef FORMAT_POLYGRAPHY_TACTIC_REPLAY_H
#define FORMAT_POLYGRAPHY_TACTIC_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/container/name_map.h"
#include "base/text/string_builder.h"
#include "format/json/writer.h"

/* TensorRT before 8.6 does not provide these numbers: null in the file. */
struct tactic_number {
    bool known;
    int64_t value;
};

/* The memory layout that an algorithm requires for one of its tensors. */
struct tactic_tensor {
    char *dtype; /* as in TensorRT: "DataType.FLOAT"; not interpreted here */
    int64_t *strides;
    size_t rank;                                 /* number of strides */
    struct tactic_number vectorized_dim;         /* -1: not vectorized */
    struct tactic_number components_per_element; /* 1: not vectorized */
};

struct tactic_tensors {
    struct tactic_tensor *items;
    size_t count, capacity;
};

struct tactic_algorithm {
    int64_t implementation, tactic; /* the builder's numbers; a tactic may be negative */
    struct tactic_tensors inputs, outputs;
    char *name; /* malloc'd; NULL: none */
};

struct tactic_choice {
    char *layer;
    struct tactic_algorithm algorithm;
};

/* Options of a build, as words of the command line: "--fp16", "--layer-precisions conv1:float32". */
struct tactic_options {
    char **items; /* owned */
    size_t count, capacity;
    bool known; /* false: not in the replay */
};

struct tactic_replay {
    struct tactic_choice *items; /* in the builder's order of layers; names are unique */
    size_t count, capacity;
    struct tactic_options precision;
    char *timing_cache;     /* malloc'd, see tactic_replay_cache_path(); NULL: none */
    struct name_map places; /* of layers among the items */
};

void tactic_replay_init(struct tactic_replay *replay);
void tactic_replay_release(struct tactic_replay *replay);

/* Reads a file of this program or of Polygraphy (legacy markers included); replaces the content of `replay`.
 * ERR_INVALID if it is JSON, but not a tactic replay; ERR_CORRUPT if it is damaged or not JSON. Very old replays, whose
 * tensors have a format instead of vectorization, also give ERR_CORRUPT. */
int tactic_replay_load(struct tactic_replay *replay, const char *path, struct error *err);

/* The same for a file of `size` bytes in memory, called `name` in messages. */
int tactic_replay_parse(struct tactic_replay *replay, const void *data, size_t size, const char *name,
                        struct error *err);

/* Suffix of the timing cache next to a replay, and its name in the replay. */
#define TACTIC_REPLAY_CACHE_SUFFIX ".timing_cache"
#define TACTIC_REPLAY_CACHE_BESIDE "*" TACTIC_REPLAY_CACHE_SUFFIX

/* The path of the timing cache of the replay at `path`. The replay stores it relative to its folder; a star means the
 * name of the replay's file, so that both can be moved and renamed together. malloc'd; NULL if it has none. */
char *tactic_replay_cache_path(const struct tactic_replay *replay, const char *path);

/* Writes the file at `path`, byte for byte as Polygraphy does if there are no algorithm names, options and timing
 * cache. */
int tactic_replay_save(const struct tactic_replay *replay, const char *path, struct error *err);
void tactic_replay_write(const struct tactic_replay *replay, struct json_writer *writer);

const struct tactic_algorithm *tactic_replay_find(const struct tactic_replay *replay, const char *layer);

/* The algorithm for `layer`, empty, to be filled by the caller; an existing one is replaced. The pointer is valid until
 * the next call. */
struct tactic_algorithm *tactic_replay_set(struct tactic_replay *replay, const char *layer);

void tactic_options_add(struct tactic_options *options, struct text word); /* copied */
void tactic_options_release(struct tactic_options *options);
void tactic_options_copy(const struct tactic_options *from, struct tactic_options *ret); /* `ret` is new */
bool tactic_options_equal(const struct tactic_options *a, const struct tactic_options *b);
/* Appends them with blanks between, or "no option for precision". */
void tactic_options_text(const struct tactic_options *options, struct string_builder *ret);

/* Appends a tensor that is not vectorized; `dtype` and the strides are copied. */
struct tactic_tensor *tactic_tensors_add(struct tactic_tensors *tensors, struct text dtype, const int64_t *strides,
                                         size_t rank);

/* Whether numbers and layouts are equal. Names are ignored. */
bool tactic_algorithm_equal(const struct tactic_algorithm *a, const struct tactic_algorithm *b);

/* Appends the name of an algorithm's kernel without its layouts: the name up to a blank, as --exclude-tactics accepts
 * it, else "(Implementation: 5)". */
void tactic_algorithm_kernel_text(const struct tactic_algorithm *algorithm, struct string_builder *ret);

/* Appends the algorithm as Polygraphy prints it, in Python's syntax for tuples:
 * "(Implementation: 5, Tactic: 7) | Inputs: (TensorInfo(DataType.FLOAT, (4, 1), -1, 1),) | Outputs: ()". */
void tactic_algorithm_text(const struct tactic_algorithm *algorithm, struct string_builder *ret);

void tactic_algorithm_write(const struct tactic_algorithm *algorithm, struct json_writer *writer);

#endif
