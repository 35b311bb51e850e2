/* debug/tactics/pair.h: chooses a good and a bad build to compare: the fewer tactics differ, the fewer builds find the
 * one that matters. */
#ifndef DEBUG_TACTICS_PAIR_H
#define DEBUG_TACTICS_PAIR_H

#include "debug/tactics/diff.h"

struct tactic_pair {
    const struct tactic_build *good, *bad; /* borrowed from the lists */
    size_t differences;                    /* layers with different tactics, or in only one of the builds */
    size_t count;                          /* number of pairs to choose from */
    /* A pair with the same tactics and different verdicts, if any, else NULL: the verdict also depends on something
     * else. */
    const struct tactic_build *same_good, *same_bad;
};

/* The first pair with the fewest differences (at least one, if there is such a pair) among builds with the same
 * precision options, if known. ERR_MISSING if one of the lists is empty, ERR_INVALID if no two builds have the same
 * options. */
int tactic_pair_choose(const struct tactic_builds *good, const struct tactic_builds *bad, struct tactic_pair *ret,
                       struct error *err);

/* The pair for proving a suspect: chosen among bad builds with this column of the table and good ones without; if there
 * is none, among all. */
int tactic_pair_choose_for(const struct tactic_diff *diff, size_t column, struct tactic_pair *ret, struct error *err);

#endif
