/* cli/terminal/progress_line.h: one line at the bottom of the terminal that shows the progress of a session.
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
 * It shows a debugging session, an engine build, or both. It is written to standard error, and only if that is a
 * terminal, never to a file or a pipe. Log lines replace it, and it is drawn again below them. Between calls a thread
 * updates it: the remaining time, the width of the terminal. It is drawn at most ten times a second, and only while
 * this process is in the foreground.
 *
 * It is not shown either if standard output is a pipe, because the pipe's reader ("| tee log") may write to the same
 * terminal at any moment, into the middle of the line.
 */
#ifndef CLI_TERMINAL_PROGRESS_LINE_H
#define CLI_TERMINAL_PROGRESS_LINE_H

#include <pthread.h>
#include <stdbool.h>

#include "base/text/string_builder.h"
#include "cli/terminal/progress_text.h"

struct progress_line {
    bool usable;    /* standard error is a terminal with the required control sequences */
    bool on_output; /* standard output is a terminal, too */
    int64_t total;  /* expected number of checks where `progress` has none; 0: not known */

    /* The other members are protected by the mutex once something is shown. */
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread, ends;
    bool begun;                       /* the members below are in use */
    bool has_session, has_layer;      /* current progress */
    bool drawn;                       /* the line is on the terminal */
    struct session_progress progress; /* the newest */
    struct layer_progress layer;      /* its name is `name` */
    char name[128];
    double ended_at;      /* time of the last change of `progress.done` */
    double earliest, due; /* earliest and latest time of the next drawing */
    unsigned step;        /* number of drawings */
    struct string_builder text;
};

/* Detects the terminal. A process has one line. */
void progress_line_init(struct progress_line *line);

/* Shows this progress from now on. `line` is a struct progress_line; the signature is that of a callback in struct
 * session_settings. */
void progress_line_show(void *line, const struct session_progress *progress);

/* The same for an engine build, inside or outside of a session. NULL: the build is finished. */
void progress_line_show_layer(struct progress_line *line, const struct layer_progress *layer);

/* Hide and redraw the line around other output to `stream`. Do nothing else in between. NULL is fine. */
void progress_line_hide(struct progress_line *line, int stream);
void progress_line_unhide(struct progress_line *line, int stream);

/* Erases the line permanently. */
void progress_line_end(struct progress_line *line);

#endif
