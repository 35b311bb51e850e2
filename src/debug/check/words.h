/* debug/check/words.h: the arguments of a check, and the files that they name.
 *
 * {artifact}, {inputs}, {golden} and {information} stand for the files of the candidate. Their usual paths do, too, as
 * a word, as a path in a shell line, or as the value of an option (--model=polygraphy_debug.onnx). A file or folder
 * whose name looks like a placeholder keeps its name (base/file/placeholder.h). So candidates can be checked at other
 * paths, in parallel.
 *
 * If a candidate is a list of what to disable, {disabled} is that list; the environment has it, too, so that the check
 * need not read the file.
 *
 * \nCommands of --runner have a separate {inputs}, which `polygraphy run` replaces.
 */
#ifndef DEBUG_CHECK_WORDS_H
#define DEBUG_CHECK_WORDS_H

#include "debug/candidate/place.h"

/* Environment variable of a check: path of the candidate. */
#define CHECK_ARTIFACT_VARIABLE "POLYGRAPHY_ARTIFACT"

/* Environment variable of a check whose candidate is a list: what to disable, separated by ';'. A longer list is passed
 * as @ and the path of a file with one name a line. */
#define CHECK_DISABLED_VARIABLE "POLYGRAPHY_DISABLED"
#define CHECK_LONGEST_LIST ((size_t)16 << 20) /* bytes of such a file */

struct check_words {
    char *program;      /* path of the program; NULL: no command */
    const char **items; /* its arguments, NULL-terminated; files have their usual paths */
    size_t count;
    bool shell;             /* the last item is a shell line */
    bool is_in_environment; /* the artifact, or its content, reaches the check by a variable of its own */
    struct candidate_paths usual;
};

/* "{artifact}" */
const char *check_words_placeholder(enum candidate_file file);

/* Whether a word names this file of a candidate, or its content reaches the check in another way, so that the file can
 * have any path. */
bool check_words_name(const struct check_words *words, enum candidate_file file);

/* Whether the name of this file, without its folder, occurs in the words. */
bool check_words_name_path(const struct check_words *words, const char *path);

/* Whether the command or a script in it names the candidate: its path, {artifact} or POLYGRAPHY_ARTIFACT. If not, a
 * program of the check may still read the environment variable. */
bool check_words_tell_of_artifact(const struct check_words *words);

/* Appends the files that the command names; scripts, libraries of
 * --onnxrt-provider-library, and files of --load-inputs and --load-outputs, are vital. Files that the
 * command writes, judged by the word before, are omitted, also where it reads them afterwards. */
void check_words_list_files(const struct check_words *words, struct named_files *ret);

/* The same for a shell line of --runner or --runner-build, including its program; "NAME=" at the beginning is skipped.
 * */
void command_line_list_files(const char *line, struct named_files *ret);

/* The arguments for a candidate with files at `actual`. In a shell line, paths and `disabled` are quoted if necessary;
 * `disabled` NULL: {disabled} is not replaced. Returns a NULL-terminated array of malloc'd words; free it with
 * check_words_free(). */
char **check_words_for(const struct check_words *words, const struct candidate_paths *actual, const char *disabled);
void check_words_free(char **words);

#endif
