/* Command lines, by what the help of each version names. 8.6 is made of 10.16's: what came and what went. */
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/trtexec/command_line.h"
#include "base/file/file.h"
#include "base/memory.h"

struct lines {
    struct trtexec program;
    struct tensorrt_settings settings;
    struct trtexec_network network;
    struct trtexec_words words;
    struct string_builder text;
    struct arena arena;
    struct error error;
};

/* A program with the options of a golden list, but not those of `without`, and those of `with`. */
static void make_program(const char *banner, const char *list, const char *without, const char *with,
                         struct trtexec *ret)
{
    struct string_builder help;
    struct error error = {0};
    char *options, path[200];
    size_t size;

    snprintf(path, sizeof(path), "tests/golden/trtexec/front_end/%s/options.txt", list);
    assert_int_equal(file_read(path, 1 << 20, &options, &size, &error), 0);
    string_init(&help);
    string_add_format(&help, "&&&& RUNNING TensorRT.trtexec %s # trtexec --help\n=== Model Options ===\n", banner);
    for (char *line = options; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        bool is_last = line[length] == '\0';

        line[length] = '\0';
        if (strstr(without, line) == NULL)
            string_add_format(&help, "  %s=<x>  what --notAnOption does\n", line);
        line += is_last ? length : length + 1;
    }
    string_add(&help, with);
    if (trtexec_parse_help("/usr/bin/trtexec", (struct text){help.data, help.size}, ret, &error) < 0)
        fail_msg("%s", error.message);
    string_release(&help);
    free(options);
}

static void begin(struct lines *lines, const char *version)
{
    *lines = (struct lines){0};
    arena_init(&lines->arena);
    string_init(&lines->text);
    if (strcmp(version, "8.6") == 0)
        make_program(
            "[TensorRT v8601]", "10.16",
            "--bf16 --errorOnTimingCacheMiss --profile --stronglyTyped --useProfile --stripWeights --markDebug "
            "--saveAllDebugTensors --markUnfusedTensorsAsDebugTensors",
            "  --workspace=N\n", &lines->program);
    else if (strcmp(version, "10.16") == 0)
        make_program("[TensorRT v101600] [b72]", "10.16", "", "", &lines->program);
    else
        make_program("[TensorRT v110100] [b106]", "11.1", "", "", &lines->program);
    lines->settings.program = &lines->program;
    lines->network.path = "/models/a model, with a comma.onnx";
    trtexec_words_init(&lines->words, &lines->settings, &lines->arena);
}

static int finish(struct lines *lines)
{
    int rc = trtexec_words_finish(&lines->words, &lines->error);

    for (size_t i = 0; rc == 0 && i < lines->words.list.count; i++)
        string_add_format(&lines->text, "%s%s", i > 0 ? "|" : "", lines->words.list.items[i]);
    return rc;
}

static void end(struct lines *lines)
{
    trtexec_words_release(&lines->words);
    string_release(&lines->text);
    arena_release(&lines->program.arena);
    arena_release(&lines->arena);
}

static void assert_has(const struct lines *lines, const char *word)
{
    if (strstr(lines->text.data, word) == NULL)
        fail_msg("no '%s' in %s", word, lines->text.data);
}

static void assert_lacks(const struct lines *lines, const char *word)
{
    if (strstr(lines->text.data, word) != NULL)
        fail_msg("'%s' in %s", word, lines->text.data);
}

static void assert_refused(struct lines *lines, enum error_code code, const char *part)
{
    assert_int_equal(finish(lines), code);
    if (strstr(lines->error.message, part) == NULL)
        fail_msg("no '%s' in: %s", part, lines->error.message);
}

static void versions_are_read_in_both_schemes(void **state)
{
    static const struct {
        const char *banner;
        int major, minor, patch;
    } versions[] = {{"[TensorRT v8601]", 8, 6, 1},
                    {"[TensorRT v9300]", 9, 3, 0},
                    {"[TensorRT v100001] [b6]", 10, 0, 1},
                    {"[TensorRT v101600] [b72]", 10, 16, 0},
                    {"[TensorRT v110100] [b106]", 11, 1, 0}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct trtexec program;

        make_program(versions[i].banner, "11.1", "", "", &program);
        assert_int_equal(program.major, versions[i].major);
        assert_int_equal(program.minor, versions[i].minor);
        assert_int_equal(program.patch, versions[i].patch);
        assert_true(trtexec_has(&program, "--noCudaGraph"));
        assert_false(trtexec_has(&program, "--fp16"));
        assert_false(trtexec_has(&program, "--notAnOption"));
        arena_release(&program.arena);
    }
}

static void what_is_no_trtexec_is_told(void **state)
{
    static const char *const helps[] = {
        "", "usage: something\n  --onnx\n  --loadEngine\n", "&&&& RUNNING TensorRT.trtexec [TensorRT v101600] # x\n",
        "&&&& RUNNING TensorRT.trtexec [TensorRT v1016000000000] # x\n  --onnx\n  --loadEngine\n"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(helps); i++) {
        struct trtexec program;
        struct error error = {0};

        assert_int_equal(trtexec_parse_help("x", text_of(helps[i]), &program, &error), ERR_BACKEND);
    }
}

