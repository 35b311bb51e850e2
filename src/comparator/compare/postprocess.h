/* comparator/compare/postprocess.h: outputs turned into rankings before they are compared. */
#ifndef COMPARATOR_COMPARE_POSTPROCESS_H
#define COMPARATOR_COMPARE_POSTPROCESS_H

#include "base/log.h"
#include "format/polygraphy/run_results.h"

struct top_k_rule {
    const char *output; /* a name or a pattern; "" is for all others, see base/text/names.h */
    int64_t k, axis;    /* as in tensor/compare/top_k.h */
};

/* Replaces the outputs that a rule is for, in all results, by the positions of their k largest values. Errors as in
 * tensor/compare/top_k.h; some outputs may have been replaced by then. */
int postprocess_top_k(struct run_results *results, const struct top_k_rule *rules, size_t count, struct error *err);

#endif
