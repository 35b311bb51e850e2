/* onnx/quantizer/cells.c: see cells.h. */
#include "onnx/quantizer/cells.h"

#include <stdlib.h>

#include "base/memory.h"
#include "tensor/values/elements.h"

static size_t block_of(const struct scale_layout *layout, size_t place)
{
    return layout->groups != NULL ? (size_t)layout->groups[place] : place / layout->block_size;
}

/* A counting sort of the places of a line by their block. */
static void sort_places(struct stored_cells *cells, const struct scale_layout *layout)
{
    size_t *next = memory_alloc_zero(cells->blocks + 1, sizeof(*next));

    for (size_t i = 0; i < cells->length; i++)
        cells->starts[block_of(layout, i) + 1]++;
    for (size_t i = 0; i < cells->blocks; i++) {
        if (cells->starts[i + 1] > cells->largest)
            cells->largest = cells->starts[i + 1];
        cells->starts[i + 1] += cells->starts[i];
        next[i] = cells->starts[i];
    }
    for (size_t i = 0; i < cells->length; i++)
        cells->order[next[block_of(layout, i)]++] = i;
    free(next);
}

bool stored_cells_init(struct stored_cells *ret, const struct quantizer *quantizer, const struct tensor *stored,
                       const struct tensor *values)
{
    struct scale_layout layout;

    if (quantizer->block_size <= 0 || quantizer->problem != NULL || tensor_elements(stored) == 0 ||
        !shape_equal(&stored->shape, &values->shape) || elements_arithmetic(values->type) == ARITHMETIC_NONE ||
        !scale_layout_of(quantizer, &stored->shape, &layout))
        return false;
    *ret = (struct stored_cells){.quantizer = quantizer,
                                 .stored = stored,
                                 .values = values,
                                 .lines = tensor_elements(stored) / layout.length,
                                 .blocks = layout.blocks,
                                 .length = layout.length,
                                 .inner = layout.inner};
    ret->order = memory_alloc_zero(ret->length, sizeof(*ret->order));
    ret->starts = memory_alloc_zero(ret->blocks + 1, sizeof(*ret->starts));
    sort_places(ret, &layout);
    return true;
}

void stored_cells_release(struct stored_cells *cells)
{
    free(cells->order);
    free(cells->starts);
    *cells = (struct stored_cells){0};
}

void cell_values(const struct stored_cells *cells, size_t line, size_t block, double *ret)
{
    for (size_t i = 0; i < cell_size(cells, block); i++)
        elements_to_float64(cells->values, line_element(cells, line, cells->order[cells->starts[block] + i]), 1,
                            &ret[i]);
}

void cell_integers(const struct stored_cells *cells, size_t line, size_t block, double *ret)
{
    double zero_point = (double)quantizer_zero_point(cells->quantizer, cell_scale(cells, line, block));

    for (size_t i = 0; i < cell_size(cells, block); i++) {
        elements_to_float64(cells->stored, line_element(cells, line, cells->order[cells->starts[block] + i]), 1,
                            &ret[i]);
        ret[i] -= zero_point;
    }
}
