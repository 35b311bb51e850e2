/* base/process/capture.h: keeping what a child writes to one stream.
 *
 * Beyond PROCESS_CAPTURE_MEMORY bytes a stream goes to an unlinked temporary file, and of more than twice
 * PROCESS_CAPTURE_END bytes only both ends are kept. Internal to base/process, but for what was captured.
 */
#ifndef BASE_PROCESS_CAPTURE_H
#define BASE_PROCESS_CAPTURE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text/string_builder.h"

#define PROCESS_CAPTURE_MEMORY ((size_t)1 << 20)
#define PROCESS_CAPTURE_END ((size_t)32 << 20)

/* What one stream left: `data` maps or holds `size` bytes. */
struct process_output {
    const char *data;
    size_t size;
    int fd;         /* of the spill file, or -1 */
    bool truncated; /* the disk was full: only the first `size` bytes were kept */

    /* Bytes in the middle that were not kept. When there are any, the beginning is `head` bytes long, and the end
     * begins at `tail`; a line between them tells how many are missing. */
    uint64_t left_out;
    size_t head, tail;
};

void process_output_release(struct process_output *output);

struct capture {
    int fd;                       /* reading end of the pipe, non-blocking; -1 after its end */
    struct string_builder memory; /* all there is so far, or what is not in the file yet */
    int spill;                    /* file, or -1 */
    uint64_t spilled;             /* bytes that were written to the file; its second half is written round and round */
    bool truncated;               /* the file could not grow any more: the rest is read and dropped */
};

void capture_init(struct capture *capture);

/* Makes the pipe: what a child writes to `*ret_end`, which is the caller's to close, can be read from here on. */
int capture_open(struct capture *capture, int *ret_end, struct error *err);

/* Reads what is there, up to some amount. At the end of the stream `fd` is closed and becomes -1. */
void capture_read(struct capture *capture);

/* Reads what the pipe holds at this moment and closes it, however many writers it may still have. */
void capture_drain(struct capture *capture);

/* Hands over what was captured. */
void capture_finish(struct capture *capture, struct process_output *ret);

void capture_release(struct capture *capture);

#endif
