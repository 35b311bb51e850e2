/* debug/accuracy/questions.h: the questions of an investigation, each a file of its name.
 *
 * Each returns 0 and leaves in the investigation what it has found out; with `outcome` still open the next question is
 * asked. Errors are those of investigation_run().
 */
#ifndef DEBUG_ACCURACY_QUESTIONS_H
#define DEBUG_ACCURACY_QUESTIONS_H

#include "debug/accuracy/investigation.h"

/* Is the question sound? Makes input data and golden outputs (`whole`), decides on tolerances, and has the reference
 * answer twice. Ends the investigation where the model does not run there, or where it makes NaN or infinities itself:
 * then the first node that does is the cause. */
int accuracy_ask_question(struct investigation *investigation, struct error *err);

/* Which nodes make the NaN and infinities in the reference's own outputs? Part of the first question. */
int accuracy_ask_nan(struct investigation *investigation, struct error *err);

/* Does it fail, and how: always, by build, by run, never? */
int accuracy_ask_occurrence(struct investigation *investigation, struct error *err);

/* Is it the reference's own optimizations? For ONNX Runtime as the reference: it is asked without them. Comes before
 * all that believes in it. */
int accuracy_ask_optimizations(struct investigation *investigation, struct error *err);

/* Do uint8 x int8 products saturate? Asked of ONNX Runtime on a processor where they do (`products_saturate`), if the
 * model may have such products: it runs with the setting that prevents it, which is left as the mend of a suspect. */
int accuracy_ask_saturation(struct investigation *investigation, struct error *err);

/* Does it fail in lower precision only, and which layers need the higher one? Leaves them as a mend, and
 * FOLDER/mixed.onnx, the model with Casts that say the same. */
int accuracy_ask_precision(struct investigation *investigation, struct error *err);

/* The same where the reference has values beyond the range of the lower precision; nothing is searched otherwise. For
 * builds that differ: whether one fails can depend on its tactics then, too, without any of them being at fault. */
int accuracy_ask_range(struct investigation *investigation, struct error *err);

/* Some builds fail: which tactic is it? For the built-in engine, whose tactics can be drawn by lot. Leaves a mend, too.
 */
int accuracy_ask_tactics(struct investigation *investigation, struct error *err);

/* The minimal case fails: whatever kernels compute it, or with one and not with others? Makes of what was blamed a
 * kernel, and leaves the mend. */
int accuracy_ask_kernel(struct investigation *investigation, struct error *err);

/* Which nodes are computed wrongly? For a suspect that always fails. Where giving out all tensors makes it agree, the
 * next one is asked. */
int accuracy_ask_layers(struct investigation *investigation, struct error *err);

/* Giving out all tensors makes it agree: which fusion is it? Leaves a mend, too. */
int accuracy_ask_fusion(struct investigation *investigation, struct error *err);

/* What is the smallest part that fails? `debug reduce`, on its own terms. */
int accuracy_ask_reduction(struct investigation *investigation, struct error *err);

/* Does the suspect agree when constants are folded beforehand? Leaves FOLDER/folded.onnx as a mend, and as the cause
 * what is not in it any more, where none is known. */
int accuracy_ask_simplified(struct investigation *investigation, struct error *err);

/* Is it true? The minimal case fails in a fresh process, and what was changed mends the whole model. Says the verdict.
 */
int accuracy_prove(struct investigation *investigation, struct error *err);

#endif
