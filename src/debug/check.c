/* debug/check.c: preparing and running the check command. */
#include "debug/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/warm_process.h"
#include "debug/check_patterns.h"
#include "debug/check_report.h"
#include "debug/interactive.h"
#include "debug/verdict_rules.h"

struct check {
    struct check_settings settings;
    struct log *log;
    struct check_patterns *patterns;
    char *program;             /* what is executed; NULL when interactive */
    const char **arguments;    /* NULL-terminated */
    char *command_line;        /* for the log */
    char *search_path;         /* "PATH=..." that leads to this program as `polygraphy`; NULL: not needed */
    struct warm_process *warm; /* or NULL */
    const char **warm_words;   /* what it runs: the words of `arguments`, or those of a shell's plain command */
    char *warm_text;           /* of the latter */
    bool ran;                  /* at least once */
    bool has_failure_code;     /* with settings.compare_failures */
    int failure_code;
};

static bool is_blank(const char *string)
{
    return string[strspn(string, " \t\r\n")] == '\0';
}

/* Says why `program` cannot be the check. */
static int refuse_program(const char *program, struct error *err)
{
    if (!strchr(program, '/'))
        return error_set(err, ERR_MISSING, "--check: program '%s' was not found on the PATH%s", program,
                         file_exists(program) ? "; for the file in this folder put ./ before its name" : "");
    if (!file_exists(program))
        return error_set(err, ERR_MISSING, "--check: program '%s' does not exist", program);
    if (file_is_folder(program))
        return error_set(err, ERR_INVALID, "--check: '%s' is a folder, not a program", program);
    return error_set(err, ERR_IO, "--check: '%s' is not executable; `chmod +x` makes it so", program);
}

/* Checks call `polygraphy`, in scripts too. Where there is none on the PATH, this very program stands in: its folder comes
 * last on the check's PATH. */
static char *path_with_self(const char *self)
{
    const char *path = getenv("PATH");
    struct string_builder entry;
    char *name = file_basename(self);
    char *folder = file_folder(self);

    string_init(&entry);
    if (path && strcmp(name, "polygraphy") == 0)
        string_add_format(&entry, "PATH=%s:%s", path, folder);
    free(folder);
    free(name);
    return entry.size > 0 ? string_take(&entry) : NULL;
}

static int resolve_program(struct check *check, struct error *err)
{
    const struct check_settings *settings = &check->settings;
    char *installed = process_find("polygraphy");

    if (!installed && settings->self)
        check->search_path = path_with_self(settings->self);
    free(installed);

    if (settings->command_count == 0 || is_blank(settings->command[0]))
        return error_set(err, ERR_INVALID, "--check needs a command; leave it out to be asked after each iteration");
    if (settings->shell) {
        check->program = memory_strdup("/bin/sh");
        return 0;
    }
    check->program = process_find(settings->command[0]);
    if (!check->program && settings->self && strcmp(settings->command[0], "polygraphy") == 0)
        check->program = memory_strdup(settings->self);
    return check->program ? 0 : refuse_program(settings->command[0], err);
}

static void prepare_words(struct check *check)
{
    const struct check_settings *settings = &check->settings;
    struct string_builder line;
    size_t count = 0;

    check->arguments = memory_alloc_zero(settings->command_count + 3, sizeof(char *));
    if (settings->shell) {
        check->arguments[count++] = "sh";
        check->arguments[count++] = "-c";
    }
    string_init(&line);
    for (size_t i = 0; i < settings->command_count; i++) {
        check->arguments[count++] = settings->command[i];
        if (i > 0)
            string_add_char(&line, ' ');
        string_add(&line, settings->command[i]);
    }
    check->command_line = string_take(&line);
}

/* ---- This program as the check ---- */

