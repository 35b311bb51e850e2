/* base/process/socket.c: see socket.h. */
#include "base/process/socket.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

bool socket_receive_all(int socket, void *ret, size_t size)
{
    for (char *to = ret; size > 0;) {
        ssize_t count = recv(socket, to, size < SOCKET_MOST_AT_ONCE ? size : SOCKET_MOST_AT_ONCE, 0);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        to += count;
        size -= (size_t)count;
    }
    return true;
}

bool socket_send_all(int socket, const void *data, size_t size)
{
    for (const char *from = data; size > 0;) {
        ssize_t count = send(socket, from, size < SOCKET_MOST_AT_ONCE ? size : SOCKET_MOST_AT_ONCE, MSG_NOSIGNAL);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        from += count;
        size -= (size_t)count;
    }
    return true;
}

bool descriptor_write_all(int descriptor, const void *data, size_t size)
{
    for (const char *from = data; size > 0;) {
        ssize_t count = write(descriptor, from, size < SOCKET_MOST_AT_ONCE ? size : SOCKET_MOST_AT_ONCE);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        from += count;
        size -= (size_t)count;
    }
    return true;
}
