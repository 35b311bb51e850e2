/* onnx/edit/node.h: nodes that are in no file: made from nothing, or copied with other tensor names.
 *
 *   struct node_attribute to = {.name = TEXT("to"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = DATA_FLOAT16};
 *   struct node_recipe cast = {.op_type = TEXT("Cast"), .inputs = &x, .input_count = 1, .outputs = &y,
 *                              .output_count = 1, .attributes = &to, .attribute_count = 1};
 *   fields[count++] = node_build(&model->arena, &cast);
 *
 * What comes out is a NodeProto with tag and length, as model_set_nodes() (onnx/edit/rebuild.h) takes it.
 */
#ifndef ONNX_EDIT_NODE_H
#define ONNX_EDIT_NODE_H

#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "base/text/text.h"
#include "onnx/model/unused_names.h"
#include "tensor/values/tensor.h"

/* The kinds that can be made. The numbers are those of AttributeProto.AttributeType. */
enum attribute_kind {
    ATTRIBUTE_KIND_FLOAT = 1,
    ATTRIBUTE_KIND_INTEGER = 2,
    ATTRIBUTE_KIND_STRING = 3,
    ATTRIBUTE_KIND_TENSOR = 4,
    ATTRIBUTE_KIND_FLOATS = 6,
    ATTRIBUTE_KIND_INTEGERS = 7,
    ATTRIBUTE_KIND_STRINGS = 8,
};

struct node_attribute {
    struct text name;
    enum attribute_kind kind;
    union { /* what `kind` says */
        float number;
        int64_t integer;
        struct text string;
        const struct tensor *tensor;
        const float *numbers; /* `count` of them, and so below */
        const int64_t *integers;
        const struct text *strings;
    };
    size_t count; /* elements of a list */
};

/* Empty texts stand for omitted inputs and outputs, and for a node without name or domain. */
struct node_recipe {
    struct text op_type, name, domain;
    const struct text *inputs, *outputs;
    size_t input_count, output_count;
    const struct node_attribute *attributes;
    size_t attribute_count;
};

struct span node_build(struct arena *arena, const struct node_recipe *recipe);

/* A node that makes `to`, in this type, of `from`; its name is made of `to`. A NodeProto with tag and length, made in
 * `arena`. */
struct span cast_node_build(struct arena *arena, struct unused_names *names, struct text from, struct text to,
                            enum data_type type);

/* New names for tensors. The texts are not copied: they have to outlive it. */
struct rename_map {
    struct name_map index; /* old name -> position in `names` */
    struct {
        struct text *items;
        size_t count, capacity;
    } names;
};

void rename_map_init(struct rename_map *map);
void rename_map_release(struct rename_map *map);
void rename_map_add(struct rename_map *map, struct text from, struct text to); /* replaces an earlier entry */

/* Copies the node `field` (a NodeProto with tag and length) with other names for its inputs and for what its bodies use
 * of the main graph, by `inputs`, and for its outputs, by `outputs`; either may be NULL. A name that a body defines is
 * the body's own and stays. `*ret` is `field` itself when nothing changes. ERR_INVALID when a body has a tensor of a
 * new name already: see onnx/model/unused_names.h. */
int node_rename(struct arena *arena, struct span field, const struct rename_map *inputs,
                const struct rename_map *outputs, struct span *ret, struct error *err);

/* Copies the node `field` with another name of its own; it lives in `arena`. */
struct span node_set_name(struct arena *arena, struct span field, struct text name);

/* What becomes of a body, a GraphProto. */
typedef int body_editor(void *data, struct span body, struct span *ret, struct error *err);

/* The NodeProto `node` with what `edit` makes of each of its bodies, as a field of a graph made in the arena.
 * ERR_CORRUPT when the node is damaged. */
int node_edit_bodies(struct arena *arena, struct span node, body_editor *edit, void *data, struct span *ret,
                     struct error *err);

/* The error for a damaged message in a body or function. */
int node_refuse_damage(const char *what, struct error *err);

#endif
