/* engine/tactic/plugin_file.h: whether a file can be handed to the system's loader. */
#ifndef ENGINE_TACTIC_PLUGIN_FILE_H
#define ENGINE_TACTIC_PLUGIN_FILE_H

#include "base/error.h"

/* The loader maps what a library's headers promise, and the process dies when a truncated file does not have it. So
 * that is looked at before. Files of other formats than ELF pass: loaders there are of another kind. ERR_CORRUPT. */
int plugin_file_check(const char *path, struct error *err);

#endif
