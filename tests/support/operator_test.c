/* support/operator_test.c: see operator_test.h. */
#include "support/operator_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/edit/node.h"
#include "onnx/proto/fields.h"
#include "onnx/proto/wire.h"

#define MAX_IMPLEMENTATIONS 64
#define GUARD 512 /* bytes after an output that must not be written to */
#define UNWRITTEN 0x7f

/* The largest errors of a whole test program. */
static struct {
    char name[TACTIC_NAME_SIZE];
    size_t runs;
    double error;
} implementations[MAX_IMPLEMENTATIONS];

struct tactic_provider *onednn;

/* LeakSanitizer fails with the threads of OpenMP. */
#ifdef __SANITIZE_ADDRESS__
#define TEST_THREADS 1
#else
#define TEST_THREADS 0
#endif

int open_onednn(void **state)
{
    struct error err = {0};
    int rc = onednn_provider_new(TEST_THREADS, NULL, &onednn, &err);

    if (rc < 0)
        print_message("%s\n", err.message);
    return rc == ERR_MISSING || rc == ERR_UNSUPPORTED ? 0 : rc;
}

int close_onednn(void **state)
{
    for (size_t i = 0; i < MAX_IMPLEMENTATIONS && implementations[i].runs > 0; i++)
        print_message("%-32s %5zu runs, largest error %.2g\n", implementations[i].name, implementations[i].runs,
                      implementations[i].error);
    if (onednn)
        onednn->free(onednn);
    return 0;
}

struct node_attribute integers(const char *attribute, const int64_t *values, size_t count)
{
    return (struct node_attribute){
        .name = text_of(attribute), .kind = ATTRIBUTE_KIND_INTEGERS, .integers = values, .count = count};
}

void operator_begin(struct operator_test *test, enum layer_kind kind, const char *op_type, int64_t opset)
{
    memset(test, 0, sizeof(*test));
    test->kind = kind;
    test->op_type = op_type;
    test->opset = opset;
    test->output_count = 1;
}

void operator_attribute(struct operator_test *test, struct node_attribute attribute)
{
    assert_true(test->attribute_count < ARRAY_LEN(test->attributes));
    test->attributes[test->attribute_count++] = attribute;
}

void spread(float *values, size_t count, float range, uint32_t seed)
{
    uint32_t state = seed * 2654435761u + 1;

    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = ((float)(state >> 8) / 8388608.0f - 1.0f) * range;
    }
}

struct operand *operator_operand(struct operator_test *test, enum data_type type, struct shape shape)
{
    struct operand *operand = &test->operands[test->operand_count++];

    assert_true(test->operand_count <= MAX_OPERANDS);
    *operand = (struct operand){.type = type, .shape = shape};
    operand->values = malloc(tensor_bytes(type, shape_elements(&shape)) + 1);
    assert_non_null(operand->values);
    return operand;
}

float *operator_input(struct operator_test *test, struct shape shape, float range)
{
    struct operand *operand = operator_operand(test, DATA_FLOAT32, shape);

    spread(operand->values, shape_elements(&shape), range, (uint32_t)test->operand_count);
    return operand->values;
}

float *operator_constant(struct operator_test *test, struct shape shape, float range)
{
    float *values = operator_input(test, shape, range);

    test->operands[test->operand_count - 1].constant = true;
    return values;
}

void operator_integers(struct operator_test *test, const int64_t *values, size_t count)
{
    struct operand *operand = operator_operand(test, DATA_INT64, SHAPE((int64_t)count));

    memcpy(operand->values, values, count * sizeof(*values));
    operand->constant = true;
}

void operator_omitted(struct operator_test *test)
{
    test->operands[test->operand_count++].omitted = true;
}

void operator_build(struct operator_test *test)
{
    struct arena arena;
    char names[MAX_OPERANDS][24];
    struct text inputs[MAX_OPERANDS], outputs[2] = {TEXT("y0"), TEXT("y1")};
    struct node_recipe recipe = {.op_type = text_of(test->op_type),
                                 .inputs = inputs,
                                 .input_count = test->operand_count - (test->adds ? 1 : 0),
                                 .outputs = outputs,
                                 .output_count = test->output_count,
                                 .attributes = test->attributes,
                                 .attribute_count = test->attribute_count};
    struct string_builder opset;
    struct error err = {0};
    struct span node;

    arena_init(&arena);
    string_init(&opset);
    string_init(&test->bytes);
    for (size_t i = 0; i < test->operand_count; i++) {
        snprintf(names[i], sizeof(names[i]), "x%zu", i);
        inputs[i] = test->operands[i].omitted ? TEXT("") : text_of(names[i]);
    }
    node = node_build(&arena, &recipe);
    wire_write_integer(&test->bytes, MODEL_IR_VERSION, 8);
    wire_write_bytes(&test->bytes, MODEL_GRAPH, node.data, node.size);
    wire_write_integer(&opset, OPSET_VERSION, test->opset);
    wire_write_bytes(&test->bytes, MODEL_OPSET_IMPORT, opset.data, opset.size);
    if (model_parse((struct span){(const uint8_t *)test->bytes.data, test->bytes.size}, "a test", &test->network.model,
                    &err) < 0)
        fail_msg("%s", err.message);
    string_release(&opset);
    arena_release(&arena);
}

