/* Reduction of real models, with a check that is known: it fails when one given node is there. Every candidate on the
 * way has to load in ONNX Runtime; in linear searches, whose candidates are thousands, every tenth, unless
 * POLYGRAPHY_TEST_THOROUGH is set, which also makes them look for twenty culprits in each model. Skipped where the
 * models or the runtime are missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "debug/cut/candidate.h"
#include "onnx/edit/model.h"
#include "onnx/write/model.h"

/* How many nodes of each model play the culprit: spread evenly, the first and the last among them. */
#define CULPRITS 20

struct bench {
    struct model *model;
    struct data_loader_settings data;
    struct data_loader *loader;
    struct candidate_settings settings;
    struct candidate_maker maker;
    struct {
        struct hash *items;
        size_t count, capacity;
    } seen;        /* candidates so far */
    size_t stride; /* every how many of them has to load */
    size_t loaded;
};

static void fail_with(const char *what, const struct error *err)
{
    fail_msg("%s: %s", what, err->message);
}

static void bench_open(struct bench *bench, const char *path)
{
    struct error err = {0};

    *bench = (struct bench){.data = {.seed = 1, .iterations = 1}};
    if (model_open(path, NULL, &bench->model, &err) < 0 || model_lower_constants(bench->model, &err) < 0 ||
        data_loader_new(&bench->data, NULL, &bench->loader, &err) < 0)
        fail_with(path, &err);
    bench->settings =
        (struct candidate_settings){.static_inference = true, .backend = &onnxrt_backend, .loader = bench->loader};
    candidate_maker_init(&bench->maker, bench->model, &bench->settings, NULL);
}

static void bench_close(struct bench *bench)
{
    candidate_maker_release(&bench->maker);
    data_loader_free(bench->loader);
    model_free(bench->model);
    free(bench->seen.items);
}

/* False for what was loaded before, and for what the stride leaves out. */
static bool is_to_be_loaded(struct bench *bench, struct hash identity)
{
    for (size_t i = 0; i < bench->seen.count; i++)
        if (hash_equal(bench->seen.items[i], identity))
            return false;
    *VECTOR_APPEND(&bench->seen) = identity;
    return bench->seen.count % bench->stride == 0;
}

/* Writes the candidate as the session would, and lets the runtime read it. */
static void must_load(struct bench *bench, struct subgraph *candidate)
{
    struct backend_request request = bench->settings.request;
    struct backend_session *session;
    struct error err = {0};
    uint32_t not_a_tensor;
    char *bytes = NULL;
    size_t size = 0;

    if (!is_to_be_loaded(bench, subgraph_identity(candidate)))
        return;
    if (candidate_complete(&bench->maker, candidate, &not_a_tensor, &err) < 0 ||
        candidate_fill(&bench->maker, candidate, &err) < 0 || model_write_memory(candidate, &bytes, &size, &err) < 0)
        fail_with("candidate", &err);
    assert_int_equal(not_a_tensor, VALUE_NONE);
    request.model.data = bytes;
    request.model.size = size;
    request.model.external_folder = bench->model->folder;
    if (onnxrt_backend.open(&request, &session, &err) < 0)
        fail_with("a candidate does not load", &err);
    onnxrt_backend.close(session);
    free(bytes);
    bench->loaded++;
}

/* One phase; `best` is what it starts from and what it found. */
static void search(struct bench *bench, enum index_mode mode, enum index_direction direction, uint32_t culprit,
                   struct subgraph *best)
{
    struct subgraph base;
    struct index_search state;
    uint32_t *nodes;
    size_t count = 0;

    subgraph_init_copy(&base, best);
    nodes = memory_alloc_zero(bitset_count(&base.nodes), sizeof(*nodes));
    for (size_t i = bitset_next(&base.nodes, 0); i < base.nodes.size; i = bitset_next(&base.nodes, i + 1))
        nodes[count++] = (uint32_t)i;
    index_search_start(&state, mode, direction, (int64_t)count);
    while (state.next >= 0) {
        int64_t index = state.next;
        struct subgraph candidate;
        struct error err = {0};
        enum verdict verdict;

        if (candidate_cut(&bench->maker, &base, (struct cut_place){direction, nodes[index]}, true, &candidate, &err) <
            0)
            fail_with("cut", &err);
        must_load(bench, &candidate);
        verdict = bitset_has(&candidate.nodes, culprit) ? VERDICT_FAIL : VERDICT_PASS;
        index_search_ops.advance(&state, (int64_t)bitset_count(&candidate.nodes), verdict);
        if (verdict == VERDICT_FAIL && state.best_bad == index) {
            subgraph_release(best);
            *best = candidate;
        } else {
            subgraph_release(&candidate);
        }
    }
    index_search_ops.release(&state);
    free(nodes);
    subgraph_release(&base);
}

