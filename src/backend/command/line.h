/* backend/command/line.h: the line of the shell that runs a model, and where it names the files that pass between it
 * and this program.
 *
 * {model}, {inputs}, {outputs} and {engine} stand for them. {inputs:npz} says in which format a file is: what the
 * placeholder does not say is SAFETENSORS. A line with {requests} and {answers} is started once and stays: these are
 * two pipes, and the files are named by what comes through them; {requests:npz} is the format of inputs and outputs.
 */
#ifndef BACKEND_COMMAND_LINE_H
#define BACKEND_COMMAND_LINE_H

#include <stdbool.h>

#include "base/error.h"

/* A runner that is a command. */
struct runner_command {
    const char *name;       /* of the runner, for messages */
    const char *line;       /* of the shell, with placeholders */
    const char *build_line; /* runs once for each model and leaves {engine}; NULL: there is no such thing */
    double timeout;         /* seconds for either; 0: any time */
};

enum command_file {
    COMMAND_MODEL,
    COMMAND_INPUTS,
    COMMAND_OUTPUTS,
    COMMAND_ENGINE,
    COMMAND_REQUESTS, /* the two pipes of a command that stays */
    COMMAND_ANSWERS,
    COMMAND_FILES, /* how many there are */
};

enum command_format {
    COMMAND_SAFETENSORS,
    COMMAND_NPZ,
    COMMAND_JSON, /* Polygraphy's: a list with one feed dict, results of a run */
    COMMAND_NPY,  /* a folder with a .npy file for each tensor */
    COMMAND_FORMATS,
};

/* The end of the names of files in this format: ".safetensors"; "" for a folder. */
const char *command_format_extension(enum command_format format);

/* In which formats the line wants inputs and outputs; of the other files there is one kind only. ERR_INVALID when it
 * names a format that is none, or two for one file, or files that do not go together. */
int command_line_formats(const char *line, enum command_format ret[COMMAND_FILES], struct error *err);

/* Whether the line has a placeholder for this file. */
bool command_line_names(const char *line, enum command_file file);

/* Whether the command is started once and asked many times. */
bool command_line_stays(const char *line);

/* The line with paths in place of the placeholders, written so that a shell takes them as they are; malloc'd. A file
 * whose path is NULL keeps its placeholder. */
char *command_line_for(const char *line, const char *const paths[COMMAND_FILES]);

#endif
