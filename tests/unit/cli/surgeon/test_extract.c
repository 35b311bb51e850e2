/* Random cuts of real models by `surgeon extract`: every part loads in ONNX Runtime, and computes what the whole model
 * does.
 *
 * Ten cuts of each model, or two hundred if POLYGRAPHY_TEST_THOROUGH is set. Skipped where the models or the runtime
 * are missing. */
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/type_inference.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "comparator/reference/values.h"
#include "support/command_line.h"
#include "support/scratch_folder.h"
#include "tensor/generate/mersenne_twister.h"

#define CUTS 10
#define THOROUGH_CUTS 200
#define MOST_OUTPUTS 3

static const char *const names[] = {
    "onnx_light/light_bvlc_alexnet.onnx",
    "onnx_light/light_densenet121.onnx",
    "onnx_light/light_resnet50.onnx",
    "onnx_light/light_squeezenet.onnx",
    "silero/silero_vad.onnx",
    "silero/silero_vad_half.onnx",
};

/* What the speech models want: some sound, and its sampling rate. Said to the command, too, since their shapes are
 * dynamic and some only known from a run. */
static const struct data_loader_shape shapes[] = {{"input", {2, {1, 576}}}, {"state", {3, {2, 1, 128}}}};
static const struct data_loader_range ranges[] = {{"sr", 16000, 16000}};

static const char *const speech_words[] = {"--model-input-shapes", "input:[1,576]", "state:[2,1,128]",
                                           "--val-range",          "[0,1]",         "sr:[16000,16000]"};

struct bench {
    char *path;
    bool is_speech;
    struct model *model;
    struct subgraph whole;
    struct data_loader_settings data;
    struct data_loader *loader;
    struct backend_request request;
    struct reference_values *reference;
    struct value_list tensors; /* that nodes make */
    struct bitset not_tensors;
    struct mersenne_twister random;
};

/* One cut: what `surgeon extract` is asked for. */
struct cut {
    struct value_list inputs, outputs;
};

static void fail_with(const char *what, const struct error *err)
{
    fail_msg("%s: %s", what, err->message);
}

/* ---- The whole model ---- */

static void list_tensors(struct bench *bench)
{
    struct value_list all = {0};
    struct error err = {0};

    bitset_init(&bench->not_tensors, bench->model->values.count);
    if (types_infer(bench->model, NULL, &onnxrt_backend, &bench->request, &bench->not_tensors, &err) < 0)
        fail_with(bench->path, &err);
    types_list_all(&bench->whole, &all);
    for (size_t i = 0; i < all.count; i++)
        if (!bitset_has(&bench->not_tensors, all.items[i]))
            value_list_add(&bench->tensors, all.items[i]);
    free(all.items);
}

static void bench_open(struct bench *bench, char *path)
{
    struct error err = {0};

    *bench = (struct bench){.path = path};
    bench->data = (struct data_loader_settings){.seed = 1,
                                                .iterations = 1,
                                                .shapes = shapes,
                                                .shape_count = ARRAY_LEN(shapes),
                                                .ranges = {ranges, ARRAY_LEN(ranges)}};
    if (model_open(path, NULL, &bench->model, &err) < 0 ||
        data_loader_new(&bench->data, NULL, &bench->loader, &err) < 0)
        fail_with(path, &err);
    subgraph_init_whole(&bench->whole, bench->model);
    list_tensors(bench);
    reference_values_new(&bench->whole, &onnxrt_backend, &bench->request, bench->loader, NULL, &bench->reference);
    if (reference_values_record(bench->reference, &bench->tensors, &err) < 0)
        fail_with(path, &err);
    mersenne_twister_seed(&bench->random, 1);
}

static void bench_close(struct bench *bench)
{
    reference_values_free(bench->reference);
    bitset_release(&bench->not_tensors);
    free(bench->tensors.items);
    subgraph_release(&bench->whole);
    data_loader_free(bench->loader);
    model_free(bench->model);
    free(bench->path);
}

/* ---- Cutting ---- */

static size_t below(struct bench *bench, size_t limit)
{
    return (size_t)mersenne_twister_next(&bench->random) % limit;
}

