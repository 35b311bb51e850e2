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
#include "format/data/writer.h"

/* "polygraphy run MODEL --onnxrt --steps N ... --save-inputs PATH", NULL-terminated. */
static void list_words(const struct command_context *context, const struct decoder_record *record,
                       struct word_list *ret)
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
    *VECTOR_APPEND(ret) = record->inputs;
    if (record->outputs != NULL) {
        *VECTOR_APPEND(ret) = "--save-outputs";
        *VECTOR_APPEND(ret) = record->outputs;
    }
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

static int load_record(struct decoder_record *record, struct error *err)
{
    int rc = data_file_add_inputs(&record->feeds, record->inputs, err);

    return rc == 0 && record->outputs != NULL ? data_file_add_results(&record->results, record->outputs, err) : rc;
}

int decoder_record_make(const struct command_context *context, const char *inputs, const char *outputs,
                        struct decoder_record *ret, struct error *err)
{
    struct word_list words SCOPED_ITEMS = {0};
    struct process_result result;
    int rc;

    ret->inputs = inputs;
    ret->outputs = outputs;
    if (inputs == NULL) {
        rc = file_make_temporary_folder("steps", &ret->folder, err);
        if (rc < 0)
            return rc;
        ret->inputs = arena_printf(parse_arena((struct parse *)context->parse), "%s/inputs.json", ret->folder);
    }
    list_words(context, ret, &words);
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
    return rc == 0 ? load_record(ret, err) : rc;
}

int decoder_record_select(const struct decoder_record *record, size_t step, struct error *err)
{
    bool is_whole = step == SIZE_MAX;
    const struct feed_dicts feeds = {.items = record->feeds.items + (is_whole ? 0 : step),
                                     .count = is_whole ? record->feeds.count : 1};
    struct runner_results runner;
    int rc = data_file_save(&feeds, record->inputs, err);

    if (rc < 0 || record->outputs == NULL)
        return rc;
    runner = record->results.items[0];
    if (!is_whole) {
        runner.items += step;
        runner.count = 1;
    }
    return run_results_save(&(struct run_results){.items = &runner, .count = 1}, record->outputs, err);
}

void decoder_record_release(struct decoder_record *record)
{
    feed_dicts_release(&record->feeds);
    if (record->folder != NULL)
        file_remove_tree(record->folder, NULL);
    run_results_release(&record->results);
    free(record->folder);
}
