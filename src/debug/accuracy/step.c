/* debug/accuracy/step.c: experiments, each a command of this program: put together, run within the budget, and kept. */
#include "debug/accuracy/study.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/process/error_file.h"
#include "base/process/fork_server.h"
#include "base/process/process.h"
#include "base/process/staying.h"
#include "base/system.h"
#include "base/text/option_words.h"
#include "base/text/shell_line.h"
#include "debug/check/report.h"
#include "format/json/writer.h"

#define SHARE_TO_END 0.05       /* of the deadline: what a search has to end in, when its own is over */
#define MOST_COMMAND (64 << 20) /* bytes of a command line that is read again */

/* ---- Commands ---- */

struct study_step *step_begin(struct study *study, const char *name, const char *why)
{
    struct study_step *ret = arena_alloc_zero(&study->arena, 1, sizeof(*ret));
    const char *folder = study_text(study, "%s/steps/%02zu-%s", study->settings->folder, study->steps.count + 1, name);

    if (!study_has_failed(study))
        file_make_folders(folder, NULL); /* who writes there reports what is wrong */
    *ret = (struct study_step){.study = study,
                               .folder = folder,
                               .name = strrchr(folder, '/') + 1,
                               .hypothesis = study->hypothesis,
                               .why = why,
                               .exit_status = -1};
    return ret;
}

struct study_step *step_begin_model(struct study *study, const char *name, const char *why, struct words runner)
{
    struct study_step *ret = step_begin(study, name, why);

    step_add(ret, "run", study->settings->model, NULL);
    step_add_words(ret, study->settings->loading);
    step_add_words(ret, runner);
    return ret;
}

struct study_step *step_begin_comparison(struct study *study, const struct failing_case *subject, const char *name,
                                         const char *why)
{
    struct study_step *ret = step_begin(study, name, why);

    step_add(ret, "run", subject->model, NULL);
    step_add_words(ret, study->settings->loading);
    step_add_case(ret, subject);
    return ret;
}

struct study_step *step_begin_suspect(struct study *study, const struct failing_case *subject, const char *name,
                                      const char *why)
{
    struct study_step *ret = step_begin_comparison(study, subject, name, why);

    step_add_words(ret, study->settings->suspect);
    return ret;
}

struct study_step *step_begin_control(struct study *study, const struct failing_case *subject, const char *name,
                                      const char *why)
{
    struct study_step *ret = step_begin_comparison(study, subject, name, why);

    ret->is_control = true;
    step_add_words(ret, study->settings->reference);
    return ret;
}

void step_add(struct study_step *step, const char *first, ...)
{
    va_list rest;

    va_start(rest, first);
    for (const char *word = first; word != NULL; word = va_arg(rest, const char *))
        *VECTOR_APPEND(&step->words) = arena_strdup(&step->study->arena, word);
    va_end(rest);
}

void step_add_words(struct study_step *step, struct words more)
{
    for (size_t i = 0; i < more.count; i++)
        *VECTOR_APPEND(&step->words) = more.items[i];
}

void step_add_option(struct study_step *step, const char *option, struct words values)
{
    option_words_add(&step->words, &step->study->arena, option, values);
}

void step_add_blamed_runner(struct study_step *step)
{
    const struct accuracy_settings *settings = step->study->settings;
    bool is_the_model = step->study->cause.kind == CAUSE_NAN;

    step_add_words(step, is_the_model ? settings->reference : settings->suspect);
    if (is_the_model)
        step_add(step, "--validate", NULL);
}

int64_t failing_case_runs(const struct failing_case *subject)
{
    return subject->runs > 0 ? subject->runs : 1;
}

void step_add_case(struct study_step *step, const struct failing_case *subject)
{
    step_add_inputs(step, subject->inputs, failing_case_runs(subject));
    step_add(step, "--load-outputs", subject->golden, NULL);
    step_add_words(step, subject->tolerance);
}

