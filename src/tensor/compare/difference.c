/* tensor/compare/difference.c: differences of runs of elements.
 *
 * Most comparisons are of large float32 tensors, so their loops are written for vectorising compilers: no branches,
 * fixed lengths, floating sums in separate lanes (compilers must not reorder a sum), and maxima of bit patterns, which
 * sort like the magnitudes that they represent, NaN last.
 */
#include "tensor/compare/difference.h"

#include "tensor/statistics/range.h"
#include "tensor/values/float_bits.h"

#include <math.h>

enum { LANES = 16 };

static const double zero_replacement = 0x1p-52;

/* Also compiles a function for AVX2 and selects it at load time; other platforms use the compiler's baseline. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__has_attribute)
#if __has_attribute(target_clones)
#define FOR_WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#endif
#endif
#ifndef FOR_WIDE_VECTORS
#define FOR_WIDE_VECTORS
#endif

void pair_init(struct pair *pair, const struct tensor *a, const struct tensor *b, bool infinities_equal,
               bool nans_equal)
{
    enum arithmetic kinds[] = {elements_arithmetic(a->type), elements_arithmetic(b->type)};
    bool both_integers = true, both_float32 = true, strings = false;

    for (int i = 0; i < 2; i++) {
        both_integers &= kinds[i] == ARITHMETIC_INTEGER;
        both_float32 &= kinds[i] == ARITHMETIC_FLOAT32 || (i == 0 ? a : b)->type == DATA_BOOL;
        strings |= kinds[i] == ARITHMETIC_NONE;
    }
    *pair = (struct pair){.a = a, .b = b, .infinities_equal = infinities_equal, .nans_equal = nans_equal};
    if (strings)
        pair->arithmetic = ARITHMETIC_NONE;
    else if (both_integers)
        pair->arithmetic = ARITHMETIC_INTEGER;
    else
        pair->arithmetic = both_float32 ? ARITHMETIC_FLOAT32 : ARITHMETIC_FLOAT64;
}

static bool replaces_zeros(const struct pair *pair)
{
    return data_type_is_float(pair->b->type);
}

double difference_greatest(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

/* --- float32 ------------------------------------------------------------------------------------------------------ */

enum { FLOAT32_MAGNITUDE = 0x7fffffff };

/* A whole run: a pointer into a float32 tensor, or a copy padded with ones, which do not affect the summary. */
static const float *float32_run(const struct tensor *tensor, size_t first, size_t count, float *buffer)
{
    if (tensor->type == DATA_FLOAT32 && count == ELEMENTS_RUN) {
        const float *data = (const float *)tensor->data + first;
        if ((uintptr_t)data % _Alignof(float) == 0)
            return data;
    }
    elements_to_float32(tensor, first, count, buffer);
    for (size_t i = count; i < ELEMENTS_RUN; i++)
        buffer[i] = 1;
    return buffer;
}

/* `equal` is all ones if equal infinities have difference 0; `replacement` contains the bits that replace a zero of b.
 * Returns whether b has a zero. */
FOR_WIDE_VECTORS
static bool float32_differences(const float *restrict a, const float *restrict b, uint32_t equal, uint32_t replacement,
                                float *restrict absolute, float *restrict relative)
{
    uint32_t zeros = 0;

    for (size_t i = 0; i < ELEMENTS_RUN; i++) {
        uint32_t difference = float32_bits(a[i] - b[i]) & FLOAT32_MAGNITUDE;
        uint32_t reference = float32_bits(b[i]) & FLOAT32_MAGNITUDE;
        uint32_t is_zero = -(uint32_t)(reference == 0);
        difference &= ~(-(uint32_t)(a[i] == b[i]) & equal);
        reference |= is_zero & replacement;
        zeros |= is_zero;
        absolute[i] = float32_of_bits(difference);
        relative[i] = float32_of_bits(difference) / float32_of_bits(reference);
    }
    return zeros != 0;
}

FOR_WIDE_VECTORS
static void float32_summarize(const float *restrict absolute, const float *restrict relative, float atol, float rtol,
                              struct difference_summary *ret)
{
    int32_t absolute_maximum = 0, relative_maximum = 0;
    uint32_t mismatches = 0;
    double absolute_sums[LANES] = {0}, relative_sums[LANES] = {0};

