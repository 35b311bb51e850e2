/* bench/compare_speed.c: the time to compare two large outputs, and the time to only read them.
 *
 *   compare_speed ELEMENTS ROUNDS
 *
 * Prints two medians in seconds: comparing two float32 tensors of that many elements, and reading both from memory. As
 * in measure.c the two alternate, with real-time priority where it is permitted.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "tensor/compare/compare.h"

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

static uint64_t read_all(const struct tensor *tensor)
{
    const uint64_t *words = tensor->data;
    uint64_t sums[4] = {0};

    for (size_t i = 0; i + 4 <= tensor->size / 8; i += 4)
        for (size_t j = 0; j < 4; j++)
            sums[j] += words[i + j];
    return sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
}

static void fill(struct tensor *tensor, float step)
{
    float *values = tensor_writable(tensor);

    for (size_t i = 0; i < tensor_elements(tensor); i++)
        values[i] = (float)(i % 1000) * step;
}

int main(int argc, char **argv)
{
    struct shape shape = {.rank = 1, .dims = {argc == 3 ? strtoll(argv[1], NULL, 10) : 0}};
    size_t rounds = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    struct compare_options options = COMPARE_DEFAULTS;
    double *compared = calloc(rounds + 1, sizeof(double)), *read = calloc(rounds + 1, sizeof(double));
    volatile uint64_t sink = 0;
    struct tensor a, b;
    struct error err = {0};

    if (rounds == 0 || tensor_allocate(DATA_FLOAT32, &shape, &a, &err) < 0 ||
        tensor_allocate(DATA_FLOAT32, &shape, &b, &err) < 0) {
        fprintf(stderr, "compare_speed: usage: compare_speed ELEMENTS ROUNDS %s\n", err.message);
        return 2;
    }
    fill(&a, 0.5f);
    fill(&b, 0.5f);
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
    for (size_t i = 0; i < rounds; i++) {
        struct compare_result result;
        double start = stopwatch_now();

        sink ^= read_all(&a) ^ read_all(&b);
        read[i] = stopwatch_now() - start;
        start = stopwatch_now();
        if (compare_outputs(&a, &b, &options, &result, &err) < 0 || !result.passed)
            return 2;
        compared[i] = stopwatch_now() - start;
    }
    (void)sink; /* keeps the compiler from removing the reads */
    qsort(compared, rounds, sizeof(double), by_size);
    qsort(read, rounds, sizeof(double), by_size);
    printf("%.6f %.6f\n", compared[rounds / 2], read[rounds / 2]);
    return 0;
}
