/* support/unit_test.c: see unit_test.h. */
#include "support/unit_test.h"

#include <string.h>

void assert_message_contains(const struct error *error, const char *part)
{
    if (!strstr(error->message, part))
        fail_msg("'%s' does not contain '%s'", error->message, part);
}
