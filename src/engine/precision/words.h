/* engine/precision/words.h: what decides on the precisions of a build, in words of the command line.
 *
 * Tactic replays carry them, so that a build with the same tactics computes the same: "--fp16",
 * "--precision-constraints obey", "--layer-precisions conv1:float32", ... What has no effect, or is so without being
 * asked for, is left out: no words at all are a build in float32.
 */
#ifndef ENGINE_PRECISION_WORDS_H
#define ENGINE_PRECISION_WORDS_H

#include "base/container/arena.h"
#include "engine/precision/precision.h"
#include "format/polygraphy/tactic_replay.h"

/* Appends the words for these settings, and marks them as known. */
void precision_words_of(const struct precision_settings *settings, struct tactic_options *ret);

/* The settings that words stand for; what is allocated lies in the arena. ERR_UNSUPPORTED names a word that means
 * nothing here. */
int precision_words_read(const struct tactic_options *words, struct arena *arena, struct precision_settings *ret,
                         struct error *err);

#endif
