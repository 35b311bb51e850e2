/* comparator/reference/values.h: records the values of a model's tensors on the samples of the data loader.
 *
 * When an unknown value is requested, the model is loaded with every tensor marked as an output, and run. Other values
 * are recorded, too, if there is space: usually a single run is enough. Values are in a mapped temporary file until the
 * object is freed: frozen constants refer to them.
 *
 * If the model does not run, or there are no data for its inputs, only the ancestors of a value are run; a value that
 * depends only on constants needs no data.
 *
 * A model whose tensors exceed the memory limit is run in groups of nodes. Optimizations across groups are then
 * impossible, which can change last digits (comparator/infer/layerwise.h).
 *
 * The module comparator/reference/ records the tensor values of an original model, stored in a mapped file. It depends
 * on comparator/data/ and comparator/infer/.
 */
#ifndef COMPARATOR_REFERENCE_VALUES_H
#define COMPARATOR_REFERENCE_VALUES_H

#include <stdint.h>

#include "backend/backend.h"
#include "comparator/data/loader.h"
#include "onnx/model/subgraph.h"

struct reference_values;

/* Creates the object; nothing is loaded or run yet. `whole`, `request` and `loader` must outlive it. */
void reference_values_new(const struct subgraph *whole, const struct backend *backend,
                          const struct backend_request *request, struct data_loader *loader, struct log *log,
                          struct reference_values **ret);

/* Lets `golden`, an engine, compute the values; `backend` is then used for types only. An engine builds the whole
 * model, so parts are not run alone. `request` must outlive the object. */
void reference_values_set_golden(struct reference_values *reference, const struct backend *golden,
                                 const struct backend_request *request);

void reference_values_free(struct reference_values *reference);

/* Sets limits in bytes: memory for the tensors of one sample as outputs of a single session (default 1 GiB; groups are
 * smaller, unless a single node exceeds it), and disk space for values that were not requested yet (default 1 GiB, at
 * most a quarter of the free space). */
void reference_values_set_bounds(struct reference_values *reference, uint64_t memory, uint64_t disk);

/* Records these values for every sample, unless they are known. ERR_IO if they do not fit on the disk; errors of the
 * data loader and of the backend. The first call with an unmuted log logs that the model is run, and its inputs. */
int reference_values_record(struct reference_values *reference, const struct value_list *wanted, struct error *err);

/* Logs that message if it was not logged yet because the log was muted. */
void reference_values_announce(struct reference_values *reference);

/* A recorded value in the first sample, owned by `reference`. */
const struct tensor *reference_values_get(const struct reference_values *reference, uint32_t value);

/* The number of samples (0 before anything was recorded), and a recorded value in one of them. */
size_t reference_values_samples(const struct reference_values *reference);
const struct tensor *reference_values_in(const struct reference_values *reference, uint32_t value, size_t sample);

/* True when a recorded value is the same in all samples. */
bool reference_values_agree(const struct reference_values *reference, uint32_t value);

/* Lists the inputs and all outputs of nodes, each once, except values that are not tensors (sequences, maps). Types
 * missing in the model are inferred by ONNX Runtime and added to `known`. */
void reference_values_list_tensors(const struct reference_values *reference, struct known_types *known,
                                   struct value_list *ret);

#endif
