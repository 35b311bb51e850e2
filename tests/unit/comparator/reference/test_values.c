/* What the tensors of a model hold: recorded in as few runs as possible, the same however they are recorded. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backend/model_io.h"
#include "backend/onnxrt/library.h"
#include "backend/subgraph_session.h"
#include "backend/type_inference.h"
#include "base/memory.h"
#include "comparator/reference/values.h"
#include "support/captured_log.h"
#include "support/in_child.h"
#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

#define SAMPLES 3
#define LAYERS 6

/* ---- ONNX Runtime, watched ---- */

static struct {
    int opened, open, runs;
    size_t most_outputs; /* of a run that succeeds; 0: any */
} watched;

static int watched_open(const struct backend_request *request, struct backend_session **ret, struct error *err)
{
    int rc = onnxrt_backend.open(request, ret, err);

    if (rc == 0) {
        watched.opened++;
        watched.open++;
    }
    return rc;
}

static void watched_close(struct backend_session *session)
{
    watched.open -= session != NULL;
    onnxrt_backend.close(session);
}

static int watched_run(struct backend_session *session, const struct tensor_list *feed, const struct words *wanted,
                       struct tensor_list *ret, double *seconds, struct error *err)
{
    watched.runs++;
    if (watched.most_outputs > 0 && wanted->count > watched.most_outputs)
        return error_set(err, ERR_BACKEND, "that is too much");
    return onnxrt_backend.run(session, feed, wanted, ret, seconds, err);
}

static const struct backend watched_backend = {
    .name = "onnxrt",
    .runner_prefix = "onnxrt-runner",
    .open = watched_open,
    .close = watched_close,
    .run = watched_run,
};

/* ---- A model: x -> conv0 -> conv1 ..., with a small shape on the side ---- */

struct bench {
    struct made_model made;
    struct model *model;
    struct subgraph whole;
    struct backend_request request;
    struct data_loader_settings data;
    struct data_loader *loader;
    struct captured_log log;
    struct value_list all;
    struct reference_values *reference;
};

static void make_layers(struct bench *bench)
{
    char input[16] = "x", output[16], weights[16], both[48];

    made_input(&bench->made, "x", MADE_SHAPE(1, 4, 32, 32)); /* 16 KiB, like each result */
    for (int i = 0; i < LAYERS; i++) {
        snprintf(weights, sizeof(weights), "w%d", i);
        snprintf(output, sizeof(output), "y%d", i);
        snprintf(both, sizeof(both), "%s %s", input, weights);
        made_constant(&bench->made, weights, MADE_SHAPE(4, 4, 1, 1), -1, 1);
        made_node(&bench->made, output, "Conv", both, output, NULL, 0);
        memcpy(input, output, sizeof(input));
    }
    made_node(&bench->made, "shape", "Shape", "y2", "shape", NULL, 0);
}

static void bench_start(struct bench *bench)
{
    struct error err = {0};

    bench->model = made_open(&bench->made);
    subgraph_init_whole(&bench->whole, bench->model);
    types_list_all(&bench->whole, &bench->all);
    if (data_loader_new(&bench->data, &bench->log.log, &bench->loader, &err) < 0)
        fail_msg("%s", err.message);
    reference_values_new(&bench->whole, &watched_backend, &bench->request, bench->loader, &bench->log.log,
                         &bench->reference);
}

static void bench_init(struct bench *bench)
{
    memset(&watched, 0, sizeof(watched));
    *bench = (struct bench){.data = {.seed = 1, .iterations = SAMPLES}};
    captured_log_init(&bench->log);
    made_init(&bench->made, 13);
}

static void bench_open(struct bench *bench)
{
    bench_init(bench);
    make_layers(bench);
    made_output(&bench->made, "y5");
    bench_start(bench);
}

/* Starts anew with other bounds. */
static void bench_bound(struct bench *bench, uint64_t memory, uint64_t disk)
{
    reference_values_free(bench->reference);
    memset(&watched, 0, sizeof(watched));
    reference_values_new(&bench->whole, &watched_backend, &bench->request, bench->loader, &bench->log.log,
                         &bench->reference);
    reference_values_set_bounds(bench->reference, memory, disk);
}

static void bench_close(struct bench *bench)
{
    reference_values_free(bench->reference);
    assert_int_equal(watched.open, 0);
    data_loader_free(bench->loader);
    free(bench->all.items);
    subgraph_release(&bench->whole);
    model_free(bench->model);
    made_release(&bench->made);
    captured_log_release(&bench->log);
}

static uint32_t value_of(const struct bench *bench, const char *name)
{
    uint32_t value = model_find_value(bench->model, text_of(name));

    assert_true(value != VALUE_NONE);
    return value;
}

static int ask(struct bench *bench, const char *name, struct error *err)
{
    uint32_t value = value_of(bench, name);
    struct value_list one = {.items = &value, .count = 1};

    return reference_values_record(bench->reference, &one, err);
}

