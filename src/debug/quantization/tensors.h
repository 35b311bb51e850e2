/* debug/quantization/tensors.h: effect of each quantizer of a model on its own tensor.
 *
 * Constants and inputs are measured directly; computed tensors with all quantizers disabled, after the Relu or Clip
 * that the quantizer replaces: a few tensors per run.
 */
#ifndef DEBUG_QUANTIZATION_TENSORS_H
#define DEBUG_QUANTIZATION_TENSORS_H

#include "debug/quantization/measures.h"
#include "debug/quantization/runs.h"

struct quantized_tensor {
    const char *why_not; /* reason why it was not measured; NULL: measured */
    struct tensor_measures measures;
    bool of_stored; /* measures of the integers, because the float values are unknown */
};

/* Measures the tensors of all quantizers, one of `items` for each. A tensor that cannot be measured is not an error;
 * its `why_not`, in `arena` or valid as long as the subject and the runs, has the reason. ERR_INTERRUPTED, ERR_MEMORY;
 * errors of the runs. */
int quantized_tensors_measure(struct study_runs *runs, struct quantized_tensor *items, struct arena *arena,
                              struct error *err);

/* Number of runs of the model with switches for this. */
size_t quantized_tensors_runs(const struct study_runs *runs);

#endif
