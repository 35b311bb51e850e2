/* ONNX's backend tests, most of them of single operators, with every tactic of every layer.
 *
 * Counted are those that ONNX Runtime itself passes. Each is built as often as its layers have tactics, so that every
 * tactic of every layer runs at least once, and its results are compared with those of the test data within the
 * tolerance of ONNX's test runner. What fails has to be listed in node_test_exceptions.txt with a reason.
 * POLYGRAPHY_NODE_TEST=part runs the tests whose names have that part, and says how each of them fares.
 */
#include "backend/onnxrt/settings.h"
#include "support/unit_test.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/library.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "engine/build/builder.h"
#include "engine/network/compile.h"
#include "engine/plan/plan.h"
#include "engine/run/executor.h"
#include "onnx/model/model.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"
#include "support/scratch_folder.h"
#include "tensor/values/elements.h"

#define DATA_FOLDER "/usr/share/libonnx-testdata/data"
#define EXCEPTIONS "tests/unit/engine/node_test_exceptions.txt"
#define MAX_ALGORITHMS 256

/* How the tactics of one kind fared: "onednn jit_1x1:avx2". */
struct tally {
    char name[TACTIC_NAME_SIZE + 16];
    size_t layers, failed;
};

/* A provider that gives the real providers' tactics, but only one of them for each layer. */
struct picker {
    struct tactic_provider provider;
    struct provider_list providers;
    size_t which;   /* the number of the tactic, modulo how many a layer has */
    size_t longest; /* list so far */
};

struct suite {
    struct picker picker;
    struct tactic_provider *items[1];
    struct tally tallies[MAX_ALGORITHMS];
    size_t tally_count;
    size_t read, no_tensors, refused, passed, restored;
    struct string_builder failures, exceptions;
    bool shows;
};

/* ---- The data: a folder for each test, with a model and sets of inputs and outputs ---- */

/* As ONNX's own test runner has them. */
#define RELATIVE_TOLERANCE 1e-3
#define ABSOLUTE_TOLERANCE 1e-7

/* The first set of data of a test; the files stay mapped. */
struct node_test {
    const char *name;
    char model_path[1024];
    struct file_map maps[64];
    size_t map_count;
    struct tensor_list inputs, expected;
    bool tensors_only; /* all of its inputs and outputs are tensors that this program can read */
};

/* One of the files "input_<i>.pb". False when there is no more. */
static bool node_test_read(struct node_test *test, const char *folder, const char *kind, size_t number,
                           struct text name, struct tensor_list *ret)
{
    char path[1100];
    struct file_map *map = &test->maps[test->map_count];
    struct tensor tensor;
    FILE *file;

    snprintf(path, sizeof(path), "%s/test_data_set_0/%s_%zu.pb", folder, kind, number);
    file = fopen(path, "rb");
    if (file == NULL)
        return false;
    fclose(file);
    assert_true(test->map_count < ARRAY_LEN(test->maps));
    if (file_map_open(path, map, NULL) < 0)
        fail_msg("%s cannot be read", path);
    test->map_count++;
    if (tensor_proto_decode((struct span){map->data, map->size}, &tensor, NULL) < 0) {
        test->tensors_only = false;
        return true;
    }
    tensor_list_add(ret, name, &tensor);
    return true;
}

static void node_test_describe(struct node_test *test, const struct model *model, uint32_t value)
{
    struct value_type type;

    value_info_decode(model->values.items[value].info, &type);
    test->tensors_only &= type.not_a_tensor == NULL;
}

/* False when there are no data. */
static bool node_test_open(struct node_test *test, const char *folder, const char *name)
{
    struct model *model = NULL;
    char path[600];

    *test = (struct node_test){.name = name, .tensors_only = true};
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    snprintf(test->model_path, sizeof(test->model_path), "%s/model.onnx", path);
    if (model_open(test->model_path, NULL, &model, NULL) < 0)
        return false;
    for (size_t i = 0; i < model->inputs.count; i++) {
        node_test_describe(test, model, model->inputs.items[i]);
        if (!node_test_read(test, path, "input", i, model->values.items[model->inputs.items[i]].name, &test->inputs))
            test->tensors_only = false;
    }
    for (size_t i = 0; i < model->outputs.count; i++) {
        node_test_describe(test, model, model->outputs.items[i]);
        if (!node_test_read(test, path, "output", i, model->values.items[model->outputs.items[i]].name,
                            &test->expected))
            test->tensors_only = false;
    }
    model_free(model);
    return true;
}

