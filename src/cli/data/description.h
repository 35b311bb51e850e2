/* cli/data/description.h: what the `data` commands read and wrote, in their JSON (docs/formats.md).
 *
 * The module cli/data/ contains the commands that convert files with inputs and results. */
#ifndef CLI_DATA_DESCRIPTION_H
#define CLI_DATA_DESCRIPTION_H

#include "cli/result_file.h"
#include "format/data/file.h"

/* An element of the list that is open: the file's path and size, its numbers of runners (0: input data) and of
 * iterations. */
void describe_data_read(struct result_file *result, const char *path, const struct data_file *file);

/* The member "written": path and size of the file, and the arrays of each iteration. */
void describe_inputs_written(struct result_file *result, const char *path, const struct feed_dicts *feeds);

/* The same for results: a list of runners, each with its name and the arrays of each iteration. */
void describe_results_written(struct result_file *result, const char *path, const struct run_results *results);

#endif
