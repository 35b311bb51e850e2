/* backend/trtexec/exported_output.h: values out of the file of `trtexec --exportOutput`: what is left for outputs whose
 * shape depends on data. The file is JSON only by chance: names are not escaped, and such an output has a sentence
 * among its values.
 *
 *   { "name" : "y"
 *   , "dimensions" : "-1x2"
 *   , "values" : [ Final shape is 2x2 reported by the output allocator.
 *   0, 1, 2, 3 ]
 */
#ifndef BACKEND_TRTEXEC_EXPORTED_OUTPUT_H
#define BACKEND_TRTEXEC_EXPORTED_OUTPUT_H

#include "tensor/values/tensor.h"

/* The output `name` of this type in the text of such a file. Values have six significant digits: only whole numbers are
 * exact, so that ERR_UNSUPPORTED is the answer for all other types. ERR_CORRUPT when it is not there, or damaged. */
int exported_output_read(struct text file, const char *name, enum data_type type, struct tensor *ret,
                         struct error *err);

#endif
