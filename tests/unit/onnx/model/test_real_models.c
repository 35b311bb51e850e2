/* Models that real programs made, whole and cut at random. They lie outside of the project, in the folder that
 * POLYGRAPHY_TEST_MODELS names; without it nothing is tested here. */
#include "support/onnx_fixture.h"
#include "support/unit_test.h"

#include <ftw.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/edit/model.h"
#include "support/scratch_folder.h"

#define CUTS_PER_MODEL 200

static struct {
    char **items;
    size_t count, capacity;
} found;

static int note_model(const char *path, const struct stat *status, int kind, struct FTW *position)
{
    size_t length = strlen(path);

    (void)status, (void)position;
    if (kind == FTW_F && length > 5 && strcmp(path + length - 5, ".onnx") == 0)
        *VECTOR_APPEND(&found) = memory_strdup(path);
    return 0;
}

static int find_models(void **state)
{
    const char *folder = getenv("POLYGRAPHY_TEST_MODELS");

    return folder != NULL && file_is_folder(folder) ? nftw(folder, note_model, 8, 0) : 0;
}

static int forget_models(void **state)
{
    for (size_t i = 0; i < found.count; i++)
        free(found.items[i]);
    free(found.items);
    return 0;
}

static struct model *open_model(const char *path)
{
    struct model *model;
    struct error err = {0};

    if (model_open(path, NULL, &model, &err) < 0)
        fail_msg("%s", err.message);
    return model;
}

/* Each is written to <folder that it is in>/<name> below the current folder; then the folders are compared. */
static void whole_models_are_the_same_messages_again(void **state)
{
    if (found.count == 0)
        skip();
    for (size_t i = 0; i < found.count; i++) {
        struct model *model = open_model(found.items[i]);
        char *folder = file_folder(found.items[i]), *name = file_basename(found.items[i]);
        char *group = file_basename(folder), *path = file_join(group, name);
        struct subgraph whole;
        struct error err = {0};

        subgraph_init_whole(&whole, model);
        if (model_write(&whole, path, NULL, FILE_INTERMEDIATE, NULL, &err) < 0)
            fail_msg("%s", err.message);
        subgraph_release(&whole);
        model_free(model);
        if (i + 1 == found.count || strncmp(found.items[i + 1], folder, strlen(folder)) != 0)
            run_python("compare_models.py", folder, group);
        free(folder);
        free(group);
        free(name);
        free(path);
    }
}

/* Numbers that look random, the same in every run (the 64-bit generator of Knuth's MMIX). */
static uint64_t random_below(uint64_t *seed, uint64_t bound)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*seed >> 33) % bound;
}

static uint32_t random_node(uint64_t *seed, const struct subgraph *subgraph)
{
    uint64_t left = random_below(seed, bitset_count(&subgraph->nodes));
    size_t node = bitset_next(&subgraph->nodes, 0);

    while (left-- > 0)
        node = bitset_next(&subgraph->nodes, node + 1);
    return (uint32_t)node;
}

/* Cuts inputs; what then lacks a source becomes constants, with whatever depends on nothing else. */
static void cut_inputs(struct subgraph *part, uint32_t node, const struct tensor *dummy)
{
    struct value_list missing = {0}, met = {0};
    struct bitset constants;

    subgraph_mark_inputs(part, node);
    subgraph_clean(part, NULL, NULL, &missing);
    bitset_init(&constants, part->model->values.count);
    for (size_t i = 0; i < missing.count; i++)
        bitset_add(&constants, missing.items[i]);
    subgraph_fold(part, &constants);
    subgraph_clean(part, &constants, &met, NULL);
    for (size_t i = 0; i < met.count; i++)
        *VECTOR_APPEND(&part->frozen) = (struct frozen_value){met.items[i], dummy};
    bitset_release(&constants);
    free(missing.items);
    free(met.items);
}

/* Every tensor that is read has exactly one source. */
static void assert_sound(struct model *model)
{
    struct subgraph whole;
    struct value_list missing = {0};

    subgraph_init_whole(&whole, model);
    subgraph_clean(&whole, NULL, NULL, &missing);
    if (missing.count > 0)
        fail_msg("without a source: %s", names_of_values(model, &missing));
    for (size_t i = 0; i < model->inputs.count; i++)
        assert_int_equal(model->values.items[model->inputs.items[i]].producer, NODE_NONE);
    for (size_t i = 0; i < model->initializers.count; i++)
        assert_int_equal(model->values.items[model->initializers.items[i].value].producer, NODE_NONE);
    assert_int_equal(bitset_count(&whole.nodes), model->nodes.count);
    free(missing.items);
    subgraph_release(&whole);
}

static void assert_same_nodes(const struct subgraph *part, const struct model *again)
{
    size_t j = 0;

    assert_int_equal(again->nodes.count, bitset_count(&part->nodes));
    for (size_t i = bitset_next(&part->nodes, 0); i < part->nodes.size; i = bitset_next(&part->nodes, i + 1)) {
        const struct node *expected = &part->model->nodes.items[i], *node = &again->nodes.items[j++];

        assert_true(text_equal(node->name, expected->name));
        assert_true(text_equal(node->op_type, expected->op_type));
        assert_int_equal(node->inputs.count, expected->inputs.count);
        assert_int_equal(node->outputs.count, expected->outputs.count);
        assert_int_equal(node->captures.count, expected->captures.count);
    }
}

static bool is_sound(struct model *model)
{
    struct value_list missing = {0};
    struct subgraph whole;
    bool sound;

    subgraph_init_whole(&whole, model);
    subgraph_clean(&whole, NULL, NULL, &missing);
    sound = missing.count == 0 && bitset_count(&whole.nodes) > 0;
    free(missing.items);
    subgraph_release(&whole);
    return sound;
}

static void cut_at_random(struct model *model, uint64_t *seed, const struct tensor *dummy)
{
    struct subgraph part;
    struct rewritten written;

    subgraph_init_whole(&part, model);
    subgraph_mark_outputs(&part, random_node(seed, &part));
    subgraph_clean(&part, NULL, NULL, NULL);
    if (random_below(seed, 4) > 0)
        cut_inputs(&part, random_node(seed, &part), dummy);
    rewritten_init(&written, &part);
    assert_same_nodes(&part, written.model);
    assert_sound(written.model);
    rewritten_release(&written);
    subgraph_release(&part);
}

static void random_cuts_are_sound_models_of_the_same_nodes(void **state)
{
    static const float one = 1;
    struct tensor dummy;
    size_t models = 0;

    if (found.count == 0)
        skip();
    tensor_borrow(DATA_FLOAT32, &(struct shape){0}, &one, sizeof(one), &dummy);
    for (size_t i = 0; i < found.count; i++) {
        struct model *model = open_model(found.items[i]);
        uint64_t seed = i;
        struct error err = {0};

        if (model_lower_constants(model, &err) < 0)
            fail_msg("%s", err.message);
        for (unsigned cut = 0; cut < CUTS_PER_MODEL && is_sound(model); cut++) /* some are bad on purpose */
            cut_at_random(model, &seed, &dummy);
        models += is_sound(model);
        model_free(model);
    }
    assert_true(models > found.count / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(whole_models_are_the_same_messages_again, scratch_folder_enter,
                                        scratch_folder_leave),
        cmocka_unit_test(random_cuts_are_sound_models_of_the_same_nodes),
    };

    return cmocka_run_group_tests(tests, find_models, forget_models);
}
