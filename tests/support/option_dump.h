/* support/option_dump.h: the options of Polygraphy's tools, as argparse registers them: tests/golden/vectors. */
#ifndef SUPPORT_OPTION_DUMP_H
#define SUPPORT_OPTION_DUMP_H

#include "cli/parse/option.h"

struct registered_option {
    char *names, *properties; /* "-o/--output", "default=None, dest=save_onnx, StoreAction" */
    char *section;
    bool met; /* for the test */
};

/* Those of the tool that was read last. */
extern struct option_dump {
    struct registered_option items[256];
    size_t count;
    char *text;
} option_dump;

/* Cuts a dump into lines and keeps those of one tool ("polygraphy run"). Returns the value of allow_abbrev. */
bool option_dump_read(const char *path, const char *tool);
void option_dump_release(void);

/* The option with this name among its names; NULL: none. */
struct registered_option *option_dump_find(const char *name);

bool registered_option_has(const struct registered_option *registered, const char *property);
enum option_kind registered_option_kind(const struct registered_option *registered);

#endif
