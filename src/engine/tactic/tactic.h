/* engine/tactic/tactic.h: a tactic is one way to compute one layer; a provider has a list of them.
 *
 * The module engine/tactic/ has the providers of tactics but oneDNN's, which has a room of its own: ONNX Runtime and
 * plug-ins. A layer with the shapes and layouts of its inputs comes in, a list of tactics goes out, and a kernel for
 * one of them. It uses engine/network/.
 *
 * The builder asks every provider for its tactics of a layer, given the shapes and layouts that the inputs have; makes
 * kernels of them and times these; and keeps one. Adding a provider is one file: see engine/onednn/tactics.c, onnxrt.c,
 * plugin.c.
 *
 * Kernels compute in the types that the model's tensors have. Reduced precision is not their business: what they read
 * and what they made is rounded around them (engine/precision/precision.h).
 */
#ifndef ENGINE_TACTIC_TACTIC_H
#define ENGINE_TACTIC_TACTIC_H

#include "backend/onnxrt/settings.h"
#include "engine/network/network.h"
#include "engine/tactic/layout.h"

#define TACTIC_NAME_SIZE 96

/* One input of a layer, as a kernel is made for it. */
struct kernel_input {
    bool present; /* not an omitted optional input */
    enum data_type type;
    struct shape shape;   /* static */
    struct layout layout; /* that it has now; row-major for constants */
    /* A constant: its values, row-major, which live as long as the kernel (rounded to the layer's precision, so not
     * always what the model has). NULL: comes at run time. */
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
    /* unique among the tactics of one layer and provider; for people and for plan files: "jit_wino_4x3 aBcd16b" */
    char name[TACTIC_NAME_SIZE];
    int64_t implementation; /* of the algorithm, the same for all layers: hash of provider and algorithm. For replays */
    int64_t number;         /* of this tactic among those of its layer: hash of its name. For replays */
    /* The layouts that it wants for its inputs (layer->inputs.count, constants ignored) and gives its outputs. */
    struct layout *input_layouts;
    struct layout *output_layouts;
};

struct tactic_list {
    struct tactic *items;
    size_t count, capacity;
};

/* Made for fixed shapes of inputs. */
struct kernel {
    const struct kernel_functions *functions;
    /* Shapes of the outputs, when they are known before a run: then the caller provides memory. Else the kernel does.
     * */
    bool outputs_known;
    struct shape *output_shapes; /* layer->outputs.count; owned by the kernel */
};

struct kernel_functions {
    /* `inputs`: layer->inputs.count tensors in the layouts that the tactic wants (size is that of the layout); data of
     * constants and omitted ones is not looked at. `outputs`: layer->outputs.count tensors; with outputs_known those
     * that exist have type, shape and memory to write to; else they are empty and the kernel makes them, row-major, for
     * the caller to release. */
    int (*run)(struct kernel *kernel, const struct tensor *inputs, struct tensor *outputs, struct error *err);
    void (*free)(struct kernel *kernel);
};

struct tactic_provider {
    const char *name;     /* as in --tactic-sources: "onednn", "onnxrt", or a plug-in's own */
    const char *version;  /* part of timing cache keys, with the processor's name */
    const char *obstacle; /* why list() has not looked at its last layer, in words that follow its name; NULL: it has */

    /* Appends the tactics for a layer, best guess first; none is no error. Deterministic. */
    int (*list)(struct tactic_provider *provider, const struct kernel_request *request, struct tactic_list *ret,
                struct error *err);

    /* Makes the kernel of a tactic that list() gave for the same layer, perhaps with other shapes (then ERR_UNSUPPORTED
     * when it cannot compute these). */
    int (*create)(struct tactic_provider *provider, const struct kernel_request *request, const struct tactic *tactic,
                  struct kernel **ret, struct error *err);
    void (*free)(struct tactic_provider *provider);
};

/* Appends a tactic with row-major layouts for all inputs and outputs of `layer`, and the numbers made of these names.
 * `algorithm` is what `implementation` stands for. */
struct tactic *tactic_list_add(struct tactic_list *list, struct tactic_provider *provider, const struct layer *layer,
                               struct text algorithm, struct text name);
void tactic_list_release(struct tactic_list *list);
void tactic_copy(struct tactic *tactic, const struct tactic *from, const struct layer *layer); /* deep */
void tactic_release(struct tactic *tactic);

/* Whether `rule`, a word of --exclude-tactics, means the tactic that replays call `name`, "onednn:jit_wino_4x3:avx512
 * aBcd16b": it is that, or a pattern for it (text_matches_pattern()), or the same for the beginning of it up to a colon
 * or a blank, so that "onednn:jit_wino_4x3" means it for all processors and layouts. */
bool tactic_rule_covers(const char *rule, const char *name);
bool tactic_is_excluded(const struct tactic *tactic, const struct words *rules);

/* Takes those out that rules exclude. `used` has a member for each rule, which is set when it was for something. */
void tactic_list_exclude(struct tactic_list *list, const struct words *rules, bool *used);

void kernel_free(struct kernel *kernel); /* NULL is fine */

/* The providers of a process: what --tactic-sources and --plugins select. */
struct provider_settings {
    struct words sources;                  /* --tactic-sources, case does not matter; none: all */
    struct words plugins;                  /* --plugins: paths of shared libraries */
    const struct onnxrt_settings *runtime; /* ONNX Runtime's library, custom operators; NULL: its defaults */
    int threads;
    struct log *log;
};

struct provider_list {
    struct tactic_provider **items;
    size_t count, capacity;
};

/* ERR_INVALID for an unknown source (lists those there are), ERR_MISSING when a selected library is not there; oneDNN
 * missing without having been asked for by name is a warning. TensorRT's own names of tactic sources (CUBLAS, CUDNN,
 * EDGE_MASK_CONVOLUTIONS, JIT_CONVOLUTIONS, CUBLAS_LT) are accepted and give a warning that they mean nothing here; if
 * only such ones are given, all providers are used. */
int providers_open(const struct provider_settings *settings, struct provider_list *ret, struct error *err);
void providers_close(struct provider_list *list);
struct tactic_provider *providers_find(const struct provider_list *list, struct text name);

/* Each makes one provider. */
int onednn_provider_new(int threads, struct log *log, struct tactic_provider **ret, struct error *err);
int onnxrt_provider_new(const struct provider_settings *settings, struct tactic_provider **ret, struct error *err);
int plugin_provider_load(const char *path, struct tactic_provider **ret, struct error *err);

/* Copies a tensor from one layout to another with oneDNN's reorder, kept for the next time; layout_convert() where
 * oneDNN is missing. `state` is NULL at first and freed by reorder_free(). */
struct reorder;
int reorder_run(struct reorder **state, const struct layout_change *change, const void *source, void *target,
                struct error *err);
void reorder_free(struct reorder *reorder);

#endif
