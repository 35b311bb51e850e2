/* debug/tactics/isolation.h: `debug tactics`: finds the tactics that make the difference between a good build and a bad
 * one, by builds.
 *
 * Statistics over many builds suggest a tactic; this proves it. It needs two replays of one network, of a build that
 * passes and one that fails: where they differ, each layer's tactic is taken from one or the other, the mixture is
 * built and checked, and delta debugging (search/sets/set_isolation.h) reduces the difference.
 */
#ifndef DEBUG_TACTICS_ISOLATION_H
#define DEBUG_TACTICS_ISOLATION_H

#include "debug/candidate/engine_maker.h"
#include "debug/session/session.h"
#include "format/polygraphy/tactic_replay.h"
#include "search/sets/group_search.h"
#include "search/sets/set_isolation.h"

/* A layer with different tactics in the two replays. */
struct tactic_difference {
    const char *layer;
    const struct tactic_algorithm *good, *bad; /* of the replays */
};

enum isolation_outcome {
    ISOLATION_FOUND,
    ISOLATION_SAME,       /* the replays have the same tactics */
    ISOLATION_GOOD_FAILS, /* the good one fails: the difference is elsewhere */
    ISOLATION_BAD_PASSES, /* the bad one passes */
};

/* The kernel of the tactics found, if all have the same one (the same implementation number) and the good build has
 * another one in their layers. */
struct isolation_kernel {
    bool known;
    struct bitset layers; /* differences where only the bad build uses it: those found, and others */
    size_t kept;          /* layers that use it in both builds: it is correct there, because the good one passes */
    /* The layers in which it is wrong, if the bad build fails without the tactics found because other layers use it,
     * too. */
    bool searched;
    struct group_search search;
};

struct tactic_isolation {
    const struct tactic_replay *good, *bad; /* borrowed */
    const char *good_path, *bad_path;       /* their paths, for the answer */
    const char *fixed;                      /* path of the fixed replay; NULL: not written */
    struct engine_maker maker;
    struct log *log;

    struct { /* in the order of the bad replay */
        struct tactic_difference *items;
        size_t count, capacity;
    } differences;
    size_t only_in_one; /* layers in only one of the replays, which cannot be mixed */

    enum isolation_outcome outcome;
    struct set_isolation search; /* over the differences: search.found is the result */
    struct isolation_kernel kernel;

    void *engine;  /* the last built engine, or NULL */
    size_t builds; /* number of builds so far, including those of the replays, without speculative ones */
};

/* Compares the replays; builds nothing. */
void tactic_isolation_init(struct tactic_isolation *isolation, const struct tactic_replay *good,
                           const struct tactic_replay *bad);
void tactic_isolation_release(struct tactic_isolation *isolation);

/* Builds with the tactics of each replay to verify that one passes and the other fails, then isolates the difference.
 * If the bad build also fails without the tactics found, but uses their kernel in other layers, too, finds the layers
 * in which it is wrong. maker and log must be set. */
int tactic_isolation_run(struct tactic_isolation *isolation, struct debug_session *session, struct error *err);

/* The differences that cause the failure, if known: the bad build passes with exactly these corrected. NULL if there is
 * no such build. */
const struct bitset *tactic_isolation_fault(const struct tactic_isolation *isolation);

/* Copies the bad replay to `ret`, with the wrong tactics replaced by those of the good one. False, without a replay,
 * unless such a build passed. */
bool tactic_isolation_fixed_replay(const struct tactic_isolation *isolation, struct tactic_replay *ret);

#endif
