/* format/polygraphy/iteration_info.h: the file that tells a check which iteration it belongs to. */
#ifndef FORMAT_POLYGRAPHY_ITERATION_INFO_H
#define FORMAT_POLYGRAPHY_ITERATION_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Writes {"iteration": index}, index counting from 0. */
int iteration_info_save(const char *path, int64_t index, struct error *err);

/* Whether the file at `path` may be written over and removed: it is such a file, or empty, or no regular file (then it
 * is written to, and stays). */
bool iteration_info_may_replace(const char *path);

#endif
