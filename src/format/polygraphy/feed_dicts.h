/* format/polygraphy/feed_dicts.h: input data as `run --save-inputs` writes and `--load-inputs` reads them: a feed dict
 * (input name -> array) for each iteration. Files are JSON: a list of objects, or one object, with arrays as Polygraphy
 * writes them or as lists of numbers; or a single list of numbers, for the only input of a model. Or safetensors, see
 * format/safetensors/safetensors.h. Other formats and format detection: format/data/file.h.
 */
#ifndef FORMAT_POLYGRAPHY_FEED_DICTS_H
#define FORMAT_POLYGRAPHY_FEED_DICTS_H

#include "format/json/reader.h"
#include "format/json/writer.h"
#include "format/safetensors/safetensors.h"
#include "tensor/values/tensor.h"

struct feed_dicts {
    struct tensor_list *items; /* one for each iteration */
    size_t count, capacity;
    /* further arrays with names in their words are added to the last iteration, see format/data/file.h */
    bool takes_more;
};

void feed_dicts_release(struct feed_dicts *feeds);

/* Appends the iterations of an open JSON file. ERR_INVALID for a results file, with a hint to `data merge`. On an
 * error `feeds` may contain a part. */
int feed_dicts_read(struct feed_dicts *feeds, struct json_reader *reader, struct error *err);

/* Like feed_dicts_read(), for a JSON file of `size` bytes in memory; `name` is for messages. On an error `feeds` is
 * unchanged. */
int feed_dicts_parse(struct feed_dicts *feeds, const void *data, size_t size, const char *name, struct error *err);

/* Whether all names begin with a number and a slash, as those of several iterations in safetensors do. */
bool feed_dict_is_numbered(const struct tensor_list *feed);

/* Writes a file iteration by iteration: safetensors if the name ends in ".safetensors", else Polygraphy's JSON. */
struct feed_dicts_writer {
    bool is_safetensors;
    struct json_writer json;
    struct safetensors_writer tensors;
    size_t count;    /* iterations so far */
    size_t expected; /* safetensors: iterations */
    bool numbered;   /* safetensors: names begin with the iteration's number */
};

/* `iterations`: how many there will be, at most. */
int feed_dicts_writer_open(struct feed_dicts_writer *writer, const char *path, size_t iterations, struct error *err);
int feed_dicts_writer_add(struct feed_dicts_writer *writer, const struct tensor_list *feed, struct error *err);
int feed_dicts_writer_commit(struct feed_dicts_writer *writer, struct error *err);
void feed_dicts_writer_release(struct feed_dicts_writer *writer); /* without commit no file is left */

/* Writes one feed dict to a JSON file, as an object. */
int feed_dict_save(const struct tensor_list *feed, const char *path, struct error *err);

/* Writes the whole file at once. */
int feed_dicts_save(const struct feed_dicts *feeds, const char *path, struct error *err);

#endif
