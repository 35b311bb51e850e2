/* direct_convolution.c: a plug-in with two tactics for convolutions, to start from.
 *
 *   make examples
 *   build/polygraphy run model.onnx --trt --onnxrt --plugins build/examples/direct_convolution.so
 *
 * "direct" adds up in float32, one product after the other, and "direct_double" in float64: slow, and as exact as a
 * convolution can be in float32. So it is of use, too: a layer that is right with "direct_double" and wrong with
 * another tactic suffers from rounding.
 *
 * It takes 2-D convolutions of float32 tensors, with groups, strides, dilations and paddings; also with the Relu behind
 * them, when the program has fused it. What else is fused the program does behind a kernel for the convolution alone.
 */
#include "polygraphy/tactic_plugin.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading the layer ---- */

static const struct polygraphy_attribute *find_attribute(const struct polygraphy_layer *layer, const char *name)
{
    for (uint32_t i = 0; i < layer->attribute_count; i++)
        if (strcmp(layer->attributes[i].name, name) == 0)
            return &layer->attributes[i];
    return NULL;
}

/* Attributes that a node does not have keep the operator's defaults, which are `ret` as it is. */
static bool read_integers(const struct polygraphy_layer *layer, const char *name, int64_t *ret, uint32_t count)
{
    const struct polygraphy_attribute *attribute = find_attribute(layer, name);

    if (!attribute)
        return true;
    if (attribute->kind != POLYGRAPHY_ATTRIBUTE_INTEGERS || attribute->count != count)
        return false;
    memcpy(ret, attribute->integers, count * sizeof(*ret));
    return true;
}

/* Everything that the loops need to know. */
struct convolution {
    int64_t batch, groups;
    int64_t in_channels, in_height, in_width;
    int64_t out_channels, out_height, out_width;
    int64_t kernel[2], strides[2], dilations[2], pads[4]; /* pads: top, left, bottom, right */
    const float *weights, *bias;                          /* constants: the program keeps them. bias may be NULL */
    bool in_double, has_relu;
};

static bool is_float(const struct polygraphy_input *input, uint32_t rank)
{
    return input->present && input->data_type == POLYGRAPHY_FLOAT32 && input->rank == rank;
}

static int64_t output_size(int64_t size, int64_t kernel, int64_t stride, int64_t dilation, int64_t pads)
{
    int64_t covered = (kernel - 1) * dilation + 1;

    return size + pads < covered ? -1 : (size + pads - covered) / stride + 1;
}

/* Whether the layer is one that this plug-in computes; if so, describes it. */
static bool read_convolution(const struct polygraphy_layer *layer, struct convolution *ret)
{
    struct convolution c = {.groups = 1, .strides = {1, 1}, .dilations = {1, 1}};
    const struct polygraphy_attribute *group = find_attribute(layer, "group"),
                                      *auto_pad = find_attribute(layer, "auto_pad");
    const struct polygraphy_input *in = layer->inputs;

    if (strcmp(layer->op_type, "Conv") != 0 || strcmp(layer->domain, "") != 0 || layer->input_count < 2)
        return false;
    if (!is_float(&in[0], 4) || !is_float(&in[1], 4) || !in[1].constant)
        return false;
    if (layer->fused_count > 1 || (layer->fused_count == 1 && layer->fused[0].kind != POLYGRAPHY_FUSED_RELU))
        return false;
    c.has_relu = layer->fused_count == 1;
    if (auto_pad && strcmp(auto_pad->strings[0], "NOTSET") != 0)
        return false;
    if (!read_integers(layer, "strides", c.strides, 2) || !read_integers(layer, "dilations", c.dilations, 2) ||
        !read_integers(layer, "pads", c.pads, 4))
        return false;
    if (layer->input_count > 2 && in[2].present) {
        if (!is_float(&in[2], 1) || !in[2].constant)
            return false;
        c.bias = in[2].constant;
    }
    if (group)
        c.groups = group->integers[0];
    c.weights = in[1].constant;
    c.batch = in[0].dims[0], c.in_channels = in[0].dims[1], c.in_height = in[0].dims[2], c.in_width = in[0].dims[3];
    c.out_channels = in[1].dims[0], c.kernel[0] = in[1].dims[2], c.kernel[1] = in[1].dims[3];
    if (c.groups < 1 || c.out_channels % c.groups != 0 || in[1].dims[1] * c.groups != c.in_channels)
        return false;
    if (c.strides[0] < 1 || c.strides[1] < 1 || c.dilations[0] < 1 || c.dilations[1] < 1 || c.kernel[0] < 1 ||
        c.kernel[1] < 1)
        return false;
    c.out_height = output_size(c.in_height, c.kernel[0], c.strides[0], c.dilations[0], c.pads[0] + c.pads[2]);
    c.out_width = output_size(c.in_width, c.kernel[1], c.strides[1], c.dilations[1], c.pads[1] + c.pads[3]);
    if (c.out_height < 0 || c.out_width < 0)
        return false;
    *ret = c;
    return true;
}

