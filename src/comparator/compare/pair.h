/* comparator/compare/pair.h: the verdict on two outputs, and what the log says about it and about their values. */
#ifndef COMPARATOR_COMPARE_PAIR_H
#define COMPARATOR_COMPARE_PAIR_H

#include "comparator/compare/pairing.h"
#include "comparator/compare/settings.h"

/* The runners' names are for messages. */
struct pair_names {
    const char *first, *second;
};

/* Compares by what the settings say for the first output's name. ERR_UNSUPPORTED where types have no such comparison:
 * strings and complex numbers have neither distance nor quality. */
int compare_pair(const struct comparison_settings *settings, const struct output_pair *pair,
                 const struct pair_names *runners, struct compare_result *ret, struct error *err);

/* How the values of a tensor are shown. */
struct statistics_view {
    enum log_level details;  /* of the values (of up to 100 elements) and of a histogram */
    double minimum, maximum; /* of the histogram */
};

/* Logs "<label> | Stats: ..." and, nested, the details. Computes nothing that is not shown. The tensor has numbers. */
int statistics_log(struct log *log, const char *label, const struct tensor *tensor, const struct statistics_view *view,
                   struct error *err);

#endif
