/* onnx/proto/node_attribute.h: the attributes of a node, read from its NodeProto. */
#ifndef ONNX_PROTO_NODE_ATTRIBUTE_H
#define ONNX_PROTO_NODE_ATTRIBUTE_H

#include <stdbool.h>

#include "base/text/text.h"
#include "onnx/proto/attribute.h"

/* The AttributeProto of this name. False if the node (a NodeProto) has none. Of duplicates the last one counts. */
bool node_attribute_find(struct span node, const char *name, struct span *ret);

/* The same with a name that need not end with a NUL. */
bool node_attribute_find_text(struct span node, struct text name, struct span *ret);

/* The same attribute, decoded. */
bool node_attribute_read(struct span node, const char *name, struct attribute *ret);

/* The body (a GraphProto) in this attribute. False if the node has none. */
bool node_attribute_graph(struct span node, const char *name, struct span *ret);

/* The value of an integer attribute, or `fallback`. */
int64_t node_attribute_integer(struct span node, const char *name, int64_t fallback);

/* The value of a float attribute, or `fallback`. */
float node_attribute_float(struct span node, const char *name, float fallback);

/* The bytes of a string attribute. False if there is none. */
bool node_attribute_text(struct span node, const char *name, struct span *ret);

/* The text of a string attribute, or `fallback`. */
struct text node_attribute_text_or(struct span node, const char *name, const char *fallback);

/* Whether a string attribute is there and has this value. */
bool node_attribute_is(struct span node, const char *name, const char *value);

/* The elements of a list of integers: at most `limit` of them are written. Returns their total number; 0 without the
 * attribute. */
size_t node_attribute_integers(struct span node, const char *name, int64_t *ret, size_t limit);

/* The TensorProto of a tensor attribute; its data are NULL without the attribute. */
struct span node_attribute_tensor(struct span node, const char *name);

/* In a function: whether any attribute has its value from the function's caller. */
bool node_has_references(struct span node);

#endif
