/* cli/run/step_entry.h: the step in which a difference enters, and the caches that carry it on. */
#ifndef CLI_RUN_STEP_ENTRY_H
#define CLI_RUN_STEP_ENTRY_H

#include "cli/run/model.h"
#include "cli/run/step_outcome.h"

/* Repeats steps with caches exchanged between the runners, after `ret->first` has failed; logs and sets `entered`,
 * `shown` and `carries`. Caches of loaded results cannot be exchanged: then the entry stays unknown. */
int step_entry_find(struct run_model *model, const struct driver_settings *settings, struct data_loader *loader,
                    struct step_outcome *ret, struct error *err);

#endif
