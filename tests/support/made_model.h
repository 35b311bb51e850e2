/* support/made_model.h: small models that a test puts together.
 *
 *   struct made_model made;
 *   made_init(&made, 13);
 *   made_input(&made, "x", MADE_SHAPE(1, 2, 5, 5));
 *   made_constant(&made, "w", MADE_SHAPE(4, 2, 3, 3), -1, 1);
 *   made_node(&made, "conv", "Conv", "x w", "y", NULL, 0);
 *   made_output(&made, "y");
 *   model = made_open(&made);
 *   ...
 *   made_release(&made);                     (not before the model)
 */
#ifndef SUPPORT_MADE_MODEL_H
#define SUPPORT_MADE_MODEL_H

#include "onnx/model/model.h"
#include "onnx/edit/node.h"

struct made_model {
    struct arena arena;
    struct string_builder graph, file;
    int64_t opset;
    uint32_t seed;     /* of the next constant or feed */
    bool is_microsoft; /* has a node of domain com.microsoft */
};

#define MADE_SHAPE(...)                                                                                                \
    (struct shape)                                                                                                     \
    {                                                                                                                  \
        .rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .dims = { __VA_ARGS__ }                            \
    }

/* Attributes of a node. */
#define FLOAT(attribute, value)                                                                                        \
    (struct node_attribute)                                                                                            \
    {                                                                                                                  \
        .name = TEXT(attribute), .kind = ATTRIBUTE_KIND_FLOAT, .number = (value)                                       \
    }
#define INTEGER(attribute, value)                                                                                      \
    (struct node_attribute)                                                                                            \
    {                                                                                                                  \
        .name = TEXT(attribute), .kind = ATTRIBUTE_KIND_INTEGER, .integer = (value)                                    \
    }
#define STRING(attribute, value)                                                                                       \
    (struct node_attribute)                                                                                            \
    {                                                                                                                  \
        .name = TEXT(attribute), .kind = ATTRIBUTE_KIND_STRING, .string = text_of(value)                               \
    }

void made_init(struct made_model *made, int64_t opset);
void made_release(struct made_model *made);

/* A float32 input; -1 is a dynamic dimension. */
void made_input(struct made_model *made, const char *name, struct shape shape);
void made_typed_input(struct made_model *made, const char *name, enum data_type type, struct shape shape);

/* An input, and an output, with dimensions separated by blanks: sizes, and names ('_' stands for a blank in them), as
 * "batch 3 past_+_1". */
void made_symbolic_input(struct made_model *made, const char *name, enum data_type type, const char *dimensions);
void made_symbolic_output(struct made_model *made, const char *name, enum data_type type, const char *dimensions);

/* Adds an output without a declared shape; its type is `type`, or float32. */
void made_output(struct made_model *made, const char *name);
void made_typed_output(struct made_model *made, const char *name, enum data_type type);

/* Adds a float32 initializer with uniformly distributed values from `low` to `high`, or a one-dimensional int64 one. */
void made_constant(struct made_model *made, const char *name, struct shape shape, float low, float high);
void made_integers(struct made_model *made, const char *name, const int64_t *values, size_t count);

/* Adds an initializer of any type. */
void made_tensor(struct made_model *made, const char *name, enum data_type type, struct shape shape, const void *data);

/* Adds a node. `inputs` and `outputs` are names separated by blanks; "-" is an omitted tensor. `name` may be "". An
 * operator of ONNX Runtime has its domain before it: "com.microsoft.QGemm". */
void made_node(struct made_model *made, const char *name, const char *op_type, const char *inputs, const char *outputs,
               const struct node_attribute *attributes, size_t attribute_count);

/* The bytes of the file, valid until made_release(), and the opened model. */
struct span made_bytes(struct made_model *made);
struct model *made_open(struct made_model *made);

/* Makes values for the float32 inputs of a model with static shapes, uniformly distributed from -1 to 1. */
void made_feed(const struct model *model, struct tensor_list *ret);

#endif
