/* debug/accuracy/bundle.h: what a bug report needs, in the folder of an investigation. */
#ifndef DEBUG_ACCURACY_BUNDLE_H
#define DEBUG_ACCURACY_BUNDLE_H

#include "debug/accuracy/investigation.h"

/* Writes `reproduce.sh`: the minimal case (else the whole model), and what makes it pass. Where something fails, also
 * has the errors of all tensors measured once, for the report: `errors` of the investigation. */
int accuracy_make_bundle(struct investigation *investigation, struct error *err);

#endif
