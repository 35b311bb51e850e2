/* debug/tactics/isolation.h: `debug tactics`: which tactics make the difference between a good build and a bad one, by
 * trying.
 *
 * Statistics over many builds point at a tactic; this proves it. Two replays of one network are enough, of a build that
 * passes and one that fails: where they differ, each layer's tactic is taken from the one or from the other, the
 * mixture is built and checked, and a search (search/sets/set_isolation.h) narrows the difference down.
 */
#ifndef DEBUG_TACTICS_ISOLATION_H
#define DEBUG_TACTICS_ISOLATION_H

#include "debug/candidate/engine_maker.h"
#include "debug/session/session.h"
#include "format/polygraphy/tactic_replay.h"
#include "search/sets/group_search.h"
#include "search/sets/set_isolation.h"

/* A layer that has another tactic in the bad replay than in the good one. */
struct tactic_difference {
    const char *layer;
    const struct tactic_algorithm *good, *bad; /* of the replays */
};

enum isolation_outcome {
    ISOLATION_FOUND,
    ISOLATION_SAME,       /* the replays have the same tactics */
    ISOLATION_GOOD_FAILS, /* the good one was seen to fail: the difference is elsewhere */
    ISOLATION_BAD_PASSES, /* the bad one was seen to pass */
};

/* The kernel whose tactics were found, where they all are of one (of one implementation's number), and the good build
 * has another one in their layers. */
struct isolation_kernel {
    bool known;
    struct bitset layers; /* differences where the bad build has it and the good one has not: those found, and others */
    size_t kept;          /* layers that have it in both builds: it does no harm there, for the good one passes */
    /* In which of `layers` it is at fault, where the bad build fails without what was found, as others have it, too. */
    bool searched;
    struct group_search search;
};

struct tactic_isolation {
    const struct tactic_replay *good, *bad; /* borrowed */
    const char *good_path, *bad_path;       /* files of these, for the answer */
    const char *fixed;                      /* that of the fixed replay; NULL: none was written */
    struct engine_maker maker;
    struct log *log;

    struct { /* in the order of the bad replay */
        struct tactic_difference *items;
        size_t count, capacity;
    } differences;
    size_t only_in_one; /* layers that only one of the replays has: they cannot be mixed */

    enum isolation_outcome outcome;
    struct set_isolation search; /* over the differences: search.found is the result */
    struct isolation_kernel kernel;

    void *engine;  /* that was built last; or NULL */
    size_t builds; /* so far, those of the replays themselves included, without those ahead of their turn */
};

/* Compares the replays; nothing is built yet. */
void tactic_isolation_init(struct tactic_isolation *isolation, const struct tactic_replay *good,
                           const struct tactic_replay *bad);
void tactic_isolation_release(struct tactic_isolation *isolation);

/* Builds with the tactics of one replay, then with those of the other, to see the one pass and the other fail; then
 * isolates. Where the bad build fails without what was found as well, but has its kernel in other layers, too, those
 * are found where it is at fault. maker and log are set. */
int tactic_isolation_run(struct tactic_isolation *isolation, struct debug_session *session, struct error *err);

/* The differences that are at fault, as far as they are known: without these alone the bad build was seen to pass. NULL
 * when there is no such build. */
const struct bitset *tactic_isolation_fault(const struct tactic_isolation *isolation);

/* The bad replay with the tactics at fault replaced by the good one's, into `ret`, which is new: false, and nothing is
 * there, unless such a build was seen to pass. */
bool tactic_isolation_fixed_replay(const struct tactic_isolation *isolation, struct tactic_replay *ret);

#endif
