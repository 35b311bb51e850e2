/* backend/command/ending.c: see ending.h. */
#include "backend/command/ending.h"

#include <ctype.h>
#include <string.h>

#include "backend/command/outputs.h"
#include "base/text/number.h"

/* Bytes of a command's output that are shown: after a failure, and if all output is requested. */
#define SHOWN_OF_FAILURE ((size_t)4 << 10)
#define SHOWN_OF_ALL ((size_t)256 << 10)
#define LAST_LINE 400 /* bytes of it in a message */

/* With these exit codes shells and others say that nothing was run (POSIX, "Exit Status for Commands"; git bisect). */
enum { CODE_UNTESTABLE = 125, CODE_NOT_EXECUTABLE = 126, CODE_NOT_FOUND = 127, CODE_SIGNALED = 128 };

/* ---- What a command wrote ---- */

/* The end of it, from the beginning of a line on where there is one. */
static struct text find_last_lines(const struct process_output *output, size_t most)
{
    struct text end = {output->data, output->size};

    if (end.size > most) {
        const char *start = output->data + output->size - most;
        const char *line = memchr(start, '\n', most);

        start = line != NULL && line + 1 < output->data + output->size ? line + 1 : start;
        end = (struct text){start, (size_t)(output->data + output->size - start)};
    }
    return end;
}

void command_show_stream(const struct runner_command *command, struct log *log, const char *stream,
                         const struct process_output *output, bool failed)
{
    enum log_level level = failed ? LOG_ERROR : LOG_VERBOSE;
    struct text end = find_last_lines(output, failed ? SHOWN_OF_FAILURE : SHOWN_OF_ALL);
    uint64_t left_out = output->left_out + (output->size - end.size);
    SCOPED_STRING(text);

    if (output->size == 0 || !log_shows(log, level))
        return;
    string_add_format(&text, "%s | Its %s:\n", command->name, stream);
    if (left_out > 0)
        string_add_format(&text, "[... %llu bytes left out ...]\n", (unsigned long long)left_out);
    string_add_visible(&text, end);
    log_text(log, level, (struct text){text.data, text.size});
}

/* The last line that says something; false when there is none. */
static bool add_last_line(const struct process_output *output, struct string_builder *ret)
{
    struct text text = find_last_lines(output, SHOWN_OF_FAILURE);
    size_t line;

    while (text.size > 0 && !isalnum((unsigned char)text.data[text.size - 1]))
        text.size--;
    if (text.size == 0)
        return false;
    while (text.data + text.size < output->data + output->size && text.data[text.size] != '\n')
        text.size++;
    line = text_find_last(text, TEXT("\n"));
    if (line != SIZE_MAX)
        text = (struct text){text.data + line + 1, text.size - line - 1};
    text.size = text.size < LAST_LINE ? text.size : LAST_LINE;
    string_add(ret, "; its last line: ");
    string_add_visible(ret, text);
    return true;
}

/* ---- How it ended ---- */

/* A signal is reported as such, or as an exit code if a shell was in between. */
static int ending_signal(const struct process_result *result)
{
    if (result->end == PROCESS_SIGNALED)
        return result->code;
    return result->code > CODE_SIGNALED && result->code <= CODE_SIGNALED + 64 ? result->code - CODE_SIGNALED : 0;
}

static void describe_end(const struct runner_command *command, const struct process_result *result, struct error *err)
{
    char seconds[NUMBER_TEXT_SIZE];
    int signal_number = ending_signal(result);

    if (result->end == PROCESS_TIMED_OUT) {
        error_set(err, ERR_BACKEND,
                  "it was ended with all that it had started after %s s (--runner-timeout gives it more)",
                  number_to_text(command->timeout, seconds));
        err->foreign_code = COMMAND_TIMED_OUT;
    } else if (signal_number > 0) {
        error_set(err, ERR_BACKEND, "signal %d (%s) ended it", signal_number, strsignal(signal_number));
        err->foreign_code = -signal_number;
    } else if (result->code == CODE_NOT_FOUND) {
        error_set(err, ERR_MISSING,
                  "it ended with exit code 127, with which shells say that there is no such program (what stands in "
                  "front of the first '=' is the runner's name: a line that begins with a variable needs `env` there)");
    } else if (result->code == CODE_NOT_EXECUTABLE) {
        error_set(err, ERR_IO, "it ended with exit code 126, with which shells say that a program cannot be executed");
    } else if (result->code == CODE_UNTESTABLE) {
        error_set(err, ERR_IO, "it ended with exit code 125, which says that the model could not be run here at all");
    } else {
        error_set(err, ERR_BACKEND, "it ended with exit code %d", result->code);
        err->foreign_code = result->code;
    }
}

int command_describe_end(const struct runner_command *command, const struct process_result *result, struct error *err)
{
    struct error end;
    SCOPED_STRING(last);

    describe_end(command, result, &end);
    if (!add_last_line(&result->error_out, &last))
        add_last_line(&result->out, &last);
    error_set(err, (enum error_code)end.code, "%s%s", end.message, last.data);
    if (err != NULL)
        err->foreign_code = end.foreign_code;
    return end.code;
}

int command_blame(const struct runner_command *command, bool is_build, struct error *err)
{
    int foreign_code = err->foreign_code;

    if (err->code == ERR_INTERRUPTED)
        return err->code;
    error_context(err, "the runner '%s' failed%s", command->name, is_build ? " at building" : "");
    err->foreign_code = foreign_code;
    return err->code;
}
