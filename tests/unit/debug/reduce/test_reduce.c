/* Tests of debug/reduce/reduce.c with its searches: small models, and shell commands as checks that are known. */
#define _GNU_SOURCE /* memmem */
#include "backend/onnxrt/settings.h"
#include "support/unit_test.h"

#include <stdio.h>
#include <string.h>

#include "backend/backend.h"
#include "base/file/file.h"
#include "comparator/data/loader.h"
#include "debug/reduce/reduce.h"
#include "support/captured_log.h"
#include "support/made_model.h"
#include "support/scratch_folder.h"

enum { NODES = 12 };

/* A session about a chain of nodes, node_00 to node_11. */
struct fixture {
    struct made_model made;
    struct model *model;
    struct data_loader *loader;
    struct captured_log log;
    struct session_settings session_settings;
    struct reduce_settings settings;
    const char *command[4];
    struct debug_session *session;
    struct reduce_result result;
    struct error err;
    int rc;
};

static const struct onnxrt_settings runtime = {.optimization_level = -1};

/* `check` is a shell command about the file m.onnx, in which nodes are found by their names. */
static void begin(struct fixture *fixture, enum reduce_mode mode, const char *check)
{
    static const struct data_loader_settings data = {.iterations = 1, .seed = 1};
    char name[16], input[16] = "x", output[16];

    *fixture = (struct fixture){.command = {"sh", "-c", check}};
    captured_log_init(&fixture->log);
    made_init(&fixture->made, 13);
    made_input(&fixture->made, "x", MADE_SHAPE(2, 3));
    for (int i = 0; i < NODES; i++) {
        snprintf(name, sizeof(name), "node_%02d", i);
        snprintf(output, sizeof(output), "t%02d", i);
        made_node(&fixture->made, name, i % 2 == 0 ? "Tanh" : "Neg", input, output, NULL, 0);
        memcpy(input, output, sizeof(input));
    }
    made_output(&fixture->made, input);
    fixture->model = made_open(&fixture->made);
    assert_int_equal(data_loader_new(&data, &fixture->log.log, &fixture->loader, &fixture->err), 0);
    fixture->session_settings = (struct session_settings){
        .check = {.command = {fixture->command, 3}, .files.items[CANDIDATE_ARTIFACT] = "m.onnx"},
        .artifacts = {.folder = "sorted"},
        .save_replay = "replay.json",
    };
    fixture->settings = (struct reduce_settings){
        .mode = mode,
        .reduce_outputs = true,
        .reduce_inputs = true,
        .verify = true,
        .output = "reduced.onnx",
        .min_good = "good.onnx",
        .original_nodes = NODES,
        .candidates = {.cuts_anywhere = mode == REDUCE_MINIMAL,
                       .static_inference = true,
                       .random_data = true,
                       .backend = &onnxrt_backend,
                       .request = {.log = &fixture->log.log, .settings = &runtime},
                       .loader = fixture->loader},
    };
}

static void reduce(struct fixture *fixture)
{
    struct hash hash = {1, 2};

    if (session_new(&fixture->session_settings, &hash, &fixture->log.log, &fixture->session, &fixture->err) < 0)
        fail_msg("%s", fixture->err.message);
    fixture->rc = reduce_run(fixture->model, &fixture->settings, fixture->session, &fixture->log.log, &fixture->result,
                             &fixture->err);
}

static void end(struct fixture *fixture)
{
    reduce_result_release(&fixture->result);
    session_free(fixture->session);
    data_loader_free(fixture->loader);
    model_free(fixture->model);
    made_release(&fixture->made);
    captured_log_release(&fixture->log);
}

/* Fails the test unless the culprit consists of these nodes, "3 8 ". */
static void assert_nodes(const struct fixture *fixture, size_t culprit, const char *expected)
{
    const struct bitset *nodes = &fixture->result.items[culprit].nodes;
    struct string_builder text;

    string_init(&text);
    for (size_t i = bitset_next(nodes, 0); i < nodes->size; i = bitset_next(nodes, i + 1))
        string_add_format(&text, "%zu ", i);
    assert_string_equal(text.data, expected);
    string_release(&text);
}

/* Fails the test unless the file is a model of nodes with these names, "node_03 node_08 ". */
static void assert_file(const char *path, const char *expected)
{
    struct string_builder text;
    struct model *model;
    struct error err;

    if (model_open(path, NULL, &model, &err) < 0)
        fail_msg("%s", err.message);
    string_init(&text);
    for (size_t i = 0; i < model->nodes.count; i++) {
        string_add_text(&text, model->nodes.items[i].name);
        string_add_char(&text, ' ');
    }
    assert_string_equal(text.data, expected);
    string_release(&text);
    model_free(model);
}

