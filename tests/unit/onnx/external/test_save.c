/* Weights that leave the model while it is written. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "onnx/external/save.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/wire.h"
#include "support/scratch_folder.h"

/* Writes weights_of_many_sizes, its Constant lowered, to model.onnx. */
static int save(const struct external_settings *settings, struct error *err)
{
    struct model *model = fixture_open_lowered("weights_of_many_sizes");
    struct subgraph whole;
    int rc;

    subgraph_init_whole(&whole, model);
    rc = model_write(&whole, "model.onnx", settings, FILE_INTERMEDIATE, NULL, err);
    subgraph_release(&whole);
    model_free(model);
    return rc;
}

static struct model *save_and_open(const struct external_settings *settings)
{
    struct model *model = NULL;
    struct error err = {0};

    if (save(settings, &err) < 0 || model_open("model.onnx", NULL, &model, &err) < 0)
        fail_msg("%s", err.message);
    return model;
}

static struct tensor_header header_of(const struct model *model, const char *name)
{
    uint32_t initializer = model->values.items[fixture_value(model, name)].initializer;
    struct tensor_header header;
    struct error err = {0};

    if (tensor_proto_read(model->initializers.items[initializer].message, &header, &err) < 0)
        fail_msg("%s", err.message);
    return header;
}

/* Whether the bytes that `header` refers to are those of the same tensor in weights_of_many_sizes. */
static void assert_same_data(const struct tensor_header *header, const char *name)
{
    struct model *original = fixture_open_lowered("weights_of_many_sizes");
    struct tensor_header expected = header_of(original, name);
    struct file_map map;
    struct error err = {0};
    char path[64];

    snprintf(path, sizeof(path), TEXT_FORMAT, TEXT_ARGS(header->place.location));
    assert_int_equal(file_map_open(path, &map, &err), 0);
    assert_int_equal(header->place.length, expected.raw.size);
    assert_true(header->place.offset + header->place.length <= map.size);
    assert_memory_equal(map.data + header->place.offset, expected.raw.data, expected.raw.size);
    file_map_release(&map);
    model_free(original);
}

static void tensors_of_the_threshold_and_above_go_outside(void **state)
{
    static const struct external_settings settings = {.save = true, .threshold = 1024};
    static const char *const outside[] = {"kilobyte", "large", "constant"};
    static const char *const inside[] = {"small", "typed", "strings"};
    struct model *model = save_and_open(&settings);

    for (size_t i = 0; i < 3; i++) {
        struct tensor_header header = header_of(model, outside[i]);

        assert_true(header.external);
        assert_false(header.has_raw);
        assert_true(text_equal_string(header.place.location, "model.onnx.data"));
        assert_same_data(&header, outside[i]);
        assert_false(header_of(model, inside[i]).external);
    }
    model_free(model);
}

static void threshold_decides_what_is_small(void **state)
{
    static const struct external_settings everything = {.save = true, .threshold = 0};
    static const struct external_settings above = {.save = true, .threshold = 1025};
    struct model *model = save_and_open(&everything);

    assert_true(header_of(model, "small").external);
    model_free(model);
    model = save_and_open(&above);
    assert_false(header_of(model, "kilobyte").external);
    assert_true(header_of(model, "large").external);
    model_free(model);
}

static void nothing_is_written_outside_when_nothing_is_large_enough(void **state)
{
    static const struct external_settings settings = {.save = true, .threshold = 1000000};
    struct model *model = save_and_open(&settings);

    assert_false(header_of(model, "large").external);
    assert_int_equal(scratch_count("."), 1);
    model_free(model);
}

static void tensors_begin_at_pages(void **state)
{
    static const struct external_settings settings = {.save = true, .threshold = 0};
    struct model *model = save_and_open(&settings);

    assert_int_equal(header_of(model, "small").place.offset, 0);
    assert_int_equal(header_of(model, "kilobyte").place.offset, 4096);
    assert_int_equal(header_of(model, "large").place.offset, 8192);
    model_free(model);
}

