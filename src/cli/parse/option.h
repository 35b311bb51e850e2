/* cli/parse/option.h: tables that describe the options of a command, and the settings that they fill.
 *
 * A table is constant data. The settings of a command are one struct, initially zeroed, which belongs to the parse; the
 * command's `run` gets it when it is complete. Each group of options fills one struct: the struct of a shared group is
 * a member of each command's settings; the options of a single command fill its settings directly. Nothing is looked up
 * by name, so using an option that a command lacks does not compile.
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
 * COMMAND_GROUP() compiles only if the member is the struct that the group fills, which OPTION_GROUP() declares with
 * the group. The `finish` function of a group gets that struct; for a command's own options it is the command's whole
 * settings, in which the groups before it are complete.
 */
#ifndef CLI_PARSE_OPTION_H
#define CLI_PARSE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"

struct parse;

enum option_kind {
    OPTION_FLAG,    /* no value */
    OPTION_OFF,     /* no value; the field is true until the option is given */
    OPTION_COUNT,   /* no value; occurrences are counted */
    OPTION_ORDERED, /* no value; every occurrence appends the option's name, without dashes, to a shared field */
    OPTION_ONE,     /* exactly one value */
    OPTION_MAYBE,   /* one value or none */
    OPTION_MANY,    /* one value or more: all following words that are not options */
    OPTION_ANY,     /* the same, or none */
    OPTION_REST,    /* all remaining words, options included */
};

/* The type of the values, and of the field: */
enum option_type {
    /*               ONE, MAYBE             MANY, ANY, REST  */
    OPTION_TEXT,    /* const char *         struct words     */
    OPTION_INTEGER, /* int64_t              struct words     */
    OPTION_FLOAT,   /* double               -                */
    OPTION_CHOICE,  /* int, or an enum      struct words     */
    /* FLAG, OFF: bool. COUNT: int. ORDERED: struct words. With `convert`: the type that it fills. */
};

/* How the command uses the files that an option's values name (cli/files.h): */
enum option_file {
    OPTION_NO_FILE,
    OPTION_READS_MODEL, /* read, with the external data of the model */
    OPTION_READS_DATA,  /* read; the words are those of format/data/word.h */
    OPTION_READS,
    OPTION_READS_NAMED,       /* read; the words are NAME=PATH */
    OPTION_RUNS,              /* a command line, or its words: files that it names are read */
    OPTION_WRITES,            /* replaced atomically */
    OPTION_SCRATCH,           /* written for each check, then removed */
    OPTION_MOVES,             /* moved to another folder */
    OPTION_WRITES_DATA,       /* replaced atomically; with a trailing '/' a folder, which is created */
    OPTION_WRITES_ITERATIONS, /* the same; without extension, too, see format/data/iteration_folder.h */
    OPTION_WRITES_FOLDER,     /* a folder that files are put into */
    OPTION_WRITES_RESULTS,    /* a folder of results, whose files the command replaces (debug/record/result_folder.h) */
    OPTION_WRITES_BESIDE,     /* replaced atomically; the path is relative to the model that is written */
};

/* What an option's values, or their prefixes, name. If `value_name` contains a colon ("NAME:SHAPE"), a suffix follows
 * the name. */
enum option_names {
    OPTION_NO_NAMES,
    OPTION_INPUT_NAMES, /* of the model that the command reads, as are the next three */
    OPTION_OUTPUT_NAMES,
    OPTION_TENSOR_NAMES, /* inputs, and outputs of nodes */
    OPTION_NODE_NAMES,
    OPTION_COMMAND_NAMES, /* each a subcommand of the one before it */
};

/* Converts an option's words into its typed value in `field`. `spelling` is the option as the user typed it, for
 * messages. Memory comes from parse_arena(). */
typedef int option_convert(struct parse *parse, const char *spelling, struct words words, void *field,
                           struct error *err);

