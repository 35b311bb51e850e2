/* debug/quantization/changes.c: see changes.h. */
#include "debug/quantization/changes.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "onnx/edit/model.h"
#include "onnx/quantizer/bypass.h"
#include "onnx/write/model.h"

void quantizer_changes_init(struct quantizer_changes *changes, size_t count)
{
    bitset_init(&changes->off, count);
    changes->how = memory_alloc_zero(count, sizeof(*changes->how));
}

void quantizer_changes_init_copy(struct quantizer_changes *changes, const struct quantizer_changes *from)
{
    quantizer_changes_init(changes, from->off.size);
    bitset_assign(&changes->off, &from->off);
    memcpy(changes->how, from->how, from->off.size * sizeof(*changes->how));
}

void quantizer_changes_release(struct quantizer_changes *changes)
{
    bitset_release(&changes->off);
    free(changes->how);
    changes->how = NULL;
}

struct hash quantizer_changes_hash(const struct quantizer_changes *changes)
{
    return hash_combine(hash_bytes(changes->off.words, bitset_words(&changes->off) * sizeof(*changes->off.words)),
                        hash_bytes(changes->how, changes->off.size * sizeof(*changes->how)));
}

struct quantizer_knowledge quantization_knowledge(const struct quantization_subject *subject,
                                                  const struct quantizer_range *ranges)
{
    return (struct quantizer_knowledge){.model = subject->model,
                                        .quantizers = &subject->quantizers,
                                        .twins = subject->twins.count > 0 ? &subject->twins : NULL,
                                        .ranges = ranges};
}

int quantizer_changes_apply(const struct quantization_subject *subject, const struct quantizer_range *ranges,
                            const struct quantizer_changes *changes, struct model **ret, bool *ret_microsoft,
                            struct error *err)
{
    struct quantizer_knowledge knowledge = quantization_knowledge(subject, ranges);
    struct model *model = model_copy(subject->model);
    /* Refining keeps the numbers of nodes and values; removing quantizers does not, so it is done last. */
    int rc = quantizers_refine(model, &knowledge, changes->how, ret_microsoft, err);

    if (rc == 0 && bitset_count(&changes->off) > 0)
        rc = quantizers_bypass(model, &subject->quantizers, &changes->off, knowledge.twins, err);
    if (rc == 0)
        rc = expansion_undo(&subject->expansion, model, err);
    if (rc < 0)
        model_free(model);
    else
        *ret = model;
    return rc;
}

int quantization_save(const struct quantization_subject *subject, const struct quantizer_range *ranges,
                      const struct quantizer_changes *changes, const char *path, struct error *err)
{
    struct external_settings external = {.file_name = NULL};
    struct subgraph whole SCOPED(subgraph_release) = {0};
    struct model *model SCOPED(model_free_pointed) = NULL;
    int rc = quantizer_changes_apply(subject, ranges, changes, &model, NULL, err);

    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, model);
    return model_save(&whole, path, &external, false, err);
}

void quantizer_changes_init_all_off(struct quantizer_changes *changes, const struct quantization_subject *subject)
{
    size_t count = subject->quantizers.count;

    quantizer_changes_init(changes, count);
    for (size_t i = 0; i < count; i++)
        if (quantizer_why_it_stays(&subject->quantizers.items[i], quantization_twin(subject, i)) == NULL)
            bitset_add(&changes->off, i);
}

int quantization_save_without_any(const struct quantization_subject *subject, const char *path, size_t *ret_count,
                                  struct error *err)
{
    struct quantizer_changes changes SCOPED(quantizer_changes_release) = {0};

    quantizer_changes_init_all_off(&changes, subject);
    *ret_count = bitset_count(&changes.off);
    return quantization_save(subject, NULL, &changes, path, err);
}
