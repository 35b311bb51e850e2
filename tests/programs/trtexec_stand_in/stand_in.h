/* tests/programs/trtexec_stand_in/stand_in.h: a program that behaves as NVIDIA's trtexec, where there is no GPU.
 *
 * It has trtexec's command line, log lines, files, exit codes and oddities in four versions; the built-in engine builds
 * and runs in TensorRT's place. An engine file begins as TensorRT's do ("ftrt", the builder's version in bytes 24 to
 * 27), and holds one of our plans.
 *
 *   TRTEXEC_STAND_IN_VERSION   8.6, 10.16 (the default), 11.0 or 11.1
 *   TRTEXEC_STAND_IN_TRAPS     names out of the list in trtexec_stand_in.c, with commas between them
 *   TRTEXEC_STAND_IN_SEED      a number: times of tactics are drawn by lot, so that builds differ; @FILE: another
 *                              number for each build
 *   TRTEXEC_STAND_IN_WRONG_LAYER   the name of a layer, "conv + relu": engines that have it compute wrongly
 *
 * From 11.1 on builds without the knob cask_fusion fuse nothing.
 */
#ifndef TRTEXEC_STAND_IN_H
#define TRTEXEC_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/log.h"
#include "base/text/string_builder.h"
#include "backend/backend.h"
#include "base/file/file.h"
#include "engine/build/timing_cache.h"
#include "engine/plan/engine.h"

enum version { V8 = 1, V10 = 2, V110 = 4, V111 = 8 };

#define ALL (V8 | V10 | V110 | V111)
#define SINCE_10 (V10 | V110 | V111)
#define SINCE_11 (V110 | V111)
#define UNTIL_10 (V8 | V10)

struct argument {
    const char *name, *value; /* name without dashes; value "" where there was none */
    bool known;
};

/* Which version this is, and what it was asked for. */
struct stand_in {
    enum version version;
    const char *library; /* "10.16.0" */
    const char *banner;  /* "[TensorRT v101600] [b72]" */
    uint8_t numbers[4];  /* major, minor, patch, build: as in engine files */
    char *command;       /* program and arguments, blanks between them */
    struct argument *arguments;
    size_t argument_count;
    double start; /* stopwatch */
};

extern struct stand_in stand_in;

/* ---- options.c ---- */

/* Reads the command line. False when something in it is unknown: then it has been said. */
bool options_read(int argc, char **argv);
void options_help(void);
const char *option(const char *name); /* its value, NULL when it was not given */
bool given(const char *name);
long option_number(const char *name, long otherwise);

/* `name:value` pairs with commas between them, split at the last colon or after 'name'. */
struct pair {
    char *name, *value;
};
struct pairs {
    struct pair *items;
    size_t count, capacity;
};
struct pairs pairs_of(const char *value);
struct pairs option_pairs(const char *name);                         /* none where the option was not given */
const char *pairs_find(const struct pairs *pairs, const char *name); /* the value, or NULL */
struct shape shape_of_text(const char *text);                        /* "1x3x224" */

/* ---- report.c ---- */

/* 'V', 'I', 'W', 'E': the first two go to standard output, the others to standard error. */
void say(char level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void report_options(void);
void report_device(void);
void dimensions_add(struct string_builder *text, const struct shape *shape, char between);

/* A trap of this name is switched on. */
bool trap(const char *name);

/* ---- engine_file.c ---- */

#define MOST_TYPES 20

struct loaded_engine {
    struct engine *engine;     /* NULL: a damaged file that --skipInference did not mind */
    struct words debug_names;  /* of outputs that are debug tensors */
    bool detailed;             /* profiling verbosity of the build */
    bool stripped;             /* of its weights */
    uint8_t types[MOST_TYPES]; /* of the first inputs, then outputs, as --inputIOFormats says; 0: the network's own */
    struct file_map map;
};

/* 0, or the exit status, where 2 stands for 1 without a last line: everything has been said. */
int load_engine(const char *path, struct loaded_engine *ret);
int engine_save(const struct loaded_engine *loaded, const char *path, struct error *err);

/* Says how a build or a file failed; returns 1. `stage` and `err` may be NULL. */
int engine_fails(const char *stage, const struct error *err);

/* ---- build.c ---- */

extern const struct onnxrt_settings stand_in_runtime;
extern struct log provider_log; /* of the built-in engine's libraries: what is worth a line */

/* 11.1's knobs of its compiler, as JSON; 1 when the one that was asked for is not among them. */
int print_build_routes(const char *knob);

/* Builds --onnx, and saves it if asked to. The status as of load_engine(). */
int build_engine(struct loaded_engine *ret);

/* ---- timing.c ---- */

/* Adds what the file has; whether there is anything then. */
bool timing_load(struct timing_cache *cache, const char *path);
void timing_save(struct timing_cache *cache, const char *path);

/* The same times, each off by a factor of its own. */
struct timing_cache *timing_disturbed(const struct timing_cache *cache, const char *seed);

/* ---- infer.c ---- */

/* An input or output, as the log has it. */
struct binding {
    const char *name;
    enum data_type type; /* 8.6 has int32 in place of int64 */
    struct shape shape;  /* -1 where only a run tells */
    bool is_input, is_dynamic;
    struct tensor values;
};

/* When one inference was enqueued and done: seconds since the program began. */
struct query {
    double start, seconds;
};

struct inference {
    struct loaded_engine *loaded;
    struct executor *executor;
    struct binding *bindings; /* inputs, then outputs */
    size_t count;
    struct {
        struct query *items;
        size_t count, capacity;
    } queries; /* those that are timed */
};

/* All of the inference phase: 0 or an exit status; one above 1 stands for 1 and no last line. */
int infer(struct loaded_engine *loaded);

/* ---- outputs.c ---- */

const char *type_word(enum data_type type); /* "fp32" */
void add_safe(struct string_builder *text, const char *name);
void dump_raw(const struct inference *inference);
void dump_outputs(const struct inference *inference);
void export_outputs(const struct inference *inference, const char *path);
void elements_add(struct string_builder *text, const struct tensor *tensor, const char *between);

/* ---- debug_tensors.c ---- */

/* What one inference gave; numbers go on over all of them. */
void save_debug_tensors(const struct loaded_engine *loaded, const struct tensor_list *outputs);
void finish_debug_tensors(void);

/* ---- performance.c ---- */

void report_performance(const struct inference *inference, size_t warm_ups, double wall);
void export_times(const struct inference *inference, const char *path);
void report_profile(const struct inference *inference);

/* ---- layers.c ---- */

/* True when this is one of the builder's lines about a tactic that it considers: it is remembered. */
bool layers_note_candidate(struct text message);
void layers_forget_candidates(void);

/* Verbose lines on each layer: its candidates and their times, where they were timed, and the choice. */
void layers_log(const struct engine *engine, bool timed);

/* To --exportLayerInfo and, with --dumpLayerInfo, to the log. */
void layers_export(const struct loaded_engine *loaded);

#endif
