/* test_backend.c: ONNX Runtime in a process of its own gives what it gives in this one. */
#include "support/onnxrt_fixture.h"

#include <string.h>

#include "backend/onnxrt/apart/backend.h"
#include "backend/onnxrt/library.h"
#include "backend/onnxrt/optimizers.h"

static const char *const models[] = {"symbolic_dimensions", "sequence_output", "scalar_and_unknown_shape", "every_type",
                                     "strings"};

static void assert_same_ios(const struct backend_io *a, size_t count, const struct backend_io *b, size_t other_count)
{
    assert_int_equal(count, other_count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(a[i].name, b[i].name);
        assert_int_equal(a[i].type, b[i].type);
        assert_int_equal(a[i].not_a_tensor != NULL, b[i].not_a_tensor != NULL);
        if (a[i].not_a_tensor != NULL)
            assert_string_equal(a[i].not_a_tensor, b[i].not_a_tensor);
        assert_int_equal(a[i].has_shape, b[i].has_shape);
        if (!a[i].has_shape)
            continue;
        assert_true(shape_equal(&a[i].shape, &b[i].shape));
        for (size_t k = 0; k < a[i].shape.rank; k++) {
            const char *symbol = a[i].symbols[k], *other = b[i].symbols[k];

            assert_int_equal(symbol != NULL, other != NULL);
            if (symbol != NULL)
                assert_string_equal(symbol, other);
        }
    }
}

/* Zeros, and empty texts, of the shapes that the inputs have; 2 where a size is open. */
static void make_feed(const struct backend_io *inputs, size_t count, struct tensor_list *ret)
{
    for (size_t i = 0; i < count; i++) {
        struct shape shape = inputs[i].shape;
        struct tensor tensor;

        for (size_t k = 0; k < shape.rank; k++)
            shape.dims[k] = shape.dims[k] < 0 ? 2 : shape.dims[k];
        assert_int_equal(tensor_allocate(inputs[i].type, &shape, &tensor, NULL), 0);
        if (tensor.type != DATA_STRING)
            memset(tensor_writable(&tensor), 0, tensor.size);
        tensor_list_add(ret, text_of(inputs[i].name), &tensor);
    }
}

static void it_tells_which_optimizers_are_applied(void **state)
{
    struct onnxrt_optimizers here, apart;
    struct onnxrt_settings settings = {.optimization_level = -1, .optimizers = &here};
    const struct backend_request request = {.model.path = model_path("symbolic_dimensions"), .settings = &settings};
    struct backend_session *session;

    (void)state;
    require_onnxruntime();
    onnxrt_optimizers_init(&here);
    onnxrt_optimizers_init(&apart);
    onnxrt_backend.close(open_request(&request));
    settings.optimizers = &apart;
    assert_int_equal(onnxrt_apart_backend.open(&request, &session, NULL), 0);
    onnxrt_apart_backend.close(session);
    assert_true(here.count > 0);
    assert_int_equal(apart.count, here.count);
    for (size_t i = 0; i < here.count; i++) {
        assert_string_equal(apart.items[i].name, here.items[i].name);
        assert_int_equal(apart.items[i].has_changed, here.items[i].has_changed);
    }
    onnxrt_optimizers_release(&here);
    onnxrt_optimizers_release(&apart);
}

static void sessions_say_and_compute_the_same(void **state)
{
    (void)state;
    require_onnxruntime();
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        struct backend_request request = {.model.path = model_path(models[i]),
                                          .bounds = onnxrt_apart_bounds(0, 0),
                                          .settings = &(struct onnxrt_settings){.optimization_level = -1}};
        struct tensor_list feed = {0}, here = {0}, apart = {0};
        struct backend_session *a, *b;
        const struct backend_io *ios, *others;
        struct error err = {0}, other_err = {0};
        size_t count, other_count;
        double seconds = -1;
        int rc;

        a = open_request(&request);
        if (onnxrt_apart_backend.open(&request, &b, &err) < 0)
            fail_msg("%s: %s", models[i], err.message);
        ios = a->outputs;
        count = a->output_count;
        others = b->outputs;
        other_count = b->output_count;
        assert_same_ios(ios, count, others, other_count);
        ios = a->inputs;
        count = a->input_count;
        others = b->inputs;
        other_count = b->input_count;
        assert_same_ios(ios, count, others, other_count);

        make_feed(ios, count, &feed);
        rc = onnxrt_backend.run(a, &feed, NULL, &here, NULL, &err);
        assert_int_equal(onnxrt_apart_backend.run(b, &feed, NULL, &apart, &seconds, &other_err), rc);
        assert_string_equal(other_err.message, err.message);
        assert_int_equal(here.count, apart.count);
        assert_true(rc < 0 || seconds >= 0);
        for (size_t k = 0; k < here.count; k++) {
            assert_string_equal(here.items[k].name, apart.items[k].name);
            assert_true(tensor_identical(&here.items[k].tensor, &apart.items[k].tensor));
        }
        tensor_list_release(&feed);
        tensor_list_release(&here);
        tensor_list_release(&apart);
        onnxrt_backend.close(a);
        onnxrt_apart_backend.close(b);
    }
}

