/* debug/quantization/search.h: finds the quantizers to disable for the check to pass, and alternatives to disabling
 * them.
 *
 * All quantizers disabled, then none disabled are checked first: the one has to pass, the other to fail. Then a search
 * (search/sets/precision_search.h) goes through them in the order of their costs and finds a 1-minimal set. The result
 * is examined further by checks: whether other scales, more scales or more bits are enough instead of disabling a
 * quantizer; and whether the check also passes with all quantizers omitted that a list of nodes excludes (exclusion.h).
 *
 */
#ifndef DEBUG_QUANTIZATION_SEARCH_H
#define DEBUG_QUANTIZATION_SEARCH_H

#include "debug/precision/precision.h"
#include "debug/quantization/changes.h"
#include "debug/quantization/exclusion.h"
#include "debug/quantization/subject.h"

struct quantization_search_settings {
    const struct quantization_subject *subject;
    const double *scores;                 /* cost of each quantizer; expensive ones are disabled first */
    const struct quantizer_range *ranges; /* observed range of each quantizer's values */
    bool refines;                         /* try other scales, more scales and more bits before disabling */
    const char *artifact;                 /* path of candidates; their external data are next to it */
    bool keep_artifact;                   /* the last candidate is not removed */
    bool copy_weights;                    /* candidates share no external data with the original */
    bool take_over;                       /* existing files are of the resumed session */
    struct log *log;
};

struct quantization_answer {
    struct precision_result search;  /* `chosen`: the quantizers to disable, `lowered`: those that can be */
    struct quantizer_changes repair; /* changes with which the check passes */
    bool has_microsoft;              /* 16-bit quantizers are in the domain com.microsoft, which only ONNX Runtime
                                      * supports */
    bool refining_failed;            /* all alternatives to disabling were tried, and none is enough */
    const char *why_not_refined;     /* reason why no alternative exists, for the first quantizer found; or NULL */
    int64_t *axes; /* axis of the scales of each changed quantizer in the repaired model; -1: one scale. NULL: none
                    * changed */
    struct quantizer_exclusion exclusions[EXCLUSION_STYLES];
};

/* ERR_INVALID if no quantizer can be disabled. Release `ret`, also after an error. */
int quantization_search(const struct quantization_search_settings *settings, struct debug_session *session,
                        struct quantization_answer *ret, struct error *err);
void quantization_answer_release(struct quantization_answer *answer);

#endif