static void a_build_says_what_is_wanted_of_it(void **state)
{
    struct lines lines;

    (void)state;
    begin(&lines, "10.16");
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_int_equal(finish(&lines), 0);
    assert_string_equal(lines.text.data, "/usr/bin/trtexec|--onnx=/models/a model, with a comma.onnx|"
                                         "--saveEngine=engine.plan|--skipInference|--profilingVerbosity=detailed|"
                                         "--exportLayerInfo=layers.json|--verbose|--timingCacheFile=timing.cache|"
                                         "--noTF32");
    end(&lines);
}

static void precisions_are_there_until_10(void **state)
{
    struct trtexec_layer layers[] = {{"conv1", "conv1", DATA_FLOAT32, false}, {"a,b", "n7", DATA_FLOAT16, false}};
    static const char *const versions[] = {"8.6", "10.16", "11.1"};
    struct lines lines;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        begin(&lines, versions[i]);
        lines.settings.tf32 = lines.settings.fp16 = true;
        lines.settings.constraints = TENSORRT_CONSTRAINTS_OBEY;
        lines.network.layers = (struct trtexec_layers){layers, ARRAY_LEN(layers)};
        trtexec_words_add_build(&lines.words, &lines.network);
        if (i == 2) {
            assert_refused(&lines, ERR_UNSUPPORTED, "has no --fp16, which was there until TensorRT 10");
        } else {
            assert_int_equal(finish(&lines), 0);
            assert_has(&lines, "|--fp16|--precisionConstraints=obey|--layerPrecisions=conv1:fp32,n7:fp16");
            assert_lacks(&lines, "--noTF32");
        }
        end(&lines);
    }
}

static void strong_types_are_there_from_9_and_the_rule_from_11(void **state)
{
    struct lines lines;

    (void)state;
    begin(&lines, "8.6");
    lines.settings.strongly_typed = true;
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_refused(&lines, ERR_UNSUPPORTED, "--stronglyTyped, which is there since TensorRT 9");
    end(&lines);
    begin(&lines, "10.16");
    lines.settings.strongly_typed = lines.settings.fp16 = true;
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_int_equal(finish(&lines), 0);
    assert_has(&lines, "|--stronglyTyped");
    assert_lacks(&lines, "--fp16");
    end(&lines);
    begin(&lines, "11.1");
    lines.settings.strongly_typed = true;
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_int_equal(finish(&lines), 0);
    end(&lines);
}

static void int8_needs_scales(void **state)
{
    struct lines lines;

    (void)state;
    begin(&lines, "10.16");
    lines.settings.int8 = true;
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_refused(&lines, ERR_UNSUPPORTED, "would take scales at random");
    end(&lines);
    begin(&lines, "10.16");
    lines.settings.int8 = lines.network.is_quantized = true;
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_int_equal(finish(&lines), 0);
    assert_has(&lines, "|--int8");
    end(&lines);
    begin(&lines, "10.16");
    lines.settings.int8 = true;
    lines.settings.calibration_cache = "/some/cache";
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_int_equal(finish(&lines), 0);
    assert_has(&lines, "|--int8|--calib=calibration.cache");
    end(&lines);
}

static void all_shapes_of_all_profiles_are_given(void **state)
{
    struct tensorrt_shapes shapes[] = {{"x:0", {2, {1, 4}}, {2, {2, 4}}, {2, {8, 4}}},
                                       {"y", {1, {1}}, {1, {2}}, {1, {3}}}};
    struct tensorrt_profile profiles[] = {{shapes, 2}, {shapes, 1}};
    struct lines lines;

    (void)state;
    begin(&lines, "8.6");
    lines.network.profiles = profiles;
    lines.network.profile_count = 1;
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_int_equal(finish(&lines), 0);
    assert_has(&lines, "|--minShapes=x:0:1x4,y:1|--optShapes=x:0:2x4,y:2|--maxShapes=x:0:8x4,y:3");
    assert_lacks(&lines, "--profile=");
    end(&lines);
    begin(&lines, "11.1");
    lines.network.profiles = profiles;
    lines.network.profile_count = 2;
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_int_equal(finish(&lines), 0);
    assert_has(&lines, "|--profile=0|--minShapes=x:0:1x4,y:1|");
    assert_has(&lines, "|--profile=1|--minShapes=x:0:1x4|");
    end(&lines);
    begin(&lines, "8.6");
    lines.network.profiles = profiles;
    lines.network.profile_count = 2;
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_refused(&lines, ERR_UNSUPPORTED, "several optimization profiles");
    end(&lines);
}

