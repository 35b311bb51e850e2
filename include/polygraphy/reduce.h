/* polygraphy/reduce.h: the smallest part that still fails, with an oracle of your own.
 *
 * `polygraphy debug reduce` starts a program for each candidate. Here the oracle is a function: it can keep its device
 * open, its compiler loaded, its reference values in memory.
 *
 *   polygraphy_reduce_graph()  elements and edges; the oracle gets a set of elements. Nodes of a model in a format of
 *                              your own, instructions, passes of a compiler, files of a build.
 *   polygraphy_reduce_model()  an ONNX file; the oracle gets a smaller ONNX file. The result is a model, too.
 *
 *   cc main.c $(pkg-config --cflags --libs polygraphy)
 *
 * examples/reduce_library/ uses both; docs/library.md explains.
 *
 * What is found is 1-minimal: it was seen to fail, and without any single one of its elements it was not. The search is
 * that of `debug reduce --mode minimal`, and takes its verdicts at their word: an oracle that does not always say the
 * same has to make up its mind first, by looking several times.
 *
 * Structs are filled with designated initializers, or zeroed first: a member that is zero means what most callers want.
 * Everything that is given belongs to the caller, and has to stay as it is for the time of the call. The library never
 * prints (but see "memory" below), reads no signals, and changes neither the current folder nor the locale.
 *
 * Threads: a function returns when its search is over, and calls the oracle on the caller's thread, one call after the
 * other. Several threads may search at the same time, and an oracle may start a search of its own. It must return: a
 * longjmp() or a C++ exception through the library leaks what the search holds.
 *
 * Memory: when the system has not even a few bytes left for lists and names, the library writes one line to standard
 * error and ends the process.
 *
 * This header needs nothing but the C library's types, and compiles as C11 and as C++11. Header and archive belong to
 * the same release: a program is compiled and linked against one of them.
 */
#ifndef POLYGRAPHY_REDUCE_H
#define POLYGRAPHY_REDUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What both have in common ---- */

/* What an oracle returns. Any other number ends the search with POLYGRAPHY_ERROR_INVALID. */
enum {
    POLYGRAPHY_PASSES = 0,
    POLYGRAPHY_FAILS = 1, /* the failure that is looked for, and no other */
    POLYGRAPHY_UNTESTABLE =
        2,              /* neither: the candidate makes no sense, or fails in another way. It is not gone on with */
    POLYGRAPHY_STOP = 3 /* end here, with what was found so far */
};

/* How a search ended. Unless it is POLYGRAPHY_DOES_NOT_FAIL, the result is the smallest set that was seen to fail. */
enum {
    POLYGRAPHY_MINIMAL = 0,       /* it is 1-minimal */
    POLYGRAPHY_OUT_OF_CHECKS = 1, /* max_checks are used up: perhaps there is a smaller one */
    POLYGRAPHY_STOPPED = 2,       /* the oracle said so, or an error: perhaps nothing was seen to fail yet */
    POLYGRAPHY_DOES_NOT_FAIL = 3  /* the whole passes: there is nothing to reduce */
};

/* What a function returns when it does not return 0. */
enum {
    POLYGRAPHY_ERROR_INVALID = -1,     /* the request makes no sense, or the oracle's answer */
    POLYGRAPHY_ERROR_MISSING = -2,     /* a file or ONNX Runtime is not there */
    POLYGRAPHY_ERROR_IO = -3,          /* the operating system refused to read or write something */
    POLYGRAPHY_ERROR_CORRUPT = -4,     /* the model, or a file with input data, is damaged */
    POLYGRAPHY_ERROR_UNSUPPORTED = -5, /* valid, but too large or too new for this library */
    POLYGRAPHY_ERROR_BACKEND = -6,     /* ONNX Runtime cannot run the model */
    POLYGRAPHY_ERROR_MEMORY = -7,      /* a tensor's size is more than the system has */
    POLYGRAPHY_ERROR_EXISTS = -9       /* a file is in the way, and is not overwritten */
};

/* One sentence about a failure, in UTF-8, without a full stop. Functions fill it only when they fail; the pointer to it
 * may be NULL. */
struct polygraphy_error {
    int32_t code; /* what the function returned */
    char message[2048];
};

/* How far a search is. An oracle that wants to show it, or to end the search after some time, does so. */
struct polygraphy_progress {
    uint64_t check;   /* the number of this check, from 1. The first one is of the whole */
    size_t smallest;  /* elements of the smallest set that was seen to fail; 0 in the first check */
    size_t remaining; /* checks that follow this one, were there a single culprit: a guess */
};

/* ---- Graphs ---- */

#define POLYGRAPHY_MAX_ELEMENTS (1u << 24)

/* `target` uses what `source` makes. Elements are numbered from 0, so that source < target: in topological order. */
struct polygraphy_edge {
    uint32_t source, target;
};

/* Says about `count` elements (at least one, each once, in rising order) what they do without the others. The memory is
 * the library's and lives as long as the call. No set is asked about twice. */
