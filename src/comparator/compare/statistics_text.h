/* comparator/compare/statistics_text.h: what the log says about the values of one tensor. */
#ifndef COMPARATOR_COMPARE_STATISTICS_TEXT_H
#define COMPARATOR_COMPARE_STATISTICS_TEXT_H

#include "base/log.h"
#include "tensor/statistics/histogram.h"
#include "tensor/statistics/statistics.h"

/* Logs "<label> | Stats: ..." and, nested and at the level `details`, the values (of up to 100 elements) and a
 * histogram between `minimum` and `maximum`. Computes nothing that is not shown. The tensor holds numbers. */
int statistics_log(struct log *log, const char *label, const struct tensor *tensor, enum log_level details,
                   double minimum, double maximum, struct error *err);

#endif
