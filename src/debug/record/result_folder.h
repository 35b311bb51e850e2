/* debug/record/result_folder.h: marks a folder of results as written by a command.
 *
 * A command that writes files with fixed names to a folder replaces only files of its earlier runs: session.json in the
 * folder names the command that owns it. It is an object with the member "command" ("debug passes"); a command may add
 * members (docs/formats.md).
 */
#ifndef DEBUG_RECORD_RESULT_FOLDER_H
#define DEBUG_RECORD_RESULT_FOLDER_H

#include "base/error.h"
#include "format/json/writer.h"

#define RESULT_FOLDER_MARKER "session.json"

/* ERR_EXISTS if `folder` contains files and is not marked as that of `command`: they may be the user's. A missing or
 * empty folder is accepted. */
int result_folder_check(const char *folder, const char *command, struct error *err);

/* Creates the folder, and marks it unless it is marked. */
int result_folder_begin(const char *folder, const char *command, struct error *err);

/* Adds the members of a marker to an object. */
void result_folder_write_marker(const char *command, struct json_writer *writer);

#endif