/* A command line that a shell would only take apart at its blanks. */
static bool is_plain(const char *line)
{
    return line[strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,@%+ ")] == '\0';
}

/* The words that are run, NULL-terminated: those of the check, or of a plain command line. */
static void list_warm_words(struct check *check)
{
    const struct check_settings *settings = &check->settings;
    char *state = NULL;
    size_t count = 0;

    check->warm_text = memory_strdup(settings->shell ? settings->command[0] : "");
    check->warm_words =
        memory_alloc_zero(settings->command_count + strlen(check->warm_text) + 1, sizeof(*check->warm_words));
    for (size_t i = 0; !settings->shell && i < settings->command_count; i++)
        check->warm_words[count++] = settings->command[i];
    for (char *word = strtok_r(check->warm_text, " ", &state); word != NULL; word = strtok_r(NULL, " ", &state))
        check->warm_words[count++] = word;
}

/* Whether the first word stands for this very program. */
static bool is_self(const struct check *check)
{
    char *program = process_find(check->warm_words[0]);
    char *path = program != NULL ? realpath(program, NULL) : NULL;
    bool ret = program == NULL ? strcmp(check->warm_words[0], "polygraphy") == 0
                               : path != NULL && strcmp(path, check->settings.self) == 0;

    free(path);
    free(program);
    return ret;
}

/* When the check is this program, loading libraries would take most of its time. */
static void warm_up(struct check *check)
{
    const struct check_settings *settings = &check->settings;

    if (settings->self == NULL || settings->self_main == NULL || (settings->shell && !is_plain(settings->command[0])))
        return;
    list_warm_words(check);
    if (check->warm_words[0] != NULL && is_self(check))
        check->warm = warm_process_start(settings->self_main, settings->self_prepare, check->warm_words);
}

int check_new(const struct check_settings *settings, struct log *log, struct check **ret, struct error *err)
{
    struct check *check = memory_alloc_zero(1, sizeof(*check));
    int rc = 0;

    check->settings = *settings;
    check->log = log;
    if (settings->command) {
        rc = resolve_program(check, err);
        if (rc == 0)
            prepare_words(check);
    }
    if (rc == 0)
        rc = check_patterns_new(settings->fail_patterns, settings->fail_pattern_count, &check->patterns, err);
    if (rc < 0) {
        check_free(check);
        return rc;
    }
    if (settings->command)
        warm_up(check);
    *ret = check;
    return 0;
}

void check_free(struct check *check)
{
    if (!check)
        return;
    check_patterns_free(check->patterns);
    warm_process_stop(check->warm);
    free(check->warm_words);
    free(check->warm_text);
    free(check->program);
    free(check->arguments);
    free(check->command_line);
    free(check->search_path);
    free(check);
}

bool check_failure_code(const struct check *check, int *ret)
{
    if (check->has_failure_code)
        *ret = check->failure_code;
    return check->has_failure_code;
}

void check_set_failure_code(struct check *check, int code)
{
    check->has_failure_code = true;
    check->failure_code = code;
}

bool check_is_interactive(const struct check *check)
{
    return !check->settings.command;
}

/* A pattern is looked for in either stream by itself: no match may begin in one and end in the other. */
static int search_output(const struct check *check, const struct process_result *result, bool *ret, struct error *err)
{
    int rc = check_patterns_search(check->patterns, result->out.data, result->out.size, ret, err);

    if (rc == 0 && !*ret)
        rc = check_patterns_search(check->patterns, result->error_out.data, result->error_out.size, ret, err);
    if (rc == 0 && !*ret && (result->out.truncated || result->error_out.truncated))
        rc = error_set(err, ERR_IO,
                       "the check's output filled the disk of temporary files: what follows was lost, and "
                       "with it perhaps a match of --fail-regex; TMPDIR names another folder");
    return rc;
}

static int judge(const struct check *check, const struct process_result *result, enum verdict *ret, struct error *err)
{
    int code = verdict_exit_code(result);
    bool matches = result->end == PROCESS_TIMED_OUT;

    if (matches && check->settings.on_timeout != TIMEOUT_FAILS) {
        *ret = check->settings.on_timeout == TIMEOUT_PASSES ? VERDICT_PASS : VERDICT_SKIP;
        return 0;
    }
    if (!matches && verdict_needs_output(&check->settings, code)) {
        int rc = search_output(check, result, &matches, err);
        if (rc < 0)
            return rc;
    }
    *ret = verdict_from_end(&check->settings, code, matches);
    return 0;
}

/* On the way to a smaller model one failure can turn into another. The first one, that of the original, is what is looked for. */
static void compare_failure(struct check *check, int code, enum verdict *verdict)
{
    if (!check->settings.compare_failures || *verdict != VERDICT_FAIL)
        return;
    if (!check->has_failure_code)
        check_set_failure_code(check, code);
    if (check->failure_code == code)
        return;
    *verdict = VERDICT_SKIP;
    log_message(
        check->log, LOG_WARNING,
        "Another failure: the check ended with code %d, in the first failure with %d. It says nothing about that one "
        "(--signature off makes failures of all)",
        code, check->failure_code);
}

/* The entries of `environment` (may be NULL) and the check's own; the array is malloc'd. */
static const char **whole_environment(const struct check *check, const char *const *environment)
{
    size_t count = 0;

    while (environment && environment[count])
        count++;
    const char **ret = memory_alloc_zero(count + 2, sizeof(char *));
    for (size_t i = 0; i < count; i++)
        ret[i] = environment[i];
    ret[count] = check->search_path;
    return ret;
}

static int run_command(struct check *check, const char *const *environment, enum verdict *ret, struct error *err)
{
    const char **variables = whole_environment(check, environment);
    struct process_request request = {
        .arguments = check->arguments,
        .program = check->program,
        .warm = check->warm,
        .warm_arguments = check->warm_words,
        .environment = variables,
        .timeout = check->settings.timeout,
    };
    struct process_result result;

    log_message(check->log, LOG_INFO, "Running check command: %s", check->command_line);
    int rc = process_run(&request, &result, err);
    free(variables);
    if (rc < 0)
        return rc;
    rc = judge(check, &result, ret, err);
    if (rc == 0) {
        compare_failure(check, verdict_exit_code(&result), ret);
        check_report(&check->settings, &result, *ret, !check->ran, check->log);
    }
    check->ran = true;
    process_result_release(&result);
    return rc;
}

int check_run(struct check *check, const char *subject, const char *const *environment, enum verdict *ret,
              struct error *err)
{
    if (check_is_interactive(check))
        return interactive_ask(&check->settings, subject, ret, err);
    return run_command(check, environment, ret, err);
}

/* Every piece goes in with its length, so that no two different commands look alike. */
static void add_piece(struct string_builder *builder, const char *piece)
{
    string_add_format(builder, "%zu:%s", strlen(piece), piece);
}

struct hash check_hash(const struct check *check)
{
    const struct check_settings *settings = &check->settings;
    struct string_builder builder;

    string_init(&builder);
    string_add(&builder, !settings->command ? "interactive" : settings->shell ? "shell" : "words");
    for (size_t i = 0; settings->command && i < settings->command_count; i++)
        add_piece(&builder, settings->command[i]);
    string_add(&builder, " fail");
    for (size_t i = 0; i < settings->fail_code_count; i++)
        string_add_format(&builder, " %d", settings->fail_codes[i]);
    string_add(&builder, " ignore");
    for (size_t i = 0; i < settings->ignored_code_count; i++)
        string_add_format(&builder, " %d", settings->ignored_codes[i]);
    if (settings->skip_code_count > 0 || settings->on_timeout != TIMEOUT_FAILS || settings->compare_failures)
        string_add_format(&builder, " %d %d skip", (int)settings->on_timeout, settings->compare_failures);
    for (size_t i = 0; i < settings->skip_code_count; i++)
        string_add_format(&builder, " %d", settings->skip_codes[i]);
    if (settings->flaky)
        string_add_format(&builder, " flaky %d", settings->no_false_failures);
    string_add(&builder, " patterns");
    for (size_t i = 0; i < settings->fail_pattern_count; i++)
        add_piece(&builder, settings->fail_patterns[i]);

    struct hash hash = hash_bytes(builder.data, builder.size);
    string_release(&builder);
    return hash;
}
