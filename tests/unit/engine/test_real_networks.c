/* Models through the engine: what it computes is what ONNX Runtime computes, layers fused or apart. */
#include "support/network_fixture.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/library.h"
#include "base/memory.h"
#include "engine/build/builder.h"
#include "engine/run/executor.h"
#include "onnx/edit/constants.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"
#include "onnx/write/model.h"
#include "support/onnx_fixture.h"
#include "tensor/values/elements.h"

#define TOLERANCE 1e-3 /* relative to the largest value of an output */

/* What dynamic dimensions of the models become. */
struct real_model {
    const char *path;
    int64_t sizes[3][3]; /* of up to three inputs; 0: the model says it */
};

static const struct real_model models[] = {
    {"onnx_light/light_squeezenet", {{0}}},
    {"onnx_light/light_bvlc_alexnet", {{0}}},
    {"onnx_light/light_resnet50", {{0}}},
    {"onnx_light/light_densenet121", {{0}}},
    {"silero/silero_vad", {{1, 576}, {2, 1, 128}}},
    {"silero/silero_vad_half", {{1, 576}, {2, 1, 128}}},
    {"polygraphy/loop", {{0}}},
    {"polygraphy/conv", {{0}}},
    {"polygraphy/matmul.fp16", {{0}}},
    {"polygraphy/needs_constraints", {{0}}},
    {"polygraphy/instancenorm", {{1, 3, 4}}},
};

static float *next_random(float *values, size_t count, float low, float high)
{
    static uint32_t state = 12345;

    for (size_t i = 0; i < count; i++) {
        state = state * 1664525U + 1013904223U;
        values[i] = low + (high - low) * ((float)(state >> 8) / 16777216.0F);
    }
    return values;
}

/* The weights of the light models are all the same: others go in their place. One dimension: biases and parameters of
 * normalizations; more: weights that keep the size of what goes through. */
static void change_weights(struct model *model)
{
    for (size_t i = 0; i < model->initializers.count; i++) {
        uint32_t value = model->initializers.items[i].value;
        struct tensor_header header;
        struct error err = {0};
        void *data;
        float *values;
        size_t count, inner = 1;
        float range;

        if (tensor_proto_read(model->initializers.items[i].message, &header, &err) < 0)
            fail_msg("%s", err.message);
        count = shape_elements(&header.shape);
        if (header.type != DATA_FLOAT32 || count < 16)
            continue;
        for (size_t k = 1; k < header.shape.rank; k++)
            inner *= (size_t)header.shape.dims[k];
        range = sqrtf(6.0F / (float)inner);
        values = memory_alloc_zero(count, sizeof(*values));
        next_random(values, count, header.shape.rank > 1 ? -range : 0.5F, header.shape.rank > 1 ? range : 1.0F);
        if (model_new_tensor(model, value, DATA_FLOAT32, &header.shape, &data, &err) < 0)
            fail_msg("%s", err.message);
        memcpy(data, values, count * sizeof(*values));
        free(values);
    }
}

/* The model as bytes, with weights that differ, and all outputs if asked for. */
static void write_changed(const char *path, bool change, bool mark_all, char **ret, size_t *ret_size)
{
    struct folding_settings folding = {
        .backend = &onnxrt_backend, .passes = -1, .partition = FOLDING_NODES, .size_limit = UINT64_MAX};
    struct subgraph whole;
    struct model *model = NULL;
    struct error err = {0};

    if (model_open(path, NULL, &model, &err) < 0 || constants_fold(model, &folding, &err) < 0)
        fail_msg("%s", err.message);
    if (change)
        change_weights(model);
    subgraph_init_whole(&whole, model);
    if (mark_all) {
        for (size_t i = 0; i < model->nodes.count; i++)
            for (size_t k = 0; k < model->nodes.items[i].outputs.count; k++) {
                uint32_t value = model_edge(model, model->nodes.items[i].outputs, k);

                if (value != VALUE_NONE && !value_list_has(&whole.outputs, value))
                    value_list_add(&whole.outputs, value);
            }
    }
    if (model_write_memory(&whole, ret, ret_size, &err) < 0)
        fail_msg("%s", err.message);
    subgraph_release(&whole);
    model_free(model);
}

