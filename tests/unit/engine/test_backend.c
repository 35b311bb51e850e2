/* The built-in engine as a backend: built from models, loaded from plan files, and giving what ONNX Runtime gives. */
#include "support/unit_test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/library.h"
#include "base/memory.h"
#include "engine/backend.h"
#include "engine/plan/plan.h"
#include "support/captured_log.h"
#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/scratch_folder.h"

/* --- data --- */

/* Dynamic dimensions are 2. Integers are 0 or 1, so that they are indices of anything. */
static int make_feed(void *context, const struct backend_io *inputs, size_t count, int64_t iteration,
                     struct tensor_list *ret, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct shape shape = inputs[i].shape;
        struct tensor tensor;
        int rc;

        for (size_t k = 0; k < shape.rank; k++)
            shape.dims[k] = shape.dims[k] < 0 ? 2 : shape.dims[k];
        rc = tensor_allocate(inputs[i].type, &shape, &tensor, err);
        if (rc < 0)
            return rc;
        if (tensor.type != DATA_STRING)
            memset(tensor_writable(&tensor), 0, tensor.size);
        for (size_t k = 0; tensor.type == DATA_FLOAT32 && k < tensor_elements(&tensor); k++)
            ((float *)tensor_writable(&tensor))[k] = (float)(k * 7919 % 1000) / 500 - 1;
        for (size_t k = 0; tensor.type == DATA_INT64 && k < tensor_elements(&tensor); k++)
            ((int64_t *)tensor_writable(&tensor))[k] = (int64_t)k % 2;
        tensor_list_add(ret, text_of(inputs[i].name), &tensor);
    }
    return 0;
}

/* Dynamic dimensions are 8: large enough for a convolution. */
static int make_larger_feed(void *context, const struct backend_io *inputs, size_t count, int64_t iteration,
                            struct tensor_list *ret, struct error *err)
{
    struct backend_io input = inputs[0];

    for (size_t i = 0; i < input.shape.rank; i++)
        input.shape.dims[i] = input.shape.dims[i] < 0 ? 8 : input.shape.dims[i];
    assert_int_equal(count, 1);
    return make_feed(context, &input, 1, iteration, ret, err);
}

static bool all_tensors(const struct backend_io *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (items[i].not_a_tensor != NULL || items[i].type == DATA_UNDEFINED)
            return false;
    return true;
}

/* Relative to the largest element: different kernels round in a different order. */
static bool close_enough(const struct tensor *a, const struct tensor *b)
{
    const float *left = a->data, *right = b->data;
    double largest = 1;

    if (a->type != b->type || !shape_equal(&a->shape, &b->shape))
        return false;
    if (a->type != DATA_FLOAT32)
        return tensor_identical(a, b);
    for (size_t i = 0; i < tensor_elements(a); i++)
        largest = isfinite(right[i]) ? fmax(largest, fabs((double)right[i])) : largest;
    for (size_t i = 0; i < tensor_elements(a); i++)
        if (!(fabs((double)left[i] - (double)right[i]) <= 1e-5 * largest) && left[i] != right[i] &&
            !(isnan(left[i]) && isnan(right[i])))
            return false;
    return true;
}

/* --- sessions --- */

struct request {
    struct engine_settings engine;
    struct backend_request backend;
};

static int save_plan(void *data, const struct engine *engine, struct error *err)
{
    return plan_save(engine, data, err);
}

static void request_init(struct request *request, const char *path, struct log *log)
{
    *request = (struct request){
        .engine = {.network = {.folding = {.backend = &onnxrt_backend, .passes = -1, .size_limit = UINT64_MAX}},
                   .providers = {.log = log},
                   .builder = {.sample = {.feed = make_feed, .iterations = 1}, .deterministic = true, .log = log}},
        .backend = {.model.path = path, .log = log},
    };
    request->backend.settings = &request->engine;
}

static struct backend_session *open_session(const struct backend *backend, const struct backend_request *request)
{
    struct backend_session *session = NULL;
    struct error err = {0};

    if (backend->open(request, &session, &err) < 0)
        fail_msg("%s", err.message);
    return session;
}

static void run(const struct backend *backend, struct backend_session *session, const struct tensor_list *feed,
                struct tensor_list *ret)
{
    struct error err = {0};
    double seconds = -1;

    tensor_list_release(ret);
    if (backend->run(session, feed, NULL, ret, &seconds, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(seconds >= 0);
}

static void assert_same_outputs(const char *what, const struct tensor_list *a, const struct tensor_list *b,
                                bool (*same)(const struct tensor *, const struct tensor *))
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_string_equal(a->items[i].name, b->items[i].name);
        if (!same(&a->items[i].tensor, &b->items[i].tensor))
            fail_msg("%s: output '%s' differs", what, a->items[i].name);
    }
}

