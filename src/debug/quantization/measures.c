/* debug/quantization/measures.c: see measures.h. */
#include "debug/quantization/measures.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "onnx/quantizer/quantizer.h"
#include "tensor/quantization/levels.h"
#include "tensor/values/elements.h"

#define MOST_OF_THEM 0.999 /* share of the values: see `reach` */

/* The values of one scale: a channel, a block, or the tensor. */
struct share {
    struct noise noise;
    size_t elements;
    int64_t level; /* level of the first value */
    bool varies, has_values_but_zero;
};

struct tensor_measuring {
    const struct quantizer *quantizer;
    struct levels levels;
    const float *scales;
    struct share *shares; /* one for each scale */
    size_t scale_count;
    uint64_t *reached;  /* number of values at each level; NULL: too many levels */
    uint64_t *distance; /* number of values at each distance in steps from zero; as many as levels */
    size_t elements, not_finite, clipped, clipped_below, zeroed;
    float least, largest; /* of finite values; INFINITY and -INFINITY before the first */
    float least_let_through, largest_let_through;
    bool of_stored;
};

/* ---- Scales ---- */

int tensor_measuring_new(const struct quantizer *quantizer, struct tensor_measuring **ret, struct error *err)
{
    struct tensor_measuring *measuring = memory_alloc_zero(1, sizeof(*measuring));

    measuring->quantizer = quantizer;
    measuring->least = INFINITY;
    measuring->largest = -INFINITY;
    tensor_measuring_bound(measuring, -INFINITY, INFINITY);
    if (!levels_init(&measuring->levels, quantizer->type) || quantizer->scale.type != DATA_FLOAT32) {
        tensor_measuring_free(measuring);
        return error_set(err, ERR_UNSUPPORTED, "'%s' is quantized to %s", quantizer->name,
                         data_type_name(quantizer->type));
    }
    measuring->scales = quantizer->scale.data;
    measuring->scale_count = tensor_elements(&quantizer->scale);
    measuring->shares = calloc(measuring->scale_count + 1, sizeof(*measuring->shares));
    measuring->reached = calloc(measuring->levels.count + 1, sizeof(*measuring->reached));
    measuring->distance = calloc(measuring->levels.count + 1, sizeof(*measuring->distance));
    if (measuring->shares == NULL || measuring->reached == NULL || measuring->distance == NULL) {
        tensor_measuring_free(measuring);
        return error_set(err, ERR_MEMORY, "no memory for %zu scales of '%s'", tensor_elements(&quantizer->scale),
                         quantizer->name);
    }
    *ret = measuring;
    return 0;
}

void tensor_measuring_free(struct tensor_measuring *measuring)
{
    if (measuring == NULL)
        return;
    free(measuring->shares);
    free(measuring->reached);
    free(measuring->distance);
    free(measuring);
}

void tensor_measuring_bound(struct tensor_measuring *measuring, float least, float largest)
{
    measuring->least_let_through = least;
    measuring->largest_let_through = largest;
}

static int lay_out(const struct tensor_measuring *measuring, const struct shape *shape, struct scale_layout *ret,
                   struct error *err)
{
    SCOPED_STRING(text);

    if (scale_layout_of(measuring->quantizer, shape, ret))
        return 0;
    shape_to_text(shape, &text);
    return error_set(err, ERR_INVALID, "the %zu scales of '%s' do not match its shape %s", measuring->scale_count,
                     measuring->quantizer->name, text.data);
}

/* ---- Values ---- */

/* Number of steps from zero; for floating types, from the level 0. */
static size_t steps_from_zero(const struct tensor_measuring *measuring, int64_t level, int64_t zero_point)
{
    const struct levels *levels = &measuring->levels;
    int64_t zero = levels->are_integers ? zero_point - levels->lowest : (int64_t)levels->count / 2;
    int64_t steps = level > zero ? level - zero : zero - level;

    return (size_t)steps < levels->count ? (size_t)steps : levels->count - 1;
}

static void note_level(struct tensor_measuring *measuring, size_t scale, int64_t zero_point, int64_t level)
{
    struct share *share = &measuring->shares[scale];

    if (share->elements++ == 0)
        share->level = level;
    share->varies |= level != share->level;
    if (measuring->levels.count > 0) {
        measuring->reached[level]++;
        measuring->distance[steps_from_zero(measuring, level, zero_point)]++;
    }
}

static bool is_usable(float scale)
{
    return (scale > 0 || scale < 0) && isfinite(scale);
}

