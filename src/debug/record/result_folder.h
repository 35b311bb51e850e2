/* debug/record/result_folder.h: a folder of results belongs to the command that has made it.
 *
 * A command that writes several files of fixed names to a folder replaces what an earlier run of it has left there,
 * and nothing else: a file in the folder, session.json, says which command's the folder is. It is an object whose
 * member "command" is that name ("debug passes"); a command may keep more in it (docs/formats.md).
 */
#ifndef DEBUG_RECORD_RESULT_FOLDER_H
#define DEBUG_RECORD_RESULT_FOLDER_H

#include "base/error.h"
#include "format/json/writer.h"

#define RESULT_FOLDER_MARKER "session.json"

/* ERR_EXISTS when `folder` has files and is not marked as the folder of `command`: they may be the user's. A folder
 * that is missing or empty is fine. */
int result_folder_check(const char *folder, const char *command, struct error *err);

/* Makes the folder, and marks it unless it is marked already. */
int result_folder_begin(const char *folder, const char *command, struct error *err);

/* Adds the members of a marker to an object. */
void result_folder_write_marker(const char *command, struct json_writer *writer);

#endif