static void make_feed(const struct real_model *real, const struct model *model, struct tensor_list *ret)
{
    for (size_t i = 0; i < model->inputs.count; i++) {
        const struct value *value = &model->values.items[model->inputs.items[i]];
        struct value_type type;
        struct tensor tensor;
        struct error err = {0};

        value_info_decode(value->info, &type);
        for (size_t k = 0; k < type.shape.rank; k++)
            if (type.shape.dims[k] < 0)
                type.shape.dims[k] = i < 3 && k < 3 && real->sizes[i][k] > 0 ? real->sizes[i][k] : 1;
        if (type.element == DATA_UNDEFINED || tensor_allocate(type.element, &type.shape, &tensor, &err) < 0)
            continue;
        memset(tensor_writable(&tensor), 0, tensor.size);
        if (type.element == DATA_FLOAT32)
            next_random(tensor_writable(&tensor), tensor_elements(&tensor), -1, 1);
        else if (type.element == DATA_INT64 && text_equal_string(value->name, "sr"))
            *(int64_t *)tensor_writable(&tensor) = 16000;
        tensor_list_add(ret, value->name, &tensor);
    }
}

static int copy_feed(void *context, const struct backend_io *inputs, size_t count, int64_t iteration,
                     struct tensor_list *ret, struct error *err)
{
    const struct tensor_list *feed = context;

    for (size_t i = 0; i < feed->count; i++) {
        struct tensor copy;
        int rc = tensor_copy(&feed->items[i].tensor, &copy, err);

        if (rc < 0)
            return rc;
        tensor_list_add(ret, text_of(feed->items[i].name), &copy);
    }
    return 0;
}

static void run_engine(const struct network *network, const struct tensor_list *feed, struct tensor_list *ret)
{
    struct provider_settings providers = {.threads = 2};
    struct builder_settings settings = {
        .sample = {.feed = copy_feed, .context = (void *)(uintptr_t)feed, .iterations = 1},
        .deterministic = true,
        .threads = 2,
    };
    struct engine *engine = NULL;
    struct executor *executor = NULL;
    struct error err = {0};

    if (providers_open(&providers, &settings.providers, &err) < 0 ||
        engine_build(network, &settings, &engine, &err) < 0 || executor_new(engine, NULL, &executor, &err) < 0)
        fail_msg("%s", err.message);
    for (size_t run = 0; run < 2; run++) { /* what the first run leaves behind must not change the second */
        tensor_list_release(ret);
        *ret = (struct tensor_list){0};
        if (executor_run(executor, feed, NULL, ret, NULL, &err) < 0)
            fail_msg("%s", err.message);
    }
    executor_free(executor);
    engine_free(engine);
    providers_close(&settings.providers);
}

static double error_of(const struct tensor *expected, const struct tensor *actual)
{
    double largest = 0, error = 0;
    size_t count = tensor_elements(expected);

    assert_int_equal(expected->type, actual->type);
    assert_true(shape_equal(&expected->shape, &actual->shape));
    if (!data_type_is_float(expected->type))
        return tensor_identical(expected, actual) ? 0 : 1;
    for (size_t i = 0; i < count; i++) {
        double numbers[2];

        elements_to_float64(expected, i, 1, &numbers[0]);
        elements_to_float64(actual, i, 1, &numbers[1]);
        if (numbers[0] == numbers[1] || (isnan(numbers[0]) && isnan(numbers[1])))
            continue;
        if (!isfinite(numbers[0]) || !isfinite(numbers[1]))
            return INFINITY;
        largest = fmax(largest, fabs(numbers[0]));
        error = fmax(error, fabs(numbers[0] - numbers[1]));
    }
    return largest > 0 ? error / largest : error;
}

