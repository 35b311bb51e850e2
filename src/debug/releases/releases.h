/* debug/releases/releases.h: `debug releases`: finds the release of a library in which the verdict of a check changes.
 *
 * The module debug/releases/ bisects the releases, in their order. Inputs: their numbers, a function that provides the
 * library of one, and a session, whose candidates are these libraries. Output: two releases with different verdicts and
 * no testable one between them. It may use debug/session and debug/belief, and knows no runtime.
 *
 * As in `git bisect`, a release that cannot be tested is skipped, and the search goes on with its neighbours. Both ends
 * are checked, and nothing is assumed of what lies between two releases with the same verdict: the result says which
 * releases were not tested.
 */
#ifndef DEBUG_RELEASES_RELEASES_H
#define DEBUG_RELEASES_RELEASES_H

#include "base/container/arena.h"
#include "base/text/text.h"
#include "debug/session/session.h"

enum release_state { RELEASE_NOT_TESTED, RELEASE_PASSES, RELEASE_FAILS, RELEASE_UNTESTABLE };

struct release {
    const char *name; /* "1.23.0" */
    enum release_state state;
    const char *why;     /* of an untestable one: the reason */
    bool is_too_old;     /* that is its age: older ones are untestable, too */
    const char *library; /* its path; NULL: unknown */
    const char *how;     /* how its check ended; set by the caller's observer of the session; or NULL */
};

struct release_list {
    struct release *items;
    size_t count;
};

struct releases_request {
    struct debug_session *session;
    struct arena *arena;
    struct log *log;

    /* Sets `library` of a release, or `state` and `why` if it is untestable. Negative: the search ends. */
    int (*open)(void *data, struct release *release, struct error *err);
    bool (*is_at_hand)(void *data, const struct release *release); /* opening it is cheap */
    void *data;
};

enum releases_outcome {
    RELEASES_FOUND,
    RELEASES_ALL_PASS, /* all that were tested; at least one was */
    RELEASES_ALL_FAIL,
    RELEASES_NONE_TESTED,
};

struct releases_result {
    enum releases_outcome outcome;
    size_t before, after; /* found: the neighbours between which the verdict changes, after > before */
};

/* Tests `releases`, oldest first, and sets their states. If the oldest and the newest testable one have the same
 * verdict, those at hand between them are tested, too. Both neighbours are confirmed: ERR_INVALID if a verdict is not
 * reproducible. */
int releases_run(const struct releases_request *request, struct release_list *releases, struct releases_result *ret,
                 struct error *err);

#endif