static void each_tensor_can_have_a_file_of_its_own(void **state)
{
    static const struct external_settings settings = {
        .save = true, .file_name = "data/weights", .threshold = 1024, .one_file_per_tensor = true};
    static const char *const outside[] = {"kilobyte", "large", "constant"};
    struct model *model = save_and_open(&settings);

    for (size_t i = 0; i < 3; i++) {
        struct tensor_header header = header_of(model, outside[i]);

        assert_int_equal(header.place.offset, 0);
        assert_same_data(&header, outside[i]);
    }
    assert_int_equal(scratch_count("data"), 3);
    model_free(model);
}

static void tensor_that_went_outside_keeps_everything_but_its_data(void **state)
{
    static const struct external_settings settings = {.save = true, .threshold = 0};
    struct model *model = save_and_open(&settings);
    struct tensor_header header = header_of(model, "large");

    assert_int_equal(header.type, DATA_FLOAT32);
    assert_int_equal(header.shape.rank, 1);
    assert_int_equal(header.shape.dims[0], 500);
    assert_true(text_contains((struct text){(const char *)model->file.data, model->file.size}, TEXT("kept")));
    model_free(model);
}

/* Types newer than this program go outside as they are. */
static void type_that_is_not_known_here_survives(void **state)
{
    static const char graph[] = "\x3a\x16\x2a\x0f\x08\x03\x10\x63\x42\x01w\x4a\x06"
                                "abcdef\x62\x03\x0a\x01w";
    static const struct external_settings settings = {.save = true, .threshold = 0};
    struct span file = {(const uint8_t *)graph, sizeof(graph) - 1};
    struct model *model;
    struct subgraph whole;
    struct wire_reader reader;
    struct wire_field field;
    uint64_t type = 0;
    struct error err = {0};

    if (model_parse(file, "test", &model, &err) < 0)
        fail_msg("%s", err.message);
    subgraph_init_whole(&whole, model);
    assert_int_equal(model_write(&whole, "model.onnx", &settings, FILE_INTERMEDIATE, NULL, &err), 0);
    subgraph_release(&whole);
    model_free(model);
    assert_true(scratch_file_is("model.onnx.data", "abcdef"));
    assert_int_equal(model_open("model.onnx", NULL, &model, &err), 0);
    reader = wire_reader_of(model->initializers.items[0].message);
    while (wire_next(&reader, &field))
        if (field.number == 2)
            type = field.value;
    assert_int_equal(type, 0x63);
    model_free(model);
}

static void python_reads_the_weights_back(void **state)
{
    static const struct external_settings settings = {.save = true, .threshold = 1024};

    model_free(save_and_open(&settings));
    run_python("check_model.py", "model.onnx", NULL);
    run_python("load_external_data.py", "model.onnx", fixture_path("weights_of_many_sizes.onnx"));
}

static void assert_refused(const char *name, int code, const char *part)
{
    struct external_settings settings = {.save = true, .file_name = name};
    struct error err = {0};

    assert_int_equal(save(&settings, &err), code);
    if (strstr(err.message, part) == NULL)
        fail_msg("'%s' does not contain '%s'", err.message, part);
    assert_int_equal(scratch_count("."), 0);
}

static void names_outside_of_the_models_folder_are_refused(void **state)
{
    assert_refused("/tmp/weights", ERR_INVALID, "must be in the model's folder");
    assert_refused("../weights", ERR_INVALID, "must be in the model's folder");
    assert_refused("a/../../weights", ERR_INVALID, "must be in the model's folder");
    assert_refused("", ERR_INVALID, "must be in the model's folder");
}

static void name_with_dots_in_it_is_fine(void **state)
{
    struct external_settings settings = {.save = true, .file_name = "a..b"};

    model_free(save_and_open(&settings));
    assert_true(file_exists("a..b"));
}

static void model_and_data_cannot_be_one_file(void **state)
{
    assert_refused("model.onnx", ERR_INVALID, "external data and the model cannot both be written to 'model.onnx'");
    assert_refused("./model.onnx", ERR_INVALID, "external data and the model cannot both be written");
}