void step_add_inputs(struct study_step *step, const char *inputs, int64_t times)
{
    step_add(step, "--load-inputs", NULL);
    for (int64_t i = 0; i < times; i++)
        step_add(step, inputs, NULL);
}

const char *step_path(struct study_step *step, const char *name)
{
    return study_text(step->study, "%s/%s", step->folder, name);
}

/* Behind --check everything is the check's. */
static void add_own_option(struct study_step *step, const char *option, const char *value)
{
    struct word_list *words = &step->words;
    size_t at = 0;

    while (at < words->count && strcmp(words->items[at], "--check") != 0)
        at++;
    step_add(step, option, value, NULL);
    memmove(&words->items[at + 2], &words->items[at], (words->count - at - 2) * sizeof(*words->items));
    words->items[at] = option;
    words->items[at + 1] = value;
}

/* The line of the shell that does the same. */
static const char *render_command(const struct study_step *step)
{
    SCOPED_STRING(line);

    string_add(&line, "polygraphy");
    for (size_t i = 0; i < step->words.count; i++)
        shell_add_argument(&line, step->words.items[i]);
    return arena_strdup(&step->study->arena, line.data);
}

/* ---- What is kept of an experiment ---- */

static int save_log(struct study_step *step, const struct process_result *result, struct error *err)
{
    SCOPED_STRING(text);

    string_add_format(&text, "$ %s\n", step->command);
    check_output_render(&result->out, &text);
    check_output_render(&result->error_out, &text);
    return file_write(step_path(step, "log.txt"), text.data, text.size, FILE_INTERMEDIATE, err);
}

/* From here on the experiment is not run again. */
static int save_done(struct study_step *step, struct error *err)
{
    struct json_writer writer SCOPED(json_writer_release) = {0};
    int rc = json_writer_open(&writer, step_path(step, "done.json"), err);

    if (rc < 0)
        return rc;
    json_writer_begin_object(&writer);
    json_writer_add_string(&writer, "command", step->command);
    json_writer_add_integer(&writer, "exit_status", step->exit_status);
    json_writer_add_number(&writer, "seconds", step->seconds);
    json_writer_add_string(&writer, "complaint", step->complaint != NULL ? step->complaint : "");
    json_writer_add_strings(&writer, "warnings", step->warnings.items, step->warnings.count);
    json_writer_end_object(&writer);
    return json_writer_commit(&writer, FILE_DURABLE, err);
}

/* Whether this very command has ended here before; then what is kept of it is filled in. */
static bool find_done(struct study_step *step)
{
    const char *path = step_path(step, "done.json");
    struct study_step kept = {.study = step->study};
    bool ret = file_exists(path) && json_reader_open(&kept.result, path, NULL) == 0 &&
               json_is_object(kept.result.root) && strcmp(step_text(&kept, "command"), step->command) == 0 &&
               json_is_integer(result_find(kept.result.root, "exit_status"));

    if (ret) {
        const char *complaint = step_text(&kept, "complaint");

        step->exit_status = (int)(step_count(&kept, "exit_status") % 256);
        step->seconds = result_number(&kept, kept.result.root, "seconds", 0);
        step->complaint = *complaint != '\0' ? arena_strdup(&step->study->arena, complaint) : NULL;
        step->warnings = result_words(&kept, result_find(kept.result.root, "warnings"), "");
    }
    json_reader_release(&kept.result);
    return ret;
}

/* Whether this very command was begun in the folder before. */
static bool was_begun(const struct study_step *step, const char *path)
{
    char *before SCOPED_FREE = NULL;
    size_t size = 0;

    return file_exists(path) && file_read(path, MOST_COMMAND, &before, &size, NULL) == 0 &&
           size == strlen(step->command) && memcmp(before, step->command, size) == 0;
}

/* ---- Running ---- */

static double seconds_left(const struct study *study)
{
    double deadline = study->settings->deadline;

    return deadline > 0 ? deadline - (stopwatch_now() - study->start) : INFINITY;
}

