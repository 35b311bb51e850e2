/* debug/accuracy/accuracy.h: from "it is wrong" to a cause that was seen.
 *
 * The room debug/accuracy/ goes the way of docs/finding-the-cause.md by itself. Each of its experiments is a command of
 * this program, run as a process (investigation.h), so that everything it believes can be typed and seen again. A file
 * is a question (questions.h): question.c whether there is one, occurrence.c when it fails, tactics.c, precision.c,
 * layers.c, fusion.c and reduction.c what makes it fail, proof.c whether that is true. cause.h is the answer, record.h
 * tells it. accuracy.c has the order of the questions. It uses the layers below debug, and of debug little more than
 * how output is shown.
 */
#ifndef DEBUG_ACCURACY_ACCURACY_H
#define DEBUG_ACCURACY_ACCURACY_H

#include "debug/accuracy/investigation.h"

/* Makes the folder ready, or finds in it what an earlier session of the same question has left. ERR_EXISTS where it
 * holds something else, or another session is at work there. Give back with investigation_free(). */
int accuracy_begin(const struct accuracy_settings *settings, struct log *log, struct investigation **ret,
                   struct error *err);

/* Goes the whole way. What is known can be asked afterwards, after an error or an interruption, too. */
int accuracy_run(struct investigation *investigation, struct error *err);

#endif
