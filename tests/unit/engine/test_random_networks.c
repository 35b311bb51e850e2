/* Random networks through the engine: what it computes is what ONNX Runtime computes, for batches of 1 to 5, whatever
 * tactics are drawn, in float32 and float16, fused and not, with and without oneDNN. Each network comes from its
 * number, which a failure names. 25 run each time; with POLYGRAPHY_TEST_THOROUGH, 2,000. */
#include "support/network_fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "engine/build/builder.h"
#include "engine/run/executor.h"

#define FEW 25
#define MANY 2000
#define BATCHES 5
#define MAX_NODES 7

/* Relative to the largest value of an output. */
#define TOLERANCE 1e-4
#define TOLERANCE_FLOAT16 0.1 /* rounding makes 0.07 of network 792, with ONNX Runtime's kernels alone, too */

/* ---- networks ---- */

struct tensor_like { /* whose batch is free */
    char name[16];
    int64_t channels, height, width;
};

struct random_network {
    struct made_model made;
    uint32_t state;
    struct tensor_like tensors[MAX_NODES + 1];
    size_t count;
    size_t constants;
};

static uint32_t draw(struct random_network *random, uint32_t choices)
{
    random->state = random->state * 1664525u + 1013904223u;
    return (random->state >> 8) % choices;
}

static void add_constant(struct random_network *random, struct shape shape, float low, float high, char ret[16])
{
    snprintf(ret, 16, "c%zu", random->constants++);
    made_constant(&random->made, ret, shape, low, high);
}

static void add_node(struct random_network *random, const char *op_type, const char *inputs,
                     const struct node_attribute *attributes, size_t count, struct tensor_like result)
{
    struct tensor_like *added = &random->tensors[random->count];

    *added = result;
    snprintf(added->name, sizeof(added->name), "t%zu", random->count++);
    made_node(&random->made, "", op_type, inputs, added->name, attributes, count);
}

static struct node_attribute integers(const char *name, const int64_t *values, size_t count)
{
    return (struct node_attribute){
        .name = text_of(name), .kind = ATTRIBUTE_KIND_INTEGERS, .integers = values, .count = count};
}

/* Of 1 x 1 or 3 x 3, in groups or not, with a bias or not; transposed or not. */
static void add_convolution(struct random_network *random, struct tensor_like x, bool transposed)
{
    static const int64_t counts[] = {1, 5, 8, 16}, three[] = {3, 3}, one[] = {1, 1}, pads[] = {1, 1, 1, 1}, none[4];
    bool is_wide = draw(random, 2), by_channel = draw(random, 3) == 0;
    int64_t outputs = by_channel ? x.channels : counts[draw(random, 4)], groups = by_channel ? x.channels : 1;
    int64_t size = is_wide ? 3 : 1;
    char weights[16], bias[16], inputs[64];
    struct node_attribute attributes[] = {INTEGER("group", groups), integers("kernel_shape", is_wide ? three : one, 2),
                                          integers("pads", is_wide ? pads : none, 4)};

    add_constant(random,
                 transposed ? MADE_SHAPE(x.channels, outputs / groups, size, size)
                            : MADE_SHAPE(outputs, x.channels / groups, size, size),
                 -1, 1, weights);
    snprintf(inputs, sizeof(inputs), "%s %s", x.name, weights);
    if (draw(random, 2)) {
        add_constant(random, MADE_SHAPE(outputs), -1, 1, bias);
        snprintf(inputs, sizeof(inputs), "%s %s %s", x.name, weights, bias);
    }
    x.channels = outputs;
    add_node(random, transposed ? "ConvTranspose" : "Conv", inputs, attributes, 3, x);
}

