/* comparator/reference_values.h: what the tensors inside a model hold when it runs on the data loader's samples.
 *
 * The model is loaded once, with every tensor marked as an output, and run when a value is asked for that is not known yet. Values
 * are kept until the object is freed: frozen constants refer to them.
 */
#ifndef COMPARATOR_REFERENCE_VALUES_H
#define COMPARATOR_REFERENCE_VALUES_H

#include "backend/backend.h"
#include "comparator/data_loader.h"
#include "onnx/subgraph.h"

struct reference_values;

/* Nothing is loaded or run yet. `whole`, `request` and `loader` have to outlive the object. */
void reference_values_new(const struct subgraph *whole, const struct backend *backend,
                          const struct backend_request *request, struct data_loader *loader, struct log *log,
                          struct reference_values **ret);
void reference_values_free(struct reference_values *reference);

/* Makes sure that these values are known for every sample. */
int reference_values_record(struct reference_values *reference, const struct value_list *wanted, struct error *err);

/* A recorded value in the first sample. It belongs to `reference`. */
const struct tensor *reference_values_get(const struct reference_values *reference, uint32_t value);

/* How many samples there are (0 before anything was recorded), and a recorded value in one of them. */
size_t reference_values_samples(const struct reference_values *reference);
const struct tensor *reference_values_in(const struct reference_values *reference, uint32_t value, size_t sample);

/* True when a recorded value is the same in all samples. */
bool reference_values_agree(const struct reference_values *reference, uint32_t value);

#endif
