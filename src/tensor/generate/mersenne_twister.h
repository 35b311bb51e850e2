/* tensor/generate/mersenne_twister.h: the random number generator MT19937.
 *
 * M. Matsumoto and T. Nishimura, "Mersenne Twister: A 623-dimensionally equidistributed uniform pseudorandom number
 * generator", ACM TOMACS 8 (1998). Seeding is that of the authors' version of 2002, so that a seed gives the same
 * numbers as NumPy's RandomState.
 */
#ifndef TENSOR_GENERATE_MERSENNE_TWISTER_H
#define TENSOR_GENERATE_MERSENNE_TWISTER_H

#include <stddef.h>
#include <stdint.h>

#define MERSENNE_TWISTER_WORDS 624

struct mersenne_twister {
    uint32_t state[MERSENNE_TWISTER_WORDS];
    unsigned next; /* index of the next word; MERSENNE_TWISTER_WORDS: all are used */
};

void mersenne_twister_seed(struct mersenne_twister *random, uint32_t seed);
uint32_t mersenne_twister_next(struct mersenne_twister *random); /* 32 random bits */

/* A multiple of 2^-53 in [0, 1), from two successive outputs. */
double mersenne_twister_next_fraction(struct mersenne_twister *random);

/* The next `count` fractions. */
void mersenne_twister_fractions(struct mersenne_twister *random, double *ret, size_t count);

#endif
