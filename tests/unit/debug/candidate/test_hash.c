/* What tells candidates apart: their content and that of the files that belong to them, and nothing else. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "debug/candidate/hash.h"
#include "support/made_model.h"
#include "support/onnx_fixture.h"
#include "support/scratch_folder.h"
#include "support/unit_test.h"

#define FILES(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct hash hash_of(const char *path, const char *const *more)
{
    struct hash ret = {0};
    struct error err = {0};

    if (candidate_content_hash(path, more, &ret, &err) < 0)
        fail_msg("%s", err.message);
    return ret;
}

static bool same(struct hash a, struct hash b)
{
    return hash_equal(a, b);
}

static void write_model(const char *path, float low)
{
    struct made_model made;
    struct span bytes;

    made_init(&made, 13);
    made_input(&made, "x", MADE_SHAPE(2, 3));
    made_constant(&made, "w", MADE_SHAPE(2, 3), low, 1);
    made_node(&made, "add", "Add", "x w", "y", NULL, 0);
    made_output(&made, "y");
    bytes = made_bytes(&made);
    assert_int_equal(file_write(path, bytes.data, bytes.size, FILE_INTERMEDIATE, NULL), 0);
    made_release(&made);
}

/* <folder>/model.onnx with weights beside it. */
static void write_external(const char *folder, const char *weights)
{
    char *model = file_join(folder, "model.onnx"), *data = file_join(folder, "weights.data");
    char *more = file_join(folder, "more"), *more_data = file_join(more, "weights.data"), *bytes;
    size_t size;

    assert_int_equal(file_make_folders(more, NULL), 0);
    assert_int_equal(file_read(fixture_path("external_data_in_a_body.onnx"), SIZE_MAX, &bytes, &size, NULL), 0);
    assert_int_equal(file_write(model, bytes, size, FILE_INTERMEDIATE, NULL), 0);
    scratch_file(data, weights);
    scratch_file(more_data, "more weights");
    free(model);
    free(data);
    free(more);
    free(more_data);
    free(bytes);
}

static void content_counts_and_paths_do_not(void **state)
{
    write_model("one.onnx", -1);
    write_model("copy.onnx", -1);
    write_model("other.onnx", -2);
    assert_true(same(hash_of("one.onnx", NULL), hash_of("copy.onnx", NULL)));
    assert_false(same(hash_of("one.onnx", NULL), hash_of("other.onnx", NULL)));
}

static void files_that_belong_to_it_count_in_their_order(void **state)
{
    write_model("model.onnx", -1);
    scratch_file("a", "a");
    scratch_file("b", "b");
    scratch_file("also_a", "a");
    assert_false(same(hash_of("model.onnx", NULL), hash_of("model.onnx", FILES("a"))));
    assert_true(same(hash_of("model.onnx", NULL), hash_of("model.onnx", (const char *const[]){NULL})));
    assert_false(same(hash_of("model.onnx", FILES("a")), hash_of("model.onnx", FILES("b"))));
    assert_true(same(hash_of("model.onnx", FILES("a")), hash_of("model.onnx", FILES("also_a"))));
    assert_false(same(hash_of("model.onnx", FILES("a", "b")), hash_of("model.onnx", FILES("b", "a"))));
}

static void external_weights_count(void **state)
{
    struct hash hash;

    write_external("one", "weights of a body");
    write_external("same", "weights of a body");
    write_external("other", "others of a body!");
    hash = hash_of("one/model.onnx", NULL);
    assert_true(same(hash, hash_of("same/model.onnx", NULL)));
    assert_false(same(hash, hash_of("other/model.onnx", NULL)));
}

/* Of the same size, and in the same inode: the time of the change tells. */
static void weights_that_change_on_the_way_are_noticed(void **state)
{
    struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    struct hash hash;

    write_external("one", "weights of a body");
    assert_int_equal(utimensat(AT_FDCWD, "one/weights.data", times, 0), 0);
    hash = hash_of("one/model.onnx", NULL);
    assert_true(same(hash, hash_of("one/model.onnx", NULL)));
    scratch_file("one/weights.data", "others of a body!");
    assert_false(same(hash, hash_of("one/model.onnx", NULL)));
    scratch_file("one/weights.data", "weights of a body");
    assert_true(same(hash, hash_of("one/model.onnx", NULL)));
}

static void weights_of_the_same_size_and_time_are_told_apart(void **state)
{
    struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    struct hash hash;

    write_external("one", "weights of a body");
    assert_int_equal(utimensat(AT_FDCWD, "one/weights.data", times, 0), 0);
    hash = hash_of("one/model.onnx", NULL);
    scratch_file("one/weights.data", "others of a body!");
    assert_int_equal(utimensat(AT_FDCWD, "one/weights.data", times, 0), 0);
    assert_false(same(hash, hash_of("one/model.onnx", NULL)));
}

static void weights_that_are_missing_are_a_content_of_their_own(void **state)
{
    struct hash hash;

    write_external("one", "weights of a body");
    hash = hash_of("one/model.onnx", NULL);
    assert_int_equal(unlink("one/weights.data"), 0);
    assert_false(same(hash, hash_of("one/model.onnx", NULL)));
    assert_true(same(hash_of("one/model.onnx", NULL), hash_of("one/model.onnx", NULL)));
}

static void what_cannot_be_read_is_an_error(void **state)
{
    struct hash hash;
    struct error err = {0};

    write_model("model.onnx", -1);
    scratch_file("no_model", "this is no model");
    assert_int_equal(candidate_content_hash("missing.onnx", NULL, &hash, &err), ERR_MISSING);
    assert_non_null(strstr(err.message, "missing.onnx"));
    assert_int_equal(candidate_content_hash("model.onnx", FILES("missing.json"), &hash, &err), ERR_MISSING);
    assert_non_null(strstr(err.message, "missing.json"));
    assert_int_equal(candidate_content_hash("no_model", NULL, &hash, &err), ERR_CORRUPT);
}

static void engine_is_its_bytes(void **state)
{
    scratch_file("one.engine", "PLGRPLAN and what follows");
    scratch_file("other.engine", "PLGRPLAN and something else");
    assert_false(same(hash_of("one.engine", NULL), hash_of("other.engine", NULL)));
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(content_counts_and_paths_do_not),
        IN_SCRATCH(files_that_belong_to_it_count_in_their_order),
        IN_SCRATCH(external_weights_count),
        IN_SCRATCH(weights_that_change_on_the_way_are_noticed),
        IN_SCRATCH(weights_of_the_same_size_and_time_are_told_apart),
        IN_SCRATCH(weights_that_are_missing_are_a_content_of_their_own),
        IN_SCRATCH(what_cannot_be_read_is_an_error),
        IN_SCRATCH(engine_is_its_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
