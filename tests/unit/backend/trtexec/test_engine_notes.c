/* test_engine_notes.c: what is noted of an engine comes back for that engine only, and nothing comes of what is not
 * sound. */
#include <stdlib.h>
#include <string.h>

#include "backend/trtexec/engine_notes.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

#define HASH "0123456789abcdef0123456789abcdef"

static int enter(void **state)
{
    scratch_folder_enter(state);
    char *here = realpath(".", NULL);

    setenv("XDG_CACHE_HOME", here, 1);
    free(here);
    return 0;
}

static void inputs_and_outputs_come_back(void **state)
{
    struct io_list inputs = {0}, outputs = {0}, read_inputs = {0}, read_outputs = {0};
    struct io *io;

    (void)state;
    scratch_file("a.engine", "ftrt, and what only TensorRT can read");
    io = io_list_add(&inputs, "x,1", "i0", DATA_INT64);
    io->bound = DATA_INT32;
    io->is_open = true;
    inputs.items[0].has_shape = true;
    inputs.items[0].shape = (struct shape){.rank = 2, .dims = {-1, 3}};
    io_list_add(&outputs, "y", "y", DATA_FLOAT16);
    engine_notes_save("a.engine", &inputs, &outputs);
    assert_true(engine_notes_load("a.engine", &read_inputs, &read_outputs));
    assert_int_equal(read_inputs.count, 1);
    assert_string_equal(read_inputs.items[0].name, "x,1");
    assert_string_equal(read_inputs.details[0].safe, "i0");
    assert_int_equal(read_inputs.items[0].type, DATA_INT64);
    assert_int_equal(read_inputs.details[0].bound, DATA_INT32);
    assert_true(read_inputs.details[0].is_open);
    assert_true(shape_equal(&read_inputs.items[0].shape, &inputs.items[0].shape));
    assert_int_equal(read_outputs.count, 1);
    assert_int_equal(read_outputs.details[0].bound, DATA_UNDEFINED);
    assert_false(read_outputs.details[0].is_open);
    assert_false(read_outputs.items[0].has_shape);
    io_list_release(&read_inputs);
    io_list_release(&read_outputs);
    io_list_release(&inputs);
    io_list_release(&outputs);
}

static void another_engine_is_not_known(void **state)
{
    struct io_list inputs = {0}, outputs = {0};

    (void)state;
    scratch_file("a.engine", "one engine");
    engine_notes_save("a.engine", &inputs, &outputs);
    assert_true(engine_notes_load("a.engine", &inputs, &outputs));
    scratch_file("a.engine", "another engine");
    assert_false(engine_notes_load("a.engine", &inputs, &outputs));
    assert_false(engine_notes_load("b.engine", &inputs, &outputs));
}

static bool takes(const char *note)
{
    struct io_list inputs = {0}, outputs = {0};
    bool known = engine_notes_parse(text_of(note), HASH, &inputs, &outputs);

    assert_true(known || (inputs.items == NULL && outputs.items == NULL));
    io_list_release(&inputs);
    io_list_release(&outputs);
    return known;
}

#define NOTE(hash, inputs) "{\"engine\": \"" hash "\", \"inputs\": [" inputs "], \"outputs\": []}"
#define INPUT(more)                                                                                                    \
    "{\"name\": \"x\", \"in_engine\": \"x\", \"type\": \"float32\", \"bound_type\": \"undefined\"" more "}"

static void what_is_not_sound_is_not_taken(void **state)
{
    (void)state;
    assert_true(takes(NOTE(HASH, INPUT(", \"shape\": [1, -1]"))));
    assert_false(takes(""));
    assert_false(takes("[]"));
    assert_false(takes("{\"engine\": \"" HASH "\"}"));
    assert_false(takes(NOTE("0", INPUT(""))));
    assert_false(takes(NOTE(HASH, "1")));
    assert_false(takes(NOTE(HASH, INPUT("") ", {\"name\": \"x\"}")));
    assert_false(takes(NOTE(HASH, INPUT(", \"shape\": [-2]"))));
    assert_false(takes(NOTE(HASH, INPUT(", \"shape\": 3"))));
    assert_false(takes(NOTE(HASH, INPUT(", \"type\": \"float33\""))));
    assert_false(
        takes(NOTE(HASH, INPUT(", \"shape\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
                               "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(inputs_and_outputs_come_back, enter, scratch_folder_leave),
        cmocka_unit_test_setup_teardown(another_engine_is_not_known, enter, scratch_folder_leave),
        cmocka_unit_test(what_is_not_sound_is_not_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
