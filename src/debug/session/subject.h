/* debug/session/subject.h: what a tool provides to a session: a search, and functions that write its candidates.
 *
 * The state of a search asks for a candidate. A subject has two functions: one identifies the candidate, one writes it.
 * They are called in the candidate's turn, or ahead of it with a copy of the search in a predicted state; the result
 * depends on the search alone.
 */
#ifndef DEBUG_SESSION_SUBJECT_H
#define DEBUG_SESSION_SUBJECT_H

#include "base/hash.h"
#include "debug/belief/repeated.h"
#include "debug/candidate/place.h"
#include "search/search.h"

enum candidate_action {
    CANDIDATE_CHECK, /* write and check it */
    CANDIDATE_SKIP,  /* no check: `skip_verdict` counts. The search sees a pass as VERDICT_SKIP, because it was not
                      * observed */
};

/* Purpose of a check outside of the numbered iterations. The role determines how often the check runs with --flaky,
 * whether a reused verdict is accepted, and how the check is logged and counted. */
enum check_role {
    ROLE_CANDIDATE,          /* like candidates of the search: the candidate has the expectation */
    ROLE_GOOD_END,           /* expected to pass: estimates the failure rate without the bug */
    ROLE_BAD_END,            /* expected to fail: estimates the failure rate with the bug */
    ROLE_REPETITION,         /* replaces an earlier verdict */
    ROLE_CONTROL,            /* tests the check itself; not counted as a candidate */
    ROLE_CONTROL_REPETITION, /* the same, with a candidate that has a verdict */
};

/* A check outside of the numbered iterations. */
struct check_request {
    enum check_role role;
    const char *key;  /* key of the verdict in the replay: "_verify" */
    const char *what; /* name of the candidate in the log: "the original model" */
};

struct candidate_description {
    enum candidate_action action;
    enum verdict skip_verdict;
    int64_t num_nodes; /* recorded in the replay; -1: not recorded */
    bool has_identity; /* candidates with the same identity are the same file, which is checked once */
    struct hash identity;
    bool has_file;                /* set by write() of a subject whose candidates `may_be_kept`: */
    struct hash file;             /* of the artifact's bytes: equal only if they are */
    enum expectation expectation; /* with --flaky. EXPECT_AGAIN: the candidate gets a new verdict */
    void *content;                /* the tool's data for write(); released with the candidate */
    bool is_known;                /* set by the session: the debug replay has the verdict */
    bool is_ahead;                /* set by the session: ahead of its turn, which may never come */
};

struct session_subject {
    void *data;
    const struct search_ops *ops; /* of the search; both are NULL for checks outside of a search */
    void *search;                 /* the tool starts the search and reads its result */
    const char *suffix;           /* of replay keys: "outputs" gives "_N0_outputs"; NULL: none */
    const char *kind;             /* of candidates: "engine"; NULL: "model" */
    const char *saving;           /* logged before the path when a candidate is written: "Saving engine to"; or NULL */
    const char *beside;           /* a file written next to each candidate, which the check may read instead; or NULL */
    enum search_end end;
    bool looks_into_failure; /* the tool itself runs controls if no candidate passes */
    bool may_be_kept;        /* candidates may become the result: write() sets the hashes of their files */

    /* Identifies the candidate that this state of `search` asks for; `ret` is zeroed, without a number of nodes, except
     * for `is_known`. Logs a description of the candidate, unless its verdict is known; the log is muted ahead of the
     * candidate's turn. */
    int (*identify)(void *data, const void *search, struct candidate_description *ret, struct error *err);

    /* Writes the candidate to `paths`, or creates what save() writes. May find nothing to check and set its action to
     * CANDIDATE_SKIP without writing. NULL: the tool has no artifact. */
    int (*write)(void *data, struct candidate_description *candidate, const struct candidate_paths *paths,
                 struct error *err);

    /* Writes what write() has created, after the log line about saving. NULL: write() writes it. */
    int (*save)(void *data, struct candidate_description *candidate, const struct candidate_paths *paths,
                struct error *err);

    void (*release)(void *content); /* may be NULL, like all that follow */

    /* Encloses calls ahead of a candidate's turn, which may never come: knowledge gained meanwhile is discarded when
     * `begins` is false. */
    void (*look_ahead)(void *data, bool begins);

    /* Receives the verdict on the candidate and its number of nodes (its own, or the replay's), before the search does.
     * */
    void (*took)(void *data, const void *search, const struct candidate_description *candidate, int64_t nodes,
                 enum verdict verdict);
};

#endif