/* A model with external data of its own is saved with more of them, into the same folder. */
static void data_that_the_model_refers_to_are_not_replaced(void **state)
{
    struct external_settings settings = {.save = true, .file_name = "weights.data"};
    struct model *model;
    struct subgraph whole;
    struct error err = {0};

    scratch_file("weights.data", "what the model refers to");
    assert_int_equal(model_open(fixture_path("external_weights_and_others.onnx"), ".", &model, &err), 0);
    subgraph_init_whole(&whole, model);
    assert_int_equal(model_write(&whole, "model.onnx", &settings, FILE_INTERMEDIATE, NULL, &err), ERR_EXISTS);
    assert_non_null(strstr(err.message, "'./weights.data' contains external data of this model"));
    assert_true(scratch_file_is("weights.data", "what the model refers to"));
    assert_int_equal(scratch_count("."), 1);
    settings.file_name = "others.data";
    assert_int_equal(model_write(&whole, "model.onnx", &settings, FILE_INTERMEDIATE, NULL, &err), 0);
    assert_true(scratch_file_is("weights.data", "what the model refers to"));
    subgraph_release(&whole);
    model_free(model);
    assert_int_equal(model_open("model.onnx", NULL, &model, &err), 0);
    assert_true(text_equal_string(header_of(model, "weights").place.location, "weights.data"));
    assert_true(text_equal_string(header_of(model, "others").place.location, "others.data"));
    model_free(model);
}

/* Runs out of disk, or what looks like it, when files reach `limit` bytes. */
static void assert_nothing_is_left(const struct external_settings *settings, rlim_t limit)
{
    struct rlimit before, small;
    struct error err = {0};

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){.rlim_cur = limit, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(save(settings, &err), ERR_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(scratch_count("."), 0);
}

static void nothing_is_left_when_the_disk_is_full(void **state)
{
    struct external_settings settings = {.save = true, .threshold = 0};

    assert_nothing_is_left(&settings, 4000); /* not even the data fit */
    settings.threshold = 1500;
    settings.one_file_per_tensor = true;
    assert_nothing_is_left(&settings, 4500); /* the data fit, the model does not */
}

static void nothing_is_left_of_what_is_given_up(void **state)
{
    static const struct external_settings settings = {.save = true, .threshold = 0, .one_file_per_tensor = true};
    struct model *model = fixture_open_lowered("weights_of_many_sizes");
    struct subgraph whole;
    struct external_save *external;
    struct piece_list pieces;
    struct error err = {0};

    subgraph_init_whole(&whole, model);
    pieces_init(&pieces);
    assert_int_equal(external_save_open(&whole, "model.onnx", &settings, FILE_INTERMEDIATE, &external, &err), 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(external_save_initializer(external, &model->initializers.items[i], &pieces, &err), 1);
    assert_true(file_exists("model.onnx.data.0"));
    external_save_free(external, false);
    assert_int_equal(scratch_count("."), 0);
    external_save_free(NULL, false);
    pieces_release(&pieces);
    subgraph_release(&whole);
    model_free(model);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(tensors_of_the_threshold_and_above_go_outside),
        IN_SCRATCH(threshold_decides_what_is_small),
        IN_SCRATCH(nothing_is_written_outside_when_nothing_is_large_enough),
        IN_SCRATCH(tensors_begin_at_pages),
        IN_SCRATCH(each_tensor_can_have_a_file_of_its_own),
        IN_SCRATCH(tensor_that_went_outside_keeps_everything_but_its_data),
        IN_SCRATCH(type_that_is_not_known_here_survives),
        IN_SCRATCH(python_reads_the_weights_back),
        IN_SCRATCH(names_outside_of_the_models_folder_are_refused),
        IN_SCRATCH(name_with_dots_in_it_is_fine),
        IN_SCRATCH(model_and_data_cannot_be_one_file),
        IN_SCRATCH(data_that_the_model_refers_to_are_not_replaced),
        IN_SCRATCH(nothing_is_left_when_the_disk_is_full),
        IN_SCRATCH(nothing_is_left_of_what_is_given_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
