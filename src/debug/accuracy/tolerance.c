/* debug/accuracy/tolerance.c: see hypotheses.h. */
#include "debug/accuracy/hypotheses.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "onnx/model/graph_view.h"

/* Files whose nodes are not sorted need a pass for each node that stands in front of its source; few do. */
#define DEPTH_PASSES 16

static size_t longest_path(const struct model *model)
{
    size_t *depths = memory_alloc_zero(model->nodes.count, sizeof(*depths));
    size_t ret = 1;
    bool changed = true;

    for (int pass = 0; changed && pass < DEPTH_PASSES; pass++) {
        changed = false;
        for (size_t i = 0; i < model->nodes.count; i++) {
            const struct node *node = &model->nodes.items[i];
            size_t depth = 1;

            for (size_t k = 0; k < node->inputs.count; k++) {
                uint32_t value = model_edge(model, node->inputs, k);
                uint32_t producer = value != VALUE_NONE ? model->values.items[value].producer : NODE_NONE;

                if (producer != NODE_NONE && depths[producer] >= depth && producer != i)
                    depth = depths[producer] + 1;
            }
            changed |= depth != depths[i];
            depths[i] = depth;
            ret = depth > ret ? depth : ret;
        }
    }
    free(depths);
    return ret;
}

/* Of a convolution with [outputs, inputs, ...], a product with [..., terms, outputs], or a Gemm, whose weights may be
 * transposed: then the larger one. */
static size_t terms_of(const struct model *model, const struct node *node)
{
    struct value_type type;
    uint32_t weight;
    const struct shape *shape = &type.shape;

    if (node->inputs.count < 2)
        return 1;
    weight = model_edge(model, node->inputs, 1);
    if (weight == VALUE_NONE || model->values.items[weight].initializer == INITIALIZER_NONE)
        return 1;
    graph_view_initializer_type(&model->initializers.items[model->values.items[weight].initializer], &type);
    if (shape->rank < 2 || !shape_is_static(shape) || shape->dims[0] == 0)
        return 1;
    if (text_equal_string(node->op_type, "Conv"))
        return shape_elements(shape) / (size_t)shape->dims[0];
    if (text_equal_string(node->op_type, "MatMul"))
        return (size_t)shape->dims[shape->rank - 2];
    if (text_equal_string(node->op_type, "Gemm"))
        return (size_t)(shape->dims[0] > shape->dims[1] ? shape->dims[0] : shape->dims[1]);
    return 1;
}

void rounding_paths_of(const struct model *model, struct rounding_paths *ret)
{
    *ret = (struct rounding_paths){.depth = longest_path(model), .terms = 1};
    for (size_t i = 0; i < model->nodes.count; i++) {
        size_t terms = terms_of(model, &model->nodes.items[i]);

        ret->terms = terms > ret->terms ? terms : ret->terms;
    }
}

double rounding_tolerance(double unit_roundoff, const struct rounding_paths *paths)
{
    const double of_float = 0x1p-24;
    double depth = (double)paths->depth, terms = (double)paths->terms;

    return fmin(1, 8 * (unit_roundoff * sqrt(depth) + of_float * sqrt(depth * terms)));
}
