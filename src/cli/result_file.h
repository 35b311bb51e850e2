/* cli/result_file.h: the file of --json of commands that write a model or data: what was read, what was done, what was
 * written, and how the two differ.
 *
 *   struct result_file result SCOPED(result_file_close) = {0};
 *
 *   rc = result_file_open(&result, context, &settings->json, &settings->file, err);      "command"; "read"
 *   ... add members to result.json while working ...
 *   rc = result_file_save(&result, path, err);         "written" and "changes"
 *
 * Both models are looked at as they lie on the disk, so that the file says what was really written. Without --json
 * what is added goes to memory, so that commands need not ask whether it is wanted. docs/formats.md has the members.
 */
#ifndef CLI_RESULT_FILE_H
#define CLI_RESULT_FILE_H

#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "format/json/writer.h"
#include "onnx/model/model.h"

struct result_file {
    struct json_writer json; /* an object is open */
    bool wanted;
    struct model *read; /* as it was before; NULL: no model was read, or none is wanted */
};

/* Opens the file that --json names, which is replaced by result_file_save() alone. `file` is NULL where the command
 * reads no model. After an error there is nothing to close. */
int result_file_open(struct result_file *result, const struct command_context *context, const struct json_values *json,
                     const struct model_file_settings *file, struct error *err);
void result_file_close(struct result_file *result);

/* Adds the members "path" and "bytes" of a file, or of a folder with what is in it, to the object that is open. */
void result_file_add_path(struct result_file *result, const char *path);

/* Adds "written" and "changes" of the ONNX model at `path` (NULL: the command has said itself what it wrote), and puts
 * the file in its place. */
int result_file_save(struct result_file *result, const char *path, struct error *err);

#endif
