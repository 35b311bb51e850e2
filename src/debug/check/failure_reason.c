/* debug/check/failure_reason.c: see failure_reason.h. */
#include "debug/check/failure_reason.h"

#include <stdio.h>
#include <string.h>

#include "backend/failing_operator.h"

/* False if the reason is unknown. */
static bool describe_refusal(const struct error *err, char ret[PROCESS_REASON_SIZE])
{
    struct text operator= {0};
    int length = 0;

    if (err->foreign_code < 0)
        length =
            snprintf(ret, PROCESS_REASON_SIZE, "signal %d (%s)", -err->foreign_code, strsignal(-err->foreign_code));
    else if (err->foreign_code > 0)
        length = snprintf(ret, PROCESS_REASON_SIZE, "error %d of the runtime", err->foreign_code);
    if (failing_operator(err->message, &operator) && length < PROCESS_REASON_SIZE)
        length += snprintf(ret + length, PROCESS_REASON_SIZE - (size_t)length, "%s" TEXT_FORMAT, length > 0 ? ", " : "",
                           TEXT_ARGS(operator));
    return length > 0;
}

void failure_reason_read(const struct error_file *file, char ret[PROCESS_REASON_SIZE])
{
    struct error_record record;

    ret[0] = '\0';
    for (size_t i = 0; error_file_read(file, i, &record); i++) {
        char reason[PROCESS_REASON_SIZE];

        if (record.kind == RECORD_ERROR && (record.error.code == ERR_BACKEND || record.error.code == ERR_MEMORY) &&
            describe_refusal(&record.error, reason))
            memcpy(ret, reason, sizeof(reason));
    }
}