    for (size_t i = 0; i < ELEMENTS_RUN; i++) {
        int32_t absolute_bits = (int32_t)(float32_bits(absolute[i]) & FLOAT32_MAGNITUDE);
        int32_t relative_bits = (int32_t)(float32_bits(relative[i]) & FLOAT32_MAGNITUDE);
        absolute_maximum = absolute_bits > absolute_maximum ? absolute_bits : absolute_maximum;
        relative_maximum = relative_bits > relative_maximum ? relative_bits : relative_maximum;
        mismatches += !(absolute[i] <= atol) & !(relative[i] <= rtol);
    }
    for (size_t i = 0; i < ELEMENTS_RUN; i += LANES) {
        for (size_t lane = 0; lane < LANES; lane++) {
            absolute_sums[lane] += (double)absolute[i + lane];
            relative_sums[lane] += (double)relative[i + lane];
        }
    }
    *ret = (struct difference_summary){
        .absolute_maximum = (double)float32_of_bits((uint32_t)absolute_maximum),
        .relative_maximum = (double)float32_of_bits((uint32_t)relative_maximum),
        .mismatches = mismatches,
    };
    for (size_t lane = 0; lane < LANES; lane++) {
        ret->absolute_sum += absolute_sums[lane];
        ret->relative_sum += relative_sums[lane];
    }
}

/* Whether the difference of two elements is 0 although subtraction says otherwise: both are NaN, or masks of the same
 * sign, and the pair treats these as equal. */
static bool are_declared_equal(const struct pair *pair, double a, double b)
{
    if (pair->nans_equal && isnan(a) && isnan(b))
        return true;
    return pair->masks_equal && range_is_mask(pair->a->type, a) && range_is_mask(pair->b->type, b) &&
           (a < 0) == (b < 0) && (pair->infinities_equal || (isfinite(a) && isfinite(b)));
}

/* Both differences of a whole run of the pair. */
static bool float32_pair(const struct pair *pair, size_t first, size_t count, float *absolute, float *relative)
{
    float buffers[2][ELEMENTS_RUN];
    const float *a, *b;
    bool zeros;
    uint32_t equal = pair->infinities_equal ? UINT32_MAX : 0;
    uint32_t replacement = replaces_zeros(pair) ? float32_bits((float)zero_replacement) : 0;

    a = float32_run(pair->a, first, count, buffers[0]);
    b = float32_run(pair->b, first, count, buffers[1]);
    zeros = float32_differences(a, b, equal, replacement, absolute, relative);
    for (size_t i = 0; (pair->masks_equal || pair->nans_equal) && i < count; i++)
        if (are_declared_equal(pair, (double)a[i], (double)b[i]))
            absolute[i] = relative[i] = 0;
    return zeros;
}

/* --- the other kinds ---------------------------------------------------------------------------------------------- */

static bool float64_pair(const struct pair *pair, size_t first, size_t count, double *absolute, double *relative)
{
    double a[ELEMENTS_RUN], b[ELEMENTS_RUN];
    double replacement = replaces_zeros(pair) ? zero_replacement : 0;
    bool zeros = false;

    elements_to_float64(pair->a, first, count, a);
    elements_to_float64(pair->b, first, count, b);
    for (size_t i = 0; i < count; i++) {
        double reference = b[i] == 0 ? replacement : fabs(b[i]);
        zeros |= b[i] == 0;
        absolute[i] = pair->infinities_equal && a[i] == b[i] ? 0 : fabs(a[i] - b[i]);
        if (are_declared_equal(pair, a[i], b[i]))
            absolute[i] = 0;
        relative[i] = absolute[i] / reference;
    }
    return zeros;
}

static uint64_t integer_difference(uint64_t a, bool a_negative, uint64_t b, bool b_negative)
{
    if (a_negative == b_negative) /* in two's complement, order and distance are those of the bit patterns */
        return a > b ? a - b : b - a;
    uint64_t positive = a_negative ? b : a, negative = a_negative ? a : b;
    uint64_t difference = positive - negative;
    return difference < positive ? UINT64_MAX : difference;
}

