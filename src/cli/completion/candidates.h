/* cli/completion/candidates.h: completion candidates for a word of a command line.
 *
 * The module cli/completion/ completes command lines in shells. Input: the words typed so far. Output: options,
 * choices, names in the model on the line, and file types, from the option tables, in the format of the shells' scripts
 * (command.c). A model is only indexed, never loaded; nothing is written, and no other program is started.
 */
#ifndef CLI_COMPLETION_CANDIDATES_H
#define CLI_COMPLETION_CANDIDATES_H

#include "base/container/arena.h"
#include "cli/parse/command.h"

struct candidate {
    const char *word;        /* the whole word, as a program would get it */
    const char *description; /* description; "" without one */
};

struct candidates {
    struct candidate *items;
    size_t count, capacity;
    bool files, folders;    /* paths of these types fit, too; after the = of an option, if there is one */
    const char *extensions; /* of files, "onnx engine"; NULL: any */
    size_t command;         /* index of the first word of another program's command line, for which there are no
                             * candidates; or SIZE_MAX */
    struct arena arena;     /* owns all words */
};

/* Fills `ret` with the completions of the word `index` of a command line; the first word is the program. Words after it
 * are used where the order of options is free. Invalid lines and models give fewer candidates, and no message. */
void candidates_find(const struct command *root, struct words words, size_t index, struct candidates *ret);
void candidates_release(struct candidates *candidates);

#endif
