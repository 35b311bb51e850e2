/* cli/terminal/progress_line.c: drawing and erasing the progress line.
 *
 * The thread sleeps until the next drawing is due. A change that comes before drawing is allowed again is drawn by the
 * thread as soon as it is, so that the line is never outdated for longer.
 */
#include "cli/terminal/progress_line.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/system.h"

#define SECONDS_BETWEEN_DRAWINGS 0.1
#define SECONDS_BETWEEN_TICKS 1.0
#define USUAL_WIDTH 80

/* ECMA-48: erase from the cursor to the end of the line. */
#define ERASE "\r\033[K"

/* The only line of the process, for the handlers of fork(). */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct progress_line *current;

/* ---- Forks: a child has no thread, and must not draw ---- */

static void before_fork(void)
{
    pthread_mutex_lock(&mutex);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&mutex);
}

static void after_fork_in_child(void)
{
    if (current) {
        current->usable = current->begun = current->has_thread = current->drawn = false;
        interrupt_set_last_words(-1, NULL);
    }
    pthread_mutex_unlock(&mutex);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* ---- The terminal ---- */

static bool is_pipe(int fd)
{
    struct stat status;

    return fstat(fd, &status) != 0 || S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
}

void progress_line_init(struct progress_line *line)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *terminal = getenv("TERM");

    *line = (struct progress_line){
        .usable = isatty(STDERR_FILENO) && !is_pipe(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0,
        .on_output = isatty(STDOUT_FILENO),
    };
    if (line->usable) {
        pthread_once(&once, watch_forks);
        current = line;
    }
}

static void write_terminal(struct progress_line *line, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t written = write(STDERR_FILENO, data, size);

        if (written >= 0) {
            data += written;
            size -= (size_t)written;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            poll(&(struct pollfd){.fd = STDERR_FILENO, .events = POLLOUT}, 1, -1);
        } else if (errno != EINTR) {
            line->usable = false; /* the terminal has disconnected */
            return;
        }
    }
}

static size_t terminal_width(void)
{
    struct winsize window;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0)
        return USUAL_WIDTH;
    return window.ws_col;
}

/* A terminal without a foreground process group is not controlled by a shell. */
static bool is_in_foreground(void)
{
    pid_t group = tcgetpgrp(STDERR_FILENO);

    return group < 0 || group == getpgrp();
}

/* ---- Drawing; the mutex is held ---- */

static void erase_line(struct progress_line *line)
{
    if (!line->drawn)
        return;
    write_terminal(line, ERASE, strlen(ERASE));
    line->drawn = false;
    interrupt_set_last_words(-1, NULL);
}

static void draw_line(struct progress_line *line, double now)
{
    size_t width = terminal_width() - 1; /* some terminals begin the next row after a character in the last column */

    line->earliest = now + SECONDS_BETWEEN_DRAWINGS;
    line->due = now + SECONDS_BETWEEN_TICKS;
    if (!line->usable || !is_in_foreground() || (!line->has_session && !line->has_layer))
        return;
    string_clear(&line->text);
    string_add_char(&line->text, '\r');
    if (line->has_session)
        progress_to_text(&line->progress, now - line->ended_at, line->step++, width, &line->text);
    if (line->has_session && line->has_layer)
        layer_add_to_text(&line->layer, 1, width, &line->text);
    else if (line->has_layer)
        layer_to_text(&line->layer, width, &line->text);
    string_add(&line->text, &ERASE[1]);
    interrupt_set_last_words(STDERR_FILENO, ERASE);
    line->drawn = true;
    write_terminal(line, line->text.data, line->text.size);
}

/* Draws now if allowed, otherwise leaves it to the thread. */
static void draw_soon(struct progress_line *line)
{
    double now = stopwatch_now();

    if (now >= line->earliest || !line->has_thread) {
        draw_line(line, now);
    } else if (line->due > line->earliest) {
        line->due = line->earliest;
        pthread_cond_signal(&line->changed);
    }
}

/* ---- The thread ---- */

static void wait_until(struct progress_line *line, double due)
{
    double whole = floor(due);
    struct timespec until = {.tv_sec = (time_t)whole, .tv_nsec = (long)((due - whole) * 1e9)};

    pthread_cond_timedwait(&line->changed, &mutex, &until);
}

static void *keep_drawing(void *data)
{
    struct progress_line *line = data;

    pthread_mutex_lock(&mutex);
    while (!line->ends) {
        double now = stopwatch_now();

        if (now >= line->due)
            draw_line(line, now);
        else
            wait_until(line, line->due);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

/* ---- In use ---- */

/* Returns whether there is a line. If no thread can be created, the line is drawn in calls only. */
static bool begin_line(struct progress_line *line)
{
    pthread_condattr_t attributes;
    sigset_t all, old;

    if (line->begun || !line->usable)
        return line->begun;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); /* the clock of stopwatch_now() */
    pthread_cond_init(&line->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    string_init(&line->text);
    line->ended_at = line->earliest = stopwatch_now();
    line->due = line->earliest + SECONDS_BETWEEN_TICKS;
    line->begun = true;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are handled by the main thread */
    line->has_thread = pthread_create(&line->thread, NULL, keep_drawing, line) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return true;
}

void progress_line_show(void *data, const struct session_progress *progress)
{
    struct progress_line *line = data;

    if (!begin_line(line))
        return;
    pthread_mutex_lock(&mutex);
    if (progress->done != line->progress.done)
        line->ended_at = stopwatch_now();
    line->has_session = true;
    line->progress = *progress;
    if (progress->expected < 0 && line->total >= progress->done && line->total > 0) {
        line->progress.expected = line->total - progress->done;
        line->progress.exact = true;
    }
    draw_soon(line);
    pthread_mutex_unlock(&mutex);
}

void progress_line_show_layer(struct progress_line *line, const struct layer_progress *layer)
{
    if (!begin_line(line))
        return;
    pthread_mutex_lock(&mutex);
    line->has_layer = layer != NULL;
    if (layer) {
        snprintf(line->name, sizeof(line->name), "%s", layer->name);
        line->layer = (struct layer_progress){line->name, layer->number, layer->count, layer->unit};
    } else if (!line->has_session) {
        erase_line(line);
    }
    draw_soon(line);
    pthread_mutex_unlock(&mutex);
}

static bool is_concerned(const struct progress_line *line, int stream)
{
    return line && line->begun && (stream == STDERR_FILENO || line->on_output);
}

void progress_line_hide(struct progress_line *line, int stream)
{
    if (!is_concerned(line, stream))
        return;
    pthread_mutex_lock(&mutex);
    erase_line(line);
}

void progress_line_unhide(struct progress_line *line, int stream)
{
    if (!is_concerned(line, stream))
        return;
    draw_soon(line);
    pthread_mutex_unlock(&mutex);
}

void progress_line_end(struct progress_line *line)
{
    if (!line->begun)
        return;
    pthread_mutex_lock(&mutex);
    erase_line(line);
    line->usable = false;
    line->ends = true;
    pthread_cond_signal(&line->changed);
    pthread_mutex_unlock(&mutex);
    if (line->has_thread)
        pthread_join(line->thread, NULL);
    pthread_cond_destroy(&line->changed);
    string_release(&line->text);
    line->begun = line->has_thread = false;
}
