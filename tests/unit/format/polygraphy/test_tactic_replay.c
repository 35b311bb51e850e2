/* Tactic replays: Polygraphy's files, ours, how algorithms look, and damage. */
#include "support/format_fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "format/polygraphy/tactic_replay.h"

static const char *const golden_files[] = {
    "tests/golden/tactics/good/0.json", "tests/golden/tactics/good/1.json", "tests/golden/tactics/good/2.json",
    "tests/golden/tactics/bad/0.json",  "tests/golden/tactics/bad/1.json",
};

static void load(struct tactic_replay *replay, const char *path)
{
    struct error error = {0};

    if (tactic_replay_load(replay, path, &error) < 0)
        fail_msg("%s", error.message);
}

static void parse(struct tactic_replay *replay, const char *json)
{
    struct error error = {0};

    if (tactic_replay_parse(replay, json, strlen(json), "test.json", &error) < 0)
        fail_msg("%s", error.message);
}

static void save(const struct tactic_replay *replay, const char *path)
{
    struct error error = {0};

    if (tactic_replay_save(replay, path, &error) < 0)
        fail_msg("%s", error.message);
}

static void assert_written(const struct tactic_replay *replay, const char *expected)
{
    struct json_writer writer;

    json_writer_init(&writer);
    tactic_replay_write(replay, &writer);
    assert_string_equal(writer.text.data, expected);
    json_writer_release(&writer);
}

static void assert_text(const struct tactic_algorithm *algorithm, const char *expected)
{
    struct string_builder text;

    string_init(&text);
    tactic_algorithm_text(algorithm, &text);
    assert_string_equal(text.data, expected);
    string_release(&text);
}

static void polygraphys_files_come_out_as_they_were(void **state)
{
    const char *copy = scratch_path("copy.json");

    for (size_t i = 0; i < ARRAY_LEN(golden_files); i++) {
        struct tactic_replay replay;

        tactic_replay_init(&replay);
        load(&replay, golden_files[i]);
        assert_int_equal(replay.count, 4);
        save(&replay, copy);
        assert_same_content(copy, golden_files[i]);
        tactic_replay_release(&replay);
    }
    unlink(copy);
}

static void layers_keep_their_order_and_numbers_all_their_bits(void **state)
{
    struct tactic_replay replay;

    tactic_replay_init(&replay);
    load(&replay, "tests/golden/tactics/good/0.json");
    assert_string_equal(replay.items[0].layer, "conv1 + relu1");
    assert_string_equal(replay.items[3].layer, "fc");
    assert_true(replay.items[0].algorithm.tactic == -6629741260599106110);
    assert_true(replay.items[0].algorithm.implementation == 2147483657);
    assert_ptr_equal(tactic_replay_find(&replay, "conv2"), &replay.items[2].algorithm);
    assert_null(tactic_replay_find(&replay, "conv"));
    tactic_replay_release(&replay);
}

static void algorithms_look_as_polygraphy_prints_them(void **state)
{
    struct tactic_replay replay;

    tactic_replay_init(&replay);
    load(&replay, "tests/golden/tactics/bad/0.json");
    assert_text(&replay.items[0].algorithm, "(Implementation: 2147483657, Tactic: 3066127711859985668) | "
                                            "Inputs: (TensorInfo(DataType.FLOAT, (150528, 50176, 224, 1), -1, 1),) | "
                                            "Outputs: (TensorInfo(DataType.FLOAT, (802816, 12544, 112, 1), -1, 1),)");
    assert_text(&replay.items[2].algorithm, "(Implementation: 2147483651, Tactic: 57) | "
                                            "Inputs: (TensorInfo(DataType.FLOAT, (150528, 50176, 224, 1), -1, 1), "
                                            "TensorInfo(DataType.INT8, (64, 1), 1, 32)) | "
                                            "Outputs: (TensorInfo(DataType.FLOAT, (150528, 50176, 224, 1), -1, 1),)");
    tactic_replay_release(&replay);
}

#define TENSOR(dtype, strides, rest)                                                                                   \
    "{\"dtype\": \"" dtype "\", \"strides\": [" strides "], " rest "\"polygraphy_class\": \"TensorInfo\"}"
#define VECTORIZED(dimension, components)                                                                              \
    "\"vectorized_dim\": " dimension ", \"components_per_element\": " components ", "
#define ALGORITHM(implementation, tactic, inputs, outputs, rest)                                                       \
    "{\"implementation\": " implementation ", \"tactic\": " tactic ", \"inputs\": [" inputs                            \
    "], \"outputs\": [" outputs "], " rest "\"polygraphy_class\": \"Algorithm\"}"
#define REPLAY(choices) "{\"replay\": {" choices "}, \"polygraphy_class\": \"TacticReplayData\"}"

