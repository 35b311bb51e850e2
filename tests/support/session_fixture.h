/* support/session_fixture.h: a fake subject for tests of the session, and a session that uses it. */
#ifndef SUPPORT_LOOP_FIXTURE_H
#define SUPPORT_LOOP_FIXTURE_H

#include "debug/session/session.h"
#include "support/captured_log.h"

#define MAXIMUM_CANDIDATES 8

/* The subject that a tool would define. Candidate n is a file with the text "candidate n" and has n + 10 nodes. */
struct fake_subject {
    int64_t count;                      /* iterations until its search is over */
    int identities[MAXIMUM_CANDIDATES]; /* 0: none */
    enum candidate_action actions[MAXIMUM_CANDIDATES];
    bool shows_remaining;
    bool write_fails;
    bool may_be_kept;              /* see struct session_subject */
    const char *addition;          /* appended to the text of each candidate; may be NULL */
    struct string_builder learned; /* "0:10:pass 1:11:fail " calls of took() */
    int64_t described, written;    /* number of calls */
    size_t current;                /* candidate */
};

/* A search that requests one candidate after the other. */
struct fake_search {
    const struct fake_subject *subject;
    int64_t index;
};

/* A session in the current folder. Set up `settings` and `subject`, then run. */
struct fixture {
    struct session_settings settings;
    struct hash model;
    struct fake_subject subject;
    struct captured_log log;
    struct debug_session *session; /* of the last session; NULL at first */
    struct error err;
    const char *command[4];
    char script[1024];
};

/* The check is the shell command `check`, which appends the number of the iteration to the file "runs" first. */
void fixture_init(struct fixture *fixture, const char *check);
void fixture_release(struct fixture *fixture);

/* Ends the last session and begins a new one. Returns the result of session_new(). */
int fixture_begin(struct fixture *fixture);

/* Runs the subject's candidates as the phase `suffix` (may be NULL) of the session that was begun. */
int fixture_run_phase(struct fixture *fixture, const char *suffix);

/* fixture_begin() and fixture_run_phase(); a failure fails the test. */
void fixture_run(struct fixture *fixture, const char *suffix);

/* Checks candidate 0 under `key`, calling it "the original model". */
int fixture_check_apart(struct fixture *fixture, const char *key, enum verdict *ret);

/* Confirms candidate 0, calling it "the result". */
int fixture_confirm(struct fixture *fixture, enum verdict expected);

/* Fails the test unless the log is `expected`, with every duration replaced by "#". */
void fixture_assert_log(struct fixture *fixture, const char *expected);

#endif
