/* comparator/reference/values.h: what the tensors inside a model hold when it runs on the data loader's samples.
 *
 * The model is loaded, with every tensor marked as an output, and run when a value is asked for that is not known yet.
 * What else it computes then is recorded, too, if there is room: mostly there is one run in all. Values lie in a
 * temporary file that is mapped, and are kept until the object is freed: frozen constants refer to them.
 *
 * Where the model does not run, or there are no data for its inputs, a value needs no more than what lies before it:
 * that part is run alone, and one that depends on constants alone needs no data.
 *
 * A model whose tensors do not fit into a bound on memory is run in groups of nodes. An optimization that spans groups
 * is not made then, which can change last digits (comparator/infer/layerwise.h).
 *
 * The module comparator/reference/ records what an original model computes: a model, data and a backend come in, values
 * of its tensors go out, from a file that is mapped. It may use the module data/ and infer/ beside it.
 */
#ifndef COMPARATOR_REFERENCE_VALUES_H
#define COMPARATOR_REFERENCE_VALUES_H

#include <stdint.h>

#include "backend/backend.h"
#include "comparator/data/loader.h"
#include "onnx/model/subgraph.h"

struct reference_values;

/* Nothing is loaded or run yet. `whole`, `request` and `loader` have to outlive the object. */
void reference_values_new(const struct subgraph *whole, const struct backend *backend,
                          const struct backend_request *request, struct data_loader *loader, struct log *log,
                          struct reference_values **ret);

/* Has an engine compute the values in place of `backend`, which then gives types only: a model is built as a whole, so
 * no part of it is run alone. `request` has to outlive the object. */
void reference_values_set_golden(struct reference_values *reference, const struct backend *golden,
                                 const struct backend_request *request);

void reference_values_free(struct reference_values *reference);

/* Bytes: what the tensors of one sample may take in memory as outputs of a single session (1 GiB; groups are smaller,
 * as long as single nodes allow it), and how much may lie on disk of what nobody has asked for yet (1 GiB, and not more
 * than a quarter of what is free). */
void reference_values_set_bounds(struct reference_values *reference, uint64_t memory, uint64_t disk);

/* Makes sure that these values are known for every sample. ERR_IO when they do not fit on the disk; errors of the data
 * loader and of the backend. The first call while the log is not muted says that the model is run, and on which
 * inputs. */
int reference_values_record(struct reference_values *reference, const struct value_list *wanted, struct error *err);

/* Says so if that is still to be said, that is, if all that was recorded was so with a muted log. */
void reference_values_announce(struct reference_values *reference);

/* A recorded value in the first sample. It belongs to `reference`. */
const struct tensor *reference_values_get(const struct reference_values *reference, uint32_t value);

/* How many samples there are (0 before anything was recorded), and a recorded value in one of them. */
size_t reference_values_samples(const struct reference_values *reference);
const struct tensor *reference_values_in(const struct reference_values *reference, uint32_t value, size_t sample);

/* True when a recorded value is the same in all samples. */
bool reference_values_agree(const struct reference_values *reference, uint32_t value);

/* The inputs and everything that nodes make, each once, but for what is no tensor: sequences, maps and the like. Types
 * that the model does not state are asked of ONNX Runtime, and described in `known`. */
void reference_values_list_tensors(const struct reference_values *reference, struct known_types *known,
                                   struct value_list *ret);

#endif
