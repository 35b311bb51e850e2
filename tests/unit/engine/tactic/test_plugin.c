/* Plug-ins: what they compute, and what becomes of those that are none or do not behave. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "engine/tactic/plugin.h"
#include "support/node_network.h"

/* The path of a plug-in that the Makefile has built; NULL when it has not. */
static const char *plugin_path(const char *name)
{
    static char path[4096];
    const char *folder = getenv("POLYGRAPHY_TEST_PROGRAMS");

    snprintf(path, sizeof(path), "%s/%s", folder ? folder : "", name);
    return path;
}

static struct tactic_provider *load(const char *name)
{
    struct tactic_provider *provider = NULL;
    struct error err = {0};

    if (plugin_provider_load(plugin_path(name), &provider, &err) < 0)
        fail_msg("%s", err.message);
    return provider;
}

static void load_fails(const char *name, const char *fault, int code, const char *mention)
{
    struct tactic_provider *provider = NULL;
    struct error err = {0};

    setenv("POLYGRAPHY_TEST_PLUGIN", fault, 1);
    assert_int_equal(plugin_provider_load(plugin_path(name), &provider, &err), code);
    unsetenv("POLYGRAPHY_TEST_PLUGIN");
    assert_null(provider);
    if (!strstr(err.message, mention))
        fail_msg("'%s' does not hold '%s'", err.message, mention);
    assert_null(strchr(err.message, '\n'));
}

/* ---- Computing ---- */

static void make_values(const char *model_name, struct network *network, struct node_values *values,
                        const struct shape *shape)
{
    struct model *model = fixture_open_lowered(model_name);
    struct tensor_list feed = {0};
    struct tensor x = {0};
    struct error err;

    assert_int_equal(tensor_allocate(DATA_FLOAT32, shape, &x, &err), 0);
    for (size_t i = 0; i < tensor_elements(&x); i++)
        ((float *)tensor_writable(&x))[i] = sinf((float)i);
    tensor_list_add(&feed, model->values.items[model->inputs.items[0]].name, &x);
    node_network_init(network, model, false);
    node_values_init(values, network, &feed);
    /* The values borrow what is fed. */
    values->items[model->inputs.items[0]] = feed.items[0].tensor;
    feed.items[0].tensor = (struct tensor){0};
    tensor_list_release(&feed);
}

/* The provider for the layers that it has tactics for, the other for the rest. Returns how many those were. */
static size_t run_network(struct network *network, struct node_values *values, struct tactic_provider *provider,
                          const char *tactic, struct tactic_provider *other)
{
    size_t count = 0;
    struct error err = {0};

    for (size_t i = 0; i < network->layers.count; i++) {
        const struct layer *layer = &network->layers.items[i];
        int rc = node_layer_run(network, layer, provider, tactic, values, &err);

        count += rc == 0;
        if (rc == ERR_MISSING)
            rc = node_layer_run(network, layer, other, NULL, values, &err);
        if (rc < 0)
            fail_msg("layer %zu: %s", i, err.message);
    }
    return count;
}

static double largest_difference(const struct tensor *a, const struct tensor *b)
{
    double largest = 0;

    assert_true(shape_equal(&a->shape, &b->shape));
    for (size_t i = 0; i < tensor_elements(a); i++)
        largest = fmax(largest, fabs((double)((const float *)a->data)[i] - (double)((const float *)b->data)[i]));
    return largest;
}

static void the_example_computes_convolutions_as_onnxruntime_does(void **state)
{
    static const struct shape shape = {.rank = 4, .dims = {2, 3, 12, 11}};
    static const char *const tactics[] = {"direct", "direct_double"};
    struct provider_settings settings = {0};
    struct tactic_provider *runtime, *plugin;
    struct error err = {0};

    if (onnxrt_provider_new(&settings, &runtime, &err) < 0) {
        print_message("%s\n", err.message);
        skip();
    }
    plugin = load("../examples/direct_convolution.so");
    for (size_t t = 0; t < ARRAY_LEN(tactics); t++) {
        struct network network, expected_network;
        struct node_values values, expected;
        uint32_t y;

        make_values("convolutions", &network, &values, &shape);
        make_values("convolutions", &expected_network, &expected, &shape);
        assert_int_equal(run_network(&network, &values, plugin, tactics[t], runtime), 4);
        run_network(&expected_network, &expected, runtime, NULL, runtime);
        y = fixture_value(network.model, "y");
        assert_true(largest_difference(&values.items[y], &expected.items[y]) < 1e-4);
        node_values_release(&values);
        node_values_release(&expected);
        node_network_release(&network);
        node_network_release(&expected_network);
    }
    plugin->free(plugin);
    runtime->free(runtime);
}

