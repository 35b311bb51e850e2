/* cli/debug_session.c: see debug_session.h. */
#include "cli/debug_session.h"

#include "cli/option_groups.h"

static void write_count(struct json_writer *writer, const char *key, int64_t count)
{
    json_writer_key(writer, key);
    json_writer_integer(writer, count);
}

int debug_session_save(const struct command_context *context, const struct loop *loop,
                       void (*add)(const void *data, struct json_writer *writer), const void *data, struct error *err)
{
    const struct json_values *json = parse_values(context->parse, &json_options);
    struct json_writer writer;
    int rc;

    if (json->path == NULL)
        return 0;
    rc = json_writer_open(&writer, json->path, err);
    if (rc < 0)
        return rc;
    json_writer_begin_object(&writer);
    if (add != NULL)
        add(data, &writer);
    write_count(&writer, "passed", loop_passed(loop));
    write_count(&writer, "failed", loop_failed(loop));
    write_count(&writer, "skipped", loop_skipped(loop));
    json_writer_end_object(&writer);
    rc = json_writer_commit(&writer, FILE_DURABLE, err);
    json_writer_release(&writer);
    return rc;
}

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