/* Adds a finite value and the level in its place; `clipped`: it is out of the range of the levels. */
static void note_quantized(struct tensor_measuring *measuring, size_t scale, float value, int64_t level, bool clipped)
{
    struct share *share = &measuring->shares[scale];
    float size = measuring->scales[scale];
    int64_t zero_point = quantizer_zero_point(measuring->quantizer, scale);
    double dequantized, error;

    measuring->least = fminf(measuring->least, value);
    measuring->largest = fmaxf(measuring->largest, value);
    note_level(measuring, scale, zero_point, level);
    measuring->clipped += clipped;
    measuring->clipped_below += clipped && level == 0;
    share->has_values_but_zero |= value != 0;
    dequantized = is_usable(size) ? (double)(levels_value(&measuring->levels, level, zero_point) * size) : 0;
    measuring->zeroed += value != 0 && dequantized == 0;
    error = (double)value - dequantized;
    share->noise.signal += (double)value * (double)value;
    share->noise.noise += error * error;
}

/* The level of a stored number: an integer, or a float of few bits. */
static int64_t stored_level(const struct tensor_measuring *measuring, double number, int64_t zero_point)
{
    bool clipped;

    return levels_find(&measuring->levels, (float)(number - (double)zero_point), zero_point, &clipped);
}

/* `stored`: the number in place of the value; NULL: the value rounded to the nearest level. */
static void note_value(struct tensor_measuring *measuring, size_t scale, float value, const double *stored)
{
    float size = measuring->scales[scale];
    int64_t zero_point = quantizer_zero_point(measuring->quantizer, scale), level;
    bool clipped = false;

    measuring->elements++;
    if (!isfinite(value) || (stored != NULL && !isfinite(*stored))) {
        measuring->not_finite++;
        return;
    }
    value = fminf(fmaxf(value, measuring->least_let_through), measuring->largest_let_through);
    level = levels_find(&measuring->levels, is_usable(size) ? value / size : 0, zero_point, &clipped);
    if (stored != NULL)
        level = stored_level(measuring, *stored, zero_point);
    note_quantized(measuring, scale, value, level, clipped);
}

/* Adds values, and the numbers stored in their place, if `stored` is not NULL. */
static int add_values(struct tensor_measuring *measuring, const struct tensor *values, const struct tensor *stored,
                      struct error *err)
{
    enum arithmetic arithmetic = elements_arithmetic(values->type);
    size_t total = tensor_elements(values);
    struct scale_layout layout;
    float numbers[ELEMENTS_RUN];
    double wide[ELEMENTS_RUN], levels[ELEMENTS_RUN];
    int rc = lay_out(measuring, &values->shape, &layout, err);

    if (rc < 0)
        return rc;
    if (arithmetic != ARITHMETIC_FLOAT32 && arithmetic != ARITHMETIC_FLOAT64)
        return error_set(err, ERR_UNSUPPORTED, "the tensor that '%s' is quantized from is %s",
                         measuring->quantizer->name, data_type_name(values->type));
    for (size_t first = 0; first < total; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(total, first);

        if (arithmetic == ARITHMETIC_FLOAT32) {
            elements_to_float32(values, first, count, numbers);
        } else {
            elements_to_float64(values, first, count, wide);
            for (size_t i = 0; i < count; i++)
                numbers[i] = (float)wide[i];
        }
        if (stored != NULL)
            elements_to_float64(stored, first, count, levels);
        for (size_t i = 0; i < count; i++)
            note_value(measuring, scale_layout_index(&layout, first + i), numbers[i],
                       stored != NULL ? &levels[i] : NULL);
    }
    return 0;
}

int tensor_measuring_add(struct tensor_measuring *measuring, const struct tensor *values, struct error *err)
{
    return add_values(measuring, values, NULL, err);
}

static int check_stored(const struct tensor_measuring *measuring, const struct tensor *stored, struct error *err)
{
    return stored->type == measuring->quantizer->type
               ? 0
               : error_set(err, ERR_INVALID, "'%s' is %s, not %s", measuring->quantizer->name,
                           data_type_name(stored->type), data_type_name(measuring->quantizer->type));
}

int tensor_measuring_add_pair(struct tensor_measuring *measuring, const struct tensor *values,
                              const struct tensor *stored, struct error *err)
{
    int rc = check_stored(measuring, stored, err);

    if (rc == 0 && !shape_equal(&values->shape, &stored->shape))
        rc = error_set(err, ERR_INVALID, "the float values of '%s' have another shape", measuring->quantizer->name);
    return rc < 0 ? rc : add_values(measuring, values, stored, err);
}

int tensor_measuring_add_stored(struct tensor_measuring *measuring, const struct tensor *stored, struct error *err)
{
    size_t total = tensor_elements(stored);
    struct scale_layout layout;
    int rc = lay_out(measuring, &stored->shape, &layout, err);

    if (rc == 0)
        rc = check_stored(measuring, stored, err);
    if (rc < 0)
        return rc;
    measuring->of_stored = true;
    for (size_t first = 0; first < total; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(total, first);
        double numbers[ELEMENTS_RUN];

        elements_to_float64(stored, first, count, numbers);
        for (size_t i = 0; i < count; i++) {
            size_t scale = scale_layout_index(&layout, first + i);
            int64_t zero_point = quantizer_zero_point(measuring->quantizer, scale);

            measuring->elements++;
            if (!isfinite(numbers[i])) {
                measuring->not_finite++;
                continue;
            }
            note_level(measuring, scale, zero_point, stored_level(measuring, numbers[i], zero_point));
            measuring->shares[scale].has_values_but_zero |= numbers[i] != (double)zero_point;
        }
    }
    return 0;
}

