/* cli/parse/option.h: the tables that describe what may be typed after a command's name, and where it is stored.
 *
 * A table is constant data. The settings of a command are one struct, zeroed in the beginning, which belongs to the
 * parse and which `run` of the command gets when it is complete. Each group of options fills one struct: what several
 * commands share is a member of the settings of each of them; the options that only one command has fill its settings
 * directly. Nothing is looked up by name, and what a command lacks its settings do not have.
 *
 *   struct debug_tool_settings {
 *       struct debug_values debug;       filled by check_options, artifact_options, ...
 *       struct model_file_settings file;
 *       enum reduce_mode mode;           an option of its own
 *   };
 *
 *   static const struct option options[] = {
 *       OPTION_ROW(struct debug_tool_settings, mode, .names = {"--mode"}, .kind = OPTION_ONE, .type = OPTION_CHOICE,
 *                  .choices = modes, .fallback = "bisect", .help = "how to search"),
 *   };
 *
 *   static const struct command_group groups[] = {
 *       COMMAND_GROUP(struct debug_tool_settings, debug, check_options),
 *       {&reduce_options, 0},
 *   };
 *
 * COMMAND_GROUP() does not compile unless the member is the struct that the group fills, which OPTION_GROUP() declares
 * beside the group. The `finish` function of a group gets that struct; so the one of a command's own options gets all
 * settings of the command, of which the groups before it are complete.
 */
#ifndef CLI_PARSE_OPTION_H
#define CLI_PARSE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text/text.h"

struct parse;

enum option_kind {
    OPTION_FLAG,    /* no value */
    OPTION_OFF,     /* no value; the field is true until the option is given */
    OPTION_COUNT,   /* no value; occurrences add up */
    OPTION_ORDERED, /* no value; every occurrence appends the option's name, without dashes, to a shared field */
    OPTION_ONE,     /* exactly one value */
    OPTION_MAYBE,   /* one value or none */
    OPTION_MANY,    /* one value or more: all following words that are not options */
    OPTION_ANY,     /* the same, or none */
    OPTION_REST,    /* all remaining words, options included */
};

/* What the values are, and with it the type of the field: */
enum option_type {
    /*               ONE, MAYBE             MANY, ANY, REST  */
    OPTION_TEXT,    /* const char *         struct words     */
    OPTION_INTEGER, /* int64_t              struct words     */
    OPTION_FLOAT,   /* double               -                */
    OPTION_CHOICE,  /* int, or an enum      struct words     */
    /* FLAG, OFF: bool. COUNT: int. ORDERED: struct words. With `convert`: whatever it fills. */
};

/* What becomes of the files that an option's values are paths of (cli/files.h): */
enum option_file {
    OPTION_NO_FILE,
    OPTION_READS_MODEL, /* read, and so are the external data of the model */
    OPTION_READS_DATA,  /* read; the words are those of format/data/word.h */
    OPTION_READS,
    OPTION_RUNS,           /* a command line, or the words of one: files that it names are read */
    OPTION_WRITES,         /* replaced whole */
    OPTION_SCRATCH,        /* written anew for each check, and removed */
    OPTION_MOVES,          /* taken to another folder, whoever has written it */
    OPTION_WRITES_DATA,    /* replaced whole; with '/' at its end a folder that is made */
    OPTION_WRITES_FOLDER,  /* a folder that files are put into */
    OPTION_WRITES_RESULTS, /* a folder of the command's own, whose files it replaces (debug/record/result_folder.h) */
    OPTION_WRITES_BESIDE,  /* replaced whole; the path is relative to the model that is written */
};

/* What an option's values name, or begin with. Where the value name has a colon ("NAME:SHAPE"), something follows the
 * name. */
enum option_names {
    OPTION_NO_NAMES,
    OPTION_INPUT_NAMES, /* of the model that the command reads, as those that follow */
    OPTION_OUTPUT_NAMES,
    OPTION_TENSOR_NAMES, /* inputs, and what nodes make */
    OPTION_NODE_NAMES,
    OPTION_COMMAND_NAMES, /* each a subcommand of the one before it */
};

