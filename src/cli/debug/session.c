/* cli/debug/session.c: see session.h. */
#include "cli/debug/session.h"

#include <stdlib.h>

#include "cli/options/groups.h"
#include "onnx/external/data.h"

static void write_count(struct json_writer *writer, const char *key, int64_t count)
{
    json_writer_key(writer, key);
    json_writer_integer(writer, count);
}

static void write_checks(struct json_writer *writer, const struct check_counts *checks)
{
    json_writer_key(writer, "checks");
    json_writer_begin_object(writer);
    write_count(writer, "failed", checks->failed);
    write_count(writer, "passed", checks->passed);
    write_count(writer, "other_failure", checks->other_failure);
    write_count(writer, "skipped", checks->skipped);
    write_count(writer, "timed_out", checks->timed_out);
    write_count(writer, "signaled", checks->signaled);
    json_writer_end_object(writer);
}

void debug_session_watch_data(struct loop *loop, struct model *model)
{
    struct text_list locations = {0};
    struct subgraph whole;

    subgraph_init_whole(&whole, model);
    if (external_data_locations(&whole, &locations, NULL) == 0)
        for (size_t i = 0; i < locations.count; i++) {
            char *path;

            if (external_data_path(model, locations.items[i], &path, NULL) < 0)
                continue;
            loop_watch(loop, path);
            free(path);
        }
    free(locations.items);
    subgraph_release(&whole);
}

int debug_report_open(struct debug_report *report, const struct command_context *context, struct error *err)
{
    const struct json_values *json = PARSE_VALUES(context->parse, struct json_values);
    int rc;

    *report = (struct debug_report){.wanted = false};
    if (json->path == NULL)
        return 0;
    rc = json_writer_open(&report->json, json->path, err);
    if (rc < 0)
        return error_context(err, "--json");
    report->wanted = true;
    return 0;
}

int debug_report_save(struct debug_report *report, const struct loop *loop,
                      void (*add)(const void *data, struct json_writer *writer), const void *data, struct error *err)
{
    if (!report->wanted)
        return 0;
    json_writer_begin_object(&report->json);
    if (add != NULL)
        add(data, &report->json);
    if (loop != NULL) {
        write_count(&report->json, "passed", loop_passed(loop));
        write_count(&report->json, "failed", loop_failed(loop));
        write_count(&report->json, "skipped", loop_skipped(loop));
        write_checks(&report->json, loop_check_counts(loop));
    }
    json_writer_end_object(&report->json);
    return json_writer_commit(&report->json, FILE_DURABLE, err);
}

void debug_report_close(struct debug_report *report)
{
    if (report->wanted)
        json_writer_release(&report->json);
    report->wanted = false;
}

int debug_session_end(const struct command_context *context, struct loop *loop, int rc)
{
    const struct check_values *check = PARSE_VALUES(context->parse, struct check_values);

    if (rc == ERR_INTERRUPTED) {
        const char *hint = loop_resume_hint(loop, context->command_line);
        if (hint)
            log_message(context->log, LOG_CRITICAL, "%s", hint);
    }
    if (rc < 0)
        return rc;
    loop_log_checks(loop);
    return check->exit_code && loop_failed(loop) > 0 ? EXIT_STATUS_FAILED_ITERATION : 0;
}
