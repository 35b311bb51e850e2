/* cli/debug/other_data.h: repeats the verdicts of an answer with other generated data.
 *
 * An answer that was found with one set of data may be about these data only. So its own check (own_check.h) is run
 * again, on the candidate that fails and on the one that passes, with data of the next seed.
 */
#ifndef CLI_DEBUG_OTHER_DATA_H
#define CLI_DEBUG_OTHER_DATA_H

#include "cli/debug/own_check.h"

/* A repetition with other generated data. */
struct other_data {
    bool is_known;
    int64_t seed;         /* of --seed */
    enum verdict failing; /* on the candidate that fails with the first data */
    enum verdict passing; /* on the one that passes with these */
    const char *why_not;  /* reason if it is not known; NULL: data are not generated */
};

/* Whether that contradicts the answer: the candidate that has to pass does not. */
bool other_data_contradicts(const struct other_data *other);

/* Adds a line with the result. `fix` names what the passing candidate lacks: "X disabled". */
void other_data_add_line(const struct other_data *other, const char *fix, struct result *ret);

/* A command of a repetition. */
struct other_run {
    struct words words;   /* begin with "polygraphy run MODEL" */
    const char *variable; /* "NAME=value" in its environment; may be NULL */
};

struct other_runs {
    struct other_run reference, failing, passing;
};

/* Repeats a comparison with data of the seed after `seed`, if data are generated: computes a reference, and compares
 * both candidates with it. Failures of the reference are reasons in `ret`. */
int other_data_repeat(const struct own_check *check, int64_t seed, const struct other_runs *runs,
                      struct other_data *ret, struct error *err);

#endif
