/* onnx/model/model.h: an ONNX file, mapped and indexed.
 *
 * The module onnx/model/ reads models and says what is in them: a file comes in; nodes, values, parts (subgraph.h), and
 * what is known of types (known_types.h) or to be shown (text.h, graph_view.h) go out. It may use onnx/proto/.
 *
 * The file is walked once. Nodes, initializers and type descriptions stay where they are: the index holds spans into
 * the mapping. Tensors are called values and are numbered; names are looked up through a hash map. A model is never
 * changed after loading, except for the small edits that onnx/edit/model.h documents; what is cut out of it is a
 * `struct subgraph`.
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
    struct span info;     /* a ValueInfoProto for it; size 0 when the type is not known */
    uint8_t info_prefix;  /* bytes of tag and length in front of `info`, when it stands among the graph's value_info */
    bool info_of_input;   /* `info` stands among the graph's inputs */
    uint32_t producer;    /* node, or NODE_NONE */
    uint32_t initializer; /* or INITIALIZER_NONE */
    uint32_t input;       /* its place among the model's inputs, if it is one and has not been moved */
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
    bool inside;  /* known to have its data here, not in another file */
    bool renamed; /* made from a Constant node: the name has to be added when it is written */
    /* float32 data: they are written as float16 or bfloat16, which `message` says, and behind it, which has no data;
     * size 0: none */
    struct span narrowed;
    enum data_type narrowed_type;
};

/* A quantization annotation: a tensor, and those that hold its scale and zero point. */
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
    struct file_map map; /* fd is -1 when the model was given in memory */
    bool borrows_map;    /* it belongs to the model that this is a copy of */
    struct span file;    /* all of its bytes */
    char *folder;        /* where external data lie */
    char *display_name;  /* path, or what stands for it in messages */
    struct arena arena;  /* made-up bytes and names */
    struct {             /* what is made up and too large for it: malloc'd */
        void **items;
        size_t count, capacity;
    } buffers;

    struct { /* files of external data that were mapped: see external_tensor_borrow() */
        struct external_file {
            struct text location;
            struct file_map *map;
        } * items;
        size_t count, capacity;
    } external_files;

    int64_t ir_version;
    struct {
        struct opset_import *items;
        size_t count, capacity;
    } opsets;
    struct span_list fields_before_graph, fields_after_graph; /* everything of the ModelProto but its graph */
    size_t function_count;

    struct text graph_name;
    struct {
        struct node *items;
        size_t count, capacity;
    } nodes;
    struct {
        struct value *items;
        size_t count, capacity;
    } values;
    struct value_list edges;
    struct {
        struct initializer *items;
        size_t count, capacity;
    } initializers;
    struct value_list inputs; /* without those that are initializers too: these are defaults, not inputs to feed */
    struct value_list outputs;
    struct value_list repeated_inputs; /* what the file lists as an input once more, which no runtime takes */
    struct {
        struct annotation *items;
        size_t count, capacity;
    } annotations;
    struct span_list other_graph_fields; /* graph name, doc string, metadata and what we do not know */
    struct name_map value_by_name;
};

/* Maps and indexes the file. `external_folder` is where external data lie; NULL: the file's own folder. */
int model_open(const char *path, const char *external_folder, struct model **ret, struct error *err);

/* The same for bytes in memory, which have to outlive the model. `display_name` is used in messages. */
int model_parse(struct span bytes, const char *display_name, struct model **ret, struct error *err);

/* Indexes a GraphProto of `outer`, such as a body of one of its nodes, as a model of its own, which `outer` has to
 * outlive. Tensors of the graphs around it have neither producer nor type in it. */
int model_parse_graph(const struct model *outer, struct span graph, struct model **ret, struct error *err);
void model_free(struct model *model);

uint32_t model_find_value(const struct model *model, struct text name); /* VALUE_NONE when there is none */

/* The value of a tensor that something makes: a node, an initializer, or the outside. A name that only a description
 * or a reader has gives VALUE_NONE, too. */
uint32_t model_find_tensor(const struct model *model, struct text name);

/* Adds a value that nothing produces yet (or finds it). The name has to outlive the model. */
uint32_t model_add_value(struct model *model, struct text name);

/* Describes a value; replaces what was known. */
void model_set_type(struct model *model, uint32_t value, const struct value_type *type);

