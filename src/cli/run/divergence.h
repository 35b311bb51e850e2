/* cli/run/divergence.h: what --first-divergence says when all tensors of a model were compared: which nodes the
 * difference begins at, what went into the first one that makes NaN, and whether the model as it is shows the same.
 */
#ifndef CLI_RUN_DIVERGENCE_H
#define CLI_RUN_DIVERGENCE_H

#include "comparator/infer/driver.h"

struct divergence_report {
    const struct driver_settings *driver;  /* with which all tensors were compared */
    struct model *model;                   /* with all tensors as outputs */
    const char *path;                      /* of the model as it is */
    const struct backend_request *request; /* options */
    struct data_loader *loader;
    struct log *log;
};

/* Runs the model up to the first node that makes NaN again, to show what went into it; and the model as it is. */
int divergence_report(const struct divergence_report *report, const struct first_divergence *divergence,
                      struct error *err);

#endif