/* Three runs: the first makes the kernels, the second uses planned memory, the third shows that it was left in order.
 * Returns false, with a line that says why, when the engine cannot be built. */
static bool compare_engine(const char *path, const struct tensor_list *feed, const struct tensor_list *expected)
{
    struct backend_request loaded = {.model.path = "a.engine"};
    struct tensor_list built_outputs = {0}, outputs = {0};
    struct backend_session *session;
    struct request request;
    struct error err = {0};

    request_init(&request, path, NULL);
    request.engine.built = save_plan;
    request.engine.data = (void *)(uintptr_t) "a.engine";
    if (engine_backend.open(&request.backend, &session, &err) < 0) {
        print_error("%s: %s\n", path, err.message);
        return false;
    }
    for (int i = 0; i < 3; i++) {
        run(&engine_backend, session, feed, &built_outputs);
        assert_same_outputs(path, &built_outputs, expected, close_enough);
    }
    engine_backend.close(session);
    session = open_session(&engine_backend, &loaded);
    for (int i = 0; i < 2; i++) {
        run(&engine_backend, session, feed, &outputs);
        assert_same_outputs(path, &outputs, &built_outputs, tensor_identical);
    }
    engine_backend.close(session);
    tensor_list_release(&built_outputs);
    tensor_list_release(&outputs);
    engine_settings_release(&request.engine);
    return true;
}

/* What gives something else each time, because of random numbers, cannot be compared. */
static bool is_random(struct backend_session *session, const struct tensor_list *feed, const struct tensor_list *first)
{
    struct tensor_list second = {0};
    bool differs = false;

    run(&onnxrt_backend, session, feed, &second);
    for (size_t i = 0; i < first->count; i++)
        differs |= !close_enough(&first->items[i].tensor, &second.items[i].tensor);
    tensor_list_release(&second);
    return differs;
}

/* Counts in `ret_failed` what ONNX Runtime runs and the engine does not. Returns whether both do. */
static bool compare_model(const char *path, size_t *ret_failed)
{
    struct backend_request request = {.model.path = path}; /* the ground: some change values */
    struct tensor_list feed = {0}, expected = {0};
    struct backend_session *reference;
    const struct backend_io *inputs, *outputs;
    size_t input_count, output_count;
    struct error err;
    bool runs, same = false;

    if (onnxrt_backend.open(&request, &reference, &err) < 0)
        return false;
    inputs = reference->inputs;
    input_count = reference->input_count;
    outputs = reference->outputs;
    output_count = reference->output_count;
    runs = all_tensors(inputs, input_count) && all_tensors(outputs, output_count) &&
           make_feed(NULL, inputs, input_count, 0, &feed, &err) == 0 &&
           onnxrt_backend.run(reference, &feed, NULL, &expected, NULL, &err) == 0 &&
           !is_random(reference, &feed, &expected);
    onnxrt_backend.close(reference);
    if (runs)
        same = compare_engine(path, &feed, &expected);
    *ret_failed += runs && !same;
    tensor_list_release(&feed);
    tensor_list_release(&expected);
    return same;
}

/* A Constant node with a sparse value makes no tensor that a layer of its own could give: only a whole session takes
 * it. And of a model in memory, as a layer is, ONNX Runtime looks for the data of functions in the current folder. */
static bool is_exception(const char *name)
{
    return strcmp(name, "constants_of_every_form.onnx") == 0 || strcmp(name, "external_data_in_a_function.onnx") == 0;
}

static size_t compare_folder(const char *folder, size_t *ret_failed)
{
    DIR *opened = opendir(folder);
    size_t compared = 0;

    for (const struct dirent *entry; opened != NULL && (entry = readdir(opened)) != NULL;) {
        size_t size = strlen(entry->d_name);
        char *path;

        if (size < 5 || strcmp(entry->d_name + size - 5, ".onnx") != 0 || is_exception(entry->d_name))
            continue;
        path = file_join(folder, entry->d_name);
        compared += compare_model(path, ret_failed);
        free(path);
    }
    if (opened != NULL)
        closedir(opened);
    return compared;
}

/* --- tests --- */

static void small_models_give_what_onnx_runtime_gives(void **state)
{
    size_t failed = 0;

    require_onnxruntime();
    assert_true(compare_folder(fixture_path(""), &failed) > 30);
    assert_int_equal(failed, 0);
}

