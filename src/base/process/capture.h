/* base/process/capture.h: keeping what a child writes to one stream. Internal to base/process. */
#ifndef BASE_PROCESS_CAPTURE_H
#define BASE_PROCESS_CAPTURE_H

#include <stdbool.h>

#include "base/process/process.h"
#include "base/text/string_builder.h"

struct capture {
    int fd;                       /* reading end of the pipe, non-blocking; -1 after its end */
    struct string_builder memory; /* all there is so far, or what is not in the file yet */
    int spill;                    /* file, or -1 */
    uint64_t spilled;             /* bytes that were written to the file; its second half is written round and round */
    bool truncated;               /* the file could not grow any more: the rest is read and dropped */
};

/* Takes over `fd`. */
void capture_init(struct capture *capture, int fd);

/* Reads what is there, up to some amount. At the end of the stream `fd` is closed and becomes -1. */
void capture_read(struct capture *capture);

/* Reads what the pipe holds at this moment and closes it, however many writers it may still have. */
void capture_drain(struct capture *capture);

/* Hands over what was captured. */
void capture_finish(struct capture *capture, struct process_output *ret);

void capture_release(struct capture *capture);

#endif
