/* Layer information: both schemas, what real engines have, precisions, writing, and damage. */
#include "support/format_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "format/tensorrt/layer_info.h"

static void open_info(struct layer_info *info, const char *path)
{
    struct error error = {0};

    if (layer_info_open(info, path, &error) < 0)
        fail_msg("%s", error.message);
}

static void parse(struct layer_info *info, const char *json)
{
    struct error error = {0};

    if (layer_info_parse(info, json, strlen(json), "test.json", &error) < 0)
        fail_msg("%s", error.message);
}

static void assert_refused(const char *json, int code, const char *part)
{
    struct layer_info info;
    struct error error = {0};

    assert_int_equal(layer_info_parse(&info, json, strlen(json), "test.json", &error), code);
    if (!strstr(error.message, part))
        fail_msg("'%s' does not contain '%s'", error.message, part);
}

static void layers_of_tensorrt_10_have_nodes_tactics_and_types(void **state)
{
    struct layer_info info;
    const struct layer_info_layer *layer;

    open_info(&info, "tests/golden/tensorrt/real/10.16.layers.json");
    assert_int_equal(info.layers.count, 9);
    layer = &info.layers.items[0];
    assert_string_equal(layer->name, "node_conv2d + node_relu");
    assert_string_equal(layer->type, "CaskConvolution");
    assert_true(layer->has_tactic);
    assert_int_equal(layer->tactic, 6596631851832846809);
    assert_true(layer->nodes.told);
    assert_int_equal(layer->nodes.count, 2);
    assert_string_equal(layer->nodes.items[1], "node_relu");
    assert_string_equal(layer->outputs.items[0].name, "relu");
    assert_int_equal(layer->outputs.items[0].type, DATA_FLOAT32);
    assert_int_equal(layer->outputs.items[0].rank, 4);
    assert_int_equal(layer->outputs.items[0].dims[1], 32);
    assert_string_equal(layer->outputs.items[0].location, "Device");
    layer = &info.layers.items[4]; /* one of Myelin's: no number, nodes with another separator */
    assert_false(layer->has_tactic);
    assert_int_equal(layer->nodes.count, 2);
    assert_string_equal(layer->nodes.items[0], "node_linear");
    assert_int_equal(info.layers.items[1].tactic, (int64_t)0xdd39499496c9cc38);
    assert_int_equal(info.layers.items[8].nodes.count, 0);
    assert_true(info.layers.items[8].nodes.told);
    assert_int_equal(info.bindings.count, 3);
    assert_string_equal(info.bindings.items[2].tensor.name, "z");
    assert_int_equal(info.bindings.items[2].mode, LAYER_INFO_MODE_UNKNOWN);
    layer_info_release(&info);
}

static void tensors_of_tensorrt_11_have_format_and_type_apart(void **state)
{
    struct layer_info info;
    const struct layer_info_tensor *tensor;

    open_info(&info, "tests/fuzz/corpus/fuzz_engine_information/layers_11.json");
    tensor = &info.layers.items[0].inputs.items[0];
    assert_string_equal(tensor->format, "Row major linear");
    assert_int_equal(tensor->type, DATA_FLOAT16);
    assert_int_equal(tensor->dims[1], -1);
    assert_int_equal(info.layers.items[0].outputs.items[0].type, DATA_FLOAT32);
    assert_false(info.layers.items[0].outputs.items[0].has_dims);
    assert_int_equal(info.layers.items[0].tactic, -1);
    assert_int_equal(info.layers.items[0].stream, 1);
    assert_int_equal(info.layers.items[0].nodes.count, 2); /* what is no node of ONNX is none */
    assert_null(info.layers.items[1].type);
    assert_int_equal(info.layers.items[1].nodes.count, 2);
    assert_false(info.layers.items[1].nodes.told);
    assert_int_equal(info.bindings.items[0].mode, LAYER_INFO_INPUT);
    assert_int_equal(info.bindings.items[0].tensor.type, DATA_FLOAT16);
    assert_int_equal(info.bindings.items[1].mode, LAYER_INFO_OUTPUT);
    layer_info_release(&info);
}

