/* debug/check/check.c: preparing and running the check command. */
#include "debug/check/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "base/process/fork_server.h"
#include "base/process/guard.h"
#include "base/process/process.h"
#include "debug/check/failure_reason.h"
#include "debug/check/interactive.h"
#include "debug/check/state.h"
#include "debug/check/words.h"

#define ARTIFACT_VARIABLE "POLYGRAPHY_ARTIFACT"

static bool is_blank(const char *string)
{
    return string[strspn(string, " \t\r\n")] == '\0';
}

/* Says why `program` cannot be what `option` names. */
static int refuse_program(const char *option, const char *program, struct error *err)
{
    if (!strchr(program, '/'))
        return error_set(err, ERR_MISSING, "%s: program '%s' was not found on the PATH%s", option, program,
                         file_exists(program) ? "; for the file in this folder put ./ before its name" : "");
    if (!file_exists(program))
        return error_set(err, ERR_MISSING, "%s: program '%s' does not exist", option, program);
    if (file_is_folder(program))
        return error_set(err, ERR_INVALID, "%s: '%s' is a folder, not a program", option, program);
    return error_set(err, ERR_IO, "%s: '%s' is not executable; `chmod +x` makes it so", option, program);
}

/* Checks call `polygraphy`, in scripts too. Where there is none on the PATH, this very program stands in: its folder
 * comes last on the check's PATH. */
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

    if (settings->command.count == 0 || is_blank(settings->command.items[0]))
        return error_set(err, ERR_INVALID, "--check needs a command; leave it out to be asked after each iteration");
    if (settings->launcher.count > 0) {
        check->program = process_find(settings->launcher.items[0]);
        return check->program ? 0 : refuse_program("--launcher", settings->launcher.items[0], err);
    }
    if (settings->shell) {
        check->program = memory_strdup("/bin/sh");
        return 0;
    }
    check->program = process_find(settings->command.items[0]);
    if (!check->program && settings->self && strcmp(settings->command.items[0], "polygraphy") == 0)
        check->program = memory_strdup(settings->self);
    return check->program ? 0 : refuse_program("--check", settings->command.items[0], err);
}

static void prepare_words(struct check *check)
{
    const struct check_settings *settings = &check->settings;
    struct string_builder line;
    size_t count = 0;

    check->arguments = memory_alloc_zero(settings->launcher.count + settings->command.count + 3, sizeof(char *));
    string_init(&line);
    for (size_t i = 0; i < settings->launcher.count; i++) {
        check->arguments[count++] = settings->launcher.items[i];
        string_add_format(&line, "%s ", settings->launcher.items[i]);
    }
    if (settings->shell) {
        check->arguments[count++] = "sh";
        check->arguments[count++] = "-c";
    }
    for (size_t i = 0; i < settings->command.count; i++) {
        check->arguments[count++] = settings->command.items[i];
        string_add_format(&line, "%s%s", i > 0 ? " " : "", settings->command.items[i]);
    }
    check->argument_count = count;
    check->command_line = string_take(&line);
}

/* ---- This program as the check ---- */

