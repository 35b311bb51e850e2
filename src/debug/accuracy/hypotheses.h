/* debug/accuracy/hypotheses.h: the hypotheses of a study, and what several of them share.
 *
 * Each accuracy_test_*() leaves in the study what it has found out; while `outcome` is open and no cause is known the
 * next one is tested (accuracy.c has their order and titles).
 */
#ifndef DEBUG_ACCURACY_HYPOTHESES_H
#define DEBUG_ACCURACY_HYPOTHESES_H

#include "debug/accuracy/study.h"
#include "tensor/compare/slices.h"

/* With --steps: in which step of a decoder does a difference enter? Its inputs become the data of the study; where no
 * step fails, these stay as they are. Ends the study where the steps cannot be compared. (decoder_step.c) */
void accuracy_test_steps(struct study *study);

/* Is the question sound? Makes input data and golden outputs (`whole`), decides on tolerances, and runs the reference
 * twice. Ends the study where the model does not run there, or the reference is not reproducible. */
void accuracy_test_soundness(struct study *study);

/* Control of a runner that is a command: whether it gives the very same `outputs` (a file) for a model in which an
 * output is negated. Then it ends the study. `role` is "suspect" or "reference", for the sentence. */
bool study_runner_ignores_model(struct study *study, struct words runner, const char *outputs, const char *role);

/* The tolerance as given, else the one by rounding, before any output is known: small outputs may lower it later. Empty
 * after an error. (soundness.c) */
struct words study_first_tolerance(struct study *study);

/* `reference_is_invalid`: which nodes make the NaN and infinities? */
void accuracy_test_nan(struct study *study);

/* A runner that is independent of the reference: ONNX Runtime without optimizations. Empty where that is the reference
 * itself. (soundness.c) */
struct words study_independent_runner(struct study *study);

/* Does it fail always, by build, by run, never? */
void accuracy_test_failure(struct study *study);

/* Is it the reference's own optimizations? For ONNX Runtime as the reference: it is run without them. Comes before
 * all that believes in it. */
void accuracy_test_optimizations(struct study *study);

/* Do uint8 x int8 products saturate? Tested in ONNX Runtime on a processor where they do (`products_saturate`), if the
 * model may have such products: it runs with the setting that prevents it, which is left as the fix of a suspect. */
void accuracy_test_saturation(struct study *study);

/* Does it fail in lower precision only, and which layers need the higher one? Leaves them as a fix, and
 * FOLDER/mixed.onnx, the model with Casts that say the same. */
void accuracy_test_precision(struct study *study);

/* The same where the reference has values beyond the range of the lower precision; nothing is searched otherwise. For
 * builds that differ: whether one fails can depend on its tactics then, too, although none of them is wrong. */
void accuracy_test_range(struct study *study);

/* Some builds fail: which tactic is it? For the built-in engine, whose tactics can be drawn at random. Leaves a fix. */
void accuracy_test_tactics(struct study *study);

/* The minimal case fails: with any kernel, or only with some? Makes a kernel of what was blamed, and leaves the fix. */
void accuracy_test_kernel(struct study *study);

/* Which nodes are computed wrongly? For a suspect that always fails. Sets `outputs_cure`. May be tested again, as if
 * nothing were known of the suspect. */
void accuracy_test_layers(struct study *study);

/* `outputs_cure`: which fusion is it? Leaves a fix, too. */
void accuracy_test_fusion(struct study *study);

/* What is the smallest subgraph that fails? `debug reduce`, on its own terms. */
void accuracy_test_reduction(struct study *study);

/* Runs `debug reduce` on a model, with the check of the study: true where `output` is what it was reduced to. `*ret`
 * has its result. */
bool study_reduce(struct study *study, const char *model, const char *why, struct words tolerance, const char *output,
                  struct study_step **ret);

/* The nodes of the cause fail alone, and `whole` is what becomes of the model with the reference's values for what they
 * make: looks for other places that fail. Where there are some, they are in the cause, which has its evidence then, and
 * it returns true. (places.c) */
bool study_find_other_places(struct study *study, const struct bitset *nodes, struct words tolerance,
                             enum agreement whole);

/* Does the suspect agree when constants are folded beforehand? Leaves FOLDER/folded.onnx as a fix, and where no cause
 * is known the nodes that are not in it. */
void accuracy_test_folding(struct study *study);