static size_t count_precision(const struct layer_info *info, const char *precision)
{
    size_t count = 0;

    for (size_t i = 0; i < info->layers.count; i++) {
        const char *told = layer_info_precision(&info->layers.items[i], NULL);

        count += !layer_info_only_moves(&info->layers.items[i]) && told && strcmp(told, precision) == 0;
    }
    return count;
}

/* The same network, built three times. */
static void precisions_are_those_that_the_engines_were_built_for(void **state)
{
    struct layer_info info;

    open_info(&info, "tests/golden/tensorrt/layers/pytorch-resnet-A100-fp32.layers.json");
    assert_true(count_precision(&info, "tf32") + count_precision(&info, "float32") >= 20);
    assert_int_equal(count_precision(&info, "float16"), 0);
    layer_info_release(&info);
    open_info(&info, "tests/golden/tensorrt/layers/pytorch-resnet-A100-fp16.layers.json");
    assert_true(count_precision(&info, "float16") >= 20);
    assert_int_equal(count_precision(&info, "float32"), 0);
    layer_info_release(&info);
    open_info(&info, "tests/golden/tensorrt/layers/pytorch-resnet-A100-qat.layers.json");
    assert_int_equal(count_precision(&info, "int8"), 21); /* also where the outputs are float16 */
    assert_int_equal(count_precision(&info, "float16"), 1);
    layer_info_release(&info);
}

static void kernels_names_tell_precisions(void **state)
{
    static const struct {
        const char *tactic_name, *precision;
        bool from_kernel;
    } cases[] = {
        {"sm80_xmma_fprop_implicit_gemm_i8f16_i8i32_f32_nchw_tilesize128x64x64", "int8", true},
        {"sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc", "tf32", true},
        {"trt_turing_cutlass_image_network_first_layer_hmma_fprop_f16f16f32_nhwc", "float16", true},
        {"ampere_fp32_icudnn_int8x4_128x64_relu_medium_nn_v1", "int8", true},
        {"sm50_xmma_pooling_tiled_FP32NCHW_kMAX", "int32", false},
        {"gemvx_int32_unit_n", "int32", false},
        {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n", "bfloat16", true},
        {"sm90_xmma_gemm_e4m3e4m3_e4m3f32_f32_tn_n", "float8", true},
        {"__myl_MulSum_0xf16", "int32", false},
        {"_", "int32", false},
    };
    struct layer_info_tensor output = {.name = "y", .format = "", .type = DATA_INT32};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct layer_info_layer layer = {.tactic_name = cases[i].tactic_name, .outputs = {&output, 1, 1}};
        bool from_kernel;

        assert_string_equal(layer_info_precision(&layer, &from_kernel), cases[i].precision);
        assert_int_equal(from_kernel, cases[i].from_kernel);
    }
}

static void indices_beside_values_are_no_precision(void **state)
{
    struct layer_info_tensor outputs[] = {{.type = DATA_FLOAT16}, {.type = DATA_INT64}, {.type = DATA_FLOAT32}};
    struct layer_info_layer layer = {.outputs = {outputs, 2, 2}};

    assert_string_equal(layer_info_precision(&layer, NULL), "float16");
    layer.outputs.count = 3;
    assert_null(layer_info_precision(&layer, NULL));
    layer.outputs.count = 0;
    assert_null(layer_info_precision(&layer, NULL));
}