/* In seconds, of an experiment; 0: none. A search ends by itself, between two of its checks. */
static double time_limit(const struct study_step *step)
{
    double left = seconds_left(step->study);

    if (!isfinite(left))
        return 0;
    return fmax(left, 0.01) + (step->has_budget ? SHARE_TO_END * step->study->settings->deadline : 0);
}

static int refuse_for_budget(struct study *study, struct error *err)
{
    study->out_of_budget = true;
    return error_set(err, ERR_UNSUPPORTED, "budget exhausted (--deadline, --max-checks)");
}

static int check_budget(struct study *study, struct error *err)
{
    int64_t most = study->settings->max_checks;

    study->out_of_budget = seconds_left(study) <= 0 || (most > 0 && study_checks(study) >= most);
    return study->out_of_budget ? refuse_for_budget(study, err) : 0;
}

/* The budget that is left depends on the moment, and is not part of what the experiment is. */
static void add_budget(struct study_step *step)
{
    struct study *study = step->study;
    int64_t most = study->settings->max_checks;
    double left = seconds_left(study);

    if (most > 0)
        add_own_option(step, "--max-checks", study_text(study, "%lld", (long long)(most - study_checks(study))));
    if (isfinite(left))
        add_own_option(step, "--deadline", study_text(study, "%.0f", fmax(1, left)));
}

/* Removes what is left of another command, and has one that was interrupted reuse its verdicts. */
static int prepare_folder(struct study_step *step, const char *result, struct error *err)
{
    const char *path = step_path(step, "command.txt");
    bool is_resumed = was_begun(step, path);

    remove(result);
    if (step->replay != NULL && !is_resumed)
        remove(step->replay);
    if (step->replay != NULL && file_exists(step->replay)) {
        log_message(step->study->log, LOG_INFO, "        Continuing with '%s'", step->replay);
        add_own_option(step, "--load-debug-replay", step->replay);
    }
    if (step->has_budget)
        add_budget(step);
    return is_resumed ? 0 : file_write(path, step->command, strlen(step->command), FILE_INTERMEDIATE, err);
}

/* The first line of a message, as a log shows it. */
static const char *show_first_line(struct study *study, const char *message)
{
    SCOPED_STRING(line);

    string_add_visible(&line, (struct text){message, strcspn(message, "\n")});
    return arena_strdup(&study->arena, line.data);
}

/* Reads what the command itself has passed, not what the commands that it runs have. */
static void read_passed_errors(const struct error_file *file, pid_t process, struct study_step *step)
{
    struct word_list warnings = {0};
    struct error_record record;

    for (size_t i = 0; error_file_read(file, i, &record); i++) {
        const char *line = show_first_line(step->study, record.error.message);

        if (record.process == process && record.kind == RECORD_ERROR)
            step->complaint = line;
        else if (record.process == process)
            *VECTOR_APPEND(&warnings) = line;
    }
    step->warnings = study_keep(step->study, &warnings);
}

static int execute_command(struct study_step *step, struct error *err)
{
    struct study *study = step->study;
    struct error_file errors;
    /* As in the check of a debug tool the exit status says what kind of failure it was (docs/verdicts.md). */
    const char *environment[] = {"POLYGRAPHY_ITERATION=0", NULL, NULL, NULL};
    size_t variables = 1;
    const char **arguments = arena_alloc_zero(&study->arena, step->words.count + 2, sizeof(*arguments));
    const struct process_request request = {.arguments = arguments,
                                            .program = study->settings->program,
                                            .server = step->is_fresh ? NULL : study->server,
                                            .server_arguments = arguments,
                                            .environment = environment,
                                            .timeout = time_limit(step),
                                            .without_input = true};
    struct process_result result;
    int rc;

    if (error_file_open(&errors))
        environment[variables++] = errors.variable;
    if (step->is_fresh) /* a runner that stays is not fresh */
        environment[variables++] = STAYING_HOST_VARIABLE;
    arguments[0] = "polygraphy";
    for (size_t i = 0; i < step->words.count; i++)
        arguments[i + 1] = step->words.items[i];
    rc = process_run(&request, &result, err);
    if (rc < 0)
        goto done;
    step->exit_status = result.end == PROCESS_EXITED ? result.code : 128 + result.code;
    step->seconds = result.seconds;
    read_passed_errors(&errors, result.process, step);
    rc = save_log(step, &result, err);
    if (rc == 0 && result.end == PROCESS_TIMED_OUT)
        rc = refuse_for_budget(study, err);
    process_result_release(&result);
done:
    error_file_close(&errors);
    return rc;
}

