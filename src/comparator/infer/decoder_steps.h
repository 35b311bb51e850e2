/* comparator/infer/decoder_steps.h: iterations of a run as the steps of a decoder: step 0 is the prefill, each further
 * one has one token.
 *
 * All runners get the same tokens, masks and positions; the tokens are those that the first runner, the reference,
 * prefers (the largest logit of the last position), or those of loaded data. Each runner gets its own caches, unless
 * the iteration says otherwise.
 *
 *   steps = (struct decoder_steps){.decoder = &decoder, .iterations = items, .count = n};
 *   for each iteration: for each runner, the reference first:
 *       decoder_steps_feed(&steps, loader, &(struct fed_runner){runner, inputs, input_count}, i, &feed, err);
 *       ... decoder_steps_take(&steps, runner, outputs, err) ...
 */
#ifndef COMPARATOR_INFER_DECODER_STEPS_H
#define COMPARATOR_INFER_DECODER_STEPS_H

#include "base/memory.h"
#include "comparator/data/loader.h"
#include "onnx/inputs/decoder.h"

struct decoder_iteration {
    size_t step;
    bool of_reference; /* all runners get the caches that the reference had in this step, as in step 0 */
    const char *own;   /* the only cache, an input, that is each runner's own; NULL: all are */
};

struct decoder_steps {
    /* Set by the caller. A step is the one after that of the iteration before, or one that ran before, with the caches
     * of the reference. */
    const struct decoder *decoder;
    const struct decoder_iteration *iterations;
    size_t count;
    const struct tensor_list *encoded; /* replace data of the prefill with these names; NULL: none */
    bool has_tokens;                   /* the loader has data of all steps, which are fed but for the caches */

    struct feed_dicts feeds;           /* inputs of the reference in the steps so far */
    struct tensor tokens;              /* int64: what the reference prefers; of the last iteration */
    VECTOR(struct tensor_list) caches; /* of each runner: its presents in the last iteration */
};

/* A runner and the inputs of its model. */
struct fed_runner {
    size_t index;
    const struct backend_io *inputs;
    size_t count;
};

/* The inputs of a runner in an iteration, in their order. `ret` is empty on entry; its tensors refer to `steps` and are
 * valid until the iteration ends. ERR_INVALID if an input is not known, or if its cache is missing. */
int decoder_steps_feed(struct decoder_steps *steps, struct data_loader *loader, const struct fed_runner *runner,
                       size_t iteration, struct tensor_list *ret, struct error *err);

/* Keeps copies of the caches, and chooses the tokens: called with the outputs of a runner. */
int decoder_steps_take(struct decoder_steps *steps, size_t runner, const struct tensor_list *outputs,
                       struct error *err);

void decoder_steps_release(struct decoder_steps *steps);

#endif
