/* cli/run/encoder.h: `run --steps --encoder`: the encoder of a decoder in another file, run once with ONNX Runtime.
 *
 * Its outputs are constant inputs of the decoder, the same ones for all runners.
 */
#ifndef CLI_RUN_ENCODER_H
#define CLI_RUN_ENCODER_H

#include "cli/run/settings.h"

/* Runs the encoder of --encoder, with generated data or those of --encoder-inputs. `ret`, empty on entry, gets tensors
 * with the names of the decoder's inputs: outputs of --encoder-outputs, else of the same name, else of the same type
 * and shape; and inputs of the encoder with "encoder_" before their names, such as masks. Does nothing without that
 * option. ERR_UNSUPPORTED if no output is an input of the decoder, or if it is not clear which. */
int encoder_run(const struct command_context *context, const struct run_settings *settings,
                const struct model *decoder_model, const struct decoder *decoder, struct tensor_list *ret,
                struct error *err);

#endif
