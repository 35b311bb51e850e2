/* support/session_fixture.c: see session_fixture.h. */
#include "support/session_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file/file.h"
#include "debug/belief/belief.h"
#include "support/unit_test.h"

/* ---- The subject ---- */

static int identify_candidate(void *data, const void *search, struct candidate_description *ret, struct error *err)
{
    struct fixture *fixture = data;
    size_t candidate = search == NULL ? 0 : (size_t)((const struct fake_search *)search)->index % MAXIMUM_CANDIDATES;
    int identity = fixture->subject.identities[candidate];

    (void)err;
    fixture->subject.described++;
    fixture->subject.current = candidate;
    if (!ret->is_known)
        log_message(&fixture->log.log, LOG_INFO, "This is candidate %zu", candidate);
    *ret = (struct candidate_description){
        .action = fixture->subject.actions[candidate],
        .skip_verdict = VERDICT_FAIL,
        .num_nodes = (int64_t)candidate + 10,
        .has_identity = identity != 0,
        .identity = {(uint64_t)identity, 0},
    };
    return 0;
}

static int write_candidate(void *data, struct candidate_description *described, const struct candidate_paths *paths,
                           struct error *err)
{
    const char *path = paths->items[CANDIDATE_ARTIFACT];
    struct fixture *fixture = data;
    struct file_writer writer;
    char text[100];

    if (fixture->subject.write_fails)
        return error_set(err, ERR_IO, "cannot write '%s'", path);
    fixture->subject.written++;
    log_message(&fixture->log.log, LOG_INFO, "Saving candidate %zu to %s", fixture->subject.current, path);
    int rc = file_writer_open(&writer, path, err);
    if (rc < 0)
        return rc;
    snprintf(text, sizeof(text), "candidate %zu%s", fixture->subject.current,
             fixture->subject.addition != NULL ? fixture->subject.addition : "");
    rc = file_writer_add(&writer, text, strlen(text), err);
    if (rc == 0)
        rc = file_writer_commit(&writer, FILE_INTERMEDIATE, err);
    file_writer_release(&writer);
    described->has_file = rc == 0;
    described->file = hash_bytes(text, strlen(text));
    return rc;
}

/* ---- Its search ---- */

static void copy(void *search, const void *from)
{
    *(struct fake_search *)search = *(const struct fake_search *)from;
}

static void release(void *search)
{
}

static bool advance(void *search, int64_t nodes, enum verdict verdict)
{
    struct fake_search *fake = search;

    return ++fake->index < fake->subject->count;
}

static int64_t remaining(const void *search)
{
    return ((const struct fake_search *)search)->subject->count;
}

static void learn_verdict(void *data, const void *search, const struct candidate_description *candidate, int64_t nodes,
                          enum verdict verdict)
{
    struct fake_subject *subject = &((struct fixture *)data)->subject;

    string_add_format(&subject->learned, "%" PRId64 ":%" PRId64 ":%s ", ((const struct fake_search *)search)->index,
                      nodes, verdict == VERDICT_PASS ? "pass" : "fail");
}

static const struct search_ops ops = {
    .size = sizeof(struct fake_search), .copy = copy, .release = release, .advance = advance};

static const struct search_ops ops_with_remaining = {
    .size = sizeof(struct fake_search), .copy = copy, .release = release, .advance = advance, .remaining = remaining};

static struct session_subject subject_of(struct fixture *fixture, const char *suffix)
{
    return (struct session_subject){
        .data = fixture,
        .ops = fixture->subject.shows_remaining ? &ops_with_remaining : &ops,
        .suffix = suffix,
        .may_be_kept = fixture->subject.may_be_kept,
        .identify = identify_candidate,
        .write = write_candidate,
        .took = learn_verdict,
    };
}

/* ---- The session ---- */

void fixture_init(struct fixture *fixture, const char *check)
{
    *fixture = (struct fixture){.model = {1, 2}, .subject.count = 1};
    fixture->command[0] = "sh";
    fixture->command[1] = "-c";
    fixture->command[2] = fixture->script;
    snprintf(fixture->script, sizeof(fixture->script), "echo $POLYGRAPHY_ITERATION >>runs; %s", check);
    fixture->settings = (struct session_settings){
        .check = {.command = {fixture->command, 3}},
        .artifacts = {.folder = "sorted"},
        .save_replay = "replay.json",
    };
    string_init(&fixture->subject.learned);
    captured_log_init(&fixture->log);
}

void fixture_release(struct fixture *fixture)
{
    session_free(fixture->session);
    string_release(&fixture->subject.learned);
    captured_log_release(&fixture->log);
}

int fixture_begin(struct fixture *fixture)
{
    session_free(fixture->session);
    fixture->session = NULL;
    string_clear(&fixture->log.text);
    string_clear(&fixture->subject.learned);
    fixture->subject.described = 0;
    fixture->subject.written = 0;
    return session_new(&fixture->settings, &fixture->model, &fixture->log.log, &fixture->session, &fixture->err);
}

int fixture_run_phase(struct fixture *fixture, const char *suffix)
{
    struct session_subject subject = subject_of(fixture, suffix);
    struct fake_search search = {.subject = &fixture->subject};

    subject.search = &search;
    return session_search(fixture->session, &subject, &fixture->err);
}

void fixture_run(struct fixture *fixture, const char *suffix)
{
    if (fixture_begin(fixture) < 0 || fixture_run_phase(fixture, suffix) < 0)
        fail_msg("%s", fixture->err.message);
}

int fixture_check_apart(struct fixture *fixture, const char *key, enum verdict *ret)
{
    struct session_subject subject = subject_of(fixture, NULL);

    return session_check(fixture->session, &subject, (struct check_request){ROLE_CANDIDATE, key, "the original model"},
                         ret, &fixture->err);
}

int fixture_confirm(struct fixture *fixture, enum verdict expected)
{
    struct session_subject subject = subject_of(fixture, NULL);

    return belief_confirm(fixture->session, &subject, "the result", expected, &fixture->err);
}

void fixture_assert_log(struct fixture *fixture, const char *expected)
{
    static const char marker[] = "Duration ";
    struct string_builder masked;
    const char *rest = fixture->log.text.data;

    string_init(&masked);
    for (const char *duration; (duration = strstr(rest, marker));) {
        duration += strlen(marker);
        string_add_bytes(&masked, rest, (size_t)(duration - rest));
        string_add_char(&masked, '#');
        rest = duration + strspn(duration, "0123456789.e-");
    }
    string_add(&masked, rest);
    assert_string_equal(masked.data, expected);
    string_release(&masked);
}
