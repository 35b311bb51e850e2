/* base/process/socket.h: transfers of whole messages through a stream socket, a pipe or a file. */
#ifndef BASE_PROCESS_SOCKET_H
#define BASE_PROCESS_SOCKET_H

#include <stdbool.h>
#include <stddef.h>

#define SOCKET_MOST_AT_ONCE ((size_t)1 << 30) /* bytes of one call: some systems refuse more than 2 GiB */

/* Writes all bytes to a file or a pipe. False on an error. */
bool descriptor_write_all(int descriptor, const void *data, size_t size);

/* Reads or writes all bytes. False if the other side has exited. */
bool socket_receive_all(int socket, void *ret, size_t size);
bool socket_send_all(int socket, const void *data, size_t size);

#endif
