/* debug/models/weights.h: how a weight of one model relates to a weight of another one. */
#ifndef DEBUG_MODELS_WEIGHTS_H
#define DEBUG_MODELS_WEIGHTS_H

#include "tensor/values/tensor.h"

enum weight_relation_kind {
    WEIGHT_IS_EQUAL,      /* type, shape and content */
    WEIGHT_IS_CONVERTED,  /* equal, rounded to another type */
    WEIGHT_IS_RESHAPED,   /* the same elements in the same order */
    WEIGHT_IS_TRANSPOSED, /* `axes` */
    WEIGHT_IS_REORDERED,  /* slices along `axis` in another order; `axis` is the rank if it is any other order */
    WEIGHT_IS_SCALED,     /* `scale` */
    WEIGHT_SLICES_DIFFER, /* `differing` of the slices along `axis`, the first one at `first` */
    WEIGHT_DIFFERS,
    WEIGHT_IS_INCOMPARABLE, /* other numbers of elements, or types without arithmetic */
};

struct weight_relation {
    enum weight_relation_kind kind;
    size_t axes[TENSOR_MAX_RANK]; /* axis i of the second weight is axis axes[i] of the first one */
    struct shape shapes[2];
    enum data_type types[2];
    size_t axis, first, differing; /* slices */
    double scale;                  /* of all elements, or of the differing slices; NAN: they are no multiple */
    double error;                  /* largest difference, relative to the largest magnitude of the first weight */
};

/* Finds the relation of `b` to `a`. Elements of different types are equal if they differ by rounding to the type with
 * fewer digits. */
void weight_relate(const struct tensor *a, const struct tensor *b, struct weight_relation *ret);

/* Whether the two weights have equal elements in the same order. */
bool weight_relation_is_harmless(const struct weight_relation *relation);

/* Appends the predicate of a sentence about the second weight: "is transposed", "is 2 times A's". */
void weight_relation_describe(const struct weight_relation *relation, struct string_builder *ret);

#endif
