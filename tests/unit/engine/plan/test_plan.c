/* Plan files: what is written is read again, and nothing else is. */
#define _GNU_SOURCE /* memmem */
#include "base/system.h"
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/onnxrt/library.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "engine/plan/layout.h"
#include "engine/plan/plan.h"
#include "engine/run/executor.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "support/captured_log.h"
#include "support/fake_engine.h"
#include "support/scratch_folder.h"

static const float diamond_input[6] = {1, 2, 3, -4, -5, 6};
static const float constant_rows[6] = {1, -1, 1, -1, 1, -1};

/* y = half of relu(x + c), with choices of every kind. */
static void make_engine(struct fake_engine *fake)
{
    struct engine_layer *choice;
    struct model_maker maker;

    maker_init(&maker);
    maker_node(&maker, "Add", "x c", "sum");
    maker_node(&maker, "Relu", "sum", "positive");
    maker_node(&maker, "Halve", "positive", "y");
    maker_constant(&maker, "c", constant_rows, 2, 3);
    maker_constant(&maker, "nobody_reads_it", constant_rows, 2, 3);
    maker_io(&maker, GRAPH_INPUT, "x", DATA_FLOAT32);
    maker_io(&maker, GRAPH_OUTPUT, "y", DATA_FLOAT32);
    fake_engine_init(fake, maker_finish(&maker));
    fake_choose(fake, 1, "columns");
    fake_choose(fake, 2, "unknown");
    fake_set_precision(fake, 2, PRECISION_BFLOAT16);
    fake_set_profile(fake, 0, INT64_MAX);
    fake_set_profile(fake, 2, 3);
    fake->engine.threads = 1;
    choice = &fake->engine.layers[0];
    choice->seconds = 0.1;
    choice->share_of_fastest = 1.25;
    choice->tactic_count = 7;
    choice->precision.constrained = true;
    choice->input_scales = memory_alloc_zero(2, sizeof(float));
    choice->input_scales[0] = 0.1f;
}

/* Writes the plan of that engine, and reads the file; malloc'd. */
static uint8_t *make_plan(size_t *ret_size)
{
    struct fake_engine fake;
    struct error err = {0};
    char *bytes;

    make_engine(&fake);
    if (plan_save(&fake.engine, "a.plan", &err) < 0)
        fail_msg("%s", err.message);
    fake_engine_release(&fake);
    assert_int_equal(file_read("a.plan", 1 << 20, &bytes, ret_size, &err), 0);
    return (uint8_t *)bytes;
}

static int parse(const uint8_t *bytes, size_t size, struct engine **ret, struct error *err)
{
    *err = (struct error){0};
    return plan_parse((struct span){bytes, size}, "a.plan", NULL, ret, err);
}

static void run(const struct engine *engine, struct tensor_list *ret)
{
    struct tensor_list feed = {0};
    struct executor *executor;
    struct error err = {0};
    struct tensor x;

    tensor_borrow(DATA_FLOAT32, &(struct shape){2, {2, 3}}, diamond_input, sizeof(diamond_input), &x);
    tensor_list_add(&feed, TEXT("x"), &x);
    assert_int_equal(executor_new(engine, NULL, &executor, &err), 0);
    for (int i = 0; i < 2; i++) {
        tensor_list_release(ret);
        if (executor_run(executor, &feed, NULL, ret, NULL, &err) < 0)
            fail_msg("%s", err.message);
    }
    executor_free(executor);
    tensor_list_release(&feed);
}

/* Shapes that the fake engine lacks are not in the plan either. */
static void assert_same_choices(const struct engine *read, const struct engine *written)
{
    assert_int_equal(read->network->layers.count, written->network->layers.count);
    for (size_t i = 0; i < read->network->layers.count; i++) {
        const struct layer *layer = &read->network->layers.items[i];
        const struct engine_layer *a = &read->layers[i], *b = &written->layers[i];

        assert_string_equal(layer->name, written->network->layers.items[i].name);
        assert_string_equal(a->tactic.provider->name, b->tactic.provider->name);
        assert_string_equal(a->tactic.name, b->tactic.name);
        assert_true(a->tactic.implementation == b->tactic.implementation && a->tactic.number == b->tactic.number);
        for (size_t k = 0; k < layer->inputs.count; k++)
            assert_string_equal(a->tactic.input_layouts[k].text, b->tactic.input_layouts[k].text);
        for (size_t k = 0; k < layer->outputs.count; k++) {
            assert_string_equal(a->tactic.output_layouts[k].text, b->tactic.output_layouts[k].text);
            assert_int_equal(a->precision.outputs[k], b->precision.outputs[k]);
        }
        assert_int_equal(a->precision.precision, b->precision.precision);
        assert_int_equal(a->precision.constrained, b->precision.constrained);
        assert_true(a->seconds == b->seconds && a->share_of_fastest == b->share_of_fastest);
        assert_int_equal(a->tactic_count, b->tactic_count);
        assert_true((a->input_scales == NULL) == (b->input_scales == NULL));
        for (size_t k = 0; a->input_scales != NULL && k < layer->inputs.count; k++)
            assert_true(a->input_scales[k] == b->input_scales[k]);
    }
}

