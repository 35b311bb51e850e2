/* backend/trtexec/engine_notes.h: the inputs and outputs of engines that were met before.
 *
 * Only TensorRT can read an engine, so what one wants and gives has to be asked of a process that loads it, which is as
 * much work as running it. What was found out is therefore noted in the user's cache folder, under the hash of the
 * engine's content; who builds an engine knows it anyway. What trtexec says of inputs and outputs when it runs is held
 * against it each time: a note can save a process, but never change a result.
 *
 * There is room for 256 notes: one of another engine takes the place of an old one.
 */
#ifndef BACKEND_TRTEXEC_ENGINE_NOTES_H
#define BACKEND_TRTEXEC_ENGINE_NOTES_H

#include "backend/trtexec/io.h"

/* Notes what is known of the engine at `path`. Where that fails nothing is noted. */
void engine_notes_save(const char *path, const struct io_list *inputs, const struct io_list *outputs);

/* Appends what was noted of the engine at `path` to empty lists; false, and nothing, when that is not known. */
bool engine_notes_load(const char *path, struct io_list *inputs, struct io_list *outputs);

/* The same from the text of a note, which counts only for the engine whose content has this hash, in hexadecimal. */
bool engine_notes_parse(struct text note, const char *hash, struct io_list *inputs, struct io_list *outputs);

#endif