static void push(const struct bench *bench, struct edge_range range, struct bitset *seen, struct value_list *pending)
{
    for (size_t i = 0; i < range.count; i++) {
        uint32_t value = model_edge(bench->model, range, i);

        if (value == VALUE_NONE || bitset_has(seen, value) ||
            bench->model->values.items[value].initializer != INITIALIZER_NONE)
            continue;
        bitset_add(seen, value);
        value_list_add(pending, value);
    }
}

/* Walks from some outputs towards the beginning, and stops now and then: at inputs of the part. */
static struct cut make_cut(struct bench *bench)
{
    static const size_t lengths[] = {3, 10, 50, 1000}; /* of the paths, on average */
    size_t length = lengths[below(bench, ARRAY_LEN(lengths))];
    struct value_list pending = {0};
    struct bitset seen;
    struct cut cut = {0};

    bitset_init(&seen, bench->model->values.count);
    for (size_t left = 1 + below(bench, MOST_OUTPUTS); left > 0; left--) {
        uint32_t value = bench->tensors.items[below(bench, bench->tensors.count)];

        if (!bitset_has(&seen, value))
            value_list_add(&cut.outputs, value);
        bitset_add(&seen, value);
    }
    for (size_t i = 0; i < cut.outputs.count; i++)
        value_list_add(&pending, cut.outputs.items[i]);
    for (size_t i = 0; i < pending.count; i++) {
        uint32_t value = pending.items[i], producer = bench->model->values.items[value].producer;
        bool may_stop = i >= cut.outputs.count && !bitset_has(&bench->not_tensors, value);

        if (producer == NODE_NONE || (may_stop && below(bench, length) == 0)) {
            value_list_add(&cut.inputs, value);
            continue;
        }
        push(bench, bench->model->nodes.items[producer].inputs, &seen, &pending);
        push(bench, bench->model->nodes.items[producer].captures, &seen, &pending);
    }
    free(pending.items);
    bitset_release(&seen);
    return cut;
}

/* ---- Extracting ---- */

/* "x:auto:auto", or with the shape and type that the tensor has in the reference run. */
static const char *describe(struct bench *bench, struct arena *arena, uint32_t value, bool with_shape, bool known)
{
    const struct tensor *tensor = reference_values_get(bench->reference, value);
    struct text name = bench->model->values.items[value].name;
    struct string_builder text;
    const char *word;

    string_init(&text);
    string_add_format(&text, TEXT_FORMAT ":", TEXT_ARGS(name));
    for (size_t i = 0; with_shape && known && i < tensor->shape.rank; i++)
        string_add_format(&text, "%s%lld", i == 0 ? "[" : ",", (long long)tensor->shape.dims[i]);
    if (with_shape)
        string_add(&text, !known ? "auto:" : tensor->shape.rank > 0 ? "]:" : "[]:");
    string_add(&text, known ? data_type_name(tensor->type) : "auto");
    word = arena_strdup(arena, text.data);
    string_release(&text);
    return word;
}

static void run_extract(struct bench *bench, const struct cut *cut, bool known)
{
    struct command_line line = {0};
    struct arena arena;
    const char **words;
    size_t count = 0;
    struct error err = {0};

    arena_init(&arena);
    words = arena_alloc_zero(&arena, cut->inputs.count + cut->outputs.count + 16, sizeof(*words));
    words[count++] = bench->path;
    words[count++] = "-o";
    words[count++] = "part.onnx";
    if (cut->inputs.count > 0)
        words[count++] = "--inputs";
    for (size_t i = 0; i < cut->inputs.count; i++)
        words[count++] = describe(bench, &arena, cut->inputs.items[i], true, known);
    words[count++] = "--outputs";
    for (size_t i = 0; i < cut->outputs.count; i++)
        words[count++] = describe(bench, &arena, cut->outputs.items[i], false, known);
    for (size_t i = 0; bench->is_speech && i < ARRAY_LEN(speech_words); i++)
        words[count++] = speech_words[i];
    command_line_parse(&line, &cmd_surgeon_extract, words);
    if (line.outcome != PARSE_DONE || line.rc < 0)
        fail_with("the command line", &line.err);
    if (cmd_surgeon_extract.run(
            &(const struct command_context){.parse = &line.parse, .log = &line.log.log, .command_line = words},
            line.parse.settings, &err) != 0)
        fail_with("surgeon extract", &err);
    command_line_release(&line);
    arena_release(&arena);
}

