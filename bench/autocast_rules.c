/* bench/autocast_rules.c: which nodes the rules of NVIDIA Model Optimizer's AutoCast keep in float32.
 *
 *   autocast_rules MODEL INPUTS.json float16|bfloat16 rules|all ROUNDED.onnx
 *
 * MODEL is one in float32, whose constants are initializers (bench/quantize_model --float). It is run on the first
 * sample of INPUTS.json in float32. A node stays in float32 when the largest magnitude of a tensor that it reads or
 * writes exceeds 512 (data_max), when that of one of its constants exceeds 65504 (init_max), or when its operator does
 * not support the lower precision. The depth of reductions is not limited. Source of the rules and their defaults:
 * Model Optimizer's documentation, "AutoCast (ONNX)". This program applies them itself; neither AutoCast nor its
 * preprocessing of the model is run. `all`: only the last of these rules, for comparison.
 *
 * Writes ROUNDED.onnx: the other nodes compute on values that are rounded (onnx/half/rounded_nodes.h). Prints "N N N N
 * X": nodes in float32, how many of them only move data, nodes in the lower precision, Casts of the typed model, and
 * the largest difference of the outputs of ROUNDED.onnx from those of MODEL.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/settings.h"
#include "backend/type_inference.h"
#include "base/memory.h"
#include "comparator/reference/values.h"
#include "debug/precision/output_errors.h"
#include "engine/network/layers.h"
#include "onnx/edit/model.h"
#include "onnx/external/tensor.h"
#include "onnx/half/mixed_precision.h"
#include "onnx/half/half_operators.h"
#include "onnx/half/rounded_nodes.h"
#include "onnx/write/model.h"
#include "tensor/statistics/range.h"

#define DATA_MAX 512
#define INIT_MAX 65504 /* the largest float16 */

static const struct backend_request runtime = {.settings = &(struct onnxrt_settings){.optimization_level = -1}};
static struct error error;

static void must(int rc)
{
    if (rc == 0)
        return;
    fprintf(stderr, "autocast_rules: %s\n", error.message);
    exit(2);
}

/* ---- Rules ---- */

static bool exceeds(const struct tensor *tensor, double limit)
{
    struct value_range range;

    range_compute(tensor, &range);
    return range.infinities > 0 || range.largest_magnitude > limit;
}

static bool constant_exceeds(const struct model *model, uint32_t initializer)
{
    struct tensor tensor;
    bool ret;

    must(external_tensor_read(model, model->initializers.items[initializer].message, &tensor, &error));
    ret = exceeds(&tensor, INIT_MAX);
    tensor_release(&tensor);
    return ret;
}

static bool value_exceeds(const struct model *model, const struct reference_values *recorded, uint32_t value)
{
    uint32_t initializer = model->values.items[value].initializer;

    return initializer != INITIALIZER_NONE ? constant_exceeds(model, initializer)
                                           : exceeds(reference_values_get(recorded, value), DATA_MAX);
}

static bool is_float32(const struct model *model, uint32_t value)
{
    return value != VALUE_NONE && value_element(model, value) == DATA_FLOAT32;
}

/* The node's float32 tensors: inputs, then outputs. */
static void list_tensors(const struct model *model, const struct node *node, struct value_list *ret)
{
    ret->count = 0;
    for (size_t i = 0; i < node->inputs.count + node->outputs.count; i++) {
        uint32_t value = i < node->inputs.count ? model_edge(model, node->inputs, i)
                                                : model_edge(model, node->outputs, i - node->inputs.count);

        if (is_float32(model, value))
            value_list_add(ret, value);
    }
}

struct float32_nodes {
    size_t count, moving; /* moving: nodes that only move data */
};

static void count_float32(const struct model *model, const struct node *node, struct float32_nodes *ret)
{
    struct layer layer = {0};

    layer_classify(model, node, &layer);
    ret->count++;
    ret->moving += layer.moves_data;
}

/* Nodes without float32 inputs and outputs are counted in neither set. `recorded` NULL: the values are not
 * considered. */
static struct float32_nodes classify(const struct model *model, const struct reference_values *recorded,
                                     enum data_type half, struct bitset *low)
{
    struct float32_nodes ret = {0};
    struct value_list tensors = {0};

    for (size_t i = 0; i < model->nodes.count; i++) {
        const struct node *node = &model->nodes.items[i];
        bool takes = node_takes_half(model, node, half);

        if (!node_has_float32(model, node))
            continue;
        list_tensors(model, node, &tensors);
        for (size_t k = 0; recorded != NULL && takes && k < tensors.count; k++)
            takes = !value_exceeds(model, recorded, tensors.items[k]);
        if (takes)
            bitset_add(low, i);
        else
            count_float32(model, node, &ret);
    }
    free(tensors.items);
    return ret;
}

