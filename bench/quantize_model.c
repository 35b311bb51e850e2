/* bench/quantize_model.c: makes a quantized model from a float32 one, for trying `debug quantization` and other tools.
 *
 *   quantize_model MODEL [options]
 *
 *   -o FILE               the model with QuantizeLinear and DequantizeLinear
 *   --float FILE          the float32 model: with the same weights, constants computed beforehand
 *   --random-weights      weights that are filled with one number, as in the models of onnx_light, become random,
 *                         and inputs of Softmax are scaled so that its outputs are not all 0 or 1
 *   --seed N              seed of the random weights (0)
 *   --set INPUT=N         the input is that number
 *   --shape INPUT=NxN     the input has that shape
 *   --samples N           number of generated samples that ranges are taken from (4); their seed is 1000
 *   --all-operators       also quantizes outputs, sums, pooling and others: see quantize/insert.h
 *   --symmetric           activations are int8 with zero point 0; else uint8
 *   --per-channel         weights have a scale for each channel
 *   --float-weights       weights stay float32 and are quantized when the model runs
 *   --float-bias          bias is not quantized; else it is int32, and its scale the product of two
 *   --bad-scale TENSOR=N  that scale is N times what it should be before anything is rounded; can be repeated
 *   --list                prints, for each tensor that is quantized, its name, role, type, zero point, and scales
 *
 * Calibration always uses the smallest and the largest value.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/library.h"
#include "base/memory.h"
#include "backend/onnxrt/settings.h"
#include "onnx/edit/constants.h"
#include "onnx/edit/model.h"
#include "onnx/write/model.h"
#include "quantize/float_model.h"
#include "quantize/insert.h"

#define CALIBRATION_SEED 1000
#define MOST_NAMES 64

struct assignment {
    struct text name;
    const char *value;
};

struct options {
    const char *model, *output, *float_output;
    bool list;
    int64_t samples;
    struct float_model_settings prepare;
    struct quantize_settings quantize;
    struct bad_scale bad_scales[MOST_NAMES];
    struct assignment constants[MOST_NAMES], shapes[MOST_NAMES];
    size_t constant_count, shape_count;
};

static struct error error;

static void must(int rc)
{
    if (rc == 0)
        return;
    fprintf(stderr, "quantize_model: %s\n", error.message);
    exit(2);
}

/* ---- Options ---- */

static void refuse(const char *what, const char *value)
{
    fprintf(stderr, "quantize_model: %s: '%s'; see the options in bench/quantize_model.c\n", what, value);
    exit(2);
}

static double number_of(const char *text)
{
    char *end;
    double number = strtod(text, &end);

    if (end == text || *end != '\0')
        refuse("not a number", text);
    return number;
}

/* NAME=VALUE; a name may have '=' in it. */
static struct assignment assignment_of(const char *text, size_t count)
{
    const char *equals = strrchr(text, '=');

    if (equals == NULL || equals == text || count == MOST_NAMES)
        refuse(count == MOST_NAMES ? "too many of these" : "not NAME=VALUE", text);
    return (struct assignment){{text, (size_t)(equals - text)}, equals + 1};
}

enum option_code { FLOAT = 256, RANDOM, SEED, SET, SHAPE, SAMPLES, ALL, SYMMETRIC, CHANNEL, WEIGHTS, BIAS, BAD, LIST };

static const struct option long_options[] = {
    {"float", required_argument, NULL, FLOAT},   {"random-weights", no_argument, NULL, RANDOM},
    {"seed", required_argument, NULL, SEED},     {"set", required_argument, NULL, SET},
    {"shape", required_argument, NULL, SHAPE},   {"samples", required_argument, NULL, SAMPLES},
    {"all-operators", no_argument, NULL, ALL},   {"symmetric", no_argument, NULL, SYMMETRIC},
    {"per-channel", no_argument, NULL, CHANNEL}, {"float-weights", no_argument, NULL, WEIGHTS},
    {"float-bias", no_argument, NULL, BIAS},     {"bad-scale", required_argument, NULL, BAD},
    {"list", no_argument, NULL, LIST},           {NULL, 0, NULL, 0},
};

