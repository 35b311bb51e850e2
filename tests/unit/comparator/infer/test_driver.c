/* test_driver.c: a model run on every iteration of its data, and its results validated. */
#include <stdlib.h>

#include "comparator/infer/driver.h"
#include "format/data/file.h"
#include "support/fake_backend.h"
#include "support/results_fixture.h"
#include "support/scratch_folder.h"

struct fixture {
    struct captured_log log;
    struct fake_model model;
    struct data_loader_settings data;
    struct driver_settings settings;
    struct run_results results;
    bool passed;
    struct error error;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    captured_log_init(&fixture->log);
    fixture->data = (struct data_loader_settings){.seed = 1, .iterations = 2};
    fixture->settings = fake_settings(&fixture->model);
    fixture->settings.sequential = true;
    fixture->settings.keep_outputs = true;
    fixture->settings.log = &fixture->log.log;
    *state = fixture;
    return scratch_folder_enter(&(void *){NULL});
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(fixture->model.opened, fixture->model.closed);
    run_results_release(&fixture->results);
    captured_log_release(&fixture->log);
    free(fixture);
    return scratch_folder_leave(&(void *){NULL});
}

static int run(struct fixture *fixture)
{
    struct data_loader *loader;
    int rc = data_loader_new(&fixture->data, &fixture->log.log, &loader, &fixture->error);

    assert_int_equal(rc, 0);
    rc = driver_run(&fixture->settings, loader, &fixture->results, &fixture->passed, &fixture->error);
    data_loader_free(loader);
    return rc;
}

static float first_output(const struct fixture *fixture, size_t iteration)
{
    return *(const float *)fixture->results.items[0].items[iteration].outputs.items[0].tensor.data;
}

static void names_hold_prefix_number_and_local_time(void **state)
{
    struct tm moment = {
        .tm_year = 126, .tm_mon = 10, .tm_mday = 3, .tm_hour = 7, .tm_min = 6, .tm_sec = 5, .tm_isdst = -1};
    char *name = runner_make_name("onnxrt-runner", 12, mktime(&moment));

    assert_string_equal(name, "onnxrt-runner-N12-11/03/26-07:06:05");
    free(name);
}

static void every_iteration_is_run_on_its_own_data(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(run(fixture), 0);
    assert_int_equal(fixture->model.runs, 2);
    assert_int_equal(fixture->results.count, 1);
    assert_string_equal(fixture->results.items[0].name, "fake-runner-N0");
    assert_int_equal(fixture->results.items[0].count, 2);
    assert_true(fixture->results.items[0].items[1].runtime == 0.25);
    assert_string_equal(fixture->results.items[0].items[1].runner_name, "fake-runner-N0");
    assert_true(first_output(fixture, 0) == 0.417022f + 1); /* what NumPy draws first from seed 1 */
    assert_true(first_output(fixture, 1) == 0.4359949f + 1);
}

static void the_log_is_polygraphys(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(run(fixture), 0);
    assert_string_equal(
        fixture->log.text.data,
        "S fake-runner-N0                      | Activating and starting inference\n"
        "I fake-runner-N0                     \n---- Inference Input(s) ----\n"
        "{x [dtype=float32, shape=(2,)]}\n"
        "I fake-runner-N0                     \n---- Inference Output(s) ----\n"
        "{y [dtype=float32, shape=(2,)]}\n"
        "F fake-runner-N0                      | Completed 2 iteration(s) in 500 ms | Average inference "
        "time: 250 ms.\n");
}

static void no_iterations_are_reported_as_none(void **state)
{
    struct fixture *fixture = *state;

    fixture->data.iterations = 0;
    assert_int_equal(run(fixture), 0);
    assert_int_equal(fixture->model.runs, 0);
    assert_int_equal(fixture->results.items[0].count, 0);
    assert_logged(&fixture->log, "Completed 0 iteration(s) in 0 ms | Average inference time: 0 ms.\n");
}

static void warm_up_runs_come_first_and_do_not_count(void **state)
{
    struct fixture *fixture = *state;

    fixture->settings.warm_up = 3;
    assert_int_equal(run(fixture), 0);
    assert_int_equal(fixture->model.runs, 5);
    assert_int_equal(fixture->results.items[0].count, 2);
    assert_logged(&fixture->log, "S fake-runner-N0                      | Running 3 warm-up run(s)\n");
    assert_logged(&fixture->log, "Completed 2 iteration(s) in 500 ms");
}

static void outputs_that_are_no_tensors_are_left_out(void **state)
{
    struct fixture *fixture = *state;

    fixture->model.has_sequence = true;
    assert_int_equal(run(fixture), 0);
    assert_logged(&fixture->log, "W Outputs that are sequences, maps or the like are left out: ['s']\n");
    assert_int_equal(fixture->results.items[0].items[0].outputs.count, 1);
    run_results_release(&fixture->results);
    fixture->model.only_sequences = true;
    assert_int_equal(run(fixture), ERR_UNSUPPORTED);
    assert_message_contains(&fixture->error, "no output that is a tensor");
}

