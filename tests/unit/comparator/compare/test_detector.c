/* Which outputs are those of a detector, and the verdict on all of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "comparator/compare/comparison.h"
#include "support/results_fixture.h"

struct fixture {
    struct captured_log log;
    struct run_results results;
    struct comparison_settings settings;
    struct error error;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    captured_log_init(&fixture->log);
    fixture->log.log.threshold = LOG_INFO;
    fixture->settings = (struct comparison_settings){.log = &fixture->log.log};
    comparison_functions_add(&fixture->settings.functions, COMPARISON_DETECTIONS);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    run_results_release(&fixture->results);
    captured_log_release(&fixture->log);
    free(fixture);
    return 0;
}

/* Adds an output to both runners, which differ in the number of rows. */
static void add_output(struct fixture *fixture, const char *name, enum data_type type, struct shape shape,
                       struct shape second_shape, const void *data)
{
    if (fixture->results.count == 0) {
        add_runner(&fixture->results, "a");
        add_runner(&fixture->results, "b");
    }
    add_tensor(&fixture->results.items[0].items[0].outputs, name, type, shape, data);
    add_tensor(&fixture->results.items[1].items[0].outputs, name, type, second_shape, data);
}

static const float boxes[] = {0, 0, 8, 8, 20, 20, 28, 28, 40, 40, 48, 48}, scores[] = {0.9F, 0.506F, 0.502F};
static const int64_t labels[] = {1, 2, 3};

static int compare(struct fixture *fixture, bool *ret_passed)
{
    return comparison_run(&fixture->results, &fixture->settings, ret_passed, &fixture->error);
}

static bool passes(struct fixture *fixture)
{
    bool passed = false;

    if (compare(fixture, &passed) < 0)
        fail_msg("%s", fixture->error.message);
    return passed;
}

static void separate_outputs_are_found_by_shape_and_type(void **state)
{
    struct fixture *fixture = *state;

    add_output(fixture, "z", DATA_INT64, SHAPE(3), SHAPE(2), labels);
    add_output(fixture, "x", DATA_FLOAT32, SHAPE(3, 4), SHAPE(2, 4), boxes);
    add_output(fixture, "y", DATA_FLOAT32, SHAPE(3), SHAPE(2), scores);
    assert_true(passes(fixture));
    assert_logged(&fixture->log, "--detection-columns x:x1,y1,x2,y2 z:label y:score (derived from");
    assert_logged(&fixture->log, "2 pair(s) match of 3 and 2 detections");
    assert_logged(&fixture->log, "1 detection(s) without a partner are ties in score at the cut of 0.506");
    assert_logged(&fixture->log, "All outputs matched | Outputs: ['z', 'x', 'y']");
}

static void what_has_no_partner_is_named(void **state)
{
    struct fixture *fixture = *state;
    const struct named_number cut = {.name = "", .value = 0.3};

    add_output(fixture, "boxes", DATA_FLOAT32, SHAPE(3, 4), SHAPE(2, 4), boxes);
    add_output(fixture, "labels", DATA_INT64, SHAPE(3), SHAPE(2), labels);
    add_output(fixture, "scores", DATA_FLOAT32, SHAPE(3), SHAPE(2), scores);
    fixture->settings.rules.score_cut = (struct named_numbers){&cut, 1};
    assert_false(passes(fixture));
    assert_logged(&fixture->log,
                  "Row 2 of the first output has no partner: box (40, 40, 48, 48), label 3, score 0.502; best IoU 0");
    assert_logged(&fixture->log, "Detections that differ: 0.2 (tolerance: 0) | FAILED");
}

static void names_decide_between_outputs_of_one_shape(void **state)
{
    struct fixture *fixture = *state;

    add_output(fixture, "areas", DATA_FLOAT32, SHAPE(3), SHAPE(3), scores);
    add_output(fixture, "detection_scores", DATA_FLOAT32, SHAPE(3), SHAPE(3), scores);
    add_output(fixture, "detection_boxes", DATA_FLOAT32, SHAPE(3, 4), SHAPE(3, 4), boxes);
    add_output(fixture, "anchors", DATA_FLOAT32, SHAPE(3, 4), SHAPE(3, 4), boxes);
    add_output(fixture, "detection_classes", DATA_FLOAT32, SHAPE(3), SHAPE(3), (float[]){1, 2, 3});
    assert_true(passes(fixture));
    assert_logged(&fixture->log, "--detection-columns detection_boxes:x1,y1,x2,y2 detection_classes:label "
                                 "detection_scores:score");
    assert_logged(&fixture->log, "Output 'areas' is not compared by detections");
}

static void ambiguous_outputs_are_not_a_detector(void **state)
{
    struct fixture *fixture = *state;
    bool passed;

    add_output(fixture, "x", DATA_FLOAT32, SHAPE(3, 4), SHAPE(3, 4), boxes);
    add_output(fixture, "y", DATA_FLOAT32, SHAPE(3, 4), SHAPE(3, 4), boxes);
    assert_int_equal(compare(fixture, &passed), ERR_INVALID);
    assert_logged(&fixture->log, "several outputs may be the boxes: 'x', 'y'. Specify their columns");
}

static void four_columns_alone_are_not_a_detector(void **state)
{
    struct fixture *fixture = *state;
    const struct named_word rule = {"x", "x1,y1,x2,y2"};
    bool passed;

    add_output(fixture, "x", DATA_FLOAT32, SHAPE(3, 4), SHAPE(3, 4), boxes);
    assert_int_equal(compare(fixture, &passed), ERR_INVALID);
    assert_logged(&fixture->log, "no output has scores or labels of the rows of 'x'");
    fixture->settings.rules.detection_columns = (struct named_words){&rule, 1};
    assert_true(passes(fixture)); /* as specified */
}