static void a_plugin_says_who_it_is(void **state)
{
    struct tactic_provider *plugin = load("../examples/direct_convolution.so");

    assert_string_equal(plugin->name, "direct_convolution");
    assert_int_equal(strncmp(plugin->version, "1.0-", 4), 0); /* and a hash of the file */
    plugin->free(plugin);
}

/* ---- What is no plug-in ---- */

static void what_is_not_there_or_no_library_is_refused(void **state)
{
    load_fails("plugins/nothing.so", "", ERR_MISSING, "plugins/nothing.so");
    load_fails("../flags", "", ERR_UNSUPPORTED, "cannot be loaded");
    load_fails("plugins/no_plugin.so", "", ERR_UNSUPPORTED, "has no symbol polygraphy_tactic_plugin");
}

/* Cut off anywhere, it is refused before the loader dies of it, or has all that is to be loaded. */
static void a_truncated_library_is_refused(void **state)
{
    char *bytes = NULL, path[] = "/tmp/polygraphy_plugin_XXXXXX";
    size_t size = 0, refused = 0;
    struct error err = {0};
    int fd = mkstemp(path);
    bool loaded = false;

    assert_true(fd >= 0);
    assert_int_equal(file_read(plugin_path("plugins/misbehaving.so"), 1 << 24, &bytes, &size, &err), 0);
    for (size_t length = 0; length <= size; length += length < size && size - length < 61 ? size - length : 61) {
        struct tactic_provider *provider = NULL;

        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, bytes, length, 0), (ssize_t)length);
        if (plugin_provider_load(path, &provider, &err) < 0) {
            assert_false(loaded); /* what is enough once is enough with more */
            assert_non_null(strstr(err.message, path));
            refused++;
        } else {
            loaded = true;
            provider->free(provider);
        }
        if (length == size)
            break;
    }
    assert_true(loaded);
    assert_true(refused > 10);
    free(bytes);
    close(fd);
    unlink(path);
}

