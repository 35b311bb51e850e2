/* Weights beside the model: where they may lie, and making them reachable for a copy of the model. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "onnx/edit/model.h"
#include "onnx/external/data.h"
#include "support/scratch_folder.h"

static void make_folder(const char *path)
{
    if (mkdir(path, 0777) != 0)
        fail_msg("cannot make the folder '%s'", path);
}

/* In the current folder: model/external_data_in_a_body.onnx with model/weights.data and model/more/weights.data. */
static struct model *open_in_scratch(void)
{
    char *model_bytes;
    size_t size;
    struct model *model = NULL;
    struct error err = {0};

    make_folder("model");
    make_folder("model/more");
    scratch_file("model/weights.data", "weights of a body");
    scratch_file("model/more/weights.data", "more weights");
    if (file_read(fixture_path("external_data_in_a_body.onnx"), SIZE_MAX, &model_bytes, &size, &err) < 0 ||
        file_write("model/model.onnx", model_bytes, size, FILE_INTERMEDIATE, &err) < 0 ||
        model_open("model/model.onnx", NULL, &model, &err) < 0)
        fail_msg("%s", err.message);
    free(model_bytes);
    return model;
}

static int path_of(const char *location, struct error *err)
{
    struct model model = {.folder = (char[]){"model"}, .display_name = (char[]){"model.onnx"}};
    char *path = NULL;
    int rc = external_data_path(&model, text_of(location), &path, err);

    if (rc == 0)
        assert_non_null(strstr(path, "/model/"));
    free(path);
    return rc;
}

static void assert_refused(const char *location, const char *part)
{
    struct error err = {0};

    assert_int_equal(path_of(location, &err), ERR_CORRUPT);
    if (strstr(err.message, part) == NULL)
        fail_msg("'%s' does not contain '%s'", err.message, part);
}

static void paths_that_lead_out_of_the_folder_are_refused(void **state)
{
    static const char *const locations[] = {
        "/etc/passwd", "..", "../weights.data", "a/../../b", "a/..", "./..", "a//../b", "a/./../b", "",
    };

    make_folder("model");
    make_folder("model/a");
    scratch_file("weights.data", "");
    for (size_t i = 0; i < ARRAY_LEN(locations); i++)
        assert_refused(locations[i], "are outside of the model's folder: refused");
}

static void name_with_a_zero_byte_is_refused(void **state)
{
    struct model model = {.folder = (char[]){"model"}, .display_name = (char[]){"model.onnx"}};
    struct error err = {0};
    char *path;

    make_folder("model");
    scratch_file("model/weights", "");
    assert_int_equal(external_data_path(&model, TEXT("weights\0/../../x"), &path, &err), ERR_CORRUPT);
}

static void assert_location(const char *path, const char *folder, const char *expected)
{
    struct error err = {0};
    char *location = NULL;

    if (external_data_location(path, folder, &location, &err) < 0)
        fail_msg("%s in %s: %s", path, folder, err.message);
    assert_string_equal(location, expected);
    free(location);
}

static void absolute_path_becomes_one_from_the_folder_of_the_model(void **state)
{
    char *here = file_real_path("."), *weights, *deep, *linked, *direct;

    make_folder("model");
    assert_int_equal(symlink("model", "link"), 0);
    weights = file_join(here, "model/weights");
    deep = file_join(here, "model/new/weights");
    linked = file_join(here, "link/weights");
    direct = file_join(here, "model/../model//weights");
    assert_location("weights", "model", "weights");
    assert_location("sub/weights", "anywhere", "sub/weights");
    assert_location(weights, "model", "weights");
    assert_location(weights, "link", "weights");
    assert_location(linked, "model/", "weights");
    assert_location(direct, "model", "weights");
    assert_location(deep, "model", "new/weights");
    assert_location(deep, "model/new", "weights");
    assert_location(weights, ".", "model/weights");
    assert_location("/weights", "/", "weights");
    free(here);
    free(weights);
    free(deep);
    free(linked);
    free(direct);
}

static void path_outside_of_the_folder_of_the_model_is_refused_with_one_that_will_do(void **state)
{
    char *here = file_real_path(".");
    struct error err = {0};
    char *location = NULL;

    make_folder("model");
    for (const char *const *name =
             (const char *const[]){"weights", "model", "model2/weights", "model/new/../../weights", NULL};
         *name != NULL; name++) {
        char *path = file_join(here, *name);

        assert_int_equal(external_data_location(path, "model", &location, &err), ERR_INVALID);
        assert_non_null(strstr(err.message, "would be outside of '"));
        free(path);
    }
    assert_int_equal(external_data_location("../weights.bin", "model", &location, &err), ERR_INVALID);
    assert_non_null(strstr(err.message, "a name alone, like 'weights.bin'"));
    assert_null(location);
    free(here);
}