static void tuples_of_one_and_of_none_look_as_in_python(void **state)
{
    struct tactic_replay replay;

    tactic_replay_init(&replay);
    parse(&replay, REPLAY("\"a\": " ALGORITHM("-1", "-9223372036854775808",
                                              TENSOR("DataType.HALF", "1", VECTORIZED("null", "null")) ", " TENSOR(
                                                  "DataType.HALF", "", VECTORIZED("0", "-5")),
                                              "", "")));
    assert_text(&replay.items[0].algorithm, "(Implementation: -1, Tactic: -9223372036854775808) | "
                                            "Inputs: (TensorInfo(DataType.HALF, (1,), None, None), "
                                            "TensorInfo(DataType.HALF, (), 0, -5)) | Outputs: ()");
    tactic_replay_release(&replay);
}

/* What our own engine writes. */
static const char *const named_replay = "{\n"
                                        "    \"replay\": {\n"
                                        "        \"conv\": {\n"
                                        "            \"implementation\": 1,\n"
                                        "            \"tactic\": -2,\n"
                                        "            \"inputs\": [\n"
                                        "                {\n"
                                        "                    \"dtype\": \"DataType.FLOAT\",\n"
                                        "                    \"strides\": [\n"
                                        "                        4,\n"
                                        "                        1\n"
                                        "                    ],\n"
                                        "                    \"vectorized_dim\": null,\n"
                                        "                    \"components_per_element\": 1,\n"
                                        "                    \"polygraphy_class\": \"TensorInfo\"\n"
                                        "                }\n"
                                        "            ],\n"
                                        "            \"outputs\": [],\n"
                                        "            \"name\": \"jit:avx512_core\",\n"
                                        "            \"polygraphy_class\": \"Algorithm\"\n"
                                        "        }\n"
                                        "    },\n"
                                        "    \"polygraphy_class\": \"TacticReplayData\"\n"
                                        "}";

static void readable_name_is_written_and_read_back(void **state)
{
    const int64_t strides[] = {4, 1};
    struct tactic_replay replay;
    struct tactic_algorithm *algorithm;

    tactic_replay_init(&replay);
    algorithm = tactic_replay_set(&replay, "conv");
    algorithm->implementation = 1;
    algorithm->tactic = -2;
    algorithm->name = memory_strdup("jit:avx512_core");
    tactic_tensors_add(&algorithm->inputs, text_of("DataType.FLOAT"), strides, 2)->vectorized_dim.known = false;
    assert_written(&replay, named_replay);

    parse(&replay, named_replay);
    assert_string_equal(replay.items[0].algorithm.name, "jit:avx512_core");
    assert_written(&replay, named_replay);
    tactic_replay_release(&replay);
}

static void options_for_precision_are_written_and_read_back(void **state)
{
    struct tactic_replay replay;

    tactic_replay_init(&replay);
    parse(&replay, "{\"replay\": {}, \"precision\": [], \"polygraphy_class\": \"TacticReplayData\"}");
    assert_true(replay.precision.known);
    tactic_options_add(&replay.precision, text_of("--fp16"));
    assert_written(&replay, "{\n"
                            "    \"replay\": {},\n"
                            "    \"precision\": [\n"
                            "        \"--fp16\"\n"
                            "    ],\n"
                            "    \"polygraphy_class\": \"TacticReplayData\"\n"
                            "}");
    parse(&replay, "{\"replay\": {}, \"precision\": [1], \"polygraphy_class\": \"TacticReplayData\"}");
    assert_false(replay.precision.known);
    assert_int_equal(replay.precision.count, 0);
    parse(&replay, "{\"replay\": {}, \"polygraphy_class\": \"TacticReplayData\"}");
    assert_false(replay.precision.known);
    tactic_replay_release(&replay);
}

static void assert_cache_path(char *cache, const char *replay_path, const char *expected)
{
    struct tactic_replay replay = {.timing_cache = cache};
    char *path = tactic_replay_cache_path(&replay, replay_path);

    if (expected == NULL)
        assert_null(path);
    else
        assert_string_equal(path, expected);
    free(path);
}

static void the_timing_cache_is_beside_the_replay(void **state)
{
    char beside[] = TACTIC_REPLAY_CACHE_BESIDE;

    assert_cache_path(NULL, "r.json", NULL);
    assert_cache_path(beside, "r.json", "r.json.timing_cache");
    assert_cache_path(beside, "./r.json", "./r.json.timing_cache");
    assert_cache_path(beside, "/a/good/r_N3.json", "/a/good/r_N3.json.timing_cache");
    assert_cache_path((char[]){"t.cache"}, "good/r.json", "good/t.cache");
    assert_cache_path((char[]){"/caches/t.cache"}, "good/r.json", "/caches/t.cache");
}

