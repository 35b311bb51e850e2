/* support/fake_backend.h: a backend whose model adds 1 to its input "x" and gives that as "y". */
#ifndef SUPPORT_FAKE_BACKEND_H
#define SUPPORT_FAKE_BACKEND_H

#include "comparator/infer/driver.h"

/* What the model is like, and what was done to it. A request's model_data points to one. */
struct fake_model {
    bool has_sequence;    /* there is an output "s" that is no tensor */
    bool only_sequences;  /* and no other */
    bool overflows;       /* "y" holds an infinity */
    int fails_at_run;     /* counted from 1; 0: never */
    void (*at_run)(void); /* what else happens in a run; NULL: nothing */
    int opened, closed, runs;
};

extern const struct backend fake_backend;

/* One runner of that model. */
struct driver_settings fake_settings(struct fake_model *model);

#endif
