/* debug/accuracy/result.c: the result of a study as JSON, as log lines, and as a script that reproduces the failure. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file/file.h"
#include "base/system.h"
#include "base/text/shell_line.h"
#include "debug/accuracy/accuracy.h"
#include "debug/accuracy/subgraph.h"

bool accuracy_is_answered(const struct study *study)
{
    return study->outcome == OUTCOME_CAUSE || study->outcome == OUTCOME_NOTHING_FAILS;
}

/* ---- JSON ---- */

static void write_fix(const struct cause_fix *fix, struct json_writer *writer)
{
    json_writer_key(writer, "mend");
    if (fix->what == NULL) {
        json_writer_null(writer);
        return;
    }
    json_writer_begin_object(writer);
    json_writer_add_string(writer, "what", fix->what);
    json_writer_add_strings(writer, "options", fix->options.items, fix->options.count);
    json_writer_add_string(writer, "model", fix->model);
    json_writer_add_boolean(writer, "holds", fix->holds);
    json_writer_end_object(writer);
}

static void write_cause(const struct cause *cause, struct json_writer *writer)
{
    json_writer_key(writer, "cause");
    if (cause->kind == CAUSE_UNKNOWN) {
        json_writer_null(writer);
        return;
    }
    json_writer_begin_object(writer);
    json_writer_add_string(writer, "kind", cause_kind_name(cause->kind));
    json_writer_add_string(writer, "sentence", cause->sentence);
    json_writer_add_strings(writer, "nodes", cause->nodes.items, cause->nodes.count);
    json_writer_add_strings(writer, "tensors", cause->tensors.items, cause->tensors.count);
    json_writer_add_string(writer, "tactic", cause->tactic);
    json_writer_add_boolean(writer, "proven", cause->proven);
    json_writer_add_strings(writer, "proof", cause->evidence.items, cause->evidence.count);
    write_fix(&cause->fix, writer);
    json_writer_end_object(writer);
}

static void write_step(const struct study_step *step, struct json_writer *writer)
{
    json_writer_begin_object(writer);
    json_writer_add_string(writer, "name", step->name);
    json_writer_add_string(writer, "question", step->hypothesis);
    json_writer_add_string(writer, "why", step->why);
    json_writer_add_string(writer, "command", step->command);
    json_writer_add_string(writer, "outcome", step->outcome);
    json_writer_add_integer(writer, "exit_status", step->exit_status);
    json_writer_add_integer(writer, "checks", step->checks);
    json_writer_add_integer(writer, "builds", step->builds);
    json_writer_add_number(writer, "seconds", step->seconds);
    json_writer_end_object(writer);
}

void accuracy_write_result(const void *data, struct json_writer *writer)
{
    static const char *const outcomes[] = {[OUTCOME_OPEN] = "open",
                                           [OUTCOME_CAUSE] = "cause",
                                           [OUTCOME_NOTHING_FAILS] = "nothing-fails",
                                           [OUTCOME_NO_CAUSE] = "no-cause",
                                           [OUTCOME_NO_QUESTION] = "no-question"};
    const struct study *study = data;

    json_writer_add_string(writer, "outcome", outcomes[study->outcome]);
    json_writer_add_string(writer, "verdict", study->verdict);
    write_cause(&study->cause, writer);
    json_writer_add_string(writer, "tolerance", study->tolerance_why);
    json_writer_add_integer(writer, "checks", study_checks(study));
    json_writer_add_integer(writer, "builds", study_builds(study));
    json_writer_add_number(writer, "seconds", stopwatch_now() - study->start);
    json_writer_begin_array_member(writer, "steps");
    for (size_t i = 0; i < study->steps.count; i++)
        write_step(study->steps.items[i], writer);
    json_writer_end_array(writer);
}

/* ---- The log ---- */

void accuracy_log_result(const struct study *study)
{
    const struct cause *cause = &study->cause;
    struct log *log = study->log;

    log_message(log, accuracy_is_answered(study) ? LOG_FINISH : LOG_ERROR, "%s", study->verdict);
    log_indent(log, 1);
    for (size_t i = 0; i < cause->evidence.count; i++)
        log_message(log, LOG_FINISH, "Seen: %s", cause->evidence.items[i]);
    if (cause->fix.what != NULL)
        log_message(log, LOG_FINISH, "Mend: %s%s", cause->fix.what,
                    cause->fix.holds ? "" : " (not seen to hold for the whole model)");
    log_message(log, LOG_FINISH,
                "%zu experiments, %lld runs of the suspect, %lld builds, %.0f s; everything is in '%s'",
                study->steps.count, (long long)study_checks(study), (long long)study_builds(study),
                stopwatch_now() - study->start, study->settings->folder);
    log_indent(log, -1);
}

/* ---- The script ---- */

