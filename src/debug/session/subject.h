/* debug/session/subject.h: what a tool brings to the session: a search, and how its candidates become files.
 *
 * A candidate is what a state of the search asks for. A subject has two functions: one identifies a candidate, the
 * other writes it. They are called when the candidate's turn has come, or ahead of that with a copy of the search as it
 * may be then; the result depends on the search alone.
 */
#ifndef DEBUG_SESSION_SUBJECT_H
#define DEBUG_SESSION_SUBJECT_H

#include "base/hash.h"
#include "debug/belief/repeated.h"
#include "debug/candidate/place.h"
#include "search/search.h"

enum candidate_action {
    CANDIDATE_CHECK, /* write and check it */
    CANDIDATE_SKIP,  /* no check: `skip_verdict` counts. To the search a pass is VERDICT_SKIP: none was seen */
};

/* What a check apart from the numbered iterations is for. The role says how often the check is run with --flaky,
 * whether a verdict of another session is believed, and how the check is logged and counted. */
enum check_role {
    ROLE_CANDIDATE,          /* like those of the search: the candidate says what is expected */
    ROLE_GOOD_END,           /* is known to pass: shows how often the check fails without the bug */
    ROLE_BAD_END,            /* is known to fail: shows how often the check fails with the bug */
    ROLE_REPETITION,         /* has a verdict already, which the new one replaces */
    ROLE_CONTROL,            /* is about the check itself, and does not count as one */
    ROLE_CONTROL_REPETITION, /* the same with a candidate that has a verdict */
};

/* A check apart from the numbered iterations. */
struct check_request {
    enum check_role role;
    const char *key;  /* of its verdict in the replay: "_verify" */
    const char *what; /* the log's name of the candidate: "the original model" */
};

struct candidate_description {
    enum candidate_action action;
    enum verdict skip_verdict;
    int64_t num_nodes; /* recorded in the replay; -1: nothing to record */
    bool has_identity; /* candidates of equal identity are the same file: only the first is checked */
    struct hash identity;
    enum expectation expectation; /* with --flaky. A candidate that is checked EXPECT_AGAIN gets a new verdict */
    void *content;                /* the tool's: what write() writes. Released with the candidate */
    bool is_known;                /* set by the session: the debug replay has the verdict */
    bool is_ahead;                /* set by the session: its turn may come later, or never */
};

struct session_subject {
    void *data;
    const struct search_ops *ops; /* of the search. Both may be NULL where candidates are checked apart */
    void *search;                 /* the tool's: how it is started, and what is found, is not for the session */
    const char *suffix;           /* of replay keys: "outputs" gives "_N0_outputs"; NULL: none */
    const char *kind;             /* what candidates are: "engine"; NULL: "model" */
    const char *saving;           /* logged before the path when a candidate is written: "Saving engine to"; or NULL */
    const char *beside; /* a file that is written beside each candidate, which the check may look at instead; or NULL */
    enum search_end end;
    bool looks_into_failure; /* the tool itself asks what it means that no candidate has passed */
    bool may_be_kept;        /* a candidate may become the result: the bytes of its file are remembered, too */

    /* Identifies the candidate that this state of `search` asks for; `ret` is zeroed, without a number of nodes, but
     * for `is_known`. The log gets what the candidate is, unless its verdict is known; it is muted ahead of the
     * candidate's turn. */
    int (*identify)(void *data, const void *search, struct candidate_description *ret, struct error *err);

    /* Writes the candidate, whatever that takes, to `paths`, or makes what save() writes. May find that there is
     * nothing to check, and set its action to CANDIDATE_SKIP: then nothing has to be written. NULL: the tool has no
     * artifact of its own. */
    int (*write)(void *data, struct candidate_description *candidate, const struct candidate_paths *paths,
                 struct error *err);

    /* Writes what write() has made, when the log has said where that is saved. NULL: write() has done it. */
    int (*save)(void *data, struct candidate_description *candidate, const struct candidate_paths *paths,
                struct error *err);

    void (*release)(void *content); /* may be NULL, as may be what follows */

    /* Brackets calls ahead of a candidate's turn, which may never come: what is learnt of the subject meanwhile is
     * forgotten when `begins` is false. */
    void (*look_ahead)(void *data, bool begins);

    /* Learns the verdict on the candidate, of so many nodes (its own, or the replay's), before the search does. */
    void (*took)(void *data, const void *search, const struct candidate_description *candidate, int64_t nodes,
                 enum verdict verdict);
};

#endif
