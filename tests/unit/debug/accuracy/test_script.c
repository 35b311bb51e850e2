/* test_script.c: the script that a study leaves. */
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file/file.h"
#include "debug/accuracy/accuracy.h"
#include "support/captured_log.h"
#include "support/scratch_folder.h"

/* What has not even run is not measured, so no process is started. */
static const struct accuracy_settings settings = {.model = "model.onnx", .folder = "why"};

/* The script of a cause of which this is said, with a fix that has one option. */
static char *make_script(const char *verdict, const char *proof, const char *option)
{
    struct study study = {
        .settings = &settings, .question = &settings, .outcome = OUTCOME_CAUSE, .verdict = verdict, .refused = true};
    struct captured_log captured;
    struct error error = {0};
    char *script;
    size_t size;

    captured_log_init(&captured);
    arena_init(&study.arena);
    study.log = &captured.log;
    study.whole = (struct failing_case){.model = "model.onnx", .inputs = "why/inputs.json", .golden = "why/g"};
    study.cause.kind = CAUSE_NODE;
    study_add_evidence(&study, "%s", proof);
    study.cause.fix = (struct cause_fix){
        .what = "another option", .options = {.items = &option, .count = 1}, .model = "why/mixed.onnx", .holds = true};
    assert_int_equal(file_make_folders("why", &error), 0);
    assert_int_equal(accuracy_write_bundle(&study, &error), 0);
    assert_int_equal(file_read("why/reproduce.sh", 1 << 20, &script, &size, &error), 0);
    free(study.cause.evidence.items);
    arena_release(&study.arena);
    captured_log_release(&captured);
    return script;
}

static void script_fails_with_the_case_and_has_the_fix_as_a_comment(void **state)
{
    char *script = make_script("Cause: it", "alone it fails", "--fp16");
    const char *body = strstr(script, "# Cause: it\n");
    struct stat status;

    assert_non_null(body);
    assert_string_equal(body, "# Cause: it\n"
                              "# Evidence: alone it fails\n"
                              "\n"
                              "folder=$(dirname \"$0\")\n"
                              "\n"
                              "# This fails:\n"
                              "polygraphy run model.onnx --load-inputs \"$folder\"/inputs.json --load-outputs "
                              "\"$folder\"/g\n"
                              "\n"
                              "# With another option the whole model passes:\n"
                              "# polygraphy run \"$folder\"/mixed.onnx --load-inputs \"$folder\"/inputs.json "
                              "--load-outputs \"$folder\"/g --fp16\n");
    assert_int_equal(stat("why/reproduce.sh", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0755);
    free(script);
}

static void names_do_not_leave_the_comments(void **state)
{
    char *script = make_script("Cause: 'a\ntouch b'", "'c\n\ntouch d\rtouch e'", "f\ntouch g");

    assert_non_null(strstr(script, "# Cause: 'a\n# touch b'\n# Evidence: 'c\n# \n# touch d\\x0dtouch e'\n\n"));
    assert_non_null(strstr(script, " 'f\n# touch g'\n"));
    free(script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(script_fails_with_the_case_and_has_the_fix_as_a_comment, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test_setup_teardown(names_do_not_leave_the_comments, scratch_folder_enter, scratch_folder_leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
