/* backend/onnxrt/settings.h: what sessions of ONNX Runtime are opened with. */
#ifndef BACKEND_ONNXRT_SETTINGS_H
#define BACKEND_ONNXRT_SETTINGS_H

#include "backend/backend.h"

struct onnxrt_optimizers; /* backend/onnxrt/optimizers.h */

#define ASSIGNMENT_KIND "assignment" /* of what is disabled: ASSIGNMENT_KIND:OPERATOR@LABEL */

/* A key of the runtime and its value, which are passed on unchanged. */
struct onnxrt_entry {
    const char *provider; /* whose option it is, as typed; NULL: an entry of the session's configuration */
    const char *key, *value;
};

struct onnxrt_entries {
    const struct onnxrt_entry *items;
    size_t count;
};

/* What the runtime computes with, and how. Zeros: on the processor, with the runtime's own defaults. */
struct onnxrt_execution {
    const char *const *providers;             /* as typed after --providers, NULL-terminated; NULL: cpu */
    struct onnxrt_entries provider_libraries; /* `key` is the name to register `value` under, a path */
    struct onnxrt_entries provider_options;   /* each of one of these providers */
    struct onnxrt_entries session_config;
};

/* `settings` of a struct backend_request for onnxrt_backend and onnxrt_apart_backend. NULL there: zeros. A member that
 * is added here is added to the table in apart/request.c as well, which passes it to the other process. */
struct onnxrt_settings {
    const char *library; /* runtime library to load, or NULL for the usual search */
    struct onnxrt_execution execution;
    const char *const *custom_op_libraries; /* NULL-terminated, or NULL */
    int optimization_level;                 /* 0 none, 1 basic, 2 extended, 99 all; -1 the runtime's default */
    int intra_threads, inter_threads;       /* 0: as many as this process may use */
    struct onnxrt_optimizers *optimizers;   /* learns which are applied; or NULL */
    /* Nodes that run on the processor, although other providers come first: labels, or OPERATOR@LABEL; with
     * NAME_MAY_MISS the model need not have the node. */
    struct words on_processor;
    const char *optimized_path; /* the model is saved there as the runtime has rewritten it; NULL: it is not */
};

/* The settings of a request for ONNX Runtime: zeros where it has none. */
const struct onnxrt_settings *onnxrt_settings_of(const struct backend_request *request);

/* A copy of them for what is to be computed as it is written: without optimizations, on the processor, with the default
 * session configuration. */
struct onnxrt_settings onnxrt_settings_unoptimized(const struct backend_request *request);

/* Whether another provider than the processor's comes first. */
bool onnxrt_settings_want_provider(const struct onnxrt_settings *settings);

/* Adds an entry to the session configuration, unless its key is set already. The caller frees the entries, which the
 * settings use. */
struct onnxrt_entry *onnxrt_settings_add(struct onnxrt_settings *settings, struct onnxrt_entry more);

/* The same for an entry with which the session refuses nodes that no provider runs. Without it the runtime runs them on
 * the processor. NULL, and no entry, where the processor is among the providers or is the default. */
struct onnxrt_entry *onnxrt_settings_refuse_fallback(struct onnxrt_settings *settings);

#endif
