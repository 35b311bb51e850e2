/* format/data/folder.h: folders with the data of one or several iterations; see file.h. Internal to format/data. */
#ifndef FORMAT_DATA_FOLDER_H
#define FORMAT_DATA_FOLDER_H

#include "format/polygraphy/feed_dicts.h"

/* Loads a folder. `protos` selects files of ONNX's test data: "input" or "output". On an error `ret` may contain a
 * part. */
int data_folder_load(const char *path, const char *protos, struct feed_dicts *ret, struct error *err);

/* Writes a new folder, or replaces an empty one, atomically. Several iterations are written to subfolders 0, 1, ... */
int data_folder_save(const struct feed_dicts *feeds, const char *path, struct error *err);

/* Loads a file that contains one TensorProto. */
int data_tensor_proto_load(const char *path, struct tensor_list *ret, struct error *err);

/* Appends an unnamed tensor, named after its file. */
void data_add_unnamed(struct tensor_list *list, const char *path, struct tensor *tensor);

#endif
