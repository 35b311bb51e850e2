/* bench/pace.c: the time between two lines of a command's output.
 *
 *   pace TEXT COMMAND...
 *
 * Runs the command and records when it writes a line that contains TEXT to standard output. Prints the median of the
 * seconds from one such line to the next, and the number of lines. As in measure.c, with real-time priority where it is
 * permitted.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system.h"

#define MOST_LINES 1000

extern char **environ;

static pid_t start(char **command, FILE **ret_output)
{
    posix_spawn_file_actions_t actions;
    int ends[2];
    pid_t pid;

    if (pipe(ends) != 0) {
        perror("pace");
        exit(2);
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    errno = posix_spawnp(&pid, command[0], &actions, NULL, command, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *ret_output = fdopen(ends[0], "r");
    if (errno != 0 || *ret_output == NULL) {
        perror(command[0]);
        exit(2);
    }
    return pid;
}

static int compare_gaps(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double gaps[MOST_LINES];
    size_t lines = 0, capacity = 0;
    double last = 0;
    char *line = NULL;
    FILE *output;
    int status;

    if (argc < 3) {
        fprintf(stderr, "usage: pace TEXT COMMAND...\n");
        return 2;
    }
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}); /* refused to most users */
    pid_t pid = start(argv + 2, &output);
    while (getline(&line, &capacity, output) >= 0) {
        double now = stopwatch_now();

        if (strstr(line, argv[1]) == NULL || lines == MOST_LINES)
            continue;
        gaps[lines++] = now - last; /* the first gap is not used */
        last = now;
    }
    free(line);
    fclose(output);
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0 || lines < 2) {
        fprintf(stderr, "pace: %s failed, or did not print '%s' twice\n", argv[2], argv[1]);
        return 2;
    }
    qsort(gaps + 1, lines - 1, sizeof(*gaps), compare_gaps);
    printf("%.6f %zu\n", gaps[1 + (lines - 1) / 2], lines);
    return 0;
}
