/* debug/tactics/pair.h: which good and which bad build to set against each other: the fewer tactics are different, the
 * fewer builds it takes to find the one that matters. */
#ifndef DEBUG_TACTICS_PAIR_H
#define DEBUG_TACTICS_PAIR_H

#include "debug/tactics/diff.h"

struct tactic_pair {
    const struct tactic_build *good, *bad; /* of the lists that it was chosen from */
    size_t differences;                    /* layers whose tactics differ, or that only one of them has */
    size_t count;                          /* pairs that there were to choose from */
    /* A pair with the same tactics and different verdicts: something else decides, or chance. NULL: there is none. */
    const struct tactic_build *same_good, *same_bad;
};

/* Of all pairs of builds with the same options for precision (as far as they are known), the first one with the fewest
 * differences, but at least one where there is such a pair. ERR_MISSING when one of the lists is empty, ERR_INVALID
 * when no two builds have the same options. */
int tactic_pair_choose(const struct tactic_builds *good, const struct tactic_builds *bad, struct tactic_pair *ret,
                       struct error *err);

/* The pair to prove a suspect on: the same of bad builds that have this column of the table, and good ones that do
 * not; where there is none, of all. */
int tactic_pair_choose_for(const struct tactic_diff *diff, size_t column, struct tactic_pair *ret, struct error *err);

#endif
