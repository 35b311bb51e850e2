/* comparator/compare/pair.h: the verdict on two outputs, and what the log says about it. Internal to comparison.c. */
#ifndef COMPARATOR_COMPARE_PAIR_H
#define COMPARATOR_COMPARE_PAIR_H

#include "comparator/compare/comparison.h"
#include "comparator/compare/pairing.h"

/* The runners' names are for messages. */
struct pair_names {
    const char *first, *second;
};

int compare_pair(const struct comparison_settings *settings, const struct output_pair *pair,
                 const struct pair_names *runners, struct compare_result *ret, struct error *err);

#endif
