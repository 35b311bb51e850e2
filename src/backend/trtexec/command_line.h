/* backend/trtexec/command_line.h: the words that trtexec is called with.
 *
 * trtexec cuts lists at commas and knows no escape, so that lists only have relative names of files in the folder it
 * runs in, and names of tensors that it takes (network.h). A model, an engine or a library is a word of its own.
 *
 *   struct trtexec_words words;
 *   trtexec_words_init(&words, &settings, &arena);
 *   trtexec_words_add_build(&words, &network);
 *   rc = trtexec_words_finish(&words, err);
 */
#ifndef BACKEND_TRTEXEC_COMMAND_LINE_H
#define BACKEND_TRTEXEC_COMMAND_LINE_H

#include "backend/trtexec/network.h"
#include "backend/trtexec/words.h"

/* Names in the folder. */
#define TRTEXEC_ENGINE "engine.plan"
#define TRTEXEC_LAYERS "layers.json"
#define TRTEXEC_TIMING_CACHE "timing.cache"
#define TRTEXEC_CALIBRATION "calibration.cache"
#define TRTEXEC_OUTPUTS "outputs.json"
#define TRTEXEC_PROFILE "profile.json"

/* Everything that a build takes. */
void trtexec_words_add_build(struct trtexec_words *words, const struct trtexec_network *network);

/* What a run takes: `shapes` and `files` (in the folder) of the inputs, in their order; no files: trtexec makes
 * values up, to tell of inputs and outputs. */
struct trtexec_run {
    const char *engine;        /* path */
    const char *const *inputs; /* names that trtexec knows */
    const char *const *files;  /* may be NULL */
    const struct shape *shapes;
    const bool *is_dynamic; /* only these get a shape */
    size_t input_count;
    bool exports_outputs; /* as text, besides the raw files */
};
void trtexec_words_add_run(struct trtexec_words *words, const struct trtexec_run *run);

#endif
