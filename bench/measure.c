/* bench/measure.c: runs two commands alternately and compares their times.
 *
 *   measure ROUNDS OURS... -- FLOOR...
 *
 * Prints one line: the median of each one's seconds, and the largest resident set of the first one in kilobytes.
 * Alternating exposes both to the same load of the machine; where it is permitted, they run with real-time priority, to
 * reduce its effect. Standard output of the commands is discarded.
 *
 * The kernel's figure for a process includes the largest resident set of its children; that of a check is far smaller.
 */
#define _GNU_SOURCE /* wait4 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_ROUNDS 1000

extern char **environ;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Returns the seconds that the command took. Exits when it cannot be run, or crashes. */
static double run(char **command, long *largest_kilobytes)
{
    posix_spawn_file_actions_t actions;
    struct rusage usage;
    double begin = now();
    int status;
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    errno = posix_spawnp(&pid, command[0], &actions, NULL, command, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (errno != 0 || wait4(pid, &status, 0, &usage) != pid) {
        perror(command[0]);
        exit(2);
    }
    double seconds = now() - begin;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "measure: %s failed (status %#x)\n", command[0], (unsigned)status);
        exit(2);
    }
    if (usage.ru_maxrss > *largest_kilobytes)
        *largest_kilobytes = usage.ru_maxrss;
    return seconds;
}

static int compare(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;

    return (difference > 0) - (difference < 0);
}

static double median(double *seconds, int count)
{
    qsort(seconds, (size_t)count, sizeof(*seconds), compare);
    return (seconds[(count - 1) / 2] + seconds[count / 2]) / 2;
}

int main(int argc, char **argv)
{
    static double seconds[2][MOST_ROUNDS];
    long largest[2] = {0, 0};
    int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 0;
    int split = 2;

    while (split < argc && strcmp(argv[split], "--") != 0)
        split++;
    if (rounds < 1 || rounds > MOST_ROUNDS || split == 2 || split + 1 >= argc) {
        fprintf(stderr, "usage: measure ROUNDS OURS... -- FLOOR...\n");
        return 2;
    }
    argv[split] = NULL;
    sched_setscheduler(0, SCHED_FIFO,
                       &(struct sched_param){.sched_priority = 1}); /* inherited; refused to most users */
    for (int i = 0; i < rounds; i++) {
        seconds[0][i] = run(argv + 2, &largest[0]);
        seconds[1][i] = run(argv + split + 1, &largest[1]);
    }
    printf("%.6f %.6f %ld\n", median(seconds[0], rounds), median(seconds[1], rounds), largest[0]);
    return 0;
}
