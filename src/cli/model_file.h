/* cli/model_file.h: an ONNX model, loaded and saved as the command line says.
 *
 *   rc = model_file_load(context, &settings->file, &model, err);
 *   ... change it ...
 *   rc = model_file_save_new_whole(context, &settings->file, model, err);
 *
 * Commands have these groups in different variants. What a command has no options for is zeroed in its struct
 * model_file_settings, and means that nothing was asked for.
 */
#ifndef CLI_MODEL_FILE_H
#define CLI_MODEL_FILE_H

#include "backend/backend.h"
#include "cli/parse/command.h"
#include "cli/options/groups.h"
#include "onnx/half/float16.h"
#include "onnx/write/model.h"

/* Library, providers, custom operators and log for ONNX Runtime. */
struct backend_request model_file_request(const struct command_context *context,
                                          const struct model_file_settings *file);

/* The same, with what it may have for `model` where it is in a process of its own. */
struct backend_request model_file_request_for(const struct command_context *context,
                                              const struct model_file_settings *file, const struct model *model);

/* ONNX Runtime: in a process of its own where the command has options on that. */
const struct backend *model_file_runtime(const struct model_file_settings *file);

/* Everything that the options ask of loading, in this order: the steps below, each of which does nothing where its
 * options were not given. */
int model_file_load(const struct command_context *context, const struct model_file_settings *file, struct model **ret,
                    struct error *err);

/* The same, where --fp-to-fp16 leaves these operators, too, in float32; NULL: none but those of --keep-float32.
 * `ret_outcome` (may be NULL): what it did; zeroed without that option, and after an error. */
int model_file_load_keeping(const struct command_context *context, const struct model_file_settings *file,
                            const struct words *keep, struct float16_outcome *ret_outcome, struct model **ret,
                            struct error *err);

/* model_file_load(), and the log shows in a few lines what was loaded: the "Original Model:" of the surgeon tools. */
int model_file_load_original(const struct command_context *context, const struct model_file_settings *file,
                             struct model **ret, struct error *err);

/* Maps and indexes the file. */
int model_file_open(const struct command_context *context, const struct model_file_settings *file, struct model **ret,
                    struct error *err);

/* Asks ONNX Runtime for types and shapes. That it cannot tell is a warning; that it crashes, or does not come to an end
 * within its bounds, is ERR_BACKEND. */
int model_file_infer(const struct command_context *context, const struct model_file_settings *file, struct model *model,
                     struct error *err);

/* When `why` says that ONNX Runtime has crashed or had to be ended: ERR_BACKEND, with what was wanted in front (a
 * clause that the message ends) and what may be done behind. Else 0. */
int model_file_report_end(const struct error *why, const char *wanted, const struct model *model, const char *without,
                          struct error *err);

/* --onnx-outputs, --onnx-exclude-outputs and what they are called elsewhere: changes model->outputs. */
int model_file_mark_outputs(const struct command_context *context, const struct model_file_settings *file,
                            struct model *model, struct error *err);

/* --fp-to-fp16, with --keep-float32: types are inferred where they are needed. `also_keep` (may be NULL) are more words
 * for that. `ret_outcome` as above. */
int model_file_convert_to_float16(const struct command_context *context, const struct model_file_settings *file,
                                  struct model *model, const struct words *also_keep,
                                  struct float16_outcome *ret_outcome, struct error *err);

/* Writes shapes given for inputs into the model; all other shapes may be wrong then, and are forgotten. Not part of
 * loading: to some commands the same option means something else. */
int model_file_override_shapes(const struct model_file_settings *file, struct model *model, struct error *err);

/* Saves to the path that the options name; nothing happens when they name none. */
int model_file_save(const struct command_context *context, const struct model_file_settings *file,
                    const struct subgraph *subgraph, struct error *err);

/* The same, and the log shows in a few lines what was saved: the "New Model:" of the surgeon tools. */
int model_file_save_new(const struct command_context *context, const struct model_file_settings *file,
                        const struct subgraph *subgraph, struct error *err);
int model_file_save_new_whole(const struct command_context *context, const struct model_file_settings *file,
                              struct model *model, struct error *err);

#endif
