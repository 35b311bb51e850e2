/* debug/check/words.h: the words of a check, and where they name the files of the candidate and others.
 *
 * {artifact}, {inputs}, {golden} and {information} stand for the files of the candidate. Their usual paths do, too,
 * where they stand as a word, as a path in a line of the shell, or as the value of an option
 * (--model=polygraphy_debug.onnx). A file or folder that is called like a placeholder keeps its name
 * (base/file/placeholder.h). So candidates can be checked at other paths than the usual ones, several at a time.
 *
 * A candidate may be a list of what is switched off. {disabled} is that list itself then, which the check has in its
 * environment as well, so that it need not look at the file.
 *
 * Commands of --runner have an {inputs} of their own, which is left to `polygraphy run`.
 */
#ifndef DEBUG_CHECK_WORDS_H
#define DEBUG_CHECK_WORDS_H

#include "debug/candidate/place.h"

/* In the environment of a check: where the candidate is. */
#define CHECK_ARTIFACT_VARIABLE "POLYGRAPHY_ARTIFACT"

/* Where the candidate is a list, in its environment, too: what is switched off, with ';' between. A list that is too
 * long for that is @ and the file that has it, a name a line. */
#define CHECK_DISABLED_VARIABLE "POLYGRAPHY_DISABLED"
#define CHECK_LONGEST_LIST ((size_t)16 << 20) /* bytes of such a file */

struct check_words {
    char *program;      /* what is executed; NULL when there is no command */
    const char **items; /* its arguments, NULL-terminated; files have their usual paths */
    size_t count;
    bool shell;   /* the last one is a line of the shell */
    bool is_list; /* the artifact is a list of what is switched off */
    struct candidate_paths usual;
};

/* "{artifact}" */
const char *check_words_placeholder(enum candidate_file file);

/* True when one of the words names this file of a candidate, or what is in it reaches the check in another way, so that
 * it can be elsewhere than at its usual path. */
bool check_words_name(const struct check_words *words, enum candidate_file file);

/* True when the name of this file, without its folder, occurs in the words. */
bool check_words_name_path(const struct check_words *words, const char *path);

/* False when neither the command nor a script that it names says how it gets to the candidate: by path, {artifact} or
 * POLYGRAPHY_ARTIFACT. It may do so all the same, by a program that looks into its environment. */
bool check_words_tell_of_artifact(const struct check_words *words);

/* Appends the files that the command names: vital are scripts, and what --load-inputs and --load-outputs read. What it
 * replaces itself, by the look of the word before, is left out, also where it reads that afterwards. */
void check_words_list_files(const struct check_words *words, struct named_files *ret);

/* The same of a line of the shell for --runner or --runner-build, "NAME=" in front of it and the program that it begins
 * with included. */
void command_line_list_files(const char *line, struct named_files *ret);

/* The words for a candidate whose files are at `actual`. In a line of the shell paths are quoted as far as they need
 * it, and so is `disabled` (NULL: {disabled} stands for itself). A NULL-terminated array of malloc'd words, for
 * check_words_free(). */
char **check_words_for(const struct check_words *words, const struct candidate_paths *actual, const char *disabled);
void check_words_free(char **words);

#endif