static void the_timing_cache_that_pins_a_build_is_kept(void **state)
{
    struct tactic_replay replay;

    tactic_replay_init(&replay);
    parse(&replay, "{\"replay\": {}, \"timing_cache\": \"0.cache\", \"polygraphy_class\": \"TacticReplayData\"}");
    assert_string_equal(replay.timing_cache, "0.cache");
    assert_written(&replay, "{\n"
                            "    \"replay\": {},\n"
                            "    \"timing_cache\": \"0.cache\",\n"
                            "    \"polygraphy_class\": \"TacticReplayData\"\n"
                            "}");
    parse(&replay, "{\"replay\": {}, \"timing_cache\": 7, \"polygraphy_class\": \"TacticReplayData\"}");
    assert_null(replay.timing_cache);
    tactic_replay_release(&replay);
}

static void layer_that_is_set_again_keeps_its_place(void **state)
{
    struct tactic_replay replay;

    tactic_replay_init(&replay);
    tactic_replay_set(&replay, "a")->tactic = 1;
    tactic_tensors_add(&tactic_replay_set(&replay, "b")->outputs, text_of("DataType.INT8"), NULL, 0);
    tactic_replay_set(&replay, "a")->tactic = 2;
    assert_int_equal(replay.count, 2);
    assert_int_equal(replay.items[0].algorithm.tactic, 2);
    assert_int_equal(tactic_replay_set(&replay, "b")->outputs.count, 0);
    tactic_replay_release(&replay);
}

static void members_that_are_not_known_are_ignored(void **state)
{
    struct tactic_replay replay;

    tactic_replay_init(&replay);
    parse(&replay,
          REPLAY("\"a\": " ALGORITHM("1", "2", TENSOR("DataType.HALF", "1", VECTORIZED("-1", "1") "\"x\": [], "), "",
                                     "\"name\": 7, \"time\": 0.5, ")));
    assert_null(replay.items[0].algorithm.name);
    assert_int_equal(replay.items[0].algorithm.inputs.count, 1);
    tactic_replay_release(&replay);
}

#define LEGACY(name) "\"__polygraphy_encoded_" name "\": \"polygraphy_serialized_json_type\""

static void legacy_markers_are_understood(void **state)
{
    struct tactic_replay replay;

    tactic_replay_init(&replay);
    parse(&replay,
          "{\"replay\": {\"a\": {\"implementation\": 1, \"tactic\": 2, \"outputs\": [], \"inputs\": "
          "[{\"dtype\": \"DataType.FLOAT\", \"strides\": [1], \"vectorized_dim\": -1, \"components_per_element\": "
          "1, " LEGACY("TensorInfo") "}], " LEGACY("Algorithm") "}}, " LEGACY("TacticReplayData") "}");
    assert_text(&replay.items[0].algorithm, "(Implementation: 1, Tactic: 2) | "
                                            "Inputs: (TensorInfo(DataType.FLOAT, (1,), -1, 1),) | Outputs: ()");
    tactic_replay_release(&replay);
}

static void algorithms_differ_by_numbers_and_layouts_but_not_by_name(void **state)
{
#define FLOAT_TENSOR TENSOR("DataType.FLOAT", "4, 1", VECTORIZED("-1", "1"))
    static const char *const different[] = {
        ALGORITHM("2", "2", FLOAT_TENSOR, FLOAT_TENSOR, ""),
        ALGORITHM("1", "3", FLOAT_TENSOR, FLOAT_TENSOR, ""),
        ALGORITHM("1", "2", "", FLOAT_TENSOR, ""),
        ALGORITHM("1", "2", FLOAT_TENSOR ", " FLOAT_TENSOR, FLOAT_TENSOR, ""),
        ALGORITHM("1", "2", FLOAT_TENSOR, "", ""),
        ALGORITHM("1", "2", TENSOR("DataType.HALF", "4, 1", VECTORIZED("-1", "1")), FLOAT_TENSOR, ""),
        ALGORITHM("1", "2", TENSOR("DataType.FLOAT", "4, 2", VECTORIZED("-1", "1")), FLOAT_TENSOR, ""),
        ALGORITHM("1", "2", TENSOR("DataType.FLOAT", "4", VECTORIZED("-1", "1")), FLOAT_TENSOR, ""),
        ALGORITHM("1", "2", TENSOR("DataType.FLOAT", "4, 1", VECTORIZED("1", "1")), FLOAT_TENSOR, ""),
        ALGORITHM("1", "2", TENSOR("DataType.FLOAT", "4, 1", VECTORIZED("null", "1")), FLOAT_TENSOR, ""),
        ALGORITHM("1", "2", FLOAT_TENSOR, TENSOR("DataType.FLOAT", "4, 1", VECTORIZED("-1", "32")), ""),
    };
    struct tactic_replay one, other;
    char json[2048];

    tactic_replay_init(&one);
    tactic_replay_init(&other);
    parse(&one, REPLAY("\"a\": " ALGORITHM("1", "2", FLOAT_TENSOR, FLOAT_TENSOR, "\"name\": \"x\", ")));
    parse(&other, REPLAY("\"a\": " ALGORITHM("1", "2", FLOAT_TENSOR, FLOAT_TENSOR, "\"name\": \"y\", ")));
    assert_true(tactic_algorithm_equal(&one.items[0].algorithm, &other.items[0].algorithm));
    for (size_t i = 0; i < ARRAY_LEN(different); i++) {
        snprintf(json, sizeof(json), REPLAY("\"a\": %s"), different[i]);
        parse(&other, json);
        if (tactic_algorithm_equal(&one.items[0].algorithm, &other.items[0].algorithm))
            fail_msg("%s", different[i]);
    }
    tactic_replay_release(&one);
    tactic_replay_release(&other);
}

