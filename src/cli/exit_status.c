/* cli/exit_status.c: see exit_status.h. */
#include "cli/exit_status.h"

#include "debug/check/check.h"

int exit_status_of(enum error_code code)
{
    if (!check_is_around_us())
        return EXIT_STATUS_ERROR;
    switch (code) {
    case ERR_BACKEND:
    case ERR_MEMORY:
        return EXIT_STATUS_NOT_RUN;
    case ERR_INVALID:
    case ERR_MISSING:
    case ERR_IO:
    case ERR_CORRUPT:
    case ERR_UNSUPPORTED:
    case ERR_EXISTS:
        return EXIT_STATUS_UNTESTABLE;
    case ERR_INTERRUPTED: /* the process ends by the signal */
        break;
    }
    return EXIT_STATUS_ERROR;
}

int exit_status_of_refusal(int usual)
{
    return check_is_around_us() ? EXIT_STATUS_UNTESTABLE : usual;
}