/* Appends a node: a NodeProto with tag and length, whose bytes have to outlive the model. For many, see
 * onnx/edit/rebuild.h. */
int model_add_node(struct model *model, struct span field, struct error *err);

/* Walks over the model's functions: sets `ret` to the FunctionProto that comes next after `*place`, 0 at first. False
 * at the end. */
bool model_next_function(const struct model *model, size_t *place, struct span *ret);

/* Adds the values in `range`, but for omitted ones. */
void model_add_edges_to(const struct model *model, struct edge_range range, struct bitset *ret);

/* What a diagnostic calls a node: its name, or its operator and number when it has none. Appended, or in the model's
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

/* VALUE_NONE as well where there is no such input. */
static inline uint32_t node_input(const struct model *model, const struct node *node, size_t i)
{
    return i < node->inputs.count ? model_edge(model, node->inputs, i) : VALUE_NONE;
}

static inline uint32_t node_output(const struct model *model, const struct node *node, size_t i)
{
    return i < node->outputs.count ? model_edge(model, node->outputs, i) : VALUE_NONE;
}

/* The node that makes a value; NULL when none does, and for VALUE_NONE. */
static inline const struct node *model_producer(const struct model *model, uint32_t value)
{
    uint32_t producer = value != VALUE_NONE ? model->values.items[value].producer : NODE_NONE;

    return producer != NODE_NONE ? &model->nodes.items[producer] : NULL;
}

/* The initializer that a value is; NULL when it is none or a sparse one, and for VALUE_NONE. */
static inline const struct initializer *model_dense_initializer(const struct model *model, uint32_t value)
{
    uint32_t number = value != VALUE_NONE ? model->values.items[value].initializer : INITIALIZER_NONE;

    return number != INITIALIZER_NONE && !model->initializers.items[number].sparse ? &model->initializers.items[number]
                                                                                   : NULL;
}

/* What a node reads: its inputs, then what its subgraphs capture. */
static inline size_t node_read_count(const struct node *node)
{
    return (size_t)node->inputs.count + node->captures.count;
}

static inline uint32_t node_read(const struct model *model, const struct node *node, size_t i)
{
    return i < node->inputs.count ? model_edge(model, node->inputs, i)
                                  : model_edge(model, node->captures, i - node->inputs.count);
}

/* ---- Readers: who reads each tensor of a model, which the model itself does not list. */

struct value_read {
    uint32_t node;
    uint32_t input; /* its place among what the node reads: see node_read() */
};

/* Reads of value v are `reads[first[v]]` to `reads[first[v + 1] - 1]`, in the order of the nodes. */
struct value_readers {
    uint32_t *first; /* one more than there are values */
    struct value_read *reads;
};

/* `as`, by value, says what a read of it counts as a read of; NULL: of itself. */
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

/* ---- Known types: what was found out about a model's tensors, laid over what its file says of them.
 *
 * The model stays as it is: whoever describes or writes a part of it (struct subgraph) is given this beside it. Several
 * of them can lie over one model, and one that is thrown away leaves nothing behind.
 */

struct known_types {
    const struct model *model;
    struct arena *arena; /* has the descriptions, which copies share */
    struct span *infos;  /* of each value, a ValueInfoProto; size 0: what the model says holds. NULL: none is known */
};

/* Nothing is known beyond the model. Both have to outlive it. */
void known_types_init(struct known_types *known, const struct model *model, struct arena *arena);
void known_types_init_copy(struct known_types *known, const struct known_types *from);
void known_types_release(struct known_types *known);

/* Describes a value; replaces what was known. The ValueInfoProto has to live as long as the arena. */
void known_types_set(struct known_types *known, uint32_t value, const struct value_type *type);
void known_types_set_info(struct known_types *known, uint32_t value, struct span info);

/* States all of it in `model`, the one that it is about or a copy of that, which the arena has to outlive. */
void known_types_state(const struct known_types *known, struct model *model);

/* True when the description of the value is not the model's own. `known` may be NULL, here and below. */
static inline bool known_types_has(const struct known_types *known, uint32_t value)
{
    return known != NULL && known->infos != NULL && known->infos[value].size > 0;
}

/* What is known of a value of `model`: a ValueInfoProto, size 0 when that is nothing. */
static inline struct span known_types_info(const struct known_types *known, const struct model *model, uint32_t value)
{
    return known_types_has(known, value) ? known->infos[value] : model->values.items[value].info;
}

#endif
