/* debug/accuracy/exploration.h: builds of the built-in engine with tactics drawn by lot, and what tells good from bad
 * ones.
 */
#ifndef DEBUG_ACCURACY_EXPLORATION_H
#define DEBUG_ACCURACY_EXPLORATION_H

#include "debug/accuracy/investigation.h"

struct exploration {
    /* What is asked: */
    const struct failing_case *subject;
    struct words excluded; /* tactics that no build has */
    const char *within;    /* for --explore-within; NULL: its default */
    int64_t builds;
    /* What came out: */
    int64_t passed, failed; /* builds */
    const char *replays;    /* the folder with `good` and `bad` */
    const char *layers;     /* layer information of one of them: which nodes a layer has is the same in all */
};

int accuracy_explore(struct investigation *investigation, struct exploration *exploration, struct error *err);

/* Tactics that make the difference between one of the good and one of the bad builds: with them the good one was seen
 * to fail. */
struct tactic_culprits {
    struct words layers; /* none: nothing was found */
    struct words bad;    /* tactics, by layer */
    struct words good;   /* what passes in their place */
    struct words faulty; /* layers: these, or all in which their kernel was seen to be at fault */
    struct words nodes;  /* of those */
    const char *kernel;  /* of the first one, as --exclude-tactics takes it; NULL: that would take more away than it */
    const char *mended;  /* replay of the bad build without them, as it was seen to pass; NULL: it was not */
};

/* `debug tactics` on the best pair of an exploration with builds of both kinds. */
int accuracy_isolate_tactics(struct investigation *investigation, const struct exploration *exploration,
                             struct tactic_culprits *ret, struct error *err);

/* `words` and one more, for as long as the investigation lives; the same where they have it. */
struct words accuracy_add_word(struct investigation *investigation, struct words words, const char *word);

/* --exclude-tactics with `excluded`; nothing where that is empty. */
void call_add_excluded(struct call *call, struct words excluded);

#endif
