/* support/made_model.c: see made_model.h. */
#include "support/made_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"
#include "onnx/proto/wire.h"
#include "support/unit_test.h"

#define MAX_NAMES 16
#define MICROSOFT "com.microsoft"

void made_init(struct made_model *made, int64_t opset)
{
    *made = (struct made_model){.opset = opset, .seed = 1};
    arena_init(&made->arena);
    string_init(&made->graph);
    string_init(&made->file);
    wire_write_text(&made->graph, GRAPH_NAME, TEXT("made"));
}

void made_release(struct made_model *made)
{
    arena_release(&made->arena);
    string_release(&made->graph);
    string_release(&made->file);
}

static void add_value(struct made_model *made, uint32_t field, const char *name, const struct value_type *type)
{
    struct span info = value_info_make(&made->arena, text_of(name), type);

    wire_write_bytes(&made->graph, field, info.data, info.size);
}

void made_typed_input(struct made_model *made, const char *name, enum data_type type, struct shape shape)
{
    struct value_type description = {.element = type, .has_shape = true, .shape = shape};

    add_value(made, GRAPH_INPUT, name, &description);
}

void made_input(struct made_model *made, const char *name, struct shape shape)
{
    made_typed_input(made, name, DATA_FLOAT32, shape);
}

static void add_symbolic(struct made_model *made, uint32_t field, const char *name, enum data_type type,
                         const char *dimensions)
{
    struct value_type description = {.element = type, .has_shape = true};
    char *state, *words = arena_strdup(&made->arena, dimensions);

    for (char *word = strtok_r(words, " ", &state); word != NULL; word = strtok_r(NULL, " ", &state)) {
        size_t axis = description.shape.rank++;
        char *end;

        description.shape.dims[axis] = strtol(word, &end, 10);
        if (*end == '\0')
            continue;
        description.shape.dims[axis] = -1;
        for (char *blank = strchr(word, '_'); blank != NULL; blank = strchr(blank, '_'))
            *blank = ' ';
        description.symbols[axis] = text_of(word);
    }
    add_value(made, field, name, &description);
}

void made_symbolic_input(struct made_model *made, const char *name, enum data_type type, const char *dimensions)
{
    add_symbolic(made, GRAPH_INPUT, name, type, dimensions);
}

void made_symbolic_output(struct made_model *made, const char *name, enum data_type type, const char *dimensions)
{
    add_symbolic(made, GRAPH_OUTPUT, name, type, dimensions);
}

void made_typed_output(struct made_model *made, const char *name, enum data_type type)
{
    struct value_type description = {.element = type};

    add_value(made, GRAPH_OUTPUT, name, &description);
}

void made_output(struct made_model *made, const char *name)
{
    made_typed_output(made, name, DATA_FLOAT32);
}

static void spread(uint32_t *seed, float low, float high, float *ret, size_t count)
{
    uint32_t state = (*seed)++ * 2654435761U + 1;

    for (size_t i = 0; i < count; i++) {
        state = state * 1664525U + 1013904223U;
        ret[i] = low + (high - low) * ((float)(state >> 8) / 16777216.0F);
    }
}

static void add_tensor(struct made_model *made, const char *name, const struct tensor *tensor)
{
    struct string_builder message;

    string_init(&message);
    tensor_proto_write(&message, text_of(name), tensor);
    wire_write_bytes(&made->graph, GRAPH_INITIALIZER, message.data, message.size);
    string_release(&message);
}

void made_constant(struct made_model *made, const char *name, struct shape shape, float low, float high)
{
    struct tensor tensor;
    struct error err = {0};

    if (tensor_allocate(DATA_FLOAT32, &shape, &tensor, &err) < 0)
        fail_msg("%s", err.message);
    spread(&made->seed, low, high, tensor_writable(&tensor), shape_elements(&shape));
    add_tensor(made, name, &tensor);
    tensor_release(&tensor);
}

void made_integers(struct made_model *made, const char *name, const int64_t *values, size_t count)
{
    struct shape shape = {.rank = 1, .dims = {(int64_t)count}};
    struct tensor tensor;

    tensor_borrow(DATA_INT64, &shape, values, count * sizeof(*values), &tensor);
    add_tensor(made, name, &tensor);
}

void made_tensor(struct made_model *made, const char *name, enum data_type type, struct shape shape, const void *data)
{
    struct tensor tensor;

    tensor_borrow(type, &shape, data, tensor_bytes(type, shape_elements(&shape)), &tensor);
    add_tensor(made, name, &tensor);
}

static size_t split_names(const char *names, struct text *ret)
{
    size_t count = 0;

    while (*names != '\0') {
        size_t size = strcspn(names, " ");

        assert_true(count < MAX_NAMES);
        ret[count++] = size == 1 && *names == '-' ? TEXT("") : (struct text){names, size};
        names += size + (names[size] == ' ');
    }
    return count;
}

void made_node(struct made_model *made, const char *name, const char *op_type, const char *inputs, const char *outputs,
               const struct node_attribute *attributes, size_t attribute_count)
{
    struct text input_names[MAX_NAMES], output_names[MAX_NAMES];
    struct node_recipe recipe = {.op_type = text_of(op_type),
                                 .name = text_of(name),
                                 .inputs = input_names,
                                 .outputs = output_names,
                                 .attributes = attributes,
                                 .attribute_count = attribute_count};
    struct span field;

    if (text_begins_with(recipe.op_type, MICROSOFT ".")) {
        recipe.domain = TEXT(MICROSOFT);
        recipe.op_type = text_of(op_type + sizeof(MICROSOFT));
        made->is_microsoft = true;
    }
    recipe.input_count = split_names(inputs, input_names);
    recipe.output_count = split_names(outputs, output_names);
    field = node_build(&made->arena, &recipe);
    string_add_bytes(&made->graph, field.data, field.size);
}

struct span made_bytes(struct made_model *made)
{
    struct string_builder opset;

    string_clear(&made->file);
    string_init(&opset);
    wire_write_integer(&made->file, MODEL_IR_VERSION, 8);
    for (int i = 0; i <= made->is_microsoft; i++) {
        string_clear(&opset);
        wire_write_text(&opset, OPSET_DOMAIN, i == 0 ? TEXT("") : TEXT(MICROSOFT));
        wire_write_integer(&opset, OPSET_VERSION, i == 0 ? made->opset : 1);
        wire_write_bytes(&made->file, MODEL_OPSET_IMPORT, opset.data, opset.size);
    }
    wire_write_bytes(&made->file, MODEL_GRAPH, made->graph.data, made->graph.size);
    string_release(&opset);
    return (struct span){(const uint8_t *)made->file.data, made->file.size};
}

struct model *made_open(struct made_model *made)
{
    struct model *model;
    struct error err = {0};

    if (model_parse(made_bytes(made), "made", &model, &err) < 0)
        fail_msg("%s", err.message);
    return model;
}

void made_feed(const struct model *model, struct tensor_list *ret)
{
    uint32_t seed = 77;

    *ret = (struct tensor_list){0};
    for (size_t i = 0; i < model->inputs.count; i++) {
        const struct value *value = &model->values.items[model->inputs.items[i]];
        struct value_type type;
        struct tensor tensor;
        struct error err = {0};

        value_info_decode(value->info, &type);
        assert_true(type.has_shape && type.element == DATA_FLOAT32);
        if (tensor_allocate(DATA_FLOAT32, &type.shape, &tensor, &err) < 0)
            fail_msg("%s", err.message);
        spread(&seed, -1, 1, tensor_writable(&tensor), shape_elements(&type.shape));
        tensor_list_add(ret, value->name, &tensor);
    }
}
