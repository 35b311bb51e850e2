/* cli/completion/candidates.h: what can stand at a place of a command line.
 *
 * The module cli/completion/ completes command lines in shells: the words that were typed come in; options, choices,
 * names of the model on the line, and kinds of files go out, as the option tables have them, in the form that a shell
 * takes (command.c). A model is looked at, never loaded; nothing is written, and no other program is started.
 */
#ifndef CLI_COMPLETION_CANDIDATES_H
#define CLI_COMPLETION_CANDIDATES_H

#include "base/container/arena.h"
#include "cli/parse/command.h"

struct candidate {
    const char *word;        /* all of it, as a program would be given it */
    const char *description; /* "" where there is nothing to say */
};

struct candidates {
    struct candidate *items;
    size_t count, capacity;
    bool files, folders;    /* paths of these fit, too: behind the = of an option, if there is one */
    const char *extensions; /* of files, "onnx engine"; NULL: any */
    size_t command;         /* the word that another program's command line begins with, which fits nothing of ours; or
                               SIZE_MAX */
    struct arena arena;     /* owns all words */
};

/* Fills `ret` with what the word `index` of a command line can become; the first word is the program. Words behind it
 * count where it is free of choice which one comes first. A broken line, and a broken model, give fewer candidates,
 * and no message. */
void candidates_find(const struct command *root, struct words words, size_t index, struct candidates *ret);
void candidates_release(struct candidates *candidates);

#endif
