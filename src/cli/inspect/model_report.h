/* cli/inspect/model_report.h: the HTML report of `inspect model`. */
#ifndef CLI_INSPECT_MODEL_REPORT_H
#define CLI_INSPECT_MODEL_REPORT_H

#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "onnx/model/model.h"

/* Writes the files of --report and --report-data, if given, for the model at `path`. */
int inspect_model_report(const struct command_context *context, const struct report_values *values, const char *path,
                         struct model *model, struct error *err);

#endif