static void names_that_only_look_as_if_they_led_out_are_allowed(void **state)
{
    static const char *const locations[] = {"..weights", "weights..", "a..b", "...", "./..weights", "sub/..weights"};
    struct error err = {0};

    make_folder("model");
    make_folder("model/sub");
    scratch_file("model/..weights", "");
    scratch_file("model/weights..", "");
    scratch_file("model/a..b", "");
    scratch_file("model/...", "");
    scratch_file("model/sub/..weights", "");
    for (size_t i = 0; i < ARRAY_LEN(locations); i++)
        if (path_of(locations[i], &err) < 0)
            fail_msg("%s", err.message);
}

static void links_that_lead_out_of_the_folder_are_refused(void **state)
{
    make_folder("model");
    make_folder("model-too");
    scratch_file("outside", "");
    scratch_file("model-too/weights", "");
    assert_int_equal(symlink("../outside", "model/link"), 0);
    assert_int_equal(symlink("..", "model/up"), 0);
    assert_int_equal(symlink("../model-too", "model/beside"), 0); /* a folder whose name begins with the model's */
    assert_int_equal(symlink(".", "model/self"), 0);
    assert_refused("link", "symlink escapes the model's folder: refused");
    assert_refused("up/outside", "symlink escapes");
    assert_refused("beside/weights", "symlink escapes");
    assert_refused("self", "symlink escapes"); /* the folder itself is no file in it */
}

static void links_within_the_folder_are_followed(void **state)
{
    struct error err = {0};

    make_folder("model");
    scratch_file("model/weights", "");
    assert_int_equal(symlink("weights", "model/link"), 0);
    assert_int_equal(link("model/weights", "model/hard"), 0);
    assert_int_equal(path_of("link", &err), 0);
    assert_int_equal(path_of("hard", &err), 0);
}

static void missing_file_is_named_with_the_option_that_helps(void **state)
{
    struct error err = {0};

    make_folder("model");
    assert_int_equal(path_of("weights", &err), ERR_MISSING);
    assert_string_equal(err.message, "model.onnx: cannot find external data 'model/weights' (specify "
                                     "their folder with --external-data-dir): No such file or directory");
}

/* Joins the locations with blanks. */
static void join_locations(const struct text_list *locations, struct string_builder *ret)
{
    string_clear(ret);
    for (size_t i = 0; i < locations->count; i++) {
        string_add(ret, i > 0 ? " " : "");
        string_add_text(ret, locations->items[i]);
    }
    free(locations->items);
}

static void list_locations(const struct subgraph *subgraph, struct string_builder *ret)
{
    struct text_list locations = {0};
    struct error err = {0};

    if (external_data_locations(subgraph, &locations, &err) < 0)
        fail_msg("%s", err.message);
    join_locations(&locations, ret);
}

static void list_locations_of_file(const char *name, struct string_builder *ret)
{
    const char *path = fixture_path(name);
    struct text_list locations = {0};
    struct file_map map;
    struct error err = {0};

    if (file_map_open(path, &map, &err) < 0 || external_data_list(&map, path, &locations, &err) < 0)
        fail_msg("%s", err.message);
    join_locations(&locations, ret);
    file_map_release(&map);
}

static void files_of_all_tensors_are_listed_without_an_index(void **state)
{
    struct string_builder text;

    string_init(&text);
    list_locations_of_file("external_data_in_a_body.onnx", &text);
    assert_string_equal(text.data, "weights.data more/weights.data");
    list_locations_of_file("external_data_in_a_function.onnx", &text);
    assert_string_equal(text.data, "weights.data");
    list_locations_of_file("identity.onnx", &text);
    assert_int_equal(text.size, 0);
    string_release(&text);
}

static void files_of_initializers_and_bodies_are_listed(void **state)
{
    struct model *model = fixture_open("external_data_in_a_body");
    struct subgraph part;
    struct string_builder text;

    string_init(&text);
    subgraph_init_whole(&part, model);
    list_locations(&part, &text);
    assert_string_equal(text.data, "more/weights.data weights.data");
    subgraph_mark_outputs(&part, fixture_node(model, "if"));
    subgraph_clean(&part, NULL, NULL, NULL);
    list_locations(&part, &text);
    assert_string_equal(text.data, "weights.data");
    subgraph_release(&part);
    subgraph_init_whole(&part, model);
    subgraph_mark_inputs(&part, fixture_node(model, "add"));
    subgraph_clean(&part, NULL, NULL, NULL);
    list_locations(&part, &text);
    assert_string_equal(text.data, "more/weights.data");
    subgraph_release(&part);
    string_release(&text);
    model_free(model);
}

