/* format/safetensors/names.h: results and input data as safetensors. Internal to format/; see docs/formats.md.
 *
 *   results   tensors "<runner>/<iteration>/<output>", both numbers from 0 on; metadata "polygraphy": "results", and
 *             "runners": [{"name": ..., "runtimes": [seconds of each iteration, null where unknown]}, ...] as text
 *   inputs    tensors "<iteration>/<input>"; metadata "polygraphy": "inputs", "iterations": how many, as text
 *   others    a file without "polygraphy" is one iteration: its tensors by their names
 */
#ifndef FORMAT_SAFETENSORS_NAMES_H
#define FORMAT_SAFETENSORS_NAMES_H

#include "format/polygraphy/feed_dicts.h"
#include "format/polygraphy/run_results.h"
#include "format/safetensors/safetensors.h"

#define SAFETENSORS_KIND "polygraphy"
#define SAFETENSORS_RESULTS "results"
#define SAFETENSORS_INPUTS "inputs"

/* Append what `file` holds, taking its tensors; `name` is for messages. ERR_INVALID when it is of the other kind. On an
 * error `ret` may hold a part. */
int safetensors_to_results(struct safetensors *file, const char *name, struct run_results *ret, struct error *err);
int safetensors_to_feeds(struct safetensors *file, const char *name, struct feed_dicts *ret, struct error *err);

int safetensors_save_feeds(const struct feed_dicts *feeds, const char *path, struct error *err);

#endif
