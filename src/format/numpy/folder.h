/* format/numpy/folder.h: a folder with a .npy file for each array, called after it.
 *
 * In names of files, '/', '%', control characters and a dot in front are written as in URLs, "%2F", so that every name
 * of a tensor has a file of its own. Reading takes them back; a '%' that two hexadecimal digits do not follow is one.
 */
#ifndef FORMAT_NUMPY_FOLDER_H
#define FORMAT_NUMPY_FOLDER_H

#include "base/file/file.h"
#include "tensor/values/tensor.h"

/* Appends the arrays of all .npy files in the folder to `ret`, in the order of the files' names. Each keeps its
 * mapping, or owns a converted copy. Other files, folders, and names that begin with a dot are passed over. ERR_INVALID
 * when two of them have one name ("a.npy", "%61.npy"). On an error `ret` may hold some. */
int npy_folder_load(const char *path, struct tensor_list *ret, struct error *err);

/* Writes files into the folder, which is made when it is not there. Names must differ. ERR_UNSUPPORTED for a tensor
 * without a name. */
int npy_folder_save(const struct tensor_list *tensors, const char *path, enum file_durability durability,
                    struct error *err);

#endif