/* Does the failure come from inside of an If, Loop or Scan? Where that may be, writes FOLDER/inlined.onnx, in which
 * they are replaced by what they do on the input data; where that fails in the suspect, too, the study is about that
 * model from here on, with FOLDER/inlined as its folder, and true is returned. */
bool study_enter_bodies(struct study *study);

/* Is the network ill-conditioned for these data? Tested where no other cause is known. */
void accuracy_test_condition(struct study *study);

/* ---- Conditioning (condition.c) ---- */

/* Whether the reference itself fails when its own values of what these nodes make are changed by one unit in the last
 * place, in several directions. `*ret_error` is the largest error of an output then, see comparison_error(). False also
 * where that cannot be tested, or nothing follows these nodes. */
bool study_is_ill_conditioned(struct study *study, const struct bitset *nodes, double *ret_error);

/* Makes that the cause; `where` is "'a' (Add)". */
void conclude_condition(struct study *study, const char *where, double error);

/* ---- How often it fails (failure.c) ---- */

/* The failure rate that so many runs without a failure exclude, with 95 % confidence. */
double rate_excluded(int64_t runs);

/* How many comparisons of the whole model have to agree until that is not by chance, with 95 % confidence: 1 where it
 * always fails. For failures rarer than one in ten these are too few: see study_is_sure(). */
int64_t study_enough_comparisons(const struct study *study);

/* What so many comparisons of the whole model say that all agree: false when the failure is so rare that they may have
 * missed it. `*ret_text` goes behind a sentence that says that it agrees; "" where it always fails. */
bool study_is_sure(struct study *study, int64_t comparisons, const char **ret_text);

/* Reads from a `run` of one build how many of `times` runs of the same data fail: where one of the outputs does.
 * ERR_CORRUPT where its result does not have so many. */
int64_t study_count_failed_runs(struct study_step *step, int64_t times);

/* The whole model as a check needs it: run so often that it fails nearly always where only some runs fail. */
struct failing_case study_repeated_whole(const struct study *study);

/* Makes the minimal case one of many runs, so that a check of it misses its failure in less than one of a thousand
 * times. Where none of its runs fail, it stays as it was. */
void study_repeat_minimal(struct study *study);

/* What compares the whole model with its inputs `times` times, at most RUNS_OF_ONE_BUILD. */
void step_add_repeated_whole(struct study_step *step, int64_t times);

/* ---- Builds with random tactics (tactics.c) ---- */

struct tactic_exploration {
    const struct failing_case *subject;
    int64_t passed, failed; /* builds */
    const char *replays;    /* folder with those of good and bad builds */
    const char *layers;     /* file with the layers of the build that was made last */
};

/* Builds the model of a case with random tactics, without those in `excluded`, and checks each build. `within`: for
 * --explore-within; NULL: its default. */
struct tactic_exploration study_explore_tactics(struct study *study, const struct failing_case *subject,
                                                struct words excluded, const char *within);

/* ---- Tolerances by rounding (tolerance.c) ---- */

/* What errors of rounding grow with. */
struct rounding_paths {
    size_t depth; /* nodes on the longest path */
    size_t terms; /* products in the longest sum of a node that multiplies with constant weights; at least 1 */
};

void rounding_paths_of(const struct model *model, struct rounding_paths *ret);

/* The largest difference, relative to the largest magnitude of the tensor, that is put down to rounding:
 *
 *     8 (u sqrt(depth) + v sqrt(depth terms))
 *
 * where u is the unit roundoff of what tensors are stored in and v that of float32, in which sums are made. Errors that
 * are independent grow with the square root of their number (Higham and Mary, A New Approach to Probabilistic Rounding
 * Error Analysis, 2019); 8 leaves room for those that are not, and for algorithms like Winograd's. At most 1. */
double rounding_tolerance(double unit_roundoff, const struct rounding_paths *paths);

/* ---- Parts of outputs (output_scale.c) ---- */

/* Compares the outputs of the suspect's first build with the golden ones, slice by slice: notes how many integers
 * differ. False where a slice with a scale of its own is wrong by a tenth of that and more, although the whole agrees
 * by the tolerance that was derived: then the study begins anew with that slice, or it concludes. */
bool study_compare_slices(struct study *study);

/* Whether each output of the suspect's first build that is wrong has values that the reference has in another one: then
 * that concludes the study. (exchange.c) */
bool study_outputs_are_exchanged(struct study *study);

/* Has the study begin anew with the slice as an output of its own (slice.c): false where that is impossible. */
bool study_begin_slice(struct study *study, const char *output, const struct slice_error *slice);