static void node_test_close(struct node_test *test)
{
    tensor_list_release(&test->inputs);
    tensor_list_release(&test->expected);
    for (size_t i = 0; i < test->map_count; i++)
        file_map_release(&test->maps[i]);
}

static bool close_enough(double expected, double actual)
{
    if (isnan(expected) || isnan(actual))
        return isnan(expected) && isnan(actual);
    return expected == actual || fabs(expected - actual) <= ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE * fabs(expected);
}

/* Whether a result is what the test expects. */
static bool is_expected(const struct tensor *expected, const struct tensor *actual)
{
    size_t count = tensor_elements(expected);

    if (expected->type != actual->type || !shape_equal(&expected->shape, &actual->shape))
        return false;
    if (elements_arithmetic(expected->type) == ARITHMETIC_NONE ||
        elements_arithmetic(expected->type) == ARITHMETIC_INTEGER)
        return tensor_identical(expected, actual);
    for (size_t i = 0; i < count; i++) {
        double numbers[2];

        elements_to_float64(expected, i, 1, &numbers[0]);
        elements_to_float64(actual, i, 1, &numbers[1]);
        if (!close_enough(numbers[0], numbers[1]))
            return false;
    }
    return true;
}

static bool all_expected(const struct node_test *test, const struct tensor_list *actual)
{
    for (size_t i = 0; i < test->expected.count; i++) {
        const struct named_tensor *output = tensor_list_find(actual, text_of(test->expected.items[i].name));

        if (output == NULL || !is_expected(&test->expected.items[i].tensor, &output->tensor))
            return false;
    }
    return true;
}

/* ---- The provider ---- */

static int pick(struct tactic_provider *provider, const struct kernel_request *request, struct tactic_list *ret,
                struct error *err)
{
    struct picker *picker = (struct picker *)provider;
    struct tactic_list all = {0};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < picker->providers.count; i++)
        rc = picker->providers.items[i]->list(picker->providers.items[i], request, &all, err);
    if (rc == 0 && all.count > 0) {
        ret->items = memory_grow(ret->items, ret->count, &ret->capacity, sizeof(*ret->items));
        tactic_copy(&ret->items[ret->count++], &all.items[picker->which % all.count], request->layer);
    }
    if (all.count > picker->longest)
        picker->longest = all.count;
    tactic_list_release(&all);
    return rc;
}

/* ---- One test ---- */

