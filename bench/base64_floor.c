/* bench/base64_floor.c: the lower bound for storing outputs as base64: encoding or decoding, and file I/O.
 *
 *   base64_floor write FILE BYTES BLOCK    encodes BYTES bytes, BLOCK at a time, and syncs the file to disk
 *   base64_floor read FILE BLOCK           reads the file and decodes it in blocks of BLOCK bytes
 *
 * All blocks use the same buffer: `read` keeps no decoded data.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/text/base64.h"

static struct error error;

static void must(bool done, const char *path)
{
    if (done)
        return;
    fprintf(stderr, "base64_floor: %s: %s\n", path, error.message[0] != '\0' ? error.message : "failed");
    exit(2);
}

static void write_all(int fd, const char *data, size_t size, const char *path)
{
    while (size > 0) {
        ssize_t done = write(fd, data, size);

        must(done > 0, path);
        data += done;
        size -= (size_t)done;
    }
}

static void write_blocks(const char *path, size_t size, size_t block)
{
    size_t characters = BASE64_ENCODED_SIZE(block);
    char *text = malloc(characters);
    uint8_t *data = malloc(block);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    must(fd >= 0 && text != NULL && data != NULL, path);
    for (size_t at = 0; at < size; at += block) {
        memset(data, (int)(at / block % 256), block); /* stands for computing the outputs */
        base64_encode(data, block, text);
        write_all(fd, text, characters, path);
    }
    must(fsync(fd) == 0 && close(fd) == 0, path);
    free(text);
    free(data);
}

static void read_blocks(const char *path, size_t block)
{
    size_t characters = BASE64_ENCODED_SIZE(block);
    uint8_t *data = malloc(characters);
    struct file_map map;

    must(data != NULL && file_map_open(path, &map, &error) == 0, path);
    must(map.size % characters == 0, path);
    for (size_t at = 0; at < map.size; at += characters)
        must(base64_decode((const char *)map.data + at, characters, data) == block, path);
    file_map_release(&map);
    free(data);
}

int main(int argc, char **argv)
{
    must(argc < 4 || strtoull(argv[argc - 1], NULL, 10) > 0, "blocks of 0 bytes");
    if (argc == 5 && strcmp(argv[1], "write") == 0) {
        write_blocks(argv[2], strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
    } else if (argc == 4 && strcmp(argv[1], "read") == 0) {
        read_blocks(argv[2], strtoull(argv[3], NULL, 10));
    } else {
        fprintf(stderr, "usage: base64_floor write FILE BYTES BLOCK | base64_floor read FILE BLOCK\n");
        return 2;
    }
    return 0;
}
