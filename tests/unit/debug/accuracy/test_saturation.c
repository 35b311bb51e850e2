/* test_saturation.c: the hypothesis of a study that products that saturate. Its experiments have ended before,
 * in an earlier session, so that no process is started. */
#include "support/captured_log.h"
#include "support/made_model.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

#include <stdio.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "debug/accuracy/hypotheses.h"
#include "debug/quantization/saturation.h"

#define CASE "polygraphy run model.onnx --load-inputs inputs.json --load-outputs golden.json"

static void write_model(const char *op_type)
{
    struct made_model made;
    struct error err = {0};
    struct span bytes;

    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(2, 2));
    made_constant(&made, "s", MADE_SHAPE(1), 0.5F, 0.5F);
    made_node(&made, "", "QuantizeLinear", "x s", "q", NULL, 0);
    made_node(&made, "", "DequantizeLinear", "q s", "d", NULL, 0);
    made_node(&made, "", op_type, "d x", "y", NULL, 0);
    made_output(&made, "y");
    bytes = made_bytes(&made);
    assert_int_equal(file_write("model.onnx", bytes.data, bytes.size, FILE_INTERMEDIATE, &err), 0);
    made_release(&made);
}

/* An experiment that has ended with this status; 0: the outputs agree, 1: they differ. */
static void write_experiment(const char *name, const char *command, int exit_status)
{
    char folder[100], path[200], done[1000];
    struct error err = {0};

    snprintf(folder, sizeof(folder), "why/steps/%s", name);
    assert_int_equal(file_make_folders(folder, &err), 0);
    snprintf(path, sizeof(path), "%s/result.json", folder);
    scratch_file(path, "{}");
    snprintf(done, sizeof(done), "{\"command\": \"%s --json %s\", \"exit_status\": %d}", command, path, exit_status);
    snprintf(path, sizeof(path), "%s/done.json", folder);
    scratch_file(path, done);
}

/* A study that has asked the question. */
struct asked_study {
    struct captured_log log;
    struct study *study;
};

static const struct study *ask(const struct accuracy_settings *settings, struct asked_study *ret)
{
    struct study *study = memory_alloc_zero(1, sizeof(*study));

    captured_log_init(&ret->log);
    *study = (struct study){.settings = settings,
                            .log = &ret->log.log,
                            .lock = {.fd = -1},
                            .family_lock = -1,
                            .is_resumed = true,
                            .pattern = FAILS_ALWAYS,
                            .whole = {"model.onnx", "inputs.json", "golden.json", {0}, 0}};
    arena_init(&study->arena);
    accuracy_test_saturation(study);
    if (study_has_failed(study))
        fail_msg("%s", study->error.message);
    ret->study = study;
    return study;
}

static void asked_study_release(struct asked_study *asked)
{
    study_free(asked->study);
    captured_log_release(&asked->log);
}

static const char *const onnxrt = "--onnxrt", *const other = "--trt";

static struct accuracy_settings settings_of(bool suspect_is_onnxrt)
{
    return (struct accuracy_settings){.model = "model.onnx",
                                      .folder = "why",
                                      .reference = {.items = suspect_is_onnxrt ? &other : &onnxrt, .count = 1},
                                      .suspect = {.items = suspect_is_onnxrt ? &onnxrt : &other, .count = 1},
                                      .reference_is_onnxrt = !suspect_is_onnxrt,
                                      .suspect_is_onnxrt = suspect_is_onnxrt,
                                      .products_saturate = true};
}

static void cause_of_a_suspect_that_agrees_with_the_setting(void **state)
{
    struct accuracy_settings settings = settings_of(true);
    struct asked_study asked;
    const struct study *study;

    write_model("MatMul");
    write_experiment("01-saturation", CASE " --onnxrt --session-config " SATURATION_SETTING, 0);
    study = ask(&settings, &asked);
    assert_int_equal(study->steps.count, 1);
    assert_int_equal(study->cause.kind, CAUSE_SATURATION);
    assert_string_equal(study->cause.sentence, SATURATION_SENTENCE);
    assert_string_equal(study->cause.fix.what, SATURATION_SETTING);
    assert_int_equal(study->cause.fix.options.count, 2);
    assert_string_equal(study->cause.fix.options.items[1], SATURATION_SETTING);
    assert_false(study->cause.whole_agrees); /* that is seen anew */
    asked_study_release(&asked);
    write_experiment("01-saturation", CASE " --onnxrt --session-config " SATURATION_SETTING, 1);
    study = ask(&settings, &asked);
    assert_int_equal(study->steps.count, 1);
    assert_int_equal(study->cause.kind, CAUSE_UNKNOWN);
    asked_study_release(&asked);
}

static void cause_of_a_reference_with_whose_other_outputs_the_suspect_agrees(void **state)
{
    static const struct {
        int reference, suspect; /* exit statuses of the comparisons */
        size_t experiments;
        bool is_cause;
    } cases[] = {{1, 0, 2, true}, {1, 1, 2, false}, {0, 0, 1, false}};
    struct accuracy_settings settings = settings_of(false);

    write_model("MatMul");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct asked_study asked;
        const struct study *study;

        write_experiment("01-saturation-reference",
                         CASE " --onnxrt --session-config " SATURATION_SETTING
                              " --save-outputs why/golden_unsaturated.json",
                         cases[i].reference);
        write_experiment("02-saturation",
                         "polygraphy run model.onnx --load-inputs inputs.json --load-outputs "
                         "why/golden_unsaturated.json --trt",
                         cases[i].suspect);
        study = ask(&settings, &asked);
        assert_int_equal(study->steps.count, cases[i].experiments);
        assert_int_equal(study->cause.kind, cases[i].is_cause ? CAUSE_SATURATION : CAUSE_UNKNOWN);
        assert_int_equal(study->cause.whole_agrees, cases[i].is_cause);
        assert_null(study->cause.fix.what);
        asked_study_release(&asked);
    }
}

static void nothing_is_asked_where_nothing_can_saturate(void **state)
{
    struct accuracy_settings settings[] = {settings_of(true), settings_of(true), settings_of(true)};

    settings[1].products_saturate = false;
    settings[2].suspect_is_onnxrt = false;
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        struct asked_study asked;
        const struct study *study;

        write_model(i == 0 ? "Add" : "MatMul");
        study = ask(&settings[i], &asked);
        assert_int_equal(study->steps.count, 0);
        assert_int_equal(study->cause.kind, CAUSE_UNKNOWN);
        asked_study_release(&asked);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cause_of_a_suspect_that_agrees_with_the_setting, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(cause_of_a_reference_with_whose_other_outputs_the_suspect_agrees,
                                        scratch_folder_enter, scratch_folder_leave),
        cmocka_unit_test_setup_teardown(nothing_is_asked_where_nothing_can_saturate, scratch_folder_enter,
                                        scratch_folder_leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
