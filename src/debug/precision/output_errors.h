/* debug/precision/output_errors.h: errors of the outputs of a model in lower precision, against float32.
 *
 *   rc = output_reference_record(&reference, &measuring, err);                     the model in float32
 *   rc = output_reference_compare(&reference, &measuring, model, &error, err);     for each of the others
 *   output_reference_release(&reference);
 *
 * Both run with ONNX Runtime on the same data. The check may compare other data in another way, so this is measured
 * separately.
 */
#ifndef DEBUG_PRECISION_OUTPUT_ERRORS_H
#define DEBUG_PRECISION_OUTPUT_ERRORS_H

#include "backend/backend.h"
#include "engine/build/settings.h"
#include "engine/network/network.h"

/* The largest error of all outputs and samples. */
struct output_error {
    char *output;    /* output with the largest error; owned; NULL: nothing was compared yet */
    double absolute; /* infinite if only one of the two is NaN or infinite */
    double relative; /* `absolute` over the largest magnitude of that output in float32; infinite if that is 0 */
};

void output_error_release(struct output_error *error);

/* Adds the errors of these outputs against the expected ones with the same names. */
void output_error_add(struct output_error *error, const struct tensor_list *outputs,
                      const struct tensor_list *expected);

struct output_measuring {
    const struct network *network;          /* in float32 */
    const struct builder_settings *builder; /* its sample has the input data, all iterations */
    const struct backend_request *runtime;  /* options of ONNX Runtime; its model is not used */
};

struct output_reference {
    size_t samples;
    struct tensor_list *outputs; /* of each sample */
};

/* Errors: those of the data, of writing the model to the folder of temporary files, and of the runtime. */
int output_reference_record(struct output_reference *reference, const struct output_measuring *measuring,
                            struct error *err);
void output_reference_release(struct output_reference *reference); /* accepts a zeroed struct */

/* The same errors. `model` has the inputs and outputs of the network. */
int output_reference_compare(const struct output_reference *reference, const struct output_measuring *measuring,
                             struct model *model, struct output_error *ret, struct error *err);

#endif
