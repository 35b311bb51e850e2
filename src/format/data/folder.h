/* format/data/folder.h: folders with the data of one or several iterations; see file.h. Internal to format/data. */
#ifndef FORMAT_DATA_FOLDER_H
#define FORMAT_DATA_FOLDER_H

#include "format/polygraphy/feed_dicts.h"

/* Of ONNX's test data, `protos` are taken: "input" or "output". On an error `ret` may hold a part. */
int data_folder_load(const char *path, const char *protos, struct feed_dicts *ret, struct error *err);

/* Writes a folder that is not there, or empty. Several iterations go into folders 0, 1, ... in it. It appears whole. */
int data_folder_save(const struct feed_dicts *feeds, const char *path, struct error *err);

/* A TensorProto in a file of its own. */
int data_tensor_proto_load(const char *path, struct tensor_list *ret, struct error *err);

/* Appends a tensor that nobody has given a name, called after its file. */
void data_add_unnamed(struct tensor_list *list, const char *path, struct tensor *tensor);

#endif
