/* debug/loop/subject.h: what a tool brings to the loop: a search, and how its candidates become files.
 *
 * A candidate is what a state of the search asks for. The tool is asked what it is, and to write it; when its turn has
 * come, or ahead of that, of a copy of the search as it may be then. Whatever it is asked, the answer depends on the
 * search alone.
 */
#ifndef DEBUG_LOOP_SUBJECT_H
#define DEBUG_LOOP_SUBJECT_H

#include "base/hash.h"
#include "debug/candidate/place.h"
#include "debug/check/repeated.h"
#include "search/search.h"

enum candidate_action {
    CANDIDATE_CHECK, /* write and check it */
    CANDIDATE_SKIP,  /* no check: `skip_verdict` counts. To the search a pass is VERDICT_SKIP: none was seen */
};

struct loop_candidate {
    enum candidate_action action;
    enum verdict skip_verdict;
    int64_t num_nodes; /* recorded in the replay; -1: nothing to record */
    bool has_identity; /* candidates of equal identity are the same file: only the first is checked */
    struct hash identity;
    enum expectation expectation; /* with --flaky. A candidate that is checked EXPECT_AGAIN gets a new verdict */
};

/* When a tool is asked about a candidate. */
enum candidate_turn {
    CANDIDATE_NOW,   /* its verdict is needed: the log says what it is */
    CANDIDATE_KNOWN, /* its verdict is known already, and only its identity matters */
    CANDIDATE_AHEAD, /* its turn may come later, or never: the log is muted, and nothing that is found out is kept */
};

struct loop_subject {
    void *data;
    const struct search_ops *ops; /* of the search. Both may be NULL where candidates are checked apart */
    void *search;                 /* the tool's: how it is started, and what is found, is not for the loop */
    const char *suffix;           /* of replay keys: "outputs" gives "_N0_outputs"; NULL: none */
    const char *kind;             /* what candidates are: "engine"; NULL: "model" */
    const char *beside; /* a file that is written beside each candidate, which the check may look at instead; or NULL */
    enum search_end end;
    bool looks_into_failure; /* the tool itself asks what it means that no candidate has passed */
    bool may_be_kept;        /* a candidate may become the result: the bytes of its file are remembered, too */

    int (*describe)(void *data, const void *search, enum candidate_turn turn, struct loop_candidate *ret,
                    struct error *err);

    /* The candidate that was described last, for now, is to be written to `path`: gets what that takes, and logs it. It
     * may turn out that there is nothing to be checked: then `candidate` is changed to be skipped. NULL: nothing to be
     * done. */
    int (*prepare)(void *data, const void *search, const char *path, struct loop_candidate *candidate,
                   struct error *err);

    /* Writes it; ahead of its turn, whatever that takes. NULL when the tool has no artifact of its own. */
    int (*write)(void *data, const void *search, enum candidate_turn turn, const struct candidate_paths *paths,
                 struct error *err);

    /* Learns the verdict on the candidate that was described last, of so many nodes (its own, or the replay's), before
     * the search does. NULL: nothing to be learnt. */
    void (*took)(void *data, const void *search, int64_t nodes, enum verdict verdict);
};

#endif