typedef int32_t polygraphy_graph_oracle(void *context, const uint32_t *elements, size_t count,
                                        const struct polygraphy_progress *progress);

struct polygraphy_graph_request {
    uint32_t element_count;              /* 1 to POLYGRAPHY_MAX_ELEMENTS */
    const struct polygraphy_edge *edges; /* they only guide the search: any set of elements can be asked about */
    size_t edge_count;
    polygraphy_graph_oracle *oracle;
    void *context;       /* handed to the oracle */
    uint64_t max_checks; /* calls of the oracle; 0: as many as it takes */
};

struct polygraphy_graph_result {
    int32_t outcome;
    uint64_t checks;    /* calls of the oracle */
    uint32_t *elements; /* in rising order; NULL when nothing was seen to fail */
    size_t element_count;
};

/* Looks for the smallest set of elements that fails. Returns 0 or an error. In either case `result` is filled, with
 * what was found until then, and is to be released. Errors: POLYGRAPHY_ERROR_INVALID (no element, an edge that does not
 * go up, no oracle, an answer that is none, or that the whole is untestable), POLYGRAPHY_ERROR_UNSUPPORTED (too many
 * elements), POLYGRAPHY_ERROR_MEMORY (too many edges). */
int32_t polygraphy_reduce_graph(const struct polygraphy_graph_request *request, struct polygraphy_graph_result *result,
                                struct polygraphy_error *error);

/* Frees what the result holds. A released or zeroed one may be released again. */
void polygraphy_graph_result_release(struct polygraphy_graph_result *result);

/* ---- ONNX models ---- */

/* A part of the model, as a model of its own: whatever it reads of the others has become an input (or a constant, when
 * it is of integers, which are mostly shapes and indices). */
struct polygraphy_candidate {
    /* Of files that are removed when the oracle returns, unless it has moved them away. */
    const char *path; /* of the model */

    /* With `write_data`, what the candidate's inputs, and its outputs, hold in the original model when ONNX Runtime
     * runs it: files for `polygraphy run --load-inputs` and `--load-outputs`. Otherwise NULL. */
    const char *inputs_path, *golden_path;

    size_t node_count;
    struct polygraphy_progress progress; /* elements are nodes */
};

/* Says how the candidate does. It and its strings live as long as the call. */
typedef int32_t polygraphy_model_oracle(void *context, const struct polygraphy_candidate *candidate);

/* Gets what a user may want to read: one message, UTF-8, perhaps of several lines, none of them ended by a line break.
 * It lives as long as the call. `level` is 20 for what goes on, 30 for warnings. */
typedef void polygraphy_log(void *context, int32_t level, const char *message);

struct polygraphy_model_request {
    const char *model;   /* path of the ONNX file, which has to stay as it is, too */
    const char *output;  /* where the result is written, whole or not at all; NULL: nowhere */
    bool replace_output; /* false: a file that is there already is an error, found before the first check */

    /* An existing folder for candidates, which get a new folder of their own in it; NULL: TMPDIR, or else /tmp. In the
     * end it is removed with all that the library has put there; a file of the oracle's keeps it alive. */
    const char *folder;

    polygraphy_model_oracle *oracle;
    void *context;       /* handed to the oracle and to `log` */
    uint64_t max_checks; /* calls of the oracle; 0: as many as it takes */
    polygraphy_log *log; /* NULL: nobody wants to know */

    /* ONNX Runtime tells the types and values that the file does not. It is loaded when first needed, once for the
     * whole process, and stays. NULL: POLYGRAPHY_ONNXRUNTIME, beside the program, ORT_DYLIB_PATH. */
    const char *onnxruntime;            /* the library's file or folder */
    const char *const *custom_op_files; /* libraries with operators of your own */
    size_t custom_op_file_count;

    /* What the original model is fed, when values of it are needed: files as for --load-inputs; else random numbers. */
    const char *const *input_files;
    size_t input_file_count;
    uint32_t seed;   /* of the random numbers */
    bool write_data; /* see struct polygraphy_candidate; costs one run of the model */
};

struct polygraphy_node {
    char *name; /* or, when it has none, operator and number: "Relu #17" */
    char *op_type;
};

struct polygraphy_model_result {
    int32_t outcome;
    bool written; /* `output` is there */
    uint64_t checks;
    size_t original_node_count;    /* of the file */
    struct polygraphy_node *nodes; /* of the result, in the file's order; NULL when nothing was seen to fail */
    size_t node_count;
};

/* Looks for the smallest model that fails, and writes it to `output`. Nodes that only hold a constant count as part of
 * those that read it, and are not among the nodes of the result. Returns 0 or an error, which leaves `output` as it
 * was. In either case `result` is filled, with what was found until then, and is to be released. */
int32_t polygraphy_reduce_model(const struct polygraphy_model_request *request, struct polygraphy_model_result *result,
                                struct polygraphy_error *error);

/* Frees what the result holds. A released or zeroed one may be released again. */
void polygraphy_model_result_release(struct polygraphy_model_result *result);

#ifdef __cplusplus
}
#endif

#endif
