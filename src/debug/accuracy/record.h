/* debug/accuracy/record.h: what an investigation has found out, told and written. */
#ifndef DEBUG_ACCURACY_RECORD_H
#define DEBUG_ACCURACY_RECORD_H

#include <stdbool.h>

#include "debug/accuracy/investigation.h"
#include "format/json/writer.h"

/* Whether a cause was proven, or nothing fails. */
bool accuracy_found_out(const struct investigation *investigation);

/* Adds the members of the result, an `investigation`, to an object: "outcome", "verdict", "cause", "tolerance",
 * "checks", "builds", "seconds" and "steps" (docs/formats.md). */
void accuracy_record_write(const void *investigation, struct json_writer *writer);

/* The verdict, its proof, the mend and where everything is. */
void accuracy_record_log(const struct investigation *investigation);

#endif
