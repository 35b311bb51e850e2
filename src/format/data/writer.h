/* format/data/writer.h: writes input data, iteration by iteration, in the format that the end of the path selects:
 * ".npy" for a single array, ".npz", ".safetensors", a folder of .npy files for "/", else Polygraphy's JSON.
 */
#ifndef FORMAT_DATA_WRITER_H
#define FORMAT_DATA_WRITER_H

#include "format/data/folder.h"
#include "format/numpy/npz.h"

struct data_writer {
    enum { DATA_JSON_FOLDER, DATA_NPY, DATA_NPZ, DATA_NPY_FOLDER, DATA_OTHER } format;
    char *path;        /* owned */
    size_t iterations; /* expected */
    size_t count;      /* so far */
    bool numbered;     /* .npz: names begin with the iteration's number */
    struct npz_writer npz;
    struct data_folder_writer folder;
    struct feed_dicts_writer file;
};

/* An existing file is replaced by commit; ERR_EXISTS for an existing folder that is not empty. `iterations`: how many
 * there will be, at most. `by_iteration`: a path without extension is a folder with one JSON file for each iteration,
 * see iteration_folder.h, which are written at once. */
int data_writer_open(struct data_writer *writer, const char *path, bool by_iteration, size_t iterations,
                     struct error *err);

/* ERR_INVALID for data that the format cannot represent. */
int data_writer_add(struct data_writer *writer, const struct tensor_list *feed, struct error *err);
int data_writer_commit(struct data_writer *writer, struct error *err);
void data_writer_release(struct data_writer *writer); /* harmless on a zeroed struct */

/* Writes the whole file at once. */
int data_file_save(const struct feed_dicts *feeds, const char *path, struct error *err);

/* Whether the format for this path stores only arrays, without metadata: ".npy", ".npz" or a folder of .npy files. */
bool data_file_holds_arrays_only(const char *path);

#endif
