/* cli/inspect/model_report.h: the page of `inspect model`. */
#ifndef CLI_INSPECT_MODEL_REPORT_H
#define CLI_INSPECT_MODEL_REPORT_H

#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "onnx/model/model.h"

/* Writes what --report and --report-data ask for, if anything, about the model at `path`. */
int inspect_model_report(const struct command_context *context, const struct report_values *values, const char *path,
                         struct model *model, struct error *err);

#endif
