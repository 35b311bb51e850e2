/* polygraphy/reduce.h: reduction to a minimal failing part, with your own oracle (library interface).
 *
 * `polygraphy debug reduce` starts a program for each candidate. Here the oracle is a function: it can keep its device
 * open, its compiler loaded, and its reference values in memory.
 *
 *   polygraphy_reduce_graph()  elements and edges; the oracle gets a set of elements. Nodes of a model in a format of
 *                              your own, instructions, passes of a compiler, files of a build.
 *   polygraphy_reduce_model()  an ONNX file; the oracle gets a smaller ONNX file. The result is a model, too.
 *
 *   cc main.c $(pkg-config --cflags --libs polygraphy)
 *
 * examples/reduce_library/ uses both; docs/library.md explains.
 *
 * The result is 1-minimal: it fails, and removing any single element makes it pass; both are verified by the oracle.
 * The search is that of `debug reduce --mode minimal`. It does not repeat checks: an oracle that is not deterministic
 * must combine several runs into one answer.
 *
 * Fill structs with designated initializers, or zero them first: zero members select useful defaults. The caller keeps
 * ownership of everything that it passes, and must not change it during the call. The library never prints (except as
 * described under "Memory"), handles no signals, and changes neither the current folder nor the locale.
 *
 * Threads: a function returns when its search is over, and calls the oracle on the caller's thread, sequentially.
 * Several threads may search at the same time, and an oracle may start another search. It must return: a longjmp() or a
 * C++ exception through the library leaks memory.
 *
 * Memory: if small allocations for lists and names fail, the library writes one line to standard error and exits the
 * process.
 *
 * This header depends only on the C library's types, and compiles as C11 and as C++11. Header and archive must be from
 * the same release.
 */
#ifndef POLYGRAPHY_REDUCE_H
#define POLYGRAPHY_REDUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Common definitions ---- */

/* Return values of an oracle. Any other number ends the search with POLYGRAPHY_ERROR_INVALID. */
enum {
    POLYGRAPHY_PASSES = 0,
    POLYGRAPHY_FAILS = 1,      /* exactly the failure to reduce */
    POLYGRAPHY_UNTESTABLE = 2, /* inconclusive: the candidate is invalid, or has another failure; it is not accepted */
    POLYGRAPHY_STOP = 3        /* end the search with the result so far */
};

/* How a search ended. Unless it is POLYGRAPHY_DOES_NOT_FAIL, the result is the smallest failing set found. */
enum {
    POLYGRAPHY_MINIMAL = 0,       /* the result is 1-minimal */
    POLYGRAPHY_OUT_OF_CHECKS = 1, /* max_checks was reached: there may be a smaller result */
    POLYGRAPHY_STOPPED = 2,       /* by the oracle or an error: possibly before anything failed */
    POLYGRAPHY_DOES_NOT_FAIL = 3  /* the full set passes: nothing to reduce */
};

/* Error codes: return values of functions other than 0. */
enum {
    POLYGRAPHY_ERROR_INVALID = -1,     /* the request or the oracle's answer is invalid */
    POLYGRAPHY_ERROR_MISSING = -2,     /* a file or ONNX Runtime is missing */
    POLYGRAPHY_ERROR_IO = -3,          /* the operating system failed to read or write */
    POLYGRAPHY_ERROR_CORRUPT = -4,     /* the model, or a file with input data, is damaged */
    POLYGRAPHY_ERROR_UNSUPPORTED = -5, /* valid, but too large or too new for this library */
    POLYGRAPHY_ERROR_BACKEND = -6,     /* ONNX Runtime cannot run the model */
    POLYGRAPHY_ERROR_MEMORY = -7,      /* not enough memory for a tensor */
    POLYGRAPHY_ERROR_EXISTS = -9       /* a file exists and is not overwritten */
};

/* An error: one sentence in UTF-8, without a full stop. Functions fill it only on failure; the pointer to it may be
 * NULL. */
struct polygraphy_error {
    int32_t code; /* the function's return value */
    char message[2048];
};

/* Progress of a search, for an oracle that shows it or limits the time. */
struct polygraphy_progress {
    uint64_t check;   /* number of this check, from 1. The first check is of the full set */
    size_t smallest;  /* elements of the smallest failing set so far; 0 in the first check */
    size_t remaining; /* estimated number of further checks, assuming a single culprit */
};

/* ---- Graphs ---- */

#define POLYGRAPHY_MAX_ELEMENTS (1u << 24)

/* `target` depends on `source`. Elements are numbered from 0 in topological order: source < target. */
struct polygraphy_edge {
    uint32_t source, target;
};

/* Tests the set of `count` elements (at least one, distinct, ascending). The memory belongs to the library and is valid
 * during the call. No set is tested twice. */
typedef int32_t polygraphy_graph_oracle(void *context, const uint32_t *elements, size_t count,
                                        const struct polygraphy_progress *progress);

