/* test_interactive.c: a check without a command asks for a verdict. */
#include "support/unit_test.h"

#include <string.h>

#include "debug/check/check.h"

static const char *const *answers;  /* NULL-terminated */
static struct string_builder asked; /* every question, each on a line */

static int give_answers(const char *question, struct string_builder *ret, struct error *err)
{
    string_add_format(&asked, "%s\n", question);
    if (!*answers)
        return error_set(err, ERR_MISSING, "no more input");
    string_add(ret, *answers++);
    return 0;
}

static int ask(const char *const *script, const char *subject, enum verdict *ret, struct error *err)
{
    struct check *check;
    int rc = check_new(&(struct check_settings){.ask = give_answers}, NULL, &check, err);

    answers = script;
    string_clear(&asked);
    if (rc == 0)
        rc = check_ask(check, subject, ret, err);
    check_free(check);
    return rc;
}

static void first_letter_decides_in_any_case(void **state)
{
    const char *const passing[] = {"p", "P", "Pass", "please", NULL};
    const char *const failing[] = {"f", "F", "FAIL", "fine", NULL};
    enum verdict verdict;
    struct error err;

    for (int i = 0; passing[i]; i++) {
        assert_int_equal(ask(&passing[i], "m.onnx", &verdict, &err), 0);
        assert_int_equal(verdict, VERDICT_PASS);
        assert_int_equal(ask(&failing[i], "m.onnx", &verdict, &err), 0);
        assert_int_equal(verdict, VERDICT_FAIL);
    }
    assert_string_equal(asked.data, ">>> Did 'm.onnx' [p]ass or [f]ail? \n");
}

static void anything_else_is_asked_again(void **state)
{
    const char *const script[] = {"d", "", " p", "f", NULL};
    enum verdict verdict;
    struct error err;

    assert_int_equal(ask(script, NULL, &verdict, &err), 0);
    assert_int_equal(verdict, VERDICT_FAIL);
    assert_string_equal(asked.data, ">>> Did 'this iteration' [p]ass or [f]ail? \n"
                                    ">>> Please choose either: 'p' or 'f': \n"
                                    ">>> Please choose either: 'p' or 'f': \n"
                                    ">>> Please choose either: 'p' or 'f': \n");
}

static void end_of_input_is_an_error(void **state)
{
    const char *const script[] = {"x", NULL};
    enum verdict verdict;
    struct error err;

    assert_int_equal(ask(script, NULL, &verdict, &err), ERR_MISSING);
    assert_string_equal(err.message, "no more input");
}

static int release(void **state)
{
    string_release(&asked);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_letter_decides_in_any_case),
        cmocka_unit_test(anything_else_is_asked_again),
        cmocka_unit_test(end_of_input_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
