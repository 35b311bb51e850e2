/* debug/check/words.c: see words.h. */
#include "debug/check/words.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/container/arena.h"
#include "base/container/name_map.h"
#include "base/file/file.h"
#include "base/file/placeholder.h"
#include "base/memory.h"
#include "base/process/spawn.h"
#include "base/text/shell_line.h"
#include "format/data/word.h"

static const char *const placeholders[CANDIDATE_FILES] = {
    [CANDIDATE_ARTIFACT] = "{artifact}",
    [CANDIDATE_INPUTS] = "{inputs}",
    [CANDIDATE_GOLDEN] = "{golden}",
    [CANDIDATE_INFORMATION] = "{information}",
};

const char *check_words_placeholder(enum candidate_file file)
{
    return placeholders[file];
}

/* Whether a path can begin after this character, or end before it. */
static bool parts_paths(char character)
{
    return character == '\0' || strchr(" \t\n'\"`=:,;()<>|&", character) != NULL;
}

/* Length of the usual path at `at`, in the word that begins at `start`, including "./"; 0: none. */
static size_t usual_path_at(const char *start, const char *at, const char *usual)
{
    size_t dot = strncmp(at, "./", 2) == 0 && strncmp(usual, "./", 2) != 0 ? 2 : 0;
    size_t length = strlen(usual);

    if (at > start && !parts_paths(at[-1]))
        return 0;
    return strncmp(at + dot, usual, length) == 0 && parts_paths(at[dot + length]) ? dot + length : 0;
}

static bool names_placeholder(const char *start, const char *at, const char *placeholder)
{
    size_t length = strlen(placeholder);

    return strncmp(at, placeholder, length) == 0 && !placeholder_is_path(start, at, length);
}

/* The file whose name begins at `at`, and the length of the name; CANDIDATE_FILES: none. */
static enum candidate_file file_at(const char *start, const char *at, const struct candidate_paths *usual,
                                   size_t *ret_length)
{
    for (enum candidate_file i = 0; i < CANDIDATE_FILES; i++) {
        size_t length = strlen(placeholders[i]);

        if (usual->items[i] == NULL)
            continue;
        *ret_length =
            names_placeholder(start, at, placeholders[i]) ? length : usual_path_at(start, at, usual->items[i]);
        if (*ret_length > 0)
            return i;
    }
    return CANDIDATE_FILES;
}

static bool is_runner_option(struct text word)
{
    return text_equal(word, TEXT("--runner")) || text_equal(word, TEXT("--runner-build"));
}

/* Whether `at` is in a command of --runner for `polygraphy run`, in which placeholders of the same name stand for other
 * files. */
static bool is_of_runner(const struct check_words *words, size_t index, const char *at)
{
    struct text before = text_of(index > 0 ? words->items[index - 1] : "");
    const char *word = words->items[index];

    if (words->shell && index + 1 == words->count) {
        struct shell_quotes quotes = {0};

        before.size = 0;
        for (const char *next = word; next < at; next++) {
            bool parts = quotes.quotes == '\0' && !quotes.escaped && strchr(" \t\n", *next) != NULL;

            shell_quotes_step(&quotes, *next);
            if (parts && next > word)
                before = (struct text){word, (size_t)(next - word)};
            if (parts)
                word = next + 1;
        }
    }
    return is_runner_option(before) || is_runner_option((struct text){word, strcspn(word, "=")});
}

/* Same as file_at(), for a word of the check. */
static enum candidate_file file_in_word(const struct check_words *words, size_t index, const char *at,
                                        size_t *ret_length)
{
    enum candidate_file file = file_at(words->items[index], at, &words->usual, ret_length);

    return file == CANDIDATE_INPUTS && *at == '{' && is_of_runner(words, index, at) ? CANDIDATE_FILES : file;
}

bool check_words_name(const struct check_words *words, enum candidate_file file)
{
    size_t length;

    if (file == CANDIDATE_ARTIFACT && words->is_in_environment)
        return true;
    for (size_t i = 0; i < words->count; i++)
        for (const char *at = words->items[i]; *at != '\0'; at++)
            if (file_in_word(words, i, at, &length) == file)
                return true;
    return false;
}