void operator_make_layer(struct operator_test *test)
{
    const struct model *model = test->network.model;
    const struct node *only = &model->nodes.items[0];
    struct layer *layer = &test->layer;

    layer->name = memory_strdup("a layer");
    layer->kind = test->kind;
    layer->activation = test->activation;
    layer->alpha = test->alpha;
    layer->beta = test->beta;
    *VECTOR_APPEND(&layer->nodes) = 0;
    for (size_t i = 0; i < only->inputs.count; i++)
        *VECTOR_APPEND(&layer->inputs) = model_edge(model, only->inputs, i);
    for (size_t i = 0; i < only->outputs.count; i++)
        *VECTOR_APPEND(&layer->outputs) = model_edge(model, only->outputs, i);
    if (test->adds) {
        *VECTOR_APPEND(&layer->fused) = (struct fused_operation){.kind = FUSED_ADD, .operand = layer->inputs.count};
        *VECTOR_APPEND(&layer->inputs) = 0; /* any value; it is not used */
    }
    if (test->fused != ACTIVATION_NONE)
        *VECTOR_APPEND(&layer->fused) = (struct fused_operation){
            .kind = FUSED_ACTIVATION, .activation = test->fused, .alpha = test->fused_alpha, .beta = test->fused_beta};
}

void operator_end(struct operator_test *test)
{
    for (size_t i = 0; i < test->operand_count; i++)
        free(test->operands[i].values);
    free(test->layer.name);
    free(test->layer.nodes.items);
    free(test->layer.inputs.items);
    free(test->layer.outputs.items);
    free(test->layer.fused.items);
    model_free(test->network.model);
    string_release(&test->bytes);
}

void *converted(const struct operand *operand, const struct layout *from, const void *values, const struct layout *to)
{
    size_t size = layout_bytes(to, operand->type, &operand->shape);
    void *target = malloc(size + 1);
    struct error err = {0};

    assert_true(size != SIZE_MAX && target);
    if (layout_convert(&(struct layout_change){operand->type, &operand->shape, from, to}, values, target, &err) < 0)
        fail_msg("%s", err.message);
    return target;
}

double error_of(double got, double expected)
{
    if (isnan(expected) || isinf(expected))
        return (isnan(expected) && isnan(got)) || expected == got ? 0 : INFINITY;
    return isnan(got) ? INFINITY : fabs(got - expected) / fmax(1.0, fabs(expected));
}

void note_error(const char *tactic, double error)
{
    size_t length = strcspn(tactic, " "), i = 0;

    while (i < MAX_IMPLEMENTATIONS - 1 && implementations[i].runs > 0 &&
           (strncmp(implementations[i].name, tactic, length) != 0 || implementations[i].name[length] != '\0'))
        i++;
    memcpy(implementations[i].name, tactic, length);
    implementations[i].runs++;
    implementations[i].error = fmax(implementations[i].error, error);
}

/* `output`: row-major values; `physical`: the memory in `layout`, padding included. */
static void compare_output(const struct operator_test *test, const struct tactic *tactic, const struct shape *shape,
                           const float *physical, const double *expected, double tolerance)
{
    const struct layout row_major = {""}, *layout = &tactic->output_layouts[0];
    struct operand output = {.type = DATA_FLOAT32, .shape = *shape};
    float *values = converted(&output, layout, physical, &row_major);
    float *again = converted(&output, &row_major, values, layout);
    size_t count = shape_elements(shape), padded = layout_bytes(layout, DATA_FLOAT32, shape) / sizeof(float);
    double worst = 0;

    for (size_t i = 0; i < count; i++) {
        double error = error_of((double)values[i], expected[i]);

        worst = fmax(worst, error);
        if (!(error <= tolerance))
            fail_msg("%s: '%s': element %zu is %.9g instead of %.9g", test->op_type, tactic->name, i, (double)values[i],
                     expected[i]);
    }
    for (size_t i = 0; i < padded; i++)
        if (!(physical[i] == again[i] || isnan(again[i])))
            fail_msg("%s: '%s' leaves %g in the padding", test->op_type, tactic->name, (double)physical[i]);
    note_error(tactic->name, worst);
    free(values);
    free(again);
}

