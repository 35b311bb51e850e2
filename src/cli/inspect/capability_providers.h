/* cli/inspect/capability_providers.h: what ONNX Runtime can compute with on this machine. */
#ifndef CLI_INSPECT_CAPABILITY_PROVIDERS_H
#define CLI_INSPECT_CAPABILITY_PROVIDERS_H

#include "cli/options/groups.h"
#include "cli/parse/command.h"

/* Tries each provider that the runtime was built with: a model of one node is run on it, in another process, since a
 * provider may crash. Logs which ones work, and why the others do not; with --json also to that file. */
int inspect_capability_providers(const struct command_context *context, const struct model_file_settings *file,
                                 const struct json_values *json, struct error *err);

#endif