static void add_normalization(struct random_network *random, struct tensor_like x)
{
    char scale[16], bias[16], mean[16], variance[16], inputs[96];

    add_constant(random, MADE_SHAPE(x.channels), -1, 1, scale);
    add_constant(random, MADE_SHAPE(x.channels), -1, 1, bias);
    add_constant(random, MADE_SHAPE(x.channels), -1, 1, mean);
    add_constant(random, MADE_SHAPE(x.channels), 0.25F, 2, variance);
    snprintf(inputs, sizeof(inputs), "%s %s %s %s %s", x.name, scale, bias, mean, variance);
    add_node(random, "BatchNormalization", inputs, NULL, 0, x);
}

static void add_activation(struct random_network *random, struct tensor_like x)
{
    static const char *const op_types[] = {"Relu", "LeakyRelu", "Sigmoid", "Tanh", "Elu", "Softplus", "HardSwish"};
    uint32_t which = draw(random, ARRAY_LEN(op_types) + 1);
    char low[16], high[16], inputs[64];

    if (which < ARRAY_LEN(op_types)) {
        add_node(random, op_types[which], x.name, NULL, 0, x);
        return;
    }
    add_constant(random, (struct shape){0}, -0.5F, -0.5F, low);
    add_constant(random, (struct shape){0}, 0.75F, 0.75F, high);
    snprintf(inputs, sizeof(inputs), "%s %s %s", x.name, low, high);
    add_node(random, "Clip", inputs, NULL, 0, x);
}

/* With an earlier tensor of the same shape, or with a constant for each channel. */
static void add_arithmetic(struct random_network *random, struct tensor_like x)
{
    static const char *const op_types[] = {"Add", "Add", "Mul", "Sub"};
    const char *op_type = op_types[draw(random, ARRAY_LEN(op_types))];
    const struct tensor_like *other = &random->tensors[draw(random, (uint32_t)random->count)];
    char constant[16], inputs[64];

    if (other->channels == x.channels && other->height == x.height && other->width == x.width) {
        snprintf(inputs, sizeof(inputs), "%s %s", x.name, other->name);
    } else {
        add_constant(random, MADE_SHAPE(x.channels, 1, 1), -1, 1, constant);
        snprintf(inputs, sizeof(inputs), "%s %s", x.name, constant);
    }
    add_node(random, op_type, inputs, NULL, 0, x);
}

static void add_pooling(struct random_network *random, struct tensor_like x)
{
    static const int64_t kernel[] = {3, 3}, pads[] = {1, 1, 1, 1};
    const struct node_attribute attributes[] = {integers("kernel_shape", kernel, 2), integers("pads", pads, 4)};
    uint32_t which = draw(random, 5);

    if (which < 4) {
        add_node(random, which < 2 ? "MaxPool" : "AveragePool", x.name, attributes, 2, x);
        return;
    }
    x.height = x.width = 1;
    add_node(random, "GlobalAveragePool", x.name, NULL, 0, x);
}

static void add_other(struct random_network *random, struct tensor_like x)
{
    char inputs[64];
    struct node_attribute axis = INTEGER("axis", (int64_t)(1 + draw(random, 3)));

    if (draw(random, 2)) {
        add_node(random, "Softmax", x.name, &axis, 1, x);
        return;
    }
    snprintf(inputs, sizeof(inputs), "%s %s", x.name, x.name);
    axis.integer = 1;
    x.channels *= 2;
    add_node(random, "Concat", inputs, &axis, 1, x);
}

static void add_any(struct random_network *random)
{
    bool branches = random->count > 1 && draw(random, 6) == 0;
    struct tensor_like x = random->tensors[random->count - (branches ? 2 : 1)];

    switch (draw(random, 10)) {
    case 0:
    case 1:
    case 2:
        add_convolution(random, x, false);
        break;
    case 3:
        add_convolution(random, x, true);
        break;
    case 4:
        add_normalization(random, x);
        break;
    case 5:
    case 6:
        add_activation(random, x);
        break;
    case 7:
        add_arithmetic(random, x);
        break;
    case 8:
        add_pooling(random, x);
        break;
    default:
        add_other(random, x);
        break;
    }
}