static void check_model(const char *folder, const struct real_model *real, bool apart)
{
    struct network_settings settings = with_onnxruntime();
    struct tensor_list feed = {0}, expected = {0}, actual = {0};
    struct network *network = NULL;
    struct model *model;
    struct error err = {0};
    char path[1024], *bytes;
    size_t size;
    double worst = 0;

    snprintf(path, sizeof(path), "%s/%s.onnx", folder, real->path);
    write_changed(path, strncmp(real->path, "onnx_light", 10) == 0, apart, &bytes, &size);
    if (model_parse((struct span){(const uint8_t *)bytes, size}, real->path, &model, &err) < 0)
        fail_msg("%s", err.message);
    settings.keep_nodes_apart = apart;
    network = network_of(model, &settings);
    make_feed(real, network->model, &feed);
    run_bytes(bytes, size, &feed, &expected);
    run_engine(network, &feed, &actual);
    assert_int_equal(expected.count, actual.count);
    for (size_t i = 0; i < expected.count; i++) {
        double error = error_of(&expected.items[i].tensor, &actual.items[i].tensor);

        assert_string_equal(expected.items[i].name, actual.items[i].name);
        if (error > TOLERANCE)
            fail_msg("%s: output '%s' differs by %g", real->path, expected.items[i].name, error);
        worst = fmax(worst, error);
    }
    print_message("# %-32s %-8s %4zu layers, %4zu outputs, largest relative error %.1e\n", real->path,
                  apart ? "apart" : "fused", network->layers.count, expected.count, worst);
    tensor_list_release(&feed);
    tensor_list_release(&expected);
    tensor_list_release(&actual);
    network_free(network);
    free(bytes);
}

static void check_all(bool apart)
{
    const char *folder = getenv("POLYGRAPHY_TEST_MODELS");
    char path[1024];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s.onnx", folder != NULL ? folder : "", models[0].path);
    file = fopen(path, "rb");
    if (file == NULL) {
        print_message("POLYGRAPHY_TEST_MODELS does not name a folder with the models\n");
        skip();
    }
    fclose(file);
    for (size_t i = 0; i < ARRAY_LEN(models); i++)
        check_model(folder, &models[i], apart);
}

/* ---- Small models, each with a peculiarity ---- */

/* Whether ONNX Runtime runs the model with these inputs. */
static bool runtime_runs(const char *path, const struct tensor_list *feed, struct tensor_list *ret)
{
    struct backend_request request = {.model.path = path};
    struct backend_session *session;
    bool runs;

    if (onnxrt_backend.open(&request, &session, NULL) < 0)
        return false;
    runs = onnxrt_backend.run(session, feed, NULL, ret, NULL, NULL) == 0;
    onnxrt_backend.close(session);
    return runs;
}

static bool throws_dice(const struct model *model)
{
    for (size_t i = 0; i < model->nodes.count; i++)
        if (text_contains(model->nodes.items[i].op_type, TEXT("Random")))
            return true;
    return false;
}

/* Compares unless the model cannot be run, or throws dice. */
static bool check_small(const char *path)
{
    static const struct real_model sizes = {.sizes = {{0}}};
    struct network_settings settings = with_onnxruntime();
    struct tensor_list feed = {0}, expected = {0}, actual = {0};
    struct network *network;
    struct model *model = NULL;
    bool runs;

    if (model_open(path, NULL, &model, NULL) < 0)
        return false;
    make_feed(&sizes, model, &feed);
    runs = !throws_dice(model) && runtime_runs(path, &feed, &expected);
    if (runs) {
        network = network_of(model, &settings);
        run_engine(network, &feed, &actual);
        assert_int_equal(expected.count, actual.count);
        for (size_t i = 0; i < expected.count; i++)
            if (error_of(&expected.items[i].tensor, &actual.items[i].tensor) > TOLERANCE)
                fail_msg("%s: output '%s' differs", path, expected.items[i].name);
        network_free(network);
    } else {
        model_free(model);
    }
    tensor_list_release(&feed);
    tensor_list_release(&expected);
    tensor_list_release(&actual);
    return runs;
}

/* Of a model in memory, as a layer is, ONNX Runtime looks for the data of functions in the current folder. */
static bool is_exception(const char *name)
{
    return strcmp(name, "external_data_in_a_function.onnx") == 0;
}

static size_t check_folder(const char *folder)
{
    DIR *directory = opendir(folder);
    size_t count = 0;
    char path[1024];

    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (strstr(entry->d_name, ".onnx") != NULL && !is_exception(entry->d_name))
            count += check_small(path);
    }
    if (directory != NULL)
        closedir(directory);
    return count;
}

