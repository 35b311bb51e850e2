/* engine/run/layer_step.h: one layer made ready to run, for one set of input shapes: its kernel, and what brings inputs
 * into the layouts and precisions that the kernel wants. The executor runs one after the other; so does the builder. */
#ifndef ENGINE_RUN_LAYER_STEP_H
#define ENGINE_RUN_LAYER_STEP_H

#include "engine/run/layer_request.h"

/* How one input gets from where it lies to the kernel. */
struct step_input {
    uint32_t value;          /* VALUE_NONE for constants and omitted ones */
    bool reordered;          /* the tactic wants it in another layout */
    enum precision rounding; /* PRECISION_FLOAT32: none */
    float scale;             /* of int8; 0: not quantized */
    struct layout layout;    /* that the tactic wants */
    struct reorder *reorder;
    size_t scratch; /* offset of its copy, when there is one */
};

struct step_output {
    uint32_t value; /* VALUE_NONE where omitted */
    enum precision rounding;
    struct layout layout; /* what comes out of a kernel that makes its outputs itself is row-major */
};

struct layer_step {
    /* What the kernel was made for. The tensors are what it reads: sizes are those in the layouts that it wants, and
     * data of what comes at run time are set by each run. */
    struct layer_request request;
    struct kernel *kernel;
    struct step_input *inputs;   /* layer->inputs.count */
    struct step_output *outputs; /* layer->outputs.count of these two */
    struct tensor *kernel_outputs;
    size_t scratch_size; /* bytes for copies of inputs; 0: none */
    char *scratch;
    char *own_scratch; /* the same when the step allocated it */
};

/* `values`: of every value of the model (model->values.count). The inputs of the layer exist there. */
int layer_step_new(const struct engine *engine, const struct layer *layer, const struct engine_layer *choice,
                   const struct layer_values *values, struct layer_step **ret, struct error *err);
void layer_step_free(struct layer_step *step);

/* Reorders and rounds inputs as needed, runs the kernel, rounds outputs. Output tensors that do not exist in `values`
 * are allocated there. */
int layer_step_run(struct layer_step *step, struct layer_values *values, struct error *err);

/* Whether `values` are what the step was made for: types, shapes and layouts of its inputs. */
bool layer_step_fits(const struct layer_step *step, const struct layer_values *values);

/* Memory of step->scratch_size bytes, which outlives the step's runs. Without it a step allocates some of its own. */
void layer_step_set_scratch(struct layer_step *step, char *scratch);

/* As layer_step_new() for a layer of the engine, with whichever tactic of its providers can be made for these inputs:
 * for shapes that the chosen one cannot compute. Appends the provider's and the tactic's name to `ret_name`. */
int layer_step_new_any(const struct engine *engine, size_t number, const struct layer_values *values,
                       struct layer_step **ret, struct string_builder *ret_name, struct error *err);

#endif
