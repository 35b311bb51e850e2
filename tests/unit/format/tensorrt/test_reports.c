/* Profiles, lists of knobs and the start of an engine: real files, and damage. */
#include "support/format_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "format/tensorrt/build_knobs.h"
#include "format/tensorrt/plan_header.h"
#include "format/tensorrt/profile.h"

static void a_real_profile_has_a_time_for_each_layer(void **state)
{
    struct layer_profile profile;
    struct error error = {0};

    assert_int_equal(
        layer_profile_open(&profile, "tests/golden/tensorrt/layers/pytorch-resnet-A100-fp16.profile.json", &error), 0);
    assert_int_equal(profile.iterations, 1);
    assert_int_equal(profile.count, 36);
    assert_string_equal(profile.items[1].name, "Conv_0 + Relu_1");
    assert_true(profile.items[1].average == 0.111616);
    assert_true(profile.items[1].percentage == 10.9768);
    layer_profile_release(&profile);
}

static void quotes_in_names_and_nan_are_read(void **state)
{
    struct layer_profile profile;
    struct error error = {0};

    assert_int_equal(layer_profile_open(&profile, "tests/fuzz/corpus/fuzz_engine_information/profile.json", &error), 0);
    assert_int_equal(profile.count, 1);
    assert_string_equal(profile.items[0].name, "l0 \"q\"");
    assert_true(profile.items[0].total == 1);
    layer_profile_release(&profile);
    assert_int_equal(layer_profile_parse(&profile,
                                         TEXT("[{\"count\":0},{\"name\":\"\",\"timeMs\":-nan,\"averageMs\":nan},"
                                              "{ \"name\" : \"b\", \"timeMs\" : 2}]"),
                                         "test", &error),
                     0);
    assert_int_equal(profile.count, 2);
    assert_true(isnan(profile.items[0].average));
    assert_true(isnan(profile.items[0].median));
    assert_true(profile.items[1].total == 2);
    layer_profile_release(&profile);
}

static void a_profile_that_is_none_or_cut_short_is_told(void **state)
{
    struct layer_profile profile;
    struct error error = {0};

    assert_int_equal(layer_profile_parse(&profile, TEXT("[]"), "a.json", &error), ERR_INVALID);
    assert_non_null(strstr(error.message, "'a.json': it is no profile"));
    assert_int_equal(layer_profile_parse(&profile, TEXT("[{ \"name\" : \"con"), "a.json", &error), ERR_CORRUPT);
    assert_non_null(strstr(error.message, "ends within layer 0"));
}

static void an_engine_tells_who_has_built_it(void **state)
{
    static const char bytes[PLAN_HEADER_BYTES] = {'f', 't', 'r', 't', [24] = 10, 16, 1, 11};
    const char *path = scratch_path("a.engine");
    struct plan_header header;
    struct error error = {0};

    assert_int_equal(file_write(path, bytes, sizeof(bytes), FILE_INTERMEDIATE, &error), 0);
    assert_int_equal(plan_header_read(path, &header, &error), 0);
    assert_int_equal(header.major, 10);
    assert_int_equal(header.minor, 16);
    assert_int_equal(header.patch, 1);
    assert_int_equal(header.build, 11);
    for (size_t size = 0; size < sizeof(bytes); size++) {
        assert_int_equal(file_write(path, bytes, size, FILE_INTERMEDIATE, &error), 0);
        assert_int_equal(plan_header_read(path, &header, &error), ERR_CORRUPT);
        assert_non_null(strstr(error.message, path));
    }
    unlink(path);
    assert_int_equal(plan_header_read(path, &header, &error), ERR_MISSING);
}

static void knobs_have_a_name_values_and_a_default(void **state)
{
    struct build_knobs knobs;
    struct error error = {0};
    size_t size;
    char *content = content_of("tests/fuzz/corpus/fuzz_engine_information/build_knobs.json", &size);

    assert_int_equal(build_knobs_parse(&knobs, (struct text){content, size}, &error), 0);
    free(content);
    assert_int_equal(knobs.count, 5);
    assert_int_equal(knobs.unread, 6);
    assert_string_equal(knobs.items[0].name, "kgen:tiling");
    assert_int_equal(knobs.items[0].value_count, 3);
    assert_string_equal(knobs.items[0].standard, "1");
    assert_string_equal(build_knob_least(&knobs.items[0]), "0");
    assert_ptr_equal(build_knobs_find(&knobs, TEXT("conv_lowering")), &knobs.items[1]);
    assert_string_equal(build_knob_least(&knobs.items[1]), "off");
    assert_null(build_knob_least(&knobs.items[2])); /* off anyway */
    assert_string_equal(knobs.items[3].values[0], "-1");
    assert_string_equal(build_knob_least(&knobs.items[3]), "-1");
    assert_null(build_knob_least(&knobs.items[4])); /* words that nothing is known of */
    assert_null(build_knobs_find(&knobs, TEXT("nothing")));
    build_knobs_release(&knobs);
}

static void what_lists_no_knobs_is_told(void **state)
{
    static const char *const texts[] = {
        "", "&&&& RUNNING\n", "}\n{", "x {\"tuner_options\":[]}", "{\"tuner_options\":7}", "{\"tuner_options\":[}"};
    struct build_knobs knobs;
    struct error error = {0};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_int_equal(build_knobs_parse(&knobs, text_of(texts[i]), &error), ERR_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_real_profile_has_a_time_for_each_layer),
        cmocka_unit_test(quotes_in_names_and_nan_are_read),
        cmocka_unit_test(a_profile_that_is_none_or_cut_short_is_told),
        cmocka_unit_test(knobs_have_a_name_values_and_a_default),
        cmocka_unit_test(what_lists_no_knobs_is_told),
        cmocka_unit_test(an_engine_tells_who_has_built_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