static void what_was_written_is_read_again(void **state)
{
    struct tensor_list before = {0}, after = {0};
    struct fake_engine fake;
    struct engine *engine;
    struct error err = {0};

    make_engine(&fake);
    assert_int_equal(plan_save(&fake.engine, "a.plan", &err), 0);
    assert_true(plan_is("a.plan"));
    if (plan_load("a.plan", NULL, &engine, &err) < 0)
        fail_msg("%s", err.message);
    assert_same_choices(engine, &fake.engine);
    assert_int_equal(engine->threads, 1);
    assert_int_equal(engine->profiles.count, 2);
    assert_true(engine->profiles.items[0].maximum[0].dims[1] == INT64_MAX);
    assert_int_equal(engine->profiles.items[1].minimum[0].dims[0], 2);
    for (size_t i = 0; i < engine->network->layers.count; i++)
        engine->layers[i].tactic.provider = &fake_provider;
    run(&fake.engine, &before);
    run(engine, &after);
    assert_true(tensor_identical(&before.items[0].tensor, &after.items[0].tensor));
    tensor_list_release(&before);
    tensor_list_release(&after);
    engine_free(engine);
    fake_engine_release(&fake);
}

static void copy_plan(const char *from, const char *to)
{
    struct engine *engine;
    struct error err = {0};

    assert_int_equal(plan_load(from, NULL, &engine, &err), 0);
    assert_int_equal(plan_save(engine, to, &err), 0);
    engine_free(engine);
}

static void a_plan_of_a_plan_is_the_same_file(void **state)
{
    struct error err = {0};
    size_t size, again_size;
    char *bytes, *again;

    free(make_plan(&size));
    copy_plan("a.plan",
              "b.plan"); /* the kinds of layers are those of the network now, which the fake one does not know */
    copy_plan("b.plan", "c.plan");
    assert_int_equal(file_read("b.plan", 1 << 20, &bytes, &size, &err), 0);
    assert_int_equal(file_read("c.plan", 1 << 20, &again, &again_size, &err), 0);
    assert_int_equal(size, again_size);
    assert_memory_equal(bytes, again, size);
    free(bytes);
    free(again);
}

static void weights_are_aligned_and_unused_ones_left_out(void **state)
{
    struct tensor_header header;
    struct engine *engine;
    struct error err = {0};
    size_t size;
    uint8_t *bytes = make_plan(&size);
    const struct model *model;

    assert_int_equal(plan_load("a.plan", NULL, &engine, &err), 0);
    model = engine->network->model;
    assert_int_equal(model->initializers.count, 1);
    assert_int_equal(tensor_proto_read(model->initializers.items[0].message, &header, &err), 0);
    assert_int_equal((uintptr_t)header.raw.data % PLAN_ALIGNMENT, 0);
    assert_memory_equal(header.raw.data, constant_rows, sizeof(constant_rows));
    engine_free(engine);
    free(bytes);
}

static void a_plan_that_was_only_looked_at_cannot_be_run(void **state)
{
    struct tensor_list feed = {0}, outputs = {0};
    struct executor *executor;
    struct engine *engine;
    struct error err = {0};
    struct tensor x;
    size_t size;
    uint8_t *bytes = make_plan(&size);

    assert_int_equal(plan_load("a.plan", NULL, &engine, &err), 0);
    assert_int_equal(executor_new(engine, NULL, &executor, &err), 0);
    tensor_borrow(DATA_FLOAT32, &(struct shape){2, {2, 3}}, diamond_input, sizeof(diamond_input), &x);
    tensor_list_add(&feed, TEXT("x"), &x);
    assert_int_equal(executor_run(executor, &feed, NULL, &outputs, NULL, &err), ERR_MISSING);
    assert_non_null(strstr(err.message, "the provider 'fake' of its tactic 'known' was not opened"));
    tensor_list_release(&feed);
    executor_free(executor);
    engine_free(engine);
    free(bytes);
}