static void small_models_compute_what_onnxruntime_does(void **state)
{
    const char *models_folder = getenv("POLYGRAPHY_TEST_MODELS");
    char path[1024];

    require_onnxruntime();
    assert_true(check_folder(fixture_path("")) > 30);
    snprintf(path, sizeof(path), "%s/polygraphy", models_folder != NULL ? models_folder : "");
    print_message("# and %zu models of POLYGRAPHY_TEST_MODELS\n", check_folder(path));
}

static void fused_layers_compute_what_onnxruntime_does(void **state)
{
    require_onnxruntime();
    check_all(false);
}

static void every_tensor_is_what_onnxruntime_computes(void **state)
{
    require_onnxruntime();
    check_all(true);
}

/* ---- Branches that a sample decides ---- */

static int run_once(const struct network *network, const struct tensor_list *built_for, const struct tensor_list *feed,
                    struct tensor_list *ret, struct error *err)
{
    struct provider_settings providers = {.threads = 1};
    struct builder_settings settings = {
        .sample = {.feed = copy_feed, .context = (void *)(uintptr_t)built_for, .iterations = 1},
        .deterministic = true,
        .threads = 1,
    };
    struct engine *engine = NULL;
    struct executor *executor = NULL;
    int rc;

    if (providers_open(&providers, &settings.providers, err) < 0 ||
        engine_build(network, &settings, &engine, err) < 0 || executor_new(engine, NULL, &executor, err) < 0)
        fail_msg("%s", err->message);
    rc = executor_run(executor, feed, NULL, ret, NULL, err);
    executor_free(executor);
    engine_free(engine);
    providers_close(&settings.providers);
    return rc;
}

static void the_branches_of_a_speech_model_are_decided_by_a_sample(void **state)
{
    const struct real_model *real = &models[4];
    struct network_settings settings = with_onnxruntime();
    struct tensor_list feed = {0}, expected = {0}, actual = {0};
    const char *folder = getenv("POLYGRAPHY_TEST_MODELS");
    struct sample_source sample = {.feed = copy_feed, .context = &feed, .iterations = 1};
    struct network *network;
    struct model *model;
    struct error err = {0};
    char path[1024];

    require_onnxruntime();
    snprintf(path, sizeof(path), "%s/%s.onnx", folder != NULL ? folder : "", real->path);
    if (model_open(path, NULL, &model, &err) < 0)
        skip();
    make_feed(real, model, &feed);
    assert_true(runtime_runs(path, &feed, &expected));
    settings.branch_sample = &sample;
    network = network_of(model, &settings);
    assert_true(network->layers.count > 30);
    assert_non_null(find_layer(network, TEXT("If_0 takes its then branch in this engine")));
    if (run_once(network, &feed, &feed, &actual, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(actual.count, 2);
    /* The first output is a probability of some thousandths, in which the rounding of Winograd's algorithm shows. */
    for (size_t i = 0; i < actual.count; i++)
        assert_true(error_of(&expected.items[i].tensor, &actual.items[i].tensor) < 10 * TOLERANCE);
    tensor_list_release(&actual);
    tensor_list_release(&expected);

    expected = (struct tensor_list){0}; /* a feed that takes the other branch */
    for (size_t i = 0; i < feed.count; i++) {
        struct tensor copy;

        assert_int_equal(tensor_copy(&feed.items[i].tensor, &copy, &err), 0);
        if (strcmp(feed.items[i].name, "sr") == 0)
            *(int64_t *)tensor_writable(&copy) = 8000;
        tensor_list_add(&expected, text_of(feed.items[i].name), &copy);
    }
    actual = (struct tensor_list){0};
    assert_true(run_once(network, &feed, &expected, &actual, &err) < 0);
    assert_non_null(strstr(err.message, "If_0 takes its then branch in this engine"));
    tensor_list_release(&expected);
    tensor_list_release(&feed);
    network_free(network);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_models_compute_what_onnxruntime_does),
        cmocka_unit_test(the_branches_of_a_speech_model_are_decided_by_a_sample),
        cmocka_unit_test(fused_layers_compute_what_onnxruntime_does),
        cmocka_unit_test(every_tensor_is_what_onnxruntime_computes),
    };

    return cmocka_run_group_tests_name("real networks", tests, NULL, NULL);
}
