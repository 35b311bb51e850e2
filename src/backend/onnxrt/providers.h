/* backend/onnxrt/providers.h: ONNX Runtime's execution providers, by the names that users type. */
#ifndef BACKEND_ONNXRT_PROVIDERS_H
#define BACKEND_ONNXRT_PROVIDERS_H

#include "backend/onnxrt/settings.h"
#include "backend/onnxrt/library.h"

struct onnxrt_providers {
    const struct onnxrt *ort;
    char **available; /* the runtime's */
    int available_count;
    const char **chosen; /* some of these, by priority */
    size_t chosen_count;
    struct onnxrt_entries options; /* the caller's */
};

/* Resolves each name that was typed (none: the processor alone): the provider of that name, else the first one whose
 * name contains it or is contained in it, ignoring case. ERR_INVALID lists what there is. Options are resolved in the
 * same way; ERR_INVALID for one of a provider that is not asked for. `execution` has to stay as long as `ret`. */
int onnxrt_providers_init(const struct onnxrt *ort, const struct onnxrt_execution *execution,
                          struct onnxrt_providers *ret, struct error *err);
void onnxrt_providers_release(struct onnxrt_providers *providers);

/* The chosen ones as a Python list, "['CPUExecutionProvider']"; malloc'd. */
char *onnxrt_providers_to_text(const struct onnxrt_providers *providers);

/* The provider that is to run all nodes, if it can; NULL when that is the processor. */
const char *onnxrt_providers_preferred(const struct onnxrt_providers *providers);

/* The provider that `typed` stands for, when it is one that takes options which it does not know, and lies in the
 * runtime's own library; else NULL. */
const char *onnxrt_providers_careless(const struct onnxrt_providers *providers, const char *typed);

/* Adds the chosen ones to `options`, each through the runtime's function for it, with its options as they are.
 * ERR_BACKEND when one does not work on this machine, or refuses an option: what was asked, and the runtime's own
 * words. */
int onnxrt_providers_append(const struct onnxrt_providers *providers, struct ort_session_options *options,
                            struct error *err);

#endif