static void rules_come_before_derivation(void **state)
{
    struct fixture *fixture = *state;
    const struct named_word rules[] = {{"x", "x1,y1,w,h"}, {"z", "_"}, {"", "score"}};

    add_output(fixture, "x", DATA_FLOAT32, SHAPE(3, 4), SHAPE(3, 4), boxes);
    add_output(fixture, "y", DATA_FLOAT32, SHAPE(3), SHAPE(3), scores);
    add_output(fixture, "z", DATA_INT64, SHAPE(3), SHAPE(3), labels);
    fixture->settings.rules.detection_columns = (struct named_words){rules, 3};
    assert_true(passes(fixture));
    assert_logged(&fixture->log, "Columns of the detections: --detection-columns x:x1,y1,w,h y:score");
    assert_not_logged(&fixture->log, "derived");
}

static void rules_that_do_not_fit_are_errors(void **state)
{
    struct fixture *fixture = *state;
    const struct named_word wrong = {"x", "score,label"}, repeated[] = {{"y", "score"}, {"z", "score"}};
    bool passed;

    add_output(fixture, "x", DATA_FLOAT32, SHAPE(3, 4), SHAPE(3, 4), boxes);
    add_output(fixture, "y", DATA_FLOAT32, SHAPE(3), SHAPE(3), scores);
    add_output(fixture, "z", DATA_FLOAT32, SHAPE(3), SHAPE(3), scores);
    fixture->settings.rules.detection_columns = (struct named_words){&wrong, 1};
    assert_int_equal(compare(fixture, &passed), ERR_INVALID);
    assert_non_null(strstr(fixture->error.message, "output 'x' of shape (3, 4) does not have the columns score,label"));
    fixture->settings.rules.detection_columns = (struct named_words){repeated, 2};
    assert_int_equal(compare(fixture, &passed), ERR_INVALID);
    assert_non_null(strstr(fixture->error.message, "'z' repeats a column"));
}

static void class_scores_are_scores_and_labels(void **state)
{
    struct fixture *fixture = *state;

    add_output(fixture, "logits", DATA_FLOAT32, SHAPE(1, 3, 2), SHAPE(1, 3, 2), (float[]){1, 2, 3, 1, 0, 5});
    add_output(fixture, "pred_boxes", DATA_FLOAT32, SHAPE(1, 3, 4), SHAPE(1, 3, 4),
               (float[]){0.5F, 0.5F, 0.1F, 0.1F, 0.2F, 0.2F, 0.1F, 0.1F, 0.7F, 0.7F, 0.1F, 0.1F});
    assert_true(passes(fixture));
    assert_logged(&fixture->log, "pred_boxes:cx,cy,w,h logits:scores");
}

static void the_verdict_is_that_of_the_boxes(void **state)
{
    struct fixture *fixture = *state;
    struct first_divergence divergence;

    first_divergence_init(&divergence);
    fixture->settings.divergence = &divergence;
    add_output(fixture, "scores", DATA_FLOAT32, SHAPE(3), SHAPE(3), scores);
    add_output(fixture, "boxes", DATA_FLOAT32, SHAPE(3, 4), SHAPE(3, 4), boxes);
    assert_true(passes(fixture));
    assert_int_equal(divergence.compared.count, 1);
    assert_string_equal(divergence.compared.items[0].output, "boxes");
    first_divergence_release(&divergence);
}

static void outputs_are_awaited_until_all_are_there(void **state)
{
    struct fixture *fixture = *state;
    struct comparison comparison;
    struct iteration_result *first, *second;
    struct tensor later;
    bool passed;

    add_output(fixture, "boxes", DATA_FLOAT32, SHAPE(3, 4), SHAPE(3, 4), boxes);
    add_output(fixture, "scores", DATA_FLOAT32, SHAPE(3), SHAPE(3), scores);
    first = &fixture->results.items[0].items[0];
    second = &fixture->results.items[1].items[0];
    later = second->outputs.items[1].tensor;
    second->outputs.items[1].tensor = (struct tensor){0};
    comparison_begin(&comparison, &fixture->settings, (struct compared_side){"a", 1}, (struct compared_side){"b", 1});
    comparison_begin_iteration(&comparison, 0, first, second);
    assert_int_equal(comparison_advance(&comparison, &fixture->error), 0);
    assert_true(comparison_awaits(&comparison, &first->outputs.items[0]));
    second->outputs.items[1].tensor = later;
    assert_int_equal(comparison_advance(&comparison, &fixture->error), 0);
    assert_false(comparison_awaits(&comparison, &first->outputs.items[0]));
    comparison_end_iteration(&comparison);
    assert_int_equal(comparison_end(&comparison, &passed, &fixture->error), 0);
    assert_true(passed);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(separate_outputs_are_found_by_shape_and_type),
        TEST(what_has_no_partner_is_named),
        TEST(names_decide_between_outputs_of_one_shape),
        TEST(ambiguous_outputs_are_not_a_detector),
        TEST(four_columns_alone_are_not_a_detector),
        TEST(rules_come_before_derivation),
        TEST(rules_that_do_not_fit_are_errors),
        TEST(class_scores_are_scores_and_labels),
        TEST(the_verdict_is_that_of_the_boxes),
        TEST(outputs_are_awaited_until_all_are_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
