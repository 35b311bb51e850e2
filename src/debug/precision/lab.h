/* debug/precision/lab.h: makes engines, or ONNX models, some of whose layers are in higher precision.
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
    PRECISION_ENGINES,       /* engines of one model, of which the builder is told what layers compute in */
    PRECISION_TYPED_ENGINES, /* engines of models with Casts, for a builder that goes by the types of a model */
    PRECISION_MODELS,        /* ONNX models with Casts */
};

struct precision_lab_settings {
    const struct network *network;
    enum precision_form form;  /* of candidates; with Casts, float16 or bfloat16 is the lower precision */
    struct engine_maker maker; /* of candidates that are engines */
    /* The builder may lower what it is told nothing of, so it is told of every layer with a float32 tensor that is to
     * have the higher precision: also of those that only move data, unless it is data of lowered layers. */
    bool names_all;
    /* What says which layers can have which precision, and how the engine is built that scores them.
     * builder.precision.layers are changed; what they name at first holds for layers that are not chosen. */
    struct engine_settings *engine;
    enum data_type high;  /* DATA_FLOAT32 or DATA_FLOAT16 */
    const char *artifact; /* where candidates are; models find their external data beside it */
    bool keep_artifact;   /* the last one stays */
    bool copy_weights;    /* candidates share no external data with the original */
    bool take_over;       /* what lies there is from the session that goes on */
    /* For models: whether the runtime at hand takes this one; true where that cannot be tried. NULL: always. */
    int (*takes)(const void *data, const struct subgraph *subgraph, bool *ret, struct error *err);
    const void *takes_data;
    struct backend_request runtime; /* options of ONNX Runtime: errors of outputs are measured with it */
    struct log *log;
};

struct precision_lab;

/* The settings have to outlive it. ERR_INVALID, with the reason, when no layer would be in lower precision. */
int precision_lab_new(const struct precision_lab_settings *settings, struct precision_lab **ret, struct error *err);
void precision_lab_free(struct precision_lab *lab); /* NULL is fine */

struct precision_target precision_lab_target(struct precision_lab *lab); /* not to be used after it */

/* ERR_UNSUPPORTED when a layer's precision in the engine cannot be written into an ONNX model, whatever is chosen. For
 * before a search whose answer is to be saved. */
int precision_lab_check_onnx(const struct precision_lab *lab, struct error *err);

/* Saves the model with all lowered layers but the chosen ones in float16 or bfloat16, durably. ERR_UNSUPPORTED when a
 * layer's precision in the engine has no such form. */
int precision_lab_save_onnx(struct precision_lab *lab, const struct bitset *chosen, const char *path,
                            struct error *err);

/* What that model costs. */
void precision_lab_costs(const struct precision_lab *lab, const struct bitset *chosen, struct precision_costs *ret);

/* How far the outputs of that model are from those of the network, in two forms. */
struct precision_errors {
    size_t samples;              /* of the data that were run */
    bool of_rounded, of_written; /* that form is what candidates had; neither: those were engines */
    struct output_error rounded; /* nodes compute in float32, on values that Casts round (onnx/half/rounded_nodes.h) */
    struct output_error written; /* as precision_lab_save_onnx() has it; output NULL: the runtime does not take that */
};

/* Errors are those of output_reference_record() and output_reference_compare(). */
int precision_lab_errors(struct precision_lab *lab, const struct bitset *chosen, struct precision_errors *ret,
                         struct error *err);
void precision_errors_release(struct precision_errors *errors);

#endif
