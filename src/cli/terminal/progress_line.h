/* cli/terminal/progress_line.h: one line at the bottom of the terminal that tells how far a session is.
 *
 *   struct progress_line line;
 *   progress_line_init(&line);
 *   ...
 *   progress_line_show(&line, &progress);   (as often as one likes)
 *   progress_line_hide(&line, STDOUT_FILENO);
 *   write(STDOUT_FILENO, "[I] ...\n", 8);
 *   progress_line_unhide(&line, STDOUT_FILENO);
 *   ...
 *   progress_line_end(&line);
 *
 * It tells of a debugging session, of an engine that is built, or of both. It goes to standard error, and only when
 * that is a terminal: neither a file nor a pipe ever gets a byte of it. Log lines take its place, and it comes again
 * below them. Between two calls a thread keeps it up to date: the time that is left, the width of the terminal. It is
 * drawn ten times a second at the most, and only while this process is in the foreground.
 *
 * It is also not shown when standard output is a pipe: what comes out at the pipe's other end ("| tee log") may go to
 * the same terminal at any moment, into the middle of the line.
 */
#ifndef CLI_TERMINAL_PROGRESS_LINE_H
#define CLI_TERMINAL_PROGRESS_LINE_H

#include <pthread.h>
#include <stdbool.h>

#include "base/text/string_builder.h"
#include "cli/terminal/progress_text.h"

struct progress_line {
    bool usable;    /* there is a terminal that understands it */
    bool on_output; /* standard output is a terminal, too */
    int64_t total;  /* checks there will be in all, where progress does not say; 0: not known */

    /* The rest is behind a mutex, as soon as there is something to show. */
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread, ends;
    bool begun;                       /* all of this is in use */
    bool has_session, has_layer;      /* what there is to show */
    bool drawn;                       /* the line is on the terminal */
    struct session_progress progress; /* the newest */
    struct layer_progress layer;      /* its name is `name` */
    char name[128];
    double ended_at;      /* when `progress.done` became what it is */
    double earliest, due; /* when it may be drawn again, and when it must be */
    unsigned step;        /* how often it was drawn */
    struct string_builder text;
};

/* Finds out whether there is a terminal. A process has one line. */
void progress_line_init(struct progress_line *line);

/* Shows this from now on. `line` is a struct progress_line: the function fits struct session_settings. */
void progress_line_show(void *line, const struct session_progress *progress);

/* The same for an engine that is being built, within a session or not. NULL: it is built. */
void progress_line_show_layer(struct progress_line *line, const struct layer_progress *layer);

/* Around whatever else is written to `stream`. Nothing but that may happen in between. NULL is fine. */
void progress_line_hide(struct progress_line *line, int stream);
void progress_line_unhide(struct progress_line *line, int stream);

/* Takes the line away for good. */
void progress_line_end(struct progress_line *line);

#endif
