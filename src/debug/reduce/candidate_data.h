/* debug/reduce/candidate_data.h: what the tensors at the border of a candidate hold in the original model, as files for
 * its check. */
#ifndef DEBUG_REDUCE_CANDIDATE_DATA_H
#define DEBUG_REDUCE_CANDIDATE_DATA_H

#include "comparator/reference/values.h"
#include "debug/candidate/place.h"

/* Writes the values of the inputs, for `run --load-inputs`, and those of the outputs, for `run --load-outputs`, of
 * every sample, as far as `paths` has files for them. They have to be recorded. */
int candidate_data_write(const struct reference_values *reference, const struct subgraph *candidate,
                         const struct candidate_paths *paths, struct error *err);

#endif
