/* format/polygraphy/feed_dicts.h: input data as `run --save-inputs` writes and `--load-inputs` reads them: a feed dict
 * (input name -> array) for each iteration. Files are JSON: a list of objects, or one object, with arrays as Polygraphy
 * writes them or as lists of numbers; or a list of numbers alone, for the only input of a model. Or safetensors, see
 * format/safetensors/safetensors.h. Other formats, and how one is told from the other: format/data/file.h.
 */
#ifndef FORMAT_POLYGRAPHY_FEED_DICTS_H
#define FORMAT_POLYGRAPHY_FEED_DICTS_H

#include "format/json/reader.h"
#include "format/safetensors/safetensors.h"
#include "tensor/values/tensor.h"

struct feed_dicts {
    struct tensor_list *items; /* one for each iteration */
    size_t count, capacity;
    bool takes_more; /* arrays that are named one by one still go into the last one, see format/data/file.h */
};

void feed_dicts_release(struct feed_dicts *feeds);

/* Appends the iterations of a JSON file that is open. A results file is refused with a hint at `data to-input`. On an
 * error `feeds` may hold a part. */
int feed_dicts_read(struct feed_dicts *feeds, struct json_reader *reader, struct error *err);

/* The same for a JSON file of `size` bytes in memory, called `name` in messages. On an error `feeds` is as before. */
int feed_dicts_parse(struct feed_dicts *feeds, const void *data, size_t size, const char *name, struct error *err);

/* Appends what a safetensors file holds, taking its tensors; `name` is for messages. On an error `feeds` may hold a
 * part. */
int feed_dicts_take_safetensors(struct feed_dicts *feeds, struct safetensors *file, const char *name,
                                struct error *err);

/* Writes safetensors to a name that ends so, else Polygraphy's JSON. */
int feed_dicts_save(const struct feed_dicts *feeds, const char *path, struct error *err);

#endif
