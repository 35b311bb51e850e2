/* cli/terminal/log_sink.h: where log lines end up: standard output (critical ones: standard error) and, if wanted, a
 * file.
 *
 * The module cli/terminal/ is what the user sees while a command is at work: log lines, one line of progress, and
 * questions. Nothing else writes to the terminal. It uses base, and of debug/session/ what progress is made of.
 *
 * A line is `<letter> [(HH:MM:SS) ]<indent><message>`, four blanks of indent per nesting level; further lines of a
 * message are indented by the width of what stands before the message in its first line. A line break at the very end
 * of a message adds no line. Every message is written by one system call: lines appear at once, and in order with what
 * others write to the same place.
 *
 * Names in models, and what checks write, are other people's: what could steer a terminal is shown as \xNN.
 *
 * When nobody reads standard output any more (`| head -1`) the process ends quietly, its temporary files removed.
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
    bool no_colors;   /* not even on a terminal */
    const char *file; /* every shown line goes there, too; NULL: none */
};

struct log_sink {
    struct log log; /* what library functions get */
    bool timestamps;
    bool color_out, color_error;         /* whether the two streams are terminals that want colours */
    int file;                            /* descriptor of the log file; -1: none */
    int write_errno;                     /* of the first line that could not be written; 0: none */
    struct string_builder text, colored; /* the message being laid out */
    struct progress_line *progress;      /* makes room for what is written; NULL: there is none */
};

/* Starts with Polygraphy's defaults: from LOG_INFO on, no file. */
void log_sink_init(struct log_sink *sink);

/* Puts settings into effect. Creates the log file's folders; an existing file is emptied. Call once. */
int log_sink_configure(struct log_sink *sink, const struct log_settings *settings, struct error *err);

/* Writes text that is no log line (help, version) to standard output. */
void log_sink_print(struct log_sink *sink, struct text text);

void log_sink_release(struct log_sink *sink);

/* Lays out one message as described above, without colours, and appends it to `ret` with a line break at its end.
 * `time_of_day` is "(HH:MM:SS) " or "". */
void log_layout(enum log_level level, int depth, const char *time_of_day, struct text message,
                struct string_builder *ret);

#endif
