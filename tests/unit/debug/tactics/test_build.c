/* `debug build` with a builder made up for it: an engine is a file with the number of its iteration. */
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "debug/tactics/build.h"
#include "support/captured_log.h"
#include "support/scratch_folder.h"

struct fake_builder {
    int64_t fails_in; /* this iteration cannot be built */
    bool always_fails, cannot_save_byproducts;
    int built, dropped, saved, byproducts;
};

static int build(void *data, const struct engine_order *order, void **ret, struct error *err)
{
    struct fake_builder *builder = data;
    int64_t *engine;

    assert_null(order->forced);
    if (builder->always_fails || order->iteration == builder->fails_in)
        return error_set(err, ERR_BACKEND, "no kernel for this");
    engine = memory_alloc_zero(1, sizeof(*engine));
    *engine = order->iteration;
    builder->built++;
    *ret = engine;
    return 0;
}

static int save(void *data, void *engine, const char *path, struct error *err)
{
    char text[32];
    int size = snprintf(text, sizeof(text), "engine %lld\n", (long long)*(int64_t *)engine);

    ((struct fake_builder *)data)->saved++;
    return file_write(path, text, (size_t)size, FILE_INTERMEDIATE, err);
}

static int save_byproducts(void *data, void *engine, struct error *err)
{
    struct fake_builder *builder = data;

    (void)engine;
    builder->byproducts++;
    return builder->cannot_save_byproducts ? error_set(err, ERR_IO, "the disk is full") : 0;
}

static void drop(void *data, void *engine)
{
    ((struct fake_builder *)data)->dropped += engine != NULL;
    free(engine);
}

struct fixture {
    struct fake_builder builder;
    struct repetition until;
    const char *command[3];
    struct session_settings settings;
    struct captured_log log;
    struct debug_session *session;
    struct error err;
};

static int run_session(struct fixture *f, const char *check)
{
    struct build_session session = {
        .maker = {.data = &f->builder, .build = build, .save = save, .save_byproducts = save_byproducts, .drop = drop},
        .log = &f->log.log,
        .until = f->until};
    int rc;

    f->command[0] = "sh";
    f->command[1] = "-c";
    f->command[2] = check;
    f->settings.check.command.items = f->command;
    f->settings.check.command.count = 3;
    f->settings.check.files.items[CANDIDATE_ARTIFACT] = "candidate";
    f->settings.artifacts.folder = "sorted";
    captured_log_init(&f->log);
    rc = session_new(&f->settings, NULL, &f->log.log, &f->session, &f->err);
    return rc == 0 ? build_run(&session, f->session, &f->err) : rc;
}

/* Whatever happened, each engine was given back. */
static void release(struct fixture *f)
{
    assert_int_equal(f->builder.dropped, f->builder.built);
    session_free(f->session);
    captured_log_release(&f->log);
}

static void every_iteration_is_built_saved_and_checked(void **state)
{
    struct fixture f = {.builder.fails_in = -1, .until = {.count = 3}};

    assert_int_equal(run_session(&f, "cat candidate >>seen; ! grep -q 1 candidate"), 0);
    assert_true(scratch_file_is("seen", "engine 0\nengine 1\nengine 2\n"));
    assert_int_equal(session_state(f.session).passed, 2);
    assert_int_equal(session_state(f.session).failed, 1);
    assert_int_equal(f.builder.saved, 3);
    assert_int_equal(f.builder.byproducts, 3);
    release(&f);
}

static void build_that_fails_is_a_failed_iteration_without_a_check(void **state)
{
    struct fixture f = {.builder.fails_in = 1, .until = {.count = 3}};

    assert_int_equal(run_session(&f, "cat candidate >>seen"), 0);
    assert_true(scratch_file_is("seen", "engine 0\nengine 2\n"));
    assert_int_equal(session_state(f.session).failed, 1);
    assert_true(captured_log_has(&f.log, "no kernel for this"));
    assert_true(captured_log_has(&f.log, "Failed to create network or engine, continuing to the next iteration."));
    release(&f);
}

static void session_that_waits_for_a_good_engine_ends_where_none_can_be_built(void **state)
{
    struct fixture f = {.builder.always_fails = true, .until = {.end = ENDS_BY_PASS}};

    assert_int_equal(run_session(&f, "true"), ERR_BACKEND);
    assert_non_null(strstr(f.err.message, "no engine can be built"));
    assert_int_equal(f.builder.saved, 0);
    release(&f);
}

/* The next build would not fare better. */
static void byproducts_that_cannot_be_saved_end_the_session(void **state)
{
    struct fixture f = {.builder = {.fails_in = -1, .cannot_save_byproducts = true}, .until = {.count = 3}};

    assert_int_equal(run_session(&f, "echo >>seen"), ERR_IO);
    assert_string_equal(f.err.message, "the disk is full");
    assert_false(file_exists("seen"));
    release(&f);
}

#define IN_SCRATCH_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH_FOLDER(every_iteration_is_built_saved_and_checked),
        IN_SCRATCH_FOLDER(build_that_fails_is_a_failed_iteration_without_a_check),
        IN_SCRATCH_FOLDER(session_that_waits_for_a_good_engine_ends_where_none_can_be_built),
        IN_SCRATCH_FOLDER(byproducts_that_cannot_be_saved_end_the_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
