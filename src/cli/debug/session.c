/* cli/debug/session.c: see session.h. */
#include "cli/debug/session.h"

#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/preload.h"
#include "cli/options/groups.h"
#include "cli/terminal/progress_line.h"
#include "cli/terminal/prompt.h"
#include "engine/onednn/library.h"
#include "onnx/external/data.h"

/* ---- The beginning ---- */

static bool has_word(const char *const *words, const char *beginning)
{
    for (; *words != NULL; words++)
        if (strncmp(*words, beginning, strlen(beginning)) == 0)
            return true;
    return false;
}

void debug_preload_libraries(void *words)
{
    const struct onednn *onednn;

    if (has_word(words, "--onnxruntime-lib"))
        return;
    if (has_word(words, "--onnxrt") || has_word(words, "--trt"))
        onnxrt_preload(NULL);
    if (has_word(words, "--trt"))
        onednn_load(&onednn, NULL);
}

struct session_settings debug_session_settings(const struct command_context *context, const struct debug_values *debug,
                                               const struct model_file_settings *file)
{
    struct session_settings ret = debug->session;

    ret.check.self = context->program;
    ret.check.self_main = context->main;
    ret.check.self_prepare = debug_preload_libraries;
    ret.check.ask = prompt_ask;
    if (file != NULL) {
        ret.model = file->model.path;
        ret.data = file->data.files;
    }

    /* A line at the bottom of the terminal, for those who want to see plain information, and are not asked there. */
    if (!context->progress || debug->common.logging.settings.threshold > LOG_INFO || ret.check.command.count == 0)
        return ret;
    if (debug->until.end == ENDS_BY_ITSELF && !ret.load_replay) /* otherwise some of them are not run again */
        context->progress->total = debug->until.count;
    ret.progress = progress_line_show;
    ret.progress_data = context->progress;
    return ret;
}

/* ---- The result ---- */

static void write_checks(struct json_writer *writer, const struct check_counts *checks)
{
    json_writer_begin_object_member(writer, "checks");
    json_writer_add_integer(writer, "failed", checks->failed);
    json_writer_add_integer(writer, "passed", checks->passed);
    json_writer_add_integer(writer, "other_failure", checks->other_failure);
    json_writer_add_integer(writer, "skipped", checks->skipped);
    json_writer_add_integer(writer, "timed_out", checks->timed_out);
    json_writer_add_integer(writer, "signaled", checks->signaled);
    json_writer_end_object(writer);
}

void debug_session_watch_data(struct debug_session *session, struct model *model)
{
    struct text_list locations = {0};
    struct subgraph whole;

    subgraph_init_whole(&whole, model);
    if (external_data_locations(&whole, &locations, NULL) == 0)
        for (size_t i = 0; i < locations.count; i++) {
            char *path;

            if (external_data_path(model, locations.items[i], &path, NULL) < 0)
                continue;
            session_watch(session, path);
            free(path);
        }
    free(locations.items);
    subgraph_release(&whole);
}

int debug_report_open(struct debug_report *report, const struct json_values *json, struct error *err)
{
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

int debug_report_save(struct debug_report *report, const struct debug_session *session,
                      void (*add)(const void *data, struct json_writer *writer), const void *data, struct error *err)
{
    if (!report->wanted)
        return 0;
    json_writer_begin_object(&report->json);
    if (add != NULL)
        add(data, &report->json);
    if (session != NULL) {
        json_writer_add_integer(&report->json, "passed", session_state(session).passed);
        json_writer_add_integer(&report->json, "failed", session_state(session).failed);
        json_writer_add_integer(&report->json, "skipped", session_state(session).skipped);
        write_checks(&report->json, session_state(session).checks);
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

int debug_session_end(const struct command_context *context, const struct debug_values *debug,
                      struct debug_session *session, int rc)
{
    if (rc == ERR_INTERRUPTED) {
        const char *hint = session_resume_hint(session, context->command_line);
        if (hint)
            log_message(context->log, LOG_CRITICAL, "%s", hint);
    }
    if (rc < 0)
        return rc;
    check_counts_log(session_state(session).checks, context->log);
    return debug->exit_code && session_state(session).failed > 0 ? EXIT_STATUS_FAILED_ITERATION : 0;
}