/* Feeds the part what the whole model had there, and compares what it makes. */
static void must_agree(struct bench *bench, const struct cut *cut)
{
    struct backend_request request = bench->request;
    struct backend_session *session;
    struct tensor_list feed = {0}, outputs = {0};
    struct error err = {0};

    request.model.path = "part.onnx";
    if (onnxrt_backend.open(&request, &session, &err) < 0)
        fail_with("a part does not load", &err);
    assert_int_equal(session->input_count, cut->inputs.count > 0 ? cut->inputs.count : bench->whole.inputs.count);
    for (size_t i = 0; i < cut->inputs.count; i++) {
        struct tensor value = *reference_values_get(bench->reference, cut->inputs.items[i]);

        value.free_owner = NULL;
        tensor_list_add(&feed, bench->model->values.items[cut->inputs.items[i]].name, &value);
    }
    if (cut->inputs.count > 0) {
        if (onnxrt_backend.run(session, &feed, NULL, &outputs, NULL, &err) < 0)
            fail_with("a part does not run", &err);
        assert_int_equal(outputs.count, cut->outputs.count);
    }
    for (size_t i = 0; i < outputs.count; i++)
        if (!tensor_identical(&outputs.items[i].tensor, reference_values_get(bench->reference, cut->outputs.items[i])))
            fail_msg("'%s' differs from what the whole model makes", outputs.items[i].name);
    tensor_list_release(&feed);
    tensor_list_release(&outputs);
    onnxrt_backend.close(session);
}

static bool runtime_is_there(void)
{
    struct backend_request request = {.model.data = "", .model.size = 0};
    struct backend_session *session;
    struct error err = {0};

    return onnxrt_backend.open(&request, &session, &err) != ERR_MISSING;
}

static void extract_from(const char *name)
{
    const char *folder = getenv("POLYGRAPHY_TEST_MODELS");
    char *path = folder != NULL ? file_join(folder, name) : NULL;
    size_t count = getenv("POLYGRAPHY_TEST_THOROUGH") != NULL ? THOROUGH_CUTS : CUTS;
    struct bench bench;

    if (path == NULL || !file_exists(path) || !runtime_is_there()) {
        free(path);
        skip();
    }
    bench_open(&bench, path);
    bench.is_speech = strncmp(name, "silero/", 7) == 0;
    for (size_t i = 0; i < count; i++) {
        struct cut cut = make_cut(&bench);

        run_extract(&bench, &cut, i % 4 == 0);
        must_agree(&bench, &cut);
        free(cut.inputs.items);
        free(cut.outputs.items);
    }
    print_message("%s: %zu cuts\n", name, count);
    bench_close(&bench);
}

#define PARTS_OF(model, index)                                                                                         \
    static void parts_of_##model##_compute_what_the_whole_does(void **state)                                           \
    {                                                                                                                  \
        extract_from(names[index]);                                                                                    \
    }

PARTS_OF(alexnet, 0)
PARTS_OF(densenet121, 1)
PARTS_OF(resnet50, 2)
PARTS_OF(squeezenet, 3)
PARTS_OF(silero_vad, 4)
PARTS_OF(silero_vad_half, 5)

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(parts_of_alexnet_compute_what_the_whole_does),
        IN_SCRATCH(parts_of_densenet121_compute_what_the_whole_does),
        IN_SCRATCH(parts_of_resnet50_compute_what_the_whole_does),
        IN_SCRATCH(parts_of_squeezenet_compute_what_the_whole_does),
        IN_SCRATCH(parts_of_silero_vad_compute_what_the_whole_does),
        IN_SCRATCH(parts_of_silero_vad_half_compute_what_the_whole_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