#define BOTH "grep -q node_03 m.onnx && grep -q node_08 m.onnx && exit 1; exit 0"

static void minimal_leaves_the_two_nodes_that_fail_together(void **state)
{
    struct fixture fixture;
    int64_t checks;

    begin(&fixture, REDUCE_MINIMAL, BOTH);
    reduce(&fixture);
    assert_int_equal(fixture.rc, 0);
    assert_int_equal(fixture.result.outcome, REDUCE_FOUND);
    assert_int_equal(fixture.result.count, 1);
    assert_nodes(&fixture, 0, "3 8 ");
    assert_true(fixture.result.items[0].is_minimal);
    assert_int_equal(fixture.result.ruled_out, RULED_OUT_BY_CANDIDATE);
    assert_file("reduced.onnx", "node_03 node_08 ");
    assert_true(fixture.result.has_good);
    assert_true(captured_log_has(&fixture.log, "removing any single one of its 2 nodes makes the check pass"));
    checks = session_state(fixture.session).passed + session_state(fixture.session).failed;
    assert_in_range(checks, 4, 20); /* each node alone would take twelve for one round */
    assert_false(file_exists("m.onnx"));
    end(&fixture);
}

static void bisection_leaves_what_is_between_them(void **state)
{
    struct fixture fixture;

    begin(&fixture, REDUCE_BISECT, BOTH);
    reduce(&fixture);
    assert_int_equal(fixture.rc, 0);
    assert_nodes(&fixture, 0, "3 4 5 6 7 8 ");
    assert_false(fixture.result.items[0].is_minimal);
    assert_file("reduced.onnx", "node_03 node_04 node_05 node_06 node_07 node_08 ");
    assert_true(fixture.result.has_good); /* the closest of those that passed: one node less */
    assert_file("good.onnx", "node_04 node_05 node_06 node_07 node_08 ");
    assert_in_range(session_state(fixture.session).passed + session_state(fixture.session).failed, 4, 9);
    end(&fixture);
}

static void linear_search_finds_the_same_with_a_check_for_each_node(void **state)
{
    struct fixture fixture;

    begin(&fixture, REDUCE_LINEAR, BOTH);
    fixture.settings.reduce_inputs = false;
    reduce(&fixture);
    assert_int_equal(fixture.rc, 0);
    assert_nodes(&fixture, 0, "0 1 2 3 4 5 6 7 8 ");
    assert_int_equal(session_state(fixture.session).passed + session_state(fixture.session).failed, NODES);
    end(&fixture);
}

static void original_that_passes_is_not_reduced(void **state)
{
    struct fixture fixture;

    begin(&fixture, REDUCE_MINIMAL, "grep -q node_00 m.onnx");
    reduce(&fixture);
    assert_int_equal(fixture.rc, 0);
    assert_int_equal(fixture.result.outcome, REDUCE_DOES_NOT_FAIL);
    assert_int_equal(fixture.result.count, 0);
    assert_int_equal(session_state(fixture.session).passed + session_state(fixture.session).failed, 0);
    assert_false(file_exists("reduced.onnx"));
    assert_true(captured_log_has(&fixture.log, "The original model does not fail the check"));
    end(&fixture);
}

static void check_that_fails_on_everything_is_refused(void **state)
{
    struct fixture fixture;

    begin(&fixture, REDUCE_MINIMAL, "echo wrong; exit 1");
    reduce(&fixture);
    assert_int_equal(fixture.rc, ERR_INVALID);
    assert_non_null(strstr(fixture.err.message, "the check fails on every model"));
    assert_false(file_exists("reduced.onnx"));
    end(&fixture);
}

static void node_without_which_the_check_says_nothing_stays_but_is_no_proof(void **state)
{
    struct fixture fixture;

    begin(&fixture, REDUCE_MINIMAL, "grep -q node_04 m.onnx || exit 125; grep -q node_07 m.onnx && exit 1; exit 0");
    reduce(&fixture);
    assert_int_equal(fixture.rc, 0);
    assert_nodes(&fixture, 0, "4 7 ");
    assert_false(fixture.result.items[0].is_minimal);
    assert_true(captured_log_has(&fixture.log, "1 of them only because the check is inconclusive"));
    assert_true(session_state(fixture.session).skipped > 0);
    end(&fixture);
}

static void all_parts_that_fail_by_themselves_are_found(void **state)
{
    struct fixture fixture;

    begin(&fixture, REDUCE_MINIMAL, "grep -qE 'node_(02|09)' m.onnx && exit 1; exit 0");
    fixture.settings.all = true;
    reduce(&fixture);
    assert_int_equal(fixture.rc, 0);
    assert_int_equal(fixture.result.count, 2);
    assert_nodes(&fixture, 0, "2 ");
    assert_nodes(&fixture, 1, "9 ");
    assert_file("reduced.onnx", "node_02 ");
    assert_file("reduced_2.onnx", "node_09 ");
    end(&fixture);
}

