/* cli/debug_session.c: see debug_session.h. */
#include "cli/debug_session.h"

#include "cli/option_groups.h"

int debug_session_end(const struct command_context *context, struct loop *loop, int rc)
{
    const struct check_values *check = parse_values(context->parse, &check_options);

    if (rc == ERR_INTERRUPTED) {
        const char *hint = loop_resume_hint(loop, context->command_line);
        if (hint)
            log_message(context->log, LOG_CRITICAL, "%s", hint);
    }
    if (rc < 0)
        return rc;
    return check->exit_code && loop_failed(loop) > 0 ? EXIT_STATUS_FAILED_ITERATION : 0;
}
