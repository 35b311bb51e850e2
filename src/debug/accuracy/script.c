/* debug/accuracy/script.c: the script that reproduces the failure, and the errors of all tensors. */
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
    char *path SCOPED_FREE = NULL;

    if (strncmp(word, folder, length) == 0 && word[length] == '/') {
        string_add(script, " \"$folder\"");
        shell_add_word(script, word + length, &outside);
        return;
    }
    if (word[0] != '-' && strchr(word, '/') != NULL && file_exists(word))
        path = file_real_path(word);
    shell_add_argument(script, path != NULL ? path : word);
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
        add_script_word(script, study->question->folder, step.words.items[i]);
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
    string_add_format(&text, "With %s the whole model %s:\n", fix->what, fix->holds ? "passes" : "has not passed");
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
        add_script_comment(script, study_text(study, "Evidence: %s", cause->evidence.items[i]));
    string_add(script, "\nfolder=$(dirname \"$0\")\n\n# This fails:\n");
    add_script_command(script, study, study->minimal.model != NULL ? &study->minimal : &study->whole,
                       (struct words){0});
    if (cause->fix.what != NULL)
        add_script_fix(script, study);
}

static int write_script(struct study *study, struct error *err)
{
    const char *path = study_text(study, "%s/reproduce.sh", study->question->folder);
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
