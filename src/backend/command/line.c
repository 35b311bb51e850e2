/* backend/command/line.c: see line.h. */
#include "backend/command/line.h"

#include <string.h>

#include "base/file/placeholder.h"
#include "base/memory.h"
#include "base/text/shell_line.h"

static const char *const file_names[COMMAND_FILES] = {"model", "inputs", "outputs", "engine", "requests", "answers"};
static const char *const format_names[COMMAND_FORMATS] = {"safetensors", "npz", "json", "npy"};
static const char *const extensions[COMMAND_FORMATS] = {".safetensors", ".npz", ".json", ""};

const char *command_format_extension(enum command_format format)
{
    return extensions[format];
}

static size_t find_word(struct text word, const char *const *words, size_t count)
{
    size_t i = 0;

    while (i < count && !text_equal_string(word, words[i]))
        i++;
    return i;
}

static bool has_format(enum command_file file)
{
    return file == COMMAND_INPUTS || file == COMMAND_OUTPUTS || file == COMMAND_REQUESTS;
}

/* A placeholder: "{inputs:npz}". */
struct placeholder {
    enum command_file file;
    struct text format; /* size 0: not said */
    size_t length;
};

/* What stands at `at` in a line that begins at `start`; `file` is COMMAND_FILES when that is no placeholder. Only
 * inputs and outputs have formats, and requests, which name such files. */
static struct placeholder placeholder_at(const char *start, const char *at)
{
    struct placeholder none = {.file = COMMAND_FILES}, ret;
    size_t name, format = 0;

    if (*at != '{')
        return none;
    name = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz");
    ret = (struct placeholder){
        .file = (enum command_file)find_word((struct text){at + 1, name}, file_names, COMMAND_FILES)};
    if (at[1 + name] == ':' && has_format(ret.file)) {
        format = 1 + strcspn(at + 2 + name, "{} \t\n");
        ret.format = (struct text){at + 2 + name, format - 1};
    }
    ret.length = 1 + name + format + 1;
    return at[ret.length - 1] == '}' && !placeholder_is_path(start, at, ret.length) ? ret : none;
}

static int refuse_mixture(const char *line, struct error *err)
{
    static const enum command_file pipes[] = {COMMAND_REQUESTS, COMMAND_ANSWERS};
    static const enum command_file files[] = {COMMAND_MODEL, COMMAND_INPUTS, COMMAND_OUTPUTS, COMMAND_ENGINE};
    bool stays = command_line_stays(line);

    for (size_t i = 0; i < sizeof(pipes) / sizeof(*pipes); i++)
        if (stays && !command_line_names(line, pipes[i]))
            return error_set(err, ERR_INVALID,
                             "a command that stays reads {requests} and writes {answers}: add {%s} to the line",
                             file_names[pipes[i]]);
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        if (stays && command_line_names(line, files[i]))
            return error_set(err, ERR_INVALID,
                             "{%s} in a line with {requests}: the command is started once, and requests name the files",
                             file_names[files[i]]);
    return 0;
}

int command_line_formats(const char *line, enum command_format ret[COMMAND_FILES], struct error *err)
{
    bool is_said[COMMAND_FILES] = {false};
    const char *start = line;

    for (size_t i = 0; i < COMMAND_FILES; i++)
        ret[i] = COMMAND_SAFETENSORS;
    for (; *line != '\0'; line++) {
        struct placeholder found = placeholder_at(start, line);
        size_t format = find_word(found.format, format_names, COMMAND_FORMATS);

        if (found.file == COMMAND_FILES || found.format.data == NULL)
            continue;
        if (format == COMMAND_FORMATS)
            return error_set(err, ERR_INVALID,
                             TEXT_FORMAT ": '" TEXT_FORMAT
                                         "' is no format; choose from safetensors, npz, json (that of "
                                         "Polygraphy) and npy (a folder with a file for each tensor)",
                             (int)found.length, line, TEXT_ARGS(found.format));
        if (is_said[found.file] && ret[found.file] != (enum command_format)format)
            return error_set(err, ERR_INVALID, "{%s:%s} and {%s:%s} stand for one file, which has one format",
                             file_names[found.file], format_names[ret[found.file]], file_names[found.file],
                             format_names[format]);
        is_said[found.file] = true;
        ret[found.file] = (enum command_format)format;
        if (found.file == COMMAND_REQUESTS)
            ret[COMMAND_INPUTS] = ret[COMMAND_OUTPUTS] = (enum command_format)format;
    }
    return refuse_mixture(start, err);
}

bool command_line_names(const char *line, enum command_file file)
{
    for (const char *start = line; *line != '\0'; line++)
        if (placeholder_at(start, line).file == file)
            return true;
    return false;
}

bool command_line_stays(const char *line)
{
    return command_line_names(line, COMMAND_REQUESTS) || command_line_names(line, COMMAND_ANSWERS);
}

char *command_line_for(const char *line, const char *const paths[COMMAND_FILES])
{
    const char *start = line;
    struct shell_quotes quotes = {0};
    struct string_builder ret;

    string_init(&ret);
    while (*line != '\0') {
        struct placeholder found = placeholder_at(start, line);

        if (found.file == COMMAND_FILES || paths[found.file] == NULL) {
            shell_quotes_step(&quotes, *line);
            string_add_char(&ret, *line++);
        } else {
            shell_add_word(&ret, paths[found.file], &quotes);
            line += found.length;
        }
    }
    return string_take(&ret);
}
