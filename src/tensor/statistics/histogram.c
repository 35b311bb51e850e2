/* tensor/statistics/histogram.c: counting elements in ten equal bins. */
#include "tensor/statistics/histogram.h"

#include <math.h>
#include <string.h>

#include "base/text/number.h"
#include "tensor/values/elements.h"

enum { LONGEST_BAR = 40 };

void histogram_extend_range(const struct tensor *tensor, double *minimum, double *maximum)
{
    size_t elements = tensor_elements(tensor);
    double run[ELEMENTS_RUN];

    for (size_t first = 0; first < elements; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(elements, first);
        elements_to_float64(tensor, first, count, run);
        for (size_t i = 0; i < count; i++) {
            if (run[i] < *minimum && run[i] > -INFINITY)
                *minimum = run[i];
            if (run[i] > *maximum && run[i] < INFINITY)
                *maximum = run[i];
        }
    }
}

/* NumPy stores the edges in the type of the elements, and bins are determined by these rounded edges. */
static double round_like(enum data_type type, double value)
{
    if (type == DATA_FLOAT16)
        return (double)float16_to_float32(float64_to_float16(value));
    return elements_arithmetic(type) == ARITHMETIC_FLOAT32 ? float64_round_to_float32(value) : value;
}

static void place_edges(enum data_type type, double minimum, double maximum, double *ret)
{
    /* maximum - minimum may overflow, at most by a factor of two */
    double scale = isfinite(maximum - minimum) ? 1 : 0.5;
    double step = (maximum * scale - minimum * scale) / HISTOGRAM_BINS;

    for (int i = 0; i < HISTOGRAM_BINS; i++) {
        double distance = i * step; /* a separate statement: a fused multiply-add would round differently */
        ret[i] = round_like(type, (distance + minimum * scale) / scale);
    }
    ret[HISTOGRAM_BINS] = maximum;
}

static void count_in_bin(struct histogram *histogram, double value, double bins_per_unit)
{
    const double *edges = histogram->edges;

    if (!(value >= edges[0] && value <= edges[HISTOGRAM_BINS])) {
        histogram->outside++;
        return;
    }
    double place = (value - edges[0]) * bins_per_unit;
    int bin = place < HISTOGRAM_BINS ? (int)place : HISTOGRAM_BINS - 1;
    while (bin > 0 && value < edges[bin]) /* rounding may have given the neighbouring bin */
        bin--;
    while (bin < HISTOGRAM_BINS - 1 && value >= edges[bin + 1])
        bin++;
    histogram->counts[bin]++;
}

void histogram_compute(const struct tensor *tensor, double minimum, double maximum, struct histogram *ret)
{
    size_t elements = tensor_elements(tensor);
    double run[ELEMENTS_RUN];

    *ret = (struct histogram){.outside = 0};
    if (!isfinite(minimum) || !isfinite(maximum) || minimum > maximum) {
        ret->outside = elements;
        return;
    }
    if (minimum == maximum) {
        minimum -= 0.5;
        maximum += 0.5;
    }
    place_edges(tensor->type, minimum, maximum, ret->edges);
    double bins_per_unit = HISTOGRAM_BINS / (maximum - minimum);
    for (size_t first = 0; first < elements; first += ELEMENTS_RUN) {
        size_t count = elements_in_run(elements, first);
        elements_to_float64(tensor, first, count, run);
        for (size_t i = 0; i < count; i++)
            count_in_bin(ret, run[i], bins_per_unit);
    }
}

void histogram_to_text(const struct histogram *histogram, struct string_builder *text)
{
    char edges[HISTOGRAM_BINS + 1][NUMBER_TEXT_SIZE];
    int start_width = 0, end_width = 0;
    size_t most = 0;

    for (int i = 0; i <= HISTOGRAM_BINS; i++) {
        int width = (int)strlen(number_to_text_rounded(histogram->edges[i], 'g', 3, edges[i]));
        start_width = width > start_width ? width : start_width;
        end_width = i > 0 && width > end_width ? width : end_width;
    }
    for (int i = 0; i < HISTOGRAM_BINS; i++)
        most = histogram->counts[i] > most ? histogram->counts[i] : most;
    if (most == 0)
        return;
    string_add_format(text, "%-*s |  Num Elems | Visualization\n", start_width + end_width + 4, "Bin Range");
    for (int i = 0; i < HISTOGRAM_BINS; i++) {
        int bar = (int)((double)LONGEST_BAR * (double)histogram->counts[i] / (double)most);
        string_add_format(text, "(%-*s, %-*s) | %10zu | %.*s\n", start_width, edges[i], end_width, edges[i + 1],
                          histogram->counts[i], bar, "########################################");
    }
}
