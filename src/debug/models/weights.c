/* debug/models/weights.c: see weights.h. */
#include "debug/models/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "tensor/values/elements.h"

#define MOST_TRANSPOSED_AXES 4      /* all of their permutations are tried */
#define SCALE_TOLERANCE 0x1p-20     /* of a multiple in float32, rounded once or twice */
#define MOST_DIFFERING_SLICES 0.25F /* of an axis: more are a weight that differs as a whole */

/* Both weights as float64, and when two elements are equal. */
struct weight_pair {
    double *a, *b;
    size_t count;
    const struct shape *shape_a, *shape_b;
    double unit; /* relative rounding of the type with fewer digits; 0: equal types */
};

static bool are_equal_elements(const struct weight_pair *pair, double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 2 * pair->unit * fabs(a);
}

/* Whether `b` is `a` with its axes in this order. */
static bool are_equal_transposed(const struct weight_pair *pair, const size_t *axes)
{
    size_t rank = pair->shape_b->rank;
    size_t strides[MOST_TRANSPOSED_AXES], place[MOST_TRANSPOSED_AXES] = {0};
    size_t at = 0;

    for (size_t i = 0; i < rank; i++)
        strides[i] = shape_extent(pair->shape_a, axes[i] + 1, rank);
    for (size_t k = 0; k < pair->count; k++) {
        if (!are_equal_elements(pair, pair->a[at], pair->b[k]))
            return false;
        for (size_t i = rank; i-- > 0;) {
            at += strides[i];
            if (++place[i] < (size_t)pair->shape_b->dims[i])
                break;
            at -= strides[i] * place[i];
            place[i] = 0;
        }
    }
    return true;
}

static void swap_axes(size_t *one, size_t *other)
{
    size_t axis = *one;

    *one = *other;
    *other = axis;
}

/* The next permutation in lexicographic order; false after the last one. */
static bool advance_permutation(size_t *axes, size_t rank)
{
    size_t i = rank - 1, k = rank - 1;

    while (i > 0 && axes[i - 1] >= axes[i])
        i--;
    if (i == 0)
        return false;
    while (axes[k] <= axes[i - 1])
        k--;
    swap_axes(&axes[i - 1], &axes[k]);
    for (k = rank - 1; i < k; i++, k--)
        swap_axes(&axes[i], &axes[k]);
    return true;
}

static bool find_transposition(const struct weight_pair *pair, struct weight_relation *ret)
{
    size_t rank = pair->shape_a->rank;

    if (rank != pair->shape_b->rank || rank < 2 || rank > MOST_TRANSPOSED_AXES)
        return false;
    for (size_t i = 0; i < rank; i++)
        ret->axes[i] = i;
    while (advance_permutation(ret->axes, rank)) {
        bool fits = true;

        for (size_t i = 0; i < rank; i++)
            fits = fits && pair->shape_b->dims[i] == pair->shape_a->dims[ret->axes[i]];
        if (fits && are_equal_transposed(pair, ret->axes))
            return true;
    }
    return false;
}

static bool is_multiple(double a, double b, double scale)
{
    return fabs(b - scale * a) <= SCALE_TOLERANCE * fabs(scale * a);
}

/* ---- Slices along an axis ---- */

/* An axis of a weight, whose element [o, i, k] is at (o * size + i) * inner + k. */
struct weight_axis {
    size_t outer, size, inner;
};

static struct weight_axis find_weight_axis(const struct shape *shape, size_t axis)
{
    return (struct weight_axis){shape_extent(shape, 0, axis), (size_t)shape->dims[axis],
                                shape_extent(shape, axis + 1, shape->rank)};
}

/* The common factor of a slice; NAN if there is none. */
static double find_slice_scale(const struct weight_pair *pair, const struct weight_axis *axis, size_t slice)
{
    double scale = NAN, largest = 0;

    for (int pass = 0; pass < 2; pass++)
        for (size_t o = 0; o < axis->outer; o++)
            for (size_t k = 0; k < axis->inner; k++) {
                size_t at = (o * axis->size + slice) * axis->inner + k;

                if (pass == 0 && fabs(pair->a[at]) > largest) {
                    largest = fabs(pair->a[at]);
                    scale = pair->b[at] / pair->a[at];
                } else if (pass == 1 && !is_multiple(pair->a[at], pair->b[at], scale)) {
                    return NAN;
                }
            }
    return scale;
}

static void mark_differing_slices(const struct weight_pair *pair, const struct weight_axis *axis, bool *ret)
{
    for (size_t i = 0; i < pair->count; i++)
        if (!are_equal_elements(pair, pair->a[i], pair->b[i]))
            ret[i / axis->inner % axis->size] = true;
}

