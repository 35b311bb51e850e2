/* cli/files.h: the files that a command line names, so that no output is written over an input.
 *
 * Option tables say which options name files, and what becomes of these (`enum option_file`). Files are compared by
 * what they are, not by what they are called: links and other spellings of a path lead to the same file.
 */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "cli/parse/parse.h"

/* Looks at all files of a command line before anything is opened for writing, the log file included. Refused are: an
 * output that is an input (the model's external data are inputs, too), unless its option `shares` that one; two outputs
 * in one place; an output that is a folder, or a folder for outputs that is none. To be called after parse_words():
 * needs no typed values. */
int command_files_check(struct parse *parse, struct error *err);

#endif
