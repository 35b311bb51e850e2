/* Tactics: their numbers in replays, and how the one that a replay names is found again. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/plan/replay.h"
#include "support/node_network.h"

/* Takes the layout that its input has, and one of its own: as pooling does, and convolution. */
static int list(struct tactic_provider *provider, const struct kernel_request *request, struct tactic_list *ret,
                struct error *err)
{
    char name[TACTIC_NAME_SIZE];
    struct tactic *tactic;

    (void)err;
    snprintf(name, sizeof(name), "as it comes %s", request->inputs[0].layout.text);
    tactic = tactic_list_add(ret, provider, request->layer, TEXT("as it comes"), text_of(name));
    tactic->input_layouts[0] = request->inputs[0].layout;
    tactic_list_add(ret, provider, request->layer, TEXT("row-major"), TEXT("row-major"));
    return 0;
}

struct fixture {
    struct network network;
    struct tactic_provider provider, *providers[1];
    struct provider_list list;
    struct kernel_input inputs[8];
    struct kernel_request request;
    struct tactic_list tactics;
};

/* The first convolution of the model, whose input is row-major. */
static void fixture_init(struct fixture *f)
{
    *f = (struct fixture){.provider = {.name = "fake", .version = "1", .list = list}};
    node_network_init(&f->network, fixture_open_lowered("convolutions"), false);
    f->providers[0] = &f->provider;
    f->list = (struct provider_list){.items = f->providers, .count = 1};
    f->inputs[0] =
        (struct kernel_input){.present = true, .type = DATA_FLOAT32, .shape = {.rank = 4, .dims = {2, 32, 12, 11}}};
    f->request = (struct kernel_request){
        .network = &f->network, .layer = &f->network.layers.items[0], .inputs = f->inputs, .threads = 1};
    assert_int_equal(list(&f->provider, &f->request, &f->tactics, NULL), 0);
}

static void fixture_release(struct fixture *f)
{
    tactic_list_release(&f->tactics);
    node_network_release(&f->network);
}

/* Looks for a tactic of that name; returns the layout that it wants for its input, NULL when there is none. */
static const char *find(struct fixture *f, const char *name, struct error *err)
{
    static char layout[LAYOUT_TEXT_SIZE];
    struct tactic_algorithm wanted = {.name = (char *)(uintptr_t)name};
    const struct tactic *tactic = NULL;

    *err = (struct error){0};
    if (replay_tactic_find(&f->list, &f->request, &wanted, &f->tactics, &tactic, err) < 0)
        return NULL;
    snprintf(layout, sizeof(layout), "%s", tactic->input_layouts[0].text);
    return layout;
}

static void a_tactic_is_found_by_name(void **state)
{
    struct fixture f;
    struct error err;

    fixture_init(&f);
    assert_string_equal(find(&f, "fake:row-major", &err), "");
    assert_string_equal(find(&f, "fake:as it comes ", &err), "");
    fixture_release(&f);
}

static void a_tactic_is_found_though_its_input_has_another_layout_now(void **state)
{
    static const char *const layouts[] = {"acdb", "aBcd4b", "aBcd8b", "aBcd16b"};

    for (size_t i = 0; i < ARRAY_LEN(layouts); i++) {
        struct fixture f;
        struct error err;
        char name[64];

        fixture_init(&f);
        snprintf(name, sizeof(name), "fake:as it comes %s", layouts[i]);
        assert_string_equal(find(&f, name, &err), layouts[i]);
        assert_int_equal(f.inputs[0].layout.text[0], '\0'); /* the request is as it was */
        fixture_release(&f);
    }
}

static void a_tactic_without_a_name_is_found_by_numbers_and_layouts(void **state)
{
    struct tactic_algorithm wanted = {0};
    int64_t strides[] = {32 * 132, 8 * 132, 88, 8};
    const struct tactic *tactic = NULL;
    struct fixture f;
    struct error err;

    fixture_init(&f);
    f.inputs[0].layout = (struct layout){"aBcd8b"};
    tactic_list_release(&f.tactics);
    assert_int_equal(list(&f.provider, &f.request, &f.tactics, NULL), 0);
    wanted.implementation = f.tactics.items[0].implementation;
    wanted.tactic = f.tactics.items[0].number;
    struct tactic_tensor *tensor = tactic_tensors_add(&wanted.inputs, TEXT("DataType.FLOAT"), strides, 4);
    tensor->vectorized_dim.value = 1;
    tensor->components_per_element.value = 8;

    /* the same, as it is found where the input is row-major */
    f.inputs[0].layout = (struct layout){""};
    tactic_list_release(&f.tactics);
    assert_int_equal(list(&f.provider, &f.request, &f.tactics, NULL), 0);
    assert_int_equal(replay_tactic_find(&f.list, &f.request, &wanted, &f.tactics, &tactic, &err), 0);
    assert_string_equal(tactic->input_layouts[0].text, "aBcd8b");
    free(tensor->dtype);
    free(tensor->strides);
    free(wanted.inputs.items);
    fixture_release(&f);
}

static void a_tactic_that_is_nowhere_is_an_error_that_names_layer_and_tactic(void **state)
{
    struct fixture f;
    struct error err;

    fixture_init(&f);
    assert_null(find(&f, "fake:nothing", &err));
    assert_int_equal(err.code, ERR_MISSING);
    assert_non_null(strstr(err.message, "layer 'a layer': the tactic replay asks for tactic 'fake:nothing'"));
    assert_null(find(&f, NULL, &err));
    assert_int_equal(err.code, ERR_MISSING);
    fixture_release(&f);
}

static void numbers_are_positive_exact_in_json_and_follow_from_names(void **state)
{
    struct tactic_list tactics = {0};
    struct fixture f;

    fixture_init(&f);
    for (int i = 0; i < 1000; i++) {
        char name[32];
        struct tactic *tactic;

        snprintf(name, sizeof(name), "tactic %d", i / 2);
        tactic = tactic_list_add(&tactics, &f.provider, f.request.layer, TEXT("algorithm"), text_of(name));
        assert_true(tactic->number > 0 && tactic->number < INT64_C(1) << 53);
        assert_int_equal(tactic->implementation, tactics.items[0].implementation);
        assert_int_equal(tactic->number == tactics.items[0].number, i < 2);
        if (i % 2 == 1)
            assert_int_equal(tactic->number, tactics.items[i - 1].number);
    }
    tactic_list_release(&tactics);
    fixture_release(&f);
}

static void a_copy_of_a_tactic_has_layouts_of_its_own(void **state)
{
    struct fixture f;
    struct tactic copy;

    fixture_init(&f);
    f.tactics.items[0].input_layouts[0] = (struct layout){"acdb"};
    tactic_copy(&copy, &f.tactics.items[0], f.request.layer);
    tactic_list_release(&f.tactics);
    assert_string_equal(copy.input_layouts[0].text, "acdb");
    assert_string_equal(copy.name, "as it comes ");
    tactic_release(&copy);
    fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tactic_is_found_by_name),
        cmocka_unit_test(a_tactic_is_found_though_its_input_has_another_layout_now),
        cmocka_unit_test(a_tactic_without_a_name_is_found_by_numbers_and_layouts),
        cmocka_unit_test(a_tactic_that_is_nowhere_is_an_error_that_names_layer_and_tactic),
        cmocka_unit_test(numbers_are_positive_exact_in_json_and_follow_from_names),
        cmocka_unit_test(a_copy_of_a_tactic_has_layouts_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
