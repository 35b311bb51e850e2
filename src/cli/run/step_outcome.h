/* cli/run/step_outcome.h: what a run in steps has shown. */
#ifndef CLI_RUN_STEP_OUTCOME_H
#define CLI_RUN_STEP_OUTCOME_H

#include "comparator/infer/driver.h"
#include "format/json/writer.h"

struct step_outcome {
    struct decoder decoder;
    struct tensor_list encoded; /* inputs of the decoder that an encoder has computed */
    struct decoder_steps steps; /* with the inputs of the reference in each step */
    size_t count;               /* of steps that ran, with the prefill */
    bool *failed;               /* of each step */
    size_t first;               /* the first that failed; SIZE_MAX: none */
    size_t entered;             /* the one in which the difference enters; SIZE_MAX: not known */
    size_t shown;               /* the step that failed when that was found: `entered` itself, or one that inherits */
    bool *carries;              /* whether each input is a cache that carries the difference on its own; or NULL */
};

void step_outcome_release(struct step_outcome *outcome);

/* The step in which the difference enters, if known, else the first that failed; SIZE_MAX: none failed. */
size_t step_to_look_into(const struct step_outcome *outcome);

/* The tokens that went into a step; NULL: none. Owned by the outcome. */
const struct tensor *step_outcome_tokens(const struct step_outcome *outcome, size_t step);

void step_outcome_write(const struct step_outcome *outcome, struct json_writer *json);

#endif
