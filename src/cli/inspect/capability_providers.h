/* cli/inspect/capability_providers.h: the execution providers of ONNX Runtime that work on this machine. */
#ifndef CLI_INSPECT_CAPABILITY_PROVIDERS_H
#define CLI_INSPECT_CAPABILITY_PROVIDERS_H

#include "cli/options/groups.h"
#include "cli/parse/command.h"

/* Runs a model with one node on each provider of the runtime, in another process, because a provider may crash. Logs
 * which providers work, and why the others do not; with --json also writes that file. */
int inspect_capability_providers(const struct command_context *context, const struct model_file_settings *file,
                                 const struct json_values *json, struct error *err);

#endif
