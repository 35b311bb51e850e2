/* cli/options/reduce.h: settings of `debug reduce` from the command line. */
#ifndef CLI_OPTIONS_REDUCE_H
#define CLI_OPTIONS_REDUCE_H

#include "cli/options/groups.h"
#include "cli/run/settings.h"
#include "debug/reduce/reduce.h"

struct debug_reduce_settings {
    struct debug_values debug;
    struct model_file_settings file;
    struct reduce_settings reduce;
    struct step_values steps;
};

OPTION_GROUP(struct debug_reduce_settings, reduce_options);

#endif
