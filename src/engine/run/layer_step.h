/* engine/run/layer_step.h: a layer ready to run for one set of input shapes: its kernel, and the conversions of inputs
 * to the kernel's layouts and precisions. Used by executor and builder. */
#ifndef ENGINE_RUN_LAYER_STEP_H
#define ENGINE_RUN_LAYER_STEP_H

#include "engine/run/layer_request.h"

/* How one input is passed to the kernel. */
struct step_input {
    uint32_t value;          /* VALUE_NONE for constants and omitted ones */
    bool reordered;          /* converted to the tactic's layout */
    enum precision rounding; /* PRECISION_FLOAT32: none */
    float scale;             /* of int8; 0: not quantized */
    struct layout layout;    /* required by the tactic */
    struct reorder *reorder;
    size_t scratch; /* offset of its copy, if any */
};

struct step_output {
    uint32_t value; /* VALUE_NONE where omitted */
    enum precision rounding;
    struct layout layout; /* row-major if the kernel allocates its outputs */
};

struct layer_step {
    /* The request for which the kernel was created. Its tensors are the kernel's inputs: sizes are those of its
     * layouts, and data of run-time inputs are set by each run. */
    struct layer_request request;
    struct kernel *kernel;
    struct step_input *inputs;   /* layer->inputs.count */
    struct step_output *outputs; /* layer->outputs.count, as kernel_outputs */
    struct tensor *kernel_outputs;
    size_t scratch_size; /* bytes for copies of inputs; 0: none */
    char *scratch;
    char *own_scratch; /* `scratch` if allocated by the step */
};

/* `values` contains all values of the model (model->values.count); the inputs of the layer must exist. */
int layer_step_new(const struct engine *engine, const struct layer *layer, const struct engine_layer *choice,
                   const struct layer_values *values, struct layer_step **ret, struct error *err);
void layer_step_free(struct layer_step *step);

/* Reorders and rounds inputs as needed, runs the kernel, rounds outputs. Output tensors that do not exist in `values`
 * are allocated there. */
int layer_step_run(struct layer_step *step, struct layer_values *values, struct error *err);

/* Whether the step was created for these types, shapes and layouts of inputs. */
bool layer_step_fits(const struct layer_step *step, const struct layer_values *values);

/* Sets scratch memory of step->scratch_size bytes, valid during the step's runs. By default a step allocates its
 * own. */
void layer_step_set_scratch(struct layer_step *step, char *scratch);

/* Like layer_step_new(), with any tactic that works for these inputs, if the selected tactic does not support their
 * shapes. Appends the provider's and the tactic's name to `ret_name`. */
int layer_step_new_any(const struct engine *engine, size_t number, const struct layer_values *values,
                       struct layer_step **ret, struct string_builder *ret_name, struct error *err);

#endif
