/* base/process/staying_message.h: what passes between the host of processes that stay and who asks it.
 *
 * Each side writes a head of fixed size and the bytes behind it. A question to open a process has the line, the folder
 * and the environment, each followed by a NUL.
 */
#ifndef BASE_PROCESS_STAYING_MESSAGE_H
#define BASE_PROCESS_STAYING_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#define STAYING_LONGEST_LINE ((size_t)64 << 10) /* bytes of a request or an answer */

/* The line of the shell in which paths of the two pipes stand for the placeholders of `line`; malloc'd. */
typedef char *staying_make_line(const char *line, const char *requests, const char *answers);

enum staying_end {
    STAYING_ANSWERED,
    STAYING_ENDED,      /* before it had answered, or because the time was over: see `result` */
    STAYING_WAS_ENDED,  /* the same, before the request came */
    STAYING_NOT_STARTED /* `line` says why */
};

enum staying_question_kind { STAYING_OPEN, STAYING_ASK, STAYING_KILL };

struct staying_question {
    uint64_t size;  /* of the bytes behind it */
    double timeout; /* seconds; 0: none */
    uint64_t kind;
};

struct staying_reply {
    uint64_t line_size, output_size; /* of the bytes behind it */
    double seconds;
    uint64_t end; /* enum staying_end */
    int32_t process_end, code, process, is_new;
};

#endif