static void outputs_that_nobody_needs_are_released_at_once(void **state)
{
    struct fixture *fixture = *state;

    fixture->settings.keep_outputs = false;
    assert_int_equal(run(fixture), 0);
    assert_int_equal(fixture->results.items[0].count, 2);
    assert_int_equal(fixture->results.items[0].items[0].outputs.count, 0);
}

static void outputs_are_written_whether_or_not_they_are_kept(void **state)
{
    struct fixture *fixture = *state;
    struct run_results loaded = {0};

    fixture->settings.save.outputs = "out.json";
    fixture->settings.sequential = false;
    assert_int_equal(run(fixture), 0);
    assert_int_equal(fixture->results.count, 0);
    assert_logged(&fixture->log, "I Saving inference results to out.json\n");
    assert_int_equal(run_results_load(&loaded, "out.json", NULL), 0);
    assert_int_equal(loaded.items[0].count, 2);
    assert_string_equal(loaded.items[0].items[1].outputs.items[0].name, "y");
    run_results_release(&loaded);
}

static void feed_dicts_are_saved_before_the_first_run(void **state)
{
    struct fixture *fixture = *state;
    struct feed_dicts feeds = {0};

    fixture->settings.save.inputs = "in.json";
    fixture->model.fails_at_run = 1;
    assert_int_equal(run(fixture), ERR_BACKEND);
    assert_logged(&fixture->log, "I Saving inference input data to in.json\n");
    assert_int_equal(data_file_add_inputs(&feeds, "in.json", NULL), 0);
    assert_int_equal(feeds.count, 2);
    assert_string_equal(feeds.items[1].items[0].name, "x");
    feed_dicts_release(&feeds);
}

static void outputs_are_validated_whether_or_not_they_are_compared(void **state)
{
    struct fixture *fixture = *state;

    fixture->settings.validate = true;
    fixture->data.iterations = 1;
    assert_int_equal(run(fixture), 0);
    assert_true(fixture->passed);
    assert_logged(&fixture->log,
                  "S Output Validation | Runners: ['fake-runner-N0']\n"
                  "S     fake-runner-N0                      | Validating output: y (check_inf=True, check_nan=True)\n"
                  "F         PASSED | Output: y is valid\n"
                  "F     PASSED | Output Validation\n");
    assert_int_equal(fixture->log.log.depth, 0);
}

static void one_bad_output_fails_the_run(void **state)
{
    struct fixture *fixture = *state;

    fixture->settings.validate = true;
    fixture->model.overflows = true;
    assert_int_equal(run(fixture), 0);
    assert_false(fixture->passed);
    assert_logged(&fixture->log, "S Output Validation | Runners: ['fake-runner-N0']\n"
                                 "S     fake-runner-N0 | Iteration: 0\n");
    assert_logged(&fixture->log, "E     fake-runner-N0: errors in 2 outputs, first of all in: y\n"
                                 "E     FAILED | Output Validation\n");
    assert_int_equal(fixture->log.log.depth, 0);
}

static void a_failing_run_leaves_no_results(void **state)
{
    struct fixture *fixture = *state;

    fixture->model.fails_at_run = 2;
    assert_int_equal(run(fixture), ERR_BACKEND);
    assert_string_equal(fixture->error.message, "the fake model fails");
    assert_int_equal(fixture->results.count, 0);
    assert_not_logged(&fixture->log, "Completed");
}

/* ---- Iteration by iteration ---- */

static const struct named_number zero = {.name = "", .value = 0};
static const struct runner two_runners[] = {{.backend = &fake_backend, .name = "first"},
                                            {.backend = &fake_backend, .name = "second"}};

static void set_two_runners(struct fixture *fixture)
{
    fixture->settings.runners = two_runners;
    fixture->settings.count = 2;
    fixture->settings.sequential = false;
    fixture->settings.comparison.rules = (struct comparison_rules){.atol = {&zero, 1}, .rtol = {&zero, 1}};
}

