/* debug/precision/lab.h: builds engines, or writes ONNX models, with some layers in higher precision.
 *
 *   rc = precision_lab_new(&settings, &lab, err);
 *   target = precision_lab_target(lab);
 *   rc = precision_run(&target, ...);
 */
#ifndef DEBUG_PRECISION_LAB_H
#define DEBUG_PRECISION_LAB_H

#include "debug/candidate/engine_maker.h"
#include "debug/precision/output_errors.h"
#include "debug/precision/precision.h"
#include "debug/precision/typed_model.h"
#include "engine/backend.h"

enum precision_form {
    PRECISION_ENGINES,       /* engines of one model; the builder is given precisions of layers */
    PRECISION_TYPED_ENGINES, /* engines of models with Casts, for builders that use the types of a model */
    PRECISION_MODELS,        /* ONNX models with Casts */
};

struct precision_lab_settings {
    const struct network *network;
    enum precision_form form;  /* of candidates; with Casts, the lower precision is float16 or bfloat16 */
    struct engine_maker maker; /* of candidates that are engines */
    /* The builder may lower layers without an override, so each layer with a float32 tensor in higher precision gets
     * one: also layers that only move data, unless these are data of lowered layers. */
    bool names_all;
    /* Settings that determine the precisions of layers, and build the engine for scores. builder.precision.layers is
     * modified; its initial entries apply to layers that are not chosen. */
    struct engine_settings *engine;
    enum data_type high;  /* DATA_FLOAT32 or DATA_FLOAT16 */
    const char *artifact; /* path of candidates; external data of models are next to it */
    bool keep_artifact;   /* the last candidate is not removed */
    bool copy_weights;    /* candidates share no external data with the original */
    bool take_over;       /* existing files are of the resumed session */
    /* For models: whether the runtime on this machine accepts this one; true if that cannot be tried. NULL: always. */
    int (*takes)(const void *data, const struct subgraph *subgraph, bool *ret, struct error *err);
    const void *takes_data;
    struct backend_request runtime; /* options of ONNX Runtime, which measures errors of outputs */
    struct log *log;
};

struct precision_lab;

/* The settings must outlive the lab. ERR_INVALID, with the reason, if no layer would be in lower precision. */
int precision_lab_new(const struct precision_lab_settings *settings, struct precision_lab **ret, struct error *err);
void precision_lab_free(struct precision_lab *lab); /* NULL is fine */

struct precision_target precision_lab_target(struct precision_lab *lab); /* valid until precision_lab_free() */

/* ERR_UNSUPPORTED if a layer's precision in the engine cannot be written into an ONNX model, for any choice. To be
 * called before a search whose result is to be saved. */
int precision_lab_check_onnx(const struct precision_lab *lab, struct error *err);

/* Saves the model with all lowered layers but the chosen ones in float16 or bfloat16, and syncs the file.
 * ERR_UNSUPPORTED if a layer's precision in the engine has no such form. */
int precision_lab_save_onnx(struct precision_lab *lab, const struct bitset *chosen, const char *path,
                            struct error *err);

/* The costs of that model. */
void precision_lab_costs(const struct precision_lab *lab, const struct bitset *chosen, struct precision_costs *ret);

/* Errors of the outputs of that model against the network in float32, in two forms. */
struct precision_errors {
    size_t samples;              /* number of samples */
    bool of_rounded, of_written; /* the form of candidates; neither: candidates were engines */
    struct output_error rounded; /* nodes compute in float32 on values rounded by Casts (onnx/half/rounded_nodes.h) */
    struct output_error written; /* as saved by precision_lab_save_onnx(); output NULL: the runtime rejects it */
};

/* Errors are those of output_reference_record() and output_reference_compare(). */
int precision_lab_errors(struct precision_lab *lab, const struct bitset *chosen, struct precision_errors *ret,
                         struct error *err);
void precision_errors_release(struct precision_errors *errors);

#endif
