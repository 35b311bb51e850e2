/* base/process/capture.h: captures what a child writes to one stream.
 *
 * Beyond PROCESS_CAPTURE_MEMORY bytes a stream goes to an unlinked temporary file, and beyond twice PROCESS_CAPTURE_END
 * bytes only the beginning and the end are kept. Internal to base/process, except struct process_output.
 */
#ifndef BASE_PROCESS_CAPTURE_H
#define BASE_PROCESS_CAPTURE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/text/string_builder.h"

#define PROCESS_CAPTURE_MEMORY ((size_t)1 << 20)
#define PROCESS_CAPTURE_END ((size_t)32 << 20)

/* The captured bytes of one stream: `data` points to `size` bytes, mapped or malloc'd. */
struct process_output {
    const char *data;
    size_t size;
    int fd;         /* of the temporary file, or -1 */
    bool truncated; /* the disk was full: only the first `size` bytes were kept */

    /* Dropped bytes in the middle. If not 0, the beginning is `head` bytes long and the end starts at `tail`; a line
     * between them contains the number of dropped bytes. */
    uint64_t left_out;
    size_t head, tail;
};

void process_output_release(struct process_output *output);

struct capture {
    int fd;                       /* reading end of the pipe, non-blocking; -1 after its end */
    struct string_builder memory; /* all bytes so far, or those not yet in the file */
    int spill;                    /* file, or -1 */
    uint64_t spilled;             /* bytes written to the file; its second half is a ring buffer */
    bool truncated;               /* the file could not grow: further bytes are read and dropped */
};

void capture_init(struct capture *capture);

/* Creates the pipe. The child writes to `*ret_end`, which the caller closes. */
int capture_open(struct capture *capture, int *ret_end, struct error *err);

/* Reads available bytes, up to a fixed amount. At the end of the stream `fd` is closed and set to -1. */
void capture_read(struct capture *capture);

/* Reads the bytes that are in the pipe now and closes it, even if writers remain. */
void capture_drain(struct capture *capture);

/* Moves the captured bytes to `ret`. */
void capture_finish(struct capture *capture, struct process_output *ret);

void capture_release(struct capture *capture);

#endif
