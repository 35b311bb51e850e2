/* debug/accuracy/ranges.h: what the tensors of the model range over in the reference. */
#ifndef DEBUG_ACCURACY_RANGES_H
#define DEBUG_ACCURACY_RANGES_H

#include "debug/accuracy/investigation.h"
#include "onnx/model/model.h"

/* Of all elements, whatever the iteration. */
struct known_range {
    bool is_known;
    bool has_nans, has_infinities;
    double largest;  /* magnitude of finite elements */
    double smallest; /* of those that are not 0; 0: there are none */
    double mean;     /* magnitude; NAN: not known */
};

/* Has the reference give out all tensors (accuracy_make_values()), and looks at constants and input data, too. `*ret`
 * has a range for each value of the model, which is the investigation's, with Constant nodes as initializers; it is the
 * caller's to free. Only floating-point numbers are known. */
int ranges_read(struct investigation *investigation, const struct model *model, struct known_range **ret,
                struct error *err);

#endif
