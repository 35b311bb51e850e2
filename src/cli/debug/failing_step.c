/* cli/debug/failing_step.c: see failing_step.h. */
#include "cli/debug/failing_step.h"

#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/process/process.h"

#define LEVEL_SIZE (sizeof("[I] ") - 1)

int failing_step_check(const struct step_values *values, struct error *err)
{
    if (values->count > 0 && values->save_inputs == NULL)
        return error_set(err, ERR_INVALID,
                         "--steps needs a file for the inputs of the step that fails, which become the input data: add "
                         "--save-step-inputs step.json");
    return 0;
}

/* Lines of the log that say what the steps show, without their levels. */
static void log_findings(struct log *log, struct text output)
{
    static const char *const parts[] = {"Decoder Steps | ", "The difference ", "aches that carry it",
                                        "carries it alone"};

    while (output.size > 0) {
        const char *end = memchr(output.data, '\n', output.size);
        size_t size = end != NULL ? (size_t)(end - output.data) : output.size;

        for (size_t i = 0; i < ARRAY_LEN(parts) && size > LEVEL_SIZE && output.data[0] == '['; i++)
            if (text_contains((struct text){output.data, size}, text_of(parts[i])))
                log_text(log, LOG_INFO, (struct text){output.data + LEVEL_SIZE, size - LEVEL_SIZE});
        output.data += size + (end != NULL);
        output.size -= size + (end != NULL);
    }
}

/* With the first line of error. */
static int refuse_output(struct text output, struct error *err)
{
    const char *end = output.size > 0 ? memchr(output.data, '\n', output.size) : NULL;
    size_t size = end != NULL ? (size_t)(end - output.data) : output.size;
    size_t skipped = size > LEVEL_SIZE && output.data[0] == '[' ? LEVEL_SIZE : 0;

    return error_set(err, ERR_BACKEND, "the steps of the decoder could not be compared: %.*s", (int)(size - skipped),
                     size > 0 ? output.data + skipped : "");
}

int failing_step_find(const struct command_context *context, const struct word_list *words,
                      const struct step_values *values, bool *ret_fails, struct error *err)
{
    const char *const as_check[] = {"POLYGRAPHY_ITERATION=0", NULL}; /* exit statuses say why it fails */
    struct word_list all SCOPED_ITEMS = {0};
    struct process_result result;
    int rc;

    *VECTOR_APPEND(&all) = "polygraphy";
    *VECTOR_APPEND(&all) = "run";
    VECTOR_EACH (const char *, word, *words)
        *VECTOR_APPEND(&all) = *word;
    parse_add_given_of_group(context->parse, &step_options, NULL, &all);
    *VECTOR_APPEND(&all) = NULL;
    (void)unlink(values->save_inputs); /* what is there afterwards is of this run */
    log_message(context->log, LOG_START, "Running %lld steps of the decoder", (long long)values->count);
    rc = process_run(
        &(struct process_request){
            .arguments = all.items, .program = context->program, .environment = as_check, .without_input = true},
        &result, err);
    if (rc < 0)
        return rc;
    log_findings(context->log, (struct text){result.out.data, result.out.size});
    *ret_fails = file_exists(values->save_inputs);
    if (result.end != PROCESS_EXITED || result.code > 1 || (result.code == 1) != *ret_fails)
        rc = refuse_output((struct text){result.error_out.data, result.error_out.size}, err);
    process_result_release(&result);
    return rc;
}
