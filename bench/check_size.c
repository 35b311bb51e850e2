/* bench/check_size.c: a check with a known verdict and a known duration.
 *
 *   check_size LIMIT RECORD FILE
 *
 * Fails when FILE has more than LIMIT bytes, so that a search always runs the same sequence of checks. Before that it
 * sleeps for one millisecond. Appends a line to RECORD: the size of FILE, and when it began and ended, in nanoseconds
 * of the monotonic clock.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int argc, char **argv)
{
    const struct timespec millisecond = {.tv_nsec = 1000000};
    long long begin = now();
    struct stat status;

    if (argc != 4 || stat(argv[3], &status) != 0) {
        fprintf(stderr, "usage: check_size LIMIT RECORD FILE\n");
        return 2;
    }
    nanosleep(&millisecond, NULL);

    int fd = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fd < 0 || dprintf(fd, "%lld %lld %lld\n", (long long)status.st_size, begin, now()) < 0) {
        perror(argv[2]);
        return 2;
    }
    return status.st_size > atoll(argv[1]);
}
