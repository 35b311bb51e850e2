/* debug/check/report.c: see report.h. */
#include "debug/check/report.h"

#include <inttypes.h>
#include <string.h>

#include "base/file/file.h"
#include "base/text/number.h"

/* An output of more than MOST_LINES lines is shortened to the last LAST_LINES, unless all is requested. */
enum { MOST_LINES = 10, LAST_LINES = 6 };

/* ---- What a check wrote ---- */

/* Whether `byte` continues a UTF-8 sequence, before which the text must not be cut. */
static bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xC0) == 0x80;
}

void check_output_render(const struct process_output *output, struct string_builder *ret)
{
    const char *data = output->data;
    size_t head = CHECK_OUTPUT_SHOWN;

    if (output->size == 0)
        return;
    if (output->size <= 2 * CHECK_OUTPUT_SHOWN) {
        string_add_visible(ret, (struct text){data, output->size});
        return;
    }
    size_t tail = output->size - CHECK_OUTPUT_SHOWN;
    for (int i = 0; i < 3 && continues_character(data[head]); i++)
        head--;
    for (int i = 0; i < 3 && continues_character(data[tail]); i++)
        tail++;

    /* The line that stands for the dropped part is not output of the check. */
    string_add_visible(ret, (struct text){data, head});
    string_add_format(ret, "\n[... %" PRIu64 " bytes left out ...]\n",
                      tail - head - (output->tail - output->head) + output->left_out);
    string_add_visible(ret, (struct text){data + tail, output->size - tail});
}

static void replace_all(struct process_output *output, const char *from, const char *to)
{
    size_t length = strlen(from), done = 0;
    size_t found = text_find((struct text){output->data, output->size}, text_of(from));
    struct string_builder text;

    if (found == SIZE_MAX)
        return;
    struct process_output renamed = *output;
    string_init(&text);
    while (found != SIZE_MAX) {
        size_t at = done + found;

        string_add_bytes(&text, output->data + done, at - done);
        string_add(&text, to);
        if (at < output->head)
            renamed.head += strlen(to) - length;
        if (at < output->tail)
            renamed.tail += strlen(to) - length;
        done = at + length;
        found = text_find((struct text){output->data + done, output->size - done}, text_of(from));
    }
    string_add_bytes(&text, output->data + done, output->size - done);

    process_output_release(output);
    renamed.fd = -1;
    renamed.size = text.size;
    renamed.data = string_take(&text);
    *output = renamed;
}

void check_output_rename(struct process_output *output, const char *actual, const char *usual)
{
    char *actual_name SCOPED_FREE = file_basename(actual), *usual_name SCOPED_FREE = file_basename(usual);

    replace_all(output, actual, usual);
    if (strcmp(actual_name, usual_name) != 0)
        replace_all(output, actual_name, usual_name);
}

/* ---- How it ended ---- */

/* Offset of the last lines if the output is to be shortened; else 0. */
static size_t find_last_lines(const struct process_output *output)
{
    size_t lines = 0, last = 0;

    for (size_t i = output->size; i > 0; i--) {
        if (output->data[i - 1] != '\n' || i == output->size)
            continue;
        lines++;
        if (lines == LAST_LINES)
            last = i;
        if (lines == MOST_LINES)
            return output->left_out > 0 && last < output->tail ? 0 : last;
    }
    return 0;
}

static size_t count_lines(struct text text)
{
    size_t lines = 0;

    for (size_t i = 0; i < text.size; i++)
        lines += text.data[i] == '\n';
    return lines;
}

/* The end of the output is the most informative: the verdict of `run`, the last line of a traceback. */
static void show_stream(const char *name, const struct process_output *output, bool whole, enum log_level level,
                        struct log *log)
{
    size_t last = whole ? 0 : find_last_lines(output);
    SCOPED_STRING(message);

    if (!log_shows(log, level))
        return;
    string_add_format(&message, "========== CAPTURED %s ==========\n", name);
    if (last > 0) {
        string_add_format(&message, "[... %s%zu earlier lines omitted; --show-output shows them ...]\n",
                          output->left_out > 0 ? "more than " : "", count_lines((struct text){output->data, last}));
        check_output_render(
            &(struct process_output){.data = output->data + last, .size = output->size - last, .fd = -1}, &message);
    } else {
        check_output_render(output, &message);
    }
    log_text(log, level, (struct text){message.data, message.size});
}

static bool is_shown_whole(const struct check_display *display, const struct log *log)
{
    return display->show_output || log_shows(log, LOG_VERBOSE);
}

static bool is_output_wanted(const struct check_display *display, enum verdict verdict)
{
    return verdict == VERDICT_FAIL ? !display->hide_fail_output : display->show_output;
}

bool check_report_shows_all(const struct check_display *display, const struct process_result *result,
                            enum verdict verdict, const struct log *log)
{
    return is_output_wanted(display, verdict) && log_shows(log, LOG_INFO) &&
           (is_shown_whole(display, log) || find_last_lines(&result->out) + find_last_lines(&result->error_out) == 0);
}

/* Without the warning, a script that calls `sh -c` with a misspelt name looks like a check that always fails. */
static void warn_about_shell(int code, struct log *log)
{
    if (code == 127)
        log_message(log, LOG_WARNING,
                    "The shell exited with code 127 (command not found): the check could not run, so its verdict says "
                    "nothing about the candidate");
    else if (code == 126)
        log_message(log, LOG_WARNING,
                    "The shell exited with code 126 (command not executable): the check could not run, so its verdict "
                    "says nothing about the candidate");
}

void check_report(const struct check_rules *rules, const struct check_display *display,
                  const struct process_result *result, enum verdict verdict, bool first_of_shell, struct log *log)
{
    bool whole = is_shown_whole(display, log);
    int code = check_exit_code(result);
    char number[NUMBER_TEXT_SIZE];

    if (is_output_wanted(display, verdict)) {
        show_stream("STDOUT", &result->out, whole, LOG_INFO, log);
        show_stream("STDERR", &result->error_out, whole, verdict == VERDICT_FAIL ? LOG_ERROR : LOG_WARNING, log);
    }
    if (result->out.truncated || result->error_out.truncated)
        log_message(log, LOG_WARNING, "The disk of temporary files is full: part of the check's output was lost");
    if (result->end == PROCESS_TIMED_OUT)
        log_message(log, LOG_WARNING, "Check timed out after %s s; process group killed%s",
                    number_to_text(rules->timeout, number),
                    verdict == VERDICT_FAIL              ? ""
                    : rules->on_timeout != TIMEOUT_FAILS ? " (not a failure, by --on-timeout)"
                    : verdict == VERDICT_SKIP            ? " (code 124 is skipped)"
                                                         : " (code 124 counts as a pass)");
    if (result->end == PROCESS_SIGNALED && verdict == VERDICT_PASS && check_rules_need_output(rules, code))
        log_once(log, LOG_WARNING,
                 "The check was killed by signal %d. It counts as a pass, because no --fail-regex matched",
                 result->code);
    if (rules->timeout == 0 && !rules->auto_timeout && result->seconds > CHECK_LONG_SECONDS)
        log_once(log, LOG_INFO,
                 "The check took more than a minute. If it can hang, pass --check-timeout <seconds>: a check that "
                 "times out counts as a failure");
    if (first_of_shell)
        warn_about_shell(code, log);
}
