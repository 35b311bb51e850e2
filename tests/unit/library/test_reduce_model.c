/* Tests of polygraphy_reduce_model(): the files that the oracle gets, the model that is found, and what is left
 * behind. */
#include <dirent.h>
#include <polygraphy/reduce.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/onnxrt/library.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "backend/onnxrt/settings.h"
#include "support/in_child.h"
#include "support/onnx_fixture.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

#define DETECTOR "../../examples/overflow/detector.onnx"

/* An oracle for which models with all of these nodes fail, and what else a test wants of it. */
struct scripted {
    const char *culprits[3]; /* names of nodes */
    int32_t answer;          /* instead, from check `from` on */
    uint64_t from;           /* 0: never */
    bool load;               /* in ONNX Runtime: what it cannot load is a failure of the test */
    void (*look)(const struct polygraphy_candidate *candidate);
    uint64_t count;
    bool wrong;        /* something was not as it should be */
    char warning[512]; /* the last one */
};

static bool has_node(const struct model *model, const char *name)
{
    for (size_t i = 0; i < model->nodes.count; i++)
        if (text_equal_string(model->nodes.items[i].name, name))
            return true;
    return false;
}

static bool can_be_loaded(const char *path)
{
    struct backend_request request = {.model.path = path,
                                      .settings = &(struct onnxrt_settings){.optimization_level = -1}};
    struct backend_session *session;
    struct error err;

    if (onnxrt_backend.open(&request, &session, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return false;
    }
    onnxrt_backend.close(session);
    return true;
}

static int32_t answer(void *context, const struct polygraphy_candidate *candidate)
{
    struct scripted *script = context;
    struct model *model;
    bool fails = true;

    script->count++;
    if (model_open(candidate->path, NULL, &model, NULL) < 0) {
        script->wrong = true;
        return POLYGRAPHY_STOP;
    }
    script->wrong |= candidate->progress.check != script->count || candidate->node_count != model->nodes.count ||
                     (script->load && !can_be_loaded(candidate->path));
    for (size_t i = 0; i < ARRAY_LEN(script->culprits) && script->culprits[i] != NULL; i++)
        fails &= has_node(model, script->culprits[i]);
    model_free(model);
    if (script->look != NULL)
        script->look(candidate);
    if (script->from > 0 && script->count >= script->from)
        return script->answer;
    return fails ? POLYGRAPHY_FAILS : POLYGRAPHY_PASSES;
}

static void note_warning(void *context, int32_t level, const char *message)
{
    struct scripted *script = context;

    if (level >= 30)
        snprintf(script->warning, sizeof(script->warning), "%s", message);
}

struct search {
    struct polygraphy_model_request request;
    struct polygraphy_model_result result;
    struct polygraphy_error error;
    struct scripted script;
};

/* Candidates go to the folder "candidates", the result to "out.onnx". */
static void search_init(struct search *search, const char *model, const char *culprit, const char *another)
{
    *search = (struct search){.request = {.model = model,
                                          .output = "out.onnx",
                                          .folder = "candidates",
                                          .oracle = answer,
                                          .context = &search->script,
                                          .log = note_warning},
                              .script = {.culprits = {culprit, another}}};
    assert_int_equal(file_make_folders("candidates", NULL), 0);
}

static int32_t search_run(struct search *search)
{
    return polygraphy_reduce_model(&search->request, &search->result, &search->error);
}

static void assert_found(struct search *search, int32_t outcome)
{
    int32_t rc = search_run(search);

    if (rc < 0)
        fail_msg("%s", search->error.message);
    assert_false(search->script.wrong);
    assert_int_equal(search->result.outcome, outcome);
    assert_int_equal(search->result.checks, search->script.count);
    assert_int_equal(search->result.written, search->result.node_count > 0);
    assert_int_equal(file_exists("out.onnx"), search->result.written);
    assert_int_equal(scratch_count("candidates"), 0);
}

/* The result, and its file, has just these nodes. */
static void assert_nodes(const struct search *search, const char *first, const char *second)
{
    const char *const names[] = {first, second};
    size_t count = second != NULL ? 2 : 1;
    struct model *model;

    assert_int_equal(search->result.node_count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(search->result.nodes[i].name, names[i]);
    assert_int_equal(model_open("out.onnx", NULL, &model, NULL), 0);
    assert_int_equal(model->nodes.count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(has_node(model, names[i]));
    model_free(model);
    assert_true(can_be_loaded("out.onnx"));
}

static void assert_refused(struct search *search, int32_t code, const char *part)
{
    assert_int_equal(search_run(search), code);
    assert_int_equal(search->error.code, code);
    if (strstr(search->error.message, part) == NULL)
        fail_msg("'%s' does not hold '%s'", search->error.message, part);
    assert_int_equal(search->script.count, 0);
    assert_false(search->result.written);
    assert_int_equal(scratch_count("candidates"), 0);
    polygraphy_model_result_release(&search->result);
}

/* ---- What is found ---- */

/* In a process of its own: once the library is loaded, every search uses it. */
static int search_without_onnxruntime(void)
{
    struct search search;

    search_init(&search, fixture_path(DETECTOR), "head", NULL);
    search.request.onnxruntime = "nothing/libonnxruntime.so.1";
    CHECK_OR_FAIL(search_run(&search) == POLYGRAPHY_ERROR_MISSING);
    CHECK_OR_FAIL(strstr(search.error.message, "nothing/libonnxruntime.so.1") != NULL);
    CHECK_OR_FAIL(search.result.outcome == POLYGRAPHY_STOPPED);
    CHECK_OR_FAIL(search.result.original_node_count == 60);
    CHECK_OR_FAIL(search.result.node_count >= 1 && search.result.node_count <= 60);
    CHECK_OR_FAIL(!search.result.written && !file_exists("out.onnx"));
    CHECK_OR_FAIL(scratch_count("candidates") == 0);
    polygraphy_model_result_release(&search.result);
    return 0;
}

static void missing_runtime_is_an_error_and_keeps_what_was_found(void **state)
{
    assert_int_equal(in_child(search_without_onnxruntime), 0);
}

static void two_nodes_far_apart_are_found(void **state)
{
    struct search search;

    require_onnxruntime();
    search_init(&search, fixture_path(DETECTOR), "block1/norm/div", "block3/left/relu");
    search.script.load = true;
    assert_found(&search, POLYGRAPHY_MINIMAL);
    assert_nodes(&search, "block1/norm/div", "block3/left/relu");
    assert_int_equal(search.result.original_node_count, 60);
    assert_string_equal(search.result.nodes[0].op_type, "Div");
    assert_string_equal(search.result.nodes[1].op_type, "Relu");
    polygraphy_model_result_release(&search.result);
}

static void result_need_not_be_written(void **state)
{
    struct search search;

    require_onnxruntime();
    search_init(&search, fixture_path(DETECTOR), "head", NULL);
    search.request.output = NULL;
    assert_int_equal(search_run(&search), 0);
    assert_int_equal(search.result.node_count, 1);
    assert_false(search.result.written);
    assert_int_equal(scratch_count("."), 1); /* the folder for candidates */
    polygraphy_model_result_release(&search.result);
}

static void model_that_passes_has_nothing_to_reduce(void **state)
{
    struct search search;

    search_init(&search, fixture_path(DETECTOR), "no such node", NULL);
    assert_found(&search, POLYGRAPHY_DOES_NOT_FAIL);
    assert_int_equal(search.result.checks, 1);
    assert_null(search.result.nodes);
    polygraphy_model_result_release(&search.result);
}

static void budget_ends_the_search_with_a_model_that_fails(void **state)
{
    struct model *model;
    struct search search;

    require_onnxruntime();
    search_init(&search, fixture_path(DETECTOR), "block1/norm/div", "block3/left/relu");
    search.request.max_checks = 5;
    assert_found(&search, POLYGRAPHY_OUT_OF_CHECKS);
    assert_int_equal(search.result.checks, 5);
    assert_true(search.result.node_count > 2);
    assert_int_equal(model_open("out.onnx", NULL, &model, NULL), 0);
    assert_int_equal(model->nodes.count, search.result.node_count);
    assert_true(has_node(model, "block1/norm/div") && has_node(model, "block3/left/relu"));
    model_free(model);
    polygraphy_model_result_release(&search.result);
}

static void oracle_can_stop_the_search(void **state)
{
    struct search search;

    require_onnxruntime();
    search_init(&search, fixture_path(DETECTOR), "block1/norm/div", NULL);
    search.script.answer = POLYGRAPHY_STOP;
    search.script.from = 4;
    assert_found(&search, POLYGRAPHY_STOPPED);
    assert_true(search.result.written);
    polygraphy_model_result_release(&search.result);
    assert_int_equal(unlink("out.onnx"), 0);
    search_init(&search, fixture_path(DETECTOR), "block1/norm/div", NULL);
    search.script.answer = POLYGRAPHY_STOP;
    search.script.from = 1;
    assert_found(&search, POLYGRAPHY_STOPPED);
    assert_false(search.result.written);
    polygraphy_model_result_release(&search.result);
}

static void answer_that_is_none_is_an_error_and_keeps_what_was_found(void **state)
{
    struct search search;

    require_onnxruntime();
    search_init(&search, fixture_path(DETECTOR), "block1/norm/div", NULL);
    search.script.answer = -1;
    search.script.from = 4;
    assert_int_equal(search_run(&search), POLYGRAPHY_ERROR_INVALID);
    assert_non_null(strstr(search.error.message, "check 4: the oracle returned -1"));
    assert_true(search.result.node_count > 0);
    assert_false(file_exists("out.onnx"));
    assert_int_equal(scratch_count("candidates"), 0);
    polygraphy_model_result_release(&search.result);
}

/* ---- Files ---- */

static void candidates_and_results_find_external_weights(void **state)
{
    struct search search;

    require_onnxruntime();
    search_init(&search, fixture_path("external_weights.onnx"), NULL, NULL);
    search.script.load = true;
    assert_found(&search, POLYGRAPHY_MINIMAL);
    assert_int_equal(search.result.node_count, 1);
    assert_string_equal(search.result.nodes[0].name, "Add #0"); /* it has no name */
    assert_true(can_be_loaded("out.onnx"));
    assert_true(file_exists("weights.data"));
    polygraphy_model_result_release(&search.result);
}

static void look_at_data(const struct polygraphy_candidate *candidate)
{
    char *bytes;
    size_t size;

    assert_int_equal(file_read(candidate->inputs_path, 1 << 24, &bytes, &size, NULL), 0);
    assert_true(size > 2 && bytes[0] == '[');
    free(bytes);
    assert_int_equal(file_read(candidate->golden_path, 1 << 24, &bytes, &size, NULL), 0);
    assert_non_null(strstr(bytes, "RunResults"));
    free(bytes);
}

static void look_for_no_data(const struct polygraphy_candidate *candidate)
{
    assert_null(candidate->inputs_path);
    assert_null(candidate->golden_path);
}

static void data_of_a_candidate_are_written_when_wanted(void **state)
{
    struct search search;

    require_onnxruntime();
    for (int wanted = 0; wanted < 2; wanted++) {
        search_init(&search, fixture_path(DETECTOR), "block2/norm/div", NULL);
        search.request.replace_output = true;
        search.request.write_data = wanted != 0;
        search.script.look = wanted ? look_at_data : look_for_no_data;
        assert_found(&search, POLYGRAPHY_MINIMAL);
        assert_nodes(&search, "block2/norm/div", NULL);
        polygraphy_model_result_release(&search.result);
    }
}

static void move_away(const struct polygraphy_candidate *candidate)
{
    if (candidate->progress.check == 3)
        assert_int_equal(rename(candidate->path, "kept.onnx"), 0);
}

static void oracle_may_move_a_candidate_away(void **state)
{
    struct search search;
    struct model *model;

    require_onnxruntime();
    search_init(&search, fixture_path(DETECTOR), "block2/norm/div", NULL);
    search.script.look = move_away;
    assert_found(&search, POLYGRAPHY_MINIMAL);
    assert_nodes(&search, "block2/norm/div", NULL);
    assert_int_equal(model_open("kept.onnx", NULL, &model, NULL), 0);
    model_free(model);
    polygraphy_model_result_release(&search.result);
}

static void leave_a_file(const struct polygraphy_candidate *candidate)
{
    char *folder = file_folder(candidate->path), *path = file_join(folder, "mine");

    assert_int_equal(file_write(path, "it", 2, FILE_INTERMEDIATE, NULL), 0);
    free(path);
    free(folder);
}

static void file_of_the_oracle_keeps_the_folder_alive(void **state)
{
    struct search search;

    search_init(&search, fixture_path(DETECTOR), "no such node", NULL);
    search.script.look = leave_a_file;
    assert_int_equal(search_run(&search), 0);
    assert_int_equal(scratch_count("candidates"), 1);
    assert_non_null(strstr(search.script.warning, "is not empty and was kept"));
    polygraphy_model_result_release(&search.result);
}

static void output_that_exists_is_replaced_only_on_demand(void **state)
{
    struct search search;

    require_onnxruntime();
    scratch_file("out.onnx", "precious");
    search_init(&search, fixture_path(DETECTOR), "head", NULL);
    assert_refused(&search, POLYGRAPHY_ERROR_EXISTS, "'out.onnx' already exists, refusing to overwrite");
    assert_true(scratch_file_is("out.onnx", "precious"));
    search_init(&search, fixture_path(DETECTOR), "head", NULL);
    search.request.replace_output = true;
    assert_found(&search, POLYGRAPHY_MINIMAL);
    assert_nodes(&search, "head", NULL);
    polygraphy_model_result_release(&search.result);
}

static void put_a_file_in_the_way(const struct polygraphy_candidate *candidate)
{
    (void)candidate;
    scratch_file("out.onnx", "precious");
}

static void output_that_has_come_to_exist_is_not_replaced_either(void **state)
{
    struct search search;

    require_onnxruntime();
    search_init(&search, fixture_path(DETECTOR), "head", NULL);
    search.script.look = put_a_file_in_the_way;
    assert_int_equal(search_run(&search), POLYGRAPHY_ERROR_EXISTS);
    assert_int_equal(search.result.outcome, POLYGRAPHY_MINIMAL);
    assert_int_equal(search.result.node_count, 1);
    assert_false(search.result.written);
    assert_true(scratch_file_is("out.onnx", "precious"));
    polygraphy_model_result_release(&search.result);
}

/* ---- Refusals ---- */

static void requests_that_make_no_sense_are_refused(void **state)
{
    struct search search;

    search_init(&search, fixture_path(DETECTOR), "head", NULL);
    search.request.oracle = NULL;
    assert_refused(&search, POLYGRAPHY_ERROR_INVALID, "no oracle");
    search_init(&search, NULL, "head", NULL);
    assert_refused(&search, POLYGRAPHY_ERROR_INVALID, "no model");
    search_init(&search, fixture_path(DETECTOR), "head", NULL);
    search.request.input_file_count = 2;
    assert_refused(&search, POLYGRAPHY_ERROR_INVALID, "`input_files` is NULL");
    search_init(&search, fixture_path(DETECTOR), "head", NULL);
    search.request.custom_op_file_count = 1;
    assert_refused(&search, POLYGRAPHY_ERROR_INVALID, "`custom_op_files` is NULL");
    search_init(&search, fixture_path(DETECTOR), "head", NULL);
    search.request.folder = "nowhere";
    assert_refused(&search, POLYGRAPHY_ERROR_MISSING, "cannot create a folder for candidates in 'nowhere'");
    search_init(&search, fixture_path(DETECTOR), "head", NULL);
    search.request.output = "candidates";
    assert_refused(&search, POLYGRAPHY_ERROR_INVALID, "is a folder");
    search_init(&search, fixture_path(DETECTOR), "head", NULL);
    search.request.output = NULL;
    search.request.input_files = (const char *const[]){"no_data.json"};
    search.request.input_file_count = 1;
    assert_refused(&search, POLYGRAPHY_ERROR_MISSING, "no_data.json");
}

static void files_that_are_no_models_are_refused(void **state)
{
    struct search search;

    search_init(&search, "nothing.onnx", "head", NULL);
    assert_refused(&search, POLYGRAPHY_ERROR_MISSING, "nothing.onnx");
    scratch_file("text.onnx", "This is no model.");
    search_init(&search, "text.onnx", "head", NULL);
    assert_refused(&search, POLYGRAPHY_ERROR_CORRUPT, "text.onnx");
    search_init(&search, fixture_path("empty.onnx"), "head", NULL);
    assert_refused(&search, POLYGRAPHY_ERROR_INVALID, "the model has no nodes");
}

/* ---- Threads ---- */

static void *search_in_thread(void *data)
{
    struct search *search = data;

    if (search_run(search) < 0)
        fprintf(stderr, "%s\n", search->error.message);
    return NULL;
}

static void several_threads_may_search_in_one_folder(void **state)
{
    static const char *const outputs[] = {"a.onnx", "b.onnx", "c.onnx"};
    struct search searches[ARRAY_LEN(outputs)];
    pthread_t threads[ARRAY_LEN(outputs)];

    require_onnxruntime();
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        search_init(&searches[i], fixture_path(DETECTOR), "block2/norm/div", "block3/left/relu");
        searches[i].request.output = outputs[i];
        searches[i].request.write_data = true;
        searches[i].script.load = true;
        assert_int_equal(pthread_create(&threads[i], NULL, search_in_thread, &searches[i]), 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_false(searches[i].script.wrong);
        assert_int_equal(searches[i].result.outcome, POLYGRAPHY_MINIMAL);
        assert_int_equal(searches[i].result.node_count, 2);
        assert_string_equal(searches[i].result.nodes[0].name, "block2/norm/div");
        assert_true(searches[i].result.written);
        polygraphy_model_result_release(&searches[i].result);
    }
    assert_int_equal(scratch_count("candidates"), 0);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(missing_runtime_is_an_error_and_keeps_what_was_found),
        IN_SCRATCH(two_nodes_far_apart_are_found),
        IN_SCRATCH(result_need_not_be_written),
        IN_SCRATCH(model_that_passes_has_nothing_to_reduce),
        IN_SCRATCH(budget_ends_the_search_with_a_model_that_fails),
        IN_SCRATCH(oracle_can_stop_the_search),
        IN_SCRATCH(answer_that_is_none_is_an_error_and_keeps_what_was_found),
        IN_SCRATCH(candidates_and_results_find_external_weights),
        IN_SCRATCH(data_of_a_candidate_are_written_when_wanted),
        IN_SCRATCH(oracle_may_move_a_candidate_away),
        IN_SCRATCH(file_of_the_oracle_keeps_the_folder_alive),
        IN_SCRATCH(output_that_exists_is_replaced_only_on_demand),
        IN_SCRATCH(output_that_has_come_to_exist_is_not_replaced_either),
        IN_SCRATCH(requests_that_make_no_sense_are_refused),
        IN_SCRATCH(files_that_are_no_models_are_refused),
        IN_SCRATCH(several_threads_may_search_in_one_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
