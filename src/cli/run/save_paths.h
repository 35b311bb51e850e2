/* cli/run/save_paths.h: folders of iterations that `run` writes while it still reads others. */
#ifndef CLI_RUN_SAVE_PATHS_H
#define CLI_RUN_SAVE_PATHS_H

#include "cli/run/settings.h"

/* ERR_EXISTS if data of --load-inputs or --load-outputs are in a folder that --save-inputs or --save-outputs writes. */
int run_check_save_paths(const struct run_settings *settings, struct error *err);

#endif