static void what_is_written_is_laid_out_as_tensorrt_does(void **state)
{
    static const int64_t dims[] = {1, -1};
    struct layer_info info;
    struct string_builder text;
    struct layer_info_layer *layer;
    struct layer_info_tensor *tensor;

    layer_info_init(&info);
    layer = layer_info_add_layer(&info, TEXT("a + \"b\""));
    layer->type = "kgen";
    layer->tactic_name = "k";
    layer->has_tactic = true;
    layer->tactic = -2;
    layer->nodes.told = true;
    layer_info_add_node(&info, layer, TEXT("a"));
    layer_info_add_node(&info, layer, TEXT("\"b\""));
    tensor = layer_info_add_tensor(&info, &layer->inputs, TEXT("x"));
    tensor->type = DATA_FLOAT16;
    layer_info_set_dims(&info, tensor, dims, 2);
    layer_info_add_binding(&info, TEXT("x"), LAYER_INFO_INPUT);
    string_init(&text);
    layer_info_write(&info, LAYER_INFO_SCHEMA_8_TO_10, &text);
    assert_string_equal(
        text.data, "{\"Layers\": [{\n  \"Name\": \"a + \\\"b\\\"\",\n  \"LayerType\": \"kgen\",\n  \"Inputs\": [\n"
                   "  {\n    \"Name\": \"x\",\n    \"Dimensions\": [1,-1],\n    \"Format/Datatype\": \"Half\"\n  }],\n"
                   "  \"Outputs\": [],\n  \"TacticName\": \"k\",\n  \"TacticValue\": \"0xfffffffffffffffe\",\n"
                   "  \"Metadata\": \"[ONNX Layer: a]\\u001e[ONNX Layer: \\\"b\\\"]\"\n}],\n\"Bindings\": [\"x\"]}");
    string_release(&text);
    layer_info_release(&info);
}

static void bare_names_are_written_as_they_were(void **state)
{
    struct layer_info info;
    struct string_builder text;
    size_t size;
    char *original = content_of("tests/fuzz/corpus/fuzz_engine_information/bare_names.json", &size);

    parse(&info, original);
    string_init(&text);
    layer_info_write(&info, LAYER_INFO_SCHEMA_8_TO_10, &text);
    assert_string_equal(text.data, original);
    string_release(&text);
    layer_info_release(&info);
    free(original);
}

static void damage_is_told(void **state)
{
    assert_refused("[]", ERR_INVALID, "no layer information");
    assert_refused("{\"Layers\": 5}", ERR_INVALID, "no layer information");
    assert_refused("{\"Layers\": [{\"Name\": \"l0 \"q\"\"}]}", ERR_CORRUPT, "test.json");
    assert_refused("{\"Layers\": [5]}", ERR_CORRUPT, "layer 0: an object is expected");
    assert_refused("{\"Layers\": [{\"LayerType\": \"x\"}]}", ERR_CORRUPT, "'Name' is missing");
    assert_refused("{\"Layers\": [{\"Name\": \"a\", \"Inputs\": {}}]}", ERR_CORRUPT, "'Inputs' is no list");
    assert_refused("{\"Layers\": [{\"Name\": \"a\", \"Outputs\": [{\"Name\": \"t\", \"Dimensions\": [1.5]}]}]}",
                   ERR_CORRUPT, "Outputs: tensor 0: dimension 0");
    assert_refused("{\"Layers\": [{\"Name\": \"a\", \"TacticValue\": \"0x12345678123456789\"}]}", ERR_CORRUPT,
                   "64 bits");
    assert_refused("{\"Layers\": [{\"Name\": \"a\", \"TacticValue\": \"0x-1\"}]}", ERR_CORRUPT, "hexadecimal");
    assert_refused("{\"Layers\": [], \"I/O Tensors\": [{}]}", ERR_CORRUPT, "I/O Tensors: tensor 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_of_tensorrt_10_have_nodes_tactics_and_types),
        cmocka_unit_test(tensors_of_tensorrt_11_have_format_and_type_apart),
        cmocka_unit_test(precisions_are_those_that_the_engines_were_built_for),
        cmocka_unit_test(kernels_names_tell_precisions),
        cmocka_unit_test(indices_beside_values_are_no_precision),
        cmocka_unit_test(what_is_written_is_laid_out_as_tensorrt_does),
        cmocka_unit_test(bare_names_are_written_as_they_were),
        cmocka_unit_test(damage_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