/* Chooses the axis with the smallest share of differing slices. */
static bool find_differing_slices(const struct weight_pair *pair, struct weight_relation *ret)
{
    double best = MOST_DIFFERING_SLICES;
    bool found = false;

    for (size_t i = 0; i < pair->shape_a->rank; i++) {
        struct weight_axis axis = find_weight_axis(pair->shape_a, i);
        bool *differs SCOPED_FREE = memory_alloc_zero(axis.size, sizeof(*differs));
        size_t count = 0, first = 0;

        mark_differing_slices(pair, &axis, differs);
        for (size_t k = axis.size; k-- > 0;)
            if (differs[k]) {
                count++;
                first = k;
            }
        if (axis.size < 2 || (double)count / (double)axis.size > best)
            continue;
        best = (double)count / (double)axis.size;
        found = true;
        ret->axis = i;
        ret->differing = count;
        ret->first = first;
        ret->scale = find_slice_scale(pair, &axis, first);
        for (size_t k = first + 1; k < axis.size; k++)
            if (differs[k] && !(fabs(find_slice_scale(pair, &axis, k) - ret->scale) <= SCALE_TOLERANCE))
                ret->scale = NAN;
    }
    return found;
}

static int compare_low_halves(const void *one, const void *other)
{
    const struct hash *a = one, *b = other;

    return (a->low > b->low) - (a->low < b->low);
}

static struct hash *hash_slices(const double *elements, const struct weight_axis *axis)
{
    struct hash *ret = memory_alloc_zero(axis->size, sizeof(*ret));

    for (size_t i = 0; i < axis->size; i++)
        for (size_t o = 0; o < axis->outer; o++)
            ret[i] = hash_combine(
                ret[i], hash_bytes(elements + (o * axis->size + i) * axis->inner, axis->inner * sizeof(*elements)));
    qsort(ret, axis->size, sizeof(*ret), compare_low_halves);
    return ret;
}

static int compare_doubles(const void *one, const void *other)
{
    double a = *(const double *)one, b = *(const double *)other;

    return (a > b) - (a < b);
}

/* Of equal types only: slices are found by their hashes. Sorts the elements of the pair in the end. */
static bool find_reordering(struct weight_pair *pair, struct weight_relation *ret)
{
    bool same_shape = shape_equal(pair->shape_a, pair->shape_b);

    for (size_t i = 0; same_shape && i < pair->shape_a->rank; i++) {
        struct weight_axis axis = find_weight_axis(pair->shape_a, i);
        struct hash *a SCOPED_FREE = hash_slices(pair->a, &axis);
        struct hash *b SCOPED_FREE = hash_slices(pair->b, &axis);

        ret->axis = i;
        if (memcmp(a, b, axis.size * sizeof(*a)) == 0)
            return true;
    }
    ret->axis = pair->shape_a->rank;
    qsort(pair->a, pair->count, sizeof(*pair->a), compare_doubles);
    qsort(pair->b, pair->count, sizeof(*pair->b), compare_doubles);
    return memcmp(pair->a, pair->b, pair->count * sizeof(*pair->a)) == 0;
}

/* ---- The relation ---- */

static double find_largest_difference(const struct weight_pair *pair)
{
    double largest = 0, difference = 0;

    for (size_t i = 0; i < pair->count; i++) {
        largest = fmax(largest, fabs(pair->a[i]));
        difference = fmax(difference, fabs(pair->a[i] - pair->b[i]));
    }
    return largest > 0 ? difference / largest : difference;
}

static bool have_equal_elements(const struct weight_pair *pair)
{
    for (size_t i = 0; i < pair->count; i++)
        if (!are_equal_elements(pair, pair->a[i], pair->b[i]))
            return false;
    return true;
}

static enum weight_relation_kind choose_relation(struct weight_pair *pair, struct weight_relation *ret)
{
    bool same_shape = shape_equal(pair->shape_a, pair->shape_b);

    if (have_equal_elements(pair))
        return !same_shape                      ? WEIGHT_IS_RESHAPED
               : ret->types[0] != ret->types[1] ? WEIGHT_IS_CONVERTED
                                                : WEIGHT_IS_EQUAL;
    if (find_transposition(pair, ret))
        return WEIGHT_IS_TRANSPOSED;
    ret->error = find_largest_difference(pair);
    ret->scale = find_slice_scale(pair, &(struct weight_axis){1, 1, pair->count}, 0);
    if (isfinite(ret->scale))
        return WEIGHT_IS_SCALED;
    if (same_shape && find_differing_slices(pair, ret))
        return WEIGHT_SLICES_DIFFER;
    return ret->types[0] == ret->types[1] && pair->count > 1 && find_reordering(pair, ret) ? WEIGHT_IS_REORDERED
                                                                                           : WEIGHT_DIFFERS;
}

