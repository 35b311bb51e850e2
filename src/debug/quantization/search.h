/* debug/quantization/search.h: which quantizers have to be left out for the check to pass, and what may stand in their
 * place.
 *
 * All quantizers left out, then none of them are checked first: the one has to pass, the other to fail. Then a search
 * (search/sets/precision_search.h) goes through them in the order of what they cost, and leaves a set of which each was
 * seen to be needed. Of that answer more is asked, and seen: whether other scales, more of them, or more bits are
 * enough where a quantizer would be left out; and whether the check also passes without all that a list of nodes takes
 * away (exclusion.h).
 */
#ifndef DEBUG_QUANTIZATION_SEARCH_H
#define DEBUG_QUANTIZATION_SEARCH_H

#include "debug/precision/precision.h"
#include "debug/quantization/exclusion.h"
#include "debug/quantization/subject.h"
#include "onnx/quantizer/refine.h"

struct quantization_search_settings {
    const struct quantization_subject *subject;
    const double *scores;                 /* what each quantizer costs; those that cost more are left out first */
    const struct quantizer_range *ranges; /* of each quantizer, what was seen of its values */
    bool refines;                         /* tries other scales, more scales and more bits before it leaves out */
    const char *artifact;                 /* where candidates are; they find their external data beside it */
    bool keep_artifact;                   /* the last one stays */
    bool copy_weights;                    /* candidates share no external data with the original */
    bool take_over;                       /* what lies there is from the session that goes on */
    struct log *log;
};

/* What becomes of quantizers. */
struct quantizer_changes {
    struct bitset off;              /* left out */
    enum quantizer_refinement *how; /* of each of the others */
};

struct quantization_answer {
    struct precision_result search;  /* `chosen`: the quantizers to leave out, `lowered`: those that can be */
    struct quantizer_changes repair; /* what the check was seen to pass with: these left out, or changed */
    bool has_microsoft;              /* 16 bits are com.microsoft's there: only ONNX Runtime has them */
    bool refining_failed;            /* all that can take the place of leaving out was tried, and nothing is enough */
    const char *why_not_refined;     /* nothing can take its place: why, of the first that was found; or NULL */
    int64_t *axes; /* of each changed quantizer, in the repaired model: along which there are scales; -1: one for all.
                    * NULL: none was changed */
    struct quantizer_exclusion exclusions[EXCLUSION_STYLES];
};

/* ERR_INVALID when no quantizer can be left out. `ret` is to be released, also after an error. */
int quantization_search(const struct quantization_search_settings *settings, struct debug_session *session,
                        struct quantization_answer *ret, struct error *err);
void quantization_answer_release(struct quantization_answer *answer);

/* Saves the model with these changes, durably. External data that it refers to are made reachable beside it. `ranges`
 * are those of the search. */
int quantization_save(const struct quantization_subject *subject, const struct quantizer_range *ranges,
                      const struct quantizer_changes *changes, const char *path, struct error *err);

/* The same without any quantizer that can be left out; `ret_count`: how many those are. */
int quantization_save_without_any(const struct quantization_subject *subject, const char *path, size_t *ret_count,
                                  struct error *err);

#endif