static int perform_step(struct study_step *step, const char *result, struct error *err)
{
    int rc = check_budget(step->study, err);

    if (rc < 0)
        return rc;
    rc = prepare_folder(step, result, err);
    if (rc < 0)
        return rc;
    rc = execute_command(step, err);
    if (rc == 0)
        rc = study_refuse_changes(step->study, err);
    return rc < 0 ? rc : save_done(step, err);
}

/* An experiment that has been run becomes one of the study. */
static void add_step(struct study_step *step, const char *result)
{
    *VECTOR_APPEND(&step->study->steps) = step;
    if (!step->has_no_result && file_exists(result) &&
        json_reader_open(&step->result, result, &step->study->error) == 0)
        step->has_result = json_is_object(step->result.root);
}

bool step_run(struct study_step *step)
{
    struct study *study = step->study;
    const char *result = step_path(step, "result.json");

    if (!step->has_no_result)
        add_own_option(step, "--json", result);
    step->command = render_command(step);
    if (!study_has_failed(study)) {
        log_message(study->log, LOG_INFO, "    %s", step->why);
        log_message(study->log, LOG_VERBOSE, "    $ %s", step->command);
        step->is_kept = study->is_resumed && !study->runs_anew && find_done(step);
        if (step->is_kept || perform_step(step, result, &study->error) == 0)
            add_step(step, result);
    }
    free(step->words.items);
    step->words = (struct word_list){0};
    return !study_has_failed(study);
}

const char *step_make(struct study_step *step, const char *path, const char *outcome, const char *outcome_of_failure)
{
    bool is_made;

    step->has_no_result = true;
    is_made = step_run(step) && step->exit_status == 0;
    step->outcome = step->exit_status == 0 ? outcome : outcome_of_failure;
    return is_made ? path : NULL;
}

static void refuse_exit_status(const struct study_step *step)
{
    error_set(&step->study->error, ERR_BACKEND, "`%s` ends with %d: %s", step->command, step->exit_status,
              step->complaint != NULL ? step->complaint : "no message");
}

/* Whether the exit status is one of a comparison. */
static bool has_agreement(const struct study_step *step)
{
    return (step->exit_status <= 1 && step->has_result) || step->exit_status == 3 || step->exit_status > 128;
}

enum agreement step_try(struct study_step *step)
{
    static const char *const outcomes[] = {[AGREES] = "agrees", [DIFFERS] = "differs", [REFUSES] = "does not run"};

    if (!step_run(step))
        return UNKNOWN;
    step->agreement = REFUSES;
    if (step->exit_status <= 1 && step->has_result)
        step->agreement = step->exit_status == 0 ? AGREES : DIFFERS;
    if (has_agreement(step)) {
        step->checks = !step->is_control;
        step->builds = !step->is_control && step->study->settings->suspect_is_built;
        step->outcome = outcomes[step->agreement];
    }
    return step->agreement;
}

enum agreement step_judge(struct study_step *step)
{
    enum agreement ret = step_try(step);

    if (ret == UNKNOWN || has_agreement(step))
        return ret;
    refuse_exit_status(step);
    return step->agreement = UNKNOWN;
}

bool step_require(struct study_step *step)
{
    if (!step_run(step))
        return false;
    if (step->exit_status == 0)
        step->outcome = "done";
    else
        refuse_exit_status(step);
    return step->exit_status == 0;
}