/* A command line that a shell would only take apart at its blanks. */
static bool is_plain(const char *line)
{
    return line[strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,@%+{} ")] == '\0';
}

/* The words that are run, NULL-terminated: those of the check, or of a plain command line. */
static void list_server_words(struct check *check)
{
    const struct check_settings *settings = &check->settings;
    char *state = NULL;
    size_t count = 0;

    check->server_text = memory_strdup(settings->shell ? settings->command.items[0] : "");
    check->server_words =
        memory_alloc_zero(settings->command.count + strlen(check->server_text) + 1, sizeof(*check->server_words));
    for (size_t i = 0; !settings->shell && i < settings->command.count; i++)
        check->server_words[count++] = settings->command.items[i];
    for (char *word = strtok_r(check->server_text, " ", &state); word != NULL; word = strtok_r(NULL, " ", &state))
        check->server_words[count++] = word;
    check->server_word_count = count;
}

/* Whether the first word stands for this very program. */
static bool is_self(const struct check *check)
{
    char *program = process_find(check->server_words[0]);
    char *path = program != NULL ? realpath(program, NULL) : NULL;
    bool ret = program == NULL ? strcmp(check->server_words[0], "polygraphy") == 0
                               : path != NULL && strcmp(path, check->settings.self) == 0;

    free(path);
    free(program);
    return ret;
}

/* When the check is this program, loading libraries would take most of its time. */
static void start_server(struct check *check)
{
    const struct check_settings *settings = &check->settings;

    if (settings->self == NULL || settings->self_main == NULL || settings->launcher.count > 0 ||
        (settings->shell && !is_plain(settings->command.items[0])))
        return;
    list_server_words(check);
    if (check->server_words[0] != NULL && is_self(check))
        check->server = fork_server_start(settings->self_main, settings->self_prepare, check->server_words);
}

int check_new(const struct check_settings *settings, struct log *log, struct check **ret, struct error *err)
{
    struct check *check = memory_alloc_zero(1, sizeof(*check));
    int rc = 0;

    check->settings = *settings;
    check->log = log;
    if (settings->command.items) {
        rc = resolve_program(check, err);
        if (rc == 0)
            prepare_words(check);
    }
    if (rc == 0)
        rc = check_patterns_new(settings->fail_patterns.items, settings->fail_patterns.count, &check->patterns, err);
    if (rc < 0) {
        check_free(check);
        return rc;
    }
    if (settings->command.items) {
        process_guard_start();
        start_server(check);
    }
    *ret = check;
    return 0;
}

void check_free(struct check *check)
{
    if (!check)
        return;
    check_patterns_free(check->patterns);
    fork_server_stop(check->server);
    if (check->settings.command.items)
        process_guard_stop();
    free(check->server_words);
    free(check->server_text);
    free(check->program);
    free(check->arguments);
    free(check->command_line);
    free(check->search_path);
    check_evidence_release(&check->evidence);
    free(check);
}

bool check_is_interactive(const struct check *check)
{
    return !check->settings.command.items;
}

/* ---- Running it ---- */

bool check_mentions(const struct check *check, enum candidate_file file)
{
    return check_words_name(check->arguments, check->argument_count, &check->settings.files, file);
}

bool check_mentions_path(const struct check *check, const char *path)
{
    char *name = file_basename(path);
    bool ret = false;

    for (size_t i = 0; !ret && i < check->argument_count; i++)
        ret = strstr(check->arguments[i], name) != NULL;
    free(name);
    return ret;
}

#define BETWEEN_FILES " \t()'\""
#define BETWEEN_WORDS BETWEEN_FILES "\n;&|"

/* Of a script that a check names, so many bytes are looked into. */
#define LOOKED_INTO ((size_t)1 << 20)

/* Whether `path` is a script in which the candidate's path, or the variable that holds it, occurs. */
static bool script_tells_of_artifact(const struct check *check, const char *path)
{
    char *name = file_basename(check->settings.files.items[CANDIDATE_ARTIFACT]);
    struct file_map map;
    struct error ignored;
    bool ret = false;

    if (file_map_open(path, &map, &ignored) == 0) {
        struct text content = {(const char *)map.data, map.size < LOOKED_INTO ? map.size : LOOKED_INTO};
        bool is_program = content.size >= 4 && memcmp(content.data, "\177ELF", 4) == 0;

        ret = !is_program && (text_contains(content, text_of(name)) || text_contains(content, TEXT(ARTIFACT_VARIABLE)));
        file_map_release(&map);
    }
    free(name);
    return ret;
}

/* The words of a line of the shell are what its blanks part. */
static bool line_tells_of_artifact(const struct check *check, const char *line)
{
    char *copy = memory_strdup(line), *state = NULL;
    bool ret = strstr(line, ARTIFACT_VARIABLE) != NULL;

    for (char *word = strtok_r(copy, BETWEEN_WORDS "<>", &state); !ret && word != NULL;
         word = strtok_r(NULL, BETWEEN_WORDS "<>", &state))
        ret = script_tells_of_artifact(check, word);
    free(copy);
    return ret;
}

bool check_tells_of_artifact(const struct check *check)
{
    bool ret = check_mentions(check, CANDIDATE_ARTIFACT);

    for (size_t i = 0; !ret && i < check->argument_count; i++)
        ret = line_tells_of_artifact(check, check->arguments[i]);
    return ret || (!check->settings.shell && script_tells_of_artifact(check, check->program));
}

/* Where a shell begins another command; a word of its own. */
#define NEXT_COMMAND ";"

/* What BETWEEN_WORDS parts, with a word in the place of what parts commands. */
static char *part_commands(const char *line)
{
    struct string_builder ret;

    string_init(&ret);
    for (; *line != '\0'; line++)
        if (strchr(";&|\n", *line) != NULL)
            string_add(&ret, " " NEXT_COMMAND " ");
        else
            string_add_char(&ret, *line);
    return string_take(&ret);
}

/* Calls `visit` for each word of the command and the one before it. */
static void each_word(const struct check *check, void (*visit)(void *data, const char *before, const char *word),
                      void *data)
{
    char *before = memory_strdup("");

    for (size_t i = 0; i < check->argument_count; i++) {
        char *copy = part_commands(check->arguments[i]), *state = NULL;

        for (char *word = strtok_r(copy, BETWEEN_FILES, &state); word != NULL;
             word = strtok_r(NULL, BETWEEN_FILES, &state)) {
            visit(data, before, word);
            free(before);
            before = memory_strdup(word);
        }
        free(copy);
    }
    free(before);
}

struct named_files {
    struct watched_files *watched;
    struct name_map replaced; /* by the command itself, each time: what it reads of these is of this time */
    struct arena arena;
    bool are_loaded; /* what stands here are words behind --load-inputs or --load-outputs */
};

static bool is_written(const char *before)
{
    static const char *const writers[] = {"--save", "--log", "--out", "--json", "-o", ">", "2>", "&>", "tee"};

    for (size_t i = 0; i < ARRAY_LEN(writers); i++)
        if (strncmp(before, writers[i], strlen(writers[i])) == 0)
            return true;
    return false;
}

static struct text name_of(const char *word)
{
    return text_of(strncmp(word, "./", 2) == 0 ? word + 2 : word);
}

static void note_replaced(void *data, const char *before, const char *word)
{
    struct named_files *named = data;
    const char *file = NULL;

    if (word[0] == '>')
        file = word[1] != '>' ? word + 1 : NULL;
    else if (is_written(before) && strcmp(before, ">>") != 0)
        file = word;
    if (file != NULL)
        name_map_add(&named->replaced, name_of(arena_strdup(&named->arena, file)), 0);
}

static void watch_word(void *data, const char *before, const char *word)
{
    struct named_files *named = data;

    if (word[0] == '-' || strcmp(word, NEXT_COMMAND) == 0)
        named->are_loaded = strcmp(word, "--load-inputs") == 0 || strcmp(word, "--load-outputs") == 0;
    if (!is_written(before) && word[0] != '>' && name_map_find(&named->replaced, name_of(word)) == NAME_MAP_NONE)
        watched_files_add(named->watched, word, named->are_loaded);
}

void check_watch_files(const struct check *check, struct watched_files *ret)
{
    struct named_files named = {.watched = ret};

    name_map_init(&named.replaced);
    arena_init(&named.arena);
    each_word(check, note_replaced, &named);
    each_word(check, watch_word, &named);
    arena_release(&named.arena);
    name_map_release(&named.replaced);
}

const char *check_placeholder(enum candidate_file file)
{
    return check_words_placeholder(file);
}

void check_announce(struct check *check)
{
    log_message(check->log, LOG_INFO, "Running check command: %s", check->command_line);
}

#define ITERATION_VARIABLE "POLYGRAPHY_ITERATION"

bool check_is_around_us(void)
{
    return getenv(ITERATION_VARIABLE) != NULL || getenv(ARTIFACT_VARIABLE) != NULL;
}

static char *artifact_variable(const struct check_run *run)
{
    struct string_builder variable;

    string_init(&variable);
    string_add_format(&variable, ARTIFACT_VARIABLE "=%s", run->files.items[CANDIDATE_ARTIFACT]);
    return string_take(&variable);
}

int check_execute(const struct check *check, const struct check_run *run, struct process_result *ret, struct error *err)
{
    const struct check_settings *settings = &check->settings;
    char iteration[64], *artifact = run->files.items[CANDIDATE_ARTIFACT] != NULL ? artifact_variable(run) : NULL;
    const char *environment[5] = {iteration};
    size_t count = 1;
    char **arguments =
        check_words_for(check->arguments, check->argument_count, settings->shell, &settings->files, &run->files);
    char **server_words = check->server ? check_words_for(check->server_words, check->server_word_count, false,
                                                          &settings->files, &run->files)
                                        : NULL;
    struct process_request request = {
        .arguments = (const char *const *)arguments,
        .program = check->program,
        .server = check->server,
        .server_arguments = (const char *const *)server_words,
        .environment = environment,
        .timeout = run->timeout,
        .stop = run->stop,
        /* ssh and srun read all there is on behalf of the command, also what is meant for others. */
        .without_input = run->without_input || settings->launcher.count > 0,
    };
    struct failure_reason reason;
    int rc;

    if (settings->compare_reasons && settings->launcher.count == 0 && failure_reason_open(&reason))
        environment[count++] = reason.variable;
    else
        reason.fd = -1;
    snprintf(iteration, sizeof(iteration), ITERATION_VARIABLE "=%" PRId64, run->iteration);
    if (artifact != NULL)
        environment[count++] = artifact;
    environment[count] = check->search_path;
    rc = process_run(&request, ret, err);
    failure_reason_take(&reason, rc == 0 ? ret->reason : NULL);
    check_words_free(arguments);
    check_words_free(server_words);
    free(artifact);
    return rc;
}

int check_ask(struct check *check, const char *subject, enum verdict *ret, struct error *err)
{
    return interactive_ask(&check->settings, subject, ret, err);
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
    string_add(&builder, !settings->command.items ? "interactive" : settings->shell ? "shell" : "words");
    for (size_t i = 0; i < settings->command.count; i++)
        add_piece(&builder, settings->command.items[i]);
    string_add(&builder, " fail");
    for (size_t i = 0; i < settings->fail_codes.count; i++)
        string_add_format(&builder, " %d", settings->fail_codes.items[i]);
    string_add(&builder, " ignore");
    for (size_t i = 0; i < settings->ignored_codes.count; i++)
        string_add_format(&builder, " %d", settings->ignored_codes.items[i]);
    if (settings->skip_codes.count > 0 || settings->on_timeout != TIMEOUT_FAILS || settings->compare_failures)
        string_add_format(&builder, " %d %d skip", (int)settings->on_timeout,
                          settings->compare_failures + settings->by_pattern);
    for (size_t i = 0; i < settings->skip_codes.count; i++)
        string_add_format(&builder, " %d", settings->skip_codes.items[i]);
    if (settings->compare_failures && !settings->by_pattern && !settings->compare_reasons)
        string_add(&builder, " whatever the reason");
    if (settings->flaky)
        string_add_format(&builder, " flaky %d", settings->no_false_failures);
    string_add(&builder, " patterns");
    for (size_t i = 0; i < settings->fail_patterns.count; i++)
        add_piece(&builder, settings->fail_patterns.items[i]);

    struct hash hash = hash_bytes(builder.data, builder.size);
    string_release(&builder);
    return hash;
}