bool check_words_name_path(const struct check_words *words, const char *path)
{
    char *name SCOPED_FREE = file_basename(path);
    bool ret = false;

    for (size_t i = 0; !ret && i < words->count; i++)
        ret = strstr(words->items[i], name) != NULL;
    return ret;
}

/* ---- For a candidate ---- */

#define DISABLED_PLACEHOLDER "{disabled}"

static char *word_for(const struct check_words *words, size_t index, const struct candidate_paths *actual,
                      const char *disabled)
{
    bool shell = words->shell && index + 1 == words->count;
    const char *at = words->items[index];
    struct shell_quotes quotes = {0};
    struct string_builder ret;

    string_init(&ret);
    string_add(&ret, ""); /* empty words are kept */
    while (*at != '\0') {
        size_t length = strlen(DISABLED_PLACEHOLDER);
        bool is_disabled = disabled != NULL && names_placeholder(words->items[index], at, DISABLED_PLACEHOLDER);
        enum candidate_file file = is_disabled ? CANDIDATE_FILES : file_in_word(words, index, at, &length);
        const char *value = is_disabled ? disabled : file < CANDIDATE_FILES ? actual->items[file] : NULL;

        if (value == NULL) {
            shell_quotes_step(&quotes, *at);
            string_add_char(&ret, *at++);
            continue;
        }
        /* A file at its usual path keeps the user's spelling. */
        if (*at != '{' && strcmp(value, words->usual.items[file]) == 0)
            string_add_bytes(&ret, at, length);
        else if (shell)
            shell_add_word(&ret, value, &quotes);
        else
            string_add(&ret, value);
        at += length;
    }
    return string_take(&ret);
}

char **check_words_for(const struct check_words *words, const struct candidate_paths *actual, const char *disabled)
{
    char **ret = memory_alloc_zero(words->count + 1, sizeof(*ret));

    for (size_t i = 0; i < words->count; i++)
        ret[i] = word_for(words, i, actual, disabled);
    return ret;
}

void check_words_free(char **words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        free(words[i]);
    free(words);
}

/* ---- Other files ---- */

#define BETWEEN_FILES " \t()'\""
#define BETWEEN_WORDS BETWEEN_FILES "\n;&|"

/* Bytes of a script that are searched. */
#define LOOKED_INTO ((size_t)1 << 20)

/* Whether `path` is a script in which the candidate's path, or the variable that contains it, occurs. */
static bool script_names_artifact(const struct check_words *words, const char *path)
{
    char *name SCOPED_FREE = file_basename(words->usual.items[CANDIDATE_ARTIFACT]);
    struct file_map map;
    struct error ignored;
    bool ret = false;

    if (file_map_open(path, &map, &ignored) == 0) {
        struct text content = {(const char *)map.data, map.size < LOOKED_INTO ? map.size : LOOKED_INTO};
        bool is_program = content.size >= 4 && memcmp(content.data, "\177ELF", 4) == 0;

        ret = !is_program &&
              (text_contains(content, text_of(name)) || text_contains(content, TEXT(CHECK_ARTIFACT_VARIABLE)));
        file_map_release(&map);
    }
    return ret;
}

/* Words of a shell line are separated by blanks. */
static bool line_names_artifact(const struct check_words *words, const char *line)
{
    char *copy = memory_strdup(line), *state = NULL;
    bool ret = strstr(line, CHECK_ARTIFACT_VARIABLE) != NULL;

    for (char *word = strtok_r(copy, BETWEEN_WORDS "<>", &state); !ret && word != NULL;
         word = strtok_r(NULL, BETWEEN_WORDS "<>", &state))
        ret = script_names_artifact(words, word);
    free(copy);
    return ret;
}

bool check_words_tell_of_artifact(const struct check_words *words)
{
    bool ret = check_words_name(words, CANDIDATE_ARTIFACT);

    for (size_t i = 0; !ret && i < words->count; i++)
        ret = line_names_artifact(words, words->items[i]);
    return ret || (!words->shell && script_names_artifact(words, words->program));
}

