/* cli/run/libraries.c: see libraries.h. */
#include "cli/run/libraries.h"

#include "backend/onnxrt/apart/backend.h"
#include "backend/onnxrt/search.h"

static bool is_onnxrt(const struct runner *runner)
{
    return runner->backend == &onnxrt_backend || runner->backend == &onnxrt_apart_backend;
}

static const char *library_of(const struct runner *runner, const struct onnxrt_settings *common)
{
    const struct onnxrt_settings *settings = runner->settings != NULL ? runner->settings : common;

    return settings->library;
}

static bool have_one_library(const struct runner *runners, size_t count, const struct onnxrt_settings *common)
{
    const struct runner *first = NULL;

    for (size_t i = 0; i < count; i++) {
        if (!is_onnxrt(&runners[i]))
            continue;
        if (first != NULL && !string_equal(library_of(first, common), library_of(&runners[i], common)))
            return false;
        first = &runners[i];
    }
    return true;
}

int run_libraries_separate(struct runner *runners, size_t count, const struct onnxrt_settings *common,
                           bool *ret_separate, struct log *log, struct error *err)
{
    int rc = 0;

    *ret_separate = !have_one_library(runners, count, common);
    for (size_t i = 0; *ret_separate && i < count && rc == 0; i++) {
        const void *settings = runners[i].settings != NULL ? runners[i].settings : common;
        struct onnxrt_description found;
        SCOPED_ARENA(arena);

        if (!is_onnxrt(&runners[i]))
            continue;
        runners[i].backend = &onnxrt_apart_backend;
        rc = onnxrt_apart_describe(&(struct backend_request){.settings = settings}, &arena, &found, err);
        if (rc == 0)
            log_message(log, LOG_INFO, "%s is ONNX Runtime %s ('%s'), in a worker process", runners[i].name,
                        found.version, found.path);
    }
    return rc;
}

void run_libraries_write(const struct runner *runners, size_t count, const struct onnxrt_settings *common,
                         struct json_writer *json)
{
    json_writer_key(json, "libraries");
    json_writer_begin_array(json);
    for (size_t i = 0; i < count; i++) {
        struct onnxrt_identity found SCOPED(onnxrt_identity_release) = {0};

        if (!is_onnxrt(&runners[i]) || onnxrt_identify(library_of(&runners[i], common), &found, NULL) < 0)
            continue;
        json_writer_begin_object(json);
        json_writer_add_string(json, "runner", runners[i].name);
        json_writer_add_string(json, "name", "ONNX Runtime");
        json_writer_add_string(json, "version", found.version);
        json_writer_add_string(json, "path", found.path);
        json_writer_end_object(json);
    }
    json_writer_end_array(json);
}

void run_libraries_add_to_page(const struct runner *runners, size_t count, const struct onnxrt_settings *common,
                               struct report *page)
{
    for (size_t i = 0; page != NULL && i < count; i++) {
        struct onnxrt_identity found SCOPED(onnxrt_identity_release) = {0};
        SCOPED_STRING(text);

        if (!is_onnxrt(&runners[i]) || onnxrt_identify(library_of(&runners[i], common), &found, NULL) < 0)
            continue;
        string_add_format(&text, "ONNX Runtime %s ('%s')", found.version, found.path);
        report_add_environment(page, runners[i].name, text.data);
    }
}