/* The study is about another model from here on: nothing but notes stays of what is known. */
void study_forget_answers(struct study *study);

/* The smallest one among the largest magnitudes of the outputs that are not 0, of the reference's run; notes those that
 * are small everywhere. Infinite where there is none. */
double study_smallest_output(struct study_step *reference);

/* ---- Which layers make the error (rounding.c) ---- */

/* The options that give layers, NAME:PRECISION each, this precision. */
struct words layers_with_precision(struct study *study, struct words layers, const char *precision);

/* The largest error of a comparison: of its largest magnitude, and of integers and booleans the share of elements that
 * differ. INFINITY where an output differs in another way. */
double comparison_error(struct study_step *step);

/* Of one output, relative to its largest magnitude; where that was not measured: 0 if the output has passed, else
 * INFINITY. `item`: of the result's "comparisons". */
double comparison_norm_error(struct study_step *step, const json_t *item);

/* Among layers, NAME:PRECISION each, that the suspect passes with in float32: the index of one that alone brings the
 * largest error down to a quarter or less; SIZE_MAX where there is none. Errors are relative to the largest magnitude
 * of an output, of integers the share that differs. `*ret_before` is the error without the layer, `*ret_after` with it.
 */
size_t study_find_decisive_layer(struct study *study, struct words layers, double *ret_before, double *ret_after);

/* Runs the whole with --norm-tolerance for an error of the suspect: its value where that passes; else NULL. */
const char *study_verify_norm_tolerance(struct study *study, double error);

struct known_range;

/* The node among `nodes` whose sum is smallest against what it adds, in words, where that magnifies rounding beyond the
 * ordinary; else NULL. `ranges` are those of study_read_ranges(). */
const char *describe_cancellation(struct study *study, const struct known_range *ranges, const struct bitset *nodes,
                                  double unit_roundoff, uint32_t *ret_node);

/* ---- Ranges of tensors, and what of them a type of lower precision cannot represent (value_range.c) ----
 *
 * This says where to look, and how to put it. Only experiments show that it matters. */

/* Of all elements, whatever the iteration. */
struct known_range {
    bool is_known;
    bool has_nans, has_infinities;
    double largest;  /* magnitude of finite elements */
    double smallest; /* of those that are not 0; 0: there are none */
};

/* Has the reference give out all tensors (study_make_values()), and reads constants and input data, too. Returns a
 * range for each value of the study's model, to be freed; NULL after an error. Only floating-point numbers are known.
 */
struct known_range *study_read_ranges(struct study *study);

/* A type of floating-point numbers. */
struct float_format {
    const char *name;
    double largest, smallest_normal;
    double flushed; /* what is not greater becomes 0 */
};

extern const struct float_format format_float16, format_bfloat16;

/* Lists sums inside of nodes (of means, norms and variances) that are beyond the range of the format as not tested: the
 * suspect passes, an engine that adds up in that format would overflow. (inner_sums.c) */
void study_note_inner_sums(struct study *study, const struct float_format *format);

/* ---- What the data leave out, where nothing fails (untested_data.c) ---- */

/* The answer is there already: an error of what would have been said in addition becomes "WHAT: MESSAGE", not tested.
 */
void study_dismiss_error(struct study *study, const char *what);

/* Lists branches of If that the reference does not take with these data, and bodies of Loop that do not run. */
void study_note_unused_bodies(struct study *study);

/* Lists constants that are infinities in the format, of a suspect in that format that passes. */
void study_note_constants_beyond(struct study *study, const struct float_format *format);

/* From one to the next it is worse. */
enum range_error {
    FITS,
    HAS_TINY,     /* some of it becomes 0, as in most tensors: says little */
    IS_SUBNORMAL, /* all of it has less precision */
    IS_FLUSHED,   /* all of it becomes 0 */
    IS_TOO_LARGE,
};

/* The worst error among a node's outputs and inputs, and whose it is; its outputs come first. Without a format all
 * fits. */
enum range_error range_error_at_node(const struct float_format *format, const struct model *model,
                                     const struct known_range *ranges, uint32_t node, uint32_t *ret_value);

/* "'logits', which 'scores' (MatMul) makes, reaches 72489; float16 ends at 65504" */
const char *describe_range_error(struct study *study, const struct float_format *format,
                                 const struct known_range *range, uint32_t value, uint32_t node,
                                 enum range_error error);

#endif
