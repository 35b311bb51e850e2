/* engine/tactic/tactic.h: a tactic is one way to compute one layer; a provider has a list of them.
 *
 * The module engine/tactic/ contains the interface of tactic providers, and the providers ONNX Runtime and plug-ins
 * (oneDNN's is in engine/onednn/). For a layer with shapes and layouts of its inputs a provider lists tactics and
 * creates kernels. It depends on engine/network/.
 *
 * The builder gets the tactics of a layer from every provider, creates and times their kernels, and selects one. Adding
 * a provider is one file: see engine/onednn/tactics.c, onnxrt.c, plugin.c.
 *
 * Kernels compute in the types that the model's tensors have. They do not handle reduced precision: their inputs and
 * outputs are rounded by the caller (engine/precision/precision.h).
 */
#ifndef ENGINE_TACTIC_TACTIC_H
#define ENGINE_TACTIC_TACTIC_H

#include "backend/onnxrt/settings.h"
#include "engine/network/network.h"
#include "engine/tactic/layout.h"

#define TACTIC_NAME_SIZE 96

/* One input of a layer, for creating a kernel. */
struct kernel_input {
    bool present; /* not an omitted optional input */
    enum data_type type;
    struct shape shape;   /* static */
    struct layout layout; /* current layout; row-major for constants */
    /* Values of a constant, row-major, valid as long as the kernel, and rounded to the layer's precision. NULL:
     * provided at run time. */
    const void *constant;
};

struct kernel_request {
    const struct network *network;
    const struct layer *layer;
    const struct kernel_input *inputs; /* layer->inputs.count of them */
    int threads;                       /* 0: as many as the process may use */
};

struct tactic {
    struct tactic_provider *provider;
    /* unique among the tactics of one layer and provider; for logs and plan files: "jit_wino_4x3 aBcd16b" */
    char name[TACTIC_NAME_SIZE];
    int64_t implementation; /* of the algorithm, the same for all layers: hash of provider and algorithm. For replays */
    int64_t number;         /* of this tactic among those of its layer: hash of its name. For replays */
    /* The layouts that it requires for inputs (layer->inputs.count, constants ignored) and produces for outputs. */
    struct layout *input_layouts;
    struct layout *output_layouts;
};

struct tactic_list {
    struct tactic *items;
    size_t count, capacity;
};

/* A kernel, created for fixed input shapes. */
struct kernel {
    const struct kernel_functions *functions;
    /* Whether output shapes are known before a run: then the caller provides memory, else the kernel does. */
    bool outputs_known;
    struct shape *output_shapes; /* layer->outputs.count; owned by the kernel */
};

struct kernel_functions {
    /* `inputs`: layer->inputs.count tensors in the layouts that the tactic wants (size is that of the layout); data of
     * constants and omitted inputs are ignored. `outputs`: layer->outputs.count tensors; with outputs_known those that
     * exist have type, shape and memory to write to; else they are empty, and the kernel allocates them, row-major; the
     * caller releases them. */
    int (*run)(struct kernel *kernel, const struct tensor *inputs, struct tensor *outputs, struct error *err);
    void (*free)(struct kernel *kernel);
};

struct tactic_provider {
    const char *name;    /* as in --tactic-sources: "onednn", "onnxrt", or a plug-in's name */
    const char *version; /* part of timing cache keys, with the processor's name */
    /* why list() could not handle its last layer, in words that follow its name; NULL: it could */
    const char *obstacle;

    /* Appends the tactics for a layer, the most promising first; an empty list is no error. Deterministic. */
    int (*list)(struct tactic_provider *provider, const struct kernel_request *request, struct tactic_list *ret,
                struct error *err);

    /* Creates the kernel of a tactic from list() for the same layer, possibly with other shapes (ERR_UNSUPPORTED if it
     * cannot compute these). */
    int (*create)(struct tactic_provider *provider, const struct kernel_request *request, const struct tactic *tactic,
                  struct kernel **ret, struct error *err);
    void (*free)(struct tactic_provider *provider);
};

/* Appends a tactic with row-major layouts for all inputs and outputs of `layer`, and numbers hashed from these names:
 * `implementation` from `algorithm`. */
struct tactic *tactic_list_add(struct tactic_list *list, struct tactic_provider *provider, const struct layer *layer,
                               struct text algorithm, struct text name);
void tactic_list_release(struct tactic_list *list);
void tactic_copy(struct tactic *tactic, const struct tactic *from, const struct layer *layer); /* deep */
void tactic_release(struct tactic *tactic);

/* Whether `rule`, a word of --exclude-tactics, matches the tactic with the name `name` in replays,
 * "onednn:jit_wino_4x3:avx512 aBcd16b": it is equal to the name or a prefix of it up to a colon or a blank, or a
 * pattern for either (text_matches_pattern()). So "onednn:jit_wino_4x3" matches it for all processors and layouts. */
bool tactic_rule_covers(const char *rule, const char *name);
bool tactic_is_excluded(const struct tactic *tactic, const struct words *rules);

/* Removes tactics that rules exclude. `used` has an element for each rule, set to true if it matched. */
void tactic_list_exclude(struct tactic_list *list, const struct words *rules, bool *used);

void kernel_free(struct kernel *kernel); /* NULL is fine */

/* The providers of a process: what --tactic-sources and --plugins select. */
struct provider_settings {
    struct words sources;                  /* --tactic-sources, case-insensitive; empty: all */
    struct words plugins;                  /* --plugins: paths of shared libraries */
    const struct onnxrt_settings *runtime; /* ONNX Runtime's library, custom operators; NULL: its defaults */
    int threads;
    struct log *log;
};

struct provider_list {
    struct tactic_provider **items;
    size_t count, capacity;
};

/* ERR_INVALID for an unknown source (with a list of known ones), ERR_MISSING if a selected library is missing; a
 * missing oneDNN that was not selected by name is a warning. TensorRT's names of tactic sources (CUBLAS, CUDNN,
 * EDGE_MASK_CONVOLUTIONS, JIT_CONVOLUTIONS, CUBLAS_LT) are accepted with a warning that they have no effect; if there
 * are only such names, all providers are used. */
int providers_open(const struct provider_settings *settings, struct provider_list *ret, struct error *err);
void providers_close(struct provider_list *list);
struct tactic_provider *providers_find(const struct provider_list *list, struct text name);

/* Create a provider. */
int onednn_provider_new(int threads, struct log *log, struct tactic_provider **ret, struct error *err);
int onnxrt_provider_new(const struct provider_settings *settings, struct tactic_provider **ret, struct error *err);
int plugin_provider_load(const char *path, struct tactic_provider **ret, struct error *err);

/* Copies a tensor from one layout to another with oneDNN's reorder, cached in `state`; with layout_convert() if oneDNN
 * is missing. `state` is NULL at first and freed by reorder_free(). */
struct reorder;
int reorder_run(struct reorder **state, const struct layout_change *change, const void *source, void *target,
                struct error *err);
void reorder_free(struct reorder *reorder);

#endif
