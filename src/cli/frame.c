/* cli/frame.c: start and finish lines, error lines, exit status. */
#include "cli/frame.h"

#include <stdio.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/process/error_file.h"
#include "base/system.h"
#include "base/text/string_builder.h"
#include "debug/check/check.h"

int exit_status_of(enum error_code code)
{
    if (!check_is_around_us())
        return EXIT_STATUS_ERROR;
    switch (code) {
    case ERR_BACKEND:
    case ERR_MEMORY:
        return EXIT_STATUS_NOT_RUN;
    case ERR_INVALID:
    case ERR_MISSING:
    case ERR_IO:
    case ERR_CORRUPT:
    case ERR_UNSUPPORTED:
    case ERR_EXISTS:
    case ERR_DEVICE_MEMORY:
        return EXIT_STATUS_UNTESTABLE;
    case ERR_INTERRUPTED: /* the process terminates by the signal */
        break;
    }
    return EXIT_STATUS_ERROR;
}

int exit_status_of_refusal(int usual)
{
    return check_is_around_us() ? EXIT_STATUS_UNTESTABLE : usual;
}

static void log_command(const struct command_frame *frame, enum log_level level, const char *what)
{
    SCOPED_STRING(line);

    string_add_format(&line, "%s | Command:", what);
    for (size_t i = 0; frame->command_line[i]; i++)
        string_add_format(&line, " %s", frame->command_line[i]);
    log_text(frame->log, level, (struct text){line.data, line.size});
}

void command_frame_begin(struct command_frame *frame, struct log *log, const char *const *command_line, bool shown)
{
    *frame = (struct command_frame){log, command_line, shown, stopwatch_now()};
    if (shown)
        log_command(frame, LOG_START, "RUNNING");
}

int command_frame_end(struct command_frame *frame, int rc, const struct error *err)
{
    int status = rc < 0 ? exit_status_of((enum error_code)rc) : rc;
    char what[64];

    frame->log->depth = 0;
    if (rc == ERR_INTERRUPTED) {
        log_message(frame->log, LOG_WARNING, "Interrupted: %s", strsignal(interrupt_pending()));
        return status;
    }
    if (rc < 0) {
        log_message(frame->log, LOG_CRITICAL, "%s", err->message);
        error_file_write(RECORD_ERROR, err);
    }
    snprintf(what, sizeof(what), "%s | Runtime: %.3fs", status == 0 ? "PASSED" : "FAILED",
             stopwatch_now() - frame->start);
    if (frame->shown)
        log_command(frame, status == 0 ? LOG_FINISH : LOG_ERROR, what);
    return status;
}
