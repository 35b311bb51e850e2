/* format/trtexec/build_log.h: what TensorRT tells of a build: the output of `trtexec --verbose`.
 *
 * For each layer, in each combination of formats, TensorRT times kernels ("Tactic Name: ... Tactic: 0x... Time: ...")
 * or takes a time out of its cache. At the end it lists the layers of the engine; where it builds the engine several
 * times, in several ways, the last list counts. Layers that Myelin compiles are timed as a whole.
 *
 * The log is walked once; all text is spans into it.
 */
#ifndef FORMAT_TRTEXEC_BUILD_LOG_H
#define FORMAT_TRTEXEC_BUILD_LOG_H

#include "base/container/name_map.h"
#include "base/file/file.h"
#include "format/trtexec/layer_info.h"

struct build_timing {
    struct text layer, runner; /* "node_conv2d + node_relu", "CaskConvolution" */
    struct text formats;       /* "Float(784,784,28,1) -> Float(25088,784,28,1)" */
    struct text tactic_name;   /* empty: not told */
    int64_t tactic;
    double milliseconds; /* infinity: it could not run */
    bool cached;         /* not timed in this build */
    uint32_t next;       /* of the same layer; NAME_MAP_NONE: none */
};

struct build_log {
    struct {
        struct build_timing *items; /* in the order of the log */
        size_t count, capacity;
    } timings;
    struct {
        struct text *items; /* lines of the engine's layers */
        size_t count, capacity;
    } layers;
    struct name_map first; /* timing of each layer; later ones by `next`, latest first */
    struct file_map map;
};

/* Reads the log at `path`. ERR_INVALID when it neither times tactics nor lists layers, as one that was not verbose. */
int build_log_open(struct build_log *ret, const char *path, struct error *err);

/* The same for text in memory, which outlives the log; `name` is for messages. */
int build_log_parse(struct build_log *ret, struct text text, const char *name, struct error *err);
void build_log_release(struct build_log *log); /* harmless on a zeroed struct */

/* The layers of the engine, with type, tactic, and types and shapes of their tensors, as far as the list tells them:
 * neither nodes nor names of kernels. `ret` is made anew; it may have no layer. */
void build_log_layers(const struct build_log *log, struct layer_info *ret);

/* What was timed of a layer beside the tactic that it got. */
struct build_candidates {
    size_t timed;          /* kernels, each counted once for each combination of formats */
    double milliseconds;   /* of this tactic, where it was fastest */
    double next;           /* of the fastest other one in the same formats; NaN: there is none */
    struct text next_name; /* empty: not told */
};

/* False when the log has no time of this tactic for this layer. */
bool build_log_candidates(const struct build_log *log, const struct layer_info_layer *layer,
                          struct build_candidates *ret);

#endif