/* ---- The functions of the table ---- */

static const char *const tactic_names[] = {"direct", "direct_double"};

static const char *tactic_name(void *context, const struct polygraphy_layer *layer, uint32_t index)
{
    struct convolution convolution;

    (void)context;
    if (index >= sizeof(tactic_names) / sizeof(tactic_names[0]) || !read_convolution(layer, &convolution))
        return NULL;
    return tactic_names[index];
}

static void *create(void *context, const struct polygraphy_layer *layer, const char *tactic,
                    struct polygraphy_output *outputs, const char **message)
{
    struct convolution *convolution = malloc(sizeof(*convolution));

    (void)context;
    if (!convolution) {
        *message = "there is no memory";
        return NULL;
    }
    if (!read_convolution(layer, convolution)) {
        *message = "it is no 2-D convolution of float32 tensors with constant weights";
        free(convolution);
        return NULL;
    }
    convolution->in_double = strcmp(tactic, "direct_double") == 0;
    outputs[0].data_type = POLYGRAPHY_FLOAT32;
    outputs[0].rank = 4;
    outputs[0].dims[0] = convolution->batch;
    outputs[0].dims[1] = convolution->out_channels;
    outputs[0].dims[2] = convolution->out_height;
    outputs[0].dims[3] = convolution->out_width;
    return convolution;
}

/* One element of the output: `x` is the image's first channel of the group, `w` the weights of the output's channel. */
static float element_float(const struct convolution *c, const float *x, const float *w, float bias, int64_t top,
                           int64_t left)
{
    float sum = bias;

    for (int64_t i = 0; i < c->in_channels / c->groups; i++)
        for (int64_t ky = 0; ky < c->kernel[0]; ky++)
            for (int64_t kx = 0; kx < c->kernel[1]; kx++, w++) {
                int64_t y = top + ky * c->dilations[0], z = left + kx * c->dilations[1];

                if (y >= 0 && y < c->in_height && z >= 0 && z < c->in_width)
                    sum += *w * x[(i * c->in_height + y) * c->in_width + z];
            }
    return sum;
}

static float element_double(const struct convolution *c, const float *x, const float *w, float bias, int64_t top,
                            int64_t left)
{
    double sum = bias;

    for (int64_t i = 0; i < c->in_channels / c->groups; i++)
        for (int64_t ky = 0; ky < c->kernel[0]; ky++)
            for (int64_t kx = 0; kx < c->kernel[1]; kx++, w++) {
                int64_t y = top + ky * c->dilations[0], z = left + kx * c->dilations[1];

                if (y >= 0 && y < c->in_height && z >= 0 && z < c->in_width)
                    sum += (double)*w * x[(i * c->in_height + y) * c->in_width + z];
            }
    return (float)sum;
}

/* One channel of one image. */
static void compute_channel(const struct convolution *c, const float *x, int64_t channel, float *out)
{
    int64_t channels = c->in_channels / c->groups, group = channel / (c->out_channels / c->groups);
    const float *w = c->weights + channel * channels * c->kernel[0] * c->kernel[1];
    float bias = c->bias ? c->bias[channel] : 0;

    x += group * channels * c->in_height * c->in_width;
    for (int64_t y = 0; y < c->out_height; y++)
        for (int64_t z = 0; z < c->out_width; z++, out++) {
            int64_t top = y * c->strides[0] - c->pads[0], left = z * c->strides[1] - c->pads[1];

            *out = c->in_double ? element_double(c, x, w, bias, top, left) : element_float(c, x, w, bias, top, left);
            if (c->has_relu && *out < 0)
                *out = 0;
        }
}

static int32_t run(void *kernel, const void *const *inputs, void *const *outputs, const char **message)
{
    const struct convolution *c = kernel;
    const float *x = inputs[0];
    float *y = outputs[0];

    (void)message; /* nothing can fail here */
    if (!y)
        return 0;
    for (int64_t n = 0; n < c->batch; n++) {
        for (int64_t channel = 0; channel < c->out_channels; channel++, y += c->out_height * c->out_width)
            compute_channel(c, x, channel, y);
        x += c->in_channels * c->in_height * c->in_width;
    }
    return 0;
}

static const struct polygraphy_plugin plugin = {
    .struct_size = sizeof(plugin),
    .version = POLYGRAPHY_PLUGIN_VERSION,
    .name = "direct_convolution",
    .plugin_version = "1.0",
    .tactic_name = tactic_name,
    .create = create,
    .run = run,
    .free_kernel = free,
    .takes_fused = 1,
};

const struct polygraphy_plugin *polygraphy_tactic_plugin(uint32_t host_version)
{
    return host_version >= POLYGRAPHY_PLUGIN_VERSION ? &plugin : NULL;
}
