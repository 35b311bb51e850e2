/* cli/options/junit.c: --junit, and what all commands with this option share. */
#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/system.h"
#include "cli/options/groups.h"
#include "cli/parse/command.h"
#include "format/ci/junit.h"

#define ROW(member, ...) OPTION_ROW(struct junit_values, member, __VA_ARGS__)

static const struct option options[] = {
    ROW(path, .names = {"--junit"}, .kind = OPTION_ONE, .value_name = "FILE.xml", .file = OPTION_WRITES,
        .extensions = "xml",
        .help = "write test cases and results as JUnit XML for CI systems, also if the command fails or is "
                "interrupted. docs/ci.md defines cases and failures"),
};

static int finish_junit(struct parse *parse, void *given, struct error *err)
{
    const struct junit_values *values = given;

    (void)parse;
    return output_folder_check("--junit", values->path, err);
}

const struct option_group junit_options = {
    .title = "Continuous integration",
    OPTION_ROWS(options),
    .finish = finish_junit,
};

/* "polygraphy.resnet50": readers treat the part after the last dot as a class of the package before it. */
static void add_junit_group_name(const struct command_context *context, const char *command, struct string_builder *ret)
{
    const char *model = parse_positional_word(context->parse, "model_file");
    const char *slash = model != NULL ? strrchr(model, '/') : NULL;
    const char *name = slash != NULL ? slash + 1 : model != NULL ? model : command;
    const char *end = strrchr(name, '.');
    size_t size = end != NULL && end > name ? (size_t)(end - name) : strlen(name);

    string_add(ret, "polygraphy.");
    for (size_t i = 0; i < size; i++)
        string_add_char(ret, name[i] == '.' || name[i] == ' ' ? '_' : name[i]);
}

struct junit *junit_begin(const struct command_context *context, const char *command)
{
    const struct common_settings *settings = common_settings_of(context->parse);
    SCOPED_STRING(text);
    struct junit *junit;

    if (settings->junit.path == NULL)
        return NULL;
    add_junit_group_name(context, command, &text);
    junit = junit_new(command, text.data);
    string_clear(&text);
    command_line_add(context, &text);
    junit_add_property(junit, "command", text.data);
    junit_add_property(junit, "program", "polygraphy " POLYGRAPHY_VERSION);
    return junit;
}

void junit_add_verdict(struct junit *junit, const struct report *report, bool passed)
{
    enum report_verdict verdict = report_verdict(report);
    bool failed = verdict == REPORT_FAILED || verdict == REPORT_CAUSE;
    struct words proof = report_proof(report);
    SCOPED_STRING(details);

    if (passed)
        string_add_format(&details, "%s\n", report_sentence(report));
    for (size_t i = 0; i < proof.count; i++)
        string_add_format(&details, "%s\n", proof.items[i]);
    junit_add_case(junit, &(struct junit_case){.name = "verdict",
                                               .outcome = passed   ? JUNIT_PASSED
                                                          : failed ? JUNIT_FAILED
                                                                   : JUNIT_SKIPPED,
                                               .message = report_sentence(report),
                                               .details = {details.data, details.size},
                                               .seconds = NAN});
}

static void add_command_outcome(struct junit *junit, const char *command, int rc, const struct error *err)
{
    struct junit_case item = {.name = command, .outcome = JUNIT_ERROR, .seconds = NAN};
    char message[64];

    if (rc == ERR_INTERRUPTED) {
        snprintf(message, sizeof(message), "Interrupted: %s", strsignal(interrupt_pending()));
        item.message = message;
    } else if (rc < 0) {
        item.message = err->message;
    } else if (rc > 0 && junit_count_bad(junit) == 0) {
        snprintf(message, sizeof(message), "The exit status is %d", rc);
        item.outcome = JUNIT_FAILED;
        item.message = message;
    } else if (rc == 0 && junit_count(junit) == 0) { /* some readers reject a file without tests */
        item.outcome = JUNIT_PASSED;
    } else {
        return;
    }
    junit_add_case(junit, &item);
}

int junit_finish(struct command_context *context, const char *command, int rc, double seconds, struct error *err)
{
    const struct common_settings *settings = common_settings_of(context->parse);
    struct error why;

    if (context->junit == NULL)
        return rc;
    add_command_outcome(context->junit, command, rc, err);
    if (junit_save(context->junit, settings->junit.path, seconds, &why) < 0) {
        if (rc < 0) /* the first error is returned */
            log_message(context->log, LOG_ERROR, "%s", why.message);
        else
            rc = error_set(err, why.code, "%s", why.message);
    }
    junit_free(context->junit);
    context->junit = NULL;
    return rc;
}

struct text junit_runner(const char *name)
{
    static const char form[] = "-00/00/00-00:00:00";
    size_t size = strlen(name), tail = sizeof(form) - 1;

    if (size <= tail)
        return text_of(name);
    for (size_t i = 0; i < tail; i++) {
        char c = name[size - tail + i];

        if (form[i] == '0' ? c < '0' || c > '9' : c != form[i])
            return text_of(name);
    }
    return (struct text){name, size - tail};
}