static void run_tactic(const struct operator_test *test, const struct kernel_request *request,
                       const struct tactic *tactic, const struct shape *shape, const double *expected, double tolerance)
{
    const struct layout row_major = {""};
    struct tensor inputs[MAX_OPERANDS] = {0}, outputs[2] = {0};
    void *buffers[MAX_OPERANDS] = {0};
    unsigned char *output;
    struct kernel *kernel = NULL;
    struct error err = {0};
    size_t size = layout_bytes(&tactic->output_layouts[0], DATA_FLOAT32, shape);
    int rc = onednn->create(onednn, request, tactic, &kernel, &err);

    if (rc == ERR_UNSUPPORTED && test->may_refuse)
        return;
    if (rc < 0)
        fail_msg("%s: '%s': %s", test->op_type, tactic->name, err.message);
    assert_true(kernel->outputs_known && shape_equal(&kernel->output_shapes[0], shape));
    for (size_t i = 0; i < test->operand_count; i++) {
        const struct operand *operand = &test->operands[i];
        const struct layout *layout = &tactic->input_layouts[i];

        if (operand->omitted || operand->constant)
            continue;
        buffers[i] = converted(operand, &row_major, operand->values, layout);
        tensor_borrow(operand->type, &operand->shape, buffers[i], layout_bytes(layout, operand->type, &operand->shape),
                      &inputs[i]);
    }
    output = aligned_alloc(64, (size + GUARD + 63) / 64 * 64);
    assert_non_null(output);
    memset(output, UNWRITTEN, size + GUARD);
    tensor_borrow(DATA_FLOAT32, shape, output, size, &outputs[0]);
    if (kernel->functions->run(kernel, inputs, outputs, &err) < 0)
        fail_msg("%s: '%s': %s", test->op_type, tactic->name, err.message);
    for (size_t i = size; i < size + GUARD; i++)
        if (output[i] != UNWRITTEN)
            fail_msg("%s: '%s' writes past its output", test->op_type, tactic->name);
    compare_output(test, tactic, shape, (const float *)(const void *)output, expected, tolerance);
    kernel_free(kernel);
    free(output);
    for (size_t i = 0; i < test->operand_count; i++)
        free(buffers[i]);
}

void describe_operands(const struct operator_test *test, struct kernel_input *ret)
{
    for (size_t i = 0; i < test->operand_count; i++) {
        const struct operand *operand = &test->operands[i];

        if (operand->omitted)
            continue;
        ret[i] = (struct kernel_input){.present = true, .type = operand->type, .shape = operand->shape};
        if (operand->constant)
            ret[i].constant = operand->values;
    }
}

/* Lists the tactics for inputs in this layout (those of another rank are row-major), and runs them. */
static size_t run_layout(struct operator_test *test, const char *layout, const struct shape *shape,
                         const double *expected, double tolerance)
{
    struct kernel_input inputs[MAX_OPERANDS] = {0};
    struct kernel_request request = {.network = &test->network, .layer = &test->layer, .inputs = inputs};
    struct tactic_list tactics = {0};
    struct error err = {0};
    size_t count;

    describe_operands(test, inputs);
    for (size_t i = 0; i < test->operand_count; i++)
        if (inputs[i].present && !inputs[i].constant && inputs[i].shape.rank == test->operands[0].shape.rank)
            snprintf(inputs[i].layout.text, sizeof(inputs[i].layout.text), "%s", layout);
    if (onednn->list(onednn, &request, &tactics, &err) < 0)
        fail_msg("%s", err.message);
    count = tactics.count;
    for (size_t i = 0; expected && i < count; i++)
        run_tactic(test, &request, &tactics.items[i], shape, expected, tolerance);
    tactic_list_release(&tactics);
    return count;
}

size_t operator_run_layouts(struct operator_test *test, const struct shape *shape, const double *expected,
                            double tolerance)
{
    static const char *const layouts[][4] = {
        [3] = {"acb", "aBc16b", "aBc8b"}, [4] = {"acdb", "aBcd16b", "aBcd8b"}, [5] = {"acdeb", "aBcde16b", "aBcde8b"}};
    size_t rank = test->operands[0].shape.rank, count;

    count = run_layout(test, "", shape, expected, tolerance);
    for (size_t i = 0; rank >= 3 && rank < ARRAY_LEN(layouts) && i < 3; i++)
        count += run_layout(test, layouts[rank][i], shape, expected, tolerance);
    return count;
}

size_t operator_run(struct operator_test *test, const struct shape *shape, const double *expected, double tolerance)
{
    operator_build(test);
    operator_make_layer(test);
    return operator_run_layouts(test, shape, expected, tolerance);
}

void operator_check(struct operator_test *test, const struct shape *shape, double *expected, double tolerance)
{
    if (operator_run(test, shape, expected, tolerance) == 0)
        fail_msg("%s has no tactics", test->op_type);
    free(expected);
    operator_end(test);
}

void operator_refuse(struct operator_test *test)
{
    size_t count = operator_run(test, NULL, NULL, 0);

    if (count > 0)
        fail_msg("%s has %zu tactics", test->op_type, count);
    operator_end(test);
}

double *doubles(const struct shape *shape)
{
    double *values = calloc(shape_elements(shape) + 1, sizeof(*values));

    assert_non_null(values);
    return values;
}
