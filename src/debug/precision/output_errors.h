/* debug/precision/output_errors.h: how far the outputs of a model with lower precisions are from those in float32.
 *
 *   rc = output_reference_record(&reference, &measuring, err);                     the model in float32
 *   rc = output_reference_compare(&reference, &measuring, model, &error, err);     for each of the others
 *   output_reference_release(&reference);
 *
 * Both run with ONNX Runtime, on the same data. What a check compares, and with what, only the check knows: this is
 * measured apart from it.
 */
#ifndef DEBUG_PRECISION_OUTPUT_ERRORS_H
#define DEBUG_PRECISION_OUTPUT_ERRORS_H

#include "backend/backend.h"
#include "engine/build/settings.h"
#include "engine/network/network.h"

/* The largest of all outputs and samples. */
struct output_error {
    char *output;    /* where it was seen; owned, NULL: nothing was compared yet */
    double absolute; /* infinite where one of the two has a NaN, or an infinity that the other has not */
    double relative; /* the same over the largest magnitude of that output in float32; infinite where that is 0 */
};

void output_error_release(struct output_error *error);

/* Adds what these outputs are off by from those that are expected, each of its name. */
void output_error_add(struct output_error *error, const struct tensor_list *outputs,
                      const struct tensor_list *expected);

struct output_measuring {
    const struct network *network;          /* in float32 */
    const struct builder_settings *builder; /* its sample is what is fed, all iterations */
    const struct backend_request *runtime;  /* options of ONNX Runtime; its model is not used */
};

struct output_reference {
    size_t samples;
    struct tensor_list *outputs; /* of each sample */
};

/* Errors of the data, of writing the model to the folder of temporary files, and of the runtime. */
int output_reference_record(struct output_reference *reference, const struct output_measuring *measuring,
                            struct error *err);
void output_reference_release(struct output_reference *reference); /* harmless on a zeroed struct */

/* The same errors. `model` has the inputs and outputs of the network. */
int output_reference_compare(const struct output_reference *reference, const struct output_measuring *measuring,
                             struct model *model, struct output_error *ret, struct error *err);

#endif
