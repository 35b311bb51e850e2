/* format/data/stream.h: input data and results that are read iteration by iteration, so that a data set of any size
 * needs the memory of one.
 *
 * This applies to Polygraphy's JSON, .npz, safetensors, and folders of iterations. Arrays of other files are loaded at
 * once.
 */
#ifndef FORMAT_DATA_STREAM_H
#define FORMAT_DATA_STREAM_H

#include "format/data/file.h"

struct input_stream;

/* Opens the data that these words specify one after the other, see word.h and data_file_add_inputs(). Files of a folder
 * are read later. */
int input_stream_open(const struct words *words, struct input_stream **ret, struct error *err);
void input_stream_free(struct input_stream *stream); /* accepts NULL */
size_t input_stream_count(const struct input_stream *stream);

/* Reads an iteration into the empty list `ret`, which may refer to data of the stream. */
int input_stream_read(struct input_stream *stream, size_t iteration, struct tensor_list *ret, struct error *err);

/* The results of one runner. */
struct result_stream {
    char *name;   /* owned */
    size_t count; /* iterations */
    struct result_source *source;
    size_t runner; /* in the source */
};

struct result_streams {
    struct result_stream *items;
    size_t count, capacity;
};

/* Appends the results that the word specifies, see data_file_add_results(). */
int result_streams_add(struct result_streams *streams, const char *word, struct error *err);
void result_streams_release(struct result_streams *streams);

/* Reads an iteration into `ret`, which the caller releases with run_results_release(). Each can be read once. */
int result_stream_read(struct result_stream *stream, size_t iteration, struct iteration_result *ret, struct error *err);

#endif