/* A word that separates two shell commands. */
#define NEXT_COMMAND ";"

/* Copies the line, with a word in place of each character that separates commands. malloc'd. */
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
static void each_word(const struct check_words *words, void (*visit)(void *data, const char *before, const char *word),
                      void *data)
{
    char *before SCOPED_FREE = memory_strdup("");

    for (size_t i = 0; i < words->count; i++) {
        char *copy SCOPED_FREE = part_commands(words->items[i]), *state = NULL;

        for (char *word = strtok_r(copy, BETWEEN_FILES, &state); word != NULL;
             word = strtok_r(NULL, BETWEEN_FILES, &state)) {
            visit(data, before, word);
            free(before);
            before = memory_strdup(word);
        }
    }
}

struct word_walk {
    struct named_files *named;
    struct name_map replaced; /* files that the command itself writes in each run */
    struct arena arena;
    bool are_loaded;    /* the current words belong to --load-inputs or --load-outputs */
    bool are_libraries; /* to --onnxrt-provider-library: NAME=PATH */
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
    struct word_walk *walk = data;
    const char *file = NULL;

    if (word[0] == '>')
        file = word[1] != '>' ? word + 1 : NULL;
    else if (is_written(before) && strcmp(before, ">>") != 0)
        file = word;
    if (file != NULL)
        name_map_add(&walk->replaced, name_of(arena_strdup(&walk->arena, file)), 0);
}

/* Whether it is a script, by its mode, its first line or its name. */
static bool is_script(const char *path)
{
    static const char *const extensions[] = {".py", ".sh", ".bash", ".pl", ".rb", ".js"};
    char start[2];

    if (access(path, X_OK) == 0 || (file_read_start(path, start, sizeof(start)) == 2 && memcmp(start, "#!", 2) == 0))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(extensions); i++)
        if (file_has_extension(path, extensions[i]))
            return true;
    return false;
}

static void note_named(void *data, const char *before, const char *word)
{
    struct word_walk *walk = data;
    struct file_list files SCOPED(file_list_release) = {0};
    const char *library;

    if (word[0] == '-' || strcmp(word, NEXT_COMMAND) == 0) {
        walk->are_loaded = strcmp(word, "--load-inputs") == 0 || strcmp(word, "--load-outputs") == 0;
        walk->are_libraries = strcmp(word, "--onnxrt-provider-library") == 0;
    }
    library = walk->are_libraries ? strchr(word, '=') : NULL;
    if (is_written(before) || word[0] == '>' || name_map_find(&walk->replaced, name_of(word)) != NAME_MAP_NONE)
        return;
    if (walk->are_loaded)
        data_word_list_files(word, &files);
    else if (library != NULL)
        named_files_add(walk->named, library + 1, true);
    else
        named_files_add(walk->named, word, is_script(word));
    for (size_t i = 0; i < files.count; i++)
        if (name_map_find(&walk->replaced, name_of(files.items[i])) == NAME_MAP_NONE)
            named_files_add(walk->named, files.items[i], true);
}

void check_words_list_files(const struct check_words *words, struct named_files *ret)
{
    struct word_walk walk = {.named = ret};

    name_map_init(&walk.replaced);
    arena_init(&walk.arena);
    each_word(words, note_replaced, &walk);
    each_word(words, note_named, &walk);
    arena_release(&walk.arena);
    name_map_release(&walk.replaced);
}

void command_line_list_files(const char *line, struct named_files *ret)
{
    size_t length = strcspn(line, "= \t\n'\"");
    const char *command = line[length] == '=' ? line + length + 1 : line;
    const struct check_words words = {.items = &command, .count = 1};
    char *name SCOPED_FREE = memory_copy(command, strcspn(command, " \t\n'\";&|()<>"));
    char *program SCOPED_FREE = *name != '\0' ? process_find(name) : NULL;

    if (program != NULL)
        named_files_add(ret, program, true);
    check_words_list_files(&words, ret);
}
