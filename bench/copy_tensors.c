/* bench/copy_tensors.c: a program that runs the identity, for `run --runner`.
 *
 *   copy_tensors INPUTS OUTPUTS FROM TO
 *
 * Copies a safetensors file in which a tensor is called FROM; in the copy it is called TO. Both names have the same
 * length.
 */
#define _GNU_SOURCE /* memmem */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE ((size_t)1 << 20) /* the header is shorter */

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

int main(int argc, char **argv)
{
    char *piece = malloc(PIECE), *name;
    int from, to;
    ssize_t got;

    if (argc != 5 || strlen(argv[3]) != strlen(argv[4]) || piece == NULL)
        return 2;
    from = open(argv[1], O_RDONLY | O_CLOEXEC);
    if (from < 0)
        fail(argv[1]);
    to = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (to < 0)
        fail(argv[2]);
    for (int first = 1; (got = read(from, piece, PIECE)) > 0; first = 0) {
        name = first ? memmem(piece, (size_t)got, argv[3], strlen(argv[3])) : NULL;
        if (name != NULL)
            memcpy(name, argv[4], strlen(argv[4]));
        if (write(to, piece, (size_t)got) != got)
            fail(argv[2]);
    }
    if (got < 0)
        fail(argv[1]);
    free(piece);
    close(from);
    return close(to) == 0 ? 0 : 2;
}