static void each_iteration_is_run_compared_and_dropped(void **state)
{
    struct fixture *fixture = *state;

    set_two_runners(fixture);
    fixture->settings.validate = true;
    assert_int_equal(run(fixture), 0);
    assert_true(fixture->passed);
    assert_int_equal(fixture->results.count, 0);
    assert_int_equal(fixture->model.opened, 2);
    assert_int_equal(fixture->model.runs, 4);
    assert_logged(&fixture->log,
                  "I Streaming iteration 1\n---- Inference Input(s) ----\n{x [dtype=float32, shape=(2,)]}\n"
                  "S first                               | Iteration 1 | Validating output: y (check_inf=True, "
                  "check_nan=True)\n"
                  "F     PASSED | Output: y is valid\n"
                  "S second                              | Iteration 1 | Validating output: y (check_inf=True, "
                  "check_nan=True)\n"
                  "F     PASSED | Output: y is valid\n"
                  "S Iteration: 1\n"
                  "S     simple | Comparing Output: 'y'");
    assert_logged(&fixture->log,
                  "F Accuracy Summary | first vs. second | Passed: 2/2 iterations | Pass Rate: 100.00%\n");
    assert_not_logged(&fixture->log, "Output Validation");
}

static void an_invalid_value_ends_the_run(void **state)
{
    struct fixture *fixture = *state;

    set_two_runners(fixture);
    fixture->settings.validate = true;
    fixture->model.overflows = true;
    assert_int_equal(run(fixture), 0);
    assert_false(fixture->passed);
    assert_int_equal(fixture->model.runs, 2);
    assert_logged(&fixture->log,
                  "Output validation failed: iteration 0 contains invalid values (NaNs/Infs). See the errors above.\n");
}

static void iterations_that_a_loaded_result_lacks_are_run_and_not_compared(void **state)
{
    struct fixture *fixture = *state;
    const char *loaded = "saved";

    fixture->settings.sequential = false;
    fixture->settings.save.outputs = loaded;
    assert_int_equal(run(fixture), 0);
    assert_true(file_exists("saved/0000000001.json"));
    fixture->settings.save.outputs = "all.json";
    fixture->settings.load_outputs = &loaded;
    fixture->settings.load_count = 1;
    fixture->settings.comparison.rules = (struct comparison_rules){.atol = {&zero, 1}, .rtol = {&zero, 1}};
    fixture->data.iterations = 3;
    assert_int_equal(run(fixture), 0);
    assert_true(fixture->passed);
    assert_int_equal(fixture->model.runs, 5);
    assert_logged(&fixture->log, "Only the first 2 iteration(s) -- present in all 2 streams -- were compared; "
                                 "stream(s) at index [1] ran out first.\n");
    assert_int_equal(run_results_load(&fixture->results, "all.json", NULL), 0);
    assert_int_equal(fixture->results.items[0].count, 3);
}

static void both_orders_save_the_same_file(void **state)
{
    static const char *const names[] = {"streaming.json", "sequential.json"};
    struct fixture *fixture = *state;
    char *texts[2];
    size_t sizes[2];

    set_two_runners(fixture);
    for (size_t i = 0; i < 2; i++) {
        fixture->settings.sequential = i == 1;
        fixture->settings.save.outputs = names[i];
        assert_int_equal(run(fixture), 0);
        assert_int_equal(file_read(names[i], SIZE_MAX, &texts[i], &sizes[i], NULL), 0);
    }
    assert_string_equal(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
}

static void a_failing_run_leaves_complete_iterations(void **state)
{
    struct fixture *fixture = *state;
    struct run_results loaded = {0};

    fixture->settings.sequential = false;
    fixture->settings.save.inputs = "in.json";
    fixture->settings.save.outputs = "outs";
    fixture->settings.seed = 1;
    fixture->data.iterations = 4;
    fixture->model.fails_at_run = 3;
    assert_int_equal(run(fixture), ERR_BACKEND);
    assert_logged(&fixture->log, "W 'in.json' has the 3 complete iterations of 4\n"
                                 "W 'outs' has the 2 complete iterations of 4\n"
                                 "W For the other iterations, run again with --seed 3 --iterations 2,");
    assert_int_equal(data_file_add_results(&loaded, "outs", NULL), 0);
    assert_int_equal(loaded.items[0].count, 2);
    run_results_release(&loaded);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_hold_prefix_number_and_local_time),
        TEST(every_iteration_is_run_on_its_own_data),
        TEST(the_log_is_polygraphys),
        TEST(no_iterations_are_reported_as_none),
        TEST(warm_up_runs_come_first_and_do_not_count),
        TEST(outputs_that_are_no_tensors_are_left_out),
        TEST(outputs_that_nobody_needs_are_released_at_once),
        TEST(outputs_are_written_whether_or_not_they_are_kept),
        TEST(feed_dicts_are_saved_before_the_first_run),
        TEST(outputs_are_validated_whether_or_not_they_are_compared),
        TEST(one_bad_output_fails_the_run),
        TEST(a_failing_run_leaves_no_results),
        TEST(each_iteration_is_run_compared_and_dropped),
        TEST(an_invalid_value_ends_the_run),
        TEST(iterations_that_a_loaded_result_lacks_are_run_and_not_compared),
        TEST(both_orders_save_the_same_file),
        TEST(a_failing_run_leaves_complete_iterations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