static void files_of_functions_are_listed_for_every_part(void **state)
{
    struct model *model = fixture_open("external_data_in_a_function");
    struct subgraph part;
    struct string_builder text;

    string_init(&text);
    subgraph_init_whole(&part, model);
    list_locations(&part, &text);
    assert_string_equal(text.data, "weights.data");
    subgraph_mark_inputs(&part, fixture_node(model, "neg"));
    subgraph_clean(&part, NULL, NULL, NULL);
    list_locations(&part, &text);
    assert_string_equal(text.data, "weights.data");
    subgraph_release(&part);
    string_release(&text);
    model_free(model);
}

static void initializer_that_is_only_an_output_is_listed(void **state)
{
    struct model *model = fixture_open("external_weights");
    struct subgraph part;
    struct string_builder text;

    string_init(&text);
    subgraph_init_whole(&part, model);
    part.outputs.count = 0;
    value_list_add(&part.outputs, fixture_value(model, "weights"));
    subgraph_clean(&part, NULL, NULL, NULL);
    assert_int_equal(bitset_count(&part.nodes), 0);
    list_locations(&part, &text);
    assert_string_equal(text.data, "weights.data");
    subgraph_release(&part);
    string_release(&text);
    model_free(model);
}

static void hash_follows_the_content_of_the_files(void **state)
{
    struct model *model = open_in_scratch();
    struct hash first = {1, 2}, second = {1, 2}, third = {1, 2};
    struct error err = {0};

    assert_int_equal(external_data_hash(model, &first, &err), 0);
    assert_int_equal(external_data_hash(model, &second, &err), 0);
    assert_true(hash_equal(first, second));
    scratch_file("model/more/weights.data", "more weightS");
    assert_int_equal(external_data_hash(model, &third, &err), 0);
    assert_false(hash_equal(first, third));
    model_free(model);
}

static int provide(const struct model *model, const char *folder, struct path_list *ret_made, struct error *err)
{
    struct subgraph whole;
    int rc;

    subgraph_init_whole(&whole, (struct model *)model);
    rc = external_data_provide(&whole, folder, EXTERNAL_LINK, ret_made, err);
    subgraph_release(&whole);
    return rc;
}

static bool is_one_file(const char *a, const char *b)
{
    struct stat first, second;

    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_ino == second.st_ino &&
           first.st_dev == second.st_dev;
}

static void files_are_linked_into_another_folder_or_copied(void **state)
{
    struct model *model = open_in_scratch();
    struct path_list made = {0};
    struct error err = {0};

    assert_int_equal(provide(model, "new/folder", &made, &err), 0);
    assert_int_equal(made.count, 5); /* the folders in front of what is in them */
    assert_string_equal(made.items[0], "new");
    assert_string_equal(made.items[3], "new/folder/more/weights.data");
    assert_false(is_one_file("model/weights.data", "new/folder/weights.data")); /* a node holds it */
    assert_true(is_one_file("model/more/weights.data", "new/folder/more/weights.data"));
    path_list_release(&made);
    assert_int_equal(provide(model, "new/folder", &made, &err), 0);
    assert_int_equal(made.count, 0); /* they are there */
    path_list_release(&made);
    model_free(model);
}

static void nothing_is_to_do_in_the_folder_of_the_model(void **state)
{
    struct model *model = open_in_scratch();
    struct path_list made = {0};
    struct error err = {0};

    assert_int_equal(provide(model, "model", &made, &err), 0);
    assert_int_equal(made.count, 0);
    assert_int_equal(provide(model, "./model/../model", &made, &err), 0);
    assert_int_equal(made.count, 0);
    model_free(model);
}

static void file_of_another_content_is_not_replaced(void **state)
{
    struct model *model = open_in_scratch();
    struct path_list made = {0};
    struct error err = {0};

    make_folder("other");
    scratch_file("other/weights.data", "weights of a dog!"); /* as many bytes */
    assert_int_equal(provide(model, "other", &made, &err), ERR_EXISTS);
    assert_non_null(strstr(err.message, "'other/weights.data' exists and is not the external data of this model"));
    assert_true(scratch_file_is("other/weights.data", "weights of a dog!"));
    assert_int_equal(made.count, 2); /* what was made in front of it, for the caller to remove */
    assert_string_equal(made.items[1], "other/more/weights.data");
    path_list_release(&made);
    model_free(model);
}

