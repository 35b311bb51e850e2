/* cli/commands.h: all commands, each defined in the file of its name.
 *
 * The module cli/ is the program: main.c selects the command; the file of a command contains its table of options and
 * its work; code that commands share for models, engines and files is next to these. Input: command-line words. Output:
 * log lines, files and an exit status. It may use every other module, and is the only one that prints.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/parse/command.h"

extern const struct command cmd_run;
extern const struct command cmd_check;
extern const struct command cmd_check_accuracy;
extern const struct command cmd_check_lint;
extern const struct command cmd_data;
extern const struct command cmd_data_concat;
extern const struct command cmd_data_generate;
extern const struct command cmd_data_merge;
extern const struct command cmd_data_to_input;
extern const struct command cmd_convert;
extern const struct command cmd_debug;
extern const struct command cmd_debug_accuracy;
extern const struct command cmd_debug_build;
extern const struct command cmd_debug_kernels;
extern const struct command cmd_debug_models;
extern const struct command cmd_debug_passes;
extern const struct command cmd_debug_releases;
extern const struct command cmd_debug_precision;
extern const struct command cmd_debug_quantization;
extern const struct command cmd_debug_reduce;
extern const struct command cmd_debug_repeat;
extern const struct command cmd_debug_tactics;
extern const struct command cmd_surgeon;
extern const struct command cmd_surgeon_extract;
extern const struct command cmd_surgeon_insert;
extern const struct command cmd_surgeon_prune;
extern const struct command cmd_surgeon_sanitize;
extern const struct command cmd_surgeon_weight_strip;
extern const struct command cmd_surgeon_weight_reconstruct;
extern const struct command cmd_completion;
extern const struct command cmd_help;
extern const struct command cmd_inspect;
extern const struct command cmd_inspect_capability;
extern const struct command cmd_inspect_data;
extern const struct command cmd_inspect_model;
extern const struct command cmd_inspect_sparsity;
extern const struct command cmd_inspect_tactics;
extern const struct command cmd_inspect_diff_tactics;
extern const struct command cmd_inspect_diff_engines;
extern const struct command cmd_inspect_diff_models;

/* Tools of Polygraphy that are not supported; the last one has a NULL name. */
extern const struct missing_command missing_tools[];

#endif
