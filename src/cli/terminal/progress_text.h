/* cli/terminal/progress_text.h: how far a session is, or the build of an engine, in one line of text.
 *
 *   [=========>          ] 12 of ~26 checks, 34 of 276 nodes left, about 0:42 left
 *   [      <=>           ] 12 checks                                  (nobody knows how many there will be)
 *   [=========>          ] layer 13 of 26: conv3 + relu3
 */
#ifndef CLI_TERMINAL_PROGRESS_TEXT_H
#define CLI_TERMINAL_PROGRESS_TEXT_H

#include <stddef.h>

#include "base/text/string_builder.h"
#include "debug/session/progress.h"

/* Appends the line, ASCII without a line break and at most `width` characters long: when it is too long the bar gets
 * shorter and goes, then the nodes go, then the time. `since` is how long ago the last check has ended (seconds), and
 * `step` counts drawings: it moves the bar that has no end. */
void progress_to_text(const struct session_progress *progress, double since, unsigned step, size_t width,
                      struct string_builder *ret);

/* Seconds until the last expected check ends: their mean duration times their number over how many run at once, less
 * what has passed since the last one ended; checks that have not begun are not shortened. Negative: not known. */
double progress_time_left(const struct session_progress *progress, double since);

/* The layer of an engine that is being built. */
struct layer_progress {
    const char *name;
    size_t number, count; /* number is from 1 to count */
};

/* Appends a line like that of a session; of the name, as much as there is room for, without control characters. */
void layer_to_text(const struct layer_progress *layer, size_t width, struct string_builder *ret);

/* Behind the line of a session: ", layer 13 of 26", if there is room for it in `width`. `ret` holds that line from
 * `start` on. */
void layer_add_to_text(const struct layer_progress *layer, size_t start, size_t width, struct string_builder *ret);

#endif
