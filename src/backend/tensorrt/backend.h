/* backend/tensorrt/backend.h: TensorRT as a backend: its library builds and runs engines in a worker process.
 *
 * The module backend/tensorrt/ calls NVIDIA's libraries (libnvinfer, libnvonnxparser, TensorRT-RTX) directly, without
 * their headers: abi/ has the facts about their binary interface, search.h and library.h load them, network.h, config.h
 * and engine.h are what is done with them, in the worker process (worker.h); this header is the side that asks. It may
 * use what backend/ may, backend/worker/ and base/process/.
 *
 *   rc = tensorrt_find(log, &description, err);
 *   rc = tensorrt_build(&settings, &(struct backend_model){.path = "model.onnx"}, true, &products, err);
 *   ... products.plan, products.layers ...
 *   tensorrt_products_release(&products);
 */
#ifndef BACKEND_TENSORRT_BACKEND_H
#define BACKEND_TENSORRT_BACKEND_H

#include "backend/tensorrt/request.h"
#include "base/process/bounded.h"

/* What the library is, and whether a GPU answers. Asked once in a process; `ret` stays. ERR_MISSING: there is none;
 * ERR_UNSUPPORTED: its release is not known here; ERR_BACKEND: it crashes. */
int tensorrt_find(struct log *log, const struct tensorrt_description **ret, struct error *err);

/* What a build gives. */
struct tensorrt_products {
    struct text plan;            /* the engine as a file */
    struct text layers;          /* layer information, as JSON (format/tensorrt/layer_info.h); empty: see `no_layers` */
    struct text timing_cache;    /* what was loaded, and the times of this build; empty: there is none */
    struct text tactics;         /* a tactic replay, as JSON, with settings->reports_tactics; empty: not told */
    struct text calibration;     /* the calibration cache of this build; empty: it did not calibrate */
    const char *no_layers;       /* why there is no layer information; NULL: there is */
    bool lost_timing_cache;      /* that which was to be loaded could not be used: `timing_cache` has nothing of it */
    struct bounded_bytes memory; /* of all texts */
    struct arena arena;
};

/* Builds the model `source` (a file, or bytes) as `settings` say; `wants_layers`: with layer information, for which the
 * engine is loaded on the GPU. Warnings and errors of TensorRT go to settings->log.
 *
 * ERR_UNSUPPORTED for what this release of TensorRT does not have, ERR_INVALID for names and values that make no sense,
 * ERR_BACKEND when the parser (foreign_code: ERROR_OF_PARSER + its code) or the builder refuses the model
 * (foreign_code: its code), and when it crashes; ERR_DEVICE_MEMORY: the GPU has too little memory; ERR_INTERRUPTED. */
int tensorrt_build(const struct tensorrt_settings *settings, const struct backend_model *source, bool wants_layers,
                   struct tensorrt_products *ret, struct error *err);
void tensorrt_products_release(struct tensorrt_products *products); /* harmless on a zeroed struct */

/* The network that the parser makes of a model, with outputs as the settings say; it needs no GPU. Text lives in
 * `arena`. Errors are those of tensorrt_build(). */
int tensorrt_view_network(const struct tensorrt_settings *settings, const struct backend_model *source,
                          struct arena *arena, struct tensorrt_network_view *ret, struct error *err);

/* Which nodes of a model the parser supports; it needs no GPU. `source` is bytes. Text lives in `arena`.
 * ERR_UNSUPPORTED before TensorRT 10.8, where tensorrt_parser_backend tells it node by node; other errors are those
 * of tensorrt_build(). */
int tensorrt_ask_support(const struct tensorrt_settings *settings, const struct backend_model *source,
                         struct arena *arena, struct tensorrt_support *ret, struct error *err);

/* Layer information of the engine at `path`, as JSON, malloc'd. */
int tensorrt_ask_layers(const char *path, struct log *log, char **ret, struct error *err);

/* The knobs of TensorRT's compiler, as JSON (format/tensorrt/build_knobs.h), malloc'd; it needs no GPU.
 * ERR_UNSUPPORTED: this release has none, which are there from 11.1 on; ERR_BACKEND: TensorRT does not list them. */
int tensorrt_ask_build_routes(struct log *log, char **ret, struct error *err);

/* What a session is opened with: `settings` of a struct backend_request for tensorrt_backend. */
struct tensorrt_request {
    struct tensorrt_settings settings;
    bool is_built;     /* the model is an engine already, a plan file: another one is an error */
    bool wants_layers; /* of an engine that is built: `built` needs its layer information */
    bool keeps_types;  /* outputs have the types of the ONNX model, also where TensorRT narrows these */

    /* Called when an engine has been built, for the caller to save what it wants of it; NULL: nothing. An error ends
     * open(). */
    int (*built)(void *data, const struct tensorrt_products *products, struct error *err);
    void *data;
};

/* Opens an ONNX model (it is built) or a plan (told apart by content). */
extern const struct backend tensorrt_backend;

/* Only parses: sessions have inputs and outputs, and cannot run. `settings` of its requests: NULL. */
extern const struct backend tensorrt_parser_backend;

#endif
