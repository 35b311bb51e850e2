/* format/polygraphy/feed_dicts.h: input data as `run --save-inputs` writes and `--load-inputs` reads them:
 * a list with one feed dict (input name -> array) for each iteration. Files are Polygraphy's JSON, or safetensors, see
 * format/safetensors/safetensors.h: reading looks at the content, writing at the name.
 */
#ifndef FORMAT_POLYGRAPHY_FEED_DICTS_H
#define FORMAT_POLYGRAPHY_FEED_DICTS_H

#include "format/safetensors/safetensors.h"
#include "tensor/values/tensor.h"

struct feed_dicts {
    struct tensor_list *items; /* one for each iteration */
    size_t count, capacity;
};

void feed_dicts_release(struct feed_dicts *feeds);

/* Appends the iterations of one file. A results file is refused with a hint at `data to-input`, a bare feed dict with a
 * hint that it has to stand in a list. On an error `feeds` is as before. */
int feed_dicts_load(struct feed_dicts *feeds, const char *path, struct error *err);

/* The same for tools that only look at data: a bare feed dict counts as one iteration. */
int feed_dicts_load_any(struct feed_dicts *feeds, const char *path, struct error *err);

/* Like feed_dicts_load() for a JSON file of `size` bytes in memory, called `name` in messages. */
int feed_dicts_parse(struct feed_dicts *feeds, const void *data, size_t size, const char *name, struct error *err);

/* Appends what a safetensors file holds, taking its tensors; `name` is for messages. On an error `feeds` may hold a
 * part. */
int feed_dicts_take_safetensors(struct feed_dicts *feeds, struct safetensors *file, const char *name,
                                struct error *err);

int feed_dicts_save(const struct feed_dicts *feeds, const char *path, struct error *err);

#endif
