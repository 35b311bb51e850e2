/* base/file/python_packages.h: folders in which Python packages are installed, which contain shared libraries, too. */
#ifndef BASE_FILE_PYTHON_PACKAGES_H
#define BASE_FILE_PYTHON_PACKAGES_H

#include "base/file/list.h"

/* Lists the existing folders, in the order of the search: of the environment in which the program itself is installed
 * (its bin/ is next to lib/), of the active one (VIRTUAL_ENV, CONDA_PREFIX), of the user, of the system. `ret` is empty
 * on entry. */
void python_packages_list(struct file_list *ret);

/* The first file that matches `pattern` (of glob(), relative) in one of `folders`, malloc'd; NULL: none. */
char *python_packages_find(const struct file_list *folders, const char *pattern);

#endif
