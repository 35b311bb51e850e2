/* onnx/model/graph_view.h: a graph with its enclosing graphs: the main graph, bodies, nested bodies, functions. For
 * tools that print a model.
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

/* A function of the model as a graph. */
struct function_view {
    struct text name, domain;
    struct graph_view view;
};

/* Opens a FunctionProto. */
int graph_view_open_function(const struct graph_view *main, struct span function, struct function_view *ret,
                             struct error *err);

/* Converts a field of a FunctionProto (a node, a value description, an input or output) to the field of a GraphProto
 * and appends it. Fields without an equivalent are dropped. */
void graph_add_function_field(struct string_builder *out, const struct wire_field *field);

/* Closes a view from graph_view_open_body() or graph_view_open_function(). */
void graph_view_close(struct graph_view *view);

/* Finds the type of a value of the view's graph, there or in an enclosing graph. Returns whether it is an
 * initializer. */
bool graph_view_describe(const struct graph_view *view, uint32_t value, struct value_type *ret);

/* The type and shape of an initializer. */
void graph_view_initializer_type(const struct initializer *initializer, struct value_type *ret);

#endif
