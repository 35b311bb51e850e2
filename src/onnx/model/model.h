/* onnx/model/model.h: an ONNX file, mapped and indexed.
 *
 * The module onnx/model/ contains the index of a model: nodes, values, subgraphs (subgraph.h), known types
 * (known_types), and printing (text.h, graph_view.h). It depends on onnx/proto/.
 *
 * The file is parsed once. Nodes, initializers and type descriptions are not copied: the index contains spans into the
 * mapping. Tensors are called values and are numbered; a hash map finds them by name. A model is not changed after
 * loading, except by the edits in onnx/edit/; a part of it is a `struct subgraph`.
 */
#ifndef ONNX_MODEL_MODEL_H
#define ONNX_MODEL_MODEL_H

#include "base/container/arena.h"
#include "base/container/bitset.h"
#include "base/container/name_map.h"
#include "base/text/text.h"
#include "base/file/file.h"
#include "base/text/string_builder.h"
#include "onnx/proto/value_info.h"

#define VALUE_NONE UINT32_MAX /* an omitted optional input or output */
#define NODE_NONE UINT32_MAX
#define INITIALIZER_NONE UINT32_MAX

/* A tensor (or sequence, map, optional) of the main graph. */
struct value {
    struct text name;
    struct span info;     /* its ValueInfoProto; size 0 if the type is unknown */
    uint8_t info_prefix;  /* bytes of tag and length before `info`, if it is in the graph's value_info */
    bool info_of_input;   /* `info` is in the graph's inputs */
    uint32_t producer;    /* node, or NODE_NONE */
    uint32_t initializer; /* or INITIALIZER_NONE */
    uint32_t input;       /* its position among the model's inputs; valid if it is an input that was not moved */
};

/* Indices into model->edges. */
struct edge_range {
    uint32_t first, count;
};

struct node {
    struct span message; /* the NodeProto */
    struct span field;   /* the same with tag and length */
    struct text name, op_type, domain;
    struct edge_range inputs;   /* VALUE_NONE where omitted */
    struct edge_range outputs;  /* VALUE_NONE where omitted */
    struct edge_range captures; /* values of the main graph that subgraphs (If, Loop, Scan, ...) use */
    bool has_subgraphs;
    bool has_tensors; /* in attributes */
};

struct initializer {
    struct span message; /* a TensorProto, or a SparseTensorProto */
    struct span field;   /* the same with tag and length; size 0 when `renamed` */
    uint32_t value;
    bool sparse;
    bool inside;  /* known to have its data in the model file */
    bool renamed; /* from a Constant node: the name is added when it is written */
    /* float32 data to be written as float16 or bfloat16 (the type in `message`), after `message`, which has no data;
     * size 0: none */
    struct span narrowed;
    enum data_type narrowed_type;
};

/* A quantization annotation: a tensor, and the tensors with its scale and zero point. */
struct annotation {
    struct span field; /* the TensorAnnotation with tag and length */
    uint32_t value;
    struct edge_range parameters; /* often initializers that no node uses */
};

struct opset_import {
    struct text domain; /* "" is ONNX's own */
    int64_t version;
};

struct value_list {
    uint32_t *items;
    size_t count, capacity;
};

struct span_list {
    struct span *items;
    size_t count, capacity;
};

struct model {
    struct file_map map; /* fd is -1 if the model is in memory */
    bool borrows_map;    /* `map` belongs to the model of which this is a copy */
    struct span file;    /* all of its bytes */
    char *folder;        /* of external data */
    char *display_name;  /* path, or another name for messages */
    struct arena arena;  /* new bytes and names */
    struct {             /* new data that are too large for the arena: malloc'd */
        void **items;
        size_t count, capacity;
    } buffers;

    struct { /* mapped files of external data: see external_tensor_borrow() */
        struct external_file {
            struct text location;
            struct file_map *map;
        } * items;
        size_t count, capacity;
    } external_files;

    unsigned edition; /* of a copy whose nodes are others than those of the original: see subgraph_identity() */
    int64_t ir_version;
    VECTOR(struct opset_import) opsets;
    struct span_list fields_before_graph, fields_after_graph; /* all fields of the ModelProto except its graph */
    size_t function_count;

    struct text graph_name;
    VECTOR(struct node) nodes;
    VECTOR(struct value) values;
    struct value_list edges;
    VECTOR(struct initializer) initializers;
    struct value_list inputs;         /* without the next ones */
    struct value_list default_inputs; /* also initializers, which are their default values; written without */
    struct value_list outputs;
    struct value_list repeated_inputs; /* duplicate inputs in the file, which no runtime accepts */
    VECTOR(struct annotation) annotations;
    struct span_list other_graph_fields; /* graph name, doc string, metadata and unknown fields */
    struct name_map value_by_name;
};

/* Maps and indexes the file. `external_folder` contains external data; NULL: the folder of the file. */
int model_open(const char *path, const char *external_folder, struct model **ret, struct error *err);

/* Like model_open(), for bytes in memory, which must outlive the model. `display_name` is used in messages. */
int model_parse(struct span bytes, const char *display_name, struct model **ret, struct error *err);

/* Indexes a GraphProto of `outer`, such as a body of one of its nodes, as a separate model; `outer` must outlive it.
 * Tensors of enclosing graphs have neither producer nor type in it. */
int model_parse_graph(const struct model *outer, struct span graph, struct model **ret, struct error *err);
void model_free(struct model *model);
void model_free_pointed(struct model **model); /* for SCOPED() */

uint32_t model_find_value(const struct model *model, struct text name); /* VALUE_NONE if unknown */

/* The value of a tensor with a source: a node, an initializer, or an input. VALUE_NONE for names that occur only in
 * type descriptions or as inputs of nodes. */
