/* test_subgraph_session.c: the bytes of a part of a model live as long as its session, and no longer. */
#include "backend/onnxrt/settings.h"
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "backend/subgraph_session.h"
#include "base/memory.h"
#include "onnx/model/model.h"
#include "support/made_model.h"

/* A backend that parses what it is given when it is closed, as one may that points into it. */
struct reading_session {
    struct backend_session base;
    const void *data;
    size_t size;
};

static int opened, closed;
static bool refuses;
static struct backend_request seen;

static int reading_open(const struct backend_request *request, struct backend_session **ret, struct error *err)
{
    struct reading_session *session;

    if (refuses)
        return error_set(err, ERR_BACKEND, "it refuses");
    session = memory_alloc_zero(1, sizeof(*session));
    *session = (struct reading_session){.data = request->model.data, .size = request->model.size};
    *ret = &session->base;
    seen = *request;
    opened++;
    return 0;
}

static void reading_close(struct backend_session *base)
{
    struct reading_session *session = (struct reading_session *)base;
    struct model *model;
    struct error err;

    if (model_parse((struct span){session->data, session->size}, "part", &model, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(model->nodes.count, 1);
    model_free(model);
    free(session);
    closed++;
}

static int reading_run(struct backend_session *session, const struct tensor_list *feed, const struct words *wanted,
                       struct tensor_list *ret, double *seconds, struct error *err)
{
    assert_null(wanted);
    return error_set(err, ERR_BACKEND, "it only reads");
}

static const struct backend reading = {
    .name = "reading", .open = reading_open, .close = reading_close, .run = reading_run};

struct fixture {
    struct made_model made;
    struct model *model;
    struct subgraph whole;
};

static int set_up(void **state)
{
    struct fixture *fixture = memory_alloc_zero(1, sizeof(*fixture));

    made_init(&fixture->made, 13);
    made_input(&fixture->made, "x", MADE_SHAPE(2));
    made_node(&fixture->made, "relu", "Relu", "x", "y", NULL, 0);
    made_output(&fixture->made, "y");
    fixture->model = made_open(&fixture->made);
    subgraph_init_whole(&fixture->whole, fixture->model);
    opened = closed = 0;
    refuses = false;
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    subgraph_release(&fixture->whole);
    model_free(fixture->model);
    made_release(&fixture->made);
    free(fixture);
    return 0;
}

static void bytes_outlive_the_session_that_points_into_them(void **state)
{
    struct fixture *fixture = *state;
    struct backend_request request = {.settings = &(struct onnxrt_settings){.optimization_level = 1}};
    struct subgraph_session session;
    struct error err;

    assert_int_equal(subgraph_session_open(&session, &fixture->whole, &reading, &request, &err), 0);
    assert_int_equal(opened, 1);
    subgraph_session_close(&session);
    assert_int_equal(closed, 1);
    subgraph_session_close(&session); /* a closed one is fine */
    assert_int_equal(closed, 1);
}

static void request_says_how_but_not_what_to_load(void **state)
{
    struct fixture *fixture = *state;
    struct log log = {.threshold = LOG_INFO};
    struct backend_request request = {
        .model.path = "other.onnx", .log = &log, .settings = &(struct onnxrt_settings){.optimization_level = 2}};
    struct subgraph_session session;
    struct error err;

    assert_int_equal(subgraph_session_open(&session, &fixture->whole, &reading, &request, &err), 0);
    assert_null(seen.model.path);
    assert_null(seen.log);
    assert_int_equal(onnxrt_settings_of(&seen)->optimization_level, 2);
    assert_string_equal(request.model.path, "other.onnx");
    subgraph_session_close(&session);
}

static void refusal_leaves_nothing_open(void **state)
{
    struct fixture *fixture = *state;
    struct backend_request request = {.settings = &(struct onnxrt_settings){.optimization_level = 1}};
    struct subgraph_session session;
    struct error err;

    refuses = true;
    assert_int_equal(subgraph_session_open(&session, &fixture->whole, &reading, &request, &err), ERR_BACKEND);
    assert_string_equal(err.message, "it refuses");
    assert_null(session.session);
    assert_null(session.bytes);
    subgraph_session_close(&session);
    assert_int_equal(closed, 0);
}

static void error_of_a_run_is_handed_on(void **state)
{
    struct fixture *fixture = *state;
    struct backend_request request = {.settings = &(struct onnxrt_settings){.optimization_level = 1}};
    struct tensor_list nothing = {0}, outputs = {0};
    struct subgraph_session session;
    struct error err;

    assert_int_equal(subgraph_session_open(&session, &fixture->whole, &reading, &request, &err), 0);
    assert_int_equal(subgraph_session_run(&session, &nothing, &outputs, &err), ERR_BACKEND);
    assert_string_equal(err.message, "it only reads");
    subgraph_session_close(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_outlive_the_session_that_points_into_them, set_up, tear_down),
        cmocka_unit_test_setup_teardown(request_says_how_but_not_what_to_load, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusal_leaves_nothing_open, set_up, tear_down),
        cmocka_unit_test_setup_teardown(error_of_a_run_is_handed_on, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
