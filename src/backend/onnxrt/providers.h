/* backend/onnxrt/providers.h: ONNX Runtime's execution providers, by the names that users type. */
#ifndef BACKEND_ONNXRT_PROVIDERS_H
#define BACKEND_ONNXRT_PROVIDERS_H

#include "backend/onnxrt/settings.h"
#include "backend/onnxrt/provider_libraries.h"

struct chosen_provider {
    const char *name;
    const struct registered_provider *plugin; /* NULL: the runtime was built with it */
};

struct onnxrt_providers {
    const struct onnxrt *ort;
    char **available; /* those that the runtime was built with */
    int available_count;
    struct chosen_provider *chosen; /* by priority */
    size_t chosen_count;
    const struct onnxrt_execution *execution; /* the caller's */
};

/* Resolves each name that was typed (none: the processor alone) to the first of these:
 *
 *   1. the provider of a given library that is to be registered under that name
 *   2. the provider of that name that the runtime was built with, else the first one whose name contains it or is
 *      contained in it, ignoring case
 *   3. the same among the providers of the given libraries
 *   4. the provider of a published library that is installed (provider_packages.h)
 *
 * Libraries are registered with the runtime when they are needed for that. ERR_INVALID lists what there is, or says why
 * the library has no device. Options are resolved among the chosen ones; ERR_INVALID for one of a provider that is not
 * asked for. `execution` has to stay as long as `ret`. */
int onnxrt_providers_init(const struct onnxrt *ort, const struct onnxrt_execution *execution,
                          struct onnxrt_providers *ret, struct error *err);
void onnxrt_providers_release(struct onnxrt_providers *providers);

/* The chosen ones as a Python list, "['CPUExecutionProvider']"; malloc'd. */
char *onnxrt_providers_to_text(const struct onnxrt_providers *providers);

/* The provider that is to run all nodes, if it can; NULL when that is the processor. */
const char *onnxrt_providers_preferred(const struct onnxrt_providers *providers);

/* Adds the chosen ones to `options`, each through the runtime's function for it, with its options as they are; those of
 * libraries with the first of their devices, since published ones refuse several.
 * ERR_BACKEND when one does not work on this machine, or refuses an option: what was asked, and the runtime's own
 * words. */
int onnxrt_providers_append(const struct onnxrt_providers *providers, struct ort_session_options *options,
                            struct error *err);

/* Which library, version and device a provider of a library is. */
void onnxrt_providers_report_plugins(const struct onnxrt_providers *providers, struct log *log);

/* The chosen provider that an option is for, as typed before its colon; NULL: none. */
const struct chosen_provider *onnxrt_providers_find(const struct onnxrt_providers *providers, const char *typed);

#endif
