/* tests/fuzz/replay_driver.c: stands in for libFuzzer where a fuzz target only has to read its corpus again.
 *
 * Hands each file of the folders on the command line to the target once and reports one TAP test. Before each input its
 * path is printed, so that after a crash the last line names the culprit.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fuzz/target.h"

static bool replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size ? size : 1); /* exactly the input's size: an overread is then an error that ASan sees */
    bool whole = file && data && fread(data, 1, size, file) == size;

    if (whole) {
        printf("# %s\n", path);
        fflush(stdout);
        LLVMFuzzerTestOneInput(data, size);
    } else {
        printf("# %s: cannot be read\n", path);
    }
    free(data);
    if (file)
        fclose(file);
    return whole;
}

/* Returns how many inputs of `folder` were replayed, or -1 when one could not be read. */
static long replay_folder(const char *folder)
{
    struct dirent **entries;
    long replayed = 0;
    int n_entries = scandir(folder, &entries, NULL, alphasort);

    for (int i = 0; i < n_entries; i++) {
        char path[4096];
        struct stat info;

        snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if (replayed >= 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode))
            replayed = replay_file(path, (size_t)info.st_size) ? replayed + 1 : -1;
        free(entries[i]);
    }
    if (n_entries >= 0)
        free(entries);
    return replayed;
}

int main(int argc, char **argv)
{
    long total = 0;

    puts("1..1");
    for (int i = 1; i < argc; i++) {
        long replayed = replay_folder(argv[i]);
        if (replayed <= 0) {
            printf("not ok 1 - %s: no inputs, or one that cannot be read\n", argv[i]);
            return EXIT_FAILURE;
        }
        total += replayed;
    }
    printf("ok 1 - corpus replayed, %ld inputs\n", total);
    return EXIT_SUCCESS;
}
