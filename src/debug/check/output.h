/* debug/check/output.h: what a check wrote, fit for the log. */
#ifndef DEBUG_CHECK_OUTPUT_H
#define DEBUG_CHECK_OUTPUT_H

#include "base/process/process.h"
#include "base/text/string_builder.h"
#include "base/text/text.h"

/* How much of either end of a long output is shown, in bytes. */
#define CHECK_OUTPUT_SHOWN ((size_t)64 << 10)

/* Appends `output` to `ret`. What is no text is shown as string_add_visible() does. Of an output longer than twice
 * CHECK_OUTPUT_SHOWN only both ends appear, with a line between them that says how much is missing, of what was not
 * even kept, too. */
void check_output_render(const struct process_output *output, struct string_builder *ret);

/* Replaces the path `actual` by `usual` wherever it is in `output`, also where the same folder is spelt in another
 * way. */
void check_output_rename(struct process_output *output, const char *actual, const char *usual);

#endif
