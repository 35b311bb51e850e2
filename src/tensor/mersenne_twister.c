/* tensor/mersenne_twister.c: MT19937. The letters are those of the paper. */
#include "tensor/mersenne_twister.h"

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
static uint32_t twist(uint32_t u, uint32_t v)
{
    uint32_t y = (u & 0x80000000) | (v & 0x7fffffff);

    return y >> 1 ^ (y & 1 ? 0x9908b0df : 0);
}

static void generate(uint32_t *x)
{
    for (unsigned i = 0; i < N; i++)
        x[i] = x[(i + M) % N] ^ twist(x[i], x[(i + 1) % N]);
}

uint32_t mersenne_twister_next(struct mersenne_twister *random)
{
    if (random->next == N) {
        generate(random->state);
        random->next = 0;
    }

    uint32_t y = random->state[random->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680;
    y ^= y << 15 & 0xefc60000;
    return y ^ y >> 18;
}

double mersenne_twister_next_fraction(struct mersenne_twister *random)
{
    uint32_t high = mersenne_twister_next(random) >> 5;
    uint32_t low = mersenne_twister_next(random) >> 6;

    return ((double)high * 0x1p26 + (double)low) * 0x1p-53;
}
