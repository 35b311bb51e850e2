/* tests/fuzz/fuzz_quantizers.c: ONNX files whose packed weights are unpacked, and whose quantizers are found, matched
 * with a float model, and left out, or given other scales and more bits, where that can be. What comes out is written.
 * The float model lies behind the other one and a separator; without that the model is matched with itself. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/edit/model.h"
#include "onnx/quantizer/bypass.h"
#include "onnx/quantizer/expansion.h"
#include "onnx/quantizer/refine.h"
#include "onnx/write/model.h"
#include "target.h"

static void write_model(struct model *model)
{
    struct subgraph whole;
    struct error error;
    char *bytes;
    size_t size;

    subgraph_init_whole(&whole, model);
    if (model_write_memory(&whole, &bytes, &size, &error) == 0)
        free(bytes);
    subgraph_release(&whole);
}

static void leave_out(struct model *model, const struct quantizers *quantizers, const struct quantizer_twins *twins)
{
    struct model *copy = model_copy(model);
    struct bitset off;
    struct error error;

    bitset_init(&off, quantizers->count);
    for (size_t i = 0; i < quantizers->count; i++)
        if (quantizer_why_it_stays(&quantizers->items[i], &twins->items[i]) == NULL)
            bitset_add(&off, i);
    if (quantizers_bypass(copy, quantizers, &off, twins, &error) == 0)
        write_model(copy);
    bitset_release(&off);
    model_free(copy);
}

static void refine(struct model *model, const struct quantizers *quantizers, const struct quantizer_twins *twins,
                   enum quantizer_refinement refinement)
{
    enum quantizer_refinement *how = memory_alloc_zero(quantizers->count, sizeof(*how));
    struct quantizer_range *ranges = memory_alloc_zero(quantizers->count, sizeof(*ranges));
    struct quantizer_knowledge knowledge = {model, quantizers, twins, ranges};
    struct model *copy = model_copy(model);
    struct error error;

    for (size_t i = 0; i < quantizers->count; i++) {
        ranges[i] = (struct quantizer_range){-1, 5};
        if (quantizer_why_not_refined(&knowledge, i, refinement) == NULL)
            how[i] = refinement;
    }
    if (quantizers_refine(copy, &knowledge, how, NULL, &error) == 0)
        write_model(copy);
    model_free(copy);
    free(ranges);
    free(how);
}

/* Cuts what is behind the separator, maybe nothing, off the data. */
static struct span split(struct span *data)
{
    static const char separator[] = "--float--";
    size_t size = sizeof(separator) - 1;

    for (size_t i = 0; i + size <= data->size; i++)
        if (memcmp(data->data + i, separator, size) == 0) {
            struct span behind = {data->data + i + size, data->size - i - size};

            data->size = i;
            return behind;
        }
    return (struct span){0};
}

static void restore(struct model *model, const struct expansion *expansion)
{
    struct model *copy = model_copy(model);
    struct error error;

    if (expansion_undo(expansion, copy, &error) == 0)
        write_model(copy);
    model_free(copy);
}

static void match_and_change(struct model *model, struct model *float_model)
{
    struct quantizers quantizers;
    struct quantizer_twins twins;
    struct expansion expansion;
    struct error error;

    if (expansion_make(model, &expansion, &error) < 0) {
        expansion_release(&expansion);
        return;
    }
    restore(model, &expansion);
    quantizers_find(model, NULL, &quantizers);
    expansion_name_quantizers(&expansion, model, &quantizers);
    quantizers_match(&quantizers, model, float_model, &twins);
    leave_out(model, &quantizers, &twins);
    for (enum quantizer_refinement how = REFINE_NOT + 1; how < REFINEMENTS; how++)
        refine(model, &quantizers, &twins, how);
    quantizer_twins_release(&twins);
    quantizers_release(&quantizers);
    expansion_release(&expansion);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span quantized = {data, size}, plain = split(&quantized);
    struct model *model, *float_model = NULL;
    struct error error;

    if (model_parse(quantized, "fuzz", &model, &error) < 0)
        return 0;
    if (plain.size > 0 &&
        (model_parse(plain, "float", &float_model, &error) < 0 || model_lower_constants(float_model, &error) < 0)) {
        model_free(float_model);
        float_model = NULL;
    }
    if (model_lower_constants(model, &error) == 0)
        match_and_change(model, float_model != NULL ? float_model : model);
    model_free(float_model);
    model_free(model);
    return 0;
}