static void failure_that_comes_and_goes_is_reduced_as_well(void **state)
{
    struct fixture fixture;

    begin(&fixture, REDUCE_MINIMAL,
          "n=$(cat runs); echo $((n + 1)) >runs; grep -q node_05 m.onnx && [ $((n % 3)) = 0 ] && exit 1; exit 0");
    scratch_file("runs", "0\n");
    fixture.session_settings.check.rules.flaky = true;
    fixture.session_settings.check.rules.no_false_failures = true;
    reduce(&fixture);
    assert_int_equal(fixture.rc, 0);
    assert_nodes(&fixture, 0, "5 ");
    assert_true(captured_log_has(&fixture.log, "The original model fails in "));
    end(&fixture);
}

static void several_jobs_find_the_same(void **state)
{
    struct fixture fixture;

    begin(&fixture, REDUCE_MINIMAL,
          "grep -q node_03 $POLYGRAPHY_ARTIFACT && grep -q node_08 $POLYGRAPHY_ARTIFACT && exit 1; : m.onnx; exit 0");
    fixture.session_settings.jobs = 4;
    reduce(&fixture);
    assert_int_equal(fixture.rc, 0);
    assert_nodes(&fixture, 0, "3 8 ");
    assert_true(fixture.result.items[0].is_minimal);
    end(&fixture);
    assert_int_equal(scratch_count("."), 4); /* both models, and the replay with what it says of the next one */
}

/* What is found is a product with a weight, whose values do not matter to the check. */
static void weights_that_do_not_matter_become_zeros(void **state)
{
    static const char zeros[9 * sizeof(float)];
    struct fixture fixture;
    struct file_map map;

    begin(&fixture, REDUCE_MINIMAL, "grep -q product m.onnx && exit 1; exit 0");
    model_free(fixture.model);
    made_release(&fixture.made);
    made_init(&fixture.made, 13);
    made_input(&fixture.made, "x", MADE_SHAPE(2, 3));
    made_constant(&fixture.made, "w", MADE_SHAPE(3, 3), 1, 2);
    made_node(&fixture.made, "before", "Tanh", "x", "t", NULL, 0);
    made_node(&fixture.made, "product", "MatMul", "t w", "p", NULL, 0);
    made_node(&fixture.made, "behind", "Neg", "p", "y", NULL, 0);
    made_output(&fixture.made, "y");
    fixture.model = made_open(&fixture.made);
    fixture.settings.simplify.kinds[SIMPLIFY_WEIGHTS] = true;
    assert_int_equal(sandbox_start(&onnxrt_backend, &fixture.settings.candidates.request, fixture.loader,
                                   &fixture.settings.simplify.sandbox, &fixture.err),
                     0);
    reduce(&fixture);
    sandbox_stop(fixture.settings.simplify.sandbox);
    assert_int_equal(fixture.rc, 0);
    assert_nodes(&fixture, 0, "1 ");
    assert_file("reduced.onnx", "product ");
    assert_true(captured_log_has(&fixture.log, "Replaced 1 of 1 weight(s)"));
    assert_int_equal(file_map_open("reduced.onnx", &map, &fixture.err), 0);
    assert_non_null(memmem(map.data, map.size, zeros, sizeof(zeros)));
    file_map_release(&map);
    end(&fixture);
}

static int require_runtime(void **state)
{
    struct backend_request request = {.model.data = "", .model.size = 0};
    struct backend_session *session;
    struct error err = {0};

    *state = NULL;
    if (onnxrt_backend.open(&request, &session, &err) == ERR_MISSING)
        skip();
    return scratch_folder_enter(state);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, require_runtime, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(weights_that_do_not_matter_become_zeros), /* first: its sandbox comes before any thread */
        IN_SCRATCH(minimal_leaves_the_two_nodes_that_fail_together),
        IN_SCRATCH(bisection_leaves_what_is_between_them),
        IN_SCRATCH(linear_search_finds_the_same_with_a_check_for_each_node),
        IN_SCRATCH(original_that_passes_is_not_reduced),
        IN_SCRATCH(check_that_fails_on_everything_is_refused),
        IN_SCRATCH(node_without_which_the_check_says_nothing_stays_but_is_no_proof),
        IN_SCRATCH(all_parts_that_fail_by_themselves_are_found),
        IN_SCRATCH(failure_that_comes_and_goes_is_reduced_as_well),
        IN_SCRATCH(several_jobs_find_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