static void refusal_is_the_runtime_s_own(void **state)
{
    static const char bytes[] = "this is no model";
    const struct backend_request request = {.model.data = bytes, .model.size = sizeof(bytes)};
    struct error here = {0}, apart = {0};
    struct backend_session *session;

    (void)state;
    require_onnxruntime();
    assert_int_equal(onnxrt_backend.open(&request, &session, &here), ERR_BACKEND);
    assert_int_equal(onnxrt_apart_backend.open(&request, &session, &apart), ERR_BACKEND);
    assert_string_equal(apart.message, here.message);
    assert_int_equal(apart.foreign_code, here.foreign_code);
    assert_false(bounded_process_is_end(&apart));
}

static void sessions_are_lost_when_the_process_is_ended_and_the_next_one_has_another(void **state)
{
    struct backend_request request = {.model.path = model_path("identity"),
                                      .settings = &(struct onnxrt_settings){.optimization_level = -1}};
    static const float values[] = {1, 2, 3, 4};
    const struct shape shape = {4, {1, 1, 2, 2}};
    struct backend_session *session, *late;
    struct tensor_list feed = {0}, outputs = {0};
    struct error err = {0};
    struct tensor tensor;

    (void)state;
    require_onnxruntime();
    assert_int_equal(onnxrt_apart_backend.open(&request, &session, &err), 0);
    request.bounds.seconds = 1e-9;
    assert_int_equal(onnxrt_apart_backend.open(&request, &late, &err), ERR_BACKEND);
    assert_true(bounded_process_is_out_of_time(&err));
    tensor_borrow(DATA_FLOAT32, &shape, values, sizeof(values), &tensor);
    tensor_list_add(&feed, TEXT("x"), &tensor);
    assert_int_equal(onnxrt_apart_backend.run(session, &feed, NULL, &outputs, NULL, &err), ERR_BACKEND);
    assert_message_contains(&err, "has ended");
    onnxrt_apart_backend.close(session);

    request.bounds.seconds = 0;
    assert_int_equal(onnxrt_apart_backend.open(&request, &session, &err), 0);
    assert_int_equal(onnxrt_apart_backend.run(session, &feed, NULL, &outputs, NULL, &err), 0);
    assert_floats(output_named(&outputs, "y"), values, 4);
    tensor_list_release(&outputs);
    tensor_list_release(&feed);
    onnxrt_apart_backend.close(session);
}

/* What the copy has is what was there when it was forked off: so it can be told from what is passed to it. */
static void shared_values_are_those_that_the_process_was_forked_off_with(void **state)
{
    static const float before[] = {1, 2, 3, 4}, after[] = {5, 6, 7, 8};
    static float values[4];
    const struct text places[] = {{(const char *)values, sizeof(values)}};
    struct backend_request request = {.model.path = model_path("identity"),
                                      .settings = &(struct onnxrt_settings){.optimization_level = -1}};
    const struct shape shape = {4, {1, 1, 2, 2}};
    struct tensor_list feed = {0}, outputs = {0};
    struct backend_session *session;
    struct tensor tensor;

    (void)state;
    require_onnxruntime();
    memcpy(values, after, sizeof(values));
    assert_int_equal(onnxrt_apart_backend.open(&request, &session, NULL), 0);
    onnxrt_apart_backend.close(session);
    memcpy(values, before, sizeof(values));
    onnxrt_apart_backend.share(places, 1);
    assert_int_equal(onnxrt_apart_backend.open(&request, &session, NULL), 0);
    memcpy(values, after, sizeof(values));
    tensor_borrow(DATA_FLOAT32, &shape, values, sizeof(values), &tensor);
    tensor_list_add(&feed, TEXT("x"), &tensor);
    assert_int_equal(onnxrt_apart_backend.run(session, &feed, NULL, &outputs, NULL, NULL), 0);
    assert_floats(output_named(&outputs, "y"), before, 4);
    tensor_list_release(&outputs);
    outputs = (struct tensor_list){0};
    onnxrt_apart_backend.share(NULL, 0);
    assert_int_equal(onnxrt_apart_backend.run(session, &feed, NULL, &outputs, NULL, NULL), 0);
    assert_floats(output_named(&outputs, "y"), after, 4);
    tensor_list_release(&outputs);
    tensor_list_release(&feed);
    onnxrt_apart_backend.close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_say_and_compute_the_same),
        cmocka_unit_test(it_tells_which_optimizers_are_applied),
        cmocka_unit_test(refusal_is_the_runtime_s_own),
        cmocka_unit_test(sessions_are_lost_when_the_process_is_ended_and_the_next_one_has_another),
        cmocka_unit_test(shared_values_are_those_that_the_process_was_forked_off_with),
    };

    return cmocka_run_group_tests(tests, find_models, NULL);
}
