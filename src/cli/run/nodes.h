/* cli/run/nodes.h: results of each node for programs that draw graphs: Model Explorer (--node-data), and programs that
 * show the metadata of ONNX nodes, such as Netron (--annotate).
 */
#ifndef CLI_RUN_NODES_H
#define CLI_RUN_NODES_H

#include "cli/parse/command.h"
#include "cli/run/report.h"
#include "cli/run/settings.h"

/* Writes the requested files. `outcome->file` is set if --annotate was given. */
int run_nodes_write(const struct command_context *context, const struct run_settings *settings,
                    const struct run_outcome *outcome, struct error *err);

#endif
