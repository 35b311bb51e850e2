/* support/command_line.h: parsing the words of a test's command line. */
#ifndef SUPPORT_COMMAND_LINE_H
#define SUPPORT_COMMAND_LINE_H

#include "cli/parse/command.h"
#include "cli/parse/parser.h"
#include "support/captured_log.h"

struct command_line {
    struct parse parse;
    enum parse_outcome outcome;
    int rc; /* result of parse_finish(); 0 if the outcome is not PARSE_DONE */
    struct error err;
    struct captured_log log;
};

/* Parses and finishes `words` (NULL-terminated; literals) as the command line of `root`. */
void command_line_parse(struct command_line *line, const struct command *root, const char *const *words);
void command_line_release(struct command_line *line);

#define COMMAND_LINE(line, root, ...) command_line_parse(line, root, (const char *const[]){__VA_ARGS__, NULL})

#endif