static void real_models_give_what_onnx_runtime_gives(void **state)
{
    static const char *const models[] = {"polygraphy", "onnx_light/light_squeezenet.onnx"};
    const char *folder = getenv("POLYGRAPHY_TEST_MODELS");
    size_t failed = 0;
    char *path;

    require_onnxruntime();
    path = file_join(folder != NULL ? folder : "", models[0]);
    if (folder == NULL || compare_folder(path, &failed) == 0) {
        free(path);
        skip();
    }
    free(path);
    path = file_join(folder, models[1]);
    assert_true(compare_model(path, &failed));
    assert_int_equal(failed, 0);
    free(path);
}

static void what_is_no_model_is_told(void **state)
{
    struct backend_request loaded = {.model.path = "trt.engine"};
    struct backend_session *session;
    struct request request;
    struct error err = {0};

    scratch_file("trt.engine", "ftrt and so on");
    request_init(&request, "trt.engine", NULL);
    assert_int_equal(engine_backend.open(&request.backend, &session, &err), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "'trt.engine': it is an engine of TensorRT"));
    assert_int_equal(engine_backend.open(&loaded, &session, &err), ERR_UNSUPPORTED);
    request_init(&request, "gone.onnx", NULL);
    assert_int_equal(engine_backend.open(&request.backend, &session, &err), ERR_MISSING);
    assert_string_equal(err.message, "model 'gone.onnx' does not exist");
    scratch_file("text.onnx", "hello");
    loaded.model.path = "text.onnx";
    assert_int_equal(engine_backend.open(&loaded, &session, &err), ERR_CORRUPT);
    assert_string_equal(err.message, "'text.onnx': it is no plan file: it does not begin with 'PLGRPLAN'");
    engine_settings_release(&request.engine);
}

static int refuse(void *data, const struct engine *engine, struct error *err)
{
    return error_set(err, ERR_IO, "the caller does not want it");
}

static void what_the_caller_does_with_a_new_engine_may_fail(void **state)
{
    struct backend_session *session;
    struct request request;
    struct error err = {0};

    require_onnxruntime();
    request_init(&request, fixture_path("identity.onnx"), NULL);
    request.engine.built = refuse;
    assert_int_equal(engine_backend.open(&request.backend, &session, &err), ERR_IO);
    assert_string_equal(err.message, "the caller does not want it");
    engine_settings_release(&request.engine);
}

static void the_profile_is_logged_when_the_session_is_closed(void **state)
{
    struct tensor_list feed = {0}, outputs = {0};
    const struct backend_io *inputs;
    struct backend_session *session;
    struct captured_log log;
    struct request request;
    struct error err = {0};
    size_t count;

    require_onnxruntime();
    captured_log_init(&log);
    request_init(&request, fixture_path("matmul_chain_64.onnx"), &log.log);
    request.engine.profile = true;
    session = open_session(&engine_backend, &request.backend);
    inputs = session->inputs;
    count = session->input_count;
    assert_int_equal(make_feed(NULL, inputs, count, 0, &feed, &err), 0);
    for (int i = 0; i < 3; i++)
        run(&engine_backend, session, &feed, &outputs);
    assert_false(captured_log_has(&log, "Profile of"));
    engine_backend.close(session);
    assert_true(captured_log_has(&log, "layers over 3 runs: "));
    assert_true(captured_log_has(&log, "       ms      %  precision  layer: tactic\n"));
    assert_true(captured_log_has(&log, "  float32    "));
    tensor_list_release(&feed);
    tensor_list_release(&outputs);
    captured_log_release(&log);
    engine_settings_release(&request.engine);
}

static void dynamic_inputs_take_other_shapes_than_the_sample(void **state)
{
    const struct backend_io *inputs;
    struct backend_session *session;
    struct request request;
    size_t count;

    require_onnxruntime();
    request_init(&request, fixture_path("dynamic_identity.onnx"), NULL);
    session = open_session(&engine_backend, &request.backend);
    inputs = session->inputs;
    count = session->input_count;
    assert_int_equal(count, 1);
    for (int64_t size = 0; size < 7; size++) {
        struct tensor_list feed = {0}, outputs = {0};
        struct shape shape = inputs[0].shape;
        struct tensor tensor;
        struct error err;

        for (size_t i = 0; i < shape.rank; i++)
            shape.dims[i] = shape.dims[i] < 0 ? size : shape.dims[i];
        assert_int_equal(tensor_allocate(inputs[0].type, &shape, &tensor, &err), 0);
        memset(tensor_writable(&tensor), 1, tensor.size);
        tensor_list_add(&feed, text_of(inputs[0].name), &tensor);
        run(&engine_backend, session, &feed, &outputs);
        assert_true(tensor_identical(&outputs.items[0].tensor, &feed.items[0].tensor));
        tensor_list_release(&feed);
        tensor_list_release(&outputs);
    }
    engine_backend.close(session);
    engine_settings_release(&request.engine);
}

