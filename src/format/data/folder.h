/* format/data/folder.h: folders with the data of one or several iterations; see file.h. Internal to format/data. */
#ifndef FORMAT_DATA_FOLDER_H
#define FORMAT_DATA_FOLDER_H

#include "base/file/list.h"
#include "format/polygraphy/feed_dicts.h"

/* Appends the subfolders of iterations, in their order: none if the folder's own files are the only iteration.
 * ERR_INVALID if their numbers have gaps. */
int data_folder_list(const char *path, const char *protos, struct file_list *ret, struct error *err);

/* Loads the files of one such subfolder into the empty list `ret`, which may contain a part on an error. */
int data_folder_load_iteration(const char *path, const char *protos, struct tensor_list *ret, struct error *err);

/* Loads a folder. `protos` selects files of ONNX's test data: "input" or "output". On an error `ret` may contain a
 * part. */
int data_folder_load(const char *path, const char *protos, struct feed_dicts *ret, struct error *err);

/* Writes a new folder of .npy files, or replaces an empty one, atomically: it appears with commit. Several iterations
 * are written to subfolders 0, 1, ... */
struct data_folder_writer {
    char *place, *temporary; /* owned */
    size_t iterations;       /* expected */
    size_t count;            /* so far */
};

int data_folder_writer_open(struct data_folder_writer *writer, const char *path, size_t iterations, struct error *err);
int data_folder_writer_add(struct data_folder_writer *writer, const struct tensor_list *feed, struct error *err);
int data_folder_writer_commit(struct data_folder_writer *writer, struct error *err);
void data_folder_writer_release(struct data_folder_writer *writer);

/* Loads a file that contains one TensorProto. */
int data_tensor_proto_load(const char *path, struct tensor_list *ret, struct error *err);

/* Appends an unnamed tensor, named after its file. */
void data_add_unnamed(struct tensor_list *list, const char *path, struct tensor *tensor);

#endif
