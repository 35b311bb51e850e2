/* format/polygraphy/tactic_replay.h: which implementation a builder took for each layer: what
 * `--save-tactics` writes, `--load-tactics` forces, and `inspect tactics` and `inspect diff-tactics` read.
 *
 * The file is Polygraphy's, with members more that Polygraphy ignores: an algorithm may have a "name" for people to
 * read, such as "jit:avx512_core", and a replay the options that decided on precisions in the build that it is from,
 * and the timing cache that pins this build where its builder cannot be told which tactics to take.
 */
#ifndef FORMAT_POLYGRAPHY_TACTIC_REPLAY_H
#define FORMAT_POLYGRAPHY_TACTIC_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/container/name_map.h"
#include "base/text/string_builder.h"
#include "format/json/writer.h"

/* TensorRT before 8.6 does not tell these numbers: null in the file. */
struct tactic_number {
    bool known;
    int64_t value;
};

/* The memory layout that an algorithm wants for one of its tensors. */
struct tactic_tensor {
    char *dtype; /* as TensorRT spells it: "DataType.FLOAT"; nothing here depends on what it says */
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
    bool known; /* false: the replay does not say */
};

struct tactic_replay {
    struct tactic_choice *items; /* in the order in which the builder met the layers; names occur once */
    size_t count, capacity;
    struct tactic_options precision;
    char *timing_cache;     /* malloc'd, see tactic_replay_cache_path(); NULL: none */
    struct name_map places; /* of layers among the items */
};

void tactic_replay_init(struct tactic_replay *replay);
void tactic_replay_release(struct tactic_replay *replay);

/* Reads a file of ours or of Polygraphy's (legacy markers included) in place of what `replay` held. ERR_INVALID when it
 * is JSON, but no tactic replay; ERR_CORRUPT when it is damaged or no JSON at all. Very old replays, whose tensors have
 * a format instead of vectorization, are ERR_CORRUPT, too. */
int tactic_replay_load(struct tactic_replay *replay, const char *path, struct error *err);

/* The same for a file of `size` bytes in memory, called `name` in messages. */
int tactic_replay_parse(struct tactic_replay *replay, const void *data, size_t size, const char *name,
                        struct error *err);

/* What follows the name of a replay in that of the timing cache beside it; and how the replay says so. */
#define TACTIC_REPLAY_CACHE_SUFFIX ".timing_cache"
#define TACTIC_REPLAY_CACHE_BESIDE "*" TACTIC_REPLAY_CACHE_SUFFIX

/* Where the timing cache of the replay at `path` is. The replay names it as seen from its own folder; a star stands for
 * the name of its own file, so that the two can be moved and renamed together. malloc'd; NULL when it names none. */
char *tactic_replay_cache_path(const struct tactic_replay *replay, const char *path);

/* Writes the file at `path`, byte for byte as Polygraphy does when no algorithm has a name, no options are known and no
 * timing cache is. */
int tactic_replay_save(const struct tactic_replay *replay, const char *path, struct error *err);
void tactic_replay_write(const struct tactic_replay *replay, struct json_writer *writer);

const struct tactic_algorithm *tactic_replay_find(const struct tactic_replay *replay, const char *layer);

/* The algorithm for `layer`, to be filled by the caller: a new and empty one, also when the layer had one. It stays
 * where it is until the next call. */
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

/* The same numbers and layouts. Names are for people: they do not count. */
bool tactic_algorithm_equal(const struct tactic_algorithm *a, const struct tactic_algorithm *b);

/* Appends what the kernel of an algorithm is called, whatever its layouts: its name up to a blank, which is what
 * --exclude-tactics takes, or else "(Implementation: 5)". */
void tactic_algorithm_kernel_text(const struct tactic_algorithm *algorithm, struct string_builder *ret);

/* Appends the algorithm as Polygraphy prints it, in Python's syntax for tuples:
 * "(Implementation: 5, Tactic: 7) | Inputs: (TensorInfo(DataType.FLOAT, (4, 1), -1, 1),) | Outputs: ()". */
void tactic_algorithm_text(const struct tactic_algorithm *algorithm, struct string_builder *ret);

void tactic_algorithm_write(const struct tactic_algorithm *algorithm, struct json_writer *writer);

#endif