static void reduce_to(struct bench *bench, enum index_mode mode, uint32_t culprit)
{
    struct subgraph best;

    subgraph_init_copy(&best, &bench->maker.whole);
    search(bench, mode, INDEX_FOR_OUTPUTS, culprit, &best);
    search(bench, mode, INDEX_FOR_INPUTS, culprit, &best);
    assert_true(bitset_has(&best.nodes, culprit));
    if (mode == INDEX_LINEAR && bitset_count(&best.nodes) != 1)
        fail_msg("node %u: %zu nodes left", culprit, bitset_count(&best.nodes));
    subgraph_release(&best);
}

static bool runtime_is_there(void)
{
    struct backend_request request = {.model.data = "", .model.size = 0};
    struct backend_session *session;
    struct error err = {0};

    return onnxrt_backend.open(&request, &session, &err) != ERR_MISSING;
}

static void reduce_model(const char *name, enum index_mode mode, size_t culprits)
{
    const char *folder = getenv("POLYGRAPHY_TEST_MODELS");
    char *path =
        file_join(folder != NULL ? folder : "../shared/models" /* the default of POLYGRAPHY_TEST_MODELS */, name);
    struct bench bench;
    size_t nodes;

    if (!file_exists(path) || !runtime_is_there()) {
        free(path);
        skip();
    }
    bench_open(&bench, path);
    bench.stride = mode == INDEX_LINEAR ? 10 : 1;
    if (getenv("POLYGRAPHY_TEST_THOROUGH") != NULL) {
        culprits = CULPRITS;
        bench.stride = 1;
    }
    nodes = bench.model->nodes.count;
    if (culprits > nodes)
        culprits = nodes;
    for (size_t i = 0; i < culprits; i++)
        reduce_to(&bench, mode, (uint32_t)(culprits > 1 ? i * (nodes - 1) / (culprits - 1) : 0));
    print_message("%s: %zu culprits, %zu different candidates, %zu loaded\n", name, culprits, bench.seen.count,
                  bench.loaded);
    bench_close(&bench);
    free(path);
}

static void bisection_keeps_the_culprit_of_silero_vad(void **state)
{
    (void)state;
    reduce_model("silero/silero_vad.onnx", INDEX_BISECT, CULPRITS);
}

static void linear_search_isolates_every_node_of_silero_vad(void **state)
{
    (void)state;
    reduce_model("silero/silero_vad.onnx", INDEX_LINEAR, CULPRITS);
}

static void bisection_keeps_the_culprit_of_resnet50(void **state)
{
    (void)state;
    reduce_model("onnx_light/light_resnet50.onnx", INDEX_BISECT, CULPRITS);
}

static void linear_search_isolates_nodes_of_resnet50(void **state)
{
    (void)state;
    reduce_model("onnx_light/light_resnet50.onnx", INDEX_LINEAR, 2);
}

static void bisection_keeps_the_culprit_of_densenet121(void **state)
{
    (void)state;
    reduce_model("onnx_light/light_densenet121.onnx", INDEX_BISECT, CULPRITS);
}

static void linear_search_isolates_nodes_of_densenet121(void **state)
{
    (void)state;
    reduce_model("onnx_light/light_densenet121.onnx", INDEX_LINEAR, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bisection_keeps_the_culprit_of_silero_vad),
        cmocka_unit_test(linear_search_isolates_every_node_of_silero_vad),
        cmocka_unit_test(bisection_keeps_the_culprit_of_resnet50),
        cmocka_unit_test(linear_search_isolates_nodes_of_resnet50),
        cmocka_unit_test(bisection_keeps_the_culprit_of_densenet121),
        cmocka_unit_test(linear_search_isolates_nodes_of_densenet121),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