static void assert_refused(const char *json, int code, const char *part)
{
    struct tactic_replay replay;
    struct error error = {0};

    tactic_replay_init(&replay);
    tactic_replay_set(&replay, "kept");
    assert_int_equal(tactic_replay_parse(&replay, json, strlen(json), "test.json", &error), code);
    assert_message_contains(&error, part);
    assert_int_equal(replay.count, 1);
    tactic_replay_release(&replay);
}

static void file_of_another_kind_is_invalid(void **state)
{
    assert_refused("[]", ERR_INVALID, "a list");
    assert_refused("{\"lst\": [], \"polygraphy_class\": \"RunResults\"}", ERR_INVALID, "TacticReplayData");
    assert_refused("{\"polygraphy_class\": \"Nobody\"}", ERR_UNSUPPORTED, "Nobody");
    assert_refused("ftrt", ERR_CORRUPT, "byte 0");
}

static void damaged_replay_is_refused_with_the_layer(void **state)
{
#define ONE(algorithm) REPLAY("\"a\": " algorithm)
#define INPUT(tensor) ONE(ALGORITHM("1", "2", tensor, "", ""))
    assert_refused("{\"polygraphy_class\": \"TacticReplayData\"}", ERR_CORRUPT, "'replay'");
    assert_refused(ONE("{}"), ERR_CORRUPT, "layer 'a': expected an Algorithm");
    assert_refused(ONE(ALGORITHM("1.5", "2", "", "", "")), ERR_CORRUPT, "layer 'a': the integer 'implementation'");
    assert_refused(ONE(ALGORITHM("1", "null", "", "", "")), ERR_CORRUPT, "'tactic'");
    assert_refused(ONE(ALGORITHM("1", "9223372036854775808", "", "", "")), ERR_CORRUPT, "too big");
    assert_refused(ONE("{\"implementation\": 1, \"tactic\": 1, \"polygraphy_class\": \"Algorithm\"}"), ERR_CORRUPT,
                   "'inputs'");
    assert_refused(INPUT("1"), ERR_CORRUPT, "inputs: tensor 0: expected a TensorInfo, found a plain value");
    assert_refused(INPUT(TENSOR("DataType.FLOAT", "null", VECTORIZED("1", "1"))), ERR_CORRUPT, "stride 0");
    assert_refused(INPUT("{\"dtype\": 1, \"polygraphy_class\": \"TensorInfo\"}"), ERR_CORRUPT, "dtype");
    assert_refused(INPUT("{\"dtype\": \"DataType.FLOAT\", \"polygraphy_class\": \"TensorInfo\"}"), ERR_CORRUPT,
                   "'strides'");
    /* The layout of very old files. */
    assert_refused(INPUT(TENSOR("DataType.FLOAT", "1", "\"format\": \"TensorFormat.LINEAR\", ")), ERR_CORRUPT,
                   "'vectorized_dim'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polygraphys_files_come_out_as_they_were),
        cmocka_unit_test(layers_keep_their_order_and_numbers_all_their_bits),
        cmocka_unit_test(algorithms_look_as_polygraphy_prints_them),
        cmocka_unit_test(tuples_of_one_and_of_none_look_as_in_python),
        cmocka_unit_test(readable_name_is_written_and_read_back),
        cmocka_unit_test(options_for_precision_are_written_and_read_back),
        cmocka_unit_test(the_timing_cache_is_beside_the_replay),
        cmocka_unit_test(the_timing_cache_that_pins_a_build_is_kept),
        cmocka_unit_test(layer_that_is_set_again_keeps_its_place),
        cmocka_unit_test(members_that_are_not_known_are_ignored),
        cmocka_unit_test(legacy_markers_are_understood),
        cmocka_unit_test(algorithms_differ_by_numbers_and_layouts_but_not_by_name),
        cmocka_unit_test(file_of_another_kind_is_invalid),
        cmocka_unit_test(damaged_replay_is_refused_with_the_layer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