struct option {
    const char *names[4];    /* "-o", "--output"; a single name without a dash is a positional word */
    const char *former_name; /* of earlier versions: accepted in full, never shown; NULL: none */
    enum option_kind kind;
    enum option_type type;
    const char *value_name;     /* placeholder of the value in --help; NULL: from the name or the choices */
    const char *help;           /* one or more sentences, the first in lower case, without a full stop at the end */
    const char *const *choices; /* NULL-terminated; NULL: any value */
    const int *choice_values;   /* OPTION_CHOICE: their values; NULL: 0, 1, 2, ... */
    const char *fallback;       /* the default as it would be typed; NULL: a zeroed field */
    option_convert *convert;    /* for values of other types; NULL otherwise */
    bool (*stands_alone)(const char *word); /* OPTION_REST: whether the first word is the whole value */
    enum option_file file;

    /* OPTION_WRITES_RESULTS: appends the names of the files that the command writes to the folder, or patterns with `*`
     * if their number is not known. Without names the command writes nothing there. */
    void (*list_results)(const struct parse *parse, struct word_list *ret);

    /* Candidates of shell completion, which are not the only valid values. After a name and a colon, `hints` are
     * offered. */
    const char *extensions; /* of files: "onnx engine"; NULL: any */
    enum option_names naming;
    const char *const *hints; /* NULL-terminated words, or NULL */

    const char *with;           /* option of the group: if that belongs to single runners, this does, too; or NULL */
    const char *shares;         /* first name of an option whose file this one may overwrite; NULL: none */
    const char *refusal;        /* if not NULL: the option is refused with this text: why, and the alternative */
    const char *topic;          /* heading that the refusal names: NAME of FROM_POLYGRAPHY(NAME) */
    int exclusive;              /* options of a group with the same nonzero number exclude each other */
    bool append;                /* values of several occurrences are appended; otherwise the last occurrence wins */
    bool ordered;               /* each occurrence is also recorded among those of the group's OPTION_ORDERED */
    bool yields;                /* not an option of Polygraphy: an ambiguous abbreviation means Polygraphy's option */
    bool required;              /* always true for positional words of kind ONE and MANY */
    size_t struct_size, offset; /* set by OPTION_FIELD: size of the struct, and the field's offset in it; 0: no field */
};

/* The anchor of a heading in the page for users of Polygraphy, for messages. */
#define FROM_POLYGRAPHY(heading) "docs/coming-from-polygraphy.md#" heading

#define OPTION_FIELD(type, member) .struct_size = sizeof(type), .offset = offsetof(type, member)

/* A row of a table: an option that fills a field, with its other members; and an option without a field. */
#define OPTION_ROW(type, member, ...)                                                                                  \
    {                                                                                                                  \
        OPTION_FIELD(type, member), __VA_ARGS__                                                                        \
    }
#define OPTION_WITHOUT_FIELD(...)                                                                                      \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

/* A group of options: one section of --help-all. */
struct option_group {
    const char *title;
    const char *description; /* one sentence under the title; may be NULL */
    const struct option *options;
    size_t count;

    /* Validates combinations of options and completes the struct that they fill, `values`; may be NULL. The command's
     * earlier groups are complete. Warnings go to parse_log(). */
    int (*finish)(struct parse *parse, void *values, struct error *err);
};

/* The members `options` and `count` of a group with these rows. */
#define OPTION_ROWS(rows) .options = (rows), .count = ARRAY_LEN(rows)

/* A group of options in a command. */
struct command_group {
    const struct option_group *group;
    size_t offset; /* offset of the struct that it fills, in the command's settings */
};

/* Declares a shared group and the type of the struct that it fills. */
#define OPTION_GROUP(type, name)                                                                                       \
    extern const struct option_group name;                                                                             \
    extern type name##_fills /* never defined: only its type is used */

/* A group in a command with settings of type `type`, and the member that it fills. */
#define COMMAND_GROUP(type, member, name)                                                                              \
    {                                                                                                                  \
        &(name), offsetof(type, member) + 0 * sizeof(1 ? &((type *)0)->member : &name##_fills)                         \
    }

#endif
