/* cli/model_file.h: an ONNX model, loaded and saved according to the command line.
 *
 *   rc = model_file_load(context, &settings->file, &model, err);
 *   ... change it ...
 *   rc = model_file_save_new_whole(context, &settings->file, model, err);
 *
 * Commands have different variants of these groups. Members of struct model_file_settings for which a command has no
 * options are zero, the default.
 */
#ifndef CLI_MODEL_FILE_H
#define CLI_MODEL_FILE_H

#include "backend/backend.h"
#include "cli/parse/command.h"
#include "cli/options/groups.h"
#include "onnx/half/float16.h"
#include "onnx/write/model.h"

/* ONNX Runtime's library, providers, custom operators and log. */
struct backend_request model_file_request(const struct command_context *context,
                                          const struct model_file_settings *file);

/* The same, with the limits for `model` of a worker process. */
struct backend_request model_file_request_for(const struct command_context *context,
                                              const struct model_file_settings *file, const struct model *model);

/* ONNX Runtime: in a worker process if the command has options for it. */
const struct backend *model_file_runtime(const struct model_file_settings *file);

/* Loads the model with all steps below, in this order; a step without options does nothing. */
int model_file_load(const struct command_context *context, const struct model_file_settings *file, struct model **ret,
                    struct error *err);

/* The same, but --fp-to-fp16 also keeps these operators in float32 (NULL: only those of --keep-float32). `ret_outcome`
 * (may be NULL) describes the conversion; zeroed without that option, and after an error. */
int model_file_load_keeping(const struct command_context *context, const struct model_file_settings *file,
                            const struct words *keep, struct float16_outcome *ret_outcome, struct model **ret,
                            struct error *err);

/* model_file_load(), with a summary of the model in the log: the "Original Model:" of the surgeon tools. */
int model_file_load_original(const struct command_context *context, const struct model_file_settings *file,
                             struct model **ret, struct error *err);

/* Maps and indexes the file. */
int model_file_open(const struct command_context *context, const struct model_file_settings *file, struct model **ret,
                    struct error *err);

/* Infers types and shapes with ONNX Runtime. A failure is a warning; a crash, or exceeding a limit, is ERR_BACKEND. */
int model_file_infer(const struct command_context *context, const struct model_file_settings *file, struct model *model,
                     struct error *err);

/* If `why` is a crash or an exceeded limit of ONNX Runtime: sets and returns ERR_BACKEND, with `wanted` ("cannot fold
 * the constants") before the reason and the advice `without` ("leave out --fold-constants") after it. Otherwise returns
 * 0. */
int model_file_report_end(const struct error *why, const char *wanted, const struct model *model, const char *without,
                          struct error *err);

/* Applies --onnx-outputs, --onnx-exclude-outputs and their other names to model->outputs. */
int model_file_mark_outputs(const struct command_context *context, const struct model_file_settings *file,
                            struct model *model, struct error *err);

/* Applies --fp-to-fp16, with --keep-float32; types are inferred where needed. `also_keep` (may be NULL) adds words to
 * --keep-float32. `ret_outcome` as above. */
int model_file_convert_to_float16(const struct command_context *context, const struct model_file_settings *file,
                                  struct model *model, const struct words *also_keep,
                                  struct float16_outcome *ret_outcome, struct error *err);

/* Writes the given input shapes into the model, and removes all other shapes, which may be wrong then. Not part of
 * loading, because the same option has another meaning in some commands. */
int model_file_override_shapes(const struct model_file_settings *file, struct model *model, struct error *err);

/* Saves to the path that the options name; does nothing without a path. */
int model_file_save(const struct command_context *context, const struct model_file_settings *file,
                    const struct subgraph *subgraph, struct error *err);

/* The same, with a summary of the model in the log: the "New Model:" of the surgeon tools. */
int model_file_save_new(const struct command_context *context, const struct model_file_settings *file,
                        const struct subgraph *subgraph, struct error *err);
int model_file_save_new_whole(const struct command_context *context, const struct model_file_settings *file,
                              struct model *model, struct error *err);

#endif
