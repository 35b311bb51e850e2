/* debug/check/check.c: see check.h. */
#include "debug/check/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/command/resident.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/process/fork_server.h"
#include "base/process/guard.h"
#include "base/text/shell_line.h"
#include "debug/check/caller.h"
#include "debug/check/failure_reason.h"

#define ITERATION_VARIABLE "POLYGRAPHY_ITERATION"

/* Bytes of a list that is passed in the command line. Linux limits each argument and environment variable to 128 KiB; a
 * shell line also has other words and quotes. */
#define LONGEST_LIST_IN_WORDS ((size_t)48 << 10)
#define LONGEST_LIST_IN_LOG ((size_t)2 << 10)

struct check {
    struct check_settings settings;
    struct log *log;
    struct check_words words;
    char *command_line; /* for the log */
    char *search_path;  /* "PATH=..." with this program's folder; NULL: not needed */
    struct judge judge;

    /* When the check is this program: */
    struct fork_server *server;      /* or NULL */
    struct staying_host *host;       /* of runners that stay; or NULL */
    struct check_words server_words; /* arguments: those of the check, or of a plain shell command */
    char *server_text;               /* memory of the words of a shell command */
};

/* ---- What is run ---- */

/* Reports why `program` cannot be executed; `option` has named it. */
static int refuse_program(const char *option, const char *program, struct error *err)
{
    if (!strchr(program, '/'))
        return error_set(err, ERR_MISSING, "%s: program '%s' was not found on the PATH%s", option, program,
                         file_exists(program) ? "; to run the file in the current folder, put ./ before its name" : "");
    if (!file_exists(program))
        return error_set(err, ERR_MISSING, "%s: program '%s' does not exist", option, program);
    if (file_is_folder(program))
        return error_set(err, ERR_INVALID, "%s: '%s' is a folder, not a program", option, program);
    return error_set(err, ERR_IO, "%s: '%s' is not executable; run `chmod +x` on it", option, program);
}

/* Checks call `polygraphy`, also in scripts. If there is none on the PATH, this program's folder is appended to the
 * check's PATH. */
static char *path_with_self(const char *self)
{
    const char *path = getenv("PATH");
    struct string_builder entry;
    char *name SCOPED_FREE = file_basename(self);
    char *folder SCOPED_FREE = file_folder(self);

    string_init(&entry);
    if (path && strcmp(name, "polygraphy") == 0)
        string_add_format(&entry, "PATH=%s:%s", path, folder);
    return entry.size > 0 ? string_take(&entry) : NULL;
}

static int resolve_program(struct check *check, struct error *err)
{
    const struct check_settings *settings = &check->settings;
    const char *name = settings->command.count > 0 ? settings->command.items[0] : "", *option = "--check";
    char *installed SCOPED_FREE = process_find("polygraphy");

    if (!installed && settings->self)
        check->search_path = path_with_self(settings->self);

    if (name[strspn(name, " \t\r\n")] == '\0')
        return error_set(err, ERR_INVALID, "--check needs a command; without --check, you are asked for each verdict");
    if (settings->launcher.count > 0) {
        name = settings->launcher.items[0];
        option = "--launcher";
        check->words.program = process_find(name);
    } else if (settings->shell) {
        check->words.program = memory_strdup("/bin/sh");
    } else {
        check->words.program = process_find(name);
        if (check->words.program == NULL && settings->self != NULL && strcmp(name, "polygraphy") == 0)
            check->words.program = memory_strdup(settings->self);
    }
    return check->words.program != NULL ? 0 : refuse_program(option, name, err);
}

static void prepare_words(struct check *check)
{
    const struct check_settings *settings = &check->settings;
    const char **words = memory_alloc_zero(settings->launcher.count + settings->command.count + 3, sizeof(*words));
    struct string_builder line;
    size_t count = 0;

    string_init(&line);
    for (size_t i = 0; i < settings->launcher.count; i++) {
        words[count++] = settings->launcher.items[i];
        string_add_format(&line, "%s ", settings->launcher.items[i]);
    }
    if (settings->shell) {
        words[count++] = "sh";
        words[count++] = "-c";
    }
    for (size_t i = 0; i < settings->command.count; i++) {
        words[count++] = settings->command.items[i];
        string_add_format(&line, "%s%s", i > 0 ? " " : "", settings->command.items[i]);
    }
    check->words.items = words;
    check->words.count = count;
    check->command_line = string_take(&line);
}

