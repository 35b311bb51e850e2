/* format/data/iteration_folder.h: folders with a JSON file for each iteration, as Polygraphy 0.53 writes them: a feed
 * dict, or results with one iteration of each runner, named "0000000000.json", "0000000001.json", ...
 */
#ifndef FORMAT_DATA_ITERATION_FOLDER_H
#define FORMAT_DATA_ITERATION_FOLDER_H

#include <stdbool.h>

#include "base/error.h"
#include "base/file/list.h"

/* Whether data saved under this name go to such a folder: it has no extension, and is neither a folder of .npy files
 * ("name/") nor a device or pipe. */
bool iteration_folder_is_name(const char *path);

/* Creates the folder. ERR_EXISTS if it is there and not empty, or if a file of this name is. */
int iteration_folder_create(const char *path, struct error *err);

/* The path of the file for an iteration, malloc'd. */
char *iteration_folder_file(const char *path, size_t iteration);

/* The files of a folder whose names end in ".json", sorted by name: none if it is another folder. Names as above are
 * not kept. */
struct iteration_files {
    char *folder; /* owned */
    size_t count;
    struct file_list irregular; /* paths, if names are other ones */
};

int iteration_files_list(const char *folder, struct iteration_files *ret, struct error *err);
char *iteration_files_path(const struct iteration_files *files, size_t index); /* malloc'd */
void iteration_files_release(struct iteration_files *files);                   /* harmless on a zeroed struct */

#endif
