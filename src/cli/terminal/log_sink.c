/* cli/terminal/log_sink.c: layout and output of log lines. */
#include "cli/terminal/log_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/interrupt.h"
#include "base/process/error_file.h"

#define BLANKS_PER_STEP 4
#define TIME_SIZE sizeof("(HH:MM:SS) ")

struct level_look {
    enum log_level level;
    const char *letter, *color; /* ECMA-48 "select graphic rendition", or NULL */
};

/* From high to low: a level has the style of the first row that it reaches. */
static const struct level_look looks[] = {
    {LOG_CRITICAL, "[!]", "\033[1;31m"},
    {LOG_ERROR, "[E]", "\033[31m"},
    {LOG_WARNING, "[W]", "\033[33m"},
    {LOG_FINISH, "[I]", "\033[32m"},
    {LOG_INFO, "[I]", NULL},
    {LOG_VERBOSE, "[V]", "\033[90m"},
    {LOG_EXTRA_VERBOSE, "[X]", "\033[90m"},
    {LOG_SUPER_VERBOSE, "[S]", "\033[90m"},
    {LOG_ULTRA_VERBOSE, "[U]", "\033[90m"},
};

static const struct level_look *look_of(enum log_level level)
{
    const struct level_look *look = looks;

    while (level < look->level && look->level != LOG_ULTRA_VERBOSE)
        look++;
    return look;
}

static void indent_line(struct string_builder *text, size_t count)
{
    memset(string_reserve(text, count), ' ', count);
    text->size += count;
}

void log_layout(enum log_level level, int depth, const char *time_of_day, struct text message,
                struct string_builder *ret)
{
    size_t start = ret->size;
    size_t column;

    string_add_format(ret, "%s %s", look_of(level)->letter, time_of_day);
    indent_line(ret, (size_t)(depth > 0 ? depth : 0) * BLANKS_PER_STEP);
    column = ret->size - start;
    for (;;) {
        const char *end = message.size > 0 ? memchr(message.data, '\n', message.size) : NULL;
        size_t length = end ? (size_t)(end - message.data) : message.size;

        string_add_visible(ret, (struct text){message.data, length});
        string_add_char(ret, '\n');
        if (!end || length + 1 == message.size)
            break;
        message = (struct text){end + 1, message.size - length - 1};
        indent_line(ret, column);
    }
}

/* The reader of standard output has closed it: terminate quietly, as further output would be lost. */
static void end_quietly(void)
{
    interrupt_remove_registered();
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
    _exit(EXIT_FAILURE);
}

static void write_all(struct log_sink *sink, int fd, struct text text)
{
    while (text.size > 0) {
        ssize_t written = write(fd, text.data, text.size);

        if (written >= 0) {
            text.data += written;
            text.size -= (size_t)written;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        } else if (errno == EPIPE) {
            end_quietly();
        } else if (errno != EINTR) {
            if (sink->write_errno == 0)
                sink->write_errno = errno;
            return;
        }
    }
}

/* Writes a line to a stream, around the progress line if there is one. */
static void write_stream(struct log_sink *sink, int stream, struct text text)
{
    progress_line_hide(sink->progress, stream);
    write_all(sink, stream, text);
    progress_line_unhide(sink->progress, stream);
}

static void time_of_day(char ret[TIME_SIZE])
{
    time_t now = time(NULL);
    struct tm local;

    if (!localtime_r(&now, &local) || strftime(ret, TIME_SIZE, "(%H:%M:%S) ", &local) == 0)
        ret[0] = '\0';
}

/* Passes a warning about the whole run to the session that runs this check. Warnings about single comparisons, which
 * are indented, are not passed. */
static void pass_warning(struct text message)
{
    struct error warning = {0};

    error_set(&warning, ERR_INVALID, TEXT_FORMAT, TEXT_ARGS(message));
    error_file_write(RECORD_WARNING, &warning);
}

static void write_message(void *data, enum log_level level, int depth, struct text message)
{
    struct log_sink *sink = data;
    bool critical = level >= LOG_CRITICAL;
    int stream = critical ? STDERR_FILENO : STDOUT_FILENO;
    const char *color = (critical ? sink->color_error : sink->color_out) ? look_of(level)->color : NULL;
    char time_text[TIME_SIZE] = "";
    struct string_builder *text = &sink->text;

    if (level == LOG_WARNING && depth == 0)
        pass_warning(message);
    if (sink->timestamps)
        time_of_day(time_text);
    string_clear(text);
    log_layout(level, depth, time_text, message, text);
    if (sink->file >= 0)
        write_all(sink, sink->file, (struct text){text->data, text->size});
    if (color) {
        string_clear(&sink->colored);
        string_add_format(&sink->colored, "%s", color);
        string_add_bytes(&sink->colored, text->data, text->size - 1);
        string_add(&sink->colored, "\033[0m\n");
        text = &sink->colored;
    }
    write_stream(sink, stream, (struct text){text->data, text->size});
}

static bool wants_color(int fd)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return isatty(fd) && !(no_color && no_color[0]) && terminal && strcmp(terminal, "dumb") != 0;
}

void log_sink_init(struct log_sink *sink)
{
    *sink = (struct log_sink){
        .log = {.threshold = LOG_INFO, .write = write_message, .data = sink},
        .color_out = wants_color(STDOUT_FILENO),
        .color_error = wants_color(STDERR_FILENO),
        .file = -1,
    };
    string_init(&sink->text);
    string_init(&sink->colored);
}

int log_sink_configure(struct log_sink *sink, const struct log_settings *settings, struct error *err)
{
    sink->log.threshold = settings->threshold;
    sink->timestamps = settings->timestamps;
    if (settings->no_colors)
        sink->color_out = sink->color_error = false;
    if (!settings->file)
        return 0;
    if (file_make_parent_folders(settings->file, err) < 0)
        return error_context(err, "--log-file");
    sink->file = open(settings->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (sink->file < 0)
        return error_set_errno(err, ERR_IO, "--log-file: cannot write '%s'", settings->file);
    return 0;
}

void log_sink_print(struct log_sink *sink, struct text text)
{
    write_stream(sink, STDOUT_FILENO, text);
}

void log_sink_release(struct log_sink *sink)
{
    if (sink->file >= 0)
        close(sink->file);
    sink->file = -1;
    log_release(&sink->log);
    string_release(&sink->text);
    string_release(&sink->colored);
}
