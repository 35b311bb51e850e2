/* debug/accuracy/bundle.c: see bundle.h. */
#include "debug/accuracy/bundle.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file/file.h"
#include "base/system.h"
#include "base/text/shell_line.h"
#include "debug/accuracy/values.h"

/* Marking all tensors may cure what fails, so this tells where errors are, and proves nothing: what is known does not
 * depend on it. */
static int measure_errors(struct investigation *investigation, struct error *err)
{
    struct failing_case all = investigation->whole;
    struct call call;
    int rc = accuracy_make_values(investigation, err);

    if (rc < 0)
        return rc;
    all.golden = investigation->values;
    all.tolerance = investigation->layer_tolerance;
    call_begin_comparison(&call, investigation, &all, "errors", "The errors of all tensors, for the report");
    call_add_words(&call, investigation->settings->suspect);
    call_add(&call, "--onnx-outputs", "mark", "all", NULL);
    rc = call_run(&call, &investigation->errors, err);
    if (rc == 0)
        investigation->errors->outcome = investigation->errors->has_result ? "measured" : "it does not run like that";
    return rc;
}

/* As comments, which names in the model do not get out of: these may have line breaks. */
static void add_comment(struct string_builder *script, const char *text)
{
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");

        string_add(script, "# ");
        string_add_visible(script, (struct text){text, size});
        string_add_char(script, '\n');
        text += size + (text[size] != '\0');
    }
}

/* What is in the folder is named by it, other files by their whole path: so it can be run from anywhere. */
static void add_words(struct string_builder *script, const char *folder, struct words words)
{
    const struct shell_quotes outside = {0};
    size_t length = strlen(folder);

    for (size_t i = 0; i < words.count; i++) {
        const char *word = words.items[i];
        char *path = NULL;

        if (strncmp(word, folder, length) == 0 && word[length] == '/') {
            string_add(script, " \"$folder\"");
            shell_add_word(script, word + length, &outside);
            continue;
        }
        if (word[0] != '-' && strchr(word, '/') != NULL && file_exists(word))
            path = file_real_path(word);
        shell_add_argument(script, path != NULL ? path : word);
        free(path);
    }
}

static void add_comparison(struct string_builder *script, struct investigation *investigation,
                           const struct failing_case *subject, struct words options)
{
    struct call call;

    call_begin_comparison(&call, investigation, subject, "", "");
    call_add_blamed(&call);
    call_add_words(&call, options);
    string_add(script, "polygraphy");
    add_words(script, investigation->settings->folder, call_keep(&call));
}

/* What makes the whole model pass, or may. */
static void add_mend(struct string_builder *script, struct investigation *investigation)
{
    const struct mend *mend = &investigation->cause.mend;
    struct failing_case mended = investigation->whole;
    struct string_builder text;

    if (mend->model != NULL)
        mended.model = mend->model;
    string_init(&text);
    string_add_format(&text, "With %s the whole model %s:\n", mend->what,
                      mend->holds ? "passes" : "was not seen to pass");
    add_comparison(&text, investigation, &mended, mend->options);
    string_add_char(script, '\n');
    add_comment(script, text.data);
    string_release(&text);
}

static void write_script(struct investigation *investigation, struct string_builder *script)
{
    const struct cause *cause = &investigation->cause;
    const struct words none = {0};

    string_add(script, "#!/bin/sh\n# polygraphy " POLYGRAPHY_VERSION ", ");
    system_add_processor_name(script);
    string_add_char(script, '\n');
    add_comment(script, investigation->verdict);
    for (size_t i = 0; i < cause->proof.count; i++)
        add_comment(script, investigation_text(investigation, "Seen: %s", cause->proof.items[i]));
    string_add(script, "\nfolder=$(dirname \"$0\")\n\n# This fails:\n");
    add_comparison(script, investigation,
                   investigation->minimal.model != NULL ? &investigation->minimal : &investigation->whole, none);
    string_add_char(script, '\n');
    if (cause->mend.what != NULL)
        add_mend(script, investigation);
}

int accuracy_make_bundle(struct investigation *investigation, struct error *err)
{
    const char *path = investigation_path(investigation, "reproduce.sh");
    struct error unmeasured = {0};
    struct string_builder script;
    int rc;

    if (investigation->whole.model == NULL || investigation->outcome == OUTCOME_NOTHING_FAILS ||
        investigation->outcome == OUTCOME_NO_QUESTION)
        return 0;
    string_init(&script);
    write_script(investigation, &script);
    rc = file_write(path, script.data, script.size, FILE_DURABLE, err);
    string_release(&script);
    if (rc == 0 && chmod(path, 0755) < 0)
        rc = error_set_errno(err, ERR_IO, "cannot make '%s' executable", path);
    if (rc < 0 || investigation->refused || investigation->out_of_budget)
        return rc;
    rc = measure_errors(investigation, &unmeasured);
    if (rc == ERR_INTERRUPTED) {
        *err = unmeasured;
        return rc;
    }
    if (rc < 0)
        log_message(investigation->log, LOG_WARNING, "The report has no errors of all tensors: %s", unmeasured.message);
    return 0;
}