/* Whether the line has no shell syntax other than blanks. */
static bool is_plain(const char *line)
{
    return line[strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,@%+{} ")] == '\0';
}

/* Whether `word` names this program. */
static bool is_self(const char *word, const char *self)
{
    char *program SCOPED_FREE = process_find(word);
    char *path SCOPED_FREE = program != NULL ? realpath(program, NULL) : NULL;

    return program == NULL ? strcmp(word, "polygraphy") == 0 : path != NULL && strcmp(path, self) == 0;
}

/* If the check runs this program, loading libraries would take most of its time. */
static void start_server(struct check *check)
{
    const struct check_settings *settings = &check->settings;
    struct check_words *words = &check->server_words;
    char *state = NULL;

    if (settings->self == NULL || settings->self_main == NULL || settings->launcher.count > 0 ||
        (settings->shell && !is_plain(settings->command.items[0])))
        return;
    check->server_text = memory_strdup(settings->shell ? settings->command.items[0] : "");
    words->usual = settings->files;
    words->is_in_environment = settings->has_lists || settings->variable != NULL;
    words->items = memory_alloc_zero(settings->command.count + strlen(check->server_text) + 1, sizeof(*words->items));
    for (size_t i = 0; !settings->shell && i < settings->command.count; i++)
        words->items[words->count++] = settings->command.items[i];
    for (char *word = strtok_r(check->server_text, " ", &state); word != NULL; word = strtok_r(NULL, " ", &state))
        words->items[words->count++] = word;
    if (words->count > 0 && is_self(words->items[0], settings->self))
        check->server = fork_server_start(settings->self_main, settings->self_prepare, words->items);
}

int check_new(const struct check_settings *settings, struct log *log, struct check **ret, struct error *err)
{
    struct check *check = memory_alloc_zero(1, sizeof(*check));
    int rc = 0;

    *check = (struct check){.settings = *settings,
                            .log = log,
                            .words = {.shell = settings->shell,
                                      .is_in_environment = settings->has_lists || settings->variable != NULL,
                                      .usual = settings->files}};
    if (settings->command.items != NULL && settings->caller == 0)
        rc = resolve_program(check, err);
    if (rc < 0)
        goto done;
    rc = judge_init(&check->judge, &settings->rules, &settings->display, settings->shell, log, err);
    if (rc < 0 || settings->command.items == NULL)
        goto done;
    prepare_words(check);
    if (settings->caller > 0)
        goto done;
    process_guard_start();
    rc = command_host_start(settings->command, &check->host, err);
    if (rc < 0)
        goto done;
    start_server(check);
done:
    if (rc < 0)
        check_free(check);
    else
        *ret = check;
    return rc;
}

void check_free(struct check *check)
{
    if (check == NULL)
        return;
    judge_release(&check->judge);
    fork_server_stop(check->server);
    staying_host_stop(check->host);
    if (check->settings.command.items != NULL && check->settings.caller == 0)
        process_guard_stop();
    free(check->server_words.items);
    free(check->server_text);
    free(check->words.program);
    free(check->words.items);
    free(check->command_line);
    free(check->search_path);
    free(check);
}

bool check_is_interactive(const struct check *check)
{
    return check->settings.command.items == NULL;
}

const struct check_words *check_words(const struct check *check)
{
    return &check->words;
}

struct judge *check_judge(struct check *check)
{
    return &check->judge;
}

/* ---- Running it ---- */

bool check_is_around_us(void)
{
    return getenv(ITERATION_VARIABLE) != NULL || getenv(CHECK_ARTIFACT_VARIABLE) != NULL;
}

static void use_usual_paths(const struct check *check, const struct check_run *run, struct process_result *result)
{
    for (size_t i = 0; i < CANDIDATE_FILES; i++) {
        const char *usual = check->settings.files.items[i], *actual = run->files.items[i];

        if (usual == NULL || actual == NULL || strcmp(usual, actual) == 0)
            continue;
        check_output_rename(&result->out, actual, usual);
        check_output_rename(&result->error_out, actual, usual);
    }
}

/* The list of what to disable as one line, or @ and its path if it is long; NULL if candidates are not lists. */
static int read_list(const struct check *check, const char *path, char **ret, struct error *err)
{
    size_t size;
    int rc;

    *ret = NULL;
    if (!check->settings.has_lists || path == NULL)
        return 0;
    rc = file_read(path, CHECK_LONGEST_LIST, ret, &size, err);
    if (rc == 0 && size > LONGEST_LIST_IN_WORDS) {
        char *place SCOPED_FREE = file_real_path(path);
        struct string_builder line;

        free(*ret);
        *ret = NULL;
        if (place == NULL)
            return error_set(err, ERR_IO, "'%s' was removed after it was written", path);
        string_init(&line);
        string_add_format(&line, "@%s", place);
        *ret = string_take(&line);
        return 0;
    }
    for (size_t i = 0; rc == 0 && i < size; i++)
        if ((*ret)[i] == '\n')
            (*ret)[i] = i + 1 < size ? ';' : '\0';
    return rc;
}

/* The command for a list in words that a shell accepts: with its environment, and placeholders replaced. */
static void add_command_for_list(const struct check *check, const struct check_run *run, const char *disabled,
                                 struct string_builder *ret)
{
    char **words = check_words_for(&check->words, &run->files, disabled);

    string_add(ret, CHECK_DISABLED_VARIABLE "=");
    shell_add_word(ret, disabled, &(struct shell_quotes){0});
    for (size_t i = 0; words[i] != NULL; i++)
        shell_add_argument(ret, words[i]);
    check_words_free(words);
}

void check_announce(const struct check *check, const struct check_run *run)
{
    char *disabled SCOPED_FREE = NULL;
    SCOPED_STRING(line);
    struct error unread;

    if (read_list(check, run->files.items[CANDIDATE_ARTIFACT], &disabled, &unread) == 0 && disabled != NULL &&
        strlen(disabled) <= LONGEST_LIST_IN_LOG)
        add_command_for_list(check, run, disabled, &line);
    log_message(check->log, LOG_INFO, "Running check command: %s", line.size > 0 ? line.data : check->command_line);
}

/* Environment variables of the check. */
struct variables {
    struct string_builder iteration, artifact, more, disabled;
    const char *items[7]; /* NULL-terminated */
    size_t count;
};

static void add_variable(struct variables *variables, struct string_builder *text, const char *name, const char *value)
{
    string_add_format(text, "%s=%s", name, value);
    variables->items[variables->count++] = text->data;
}

static void set_variables(const struct check *check, const struct check_run *run, const char *disabled,
                          struct variables *ret)
{
    const char *artifact = run->files.items[CANDIDATE_ARTIFACT];
    char iteration[32];

    *ret = (struct variables){0};
    snprintf(iteration, sizeof(iteration), "%" PRId64, run->iteration);
    add_variable(ret, &ret->iteration, ITERATION_VARIABLE, iteration);
    if (artifact != NULL)
        add_variable(ret, &ret->artifact, CHECK_ARTIFACT_VARIABLE, artifact);
    if (artifact != NULL && check->settings.variable != NULL) {
        char *place SCOPED_FREE = file_real_path(artifact); /* for a check that changes its folder */

        add_variable(ret, &ret->more, check->settings.variable, place != NULL ? place : artifact);
    }
    if (disabled != NULL)
        add_variable(ret, &ret->disabled, CHECK_DISABLED_VARIABLE, disabled);
    if (check->search_path != NULL)
        ret->items[ret->count++] = check->search_path;
}

static int execute_command(const struct check *check, const struct check_run *run, const char *disabled,
                           struct process_result *ret, struct error *err)
{
    const struct check_settings *settings = &check->settings;
    char **arguments = NULL, **server_arguments = NULL;
    struct error_file errors = {.fd = -1};
    struct variables variables;
    int rc;

    arguments = check_words_for(&check->words, &run->files, disabled);
    if (check->server != NULL)
        server_arguments = check_words_for(&check->server_words, &run->files, disabled);
    set_variables(check, run, disabled, &variables);
    if (settings->rules.compare_reasons && settings->launcher.count == 0 && error_file_open(&errors))
        variables.items[variables.count++] = errors.variable;
    rc = process_run(
        &(struct process_request){
            .arguments = (const char *const *)arguments,
            .program = check->words.program,
            .server = check->server,
            .server_arguments = (const char *const *)server_arguments,
            .environment = variables.items,
            .timeout = run->timeout,
            .stop = run->stop,
            /* ssh and srun read all of standard input, including what other checks should read. */
            .without_input = run->without_input || settings->launcher.count > 0,
        },
        ret, err);
    if (rc == 0) {
        failure_reason_read(&errors, ret->reason);
        use_usual_paths(check, run, ret);
    }
    error_file_close(&errors);
    string_release(&variables.iteration);
    string_release(&variables.artifact);
    string_release(&variables.more);
    string_release(&variables.disabled);
    check_words_free(server_arguments);
    check_words_free(arguments);
    return rc;
}

int check_execute(const struct check *check, const struct check_run *run, struct process_result *ret, struct error *err)
{
    char *disabled SCOPED_FREE = NULL;
    int rc = read_list(check, run->files.items[CANDIDATE_ARTIFACT], &disabled, err);

    if (rc == 0 && check->settings.caller > 0)
        return caller_ask(
            check->settings.caller,
            &(struct caller_request){.files = run->files, .disabled = disabled, .iteration = run->iteration}, ret, err);
    return rc < 0 ? rc : execute_command(check, run, disabled, ret, err);
}

int check_ask(const struct check *check, const char *subject, enum verdict *ret, struct error *err)
{
    SCOPED_STRING(question);
    SCOPED_STRING(answer);
    int rc;

    string_add_format(&question, ">>> Did '%s' [p]ass or [f]ail? ", subject ? subject : "this iteration");
    for (;;) {
        string_clear(&answer);
        rc = check->settings.ask(question.data, &answer, err);
        if (rc < 0)
            break;
        char first = answer.size > 0 ? answer.data[0] : '\0';
        if (first == 'p' || first == 'P' || first == 'f' || first == 'F') {
            *ret = first == 'p' || first == 'P' ? VERDICT_PASS : VERDICT_FAIL;
            break;
        }
        string_clear(&question);
        string_add(&question, ">>> Please choose either: 'p' or 'f': ");
    }
    return rc;
}

int check_refuse_broken(const struct check *check, int code, bool worked_before, struct error *err)
{
    const char *reason = code == 127 ? "a program is not found" : "a program cannot be executed";

    if (worked_before)
        return error_set(
            err, ERR_IO,
            "the check no longer works: on the original, too, '%s' now exits with code %d, as shells do if %s",
            check->command_line, code, reason);
    return error_set(err, ERR_INVALID,
                     "the check cannot run: '%s' exits with code %d, as shells do if %s. If the code means something "
                     "else, name it with --fail-code, --ignore-fail-code or --skip-code",
                     check->command_line, code, reason);
}

/* ---- Identity ---- */

/* Each piece is preceded by its length, so that different commands have different hashes. */
static void add_piece(struct string_builder *builder, const char *piece)
{
    string_add_format(builder, "%zu:%s", strlen(piece), piece);
}

struct hash check_hash(const struct check *check)
{
    const struct check_settings *settings = &check->settings;
    const struct check_rules *rules = &settings->rules;
    SCOPED_STRING(builder);

    string_add(&builder, settings->command.items == NULL ? "interactive" : settings->shell ? "shell" : "words");
    for (size_t i = 0; settings->command.items != NULL && i < settings->command.count; i++)
        add_piece(&builder, settings->command.items[i]);
    string_add(&builder, " fail");
    for (size_t i = 0; i < rules->fail_codes.count; i++)
        string_add_format(&builder, " %d", rules->fail_codes.items[i]);
    string_add(&builder, " ignore");
    for (size_t i = 0; i < rules->ignored_codes.count; i++)
        string_add_format(&builder, " %d", rules->ignored_codes.items[i]);
    if (rules->skip_codes.count > 0 || rules->on_timeout != TIMEOUT_FAILS || rules->compare_failures)
        string_add_format(&builder, " %d %d skip", (int)rules->on_timeout, rules->compare_failures + rules->by_pattern);
    for (size_t i = 0; i < rules->skip_codes.count; i++)
        string_add_format(&builder, " %d", rules->skip_codes.items[i]);
    if (rules->compare_failures && !rules->by_pattern && !rules->compare_reasons)
        string_add(&builder, " whatever the reason");
    if (rules->flaky)
        string_add_format(&builder, " flaky %d", rules->no_false_failures);
    string_add(&builder, " patterns");
    for (size_t i = 0; i < rules->fail_patterns.count; i++)
        add_piece(&builder, rules->fail_patterns.items[i]);

    return hash_bytes(builder.data, builder.size);
}
