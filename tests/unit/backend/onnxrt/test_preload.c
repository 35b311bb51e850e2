/* What ONNX Runtime does once in a process, done beforehand. */
#include "support/onnxrt_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/library.h"
#include "backend/onnxrt/preload.h"
#include "support/in_child.h"

static int preload_without_library(void)
{
    struct error err = {0};

    setenv("POLYGRAPHY_ONNXRUNTIME", "/nowhere/libonnxruntime.so.1", 1);
    CHECK_OR_FAIL(onnxrt_preload(&err) == ERR_MISSING);
    CHECK_OR_FAIL(strstr(err.message, "/nowhere/libonnxruntime.so.1"));
    return 0;
}

/* First: a library that was loaded stays. */
static void missing_library_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(in_child(preload_without_library), 0);
}

static void model_that_is_run_for_it_suits_the_runtime(void **state)
{
    const struct onnxrt *runtime;
    struct error err = {0};

    (void)state;
    if (onnxrt_load(NULL, &runtime, &err) < 0)
        skip();
    for (int i = 0; i < 2; i++) /* the second time nothing is left to do */
        if (onnxrt_preload(&err) < 0)
            fail_msg("%s", err.message);
}

static int run_identity(void)
{
    static const float numbers[] = {1, 2, 3, 4};
    struct shape shape = {.rank = 4, .dims = {1, 1, 2, 2}};
    struct backend_session *session = open_model("identity");
    struct tensor_list feed = {0}, outputs;
    struct tensor tensor;

    tensor_borrow(DATA_FLOAT32, &shape, numbers, sizeof(numbers), &tensor);
    tensor_list_add(&feed, text_of("x"), &tensor);
    run_model(session, &feed, &outputs);
    CHECK_OR_FAIL(memcmp(output_named(&outputs, "y")->data, numbers, sizeof(numbers)) == 0);
    tensor_list_release(&outputs);
    tensor_list_release(&feed);
    onnxrt_backend.close(session);
    return 0;
}

static void children_open_sessions_of_their_own(void **state)
{
    struct error err = {0};

    (void)state;
    require_onnxruntime();
    assert_int_equal(onnxrt_preload(&err), 0);
    assert_int_equal(in_child(run_identity), 0);
    assert_int_equal(in_child(run_identity), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_library_is_an_error),
        cmocka_unit_test(model_that_is_run_for_it_suits_the_runtime),
        cmocka_unit_test(children_open_sessions_of_their_own),
    };

    return cmocka_run_group_tests(tests, find_models, NULL);
}
