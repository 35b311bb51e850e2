/* base/process/staying_message.c: see staying_message.h. */
#include "base/process/staying_message.h"

#include <errno.h>
#include <sys/socket.h>

bool staying_receive(int socket, void *ret, size_t size)
{
    char *to = ret;

    while (size > 0) {
        ssize_t count = recv(socket, to, size, 0);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        to += count;
        size -= (size_t)count;
    }
    return true;
}

bool staying_send(int socket, const void *data, size_t size)
{
    const char *from = data;

    while (size > 0) {
        ssize_t count = send(socket, from, size, MSG_NOSIGNAL);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        from += count;
        size -= (size_t)count;
    }
    return true;
}