struct polygraphy_graph_request {
    uint32_t element_count;              /* 1 to POLYGRAPHY_MAX_ELEMENTS */
    const struct polygraphy_edge *edges; /* they only guide the search: any set of elements may be tested */
    size_t edge_count;
    polygraphy_graph_oracle *oracle;
    void *context;       /* passed to the oracle */
    uint64_t max_checks; /* maximum calls of the oracle; 0: no limit */
};

struct polygraphy_graph_result {
    int32_t outcome;
    uint64_t checks;    /* calls of the oracle */
    uint32_t *elements; /* ascending; NULL if nothing failed */
    size_t element_count;
};

/* Searches a 1-minimal failing set of elements. Returns 0 or an error. In both cases `result` is filled with the state
 * of the search and must be released. Errors: POLYGRAPHY_ERROR_INVALID (no elements, an edge with source >= target, no
 * oracle, an invalid answer, or the full set is untestable), POLYGRAPHY_ERROR_UNSUPPORTED (too many elements),
 * POLYGRAPHY_ERROR_MEMORY (too many edges). */
int32_t polygraphy_reduce_graph(const struct polygraphy_graph_request *request, struct polygraphy_graph_result *result,
                                struct polygraphy_error *error);

/* Frees the content of a result. A released or zeroed result may be released again. */
void polygraphy_graph_result_release(struct polygraphy_graph_result *result);

/* ---- ONNX models ---- */

/* A part of the model as a separate model: tensors produced by other parts have become inputs (or constants if they are
 * integers, which are usually shapes and indices). */
struct polygraphy_candidate {
    /* Paths of files, which are removed when the oracle returns unless it has moved them. */
    const char *path; /* of the model */

    /* With `write_data`, the values of the candidate's inputs and outputs in the original model, computed by ONNX
     * Runtime: files for `polygraphy run --load-inputs` and `--load-outputs`. Otherwise NULL. */
    const char *inputs_path, *golden_path;

    size_t node_count;
    struct polygraphy_progress progress; /* elements are nodes */
};

/* Tests the candidate. The struct and its strings are valid during the call. */
typedef int32_t polygraphy_model_oracle(void *context, const struct polygraphy_candidate *candidate);

/* Receives a log message: UTF-8, possibly several lines, without a trailing line break, valid during the call. `level`
 * is 20 for information, 30 for warnings. */
typedef void polygraphy_log(void *context, int32_t level, const char *message);

struct polygraphy_model_request {
    const char *model;   /* path of the ONNX file, which must not change during the call */
    const char *output;  /* path of the result, written atomically; NULL: none */
    bool replace_output; /* false: an existing file is an error, reported before the first check */

    /* An existing folder, in which a new folder for candidates is created; NULL: TMPDIR, or else /tmp. The new folder
     * is removed at the end, unless the oracle has left files in it. */
    const char *folder;

    polygraphy_model_oracle *oracle;
    void *context;       /* passed to the oracle and to `log` */
    uint64_t max_checks; /* maximum calls of the oracle; 0: no limit */
    polygraphy_log *log; /* NULL: no log */

    /* ONNX Runtime infers types and computes values that are not in the file. It is loaded on first use, once per
     * process, and never unloaded. NULL: search POLYGRAPHY_ONNXRUNTIME, the program's folder, ORT_DYLIB_PATH. */
    const char *onnxruntime;            /* the library's file or folder */
    const char *const *custom_op_files; /* libraries with custom operators */
    size_t custom_op_file_count;

    /* Input data of the original model, if its values are needed: files as for --load-inputs; default: random
     * numbers. */
    const char *const *input_files;
    size_t input_file_count;
    uint32_t seed;   /* of random input data */
    bool write_data; /* see struct polygraphy_candidate; costs one run of the model */
};

struct polygraphy_node {
    char *name; /* or, if it has none, operator and index: "Relu #17" */
    char *op_type;
};

struct polygraphy_model_result {
    int32_t outcome;
    bool written; /* `output` was written */
    uint64_t checks;
    size_t original_node_count;    /* of the file */
    struct polygraphy_node *nodes; /* of the result, in the file's order; NULL if nothing failed */
    size_t node_count;
};

/* Searches a 1-minimal failing model and writes it to `output`. Constant nodes belong to their consumers and are not
 * listed in the result. Returns 0 or an error, which leaves `output` unchanged. In both cases `result` is filled with
 * the state of the search and must be released. */
int32_t polygraphy_reduce_model(const struct polygraphy_model_request *request, struct polygraphy_model_result *result,
                                struct polygraphy_error *error);

/* Frees the content of a result. A released or zeroed result may be released again. */
void polygraphy_model_result_release(struct polygraphy_model_result *result);

#ifdef __cplusplus
}
#endif

#endif
