/* onnx/write/cast_node.c: see cast_node.h. */
#include "onnx/write/cast_node.h"

#include "onnx/write/node.h"

struct span cast_node_build(struct arena *arena, struct unused_names *names, struct text from, struct text to,
                            enum data_type type)
{
    struct node_attribute attribute = {.name = TEXT("to"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = type};
    struct node_recipe cast = {.op_type = TEXT("Cast"),
                               .name = unused_names_make(names, to, "_cast"),
                               .inputs = &from,
                               .input_count = 1,
                               .outputs = &to,
                               .output_count = 1,
                               .attributes = &attribute,
                               .attribute_count = 1};

    return node_build(arena, &cast);
}
