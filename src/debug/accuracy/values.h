/* debug/accuracy/values.h: what the reference has in the tensors inside of the model. */
#ifndef DEBUG_ACCURACY_VALUES_H
#define DEBUG_ACCURACY_VALUES_H

#include "debug/accuracy/investigation.h"

/* Has the reference give out all tensors, once: `values` of the investigation is for --load-outputs then, and
 * `layerwise`, which holds the model's inputs as well, for --load-inputs of any part of it. Both are safetensors, or
 * JSON where a tensor is of a type that these do not have. ERR_BACKEND when the model does not run like that. */
int accuracy_make_values(struct investigation *investigation, struct error *err);

/* Gives a part of the model data of its own: its inputs from `layerwise` (made before), its golden outputs by the
 * reference. The files are called FOLDER/NAME_inputs.json and FOLDER/NAME_golden.json. */
int accuracy_make_case(struct investigation *investigation, const char *model, const char *name,
                       struct failing_case *ret, struct error *err);

#endif
