/* bench/floor.c: the lower bound for `debug reduce`: writing the candidates, and running the checks.
 *
 *   floor ORIGINAL RECORD FILE COMMAND...
 *
 * For each line of RECORD, written by check_size and beginning with a size: copies that many bytes of ORIGINAL to FILE
 * (copy_file_range()), runs the command, and removes FILE.
 */
#define _GNU_SOURCE /* copy_file_range */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void give_up(const char *what)
{
    fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void copy(int from, const char *path, long long size)
{
    off_t at = 0;
    int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (to < 0)
        give_up(path);
    while (at < size) {
        ssize_t done = copy_file_range(from, &at, to, NULL, (size_t)(size - at), 0);

        if (done < 0)
            give_up("copy_file_range");
        if (done == 0)
            break; /* a candidate may be a few bytes larger than the original */
    }
    if (close(to) != 0)
        give_up(path);
}

static void run(char **command)
{
    int status;
    pid_t pid;

    errno = posix_spawn(&pid, command[0], NULL, NULL, command, environ);
    if (errno != 0 || waitpid(pid, &status, 0) != pid)
        give_up(command[0]);
}

int main(int argc, char **argv)
{
    char line[256];

    if (argc < 5) {
        fprintf(stderr, "usage: floor ORIGINAL RECORD FILE COMMAND...\n");
        return 2;
    }
    int original = open(argv[1], O_RDONLY | O_CLOEXEC);
    if (original < 0)
        give_up(argv[1]);
    FILE *record = fopen(argv[2], "re");
    if (record == NULL)
        give_up(argv[2]);
    while (fgets(line, sizeof(line), record) != NULL) {
        copy(original, argv[3], atoll(line));
        run(argv + 4);
        unlink(argv[3]);
    }
    fclose(record);
    close(original);
    return 0;
}
