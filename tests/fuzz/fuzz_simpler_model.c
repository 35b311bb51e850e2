/* tests/fuzz/fuzz_simpler_model.c: ONNX files whose attributes are dropped, whose inputs are made smaller, and whose
 * bodies and functions lose nodes, at places that their own bytes choose; and those that lose the nodes which are not
 * needed. What comes out is written and read again. */
#include <stdlib.h>

#include "base/memory.h"
#include "onnx/edit/model.h"
#include "onnx/edit/rebuild.h"
#include "onnx/shrink/attributes.h"
#include "onnx/shrink/bodies.h"
#include "onnx/shrink/inputs.h"
#include "onnx/shrink/stand_in_weights.h"
#include "onnx/simplify/simplify.h"
#include "onnx/write/model.h"
#include "target.h"

/* Choices up to `most`, drawn from a hash of the file. */
static uint8_t *draw(struct hash hash, size_t count, unsigned most)
{
    uint8_t *choices = memory_alloc_zero(count + 1, 1);
    uint64_t state = hash.low | 1;

    for (size_t i = 0; i < count; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        choices[i] = (uint8_t)((state >> 33) % (most + 1));
    }
    return choices;
}

static void simplify_interface(struct model *model, struct hash hash)
{
    struct optional_attribute_list attributes = {0};
    struct input_size_list sizes = {0};
    uint8_t *choices;

    attributes_list_optional(model, &attributes);
    choices = draw(hash, attributes.count, 1);
    attributes_drop(model, &attributes, choices);
    free(choices);
    free(attributes.items);
    input_sizes_list(model, &sizes);
    choices = draw(hash, sizes.count, 1);
    inputs_shrink(model, &sizes, choices);
    free(choices);
    free(sizes.items);
}

/* External data are none of a fuzzer's business: it has none, and that is an error. */
static void replace_weights(struct model *model, struct hash hash)
{
    struct weight_list weights = {0};
    uint8_t *choices;

    weights_count_inside(model);
    weights_list(model, &weights, NULL);
    choices = draw(hash, weights.count, STAND_IN_NOISE);
    for (size_t i = 0; i < weights.count; i++)
        weight_replace(model, &weights.items[i], (enum stand_in)choices[i], NULL);
    free(choices);
    free(weights.items);
}

/* False when the model can only be freed. */
static bool edit_bodies(struct model *model, struct hash hash)
{
    struct inner_node_list inner = {0};
    uint8_t *choices;
    size_t inlined = 0;
    bool whole = inner_nodes_list(model, &inner, NULL) == 0;

    choices = draw(hash, inner.count, MOST_BYPASSES);
    whole = whole && inner_nodes_bypass(model, choices, NULL) == 0;
    free(choices);
    free(inner.items);
    choices = draw(hash, model->nodes.count, 2);
    for (size_t i = 0; i < model->nodes.count; i++)
        if (!text_equal_string(model->nodes.items[i].op_type, "If"))
            choices[i] = 0;
    whole = whole && branches_take(model, choices, &inlined, NULL) == 0;
    free(choices);
    return whole;
}

static void write_and_read(struct model *model)
{
    struct subgraph whole;
    struct model *again;
    struct error error;
    char *bytes;
    size_t size;

    subgraph_init_whole(&whole, model);
    if (model_write_memory(&whole, &bytes, &size, &error) == 0) {
        if (model_parse((struct span){(const uint8_t *)bytes, size}, "again", &again, &error) == 0)
            model_free(again);
        else if (error.code != ERR_CORRUPT) /* what was in a branch had not been looked at before */
            abort();
        free(bytes);
    } else if (error.code != ERR_CORRUPT) { /* old formats need the shapes of their initializers */
        abort();
    }
    subgraph_release(&whole);
}

static void remove_needless_nodes(struct span bytes)
{
    struct simplify_counts counts = {0};
    struct unused_names names;
    struct model *model;
    struct error error;

    if (model_parse(bytes, "fuzz", &model, &error) < 0)
        return;
    unused_names_init(&names, model, &model->arena);
    if (model_lower_constants(model, &error) == 0 && model_sort_nodes(model, &error) == 0 &&
        model_simplify(model, &names, &counts, &error) == 0)
        write_and_read(model);
    unused_names_release(&names);
    model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hash hash = hash_bytes(data, size);
    struct model *model;
    struct error error;

    remove_needless_nodes((struct span){data, size});
    if (model_parse((struct span){data, size}, "fuzz", &model, &error) < 0)
        return 0;
    if (edit_bodies(model, hash) && model_lower_constants(model, &error) == 0) {
        simplify_interface(model, hash);
        replace_weights(model, hash);
        write_and_read(model);
    }
    model_free(model);
    return 0;
}