/* ---- Results ---- */

/* Distance from zero after this many steps, at least one, in units of the scale: levels of floating types are not
 * equidistant. */
static double distance_of(const struct levels *levels, size_t steps)
{
    if (steps == 0)
        steps = 1;
    return levels->are_integers ? (double)steps : (double)levels->values[levels->count / 2 + steps];
}

static void measure_levels(const struct tensor_measuring *measuring, struct tensor_measures *ret)
{
    size_t count = measuring->levels.count, low = 0, high = count, within = 0, farthest = count;
    uint64_t finite = measuring->elements - measuring->not_finite, sum = 0;
    size_t near_end = measuring->levels.are_integers && measuring->levels.lowest < 0 ? 1 : 0;
    uint64_t ends;

    while (low < count && measuring->reached[low] == 0)
        low++;
    if (low == count)
        return;
    while (measuring->reached[high - 1] == 0)
        high--;
    ret->unused = 1 - (double)(high - low) / (double)count;
    ends = measuring->reached[0] + measuring->reached[count - 1] + (near_end ? measuring->reached[1] : 0);
    ret->at_ends = (double)ends / (double)finite;
    while (farthest > 1 && measuring->distance[farthest - 1] == 0)
        farthest--;
    farthest--;
    for (within = 0; within < farthest; within++) {
        sum += measuring->distance[within];
        if ((double)sum >= MOST_OF_THEM * (double)finite)
            break;
    }
    ret->reach = distance_of(&measuring->levels, farthest) / distance_of(&measuring->levels, within);
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return (x > y) - (x < y);
}

static bool is_dead(const struct share *share)
{
    return share->elements > 0 && (!share->has_values_but_zero || (share->elements > 1 && !share->varies));
}

static void measure_scales(const struct tensor_measuring *measuring, struct tensor_measures *ret)
{
    float *alive SCOPED_FREE = memory_alloc_zero(measuring->scale_count + 1, sizeof(*alive));
    size_t count = 0;

    for (size_t i = 0; i < measuring->scale_count; i++) {
        const struct share *share = &measuring->shares[i];

        ret->dead_scales += is_dead(share);
        if (is_usable(measuring->scales[i]) && !is_dead(share))
            alive[count++] = fabsf(measuring->scales[i]);
        if (measuring->scale_count > 1 && !measuring->of_stored && share->elements > 0 && share->noise.signal > 0) {
            double ratio = noise_ratio(&share->noise);

            if (isnan(ret->worst_signal_to_noise) || ratio < ret->worst_signal_to_noise) {
                ret->worst_signal_to_noise = ratio;
                ret->worst_scale = i;
            }
        }
    }
    qsort(alive, count, sizeof(*alive), compare_floats);
    for (size_t i = 0; i < count; i++)
        ret->outlying_scales +=
            alive[i] > OUTLYING_SCALE * alive[count / 2] || alive[i] * OUTLYING_SCALE < alive[count / 2];
}

void tensor_measuring_finish(const struct tensor_measuring *measuring, struct tensor_measures *ret)
{
    size_t finite = measuring->elements - measuring->not_finite;
    struct noise noise = {0};

    *ret = (struct tensor_measures){.elements = measuring->elements,
                                    .not_finite = measuring->not_finite,
                                    .least = NAN,
                                    .largest = NAN,
                                    .signal_to_noise = NAN,
                                    .clipped = NAN,
                                    .clipped_below = NAN,
                                    .zeroed = NAN,
                                    .at_ends = NAN,
                                    .unused = NAN,
                                    .reach = NAN,
                                    .scales = measuring->scale_count,
                                    .worst_signal_to_noise = NAN};
    if (finite == 0)
        return;
    measure_scales(measuring, ret);
    if (measuring->levels.count > 0)
        measure_levels(measuring, ret);
    if (measuring->of_stored)
        return;
    ret->least = measuring->least;
    ret->largest = measuring->largest;
    for (size_t i = 0; i < measuring->scale_count; i++) {
        noise.signal += measuring->shares[i].noise.signal;
        noise.noise += measuring->shares[i].noise.noise;
    }
    ret->signal_to_noise = noise_ratio(&noise);
    ret->clipped = (double)measuring->clipped / (double)finite;
    ret->zeroed = (double)measuring->zeroed / (double)finite;
    ret->clipped_below = (double)measuring->clipped_below / (double)finite;
}
