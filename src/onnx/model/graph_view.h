/* onnx/model/graph_view.h: a graph among the graphs around it: the main graph, bodies of its nodes, bodies in these,
 * functions. For tools that show a model.
 */
#ifndef ONNX_MODEL_GRAPH_VIEW_H
#define ONNX_MODEL_GRAPH_VIEW_H

#include "base/text/string_builder.h"
#include "onnx/model/model.h"
#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"

struct graph_view {
    struct model *graph;
    const struct graph_view *outer; /* NULL: the main graph */
    unsigned depth;
};

struct graph_view graph_view_of(struct model *model);

/* Opens the GraphProto of an attribute. ERR_CORRUPT when bodies are nested too deep. */
int graph_view_open_body(const struct graph_view *outer, struct span body, struct graph_view *ret, struct error *err);

/* A function of the model, seen as a graph. */
struct function_view {
    struct text name, domain;
    struct graph_view view;
};

/* Opens a FunctionProto. */
int graph_view_open_function(const struct graph_view *main, struct span function, struct function_view *ret,
                             struct error *err);

/* Appends to a GraphProto what a field of a FunctionProto is there: a node, a description, an input or output. What a
 * graph does not have is left out. */
void graph_add_function_field(struct string_builder *out, const struct wire_field *field);

/* For views that were opened. */
void graph_view_close(struct graph_view *view);

/* What is known about a value of the view's graph: there, or in a graph around it. True when it is an initializer. */
bool graph_view_describe(const struct graph_view *view, uint32_t value, struct value_type *ret);

/* The type and shape of an initializer. */
void graph_view_initializer_type(const struct initializer *initializer, struct value_type *ret);

#endif
