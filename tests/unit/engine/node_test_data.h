/* node_test_data.h: ONNX's backend test data: a folder for each test, with a model and sets of inputs and outputs. */
#ifndef NODE_TEST_DATA_H
#define NODE_TEST_DATA_H

#include "support/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "onnx/model/model.h"
#include "onnx/proto/tensor_proto.h"
#include "onnx/proto/value_info.h"
#include "tensor/values/elements.h"

/* As ONNX's own test runner has them. */
#define RELATIVE_TOLERANCE 1e-3
#define ABSOLUTE_TOLERANCE 1e-7

/* The first set of data of a test; the files stay mapped. */
struct node_test {
    const char *name;
    char model_path[1024];
    struct file_map maps[64];
    size_t map_count;
    struct tensor_list inputs, expected;
    bool tensors_only; /* all of its inputs and outputs are tensors that this program can read */
};

/* One of the files "input_<i>.pb". False when there is no more. */
static inline bool node_test_read(struct node_test *test, const char *folder, const char *kind, size_t number,
                                  struct text name, struct tensor_list *ret)
{
    char path[1100];
    struct file_map *map = &test->maps[test->map_count];
    struct tensor tensor;
    FILE *file;

    snprintf(path, sizeof(path), "%s/test_data_set_0/%s_%zu.pb", folder, kind, number);
    file = fopen(path, "rb");
    if (file == NULL)
        return false;
    fclose(file);
    assert_true(test->map_count < ARRAY_LEN(test->maps));
    if (file_map_open(path, map, NULL) < 0)
        fail_msg("%s cannot be read", path);
    test->map_count++;
    if (tensor_proto_decode((struct span){map->data, map->size}, &tensor, NULL) < 0) {
        test->tensors_only = false;
        return true;
    }
    tensor_list_add(ret, name, &tensor);
    return true;
}

static inline void node_test_describe(struct node_test *test, const struct model *model, uint32_t value)
{
    struct value_type type;

    value_info_decode(model->values.items[value].info, &type);
    test->tensors_only &= type.not_a_tensor == NULL;
}

/* False when there are no data. */
static inline bool node_test_open(struct node_test *test, const char *folder, const char *name)
{
    struct model *model = NULL;
    char path[600];

    *test = (struct node_test){.name = name, .tensors_only = true};
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    snprintf(test->model_path, sizeof(test->model_path), "%s/model.onnx", path);
    if (model_open(test->model_path, NULL, &model, NULL) < 0)
        return false;
    for (size_t i = 0; i < model->inputs.count; i++) {
        node_test_describe(test, model, model->inputs.items[i]);
        if (!node_test_read(test, path, "input", i, model->values.items[model->inputs.items[i]].name, &test->inputs))
            test->tensors_only = false;
    }
    for (size_t i = 0; i < model->outputs.count; i++) {
        node_test_describe(test, model, model->outputs.items[i]);
        if (!node_test_read(test, path, "output", i, model->values.items[model->outputs.items[i]].name,
                            &test->expected))
            test->tensors_only = false;
    }
    model_free(model);
    return true;
}

static inline void node_test_close(struct node_test *test)
{
    tensor_list_release(&test->inputs);
    tensor_list_release(&test->expected);
    for (size_t i = 0; i < test->map_count; i++)
        file_map_release(&test->maps[i]);
}

static inline bool close_enough(double expected, double actual)
{
    if (isnan(expected) || isnan(actual))
        return isnan(expected) && isnan(actual);
    return expected == actual || fabs(expected - actual) <= ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE * fabs(expected);
}

/* Whether a result is what the test expects. */
static inline bool is_expected(const struct tensor *expected, const struct tensor *actual)
{
    size_t count = tensor_elements(expected);

    if (expected->type != actual->type || !shape_equal(&expected->shape, &actual->shape))
        return false;
    if (elements_arithmetic(expected->type) == ARITHMETIC_NONE ||
        elements_arithmetic(expected->type) == ARITHMETIC_INTEGER)
        return tensor_identical(expected, actual);
    for (size_t i = 0; i < count; i++) {
        double numbers[2];

        elements_to_float64(expected, i, 1, &numbers[0]);
        elements_to_float64(actual, i, 1, &numbers[1]);
        if (!close_enough(numbers[0], numbers[1]))
            return false;
    }
    return true;
}

static inline bool all_expected(const struct node_test *test, const struct tensor_list *actual)
{
    for (size_t i = 0; i < test->expected.count; i++) {
        const struct named_tensor *output = tensor_list_find(actual, text_of(test->expected.items[i].name));

        if (output == NULL || !is_expected(&test->expected.items[i].tensor, &output->tensor))
            return false;
    }
    return true;
}

#endif