uint32_t model_find_tensor(const struct model *model, struct text name);

/* Finds or adds a value; a new one has no producer. The name must outlive the model. */
uint32_t model_add_value(struct model *model, struct text name);

/* Sets the type of a value; replaces an earlier type. */
void model_set_type(struct model *model, uint32_t value, const struct value_type *type);

/* Appends a node: a NodeProto with tag and length, whose bytes must outlive the model. For many nodes, see
 * onnx/edit/rebuild.h. */
int model_add_node(struct model *model, struct span field, struct error *err);

/* Iterates over the model's functions: sets `ret` to the next FunctionProto and advances `*place`, initially 0. False
 * at the end. */
bool model_next_function(const struct model *model, size_t *place, struct span *ret);

/* Adds the values in `range`, except omitted ones. */
void model_add_edges_to(const struct model *model, struct edge_range range, struct bitset *ret);

/* The label of a node in messages: its name, or its operator and index. Appended to `out`, or allocated in the model's
 * arena. */
void model_add_node_label(const struct model *model, uint32_t node, struct string_builder *out);
const char *model_node_label(struct model *model, uint32_t node);

bool domain_is_standard(struct text domain);                /* ONNX's own: "" or "ai.onnx" */
bool node_is(const struct node *node, const char *op_type); /* an operator of that domain */

/* The version of ONNX's own operator set, or 0. */
int64_t model_opset(const struct model *model);

static inline uint32_t model_edge(const struct model *model, struct edge_range range, size_t i)
{
    return model->edges.items[range.first + i];
}

/* VALUE_NONE also if there is no such input. */
static inline uint32_t node_input(const struct model *model, const struct node *node, size_t i)
{
    return i < node->inputs.count ? model_edge(model, node->inputs, i) : VALUE_NONE;
}

static inline uint32_t node_output(const struct model *model, const struct node *node, size_t i)
{
    return i < node->outputs.count ? model_edge(model, node->outputs, i) : VALUE_NONE;
}

/* The node that produces a value; NULL if none does, and for VALUE_NONE. */
static inline const struct node *model_producer(const struct model *model, uint32_t value)
{
    uint32_t producer = value != VALUE_NONE ? model->values.items[value].producer : NODE_NONE;

    return producer != NODE_NONE ? &model->nodes.items[producer] : NULL;
}

/* The dense initializer of a value; NULL if it has none, if it is sparse, and for VALUE_NONE. */
static inline const struct initializer *model_dense_initializer(const struct model *model, uint32_t value)
{
    uint32_t number = value != VALUE_NONE ? model->values.items[value].initializer : INITIALIZER_NONE;

    return number != INITIALIZER_NONE && !model->initializers.items[number].sparse ? &model->initializers.items[number]
                                                                                   : NULL;
}

/* The reads of a node: its inputs, then the captures of its bodies. */
static inline size_t node_read_count(const struct node *node)
{
    return (size_t)node->inputs.count + node->captures.count;
}

static inline uint32_t node_read(const struct model *model, const struct node *node, size_t i)
{
    return i < node->inputs.count ? model_edge(model, node->inputs, i)
                                  : model_edge(model, node->captures, i - node->inputs.count);
}

/* ---- Readers: the consumers of each tensor, which the index itself does not contain. */

struct value_read {
    uint32_t node;
    uint32_t input; /* its position among the node's reads: see node_read() */
};

/* Reads of value v are `reads[first[v]]` to `reads[first[v + 1] - 1]`, in the order of the nodes. */
struct value_readers {
    uint32_t *first; /* values.count + 1 entries */
    struct value_read *reads;
};

/* `as` maps each value to the value whose reads its reads are counted as; NULL: itself. */
void value_readers_init(struct value_readers *readers, const struct model *model, const uint32_t *as);
void value_readers_release(struct value_readers *readers);

static inline size_t value_read_count(const struct value_readers *readers, uint32_t value)
{
    return readers->first[value + 1] - readers->first[value];
}

static inline struct value_read value_read_at(const struct value_readers *readers, uint32_t value, size_t i)
{
    return readers->reads[readers->first[value] + i];
}

/* ---- Known types: inferred types of a model's tensors, in addition to those in its file.
 *
 * The model is not changed: functions that describe or write a part of it (struct subgraph) also get this struct.
 * Several of them can exist for one model.
 */

struct known_types {
    const struct model *model;
    struct arena *arena; /* contains the descriptions, which copies share */
    struct span *infos;  /* a ValueInfoProto for each value; size 0: use the model's. NULL: all from the model */
};

/* Initializes it without inferred types. `model` and `arena` must outlive it. */
void known_types_init(struct known_types *known, const struct model *model, struct arena *arena);
void known_types_init_copy(struct known_types *known, const struct known_types *from);
void known_types_release(struct known_types *known);

/* Sets the type of a value; replaces an earlier type. The ValueInfoProto must live as long as the arena. */
void known_types_set(struct known_types *known, uint32_t value, const struct value_type *type);
void known_types_set_info(struct known_types *known, uint32_t value, struct span info);

/* Copies all known types into `model`, the same model or a copy of it; the arena must outlive it. */
void known_types_state(const struct known_types *known, struct model *model);

/* Whether `known` contains a type for the value. `known` may be NULL, here and below. */
static inline bool known_types_has(const struct known_types *known, uint32_t value)
{
    return known != NULL && known->infos != NULL && known->infos[value].size > 0;
}

/* The known type of a value of `model`: a ValueInfoProto, size 0 if unknown. */
static inline struct span known_types_info(const struct known_types *known, const struct model *model, uint32_t value)
{
    return known_types_has(known, value) ? known->infos[value] : model->values.items[value].info;
}

#endif
