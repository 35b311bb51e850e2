/* support/fake_backend.h: a backend whose model has the output y = x + 1. */
#ifndef SUPPORT_FAKE_BACKEND_H
#define SUPPORT_FAKE_BACKEND_H

#include "comparator/infer/driver.h"

/* Properties of the model, and counts of its uses. The model_data of a request points to one. */
struct fake_model {
    bool has_sequence;    /* has an output "s" that is not a tensor */
    bool only_sequences;  /* has no other outputs */
    bool overflows;       /* "y" holds an infinity */
    int fails_at_run;     /* number of the failing run, from 1; 0: none */
    void (*at_run)(void); /* called in each run; may be NULL */
    int opened, closed, runs;
};

extern const struct backend fake_backend;

/* Returns settings for one runner of that model, which is borrowed. */
struct driver_settings fake_settings(struct fake_model *model);

#endif