static void every_truncated_file_is_refused(void **state)
{
    struct engine *engine;
    struct error err;
    size_t size;
    uint8_t *bytes = make_plan(&size);

    for (size_t i = 0; i < size; i++) {
        uint8_t *copy = (uint8_t *)memory_copy(bytes, i);

        assert_int_equal(parse(copy, i, &engine, &err), ERR_CORRUPT);
        assert_non_null(strstr(err.message, "'a.plan'"));
        free(copy);
    }
    free(bytes);
}

static void a_plan_starts_no_more_threads_than_there_are_processors(void **state)
{
    struct fake_engine fake;
    struct engine *engine;
    struct error err = {0};

    make_engine(&fake);
    fake.engine.threads = 65536;
    assert_int_equal(plan_save(&fake.engine, "many.plan", &err), 0);
    assert_int_equal(plan_load("many.plan", NULL, &engine, &err), 0);
    assert_int_equal(engine->threads, system_processors());
    engine_free(engine);
    fake_engine_release(&fake);
}

static void every_damaged_byte_of_the_description_is_noticed(void **state)
{
    struct engine *engine;
    struct error err;
    size_t size, described;
    uint8_t *bytes = make_plan(&size);

    described = PLAN_HEADER_SIZE + bytes[PLAN_AT_DESCRIPTION_SIZE] + 256u * bytes[PLAN_AT_DESCRIPTION_SIZE + 1];
    for (size_t i = 0; i < described; i++) {
        bytes[i] ^= 0x10;
        assert_int_not_equal(parse(bytes, size, &engine, &err), 0);
        bytes[i] ^= 0x10;
    }
    assert_int_equal(parse(bytes, size, &engine, &err), 0);
    engine_free(engine);
    free(bytes);
}

/* Makes the checksum fit what was changed: what a hostile file would do. */
static void seal(uint8_t *bytes, size_t description_size)
{
    struct hash hash = plan_description_hash(bytes, bytes + PLAN_HEADER_SIZE, description_size);

    for (size_t i = 0; i < 8; i++) {
        bytes[PLAN_AT_DESCRIPTION_HASH + i] = (uint8_t)(hash.low >> (8 * i));
        bytes[PLAN_AT_DESCRIPTION_HASH + 8 + i] = (uint8_t)(hash.high >> (8 * i));
    }
}

static void descriptions_that_say_nonsense_are_refused(void **state)
{
    static const char *const changes[][2] = {
        {"\"threads\": 1", "\"threads\": -"},
        {"\"threads\": 1", "\"Threads\": 1"},
        {"\"tactic\": \"known\"", "\"tactic\": [\"no\"] "},
        {"\"provider\": \"fake\"", "\"provider\": \"gone\""},
        {"\"precision\": \"float32\"", "\"precision\": \"float31\""},
        {"\"constrained\": true", "\"constrained\": 1   "},
        {"\"seconds\": 0.1", "\"seconds\": -.1"},
        {"\"seconds\": 0.1", "\"seconds\": NaN"},
        {"\"tactics\": 7", "\"tactics\": {"},
        {"\"nodes\"", "\"modes\""},
        {"\"name\": \"layer0\"", "\"name\": \"layer1\""},
        {"\"name\": \"layer0\"", "\"name\": \"\"      "},
        {"\"input_layouts\"", "\"input_leyouts\""},
        {"\"profiles\"", "\"profules\""},
        {"\"minimum\"", "\"minemum\""},
        {"\"output_precisions\"", "\"output_precesions\""},
        {"\"input_scales\": [", "\"input_scales\": {"},
    };
    size_t size, described;
    uint8_t *bytes = make_plan(&size);

    described = bytes[PLAN_AT_DESCRIPTION_SIZE] + 256u * bytes[PLAN_AT_DESCRIPTION_SIZE + 1];
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        uint8_t *copy = (uint8_t *)memory_copy(bytes, size);
        size_t length = strlen(changes[i][0]);
        struct engine *engine;
        struct error err;
        uint8_t *found = memmem(copy + PLAN_HEADER_SIZE, described, changes[i][0], length);
        int rc;

        assert_non_null(found);
        assert_int_equal(strlen(changes[i][1]), length);
        memcpy(found, changes[i][1], length);
        seal(copy, described);
        rc = parse(copy, size, &engine, &err);
        if (rc != ERR_CORRUPT && rc != ERR_MISSING)
            fail_msg("%s: %d %s", changes[i][1], rc, err.message);
        free(copy);
    }
    free(bytes);
}

