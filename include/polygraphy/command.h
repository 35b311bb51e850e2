/* polygraphy/command.h: commands of the program, with their result as a JSON document (library interface).
 *
 *   static int32_t check(void *context, const char *request, const char **output)
 *   {
 *       return fails(context, request) ? 1 : 0;
 *   }
 *
 *   const char *const words[] = {"debug", "reduce", "model.onnx", "-o", "reduced.onnx", "--mode", "minimal", NULL};
 *   struct polygraphy_command command = {.words = words, .check = check};
 *   struct polygraphy_command_result result;
 *   struct polygraphy_error error;
 *
 *   if (polygraphy_run_command(&command, &result, &error) < 0)
 *       fprintf(stderr, "%s\n", error.message);
 *   else
 *       puts(result.document);
 *   polygraphy_command_result_release(&result);
 *
 * All options are words of the command line, and the document is that of --json FILE (docs/formats.md), so that each
 * command, option and result of the program is available: `run`, `check lint` and `surgeon` as well as `debug`.
 *
 * The command runs in a process of the program, which the function starts by posix_spawn(): a runtime that crashes or
 * needs all memory ends that process only. A check, however, is a function of this process: a search starts one process
 * in total, whatever the number of its checks.
 *
 * Threads, signals: the function returns when the process has ended. Callbacks are called on the caller's thread. The
 * library never prints, handles no signals, and does not call fork(). The process is the leader of a new process group:
 * Ctrl-C on a terminal reaches the caller only, whose `cancelled` passes it on.
 */
#ifndef POLYGRAPHY_COMMAND_H
#define POLYGRAPHY_COMMAND_H

#include "polygraphy/reduce.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    POLYGRAPHY_CHECK_PASSED = 0,        /* any other number up to 255 is a failure, and different numbers are different
                                         * failures (--signature), but: */
    POLYGRAPHY_CHECK_INCONCLUSIVE = 125 /* the candidate cannot be judged */
};

/* Checks a candidate. `request` is a JSON object: {"artifact": path of the model, "inputs", "golden", "information":
 * paths of the files of --iter-inputs, --iter-golden and --iter-info or null, "disabled": for commands whose candidates
 * are lists, that list, else null, "iteration": number, -1 outside of numbered iterations}. Returns an exit code, as a
 * command of --check, or a negative number to end the search. `*output` is NULL, and may be set to text that the check
 * prints, which is logged with the verdict and valid until the next call. */
typedef int32_t polygraphy_command_check(void *context, const char *request, const char **output);

/* Whether to end the command: called at least every tenth of a second, and after each signal. The process then ends as
 * after Ctrl-C: it removes its temporary files. If it has not ended after some seconds, it is killed. */
typedef bool polygraphy_command_cancelled(void *context);

struct polygraphy_command {
    const char *program;      /* the program's file; NULL: "polygraphy-native" on the PATH */
    const char *const *words; /* of the command line, NULL-terminated, without the program, --json and --check */

    polygraphy_command_check *check;         /* NULL: none, or --check in `words` */
    const char *check_name;                  /* in log and replay; NULL: "function" */
    polygraphy_log *log;                     /* each line of the log, without its "[I] "; NULL: no log */
    polygraphy_command_cancelled *cancelled; /* NULL: never */
    void *context;                           /* passed to these functions */
};

struct polygraphy_command_result {
    int32_t exit_code; /* docs/exit-codes.md; -N after signal N; 0, too, if the caller ignores SIGCHLD */
    char *document;    /* JSON in UTF-8, NUL-terminated; NULL: the command has written none */
};

/* Errors of this function, next to those of polygraphy/reduce.h. */
enum {
    POLYGRAPHY_ERROR_INTERRUPTED = -8, /* by `cancelled` or the check */
    POLYGRAPHY_ERROR_COMMAND = -20     /* the command reported an error: the message is the program's */
};

/* Runs a command that has --json. Returns 0 if it has written its document, whatever its exit code (`run` exits with 1
 * if outputs differ), otherwise an error. In both cases `result` must be released. */
int32_t polygraphy_run_command(const struct polygraphy_command *command, struct polygraphy_command_result *result,
                               struct polygraphy_error *error);

/* Frees the content of a result. A released or zeroed result may be released again. */
void polygraphy_command_result_release(struct polygraphy_command_result *result);

#ifdef __cplusplus
}
#endif

#endif
