/* tensor/generate/mersenne_twister.c: MT19937. Variable names follow the paper. */
#include "tensor/generate/mersenne_twister.h"

enum { N = MERSENNE_TWISTER_WORDS, M = 397 };

void mersenne_twister_seed(struct mersenne_twister *random, uint32_t seed)
{
    uint32_t *x = random->state;

    x[0] = seed;
    for (uint32_t i = 1; i < N; i++)
        x[i] = 1812433253U * (x[i - 1] ^ x[i - 1] >> 30) + i;
    random->next = N;
}

/* The upper bit of `u` and the lower bits of `v`, multiplied by the matrix A. */
static uint32_t twist_words(uint32_t u, uint32_t v)
{
    uint32_t y = (u & 0x80000000) | (v & 0x7fffffff);

    return y >> 1 ^ (-(y & 1) & 0x9908b0df);
}

/* In three loops, so that no index needs modulo N. */
static void generate_block(uint32_t *x)
{
    for (unsigned i = 0; i < N - M; i++)
        x[i] = x[i + M] ^ twist_words(x[i], x[i + 1]);
    for (unsigned i = N - M; i < N - 1; i++)
        x[i] = x[i - (N - M)] ^ twist_words(x[i], x[i + 1]);
    x[N - 1] = x[M - 1] ^ twist_words(x[N - 1], x[0]);
}

static uint32_t temper_word(uint32_t y)
{
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680;
    y ^= y << 15 & 0xefc60000;
    return y ^ y >> 18;
}

uint32_t mersenne_twister_next(struct mersenne_twister *random)
{
    if (random->next == N) {
        generate_block(random->state);
        random->next = 0;
    }
    return temper_word(random->state[random->next++]);
}

static double fraction_of(uint32_t first, uint32_t second)
{
    int32_t high = (int32_t)(first >> 5), low = (int32_t)(second >> 6); /* signed integers convert faster */

    return (high * 0x1p26 + low) * 0x1p-53;
}

double mersenne_twister_next_fraction(struct mersenne_twister *random)
{
    uint32_t first = mersenne_twister_next(random);

    return fraction_of(first, mersenne_twister_next(random));
}

void mersenne_twister_fractions(struct mersenne_twister *random, double *ret, size_t count)
{
    size_t done = 0;

    while (done < count) {
        size_t pairs = (N - random->next) / 2, wanted = count - done;
        const uint32_t *x = random->state + random->next;

        if (pairs > wanted)
            pairs = wanted;
        for (size_t i = 0; i < pairs; i++)
            ret[done + i] = fraction_of(temper_word(x[2 * i]), temper_word(x[2 * i + 1]));
        random->next += (unsigned)(2 * pairs);
        done += pairs;
        if (done < count) /* the next state is needed, or the pair spans two states */
            ret[done++] = mersenne_twister_next_fraction(random);
    }
}
