/* tests/fuzz/fuzz_onnx_model.c: ONNX files. Each is taken apart, cut at places that its own bytes choose, written,
 * and has to read as the same nodes again. */
#include <stdlib.h>

#include "base/memory.h"
#include "onnx/edit/model.h"
#include "onnx/external/data.h"
#include "onnx/model/mark_outputs.h"
#include "onnx/model/text.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/write/model.h"
#include "target.h"

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void decode_tensors(const struct model *model)
{
    for (size_t i = 0; i < model->initializers.count; i++) {
        struct tensor tensor;
        struct error error;

        if (tensor_proto_decode(model->initializers.items[i].message, &tensor, &error) == 0)
            tensor_release(&tensor);
    }
}

static void describe_values(const struct model *model)
{
    struct string_builder text;

    string_init(&text);
    for (size_t i = 0; i < model->values.count; i++) {
        struct value_type type;

        value_info_decode(model->values.items[i].info, &type);
        tensor_line(&text, model->values.items[i].name, &type);
    }
    string_release(&text);
}

static void describe_subgraph(struct subgraph *subgraph)
{
    struct text_list locations = {0};
    struct string_builder text;
    struct error error;

    string_init(&text);
    subgraph_summary(&text, subgraph);
    variable_list_text(&text, subgraph, &subgraph->inputs);
    for (size_t i = bitset_next(&subgraph->nodes, 0); i < subgraph->nodes.size;
         i = bitset_next(&subgraph->nodes, i + 1))
        model_add_node_label(subgraph->model, (uint32_t)i, &text);
    string_release(&text);
    external_data_locations(subgraph, &locations, &error);
    free(locations.items);
}

/* Writing fails only where the file itself is damaged: old formats need the shapes of their initializers. */
static void write_and_read(const struct subgraph *subgraph)
{
    struct model *again;
    struct error error;
    char *bytes;
    size_t size, next = 0;

    if (model_write_memory(subgraph, &bytes, &size, &error) < 0) {
        require(error.code == ERR_CORRUPT);
        return;
    }
    require(model_parse((struct span){(const uint8_t *)bytes, size}, "again", &again, &error) == 0);
    require(again->nodes.count == bitset_count(&subgraph->nodes));
    require(again->outputs.count == subgraph->outputs.count);
    for (size_t i = bitset_next(&subgraph->nodes, 0); i < subgraph->nodes.size;
         i = bitset_next(&subgraph->nodes, i + 1)) {
        const struct node *before = &subgraph->model->nodes.items[i], *after = &again->nodes.items[next++];

        require(text_equal(before->name, after->name) && text_equal(before->op_type, after->op_type));
        require(before->inputs.count == after->inputs.count && before->outputs.count == after->outputs.count);
        require(before->captures.count == after->captures.count);
    }
    model_free(again);
    free(bytes);
}

static uint32_t nth_node(const struct subgraph *subgraph, uint64_t choice)
{
    uint64_t left = choice % bitset_count(&subgraph->nodes);
    size_t node = bitset_next(&subgraph->nodes, 0);

    while (left-- > 0)
        node = bitset_next(&subgraph->nodes, node + 1);
    return (uint32_t)node;
}

static void freeze(struct subgraph *subgraph, const struct value_list *missing)
{
    static const float one = 1;
    static struct tensor dummy;
    struct value_list met = {0};
    struct bitset constants;

    tensor_borrow(DATA_FLOAT32, &(struct shape){0}, &one, sizeof(one), &dummy);
    bitset_init(&constants, subgraph->model->values.count);
    for (size_t i = 0; i < missing->count; i++)
        bitset_add(&constants, missing->items[i]);
    subgraph_fold(subgraph, &constants);
    subgraph_clean(subgraph, &constants, &met, NULL);
    for (size_t i = 0; i < met.count; i++)
        *VECTOR_APPEND(&subgraph->frozen) = (struct frozen_value){met.items[i], &dummy};
    bitset_release(&constants);
    free(met.items);
}

static void cut(const struct subgraph *whole, struct hash choice)
{
    struct value_list missing = {0};
    struct subgraph part;

    if (bitset_count(&whole->nodes) == 0)
        return;
    subgraph_init_copy(&part, whole);
    if (choice.low & 1)
        subgraph_mark_outputs(&part, nth_node(&part, choice.low >> 1));
    subgraph_clean(&part, NULL, NULL, NULL);
    write_and_read(&part);
    if (bitset_count(&part.nodes) > 0) {
        subgraph_mark_inputs(&part, nth_node(&part, choice.high >> 1));
        subgraph_clean(&part, NULL, NULL, &missing);
        if (choice.high & 1)
            freeze(&part, &missing);
        write_and_read(&part);
    }
    subgraph_identity(&part);
    describe_subgraph(&part);
    subgraph_release(&part);
    free(missing.items);
}

static void edit(struct model *model, struct hash choice)
{
    const struct shape shape = {2, {-1, 3}};
    struct error error;

    if (model->values.count > 0 && choice.low & 2)
        model_override_input(model, model->values.items[choice.high % model->values.count].name, &shape, NULL, &error);
    if (choice.low & 4)
        model_forget_shapes(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hash choice = hash_bytes(data, size);
    struct model *model;
    struct subgraph whole;
    struct error error;

    if (model_parse((struct span){data, size}, "fuzz", &model, &error) < 0)
        return 0;
    decode_tensors(model);
    describe_values(model);
    if (model_lower_constants(model, &error) == 0) {
        edit(model, choice);
        subgraph_init_whole(&whole, model);
        write_and_read(&whole);
        if (choice.low & 8)
            outputs_mark_all(&whole, NULL);
        cut(&whole, choice);
        subgraph_release(&whole);
    }
    model_free(model);
    return 0;
}
