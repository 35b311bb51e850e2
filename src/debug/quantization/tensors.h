/* debug/quantization/tensors.h: what each quantizer of a model does to its own tensor.
 *
 * Constants are measured as they are, inputs as they are fed, and what is computed as it is with all quantizers off,
 * behind the Relu or Clip that its quantizer does the work of: a few tensors in one run.
 */
#ifndef DEBUG_QUANTIZATION_TENSORS_H
#define DEBUG_QUANTIZATION_TENSORS_H

#include "debug/quantization/measures.h"
#include "debug/quantization/runs.h"

struct quantized_tensor {
    const char *why_not; /* it was not measured; NULL: it was */
    struct tensor_measures measures;
    bool of_stored; /* measures are of the integers, because the float values are not known */
};

/* Measures the tensors of all quantizers, one of `items` for each. One that cannot be measured is no error, but what
 * its `why_not` says, in `arena` or as long as the subject and the runs. ERR_INTERRUPTED, ERR_MEMORY; errors of the
 * runs. */
int quantized_tensors_measure(struct study_runs *runs, struct quantized_tensor *items, struct arena *arena,
                              struct error *err);

/* How many runs of the model with switches that takes. */
size_t quantized_tensors_runs(const struct study_runs *runs);

#endif