static void take_named(struct options *ret, int code, const char *value)
{
    struct assignment assignment;

    if (code == SET) {
        ret->constants[ret->constant_count] = assignment_of(value, ret->constant_count);
        ret->constant_count++;
    } else if (code == SHAPE) {
        ret->shapes[ret->shape_count] = assignment_of(value, ret->shape_count);
        ret->shape_count++;
    } else {
        assignment = assignment_of(value, ret->quantize.bad_scale_count);
        ret->bad_scales[ret->quantize.bad_scale_count++] =
            (struct bad_scale){assignment.name, number_of(assignment.value)};
    }
}

static void parse(int argc, char **argv, struct options *ret)
{
    *ret = (struct options){.samples = 4};
    for (int code; (code = getopt_long(argc, argv, "o:", long_options, NULL)) != -1;) {
        switch (code) {
        case 'o':
            ret->output = optarg;
            break;
        case FLOAT:
            ret->float_output = optarg;
            break;
        case RANDOM:
            ret->prepare.random_weights = true;
            break;
        case SEED:
            ret->prepare.seed = (uint32_t)number_of(optarg);
            break;
        case SAMPLES:
            ret->samples = (int64_t)number_of(optarg);
            break;
        case ALL:
            ret->quantize.all_operators = true;
            break;
        case SYMMETRIC:
            ret->quantize.symmetric_activations = true;
            break;
        case CHANNEL:
            ret->quantize.per_channel = true;
            break;
        case WEIGHTS:
            ret->quantize.float_weights = true;
            break;
        case BIAS:
            ret->quantize.float_bias = true;
            break;
        case LIST:
            ret->list = true;
            break;
        case '?':
            refuse("invalid option", argv[optind - 1]);
            break;
        default:
            take_named(ret, code, optarg);
        }
    }
    if (optind != argc - 1 || ret->samples < 1)
        refuse(ret->samples < 1 ? "must be at least 1" : "expected one model", ret->samples < 1 ? "0" : "");
    ret->model = argv[optind];
    ret->quantize.bad_scales = ret->bad_scales;
}

/* ---- Inputs ---- */

static void set_shape(struct model *model, const struct assignment *assignment)
{
    struct shape shape = {0};
    char *next = NULL;

    for (const char *at = assignment->value; shape.rank < TENSOR_MAX_RANK; at = next + 1) {
        shape.dims[shape.rank++] = strtoll(at, &next, 10);
        if (next == at || (*next != 'x' && *next != '\0'))
            refuse("not a shape", assignment->value);
        if (*next == '\0')
            break;
    }
    must(model_override_input(model, assignment->name, &shape, NULL, &error));
}

static void set_constant(struct model *model, const struct assignment *assignment)
{
    uint32_t value = model_find_value(model, assignment->name);
    double number = number_of(assignment->value);
    struct value_type type;
    void *data;
    size_t at = 0;

    while (at < model->inputs.count && model->inputs.items[at] != value)
        at++;
    if (at == model->inputs.count)
        refuse("not an input of the model", assignment->name.data);
    value_info_decode(model->values.items[value].info, &type);
    must(model_new_tensor(model, value, type.element, &(struct shape){0}, &data, &error));
    if (type.element == DATA_INT64)
        *(int64_t *)data = (int64_t)number;
    else if (type.element == DATA_FLOAT32)
        *(float *)data = (float)number;
    else
        refuse("neither float32 nor int64", assignment->value);
    memmove(&model->inputs.items[at], &model->inputs.items[at + 1],
            (model->inputs.count - at - 1) * sizeof(*model->inputs.items));
    model->inputs.count--;
}

/* ---- Work ---- */

