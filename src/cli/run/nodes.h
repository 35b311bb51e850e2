/* cli/run/nodes.h: what was found out of each node, for programs that show networks: Model Explorer (--node-data), and
 * Netron or whatever shows the metadata of ONNX nodes (--annotate).
 */
#ifndef CLI_RUN_NODES_H
#define CLI_RUN_NODES_H

#include "cli/parse/command.h"
#include "cli/run/report.h"
#include "cli/run/settings.h"

/* Writes what is wanted. `outcome->file` is known where --annotate was given. */
int run_nodes_write(const struct command_context *context, const struct run_settings *settings,
                    const struct run_outcome *outcome, struct error *err);

#endif
