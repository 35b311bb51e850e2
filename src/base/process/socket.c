/* base/process/socket.c: see socket.h. */
#include "base/process/socket.h"

#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

enum transfer { TRANSFER_RECEIVE, TRANSFER_SEND, TRANSFER_WRITE };

static ssize_t transfer_piece(enum transfer kind, int descriptor, char *bytes, size_t size)
{
    switch (kind) {
    case TRANSFER_RECEIVE:
        return recv(descriptor, bytes, size, 0);
    case TRANSFER_SEND:
        return send(descriptor, bytes, size, MSG_NOSIGNAL);
    default:
        return write(descriptor, bytes, size);
    }
}

static bool transfer_all(enum transfer kind, int descriptor, char *bytes, size_t size)
{
    while (size > 0) {
        size_t piece = size < SOCKET_MOST_AT_ONCE ? size : SOCKET_MOST_AT_ONCE;
        ssize_t count = transfer_piece(kind, descriptor, bytes, piece);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        bytes += count;
        size -= (size_t)count;
    }
    return true;
}

bool socket_receive_all(int socket, void *ret, size_t size)
{
    return transfer_all(TRANSFER_RECEIVE, socket, ret, size);
}

bool socket_send_all(int socket, const void *data, size_t size)
{
    return transfer_all(TRANSFER_SEND, socket, (char *)(uintptr_t)data, size);
}

bool descriptor_write_all(int descriptor, const void *data, size_t size)
{
    return transfer_all(TRANSFER_WRITE, descriptor, (char *)(uintptr_t)data, size);
}
