/* format/numpy/folder.h: a folder with a .npy file for each array, named after the array.
 *
 * In file names, '/', '%', control characters and a leading dot are percent-encoded ("%2F"), so that every tensor name
 * has a distinct file name. Reading decodes them; a '%' without two hexadecimal digits is literal.
 */
#ifndef FORMAT_NUMPY_FOLDER_H
#define FORMAT_NUMPY_FOLDER_H

#include "base/file/file.h"
#include "tensor/values/tensor.h"

/* Appends the arrays of all .npy files in the folder to `ret`, in the order of the files' names. Each keeps its
 * mapping, or owns a converted copy. Other files, folders, and names that begin with a dot are ignored. ERR_INVALID if
 * two files encode the same name ("a.npy", "%61.npy"). On an error `ret` may contain some arrays. */
int npy_folder_load(const char *path, struct tensor_list *ret, struct error *err);

/* Whether the folder has .npy files; false if it cannot be read. */
bool npy_folder_has_arrays(const char *path);

/* Writes files to the folder, which is created if necessary. Names must differ. ERR_UNSUPPORTED for a tensor without a
 * name. */
int npy_folder_save(const struct tensor_list *tensors, const char *path, enum file_durability durability,
                    struct error *err);

#endif
