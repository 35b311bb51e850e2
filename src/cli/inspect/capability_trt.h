/* cli/inspect/capability_trt.h: `inspect capability --trt`. */
#ifndef CLI_INSPECT_CAPABILITY_TRT_H
#define CLI_INSPECT_CAPABILITY_TRT_H

#include "cli/options/groups.h"
#include "cli/parse/command.h"

/* With --trt: shows the library: flavour and version, path, parser, and whether a GPU answers. ERR_MISSING if there is
 * none; other errors are those of tensorrt_find(). */
int inspect_capability_trt(const struct command_context *context, const struct json_values *json, struct error *err);

#endif