static void types_and_formats_are_given_for_all_tensors_or_none(void **state)
{
    static const char *const formats[] = {"y:[linear,chw4]"};
    struct trtexec_tensor inputs[] = {{.name = "x", .safe = "x", .type = DATA_FLOAT32},
                                      {.name = "y", .safe = "y", .type = DATA_INT8}};
    const struct tensorrt_named_type types[] = {{"x", DATA_FLOAT16}}, others[] = {{"inside", DATA_FLOAT16}};
    struct lines lines;

    (void)state;
    begin(&lines, "10.16");
    lines.network.inputs = (struct trtexec_tensors){inputs, 2};
    lines.settings.tensor_formats = (struct words){formats, 1};
    lines.settings.tensor_types = (struct tensorrt_named_types){types, 1};
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_int_equal(finish(&lines), 0);
    assert_has(&lines, "|--inputIOFormats=fp16:chw,int8:chw+chw4");
    assert_lacks(&lines, "--outputIOFormats");
    end(&lines);
    begin(&lines, "11.1");
    lines.network.inputs = (struct trtexec_tensors){inputs, 2};
    lines.settings.tensor_formats = (struct words){formats, 1};
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_int_equal(finish(&lines), 0);
    assert_has(&lines, "|--inputIOFormats=chw,chw+chw4");
    end(&lines);
    begin(&lines, "10.16");
    lines.settings.tensor_types = (struct tensorrt_named_types){others, 1};
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_refused(&lines, ERR_INVALID, "'inside' is neither an input nor an output");
    end(&lines);
}

static void lists_keep_what_cannot_be_passed_out(void **state)
{
    static const char *const commas[] = {"a,b"}, *const pools[] = {"workspace:1G", "tactic_shared_memory:100"},
                             *const nonsense[] = {"workspace"}, *const sources[] = {"cudnn"},
                             *const none[] = {"ONEDNN"};
    struct lines lines;

    (void)state;
    begin(&lines, "10.16");
    lines.settings.mark_debug = (struct words){commas, 1};
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_refused(&lines, ERR_UNSUPPORTED, "'a,b'");
    end(&lines);
    begin(&lines, "10.16");
    lines.settings.pool_limits = (struct words){pools, 2};
    lines.settings.has_tactic_sources = true;
    lines.settings.tactic_sources = (struct words){sources, 1};
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_int_equal(finish(&lines), 0);
    assert_has(&lines, "|--memPoolSize=workspace:1024M,tacticSharedMem:100B");
    assert_has(&lines, "|--tacticSources=-CUBLAS,-CUBLAS_LT,+CUDNN,-EDGE_MASK_CONVOLUTIONS,-JIT_CONVOLUTIONS");
    end(&lines);
    begin(&lines, "10.16");
    lines.settings.pool_limits = (struct words){nonsense, 1};
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_refused(&lines, ERR_INVALID, "expected POOL:SIZE");
    end(&lines);
    begin(&lines, "10.16");
    lines.settings.has_max_aux_streams = true;
    lines.settings.max_aux_streams = -1;
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_refused(&lines, ERR_INVALID, "-1 is no number of streams");
    end(&lines);
    begin(&lines, "11.1");
    lines.settings.has_tactic_sources = true;
    lines.settings.tactic_sources = (struct words){none, 1};
    trtexec_words_add_build(&lines.words, &lines.network);
    assert_refused(&lines, ERR_UNSUPPORTED, "EDGE_MASK_CONVOLUTIONS and JIT_CONVOLUTIONS only");
    end(&lines);
}

static void a_run_copies_its_outputs_where_that_has_to_be_asked_for(void **state)
{
    static const char *const names[] = {"x", "y"}, *const files[] = {"i0", "i1"};
    static const struct shape shapes[] = {{2, {3, 4}}, {1, {2}}};
    static const bool is_dynamic[] = {true, false};
    const struct trtexec_run run = {.engine = "../engine.plan",
                                    .inputs = names,
                                    .files = files,
                                    .shapes = shapes,
                                    .is_dynamic = is_dynamic,
                                    .input_count = 2};
    struct lines lines;

    (void)state;
    begin(&lines, "10.16");
    trtexec_words_add_run(&lines.words, &run);
    assert_int_equal(finish(&lines), 0);
    assert_string_equal(lines.text.data, "/usr/bin/trtexec|--loadEngine=../engine.plan|--iterations=1|--warmUp=0|"
                                         "--duration=0|--dumpRawBindingsToFile|--shapes=x:3x4|--loadInputs=x:i0,y:i1");
    end(&lines);
    begin(&lines, "11.1");
    lines.settings.mark_unfused = true;
    trtexec_words_add_run(&lines.words, &run);
    assert_int_equal(finish(&lines), 0);
    assert_has(&lines, "|--includeDataTransfers|--noCudaGraph|--saveAllDebugTensors=summary,raw|--shapes=");
    assert_lacks(&lines, "--skipInference");
    end(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_read_in_both_schemes),
        cmocka_unit_test(what_is_no_trtexec_is_told),
        cmocka_unit_test(a_build_says_what_is_wanted_of_it),
        cmocka_unit_test(precisions_are_there_until_10),
        cmocka_unit_test(strong_types_are_there_from_9_and_the_rule_from_11),
        cmocka_unit_test(int8_needs_scales),
        cmocka_unit_test(all_shapes_of_all_profiles_are_given),
        cmocka_unit_test(types_and_formats_are_given_for_all_tensors_or_none),
        cmocka_unit_test(lists_keep_what_cannot_be_passed_out),
        cmocka_unit_test(a_run_copies_its_outputs_where_that_has_to_be_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