void weight_relate(const struct tensor *a, const struct tensor *b, struct weight_relation *ret)
{
    struct weight_pair pair = {.count = tensor_elements(a), .shape_a = &a->shape, .shape_b = &b->shape};
    double units[] = {data_type_unit_roundoff(a->type), data_type_unit_roundoff(b->type)};

    *ret = (struct weight_relation){.kind = WEIGHT_IS_INCOMPARABLE,
                                    .shapes = {a->shape, b->shape},
                                    .types = {a->type, b->type},
                                    .scale = NAN,
                                    .error = NAN};
    if (tensor_identical(a, b)) {
        ret->kind = WEIGHT_IS_EQUAL;
        return;
    }
    if (pair.count == 0 || pair.count != tensor_elements(b) || elements_arithmetic(a->type) == ARITHMETIC_NONE ||
        elements_arithmetic(b->type) == ARITHMETIC_NONE)
        return;
    pair.unit = a->type != b->type ? fmax(units[0], units[1]) : 0;
    pair.a = memory_alloc(pair.count * sizeof(double));
    pair.b = memory_alloc(pair.count * sizeof(double));
    elements_to_float64(a, 0, pair.count, pair.a);
    elements_to_float64(b, 0, pair.count, pair.b);
    ret->kind = choose_relation(&pair, ret);
    free(pair.a);
    free(pair.b);
}

bool weight_relation_is_harmless(const struct weight_relation *relation)
{
    return relation->kind == WEIGHT_IS_EQUAL || relation->kind == WEIGHT_IS_CONVERTED ||
           relation->kind == WEIGHT_IS_RESHAPED;
}

/* ---- As text ---- */

static void describe_slices(const struct weight_relation *relation, struct string_builder *ret)
{
    if (relation->differing == 1)
        string_add_format(ret, "differs in channel %zu of axis %zu", relation->first, relation->axis);
    else
        string_add_format(ret, "differs in %zu of %lld channels of axis %zu, first in %zu", relation->differing,
                          (long long)relation->shapes[0].dims[relation->axis], relation->axis, relation->first);
    if (isfinite(relation->scale))
        string_add_format(ret, ": %.6g times A's", relation->scale);
    else
        string_add_format(ret, ", by %.3g of A's largest magnitude", relation->error);
}

static void add_both_shapes(const struct weight_relation *relation, struct string_builder *ret)
{
    shape_to_text(&relation->shapes[1], ret);
    string_add(ret, ", not ");
    shape_to_text(&relation->shapes[0], ret);
}

void weight_relation_describe(const struct weight_relation *relation, struct string_builder *ret)
{
    switch (relation->kind) {
    case WEIGHT_IS_EQUAL:
        string_add(ret, "equals A's");
        break;
    case WEIGHT_IS_CONVERTED:
        string_add_format(ret, "is %s, not %s, with equal values", data_type_name(relation->types[1]),
                          data_type_name(relation->types[0]));
        break;
    case WEIGHT_IS_RESHAPED:
        string_add(ret, "has the shape ");
        add_both_shapes(relation, ret);
        break;
    case WEIGHT_IS_TRANSPOSED:
        string_add(ret, "is transposed");
        if (relation->shapes[0].rank > 2) {
            string_add(ret, ": its axes are A's");
            for (size_t i = 0; i < relation->shapes[0].rank; i++)
                string_add_format(ret, "%s %zu", i > 0 ? "," : "", relation->axes[i]);
        }
        break;
    case WEIGHT_IS_REORDERED:
        if (relation->axis < relation->shapes[0].rank)
            string_add_format(ret, "has A's channels of axis %zu in another order", relation->axis);
        else
            string_add(ret, "has A's elements in another order");
        break;
    case WEIGHT_IS_SCALED:
        string_add_format(ret, "is %.6g times A's", relation->scale);
        break;
    case WEIGHT_SLICES_DIFFER:
        describe_slices(relation, ret);
        break;
    case WEIGHT_DIFFERS:
        string_add_format(ret, "differs from A's by %.3g of its largest magnitude", relation->error);
        break;
    case WEIGHT_IS_INCOMPARABLE:
        if (shape_equal(&relation->shapes[0], &relation->shapes[1])) {
            string_add(ret, "has another content than A's");
            break;
        }
        string_add(ret, "has the shape ");
        add_both_shapes(relation, ret);
        break;
    }
}
