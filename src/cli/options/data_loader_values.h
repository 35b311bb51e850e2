/* cli/options/data_loader_values.h: a data loader as the command line describes it. */
#ifndef CLI_OPTIONS_DATA_LOADER_VALUES_H
#define CLI_OPTIONS_DATA_LOADER_VALUES_H

#include "cli/parse/command.h"
#include "comparator/data/loader.h"

/* Reads the data loader options and `model` (the shapes that go with the model, in whichever spelling the command has).
 * Files are loaded. The loader borrows from the parse. */
struct model_values;
int data_loader_from_options(const struct command_context *context, const struct model_values *model,
                             struct data_loader **ret, struct error *err);

/* The same, but data are generated, whatever files there are. */
int data_loader_to_generate(const struct command_context *context, const struct model_values *model,
                            struct data_loader **ret, struct error *err);

#endif
