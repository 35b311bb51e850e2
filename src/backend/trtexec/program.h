/* backend/trtexec/program.h: a trtexec, and what it can do. Abilities are read off its help text, never off its
 * version: an option is there when a line of the help begins with it.
 */
#ifndef BACKEND_TRTEXEC_PROGRAM_H
#define BACKEND_TRTEXEC_PROGRAM_H

#include <stdbool.h>

#include "base/container/arena.h"
#include "base/error.h"
#include "base/text/string_builder.h"

struct trtexec {
    const char *path;
    int major, minor, patch; /* of the headers that it was compiled with; the library may differ from it */
    struct words options;    /* "--onnx", ...: sorted, each once */
    struct arena arena;      /* all text; who has it releases it */
};

/* Reads what `trtexec --help` has written. ERR_BACKEND when trtexec did not write it. */
int trtexec_parse_help(const char *path, struct text help, struct trtexec *ret, struct error *err);

/* Whether it knows an option, which is written as in "--stronglyTyped". */
bool trtexec_has(const struct trtexec *program, const char *option);

/* 0 when it knows the option. Else ERR_UNSUPPORTED: `wish` (what the user asked for, such as "--fp16") is not there in
 * this version, since or until when it is, as far as that is known, and, unless NULL, what to do instead. */
int trtexec_require(const struct trtexec *program, const char *option, const char *wish, const char *instead,
                    struct error *err);

/* Appends "trtexec 10.16.0 ('/usr/src/tensorrt/bin/trtexec')". */
void trtexec_describe(const struct trtexec *program, struct string_builder *ret);

#endif
