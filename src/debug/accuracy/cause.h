/* debug/accuracy/cause.h: what an investigation has found, as data. */
#ifndef DEBUG_ACCURACY_CAUSE_H
#define DEBUG_ACCURACY_CAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/container/arena.h"
#include "base/text/text.h"

enum cause_kind {
    CAUSE_UNKNOWN,
    CAUSE_NAN,        /* the model itself makes NaN or infinities, in the reference, too */
    CAUSE_NODE,       /* these nodes are computed wrongly, each alone */
    CAUSE_OVERFLOW,   /* values beyond what the type of lower precision holds */
    CAUSE_UNDERFLOW,  /* values too small for it */
    CAUSE_PRECISION,  /* these nodes need the higher precision */
    CAUSE_TACTIC,     /* a kernel of the engine */
    CAUSE_FUSION,     /* right one by one, wrong when they are fused */
    CAUSE_RACE,       /* runs of the same build differ */
    CAUSE_REFUSED,    /* the suspect does not run the model */
    CAUSE_REFERENCE,  /* the reference's own optimizations */
    CAUSE_PART,       /* these nodes together; no single one is to blame */
    CAUSE_SATURATION, /* of uint8 x int8 products in ONNX Runtime, on this processor */
};

/* "tactic": as --json and reports call it. */
const char *cause_kind_name(enum cause_kind kind);

/* What makes the whole model pass. Nothing of it: no mend is known. */
struct mend {
    const char *what;     /* "another tactic" */
    struct words options; /* for the suspect, beside its own */
    const char *model;    /* to run instead of the original; NULL: the original */
    int64_t comparisons;  /* of the whole model that were seen to agree so already */
    bool holds;           /* seen to pass, so often that it is not by chance */
};

/* All of it lives as long as the investigation. */
struct cause {
    enum cause_kind kind;
    const char *sentence; /* "'scores' (MatMul) reaches 72489; float16 ends at 65504" */
    struct words nodes;   /* names of the model's */
    struct words tensors;
    const char *tactic; /* NULL: none */
    struct {
        const char **items; /* what was seen, a sentence each */
        size_t count, capacity;
    } proof;
    bool whole_agrees; /* seen of the whole model once these nodes are right; of one that was refused, that it runs */
    bool proven;       /* the minimal case was seen to fail anew, and the whole model to agree without it */
    struct mend mend;
};

#endif
