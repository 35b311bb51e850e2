/* debug/accuracy/misfit.h: what of a tensor's values a type of lower precision cannot hold.
 *
 * This is where to look, and how to put it. That it matters is seen by experiments alone.
 */
#ifndef DEBUG_ACCURACY_MISFIT_H
#define DEBUG_ACCURACY_MISFIT_H

#include "debug/accuracy/part.h"
#include "debug/accuracy/ranges.h"

/* Of floating-point numbers. */
struct format {
    const char *name;
    double largest, smallest_normal;
    double flushed; /* what is not greater becomes 0 */
};

extern const struct format format_float16, format_bfloat16;

/* From one to the next it is worse. */
enum misfit {
    FITS,
    HAS_TINY,     /* some of it becomes 0, as in most tensors: says little */
    IS_SUBNORMAL, /* all of it has fewer digits */
    IS_FLUSHED,   /* all of it becomes 0 */
    IS_TOO_LARGE,
};

/* The worst misfit in what a node reads and makes, and whose it is; its own outputs come first. Without a format all
 * fits. */
enum misfit misfit_at_node(const struct format *format, const struct model *model, const struct known_range *ranges,
                           uint32_t node, uint32_t *ret_value);

/* "'logits', which 'scores' (MatMul) makes, reaches 72489; float16 ends at 65504" */
const char *misfit_describe(struct parts *parts, const struct format *format, const struct known_range *range,
                            uint32_t value, uint32_t node, enum misfit misfit);

#endif