static void a_damaged_weight_is_noticed_before_it_is_run(void **state)
{
    static const char *const sources[] = {"onnxrt"};
    struct provider_settings providers = {.sources = {sources, 1}};
    struct engine *engine;
    struct error err = {0};
    size_t size;
    uint8_t *bytes, *weight;

    require_onnxruntime();
    bytes = make_plan(&size);
    weight = memmem(bytes, size, constant_rows, sizeof(constant_rows));
    assert_non_null(weight);
    weight[3] ^= 1;
    assert_int_equal(parse(bytes, size, &engine, &err), 0); /* who only looks does not see it */
    engine_free(engine);
    assert_int_equal(plan_parse((struct span){bytes, size}, "a.plan", &providers, &engine, &err), ERR_CORRUPT);
    assert_string_equal(err.message, "'a.plan': its model is damaged: its checksum is wrong");
    weight[3] ^= 1;
    assert_int_equal(plan_parse((struct span){bytes, size}, "a.plan", &providers, &engine, &err), ERR_MISSING);
    assert_non_null(strstr(err.message, "layer 'layer0' needs a tactic of the provider 'fake'"));
    free(bytes);
}

static void another_version_of_a_provider_is_warned_of(void **state)
{
    static const char *const sources[] = {"onnxrt"};
    struct provider_settings providers = {.sources = {sources, 1}};
    struct tactic_provider older = fake_provider;
    struct captured_log log;
    struct fake_engine fake;
    struct engine *engine;
    struct error err = {0};

    require_onnxruntime();
    captured_log_init(&log);
    providers.log = &log.log;
    older.name = "onnxrt";
    older.version = "0.1";
    make_engine(&fake);
    fake.providers[0] = &older;
    for (size_t i = 0; i < fake.network.layers.count; i++)
        fake.engine.layers[i].tactic.provider = &older;
    assert_int_equal(plan_save(&fake.engine, "a.plan", &err), 0);
    fake_engine_release(&fake);
    assert_int_equal(plan_load("a.plan", &providers, &engine, &err), 0);
    assert_true(captured_log_has(&log, "W 'a.plan' was built with version 0.1 of onnxrt, and runs with version "));
    engine_free(engine);
    captured_log_release(&log);
}

static void foreign_files_are_told_apart(void **state)
{
    struct engine *engine;
    struct error err;
    size_t size;
    uint8_t *bytes = make_plan(&size);

    assert_int_equal(parse((const uint8_t *)"ftrt0123", 8, &engine, &err), ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "it is an engine of TensorRT"));
    assert_int_equal(parse((const uint8_t *)"", 0, &engine, &err), ERR_CORRUPT);
    assert_string_equal(err.message, "'a.plan': it is empty, and no plan file");
    assert_int_equal(parse((const uint8_t *)"{\"a\": 1}", 8, &engine, &err), ERR_CORRUPT);
    assert_string_equal(err.message, "'a.plan': it is no plan file: it does not begin with 'PLGRPLAN'");
    bytes[PLAN_AT_VERSION] = 9;
    assert_int_equal(parse(bytes, size, &engine, &err), ERR_UNSUPPORTED);
    assert_string_equal(err.message,
                        "'a.plan': it is a plan file of version 9, and this program reads version 1: build "
                        "it again");
    free(bytes);
    scratch_file("trt", "ftrt and more");
    assert_false(plan_is("trt"));
    assert_true(plan_is_tensorrt("trt"));
    assert_false(plan_is("not there"));
    assert_int_equal(plan_load("not there", NULL, &engine, &err), ERR_MISSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read_again),
        cmocka_unit_test(a_plan_starts_no_more_threads_than_there_are_processors),
        cmocka_unit_test(a_plan_of_a_plan_is_the_same_file),
        cmocka_unit_test(weights_are_aligned_and_unused_ones_left_out),
        cmocka_unit_test(a_plan_that_was_only_looked_at_cannot_be_run),
        cmocka_unit_test(every_truncated_file_is_refused),
        cmocka_unit_test(every_damaged_byte_of_the_description_is_noticed),
        cmocka_unit_test(descriptions_that_say_nonsense_are_refused),
        cmocka_unit_test(a_damaged_weight_is_noticed_before_it_is_run),
        cmocka_unit_test(another_version_of_a_provider_is_warned_of),
        cmocka_unit_test(foreign_files_are_told_apart),
    };

    return cmocka_run_group_tests(tests, scratch_folder_enter, scratch_folder_leave);
}
