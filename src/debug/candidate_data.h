/* debug/candidate_data.h: what the tensors at the border of a candidate hold in the original model, as files for its check. */
#ifndef DEBUG_CANDIDATE_DATA_H
#define DEBUG_CANDIDATE_DATA_H

#include "comparator/reference_values.h"
#include "debug/temporary_file.h"

struct candidate_data {
    struct temporary_file inputs, golden; /* paths are NULL where a file is not wanted */
};

/* Refuses to take files of the user's for its own: ERR_EXISTS, unless a session that was killed has left them (`resumes`). */
int candidate_data_reserve(const struct candidate_data *data, bool resumes, struct error *err);

/* Writes the values of the inputs, for `run --load-inputs`, and those of the outputs, for `run --load-outputs`: every sample,
 * in place of what the last candidate had. */
int candidate_data_write(struct candidate_data *data, struct reference_values *reference,
                         const struct subgraph *candidate, struct error *err);

void candidate_data_remove(struct candidate_data *data, struct log *log); /* what cannot be removed is a warning */

#endif
