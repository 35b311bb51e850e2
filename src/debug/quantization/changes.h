/* debug/quantization/changes.h: changes of a model's quantizers: some are disabled, others get scales or bits. */
#ifndef DEBUG_QUANTIZATION_CHANGES_H
#define DEBUG_QUANTIZATION_CHANGES_H

#include "base/hash.h"
#include "debug/quantization/subject.h"
#include "onnx/quantizer/refine.h"

struct quantizer_changes {
    struct bitset off;              /* disabled */
    enum quantizer_refinement *how; /* refinement of each of the others */
};

void quantizer_changes_init(struct quantizer_changes *changes, size_t count); /* none */
void quantizer_changes_init_copy(struct quantizer_changes *changes, const struct quantizer_changes *from);
void quantizer_changes_init_all_off(struct quantizer_changes *changes, const struct quantization_subject *subject);
void quantizer_changes_release(struct quantizer_changes *changes);
struct hash quantizer_changes_hash(const struct quantizer_changes *changes);

/* What is known of the values of the subject's quantizers; `ranges` of each one (may be NULL). */
struct quantizer_knowledge quantization_knowledge(const struct quantization_subject *subject,
                                                  const struct quantizer_range *ranges);

/* The model with these changes; free it with model_free(). `ret_microsoft`: see quantizers_refine(). */
int quantizer_changes_apply(const struct quantization_subject *subject, const struct quantizer_range *ranges,
                            const struct quantizer_changes *changes, struct model **ret, bool *ret_microsoft,
                            struct error *err);

/* Saves the model with these changes and syncs the file. External data that it refers to become accessible next to it.
 * `ranges` are those of the search. */
int quantization_save(const struct quantization_subject *subject, const struct quantizer_range *ranges,
                      const struct quantizer_changes *changes, const char *path, struct error *err);

/* The same with all possible quantizers disabled; `ret_count`: their number. */
int quantization_save_without_any(const struct quantization_subject *subject, const char *path, size_t *ret_count,
                                  struct error *err);

#endif
