/* cli/debug/decoder_record.c: see decoder_record.h. */
#include "cli/debug/decoder_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/process/process.h"
#include "cli/options/groups.h"
#include "cli/run/settings.h"
#include "format/data/file.h"

/* "polygraphy run MODEL --onnxrt --steps N ... --save-inputs PATH", NULL-terminated. */
static void list_words(const struct command_context *context, const char *path, struct word_list *ret)
{
    static const char *const not_of_run[] = {"--save-step-inputs", NULL};
    const struct parse *parse = context->parse;
    const char *const run[] = {"polygraphy", "run", parse_positional_word(parse, "model_file"), "--onnxrt"};

    for (size_t i = 0; i < ARRAY_LEN(run); i++)
        *VECTOR_APPEND(ret) = run[i];
    parse_add_given_of_group(parse, &onnx_load_options, NULL, ret);
    parse_add_given_of_group(parse, &onnxrt_reference_options, NULL, ret);
    parse_add_given_of_group(parse, &step_options, not_of_run, ret);
    data_loader_add_words(parse, ret);
    *VECTOR_APPEND(ret) = "--save-inputs";
    *VECTOR_APPEND(ret) = path;
    *VECTOR_APPEND(ret) = NULL;
}

/* Logs the lines of a run that say what is a cache and what went in, and its warnings. */
static void log_decoder_lines(struct log *log, const char *output)
{
    static const struct {
        const char *beginning;
        enum log_level level;
    } kinds[] = {{"[I] Decoder", LOG_INFO}, {"[W] ", LOG_WARNING}};
    char *text SCOPED_FREE = memory_strdup(output), *state = NULL;

    for (char *line = strtok_r(text, "\n", &state); line != NULL; line = strtok_r(NULL, "\n", &state))
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
            if (strncmp(line, kinds[i].beginning, strlen(kinds[i].beginning)) == 0)
                log_message(log, kinds[i].level, "%s", line + strlen("[I] "));
}

int decoder_record_make(const struct command_context *context, struct decoder_record *ret, struct error *err)
{
    struct word_list words SCOPED_ITEMS = {0};
    struct process_result result;
    int rc = file_make_temporary_folder("steps", &ret->folder, err);

    if (rc < 0)
        return rc;
    ret->path = file_join(ret->folder, "inputs.json");
    list_words(context, ret->path, &words);
    log_message(context->log, LOG_INFO, "The steps of the decoder are recorded with ONNX Runtime");
    rc = process_run(
        &(struct process_request){.arguments = words.items, .program = context->program, .without_input = true},
        &result, err);
    if (rc < 0)
        return rc;
    if (result.end != PROCESS_EXITED || result.code != 0)
        rc = error_set(err, ERR_BACKEND, "cannot record the steps of the decoder: `polygraphy run` failed:\n%s",
                       result.error_out.size > 0 ? result.error_out.data : "nothing");
    else if (result.out.size > 0)
        log_decoder_lines(context->log, result.out.data);
    process_result_release(&result);
    return rc == 0 ? data_file_add_inputs(&ret->feeds, ret->path, err) : rc;
}

void decoder_record_release(struct decoder_record *record)
{
    feed_dicts_release(&record->feeds);
    if (record->folder != NULL)
        file_remove_tree(record->folder, NULL);
    free(record->path);
    free(record->folder);
}
