/* onnx/model/readers.c: see readers.h. */
#include "onnx/model/readers.h"

#include <stdlib.h>

#include "base/memory.h"

/* Counts first, then fills in: `first` of each value moves to its end, which is the beginning of the next one's. */
void value_readers_init(struct value_readers *readers, const struct model *model, const uint32_t *as)
{
    uint32_t *first = memory_alloc_zero(model->values.count + 2, sizeof(*first));
    uint32_t *next = first + 1;

    for (size_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < node_read_count(&model->nodes.items[i]); k++) {
            uint32_t value = node_read(model, &model->nodes.items[i], k);

            if (value != VALUE_NONE)
                next[(as != NULL ? as[value] : value) + 1]++;
        }
    for (size_t value = 0; value < model->values.count; value++)
        next[value + 1] += next[value];
    readers->reads = memory_alloc_zero(next[model->values.count] + (size_t)1, sizeof(*readers->reads));
    for (uint32_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < node_read_count(&model->nodes.items[i]); k++) {
            uint32_t value = node_read(model, &model->nodes.items[i], k);

            if (value != VALUE_NONE)
                readers->reads[next[as != NULL ? as[value] : value]++] = (struct value_read){i, (uint32_t)k};
        }
    readers->first = first;
}

void value_readers_release(struct value_readers *readers)
{
    free(readers->first);
    free(readers->reads);
    *readers = (struct value_readers){0};
}