static void integer_pair(const struct pair *pair, size_t first, size_t count, double *absolute, double *relative)
{
    uint64_t a[ELEMENTS_RUN], b[ELEMENTS_RUN];
    bool a_signed = data_type_is_signed(pair->a->type), b_signed = data_type_is_signed(pair->b->type);

    elements_to_integers(pair->a, first, count, a);
    elements_to_integers(pair->b, first, count, b);
    for (size_t i = 0; i < count; i++) {
        bool a_negative = a_signed && a[i] >> 63, b_negative = b_signed && b[i] >> 63;
        absolute[i] = (double)integer_difference(a[i], a_negative, b[i], b_negative);
        relative[i] = absolute[i] / (double)(b_negative ? 0 - b[i] : b[i]);
    }
}

static void string_pair(const struct pair *pair, size_t first, size_t count, double *absolute, double *relative)
{
    bool both = pair->a->type == DATA_STRING && pair->b->type == DATA_STRING;
    const struct text *a = pair->a->data, *b = pair->b->data;

    for (size_t i = 0; i < count; i++)
        absolute[i] = relative[i] = both && text_equal(a[first + i], b[first + i]) ? 0 : 1;
}

/* Everything but float32. Returns whether b has a floating zero. */
static bool other_pair(const struct pair *pair, size_t first, size_t count, double *absolute, double *relative)
{
    if (pair->arithmetic == ARITHMETIC_FLOAT64)
        return float64_pair(pair, first, count, absolute, relative);
    if (pair->arithmetic == ARITHMETIC_INTEGER)
        integer_pair(pair, first, count, absolute, relative);
    else
        string_pair(pair, first, count, absolute, relative);
    return false;
}

size_t pair_equal_nans(const struct pair *pair, size_t first, size_t count)
{
    double a[ELEMENTS_RUN], b[ELEMENTS_RUN];
    size_t ret = 0;

    if (pair->arithmetic != ARITHMETIC_FLOAT32 && pair->arithmetic != ARITHMETIC_FLOAT64)
        return 0;
    elements_to_float64(pair->a, first, count, a);
    elements_to_float64(pair->b, first, count, b);
    for (size_t i = 0; i < count; i++)
        ret += isnan(a[i]) && isnan(b[i]);
    return ret;
}

bool pair_mismatch(const struct pair *pair, const struct tolerance *tolerance, double absolute, double relative)
{
    if (pair->arithmetic == ARITHMETIC_NONE)
        return absolute > 0;
    if (pair->arithmetic == ARITHMETIC_FLOAT32)
        return !((float)absolute <= (float)tolerance->absolute) && !((float)relative <= (float)tolerance->relative);
    return !(absolute <= tolerance->absolute) && !(relative <= tolerance->relative);
}

static void other_summarize(const struct pair *pair, const double *absolute, const double *relative, size_t count,
                            const struct tolerance *tolerance, struct difference_summary *ret)
{
    *ret = (struct difference_summary){0};
    for (size_t i = 0; i < count; i++) {
        ret->absolute_sum += absolute[i];
        ret->relative_sum += relative[i];
        ret->absolute_maximum = difference_greatest(absolute[i], ret->absolute_maximum);
        ret->relative_maximum = difference_greatest(relative[i], ret->relative_maximum);
        ret->mismatches += pair_mismatch(pair, tolerance, absolute[i], relative[i]);
    }
}

void pair_differences(const struct pair *pair, size_t first, size_t count, double *absolute, double *relative)
{
    float narrow[2][ELEMENTS_RUN];

    if (pair->arithmetic != ARITHMETIC_FLOAT32) {
        other_pair(pair, first, count, absolute, relative);
        return;
    }
    float32_pair(pair, first, count, narrow[0], narrow[1]);
    for (size_t i = 0; i < count; i++) {
        absolute[i] = (double)narrow[0][i];
        relative[i] = (double)narrow[1][i];
    }
}

void pair_summarize(const struct pair *pair, size_t first, size_t count, const struct tolerance *tolerance,
                    struct difference_summary *ret)
{
    float narrow[2][ELEMENTS_RUN];
    double wide[2][ELEMENTS_RUN];
    bool zeros;

    if (pair->arithmetic == ARITHMETIC_FLOAT32) {
        zeros = float32_pair(pair, first, count, narrow[0], narrow[1]);
        float32_summarize(narrow[0], narrow[1], (float)tolerance->absolute, (float)tolerance->relative, ret);
    } else {
        zeros = other_pair(pair, first, count, wide[0], wide[1]);
        other_summarize(pair, wide[0], wide[1], count, tolerance, ret);
    }
    ret->zeros_replaced = zeros && replaces_zeros(pair);
}
