/* cli/debug/decoder_record.h: inputs and outputs of each step of a decoder, recorded by one run of the original with
 * ONNX Runtime.
 *
 * Candidates of `debug reduce` have lost caches and logits, so they cannot be run in steps. The inputs of a step, with
 * the caches of ONNX Runtime, make this step a model with input data like any other. Checks of `debug precision`
 * compare all steps at once.
 */
#ifndef CLI_DEBUG_DECODER_RECORD_H
#define CLI_DEBUG_DECODER_RECORD_H

#include "cli/parse/command.h"
#include "format/polygraphy/feed_dicts.h"
#include "format/polygraphy/run_results.h"

/* Zeros can be released. */
struct decoder_record {
    struct feed_dicts feeds;    /* of the prefill and of each step */
    struct run_results results; /* with `outputs` */
    const char *inputs;         /* path of the file with the inputs */
    const char *outputs;        /* the same of the outputs; NULL: they are not recorded */
    char *folder;               /* temporary, removed by the release */
};

/* Runs the model of the command line with its options of steps, of the model, of input data and of ONNX Runtime.
 * `inputs` NULL: a temporary file. `outputs` may be NULL. The paths must outlive the record. ERR_BACKEND if that run
 * fails. */
int decoder_record_make(const struct command_context *context, const char *inputs, const char *outputs,
                        struct decoder_record *ret, struct error *err);

/* Leaves this step alone in the files; SIZE_MAX: all steps. */
int decoder_record_select(const struct decoder_record *record, size_t step, struct error *err);
void decoder_record_release(struct decoder_record *record);

#endif