static struct reference_values *record(const struct subgraph *whole, struct data_loader *loader)
{
    const struct model *model = whole->model;
    struct value_list wanted = {0}, tensors = {0};
    struct reference_values *ret;

    for (size_t i = 0; i < model->nodes.count; i++) {
        list_tensors(model, &model->nodes.items[i], &tensors);
        for (size_t k = 0; k < tensors.count; k++)
            if (model->values.items[tensors.items[k]].initializer == INITIALIZER_NONE)
                value_list_add(&wanted, tensors.items[k]);
    }
    reference_values_new(whole, &onnxrt_backend, &runtime, loader, NULL, &ret);
    must(reference_values_record(ret, &wanted, &error));
    free(wanted.items);
    free(tensors.items);
    return ret;
}

/* ---- Outputs ---- */

static void run(const char *path, struct data_loader *loader, struct tensor_list *ret)
{
    struct backend_request request = runtime;
    struct backend_session *session;
    const struct backend_io *inputs;
    struct tensor_list feed = {0};
    size_t count;

    request.model.path = path;
    must(onnxrt_backend.open(&request, &session, &error));
    inputs = session->inputs;
    count = session->input_count;
    must(data_loader_feed(loader, inputs, count, 0, &feed, &error));
    must(onnxrt_backend.run(session, &feed, NULL, ret, NULL, &error));
    tensor_list_release(&feed);
    onnxrt_backend.close(session);
}

/* ---- Work ---- */

static void save_rounded(const struct model *model, const struct bitset *low, enum data_type half, const char *path)
{
    struct model *rounded = model_copy(model);
    struct unused_names names;
    struct subgraph whole;

    unused_names_init(&names, rounded, &rounded->arena);
    must(model_round_nodes(rounded, low, half, &names, &error));
    unused_names_release(&names);
    subgraph_init_whole(&whole, rounded);
    must(model_save(&whole, path, NULL, false, &error));
    subgraph_release(&whole);
    model_free(rounded);
}

static void apply_rules(struct model *model, struct data_loader *loader, enum data_type half, bool all,
                        const char *path)
{
    uint64_t *elements = memory_alloc_zero(model->values.count, sizeof(*elements));
    struct reference_values *recorded = NULL;
    struct mixed_precision_costs costs;
    struct subgraph whole;
    struct bitset low;
    struct float32_nodes float32;

    bitset_init(&low, model->nodes.count);
    subgraph_init_whole(&whole, model);
    if (!all)
        recorded = record(&whole, loader);
    float32 = classify(model, recorded, half, &low);
    mixed_precision_costs(model, &low, elements, &costs);
    printf("%zu %zu %zu %zu ", float32.count, float32.moving, bitset_count(&low), costs.casts);
    save_rounded(model, &low, half, path);
    if (recorded != NULL)
        reference_values_free(recorded);
    subgraph_release(&whole);
    bitset_release(&low);
    free(elements);
}

static void print_error(const char *path, const char *rounded, struct data_loader *loader)
{
    struct tensor_list reference = {0}, outputs = {0};
    struct output_error largest = {0};

    run(path, loader, &reference);
    run(rounded, loader, &outputs);
    output_error_add(&largest, &outputs, &reference);
    printf("%.2g\n", largest.absolute);
    output_error_release(&largest);
    tensor_list_release(&outputs);
    tensor_list_release(&reference);
}

int main(int argc, char **argv)
{
    const char *const files[] = {argc > 2 ? argv[2] : NULL, NULL};
    struct data_loader_settings data = {0};
    struct data_loader *loader;
    struct model *model;

    if (argc != 6) {
        fprintf(stderr, "usage: autocast_rules MODEL INPUTS.json float16|bfloat16 rules|all ROUNDED.onnx\n");
        return 2;
    }
    data.files = (struct words){files, 1};
    must(data_loader_new(&data, NULL, &loader, &error));
    must(model_open(argv[1], NULL, &model, &error));
    must(types_infer(model, NULL, &onnxrt_backend, &runtime, NULL, &error));
    apply_rules(model, loader, strcmp(argv[3], "bfloat16") == 0 ? DATA_BFLOAT16 : DATA_FLOAT16,
                strcmp(argv[4], "all") == 0, argv[5]);
    print_error(argv[1], argv[5], loader);
    model_free(model);
    data_loader_free(loader);
    return 0;
}
