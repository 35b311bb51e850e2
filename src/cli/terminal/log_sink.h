/* cli/terminal/log_sink.h: destinations of log lines: standard output (critical ones: standard error) and optionally a
 * file.
 *
 * The module cli/terminal/ contains all terminal output of a running command: log lines, one line of progress, and
 * prompts. Nothing else writes to the terminal. It uses base, and the progress struct of debug/session/.
 *
 * A line is `<letter> [(HH:MM:SS) ]<indent><message>`, with an indent of four blanks per nesting level; further lines
 * of a message are indented by the width of the prefix of its first line. A trailing line break adds no line. Every
 * message is written by one system call, so that lines appear immediately and in order with other writers' output.
 *
 * Names in models and output of checks are untrusted: control characters are shown as \xNN.
 *
 * When standard output is closed (`| head -1`) the process terminates quietly and removes its temporary files.
 */
#ifndef CLI_TERMINAL_LOG_SINK_H
#define CLI_TERMINAL_LOG_SINK_H

#include "base/error.h"
#include "base/log.h"
#include "base/text/string_builder.h"
#include "cli/terminal/progress_line.h"

struct log_settings {
    enum log_level threshold;
    bool timestamps;  /* local time of day in every line */
    bool no_colors;   /* no colors, even on a terminal */
    const char *file; /* file that also gets every shown line; NULL: none */
};

struct log_sink {
    struct log log; /* the log that library functions get */
    bool timestamps;
    bool color_out, color_error;         /* whether the two streams are terminals with colors */
    int file;                            /* descriptor of the log file; -1: none */
    int write_errno;                     /* errno of the first failed write; 0: none */
    struct string_builder text, colored; /* the current message */
    struct progress_line *progress;      /* progress line that is hidden during output; NULL: none */
};

/* Starts with Polygraphy's defaults: level LOG_INFO, no file. */
void log_sink_init(struct log_sink *sink);

/* Puts settings into effect. Creates the log file's folders; an existing file is emptied. Call once. */
int log_sink_configure(struct log_sink *sink, const struct log_settings *settings, struct error *err);

/* Writes text that is not a log line (help, version) to standard output. */
void log_sink_print(struct log_sink *sink, struct text text);

void log_sink_release(struct log_sink *sink);

/* Formats one message as described above, without colors, and appends it to `ret` with a trailing line break.
 * `time_of_day` is "(HH:MM:SS) " or "". */
void log_layout(enum log_level level, int depth, const char *time_of_day, struct text message,
                struct string_builder *ret);

#endif