static void copy_of_an_earlier_run_will_do(void **state)
{
    struct model *model = open_in_scratch();
    struct path_list made = {0};
    struct error err = {0};

    make_folder("other");
    scratch_file("other/weights.data", "weights of a body");
    assert_int_equal(provide(model, "other", &made, &err), 0);
    assert_int_equal(made.count, 2); /* the folder `more` and what is in it */
    path_list_release(&made);
    model_free(model);
}

static void link_that_leads_nowhere_is_not_written_through(void **state)
{
    struct model *model = open_in_scratch();
    struct path_list made = {0};
    struct error err = {0};

    make_folder("other");
    assert_int_equal(symlink("../elsewhere", "other/weights.data"), 0);
    assert_int_equal(provide(model, "other", &made, &err), ERR_EXISTS);
    assert_false(file_exists("elsewhere"));
    path_list_release(&made);
    model_free(model);
}

static void files_are_copied_onto_another_file_system(void **state)
{
    char folder[] = "/dev/shm/polygraphy.XXXXXX", path[64];
    struct stat here, there;
    struct path_list made = {0};
    struct model *model;
    struct error err = {0};

    if (mkdtemp(folder) == NULL || stat(folder, &there) != 0 || stat(".", &here) != 0 || here.st_dev == there.st_dev)
        skip();
    model = open_in_scratch();
    assert_int_equal(provide(model, folder, &made, &err), 0);
    snprintf(path, sizeof(path), "%s/weights.data", folder);
    assert_true(scratch_file_is(path, "weights of a body"));
    assert_false(is_one_file("model/weights.data", path));
    assert_int_equal(made.count, 3);
    path_list_remove(&made);
    assert_false(file_exists(path));
    path_list_release(&made);
    snprintf(path, sizeof(path), "%s/more", folder);
    rmdir(path);
    assert_int_equal(rmdir(folder), 0); /* nothing else was left there */
    model_free(model);
}

static void data_that_lead_out_are_not_provided(void **state)
{
    struct path_list made = {0};
    struct model *model;
    struct error err = {0};

    make_folder("model");
    make_folder("new");
    make_folder("private");
    scratch_file("private/weights.data", "");
    assert_int_equal(symlink("../private", "model/more"), 0);
    assert_int_equal(model_open(fixture_path("external_data_in_a_body.onnx"), "model", &model, &err), 0);
    assert_int_equal(provide(model, "new", &made, &err), ERR_CORRUPT);
    assert_int_equal(scratch_count("new"), 0);
    assert_int_equal(made.count, 0);
    model_free(model);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_folder_enter, scratch_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(paths_that_lead_out_of_the_folder_are_refused),
        IN_SCRATCH(name_with_a_zero_byte_is_refused),
        IN_SCRATCH(absolute_path_becomes_one_from_the_folder_of_the_model),
        IN_SCRATCH(path_outside_of_the_folder_of_the_model_is_refused_with_one_that_will_do),
        IN_SCRATCH(names_that_only_look_as_if_they_led_out_are_allowed),
        IN_SCRATCH(links_that_lead_out_of_the_folder_are_refused),
        IN_SCRATCH(links_within_the_folder_are_followed),
        IN_SCRATCH(missing_file_is_named_with_the_option_that_helps),
        cmocka_unit_test(files_of_all_tensors_are_listed_without_an_index),
        cmocka_unit_test(files_of_initializers_and_bodies_are_listed),
        cmocka_unit_test(files_of_functions_are_listed_for_every_part),
        cmocka_unit_test(initializer_that_is_only_an_output_is_listed),
        IN_SCRATCH(hash_follows_the_content_of_the_files),
        IN_SCRATCH(files_are_linked_into_another_folder_or_copied),
        IN_SCRATCH(nothing_is_to_do_in_the_folder_of_the_model),
        IN_SCRATCH(file_of_another_content_is_not_replaced),
        IN_SCRATCH(copy_of_an_earlier_run_will_do),
        IN_SCRATCH(link_that_leads_nowhere_is_not_written_through),
        IN_SCRATCH(files_are_copied_onto_another_file_system),
        IN_SCRATCH(data_that_lead_out_are_not_provided),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