/* As comments, which names in the model do not get out of: these may have line breaks. */
static void add_script_comment(struct string_builder *script, const char *text)
{
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");

        string_add(script, "# ");
        string_add_visible(script, (struct text){text, size});
        string_add_char(script, '\n');
        text += size + (text[size] != '\0');
    }
}

/* Files in the folder are named relative to it, other files by their absolute path: so it can be run from anywhere. */
static void add_script_word(struct string_builder *script, const char *folder, const char *word)
{
    const struct shell_quotes outside = {0};
    size_t length = strlen(folder);
    char *path = NULL;

    if (strncmp(word, folder, length) == 0 && word[length] == '/') {
        string_add(script, " \"$folder\"");
        shell_add_word(script, word + length, &outside);
        return;
    }
    if (word[0] != '-' && strchr(word, '/') != NULL && file_exists(word))
        path = file_real_path(word);
    shell_add_argument(script, path != NULL ? path : word);
    free(path);
}

/* A case in the runner that is to blame: the suspect, or the reference and --validate where it is the model. */
static void add_script_command(struct string_builder *script, struct study *study, const struct failing_case *subject,
                               struct words options)
{
    struct study_step step = {.study = study}; /* words that are not run */

    step_add(&step, "run", subject->model, NULL);
    step_add_words(&step, study->settings->loading);
    step_add_case(&step, subject);
    step_add_blamed_runner(&step);
    step_add_words(&step, options);
    string_add(script, "polygraphy");
    for (size_t i = 0; i < step.words.count; i++)
        add_script_word(script, study->settings->folder, step.words.items[i]);
    string_add_char(script, '\n');
    free(step.words.items);
}

/* What makes the whole model pass, or may. */
static void add_script_fix(struct string_builder *script, struct study *study)
{
    const struct cause_fix *fix = &study->cause.fix;
    struct failing_case fixed = study->whole;
    SCOPED_STRING(text);

    if (fix->model != NULL)
        fixed.model = fix->model;
    string_add_format(&text, "With %s the whole model %s:\n", fix->what,
                      fix->holds ? "passes" : "was not seen to pass");
    add_script_command(&text, study, &fixed, fix->options);
    string_add_char(script, '\n');
    add_script_comment(script, text.data);
}

static void render_script(struct study *study, struct string_builder *script)
{
    const struct cause *cause = &study->cause;

    string_add(script, "#!/bin/sh\n# polygraphy " POLYGRAPHY_VERSION ", ");
    system_add_processor_name(script);
    string_add_char(script, '\n');
    add_script_comment(script, study->verdict);
    for (size_t i = 0; i < cause->evidence.count; i++)
        add_script_comment(script, study_text(study, "Seen: %s", cause->evidence.items[i]));
    string_add(script, "\nfolder=$(dirname \"$0\")\n\n# This fails:\n");
    add_script_command(script, study, study->minimal.model != NULL ? &study->minimal : &study->whole,
                       (struct words){0});
    if (cause->fix.what != NULL)
        add_script_fix(script, study);
}

static int write_script(struct study *study, struct error *err)
{
    const char *path = study_path(study, "reproduce.sh");
    SCOPED_STRING(script);
    int rc;

    render_script(study, &script);
    rc = file_write(path, script.data, script.size, FILE_DURABLE, err);
    if (rc == 0 && chmod(path, 0755) < 0)
        rc = error_set_errno(err, ERR_IO, "cannot make '%s' executable", path);
    return rc;
}

/* Marking all tensors may cure what fails, so this shows where errors are, and proves nothing: what is known does not
 * depend on it. */
static void measure_errors(struct study *study)
{
    struct failing_case all = study->whole;
    struct study_step *step;

    study_make_values(study);
    all.golden = study->values;
    all.tolerance = study->layer_tolerance;
    step = step_begin_suspect(study, &all, "errors", "The errors of all tensors, for the report");
    step_add(step, "--onnx-outputs", "mark", "all", NULL);
    if (!step_run(step))
        return;
    step->outcome = step->has_result ? "measured" : "it does not run like that";
    study->errors = step;
}

int accuracy_write_bundle(struct study *study, struct error *err)
{
    int rc;

    if (study->whole.model == NULL || study->outcome == OUTCOME_NOTHING_FAILS || study->outcome == OUTCOME_NO_QUESTION)
        return 0;
    rc = write_script(study, err);
    if (rc < 0 || study->refused || study->out_of_budget)
        return rc;
    measure_errors(study);
    if (study->error.code == ERR_INTERRUPTED) {
        *err = study->error;
        return ERR_INTERRUPTED;
    }
    if (study_has_failed(study))
        log_message(study->log, LOG_WARNING, "The report has no errors of all tensors: %s", study->error.message);
    return 0;
}