/* Makes the typed value of an option out of its words. `spelling` is the option as the user typed it, for messages.
 * Memory comes from parse_arena(). */
typedef int option_convert(struct parse *parse, const char *spelling, struct words words, void *field,
                           struct error *err);

struct option {
    const char *names[4]; /* "-o", "--output"; a single name without a dash is a positional word */
    enum option_kind kind;
    enum option_type type;
    const char *value_name;     /* how --help calls the value; NULL: made from the name or the choices */
    const char *help;           /* one or more sentences in lower case, without a full stop at the end */
    const char *const *choices; /* NULL-terminated; NULL: anything goes */
    const int *choice_values;   /* OPTION_CHOICE: what they stand for; NULL: 0, 1, 2, ... */
    const char *fallback;       /* the value when the option is not given, as it would be typed; NULL: a zeroed field */
    option_convert *convert;    /* for values that the types above do not cover; NULL otherwise */
    bool (*stands_alone)(const char *word); /* OPTION_REST: says whether the first word is already the whole value */
    enum option_file file;

    /* OPTION_WRITES_RESULTS: appends the names of the files that the command writes to the folder; a pattern with `*`
     * where their number is not known. None: with this command line it writes nothing there. */
    void (*list_results)(const struct parse *parse, struct word_list *ret);

    /* What a shell offers when a value is completed; others will do, too. Hints follow names if something has to. */
    const char *extensions; /* of files: "onnx engine"; NULL: any */
    enum option_names naming;
    const char *const *hints; /* NULL-terminated words, or NULL */

    const char *shares;  /* the first name of an option whose file this one may write over; NULL: none */
    const char *refusal; /* not NULL: recognised, but refused with this explanation and alternative, and with */
    const char *topic;   /* the heading that tells more: NAME of FROM_POLYGRAPHY(NAME) */
    int exclusive;       /* options of a group that share a number other than 0 exclude each other */
    bool append;         /* values of several occurrences add up; otherwise the last occurrence wins */
    bool ordered;        /* every occurrence is noted among those of the group's OPTION_ORDERED, too */
    bool yields;         /* Polygraphy does not have it: what abbreviates an option of Polygraphy's, too, means that */
    bool required;       /* positional words of kind ONE and MANY always are */
    size_t struct_size, offset; /* by OPTION_FIELD: of the struct that has the field, and in it; 0: no field */
};

/* Where messages send those who come from Polygraphy: a heading of that page, as its anchor. */
#define FROM_POLYGRAPHY(heading) "docs/coming-from-polygraphy.md#" heading

#define OPTION_FIELD(type, member) .struct_size = sizeof(type), .offset = offsetof(type, member)

/* A row of a table: of an option that fills a field, with its other members; and of one that is only met or refused. */
#define OPTION_ROW(type, member, ...)                                                                                  \
    {                                                                                                                  \
        OPTION_FIELD(type, member), __VA_ARGS__                                                                        \
    }
#define OPTION_WITHOUT_FIELD(...)                                                                                      \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

/* Options that belong together: one section of --help-all. */
struct option_group {
    const char *title;
    const char *description; /* one sentence under the title; may be NULL */
    const struct option *options;
    size_t count;

    /* Checks what concerns several options and completes the struct that they fill, `values`; may be NULL. Groups of
     * the command that come earlier are complete. Warnings go to parse_log(). */
    int (*finish)(struct parse *parse, void *values, struct error *err);
};

/* A group of a command. */
struct command_group {
    const struct option_group *group;
    size_t offset; /* of the struct that it fills, in the command's settings */
};

/* Declares a group that commands share, and the type of the struct that it fills. */
#define OPTION_GROUP(type, name)                                                                                       \
    extern const struct option_group name;                                                                             \
    extern type name##_fills /* nowhere defined: only for its type */

/* The group of a command whose settings are a `type`, and the member that it fills. */
#define COMMAND_GROUP(type, member, name)                                                                              \
    {                                                                                                                  \
        &(name), offsetof(type, member) + 0 * sizeof(1 ? &((type *)0)->member : &name##_fills)                         \
    }

#endif
