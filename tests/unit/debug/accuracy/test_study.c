/* test_study.c: what is kept of an experiment, and what becomes of a study after its first error. */
#include "support/captured_log.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "debug/accuracy/study.h"

static const struct accuracy_settings settings = {.model = "model.onnx", .folder = "why", .suspect_is_built = true};

static struct captured_log captured;

static struct study *make_study(void)
{
    struct study *study = memory_alloc_zero(1, sizeof(*study));

    captured_log_init(&captured);
    *study = (struct study){.settings = &settings,
                            .log = &captured.log,
                            .lock = {.fd = -1},
                            .family_lock = -1,
                            .is_resumed = true,
                            .verdict = ""};
    arena_init(&study->arena);
    return study;
}

static void free_study(struct study *study)
{
    study_free(study);
    captured_log_release(&captured);
}

/* `run model.onnx` has ended before, in an earlier session. */
static struct study_step *begin_kept(struct study *study, const char *done, const char *result)
{
    struct study_step *step = step_begin(study, "kept", "It was run before");

    step_add(step, "run", "model.onnx", NULL);
    scratch_file("why/steps/01-kept/done.json", done);
    if (result != NULL)
        scratch_file("why/steps/01-kept/result.json", result);
    return step;
}

#define COMMAND "\"command\": \"polygraphy run model.onnx --json why/steps/01-kept/result.json\""

static void kept_experiment_has_its_result_and_is_not_run_again(void **state)
{
    struct study *study = make_study();
    struct study_step *step =
        begin_kept(study, "{" COMMAND ", \"exit_status\": 1, \"complaint\": \"\", \"warnings\": [\"data are random\"]}",
                   "{\"passed\": false, \"count\": 7}");

    (void)state;
    assert_int_equal(step_judge(step), DIFFERS);
    assert_string_equal(step->name, "01-kept");
    assert_string_equal(step->outcome, "differs");
    assert_int_equal(step->checks, 1);
    assert_int_equal(step->builds, 1);
    assert_int_equal(step->warnings.count, 1);
    assert_string_equal(step->warnings.items[0], "data are random");
    assert_int_equal(step_count(step, "count"), 7);
    assert_false(step_says(step, "passed"));
    assert_int_equal(study->steps.count, 1);
    free_study(study);
}

static void command_that_makes_no_sense_is_an_error_or_refuses(void **state)
{
    const char *done = "{" COMMAND ", \"exit_status\": 125, \"complaint\": \"no such option\"}";
    struct study *study = make_study();

    (void)state;
    assert_int_equal(step_try(begin_kept(study, done, NULL)), REFUSES);
    assert_false(study_has_failed(study));
    free_study(study);
    study = make_study();
    assert_int_equal(step_judge(begin_kept(study, done, NULL)), UNKNOWN);
    assert_int_equal(study->error.code, ERR_BACKEND);
    assert_non_null(strstr(study->error.message, "ends with 125: no such option"));
    free_study(study);
}

static void after_an_error_nothing_is_run_or_concluded(void **state)
{
    struct study *study = make_study();
    struct study_step *step;

    (void)state;
    study_add_evidence(study, "%s", "it fails");
    error_set(&study->error, ERR_IO, "the disk is full");
    step = step_begin(study, "never", "It is not run");
    step_add(step, "run", "model.onnx", NULL);
    assert_int_equal(step_judge(step), UNKNOWN);
    assert_int_equal(step->exit_status, -1);
    assert_false(step_require(step_begin(study, "never", "Nor is this")));
    assert_false(study_open_model(study));
    study_add_evidence(study, "%s", "it passes");
    study_conclude(study, OUTCOME_CAUSE, "Cause: %s", "none");
    assert_int_equal(study->steps.count, 0);
    assert_int_equal(study->cause.evidence.count, 1);
    assert_int_equal(study->outcome, OUTCOME_OPEN);
    assert_string_equal(study->error.message, "the disk is full");
    assert_false(file_exists("why"));
    free_study(study);
}

static void lists_of_names_have_the_first_few(void **state)
{
    struct study *study = make_study();
    struct words names = study_words(study, "a", "b", NULL), operators = study_words(study, "Conv", "Add", NULL);

    (void)state;
    assert_string_equal(study_list(study, names, operators), "'a' (Conv) and 'b' (Add)");
    names = study_words(study, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", NULL);
    names = study_add_words(study, names, names);
    assert_string_equal(
        study_list(study, names, (struct words){0}),
        "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', "
        "'i' and 2 more");
    assert_true(has_word(names, "k"));
    assert_false(has_word(names, "l"));
    free_study(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kept_experiment_has_its_result_and_is_not_run_again, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(command_that_makes_no_sense_is_an_error_or_refuses, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(after_an_error_nothing_is_run_or_concluded, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(lists_of_names_have_the_first_few, scratch_folder_enter, scratch_folder_leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
