/* tests/programs/trtexec_stand_in/stand_in.h: a program that behaves as NVIDIA's trtexec, where there is no GPU.
 *
 * It has trtexec's command line, log lines, files, exit codes and oddities in four versions; the built-in engine builds
 * and runs in TensorRT's place. An engine file begins as TensorRT's do ("ftrt", the builder's version in bytes 24 to
 * 27), and holds one of our plans.
 *
 *   TRTEXEC_STAND_IN_VERSION   8.6, 10.16 (the default), 11.0 or 11.1
 *   TRTEXEC_STAND_IN_TRAPS     names out of the list in trtexec_stand_in.c, with commas between them
 *   TRTEXEC_STAND_IN_SEED      a number: times of tactics are drawn by lot, so that builds differ
 */
#ifndef TRTEXEC_STAND_IN_H
#define TRTEXEC_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/log.h"
#include "base/text/string_builder.h"
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
struct pairs option_pairs(const char *name);
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

/* ---- build.c ---- */

/* What a file or a build gives. */
struct loaded_engine {
    struct engine *engine;
    struct words debug_names; /* outputs that are debug tensors, not outputs */
    bool detailed;            /* profiling verbosity of the build */
    struct file_map map;
    char *built_bytes;
};

/* Builds --onnx and saves it. 0, or the exit status: everything has been said. */
int build_engine(struct loaded_engine *ret);
int load_engine(const char *path, struct loaded_engine *ret);

/* ---- infer.c ---- */

int infer(struct loaded_engine *loaded);

/* ---- layers.c ---- */

void layers_export(const struct loaded_engine *loaded);

#endif
