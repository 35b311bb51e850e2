/* debug/accuracy/accuracy.h: from "it is wrong" to a cause that experiments have shown.
 *
 * The module debug/accuracy/ follows docs/finding-the-cause.md by itself. Each of its experiments is a command of this
 * program, run as a process (study.h), so that everything it concludes can be typed and checked. A file tests one or a
 * few hypotheses (hypotheses.h): decoder_step.c which step of a decoder fails, soundness.c whether there is a question,
 * failure.c when it fails, simplification.c, tactics.c, precision.c, layers.c, fusion.c, reduction.c and places.c what
 * makes it fail, accuracy.c in which order, and whether the answer holds. script.c writes what reproduces it. The
 * module uses the layers below debug, and of debug little more than how output is shown.
 */
#ifndef DEBUG_ACCURACY_ACCURACY_H
#define DEBUG_ACCURACY_ACCURACY_H

#include "debug/accuracy/study.h"

/* The names of all files that a study leaves in its folder, as patterns, NULL-terminated. */
extern const char *const accuracy_results[];

/* Prepares the folder, or finds in it what an earlier session of the same question has left (folder.h). Release with
 * study_free(). */
int accuracy_begin(const struct accuracy_settings *settings, struct log *log, struct study **ret, struct error *err);

/* Tests the hypotheses. What is known can be read afterwards, after an error or an interruption, too. */
int accuracy_run(struct study *study, struct error *err);

/* Writes what a bug report needs to the folder: `reproduce.sh` with the minimal case (else the whole model), and what
 * makes it pass. Where something fails, also has the errors of all tensors measured once, for the report: `errors` of
 * the study. */
int accuracy_write_bundle(struct study *study, struct error *err);

/* Whether a cause was proven, or nothing fails. */
bool accuracy_is_answered(const struct study *study);

#endif