/* The network of this number; `ret` is the shape of its input. */
static void random_network_init(struct random_network *random, uint32_t number, struct shape *ret)
{
    static const int64_t channels[] = {1, 3, 8, 16, 17};
    size_t nodes;

    *random = (struct random_network){.state = number * 2654435761u + 1, .count = 1};
    made_init(&random->made, 14);
    random->made.seed = number;
    random->tensors[0] = (struct tensor_like){.name = "x",
                                              .channels = channels[draw(random, 5)],
                                              .height = 1 + draw(random, 6),
                                              .width = 1 + draw(random, 6)};
    if (draw(random, 4) == 0)
        random->tensors[0].height = random->tensors[0].width = 1;
    *ret = MADE_SHAPE(-1, random->tensors[0].channels, random->tensors[0].height, random->tensors[0].width);
    made_input(&random->made, "x", *ret);
    nodes = 2 + draw(random, MAX_NODES - 1);
    while (random->count <= nodes)
        add_any(random);
    made_output(&random->made, random->tensors[random->count - 1].name);
}

/* ---- engines ---- */

struct sample {
    struct tensor_list feeds[BATCHES];
    size_t chosen;
};

static int feed_sample(void *context, const struct backend_io *inputs, size_t count, int64_t iteration,
                       struct tensor_list *ret, struct error *err)
{
    const struct sample *sample = context;
    struct tensor copy;
    int rc = tensor_copy(&sample->feeds[sample->chosen].items[0].tensor, &copy, err);

    if (rc == 0)
        tensor_list_add(ret, TEXT("x"), &copy);
    return rc;
}

static void sample_init(struct sample *sample, struct shape shape, uint32_t number)
{
    uint32_t state = number + 99;
    struct error err = {0};

    *sample = (struct sample){0};
    for (size_t i = 0; i < BATCHES; i++) {
        struct tensor tensor;

        shape.dims[0] = (int64_t)i + 1;
        assert_int_equal(tensor_allocate(DATA_FLOAT32, &shape, &tensor, &err), 0);
        for (size_t k = 0; k < tensor_elements(&tensor); k++) {
            state = state * 1664525u + 1013904223u;
            ((float *)tensor_writable(&tensor))[k] = (float)(state >> 8) / 8388608.0F - 1;
        }
        tensor_list_add(&sample->feeds[i], TEXT("x"), &tensor);
    }
    sample->chosen = number % BATCHES;
}

/* How a network is built. */
struct way {
    const char *name;
    bool apart, half, without_onednn;
};

static const struct way ways[] = {
    {"fused", false, false, false},         {"fused", false, false, false},
    {"apart", true, false, false},          {"float16", false, true, false},
    {"without oneDNN", false, false, true}, {"apart, without oneDNN", true, false, true},
};

/* 0: all providers. 1: without oneDNN. */
static struct provider_list providers[2];

/* What lies near zero is compared as if the largest value were a small one. */
static double relative_difference(const struct tensor *expected, const struct tensor *actual)
{
    const float *x = expected->data, *y = actual->data;
    double largest = 1e-3, difference = 0;

    assert_true(shape_equal(&expected->shape, &actual->shape));
    for (size_t i = 0; i < tensor_elements(expected); i++) {
        if (isnan(x[i]) && isnan(y[i]))
            continue;
        if (!(fabs((double)x[i] - (double)y[i]) < INFINITY))
            return INFINITY;
        largest = fmax(largest, fabs((double)x[i]));
        difference = fmax(difference, fabs((double)x[i] - (double)y[i]));
    }
    return difference / largest;
}

static void describe_choices(const struct engine *engine, struct string_builder *ret)
{
    for (size_t i = 0; i < engine->network->layers.count; i++)
        string_add_format(ret, "\n  %s: %s %s", engine->network->layers.items[i].name,
                          engine->layers[i].tactic.provider->name, engine->layers[i].tactic.name);
}

