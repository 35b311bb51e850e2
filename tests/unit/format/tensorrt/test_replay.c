/* Tactic replays made of layer information: against what TensorRT's own interface told of the same network. */
#include "support/format_fixture.h"

#include <string.h>

#include "base/memory.h"
#include "format/tensorrt/replay.h"

static void make(const char *path, struct tactic_replay *ret)
{
    struct layer_info info;
    struct error error = {0};

    if (layer_info_open(&info, path, &error) < 0)
        fail_msg("%s", error.message);
    tactic_replay_init(ret);
    assert_int_equal(layer_info_to_replay(&info, ret, &error), 0);
    layer_info_release(&info);
}

static void assert_text(const struct tactic_replay *replay, const char *layer, const char *expected)
{
    const struct tactic_algorithm *algorithm = tactic_replay_find(replay, layer);
    struct string_builder text;

    assert_non_null(algorithm);
    string_init(&text);
    tactic_algorithm_text(algorithm, &text);
    assert_string_equal(text.data, expected);
    string_release(&text);
}

/* An algorithm selector of TensorRT 10.16 told of these layers: implementation[ 2147483657],
 * tactic[ 6596631851832846809], stride=(784, 784, 28, 1); implementation[ 2147483695]. */
static void numbers_and_strides_are_tensorrts(void **state)
{
    struct tactic_replay replay;

    make("tests/golden/tensorrt/real/10.16.layers.json", &replay);
    assert_int_equal(replay.count, 9);
    assert_text(&replay, "node_conv2d + node_relu",
                "(Implementation: 2147483657, Tactic: 6596631851832846809) | "
                "Inputs: (TensorInfo(DataType.FLOAT, (784, 784, 28, 1), -1, 1),) | "
                "Outputs: (TensorInfo(DataType.FLOAT, (25088, 784, 28, 1), -1, 1),)");
    assert_int_equal(tactic_replay_find(&replay, "node_max_pool2d")->implementation, 2147483695);
    assert_string_equal(
        replay.items[4].algorithm.name,
        "sm50_xmma_cublas_gemvx_f32f32_f32_f32_tn_n_int32_unit_n_launch_param8x32x32_strided_unit_stride");
    tactic_replay_release(&replay);
}

static void kernels_of_myelin_are_told_apart_by_their_names(void **state)
{
    struct tactic_replay replay;

    make("tests/golden/tensorrt/real/10.16.layers.json", &replay);
    for (size_t i = 4; i < replay.count; i++) {
        assert_true(replay.items[i].algorithm.tactic > INT64_C(1) << 62);
        for (size_t k = 4; k < i; k++)
            assert_int_not_equal(replay.items[i].algorithm.tactic, replay.items[k].algorithm.tactic);
    }
    /* kgen, as the next one is */
    assert_int_equal(replay.items[5].algorithm.implementation, replay.items[6].algorithm.implementation);
    assert_int_not_equal(replay.items[4].algorithm.implementation, replay.items[5].algorithm.implementation);
    tactic_replay_release(&replay);
}

static void vectorized_formats_have_tensorrts_strides(void **state)
{
    struct tactic_replay replay;

    make("tests/golden/tensorrt/layers/pytorch-resnet-A100-fp16.layers.json", &replay);
    assert_text(&replay, "Conv_0 + Relu_1",
                "(Implementation: 2147483657, Tactic: -2152113126032530295) | "
                "Inputs: (TensorInfo(DataType.HALF, (50176, 1, 224, 1), 1, 4),) | "
                "Outputs: (TensorInfo(DataType.HALF, (100352, 1, 896, 8), 1, 8),)");
    tactic_replay_release(&replay);
    make("tests/golden/tensorrt/layers/pytorch-resnet-A100-qat.layers.json", &replay);
    assert_text(&replay, "layer1.0.conv1.weight + QuantizeLinear_20 + Conv_22",
                "(Implementation: 2147483657, Tactic: -1224421172675151280) | "
                "Inputs: (TensorInfo(DataType.INT8, (6272, 3136, 56, 1), 1, 32),) | "
                "Outputs: (TensorInfo(DataType.INT8, (6272, 3136, 56, 1), 1, 32),)");
    tactic_replay_release(&replay);
}

static void what_is_not_known_of_a_format_stays_in_words(void **state)
{
    static const char json[] =
        "{\"Layers\": [{\"Name\": \"a\", \"LayerType\": \"x\", \"TacticValue\": \"0x1\", "
        "\"Inputs\": [{\"Name\": \"t\", \"Dimensions\": [-1, 2], \"Format/Datatype\": \"Half\"}, "
        "{\"Name\": \"u\", \"Dimensions\": [1], \"Format/Datatype\": \"Half odd format\"}]}, "
        "{\"Name\": \"a\", \"TacticName\": \"k\"}, {\"Name\": \"a (2)\", \"TacticName\": \"k\"}, "
        "{\"Name\": \"wait\", \"LayerType\": \"wait\"}]}";
    struct layer_info info;
    struct tactic_replay replay;
    struct error error = {0};

    assert_int_equal(layer_info_parse(&info, json, sizeof(json) - 1, "test", &error), 0);
    tactic_replay_init(&replay);
    assert_int_equal(layer_info_to_replay(&info, &replay, &error), 0);
    layer_info_release(&info);
    assert_int_equal(replay.count, 3);
    assert_string_equal(replay.items[0].algorithm.inputs.items[0].dtype, "DataType.HALF (Half)");
    assert_string_equal(replay.items[0].algorithm.inputs.items[1].dtype, "DataType.HALF (Half odd format)");
    assert_string_equal(replay.items[1].layer, "a (2)");
    assert_string_equal(replay.items[2].layer, "a (2) (2)");
    assert_int_equal(replay.items[1].algorithm.tactic, replay.items[2].algorithm.tactic);
    tactic_replay_release(&replay);
}

static void names_alone_tell_no_tactics(void **state)
{
    struct layer_info info;
    struct tactic_replay replay;
    struct error error = {0};

    assert_int_equal(layer_info_open(&info, "tests/fuzz/corpus/fuzz_engine_information/bare_names.json", &error), 0);
    tactic_replay_init(&replay);
    assert_int_equal(layer_info_to_replay(&info, &replay, &error), ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "--profiling-verbosity=detailed"));
    tactic_replay_release(&replay);
    layer_info_release(&info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_strides_are_tensorrts),
        cmocka_unit_test(kernels_of_myelin_are_told_apart_by_their_names),
        cmocka_unit_test(vectorized_formats_have_tensorrts_strides),
        cmocka_unit_test(what_is_not_known_of_a_format_stays_in_words),
        cmocka_unit_test(names_alone_tell_no_tactics),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
