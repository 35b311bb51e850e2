/* backend/trtexec/job.c: see job.h. */
#include "backend/trtexec/job.h"

int trtexec_job_run(const struct trtexec_words *words, const char *folder, struct trtexec_job *ret, struct error *err)
{
    static const char *const environment[] = {"TRT_INTERNAL_OPTIONS", NULL};
    const struct process_request request = {
        .arguments = words->list.items,
        .program = words->settings->program->path,
        .environment = environment,
        .folder = folder,
        .without_input = true,
    };
    struct log *log = words->settings->log;
    struct string_builder line;
    int rc;

    if (log_shows(log, LOG_VERBOSE)) {
        string_init(&line);
        for (size_t i = 0; i < words->list.count; i++)
            string_add_format(&line, "%s%s", i > 0 ? " " : "", words->list.items[i]);
        log_message(log, LOG_VERBOSE, "Running %s", line.data);
        string_release(&line);
    }
    rc = process_run(&request, &ret->result, err);
    if (rc < 0)
        return rc;
    trtexec_report_read((struct text){ret->result.out.data, ret->result.out.size},
                        (struct text){ret->result.error_out.data, ret->result.error_out.size}, words->arena, log,
                        &ret->report);
    return 0;
}

void trtexec_job_release(struct trtexec_job *job)
{
    process_result_release(&job->result);
    trtexec_report_release(&job->report);
    *job = (struct trtexec_job){0};
}

/* At which of trtexec's stages that was, as far as its words tell. */
static const char *advice(const struct trtexec_report *report)
{
    struct text errors = {report->errors.data, report->errors.size};

    if (text_contains(errors, TEXT("Failed to parse onnx file")))
        return ": TensorRT does not take the model; `polygraphy surgeon sanitize --fold-constants` may make one that "
               "it "
               "takes";
    if (text_contains(errors, TEXT("Unknown option")))
        return ": trtexec does not take the options; -v shows the command line";
    return "; -vvvv shows all that it says";
}

int trtexec_job_check(const struct trtexec_job *job, const struct trtexec *program, const char *what, struct error *err)
{
    const struct process_result *result = &job->result;
    const struct trtexec_report *report = &job->report;
    SCOPED_STRING(text);
    int rc;

    if (result->end == PROCESS_EXITED && result->code == 0 && report->passed)
        return 0;
    trtexec_describe(program, &text);
    if (result->end == PROCESS_SIGNALED)
        string_add_format(&text, " was ended by signal %d", result->code);
    else if (result->code != 0)
        string_add_format(&text, " ended with %d", result->code);
    else
        string_add(&text, " ended without saying that it passed");
    rc = error_set(err, ERR_BACKEND, "%s: %s%s%s%s", what, text.data, report->errors.size > 0 ? ", and says: " : "",
                   report->errors.data, advice(report));
    if (err != NULL)
        err->foreign_code = result->end == PROCESS_SIGNALED ? -result->code : result->code;
    return rc;
}
