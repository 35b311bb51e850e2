/* engine/precision/words.h: the precision options of a build as words of the command line.
 *
 * They are stored in tactic replays, so that a build with the same tactics computes the same results: "--fp16",
 * "--precision-constraints obey", "--layer-precisions conv1:float32", ... Options without an effect and defaults are
 * omitted: no words mean a float32 build.
 */
#ifndef ENGINE_PRECISION_WORDS_H
#define ENGINE_PRECISION_WORDS_H

#include "base/container/arena.h"
#include "engine/precision/precision.h"
#include "format/polygraphy/tactic_replay.h"

/* Appends the words for these settings, and marks them as known. */
void precision_words_of(const struct precision_settings *settings, struct tactic_options *ret);

/* Converts words to settings, allocated in the arena. ERR_UNSUPPORTED names an unknown word. */
int precision_words_read(const struct tactic_options *words, struct arena *arena, struct precision_settings *ret,
                         struct error *err);

#endif
