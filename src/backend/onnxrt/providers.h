/* backend/onnxrt/providers.h: ONNX Runtime's execution providers, by the names that users type. */
#ifndef BACKEND_ONNXRT_PROVIDERS_H
#define BACKEND_ONNXRT_PROVIDERS_H

#include "backend/onnxrt/library.h"

struct onnxrt_providers {
    const struct onnxrt *ort;
    char **available; /* the runtime's */
    int available_count;
    const char **chosen; /* some of these, by priority */
    size_t chosen_count;
};

/* Resolves each name of `typed` (NULL-terminated; NULL or empty: the processor alone): the provider of that name,
 * else the first one whose name contains it or is contained in it, ignoring case. ERR_INVALID lists what there is. */
int onnxrt_providers_init(const struct onnxrt *ort, const char *const *typed, struct onnxrt_providers *ret,
                          struct error *err);
void onnxrt_providers_release(struct onnxrt_providers *providers);

/* The chosen ones as a Python list, "['CPUExecutionProvider']"; malloc'd. */
char *onnxrt_providers_to_text(const struct onnxrt_providers *providers);

/* Adds the chosen ones to `options`. ERR_BACKEND when one does not work on this machine. */
int onnxrt_providers_append(const struct onnxrt_providers *providers, struct ort_session_options *options,
                            struct error *err);

#endif
