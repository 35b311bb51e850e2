/* format/polygraphy/accuracy_results.h: metrics and verdicts of comparisons, as `run --save-accuracy-results` of
 * Polygraphy 0.53 writes them: for each comparison function, for each pair of runners, for each iteration, for each
 * output.
 */
#ifndef FORMAT_POLYGRAPHY_ACCURACY_RESULTS_H
#define FORMAT_POLYGRAPHY_ACCURACY_RESULTS_H

#include "format/json/reader.h"
#include "tensor/compare/compare.h"

enum accuracy_kind {
    ACCURACY_PLAIN, /* a verdict alone: rankings, and outputs of different shapes */
    ACCURACY_SIMPLE,
    ACCURACY_L2,
    ACCURACY_COSINE_SIMILARITY,
    ACCURACY_PSNR,
    ACCURACY_SNR,
    ACCURACY_LPIPS, /* of other programs */
    ACCURACY_NMSE,  /* of this program */
    ACCURACY_KINDS,
};

/* The values of ACCURACY_SIMPLE: of each statistic the absolute and the relative difference. Other kinds have one. */
enum { ACCURACY_MAX, ACCURACY_MEAN = 2, ACCURACY_MEDIAN = 4, ACCURACY_QUANTILE = 6, ACCURACY_VALUES = 8 };

struct accuracy_output {
    char *name; /* owned */
    enum accuracy_kind kind;
    double values[ACCURACY_VALUES];
    bool known[ACCURACY_VALUES];
    enum compare_statistic statistic; /* simple */
    double atol, rtol;                /* simple */
    double threshold;                 /* other kinds */
    bool has_verdict, verdict;        /* plain, and simple by elements; others follow from the values */
};

struct accuracy_iteration {
    struct accuracy_output *items;
    size_t count, capacity;
};

struct accuracy_pair {
    char *first, *second; /* names of runners; owned */
    struct accuracy_iteration *items;
    size_t count, capacity;
};

struct accuracy_result {
    bool average; /* the verdict is that of metrics averaged over all iterations */
    struct accuracy_pair *items;
    size_t count, capacity;
};

struct accuracy_results {
    struct accuracy_result *items; /* one for each function */
    size_t count, capacity;
};

/* Whether the file at `path` is one, from the class of its object. */
bool accuracy_results_recognize(const char *path);

/* ERR_INVALID for another file, ERR_CORRUPT for a damaged one. */
int accuracy_results_load(struct accuracy_results *ret, const char *path, struct error *err);
int accuracy_results_save(const struct accuracy_results *results, const char *path, struct error *err);
void accuracy_results_release(struct accuracy_results *results);

/* The kind of the metrics in a result; ACCURACY_PLAIN: it has none. */
enum accuracy_kind accuracy_result_kind(const struct accuracy_result *result);

/* The name of a value in files and messages: "max_absdiff", "l2_norm". NULL behind the last one. */
const char *accuracy_value_name(enum accuracy_kind kind, size_t value);

/* Appends "['max_absdiff', 'max_reldiff', ...]". */
void accuracy_list_values(enum accuracy_kind kind, struct string_builder *ret);

#endif
