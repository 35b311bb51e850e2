/* comparator/compare/comparison.h: compares the results of runs.
 *
 * Each result is compared with the next one, by iteration and output. Verdicts belong to pairs of results, not to their
 * names, which may be equal.
 *
 * The module comparator/compare/ compares and validates results of runs: it computes verdicts from results and
 * criteria, logs them, and collects a report. It does not run models or parse options.
 */
#ifndef COMPARATOR_COMPARE_COMPARISON_H
#define COMPARATOR_COMPARE_COMPARISON_H

#include "comparator/compare/detector.h"
#include "comparator/compare/pairing.h"
#include "comparator/compare/settings.h"
#include "format/polygraphy/run_results.h"

/* Compares each result with the next one. `ret_passed`: whether all matched; fewer than two results match. ERR_INVALID
 * if two results have no output in common, after all pairs were compared; `ret_passed` is also set then. Statistics are
 * computed only if the log shows them. */
int comparison_run(struct run_results *results, const struct comparison_settings *settings, bool *ret_passed,
                   struct error *err);

/* A result of a comparison. */
struct compared_side {
    const char *name;
    size_t iterations;
};

/* Incremental comparison of two results while their outputs are produced:
 *
 *   comparison_begin(&comparison, &settings, first, second);
 *   for (i = 0; i < comparison.iterations && comparison_goes_on(&comparison); i++) {
 *       comparison_begin_iteration(&comparison, i, &first_outputs, &second_outputs);
 *       ... comparison_advance(&comparison, err) whenever more outputs are available ...
 *       comparison_end_iteration(&comparison);
 *   }
 *   rc = comparison_end(&comparison, &passed, err);
 *
 * When an iteration begins, both results must have the names of all its outputs. Tensors may be set later and are
 * zeroed until then; names and tensors must not move until it ends. After an error call comparison_abandon().
 */
struct comparison {
    const struct comparison_settings *settings;
    struct compared_side sides[2];
    struct comparison_functions functions; /* of the settings, or the default */
    size_t iterations;                     /* in both results */
    size_t passed_count, done_count;
    bool passed;          /* so far */
    bool is_complete;     /* so far: no output was without a partner that is required */
    struct error refusal; /* the first reason why an iteration could not be compared; code 0: none */

    /* Of the current iteration: */
    bool is_open;
    size_t index;
    struct iteration_result *first, *second;
    struct pairing pairing;
    size_t next;              /* pair to compare */
    bool has_detector;        /* the next member is known */
    struct detector detector; /* with COMPARISON_DETECTIONS: outputs that are compared at once */
    size_t compared_count;    /* pairs compared so far, by at least one function */
    bool iteration_passed;
    /* Names of outputs, in the order of the settings' functions: */
    struct string_builder compared[COMPARISON_FUNCTIONS], mismatched[COMPARISON_FUNCTIONS];
    size_t mismatched_count, first_mismatch_at; /* among compared pairs */
    struct string_builder first_mismatch;       /* the output and its worst element */
    struct log_lines statistics;                /* of outputs, which may be released: shown at the end */
};

void comparison_begin(struct comparison *comparison, const struct comparison_settings *settings,
                      struct compared_side first, struct compared_side second);
void comparison_log_heading(const struct comparison *comparison);
void comparison_begin_iteration(struct comparison *comparison, size_t index, struct iteration_result *first,
                                struct iteration_result *second);

/* Compares the next pairs, in the order of the first result, while both outputs of a pair are available; with
 * COMPARISON_DETECTIONS as soon as all are. */
int comparison_advance(struct comparison *comparison, struct error *err);
void comparison_end_iteration(struct comparison *comparison);

/* Whether to compare another iteration: not after one with nothing to compare, nor after a mismatch with
 * `fail_fast`. */
bool comparison_goes_on(const struct comparison *comparison);

/* Whether an output of the current iteration, of either result, has not been compared yet. */
bool comparison_awaits(const struct comparison *comparison, const struct named_tensor *output);

/* Finishes the comparison. `ret_passed`: whether everything matched. ERR_INVALID if an iteration had nothing to
 * compare. */
int comparison_end(struct comparison *comparison, bool *ret_passed, struct error *err);
void comparison_abandon(struct comparison *comparison);

#endif
