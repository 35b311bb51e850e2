/* base/process/staying_host.h: the host of processes that stay. Internal to base/process. */
#ifndef BASE_PROCESS_STAYING_HOST_H
#define BASE_PROCESS_STAYING_HOST_H

#include "base/process/staying_message.h"

/* Serves who connects to `listener`, until `stop` is readable or its other end is closed, or SIGTERM arrives. */
void staying_serve(int listener, int stop, const char *folder, staying_make_line *make_line);

#endif
