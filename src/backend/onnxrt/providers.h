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

/* Adds the chosen ones to `options`, each through the runtime's function for it, with its options as they are.
 * ERR_BACKEND when one does not work on this machine, or refuses an option: what was asked, and the runtime's own
 * words. */
int onnxrt_providers_append(const struct onnxrt_providers *providers, struct ort_session_options *options,
                            struct error *err);

/* The runtime takes some keys whether it knows them or not, so that a misspelt one changes nothing and nobody learns of
 * it: those of a session's configuration, and of some providers' options. Warns of each such key of `execution` whose
 * name does not occur in the runtime's library. */
void onnxrt_unchecked_keys_warn(const struct onnxrt_providers *providers, const struct onnxrt_execution *execution,
                                struct log *log);

/* Whether `library`, the bytes of one, has the text `key`, NUL-terminated. If not, `ret` gets the keys that it has and
 * that are close: "; did you mean 'deviceId'?", or nothing. Those are texts that begin with `area`, which is left out;
 * with area "" those that begin as a session's keys do. */
bool onnxrt_library_has_key(struct text library, const char *area, const char *key, struct string_builder *ret);

#endif
