/* onnx/edit/four_bit_identity.c: see four_bit_identity.h. */
#include "onnx/edit/four_bit_identity.h"

#include "base/memory.h"
#include "onnx/edit/rebuild.h"
#include "onnx/proto/node_attribute.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"
#include "onnx/edit/node.h"

static bool type_is_four_bit(int64_t type)
{
    return type == DATA_INT4 || type == DATA_UINT4;
}

/* The element type from a type description or a constant. */
static enum data_type read_stated_type(const struct model *model, uint32_t value)
{
    const struct value *v = &model->values.items[value];
    struct tensor_header header;
    struct value_type type;

    value_info_decode(v->info, &type);
    if (type.element != DATA_UNDEFINED || v->initializer == INITIALIZER_NONE)
        return type.element;
    return tensor_proto_read(model->initializers.items[v->initializer].message, &header, NULL) == 0 ? header.type
                                                                                                    : DATA_UNDEFINED;
}

/* The type of the first output, only for operators that can produce 4-bit integers. `types` contains the types of the
 * inputs. */
static int64_t find_made_type(const struct model *model, const struct node *node, const uint8_t *types)
{
    if (node_is(node, "Identity") && node_input(model, node, 0) != VALUE_NONE)
        return types[node_input(model, node, 0)];
    if (node_is(node, "QuantizeLinear") && node_input(model, node, 2) != VALUE_NONE)
        return types[node_input(model, node, 2)];
    if (node_is(node, "QuantizeLinear"))
        return node_attribute_integer(node->message, "output_dtype", DATA_UNDEFINED);
    if (node_is(node, "Cast"))
        return node_attribute_integer(node->message, "to", DATA_UNDEFINED);
    return DATA_UNDEFINED;
}

static struct span find_cast_type(struct model *model, const struct node *node, int64_t type)
{
    struct node_attribute to = {.name = TEXT("to"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = type};
    struct text input = model->values.items[model_edge(model, node->inputs, 0)].name;
    struct text output = model->values.items[model_edge(model, node->outputs, 0)].name;
    struct node_recipe cast = {.op_type = TEXT("Cast"),
                               .name = node->name,
                               .inputs = &input,
                               .input_count = 1,
                               .outputs = &output,
                               .output_count = 1,
                               .attributes = &to,
                               .attribute_count = 1};

    return node_build(&model->arena, &cast);
}

int model_respell_four_bit_identities(struct model *model, bool *ret_any, struct error *err)
{
    uint8_t *types SCOPED_FREE = memory_alloc_zero(model->values.count + 1, sizeof(*types));
    struct span_list fields SCOPED_ITEMS = {0};
    bool any = false;
    int rc = 0;

    for (uint32_t i = 0; i < model->values.count; i++)
        types[i] = (uint8_t)read_stated_type(model, i);
    VECTOR_EACH (const struct node, node, model->nodes) {
        uint32_t output = node->outputs.count == 1 ? model_edge(model, node->outputs, 0) : VALUE_NONE;
        int64_t type = output != VALUE_NONE ? find_made_type(model, node, types) : DATA_UNDEFINED;
        bool is_copy = type_is_four_bit(type) && node_is(node, "Identity");

        if (type_is_four_bit(type))
            types[output] = (uint8_t)type;
        *VECTOR_APPEND(&fields) = is_copy ? find_cast_type(model, node, type) : node->field;
        any |= is_copy;
    }
    if (any)
        rc = model_set_nodes(model, &fields, err);
    if (ret_any != NULL)
        *ret_any = any;
    return rc;
}