static void must_get(struct bench *bench, const char *name)
{
    struct error err = {0};

    if (ask(bench, name, &err) < 0)
        fail_msg("%s: %s", name, err.message);
}

/* The same as a plain run of the model on the same data gives. */
static void must_be_right(struct bench *bench, const struct value_list *values)
{
    struct subgraph_session session;
    struct subgraph marked;
    struct error err = {0};

    subgraph_init_copy(&marked, &bench->whole);
    value_list_assign(&marked.outputs, values);
    assert_int_equal(subgraph_session_open(&session, &marked, &onnxrt_backend, &bench->request, &err), 0);
    assert_int_equal(reference_values_samples(bench->reference), bench->data.iterations);
    for (size_t i = 0; i < (size_t)bench->data.iterations; i++) {
        struct backend_io *inputs = model_io_new(bench->whole.model, NULL, &bench->whole.inputs);
        struct tensor_list feed = {0}, outputs = {0};

        assert_int_equal(data_loader_feed(bench->loader, inputs, bench->whole.inputs.count, (int64_t)i, &feed, &err),
                         0);
        assert_true(tensor_identical(&feed.items[0].tensor,
                                     reference_values_in(bench->reference, bench->whole.inputs.items[0], i)));
        assert_int_equal(subgraph_session_run(&session, &feed, &outputs, &err), 0);
        for (size_t k = 0; k < values->count; k++)
            assert_true(
                tensor_identical(&outputs.items[k].tensor, reference_values_in(bench->reference, values->items[k], i)));
        tensor_list_release(&feed);
        tensor_list_release(&outputs);
        model_io_free(inputs, bench->whole.inputs.count);
    }
    subgraph_session_close(&session);
    subgraph_release(&marked);
}

/* ---- Tests ---- */

static void all_values_come_from_one_run(void **state)
{
    struct bench bench;

    require_onnxruntime();
    bench_open(&bench);
    must_get(&bench, "y3");
    assert_int_equal(watched.runs, SAMPLES);
    assert_int_equal(watched.open, 0); /* it is not needed any more */
    for (size_t i = 0; i < bench.all.count; i++) {
        struct value_list one = {.items = &bench.all.items[i], .count = 1};

        assert_int_equal(reference_values_record(bench.reference, &one, NULL), 0);
    }
    assert_int_equal(watched.runs, SAMPLES);
    assert_true(watched.opened <= 2); /* one may have told the sizes */
    must_be_right(&bench, &bench.all);
    assert_false(reference_values_agree(bench.reference, value_of(&bench, "y3")));
    assert_true(reference_values_agree(bench.reference, value_of(&bench, "shape")));
    bench_close(&bench);
}

static void large_values_lie_on_disk_and_small_ones_in_memory(void **state)
{
    struct bench bench;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const struct tensor *large, *small, *input;

    require_onnxruntime();
    bench_open(&bench);
    must_get(&bench, "y3");
    large = reference_values_get(bench.reference, value_of(&bench, "y5"));
    small = reference_values_get(bench.reference, value_of(&bench, "shape"));
    input = reference_values_get(bench.reference, value_of(&bench, "x"));
    assert_int_equal((uintptr_t)large->data % page, 0);
    assert_int_equal((uintptr_t)input->data % page, 0);
    assert_null(large->free_owner); /* mapped: nothing to free */
    assert_null(input->free_owner);
    assert_non_null(small->free_owner);
    assert_int_equal(scratch_count("."), 0);
    bench_close(&bench);
}

static void what_nobody_asked_for_stays_within_its_bound(void **state)
{
    struct bench bench;

    require_onnxruntime();
    bench_open(&bench);
    bench_bound(&bench, UINT64_MAX, 0);
    must_get(&bench, "y3");
    must_get(&bench, "shape"); /* of no weight, but asked for when the bound was met */
    must_get(&bench, "y3");
    assert_int_equal(watched.opened, 1);
    assert_true(watched.runs <= 2 * SAMPLES);
    must_get(&bench, "y4");
    must_get(&bench, "y5");
    assert_true(watched.runs >= 3 * SAMPLES && watched.runs <= 4 * SAMPLES);
    assert_int_equal(watched.opened, 1);
    for (int i = 0; i < 3; i++)
        must_get(&bench, (const char *const[]){"y0", "y1", "y2"}[i]);
    must_be_right(&bench, &bench.all);
    bench_close(&bench);
}

