/* cli/terminal/progress_text.h: the progress of a session or of an engine build, in one line of text.
 *
 *   [=========>          ] 12 of ~26 checks, 34 of 276 nodes left, about 0:42 left [      <=>           ] 12 checks
 *   (total not known) [=========>          ] layer 13 of 26: conv3 + relu3
 */
#ifndef CLI_TERMINAL_PROGRESS_TEXT_H
#define CLI_TERMINAL_PROGRESS_TEXT_H

#include <stddef.h>

#include "base/text/string_builder.h"
#include "debug/session/progress.h"

/* Appends the line, ASCII without a line break and at most `width` characters long: to fit, the bar is shortened and
 * dropped, then the nodes, then the time. `since` is the time since the end of the last check, in seconds; `step`
 * counts drawings and moves the bar if the total is not known. */
void progress_to_text(const struct session_progress *progress, double since, unsigned step, size_t width,
                      struct string_builder *ret);

/* The remaining time in seconds: mean duration of a check times the number of remaining checks, divided by the number
 * of parallel checks, less the time since the last check ended, at most the duration of the running ones. Negative: not
 * known. */
double progress_time_left(const struct session_progress *progress, double since);

/* The layer that an engine build processes, or the step of a phase of it. */
struct layer_progress {
    const char *name;     /* of the layer, of the phase */
    size_t number, count; /* number is from 1 to count */
    const char *unit;     /* what is counted: "step"; NULL: "layer". A literal */
};

/* Appends a line like that of a session, with as much of the name as fits, without control characters. */
void layer_to_text(const struct layer_progress *layer, size_t width, struct string_builder *ret);

/* Appends ", layer 13 of 26" to the line of a session, which begins at `start` in `ret`, if it fits into `width`. */
void layer_add_to_text(const struct layer_progress *layer, size_t start, size_t width, struct string_builder *ret);

#endif
