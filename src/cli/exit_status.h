/* cli/exit_status.h: what the end of this program says.
 *
 * For most callers an error is an error. A debug tool has to know more: with this program as its check, "the outputs
 * differ" is what is looked for, "the runner does not take the model" is another failure, and "there is no such option"
 * says nothing about the model at all. So inside of a check (debug/check/check.h) errors end by their kind. This is the
 * only place that knows how; docs/verdicts.md has the table for users.
 */
#ifndef CLI_EXIT_STATUS_H
#define CLI_EXIT_STATUS_H

#include "base/error.h"

#define EXIT_STATUS_ERROR 1   /* the user, a file or the system made it impossible to go on; or a bad outcome */
#define EXIT_STATUS_REFUSED 2 /* the command line makes no sense */

/* Only inside of a check: */
#define EXIT_STATUS_NOT_RUN 3      /* the runtime refused the model, or failed while running it */
#define EXIT_STATUS_UNTESTABLE 125 /* nothing was found out: the command line, a file, or the data are at fault */

/* The exit status that an error stands for. */
int exit_status_of(enum error_code code);

/* That of a command line that could not be parsed, where `usual` is what it is outside of checks. */
int exit_status_of_refusal(int usual);

#endif
