/* cli/debug/decoder_record.h: inputs of each step of a decoder, recorded by one run of the original with ONNX Runtime.
 *
 * Candidates of `debug reduce` have lost caches and logits, so they cannot be run in steps. The inputs of a step, with
 * the caches of ONNX Runtime, make this step a model with input data like any other.
 */
#ifndef CLI_DEBUG_DECODER_RECORD_H
#define CLI_DEBUG_DECODER_RECORD_H

#include "cli/parse/command.h"
#include "format/polygraphy/feed_dicts.h"

/* Zeros can be released. */
struct decoder_record {
    struct feed_dicts feeds; /* of the prefill and of each step */
    char *path;              /* of the file with them, which the release removes */
    char *folder;            /* temporary */
};

/* Runs the model of the command line with its options of steps, of the model, of input data and of ONNX Runtime.
 * ERR_BACKEND if that run fails. */
int decoder_record_make(const struct command_context *context, struct decoder_record *ret, struct error *err);
void decoder_record_release(struct decoder_record *record);

#endif