static void groups_give_the_same_values(void **state)
{
    const uint64_t bounds[] = {1, 20000, 40000, 80000};
    struct bench bench;

    require_onnxruntime();
    bench_open(&bench);
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
        bench_bound(&bench, bounds[i], UINT64_MAX);
        must_get(&bench, "y1");
        assert_true(watched.runs > SAMPLES && watched.runs % SAMPLES == 0);
        assert_int_equal(watched.open, 0);
        watched.runs = 0;
        for (size_t k = 0; k < bench.all.count; k++) {
            struct value_list one = {.items = &bench.all.items[k], .count = 1};

            assert_int_equal(reference_values_record(bench.reference, &one, NULL), 0);
        }
        assert_int_equal(watched.runs, 0);
        must_be_right(&bench, &bench.all);
    }
    bench_close(&bench);
}

static void groups_behind_what_is_asked_for_are_not_run(void **state)
{
    struct bench bench;

    require_onnxruntime();
    bench_open(&bench);
    bench_bound(&bench, 1, 0);
    must_get(&bench, "y1");
    assert_int_equal(watched.runs, 2 * SAMPLES); /* a group for each of two nodes */
    must_get(&bench, "y3");
    assert_int_equal(watched.runs, (2 + 4) * SAMPLES);
    must_be_right(&bench, &(struct value_list){.items = (uint32_t[]){value_of(&bench, "y1"), value_of(&bench, "y3")},
                                               .count = 2});
    bench_close(&bench);
}

static void what_nobody_asked_for_is_no_reason_to_fail(void **state)
{
    struct bench bench;

    require_onnxruntime();
    bench_open(&bench);
    watched.most_outputs = 1;
    must_get(&bench, "y3");
    must_get(&bench, "y4");
    assert_int_equal(watched.runs, 1 + 2 * SAMPLES);
    watched.most_outputs = 0;
    must_be_right(&bench, &(struct value_list){.items = (uint32_t[]){value_of(&bench, "y3"), value_of(&bench, "y4")},
                                               .count = 2});
    bench_close(&bench);
}

static void sequences_are_left_out(void **state)
{
    struct bench bench;
    struct error err = {0};

    require_onnxruntime();
    bench_init(&bench);
    make_layers(&bench);
    made_node(&bench.made, "sequence", "SequenceConstruct", "y3 y4", "sequence", NULL, 0);
    made_integers(&bench.made, "one", (const int64_t[]){1}, 1);
    made_node(&bench.made, "length", "SequenceLength", "sequence", "length", NULL, 0);
    made_output(&bench.made, "y5");
    bench_start(&bench);
    for (int i = 0; i < 2; i++) {
        must_get(&bench, "length");
        must_get(&bench, "y1");
        assert_true(ask(&bench, "sequence", &err) < 0);
        assert_non_null(strstr(err.message, "sequence"));
        assert_int_equal(*(const int64_t *)reference_values_get(bench.reference, value_of(&bench, "length"))->data, 2);
        bench_bound(&bench, 1, UINT64_MAX); /* in groups, too */
    }
    bench_close(&bench);
}

static void the_run_is_announced_when_somebody_listens(void **state)
{
    struct bench bench;

    require_onnxruntime();
    bench_open(&bench);
    reference_values_announce(bench.reference); /* there is nothing to say yet */
    bench.log.log.muted = true;
    must_get(&bench, "y3");
    reference_values_announce(bench.reference);
    assert_int_equal(bench.log.text.size, 0);
    bench.log.log.muted = false;
    reference_values_announce(bench.reference);
    assert_true(captured_log_has(&bench.log, "Running inference with ONNX-Runtime"));
    assert_true(captured_log_has(&bench.log, "{x [dtype=float32, shape=(1, 4, 32, 32)]}"));
    string_clear(&bench.log.text);
    must_get(&bench, "y4");
    reference_values_announce(bench.reference);
    assert_int_equal(bench.log.text.size, 0); /* once is enough */

    bench_bound(&bench, UINT64_MAX, UINT64_MAX);
    bench.log.log.muted = true;
    must_get(&bench, "y3");
    bench.log.log.muted = false;
    must_get(&bench, "y3"); /* known, but somebody listens now */
    assert_true(captured_log_has(&bench.log, "Running inference with ONNX-Runtime"));
    bench_close(&bench);
}

/* The range is for an input that there is not: the loader says so, once. */
static void what_the_loader_says_to_a_muted_log_is_said_later(void **state)
{
    static const struct data_loader_range ranges[] = {{"no such input", 0, 1}};
    struct string_builder expected;
    struct bench bench;

    require_onnxruntime();
    string_init(&expected);
    for (int muted = 0; muted < 2; muted++) {
        bench_init(&bench);
        bench.data.ranges.items = ranges;
        bench.data.ranges.count = 1;
        make_layers(&bench);
        made_output(&bench.made, "y5");
        bench_start(&bench);
        bench.log.log.muted = muted == 1;
        must_get(&bench, "y3");
        assert_int_equal(bench.log.text.size == 0, muted);
        bench.log.log.muted = false;
        reference_values_announce(bench.reference);
        assert_true(captured_log_has(&bench.log, "no such input"));
        if (muted)
            assert_string_equal(bench.log.text.data, expected.data);
        string_add_text(&expected, (struct text){bench.log.text.data, bench.log.text.size});
        bench_close(&bench);
    }
    string_release(&expected);
}