/* Runs the model in its current state and records these tensors. */
static struct reference_values *record(const struct model *model, const struct value_list *wanted,
                                       struct subgraph *whole, struct data_loader *loader)
{
    static const struct onnxrt_settings settings = {.optimization_level = -1};
    static const struct backend_request request = {.settings = &settings};
    struct reference_values *ret;

    subgraph_init_whole(whole, model);
    reference_values_new(whole, &onnxrt_backend, &request, loader, NULL, &ret);
    must(reference_values_record(ret, wanted, &error));
    return ret;
}

static void tame_softmax(struct model *model, struct data_loader *loader)
{
    struct reference_values *recorded;
    struct value_list wanted = {0};
    struct subgraph whole;

    for (size_t i = 0; i < model->nodes.count; i++)
        if (node_is(&model->nodes.items[i], "Softmax"))
            value_list_add(&wanted, model_edge(model, model->nodes.items[i].inputs, 0));
    if (wanted.count > 0) {
        recorded = record(model, &wanted, &whole, loader);
        must(float_model_tame_softmax(model, recorded, &error));
        reference_values_free(recorded);
        subgraph_release(&whole);
    }
    free(wanted.items);
}

static void save(const struct model *model, const char *path)
{
    struct subgraph whole;

    if (path == NULL)
        return;
    subgraph_init_whole(&whole, model);
    must(model_save(&whole, path, NULL, false, &error));
    subgraph_release(&whole);
}

static void list(const struct model *model, const struct quantization_plan *plan)
{
    static const char *const roles[] = {"", "activation", "weight", "bias"};

    for (size_t i = 0; i < plan->count; i++) {
        const struct tensor_plan *tensor = &plan->tensors[i];

        if (tensor->role == ROLE_NONE)
            continue;
        printf(TEXT_FORMAT "\t%s\t%s\t%lld\t", TEXT_ARGS(model->values.items[i].name), roles[tensor->role],
               data_type_name(tensor->type), (long long)tensor->zero_point);
        for (size_t k = 0; k < tensor->scale_count; k++)
            printf("%s%g", k > 0 ? " " : "", tensor->scales[k]);
        putchar('\n');
    }
}

static void quantize(struct model *model, const struct options *options, struct data_loader *loader)
{
    struct reference_values *recorded;
    struct value_list wanted = {0};
    struct quantization_plan plan;
    struct subgraph whole;

    quantization_plan_init(model, &options->quantize, &plan);
    quantization_plan_list(&plan, &wanted);
    recorded = record(model, &wanted, &whole, loader);
    must(quantization_plan_calibrate(&plan, model, recorded, &options->quantize, &error));
    if (options->list)
        list(model, &plan);
    reference_values_free(recorded);
    subgraph_release(&whole);
    free(wanted.items);
    must(quantization_plan_insert(&plan, model, &options->quantize, &error));
    quantization_plan_release(&plan);
}

int main(int argc, char **argv)
{
    struct data_loader_settings data = {.seed = CALIBRATION_SEED};
    const struct onnxrt *runtime;
    struct data_loader *loader;
    struct options options;
    struct model *model;

    parse(argc, argv, &options);
    must(onnxrt_load(NULL, &runtime, &error)); /* without it constants would silently not be computed */
    must(model_open(options.model, NULL, &model, &error));
    for (size_t i = 0; i < options.shape_count; i++)
        set_shape(model, &options.shapes[i]);
    for (size_t i = 0; i < options.constant_count; i++)
        set_constant(model, &options.constants[i]);
    must(float_model_prepare(model, &options.prepare, &error));
    data.iterations = options.samples;
    must(data_loader_new(&data, NULL, &loader, &error));
    if (options.prepare.random_weights)
        tame_softmax(model, loader);
    save(model, options.float_output);
    if (options.output != NULL || options.list)
        quantize(model, &options, loader);
    save(model, options.output);
    data_loader_free(loader);
    model_free(model);
    return 0;
}
