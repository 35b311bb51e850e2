/* debug/candidate_data.h: what the tensors at the border of a candidate hold in the original model, as files for its check. */
#ifndef DEBUG_CANDIDATE_DATA_H
#define DEBUG_CANDIDATE_DATA_H

#include "comparator/reference_values.h"

/* Writes the values of the inputs, for `run --load-inputs`, and those of the outputs, for `run --load-outputs`: every sample.
 * Either path may be NULL. The files are replaced. */
int candidate_data_save(struct reference_values *reference, const struct subgraph *candidate, const char *inputs_path,
                        const char *golden_path, struct error *err);

#endif
