/* base/file/private_folder.h: a folder for files that pass between this program and another one, for no longer than
 * that.
 *
 * It lies in the folder that TMPDIR names (/tmp without it), and only this user can look into it.
 */
#ifndef BASE_FILE_PRIVATE_FOLDER_H
#define BASE_FILE_PRIVATE_FOLDER_H

#include "base/error.h"

/* Makes "<folder of temporary files>/polygraphy-<purpose>-XXXXXX" and gives its absolute path, malloc'd. ERR_IO when
 * none can be made; the message says how to choose another place. */
int private_folder_make(const char *purpose, char **ret, struct error *err);

/* Removes it with all that is in it, whoever has put it there; links are removed, not followed. Frees the path. NULL is
 * fine. */
void private_folder_remove(char *folder);

/* Removes the file or folder at `path` with all that is in it, if there is one. */
void private_folder_clear(const char *path);

#endif
