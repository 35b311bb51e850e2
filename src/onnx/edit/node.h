/* onnx/edit/node.h: builds new nodes, and copies of nodes with other tensor names.
 *
 *   struct node_attribute to = {.name = TEXT("to"), .kind = ATTRIBUTE_KIND_INTEGER, .integer = DATA_FLOAT16};
 *   struct node_recipe cast = {.op_type = TEXT("Cast"), .inputs = &x, .input_count = 1, .outputs = &y,
 *                              .output_count = 1, .attributes = &to, .attribute_count = 1};
 *   fields[count++] = node_build(&model->arena, &cast);
 *
 * The result is a NodeProto with tag and length, as model_set_nodes() (onnx/edit/rebuild.h) expects.
 */
#ifndef ONNX_EDIT_NODE_H
#define ONNX_EDIT_NODE_H

#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "base/text/text.h"
#include "onnx/model/unused_names.h"
#include "tensor/values/tensor.h"

/* Supported kinds. The numbers are those of AttributeProto.AttributeType. */
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
    union { /* selected by `kind` */
        float number;
        int64_t integer;
        struct text string;
        const struct tensor *tensor;
        const float *numbers; /* `count` elements, as below */
        const int64_t *integers;
        const struct text *strings;
    };
    size_t count; /* elements of a list */
};

/* Empty texts mean omitted inputs and outputs, and a node without name or domain. */
struct node_recipe {
    struct text op_type, name, domain;
    const struct text *inputs, *outputs;
    size_t input_count, output_count;
    const struct node_attribute *attributes;
    size_t attribute_count;
};

struct span node_build(struct arena *arena, const struct node_recipe *recipe);

/* Builds a Cast from `from` to `to`, in this type, named after `to`. Returns a NodeProto with tag and length, allocated
 * in `arena`. */
struct span cast_node_build(struct arena *arena, struct unused_names *names, struct text from, struct text to,
                            enum data_type type);

/* New names for tensors. The texts are not copied and must outlive the map. */
struct rename_map {
    struct name_map index; /* old name -> position in `names` */
    VECTOR(struct text) names;
};

void rename_map_init(struct rename_map *map);
void rename_map_release(struct rename_map *map);
void rename_map_add(struct rename_map *map, struct text from, struct text to); /* replaces an earlier entry */
struct text rename_map_get(const struct rename_map *map, struct text name);    /* `name` itself if it has no entry */

/* Copies the node `field` (a NodeProto with tag and length) with its inputs and captured tensors renamed by `inputs`,
 * and its outputs renamed by `outputs`; either may be NULL. Names defined in a body stay. `*ret` is `field` itself if
 * nothing changes. ERR_INVALID if a body already defines a new name: see onnx/model/unused_names.h. */
int node_rename(struct arena *arena, struct span field, const struct rename_map *inputs,
                const struct rename_map *outputs, struct span *ret, struct error *err);

/* Copies the node `field` with another node name, allocated in `arena`. */
struct span node_set_name(struct arena *arena, struct span field, struct text name);

/* Edits a body, a GraphProto. */
typedef int body_editor(void *data, struct span body, struct span *ret, struct error *err);

/* Copies the NodeProto `node` with each of its bodies replaced by the result of `edit`, as a field of a graph,
 * allocated in the arena. ERR_CORRUPT if the node is damaged. */
int node_edit_bodies(struct arena *arena, struct span node, body_editor *edit, void *data, struct span *ret,
                     struct error *err);

/* Sets ERR_CORRUPT for a damaged message in a body or function. */
int node_refuse_damage(const char *what, struct error *err);

#endif