static void a_table_with_faults_is_refused(void **state)
{
    static const struct {
        const char *fault;
        int code;
        const char *mention;
    } cases[] = {
        {"no table", ERR_UNSUPPORTED, "does not work with version 1"},
        {"future version", ERR_UNSUPPORTED, "uses version 99"},
        {"no version", ERR_UNSUPPORTED, "uses version 0"},
        {"small table", ERR_INVALID, "its table has 24 bytes"},
        {"no name", ERR_INVALID, "its name contains other characters than"},
        {"bad name", ERR_INVALID, "its name contains other characters than"},
        {"no tactic_name", ERR_INVALID, "lacks tactic_name()"},
        {"no create", ERR_INVALID, "lacks create()"},
        {"no run", ERR_INVALID, "lacks run()"},
        {"no free_kernel", ERR_INVALID, "lacks free_kernel()"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        load_fails("plugins/misbehaving.so", cases[i].fault, cases[i].code, cases[i].mention);
}

/* What comes of one Relu when the plug-in does one thing wrong. */
static void relu_fails(const char *fault, int code, const char *mention)
{
    static const struct shape shape = {.rank = 4, .dims = {1, 5, 2, 2}};
    struct tactic_provider *plugin = load("plugins/misbehaving.so");
    struct network network;
    struct node_values values;
    struct error err = {0};
    struct tensor x = {0};
    uint32_t node;

    make_values("convolutions", &network, &values, &shape);
    node = fixture_node(network.model, "relu");
    assert_int_equal(tensor_allocate(DATA_FLOAT32, &shape, &x, &err), 0);
    memset(tensor_writable(&x), 0, x.size);
    values.items[fixture_value(network.model, "t4")] = x;
    setenv("POLYGRAPHY_TEST_PLUGIN", fault, 1);
    assert_int_equal(node_layer_run(&network, &network.layers.items[node], plugin, NULL, &values, &err), code);
    unsetenv("POLYGRAPHY_TEST_PLUGIN");
    if (code < 0 && !strstr(err.message, mention))
        fail_msg("'%s' does not hold '%s'", err.message, mention);
    if (code < 0)
        assert_non_null(strstr(err.message, "misbehaving"));
    node_values_release(&values);
    node_network_release(&network);
    plugin->free(plugin);
}

static void what_a_plugin_says_is_not_believed(void **state)
{
    relu_fails("nothing wrong", 0, "");
    relu_fails("endless tactics", ERR_INVALID, "more than 64 tactics");
    relu_fails("long name", ERR_INVALID, "more than 95 bytes");
    relu_fails("empty name", ERR_INVALID, "0 instead of 1 to 95 bytes");
    relu_fails("same name twice", ERR_INVALID, "two tactics 'relu'");
    relu_fails("no kernel", ERR_UNSUPPORTED, "no reason given");
    relu_fails("no kernel with reason", ERR_UNSUPPORTED, "today is not a good day");
    relu_fails("wrong type", ERR_INVALID, "makes int64");
    relu_fails("no type", ERR_INVALID, "type 99");
    relu_fails("too many dimensions", ERR_INVALID, "1000 dimensions");
    relu_fails("negative dimension", ERR_INVALID, "impossible dimensions");
    relu_fails("too large", ERR_INVALID, "impossible dimensions");
    relu_fails("failing run", ERR_BACKEND, "it was too hot");
}

/* ---- Choosing providers ---- */

static struct captured {
    char text[4096];
} captured;

static void capture(void *data, enum log_level level, int depth, struct text message)
{
    size_t size = strlen(captured.text);

    (void)data, (void)depth;
    snprintf(captured.text + size, sizeof(captured.text) - size, "%d " TEXT_FORMAT "\n", (int)level,
             TEXT_ARGS(message));
}

static int open_sources(const char *const *sources, size_t count, const char *plugin, struct provider_list *ret,
                        struct error *err)
{
    struct log log = {.threshold = LOG_INFO, .write = capture};
    struct provider_settings settings = {
        .sources = {sources, count}, .plugins = {plugin ? &plugin : NULL, plugin ? 1 : 0}, .log = &log};
    int rc;

    captured.text[0] = '\0';
    *ret = (struct provider_list){0};
    *err = (struct error){0};
    rc = providers_open(&settings, ret, err);
    log_release(&log);
    return rc;
}

static void sources_select_providers_whatever_their_case(void **state)
{
    static const char *const sources[] = {"OnnxRT", "Direct_Convolution"};
    struct provider_list list;
    struct error err;

    if (open_sources(sources, 2, plugin_path("../examples/direct_convolution.so"), &list, &err) == ERR_MISSING)
        skip(); /* no ONNX Runtime here */
    assert_int_equal(list.count, 2);
    assert_non_null(providers_find(&list, TEXT("onnxrt")));
    assert_non_null(providers_find(&list, TEXT("direct_convolution")));
    assert_null(providers_find(&list, TEXT("onednn")));
    providers_close(&list);
}

static void a_plugin_that_is_not_among_the_sources_is_left_out(void **state)
{
    static const char *const sources[] = {"onnxrt"};
    struct provider_list list;
    struct error err;

    if (open_sources(sources, 1, plugin_path("../examples/direct_convolution.so"), &list, &err) == ERR_MISSING)
        skip();
    assert_int_equal(list.count, 1);
    providers_close(&list);
}

static void an_unknown_source_is_an_error_that_lists_what_there_is(void **state)
{
    static const char *const sources[] = {"cudnnn"};
    struct provider_list list;
    struct error err;

    assert_int_equal(open_sources(sources, 1, plugin_path("../examples/direct_convolution.so"), &list, &err),
                     ERR_INVALID);
    assert_string_equal(err.message, "unknown tactic source 'cudnnn'; available: onednn, onnxrt, direct_convolution");
}

static void sources_of_tensorrt_are_taken_with_a_warning(void **state)
{
    static const char *const sources[] = {"CUBLAS", "cudnn"};
    struct provider_list list;
    struct error err;

    assert_int_equal(open_sources(sources, 2, plugin_path("../examples/direct_convolution.so"), &list, &err), 0);
    assert_non_null(strstr(captured.text, "30 Tactic source CUBLAS is one of TensorRT's"));
    assert_non_null(strstr(captured.text, "30 Tactic source cudnn is one of TensorRT's"));
    assert_true(list.count >= 1);
    providers_close(&list);
}

static void a_plugin_may_not_take_the_name_of_another_provider(void **state)
{
    struct provider_list list;
    struct error err;

    setenv("POLYGRAPHY_TEST_PLUGIN", "taken name", 1);
    assert_int_equal(open_sources(NULL, 0, plugin_path("plugins/misbehaving.so"), &list, &err), ERR_INVALID);
    unsetenv("POLYGRAPHY_TEST_PLUGIN");
    assert_non_null(strstr(err.message, "has the name 'onnxrt'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_computes_convolutions_as_onnxruntime_does),
        cmocka_unit_test(a_plugin_says_who_it_is),
        cmocka_unit_test(what_is_not_there_or_no_library_is_refused),
        cmocka_unit_test(a_truncated_library_is_refused),
        cmocka_unit_test(a_table_with_faults_is_refused),
        cmocka_unit_test(what_a_plugin_says_is_not_believed),
        cmocka_unit_test(sources_select_providers_whatever_their_case),
        cmocka_unit_test(a_plugin_that_is_not_among_the_sources_is_left_out),
        cmocka_unit_test(an_unknown_source_is_an_error_that_lists_what_there_is),
        cmocka_unit_test(sources_of_tensorrt_are_taken_with_a_warning),
        cmocka_unit_test(a_plugin_may_not_take_the_name_of_another_provider),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