/* A limit on the size of files stands in for a full disk. */
static int record_on_a_full_disk(void)
{
    struct rlimit limit = {.rlim_cur = 80000, .rlim_max = 80000};
    struct error err = {0};
    struct bench bench;

    bench_open(&bench);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    /* Three inputs and one value of one sample fit. */
    CHECK_OR_FAIL(ask(&bench, "y3", &err) == ERR_IO);
    CHECK_OR_FAIL(strstr(err.message, "to a temporary file in '.'") != NULL);
    CHECK_OR_FAIL(strstr(err.message, "TMPDIR") != NULL);
    CHECK_OR_FAIL(ask(&bench, "y4", &err) == ERR_IO);
    CHECK_OR_FAIL(ask(&bench, "shape", &err) == 0); /* small */
    bench_close(&bench);
    return 0;
}

static void a_full_disk_is_an_error(void **state)
{
    require_onnxruntime();
    assert_int_equal(in_child(record_on_a_full_disk), 0);
}

static void without_a_folder_for_them_there_are_no_values(void **state)
{
    struct error err = {0};
    struct bench bench;

    require_onnxruntime();
    bench_open(&bench);
    setenv("TMPDIR", "./missing", 1);
    assert_int_equal(ask(&bench, "y3", &err), ERR_IO);
    assert_non_null(strstr(err.message, "cannot create a temporary file in './missing'"));
    setenv("TMPDIR", ".", 1);
    must_get(&bench, "y3");
    must_be_right(&bench, &bench.all);
    bench_close(&bench);
}

/* `broken` cannot be computed: one element becomes seven. */
static void what_lies_before_a_failure_has_values_and_constants_need_no_data(void **state)
{
    static const int64_t seven = 7;
    struct error err = {0};
    struct bench bench;

    require_onnxruntime();
    bench_init(&bench);
    made_input(&bench.made, "x", MADE_SHAPE(-1));
    made_integers(&bench.made, "seven", &seven, 1);
    made_node(&bench.made, "abs", "Abs", "x", "before", NULL, 0);
    made_node(&bench.made, "reshape", "Reshape", "before seven", "broken", NULL, 0);
    made_node(&bench.made, "neg", "Neg", "seven", "certain", NULL, 0);
    made_output(&bench.made, "broken");
    made_typed_output(&bench.made, "certain", DATA_INT64);
    bench_start(&bench);
    must_get(&bench, "before");
    must_get(&bench, "certain");
    assert_int_equal(ask(&bench, "broken", &err), ERR_BACKEND);
    bench_close(&bench);

    bench_init(&bench);
    made_typed_input(&bench.made, "x", DATA_COMPLEX64, MADE_SHAPE(1)); /* no data are generated for that */
    made_integers(&bench.made, "seven", &seven, 1);
    made_node(&bench.made, "identity", "Identity", "x", "same", NULL, 0);
    made_node(&bench.made, "neg", "Neg", "seven", "certain", NULL, 0);
    made_typed_output(&bench.made, "same", DATA_COMPLEX64);
    made_typed_output(&bench.made, "certain", DATA_INT64);
    bench_start(&bench);
    must_get(&bench, "certain");
    assert_int_equal(*(const int64_t *)reference_values_get(bench.reference, value_of(&bench, "certain"))->data, -7);
    assert_int_equal(ask(&bench, "same", &err), ERR_UNSUPPORTED);
    bench_close(&bench);
}

/* Values go to the folder that the test works in. */
static int enter(void **state)
{
    int rc;

    unsetenv("TMPDIR");
    rc = scratch_folder_enter(state);
    setenv("TMPDIR", ".", 1);
    return rc;
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(all_values_come_from_one_run),
        IN_SCRATCH(large_values_lie_on_disk_and_small_ones_in_memory),
        IN_SCRATCH(what_nobody_asked_for_stays_within_its_bound),
        IN_SCRATCH(groups_give_the_same_values),
        IN_SCRATCH(groups_behind_what_is_asked_for_are_not_run),
        IN_SCRATCH(what_nobody_asked_for_is_no_reason_to_fail),
        IN_SCRATCH(sequences_are_left_out),
        IN_SCRATCH(the_run_is_announced_when_somebody_listens),
        IN_SCRATCH(what_the_loader_says_to_a_muted_log_is_said_later),
        IN_SCRATCH(a_full_disk_is_an_error),
        IN_SCRATCH(without_a_folder_for_them_there_are_no_values),
        IN_SCRATCH(what_lies_before_a_failure_has_values_and_constants_need_no_data),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