static void check_engine(const struct engine *engine, const struct way *way, uint32_t number,
                         const struct sample *sample, const struct tensor_list *expected)
{
    struct executor *executor = NULL;
    struct error err = {0};

    if (executor_new(engine, NULL, &executor, &err) < 0)
        fail_msg("network %u, %s: %s", number, way->name, err.message);
    for (size_t i = 0; i < BATCHES; i++) {
        struct tensor_list actual = {0};
        double difference;

        if (executor_run(executor, &sample->feeds[i], NULL, &actual, NULL, &err) < 0)
            fail_msg("network %u, %s, batch of %zu: %s", number, way->name, i + 1, err.message);
        difference = relative_difference(&expected[i].items[0].tensor, &actual.items[0].tensor);
        if (!(difference <= (way->half ? TOLERANCE_FLOAT16 : TOLERANCE))) {
            struct string_builder choices;

            string_init(&choices);
            describe_choices(engine, &choices);
            fail_msg("network %u, %s, built for a batch of %zu, batch of %zu: differs by %g%s", number, way->name,
                     sample->chosen + 1, i + 1, difference, choices.data);
        }
        tensor_list_release(&actual);
    }
    executor_free(executor);
}

static void check_way(struct random_network *random, const struct way *way, uint32_t number, size_t turn,
                      struct sample *sample, const struct tensor_list *expected)
{
    struct network_settings settings = with_onnxruntime();
    struct builder_settings builder = {
        .providers = providers[way->without_onednn ? 1 : 0],
        .sample = {.feed = feed_sample, .context = sample, .iterations = 1},
        .effort.optimization_level = 1,
        .explore = true,
        .explore_within = 1e6, /* all of them */
        .seed = number * 8 + turn,
        .threads = 1,
    };
    struct network *network;
    struct engine *engine = NULL;
    struct error err = {0};

    settings.keep_nodes_apart = way->apart;
    builder.precision.enabled[PRECISION_FLOAT16] = way->half;
    network = network_of(made_open(&random->made), &settings);
    if (engine_build(network, &builder, &engine, &err) < 0)
        fail_msg("network %u, %s: %s", number, way->name, err.message);
    check_engine(engine, way, number, sample, expected);
    engine_free(engine);
    network_free(network);
}

static void check_network(uint32_t number)
{
    struct tensor_list expected[BATCHES];
    struct random_network random;
    struct sample sample;
    struct shape shape;
    struct span bytes;

    random_network_init(&random, number, &shape);
    sample_init(&sample, shape, number);
    bytes = made_bytes(&random.made);
    for (size_t i = 0; i < BATCHES; i++)
        run_bytes(bytes.data, bytes.size, &sample.feeds[i], &expected[i]);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++)
        if (ways[i].without_onednn || providers[0].count > 0)
            check_way(&random, &ways[i], number, i, &sample, expected);
    for (size_t i = 0; i < BATCHES; i++) {
        tensor_list_release(&expected[i]);
        tensor_list_release(&sample.feeds[i]);
    }
    made_release(&random.made);
}

static void random_networks_compute_what_onnxruntime_does(void **state)
{
    static const char *const onnxrt[] = {"onnxrt"};
    struct provider_settings all = {.threads = 1}, one = {.threads = 1, .sources = {onnxrt, ARRAY_LEN(onnxrt)}};
    uint32_t count = getenv("POLYGRAPHY_TEST_THOROUGH") != NULL ? MANY : FEW;
    struct error err = {0};

    require_onnxruntime();
    if (providers_open(&all, &providers[0], &err) < 0 || providers_open(&one, &providers[1], &err) < 0)
        fail_msg("%s", err.message);
    for (uint32_t number = 1; number <= count; number++)
        check_network(number);
    for (size_t i = 0; i < ARRAY_LEN(providers); i++)
        providers_close(&providers[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_networks_compute_what_onnxruntime_does),
    };

    return cmocka_run_group_tests_name("random networks", tests, NULL, NULL);
}