static int feed_test(void *context, const struct backend_io *inputs, size_t count, int64_t iteration,
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

/* Whether ONNX Runtime passes the test. */
static bool runtime_passes(const struct node_test *test)
{
    struct backend_request request = {.model.path = test->model_path,
                                      .settings =
                                          &(struct onnxrt_settings){.optimization_level = -1, .intra_threads = 1}};
    struct backend_session *session;
    struct tensor_list outputs = {0};
    bool passes;

    if (onnxrt_backend.open(&request, &session, NULL) < 0)
        return false;
    passes =
        onnxrt_backend.run(session, &test->inputs, NULL, &outputs, NULL, NULL) == 0 && all_expected(test, &outputs);
    onnxrt_backend.close(session);
    tensor_list_release(&outputs);
    return passes;
}

static int run_engine(struct suite *suite, const struct node_test *test, const struct engine *engine, bool *ret_passed,
                      struct error *err)
{
    struct executor *executor;
    struct tensor_list outputs = {0};
    int rc = executor_new(engine, NULL, &executor, err);

    if (rc < 0)
        return rc;
    rc = executor_run(executor, &test->inputs, NULL, &outputs, NULL, err);
    if (rc == 0) {
        *ret_passed = all_expected(test, &outputs);
        if (!*ret_passed)
            error_set(err, ERR_BACKEND, "other values");
    }
    executor_free(executor);
    tensor_list_release(&outputs);
    return rc;
}

/* "onednn jit_1x1:avx2 aBcd8b" counts as "onednn jit_1x1:avx2". */
static void count_tactic(struct suite *suite, const struct tactic *tactic, bool passed)
{
    char name[TACTIC_NAME_SIZE + 16];
    size_t i = 0;

    snprintf(name, sizeof(name), "%s %.*s", tactic->provider->name, (int)strcspn(tactic->name, " "), tactic->name);
    while (i < suite->tally_count && strcmp(suite->tallies[i].name, name) != 0)
        i++;
    assert_true(i < MAX_ALGORITHMS);
    if (i == suite->tally_count)
        memcpy(suite->tallies[suite->tally_count++].name, name, sizeof(name));
    suite->tallies[i].layers++;
    suite->tallies[i].failed += !passed;
}

/* Whether a pattern among the exceptions has it. */
static bool is_excepted(const struct suite *suite, const char *failure)
{
    const char *line = suite->exceptions.data;

    for (size_t size; *line != '\0'; line += size + (line[size] == '\n')) {
        const char *end;

        size = strcspn(line, "\n");
        end = strstr(line, " | ");
        if (end != NULL && end < line + size &&
            text_matches_pattern(text_of(failure), (struct text){line, (size_t)(end - line)}))
            return true;
    }
    return false;
}

/* `failure`: the test, and the tactics of its layers: "test_x onednn:jit:avx2 abcd". */
static void report(struct suite *suite, const char *failure, const char *why)
{
    if (suite->shows || !is_excepted(suite, failure))
        string_add_format(&suite->failures, "%s%s: %s\n", suite->shows ? "" : "FAILED ", failure, why);
}

static void describe_failure(const struct node_test *test, const struct engine *engine, struct string_builder *ret)
{
    string_add(ret, test->name);
    for (size_t i = 0; i < engine->network->layers.count; i++)
        if (engine->network->layers.count < 4 || strcmp(engine->layers[i].tactic.provider->name, "onnxrt") != 0)
            string_add_format(ret, " %s:%s", engine->layers[i].tactic.provider->name, engine->layers[i].tactic.name);
}

/* Builds and runs the network with the picker's tactics. */
static bool run_network(struct suite *suite, const struct node_test *test, const struct network *network)
{
    struct builder_settings settings = {
        .providers = {.items = suite->items, .count = 1},
        .sample = {.feed = feed_test, .context = (void *)(uintptr_t)&test->inputs, .iterations = 1},
        .deterministic = true,
        .threads = 1,
    };
    struct engine *engine = NULL;
    struct string_builder name;
    struct error err = {0};
    bool passed = false;

    string_init(&name);
    if (engine_build(network, &settings, &engine, &err) < 0) {
        string_add_format(&name, "%s tactic %zu", test->name, suite->picker.which);
        report(suite, name.data, err.message);
        string_release(&name);
        return false;
    }
    if (run_engine(suite, test, engine, &passed, &err) < 0)
        passed = false;
    for (size_t i = 0; i < network->layers.count; i++)
        count_tactic(suite, &engine->layers[i].tactic, passed);
    describe_failure(test, engine, &name);
    if (!passed || suite->shows)
        report(suite, name.data, passed ? "passed" : err.message);
    string_release(&name);
    engine_free(engine);
    return passed;
}

/* The engine as a file: saved, loaded, run. */
static void check_plan(struct suite *suite, const struct node_test *test, const struct network *network)
{
    struct provider_settings providers = {.threads = 1};
    struct builder_settings settings = {
        .providers = suite->picker.providers,
        .sample = {.feed = feed_test, .context = (void *)(uintptr_t)&test->inputs, .iterations = 1},
        .deterministic = true,
        .threads = 1,
    };
    struct engine *engine = NULL, *again = NULL;
    struct error err = {0};
    bool passed = false;

    if (engine_build(network, &settings, &engine, &err) == 0 && plan_save(engine, "plan", &err) == 0 &&
        plan_load("plan", &providers, &again, &err) == 0)
        run_engine(suite, test, again, &passed, &err);
    suite->restored += passed;
    if (!passed) {
        struct string_builder name;

        string_init(&name);
        string_add_format(&name, "%s plan", test->name);
        report(suite, name.data, err.message);
        string_release(&name);
    }
    engine_free(engine);
    engine_free(again);
    remove("plan");
}

static void check_test(struct suite *suite, const struct node_test *test)
{
    struct network_settings settings = {.folding = {.backend = &onnxrt_backend}};
    struct network *network = NULL;
    struct model *model;
    struct error err = {0};
    bool passed = true;

    if (model_open(test->model_path, NULL, &model, &err) < 0 || network_build(model, &settings, &network, &err) < 0) {
        report(suite, test->name, err.message);
        return;
    }
    suite->picker.longest = 0;
    suite->picker.which = 0;
    do {
        passed &= run_network(suite, test, network);
        suite->picker.which++;
    } while (suite->picker.which < suite->picker.longest);
    suite->passed += passed;
    check_plan(suite, test, network);
    network_free(network);
}

static void remark(struct suite *suite, const struct node_test *test, const char *what)
{
    if (suite->shows)
        string_add_format(&suite->failures, "%s: %s\n", test->name, what);
}

static void take_test(struct suite *suite, const struct node_test *test)
{
    suite->read++;
    if (!test->tensors_only) {
        suite->no_tensors++;
        remark(suite, test, "has inputs or outputs that are no tensors");
    } else if (!runtime_passes(test)) {
        suite->refused++;
        remark(suite, test, "is not passed by ONNX Runtime");
    } else {
        check_test(suite, test);
    }
}

/* ---- All of them ---- */

static void read_exceptions(struct suite *suite)
{
    const char *root = getenv("POLYGRAPHY_ROOT");
    char path[1024], line[512];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", root != NULL ? root : ".", EXCEPTIONS);
    file = fopen(path, "r");
    assert_non_null(file);
    string_init(&suite->exceptions);
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (line[0] != '#')
            string_add(&suite->exceptions, line);
    if (file != NULL)
        fclose(file);
}

static void suite_init(struct suite *suite)
{
    struct provider_settings settings = {.threads = 1};
    struct error err = {0};

    *suite = (struct suite){.picker = {.provider = {.name = "picker", .version = "1", .list = pick}}};
    suite->items[0] = &suite->picker.provider;
    if (providers_open(&settings, &suite->picker.providers, &err) < 0)
        fail_msg("%s", err.message);
    string_init(&suite->failures);
    read_exceptions(suite);
}

static void suite_release(struct suite *suite)
{
    providers_close(&suite->picker.providers);
    string_release(&suite->failures);
    string_release(&suite->exceptions);
}

static int compare_tallies(const void *a, const void *b)
{
    return strcmp(((const struct tally *)a)->name, ((const struct tally *)b)->name);
}

static void show(struct suite *suite, size_t counted)
{
    print_message("# %zu tests: %zu of them have inputs or outputs that are no tensors, %zu more ONNX Runtime does not "
                  "pass; of the other %zu the engine passes %zu with every tactic, and %zu out of a plan file\n",
                  suite->read, suite->no_tensors, suite->refused, counted, suite->passed, suite->restored);
    qsort(suite->tallies, suite->tally_count, sizeof(*suite->tallies), compare_tallies);
    print_message("# %-48s %8s %8s\n", "tactic", "layers", "failed");
    for (size_t i = 0; i < suite->tally_count; i++)
        print_message("# %-48s %8zu %8zu\n", suite->tallies[i].name, suite->tallies[i].layers,
                      suite->tallies[i].failed);
}

/* Line by line: cmocka's buffer is small. */
static void show_failures(const struct suite *suite)
{
    const char *line = suite->failures.data;

    for (size_t size; suite->failures.size > 0 && *line != '\0'; line += size + 1) {
        size = strcspn(line, "\n");
        print_message("# %.*s\n", (int)(size < 500 ? size : 500), line);
    }
}

/* The tests in one folder of the data. Returns how many there are. */
static size_t check_folder(struct suite *suite, const char *folder, const char *part)
{
    char path[256];
    struct dirent **entries = NULL;
    size_t before = suite->read;
    int count;

    snprintf(path, sizeof(path), "%s/%s", DATA_FOLDER, folder);
    count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        struct node_test test;

        if (strncmp(entries[i]->d_name, "test_", 5) == 0 &&
            (part == NULL || strstr(entries[i]->d_name, part) != NULL) &&
            node_test_open(&test, path, entries[i]->d_name)) {
            take_test(suite, &test);
            node_test_close(&test);
        }
        free(entries[i]);
    }
    free(entries);
    return suite->read - before;
}

static void every_test_that_onnxruntime_passes_is_passed_with_every_tactic(void **state)
{
    static const char *const folders[] = {"node", "simple", "pytorch-converted", "pytorch-operator"};
    const char *part = getenv("POLYGRAPHY_NODE_TEST");
    const struct onnxrt *runtime;
    struct error err = {0};
    struct suite suite;

    if (onnxrt_load(NULL, &runtime, &err) == ERR_MISSING) {
        print_message("%s\n", err.message);
        skip();
    }
    suite_init(&suite);
    suite.shows = part != NULL;
    for (size_t i = 0; i < ARRAY_LEN(folders); i++)
        print_message("# %s: %zu tests\n", folders[i], check_folder(&suite, folders[i], part));
    show(&suite, suite.read - suite.no_tensors - suite.refused);
    show_failures(&suite);
    assert_true(suite.shows || suite.failures.size == 0);
    suite_release(&suite);
    if (suite.read == 0) {
        print_message("no tests in " DATA_FOLDER ": install libonnx-testdata\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_test_that_onnxruntime_passes_is_passed_with_every_tactic,
                                        scratch_folder_enter, scratch_folder_leave),
    };

    return cmocka_run_group_tests_name("node tests", tests, NULL, NULL);
}
