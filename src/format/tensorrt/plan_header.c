/* format/tensorrt/plan_header.c: the first bytes of TensorRT's engines. */
#include "format/tensorrt/plan_header.h"

#include <string.h>
#include <unistd.h>

#include "base/file/file.h"

#define MAGIC "ftrt"
#define MAGIC_RTX "vtrt"
#define MAGIC_SIZE (sizeof(MAGIC) - 1)
#define AT_VERSION 24

bool plan_header_is_tensorrt(struct span bytes)
{
    return bytes.size >= MAGIC_SIZE &&
           (memcmp(bytes.data, MAGIC, MAGIC_SIZE) == 0 || memcmp(bytes.data, MAGIC_RTX, MAGIC_SIZE) == 0);
}

int plan_header_parse(struct span bytes, struct plan_header *ret, struct error *err)
{
    const uint8_t *version;

    if (bytes.size == 0)
        return error_set(err, ERR_CORRUPT, "it is empty: a build that fails may leave such a file behind");
    if (!plan_header_is_tensorrt(bytes))
        return error_set(err, ERR_CORRUPT, "it is no engine of TensorRT: it does not begin with '%s'", MAGIC);
    if (bytes.size < PLAN_HEADER_BYTES)
        return error_set(err, ERR_CORRUPT, "it is cut short: it ends inside of its header");
    version = bytes.data + AT_VERSION;
    *ret = (struct plan_header){memcmp(bytes.data, MAGIC_RTX, MAGIC_SIZE) == 0, version[0], version[1], version[2],
                                version[3]};
    return 0;
}

int plan_header_read(const char *path, struct plan_header *ret, struct error *err)
{
    uint8_t start[PLAN_HEADER_BYTES];
    int fd = file_open_to_read(path, err);
    ssize_t got;

    if (fd < 0)
        return fd;
    got = read(fd, start, sizeof(start));
    close(fd);
    if (got < 0)
        return error_set_errno(err, ERR_IO, "cannot read '%s'", path);
    if (plan_header_parse((struct span){start, (size_t)got}, ret, err) < 0)
        return error_context(err, "'%s'", path);
    return 0;
}