/* Kernels of a convolutional network, made anew for each shape; the model comes from memory. */
static void kernels_are_made_anew_for_other_shapes(void **state)
{
    struct backend_session *session, *reference;
    struct request request;
    struct made_model made;
    char name[] = "x";
    struct span bytes;

    require_onnxruntime();
    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(-1, 3, -1, -1));
    made_constant(&made, "w", MADE_SHAPE(20, 3, 3, 3), -1, 1);
    made_constant(&made, "v", MADE_SHAPE(20, 20, 1, 1), -1, 1);
    made_node(&made, "conv", "Conv", "x w", "a", NULL, 0);
    made_node(&made, "relu", "Relu", "a", "b", NULL, 0);
    made_node(&made, "again", "Conv", "b v", "c", NULL, 0);
    made_node(&made, "add", "Add", "c b", "d", NULL, 0);
    made_node(&made, "pool", "GlobalAveragePool", "d", "y", NULL, 0);
    made_output(&made, "y");
    bytes = made_bytes(&made);
    request_init(&request, NULL, NULL);
    request.backend.model.data = bytes.data;
    request.backend.model.size = bytes.size;
    request.engine.builder.sample.feed = make_larger_feed;
    session = open_session(&engine_backend, &request.backend);
    request.backend.settings = NULL;
    reference = open_session(&onnxrt_backend, &request.backend);
    for (int64_t i = 0; i < 12; i++) {
        struct tensor_list feed = {0}, outputs = {0}, expected = {0};
        const struct backend_io io = {
            .name = name, .type = DATA_FLOAT32, .shape = MADE_SHAPE(1 + i % 3, 3, 3 + i % 7, 4 + i)};
        struct error err;

        assert_int_equal(make_feed(NULL, &io, 1, 0, &feed, &err), 0);
        run(&onnxrt_backend, reference, &feed, &expected);
        for (int k = 0; k < 2; k++) {
            run(&engine_backend, session, &feed, &outputs);
            assert_same_outputs("convolutions", &outputs, &expected, close_enough);
        }
        tensor_list_release(&feed);
        tensor_list_release(&outputs);
        tensor_list_release(&expected);
    }
    engine_backend.close(session);
    onnxrt_backend.close(reference);
    made_release(&made);
    engine_settings_release(&request.engine);
}

static void a_hundred_engines_leave_no_file_open(void **state)
{
    struct tensor_list feed = {0}, outputs = {0};
    const struct backend_io *inputs;
    int open_files = 0;
    size_t count;

    require_onnxruntime();
    for (int i = 0; i < 100; i++) {
        struct backend_session *session;
        struct request request;
        struct error err;

        request_init(&request, i % 2 ? "a.engine" : fixture_path("matmul_chain_64.onnx"), NULL);
        request.engine.built = save_plan;
        request.engine.data = (void *)(uintptr_t) "a.engine";
        session = open_session(&engine_backend, &request.backend);
        inputs = session->inputs;
        count = session->input_count;
        if (i == 0)
            assert_int_equal(make_feed(NULL, inputs, count, 0, &feed, &err), 0);
        run(&engine_backend, session, &feed, &outputs);
        engine_backend.close(session);
        if (i == 2)
            open_files = scratch_count("/dev/fd");
        engine_settings_release(&request.engine);
    }
    assert_int_equal(scratch_count("/dev/fd"), open_files);
    tensor_list_release(&feed);
    tensor_list_release(&outputs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_models_give_what_onnx_runtime_gives),
        cmocka_unit_test(real_models_give_what_onnx_runtime_gives),
        cmocka_unit_test(what_is_no_model_is_told),
        cmocka_unit_test(what_the_caller_does_with_a_new_engine_may_fail),
        cmocka_unit_test(the_profile_is_logged_when_the_session_is_closed),
        cmocka_unit_test(dynamic_inputs_take_other_shapes_than_the_sample),
        cmocka_unit_test(kernels_are_made_anew_for_other_shapes),
        cmocka_unit_test(a_hundred_engines_leave_no_file_open),
    };

    return cmocka_run_group_tests(tests, scratch_folder_enter, scratch_folder_leave);
}
