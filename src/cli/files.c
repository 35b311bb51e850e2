/* cli/files.c: see files.h. */
#include "cli/files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "cli/parse/command.h"
#include "cli/parse/lookup.h"
#include "debug/check/words.h"
#include "debug/record/result_folder.h"
#include "format/data/iteration_folder.h"
#include "format/data/word.h"
#include "format/polygraphy/debug_replay.h"
#include "onnx/external/data.h"

struct command_file {
    const struct option *option;
    const char *name; /* of the option, as the user typed it */
    const char *path;
    enum option_file use;
    bool is_data;  /* external data of the model, which the option names */
    bool is_there; /* then `status` says which file it is, else `place` */
    struct stat status;
    char *place; /* folder without links, and name */
};

struct command_files {
    struct command_file *items;
    size_t count, capacity;
    struct parse *parse;
};

static bool is_named(const struct command_file *file, const char *name)
{
    return strcmp(file->option->names[0], name) == 0;
}

/* ---- What there is ---- */

static struct command_file *add_file(struct command_files *files, const struct option *option, const char *name,
                                     const char *path)
{
    struct command_file *file = VECTOR_APPEND(files);
    char *target SCOPED_FREE = file_follow_links(path);

    *file = (struct command_file){.option = option, .name = name, .path = path, .use = option->file};
    if (file->use == OPTION_READS_DATA || file->use == OPTION_READS_NAMED)
        file->use = OPTION_READS;
    else if (file->use == OPTION_WRITES_ITERATIONS && iteration_folder_is_name(path))
        file->use = OPTION_WRITES_FOLDER;
    else if (file->use == OPTION_WRITES_DATA || file->use == OPTION_WRITES_ITERATIONS)
        file->use = path[strlen(path) - 1] == '/' ? OPTION_WRITES_FOLDER : OPTION_WRITES;
    file->is_there = stat(path, &file->status) == 0;
    if (!file->is_there)
        file->place = file_place(target != NULL ? target : path);
    return file;
}

static bool is_read(const struct command_file *file)
{
    return file->use <= OPTION_RUNS;
}

/* "model.onnx:function" names a file and what is in it, unless there is a file of that name. */
static const char *model_path(struct parse *parse, const char *word)
{
    const char *colon = file_exists(word) ? NULL : strrchr(word, ':');

    return colon != NULL ? arena_text(parse_arena(parse), (struct text){word, (size_t)(colon - word)}) : word;
}

static const struct command_file *find_file(const struct command_files *files, const char *name)
{
    for (size_t i = 0; i < files->count; i++)
        if (is_named(&files->items[i], name) && !files->items[i].is_data)
            return &files->items[i];
    return NULL;
}

/* With a work folder, candidates are there, under their own names. */
static const char *scratch_path(struct parse *parse, const char *word)
{
    const char *folder = parse_last_word(parse, "--work-dir");
    const char *slash = strrchr(word, '/');

    return folder == NULL ? word : arena_printf(parse_arena(parse), "%s/%s", folder, slash != NULL ? slash + 1 : word);
}

/* A folder is read with all that is in it. */
static void add_data(struct command_files *files, const struct option *option, const char *name, const char *word)
{
    struct file_list paths SCOPED(file_list_release) = {0};

    data_word_list_files(word, &paths);
    for (size_t i = 0; i < paths.count; i++)
        add_file(files, option, name, arena_strdup(parse_arena(files->parse), paths.items[i]));
}

/* The files that a command names: scripts, models, data. */
static void add_files_of_command(struct command_files *files, const struct option *option, const char *name,
                                 const struct option_state *state)
{
    struct named_files named SCOPED(named_files_release) = {0};
    struct check_words command = {.items = state->words, .count = state->count};

    for (size_t i = 0; option->kind == OPTION_ONE && i < state->count; i++)
        command_line_list_files(state->words[i], &named);
    if (option->kind != OPTION_ONE)
        check_words_list_files(&command, &named);
    for (size_t i = 0; i < named.count; i++)
        add_file(files, option, name, arena_strdup(parse_arena(files->parse), named.items[i].path));
}

/* What a command writes to a folder of its own. Where names have a pattern, only those that are there can be lost. */
static void add_results(struct command_files *files, const struct option *option, const char *name, const char *folder)
{
    struct arena *arena = parse_arena(files->parse);
    struct word_list results SCOPED_ITEMS = {0};
    struct file_list found SCOPED(file_list_release) = {0};

    option->list_results(files->parse, &results);
    if (results.count > 0)
        file_list_find(&found, folder, NULL);
    for (size_t i = 0; i < results.count; i++) {
        struct text pattern = text_of(results.items[i]);

        if (strchr(results.items[i], '*') == NULL)
            add_file(files, option, name, arena_printf(arena, "%s/%s", folder, results.items[i]))->use = OPTION_WRITES;
        else
            for (size_t k = 0; k < found.count; k++)
                if (text_matches_pattern(text_of(found.items[k] + strlen(folder) + 1), pattern))
                    add_file(files, option, name, arena_strdup(arena, found.items[k]))->use = OPTION_WRITES;
    }
}

static void add_option_files(struct command_files *files, const struct option *option, const struct option_state *state)
{
    struct parse *parse = files->parse;
    const char *const *words = state->name != NULL ? state->words : &option->fallback;
    size_t count = state->name != NULL ? state->count : option->fallback != NULL;
    const char *name = state->name != NULL ? state->name : option->names[0];

    if (option->file == OPTION_RUNS)
        add_files_of_command(files, option, name, state);
    for (size_t i = 0; option->file != OPTION_RUNS && i < count; i++) {
        const char *path = words[i];

        if (option->file == OPTION_READS_MODEL)
            path = model_path(parse, path);
        else if (option->file == OPTION_READS_NAMED)
            path = strchr(path, '=') != NULL ? strchr(path, '=') + 1 : path;
        else if (option->file == OPTION_SCRATCH)
            path = scratch_path(parse, path);
        if (option->file == OPTION_READS_DATA)
            add_data(files, option, name, path);
        else if (path[0] != '\0')
            add_file(files, option, name, path);
        if (option->file == OPTION_WRITES_RESULTS)
            add_results(files, option, name, path);
    }
}

/* Each tensor goes to a file of its own: "<path>.0" and so on. How many there will be is not known here, nor need those
 * that are there already be the first ones. */
static void add_numbered(struct command_files *files, const struct option *option, const char *name, const char *path)
{
    char *folder SCOPED_FREE = file_folder(path), *base SCOPED_FREE = file_basename(path);
    size_t length = strlen(base);
    DIR *stream = opendir(folder);
    const struct dirent *entry;

    while (stream != NULL && (entry = readdir(stream)) != NULL) {
        const char *end = entry->d_name + length;

        if (strncmp(entry->d_name, base, length) == 0 && end[0] == '.' && end[1] != '\0' &&
            end[1 + strspn(end + 1, "0123456789")] == '\0')
            add_file(files, option, name, arena_printf(parse_arena(files->parse), "%s%s", path, end));
    }
    if (stream != NULL)
        closedir(stream);
}

/* --save-external-data names a file beside the model that is written; without a name it is called after that one. */
static void add_new_external_data(struct command_files *files, const struct option *option,
                                  const struct option_state *state)
{
    struct arena *arena = parse_arena(files->parse);
    const struct command_file *model = find_file(files, "-o");
    const char *path;
    char *folder SCOPED_FREE = NULL;

    if (model == NULL)
        model = find_file(files, "--save-onnx");
    if (state->name == NULL || model == NULL)
        return;
    folder = model->use == OPTION_WRITES_FOLDER ? memory_strdup(model->path) : file_folder(model->path);
    if (state->words[0][0] == '\0')
        path = arena_printf(arena, "%s.data", model->path);
    else
        path = state->words[0][0] == '/' ? state->words[0] : arena_printf(arena, "%s/%s", folder, state->words[0]);
    add_file(files, option, state->name, path);
    if (parse_given(files->parse, "--no-save-all-tensors-to-one-file") != NULL)
        add_numbered(files, option, state->name, path);
}

/* What is written beside a debug replay: what a session that is killed goes on from, and the replay that was there
 * before. */
static void add_beside_replay(struct command_files *files)
{
    struct arena *arena = parse_arena(files->parse);
    const struct command_file *replay = find_file(files, "--save-debug-replay");
    const struct option *option;
    const char *name, *path;
    char *skip_current SCOPED_FREE = NULL;
    bool replaces;

    if (replay == NULL)
        return;
    option = replay->option;
    name = replay->name;
    path = replay->path;
    replaces = replay->is_there && S_ISREG(replay->status.st_mode);
    skip_current = debug_replay_skip_current_path(path);
    add_file(files, option, name, arena_strdup(arena, skip_current));
    if (replaces)
        add_file(files, option, name, arena_printf(arena, "%s.old", path));
}

static void collect_files(struct command_files *files, enum option_file first, enum option_file last)
{
    struct parse *parse = files->parse;

    for (size_t i = 0; i < parse->visible_count; i++) {
        const struct group_state *state = parse->visible[i].state;

        for (size_t k = 0; k < state->group->count; k++) {
            const struct option *option = &state->group->options[k];

            if (option->file < first || option->file > last)
                continue;
            if (option->file == OPTION_WRITES_BESIDE)
                add_new_external_data(files, option, &state->options[k]);
            else
                add_option_files(files, option, &state->options[k]);
        }
    }
}

/* The external data of a model that is read. Errors are reported by the code that loads it. */
static void add_external_data_of(struct command_files *files, const struct option *option, const char *name,
                                 const char *path)
{
    const char *given = option_is_positional(option) ? parse_last_word(files->parse, "--external-data-dir") : NULL;
    struct text_list locations SCOPED_ITEMS = {0};
    struct error ignored;
    struct file_map map SCOPED(file_map_release) = {0};
    char *folder SCOPED_FREE = NULL;

    if (file_map_open(path, &map, &ignored) < 0)
        return;
    folder = given != NULL ? memory_strdup(given) : file_folder(path);
    external_data_list(&map, path, &locations, &ignored);
    for (size_t i = 0; i < locations.count; i++) {
        char *location SCOPED_FREE = memory_copy(locations.items[i].data, locations.items[i].size);
        char *data SCOPED_FREE = file_join(folder, location);

        add_file(files, option, name, arena_strdup(parse_arena(files->parse), data))->is_data = true;
    }
}

static bool is_model(const struct command_file *file)
{
    return file->use == OPTION_READS_MODEL ||
           (file->use == OPTION_RUNS && strcmp(file_extension(file->path), ".onnx") == 0);
}

/* Models are looked into only where something could be written over their data. */
static void add_external_data(struct command_files *files)
{
    size_t count = files->count;
    bool something = false;

    for (size_t i = 0; i < count; i++)
        something = something ||
                    (!is_read(&files->items[i]) && files->items[i].is_there && S_ISREG(files->items[i].status.st_mode));
    for (size_t i = 0; something && i < count; i++) {
        const struct command_file file = files->items[i];

        if (is_model(&file))
            add_external_data_of(files, file.option, file.name, file.path);
    }
}

/* ---- What must not be ---- */

static bool is_same_file(const struct command_file *a, const struct command_file *b)
{
    if (a->is_there != b->is_there)
        return false;
    if (!a->is_there)
        return strcmp(a->place, b->place) == 0;
    return a->status.st_dev == b->status.st_dev && a->status.st_ino == b->status.st_ino;
}

static bool shares_file(const struct command_file *a, const struct command_file *b)
{
    return a->option->shares != NULL && is_named(b, a->option->shares) && !b->is_data;
}

/* A model that is written over itself takes its data along; whether that can be is seen when they are written. */
static bool is_written_in_place(const struct command_files *files, const struct command_file *written)
{
    const struct command_file *model = find_file(files, "model_file"), *output = find_file(files, "-o");

    return written->use == OPTION_WRITES_BESIDE && model != NULL && output != NULL && shares_file(output, model) &&
           is_same_file(model, output);
}

/* "the model itself", "external data of the model of --float", "what --check reads" */
static const char *describe_input(const struct command_files *files, const struct command_file *read)
{
    const char *model = "the model itself";
    bool is_positional = option_is_positional(read->option);

    if (read->use != OPTION_READS_MODEL && !read->is_data)
        return is_positional ? "what the command reads"
                             : arena_printf(parse_arena(files->parse), "what %s reads", read->name);
    if (!is_positional)
        model = arena_printf(parse_arena(files->parse), "the model of %s", read->name);
    if (!read->is_data)
        return model;
    return is_positional ? "external data of the model"
                         : arena_printf(parse_arena(files->parse), "external data of %s", model);
}

static int refuse_input(const struct command_files *files, const struct command_file *written,
                        const struct command_file *read, struct error *err)
{
    const char *what = "it would be lost";

    if (written->use == OPTION_SCRATCH)
        what = "candidates would replace it";
    else if (written->use == OPTION_MOVES)
        what = "it would be moved away";
    return error_set(err, ERR_EXISTS, "%s: '%s' is %s, and %s: choose another %s", written->name, written->path,
                     describe_input(files, read), what,
                     written->option->file == OPTION_WRITES_RESULTS ? "folder" : "path");
}

/* Without a claim to be the only one. */
static bool puts_files_in_folder(const struct command_file *file)
{
    return file->use == OPTION_WRITES_FOLDER && file->option->file != OPTION_WRITES_ITERATIONS;
}

static int check_pair(const struct command_files *files, const struct command_file *written,
                      const struct command_file *other, struct error *err)
{
    if (written->option == other->option || !is_same_file(written, other) || shares_file(written, other))
        return 0;
    if (other->use == OPTION_RUNS && (written->use == OPTION_SCRATCH || written->use == OPTION_MOVES))
        return 0; /* this is how candidates come to a check, and what it makes comes from it */
    if (is_read(other))
        return other->is_data && is_written_in_place(files, written) ? 0 : refuse_input(files, written, other, err);
    if (shares_file(other, written) || written->use == OPTION_MOVES || other->use == OPTION_MOVES ||
        (puts_files_in_folder(written) && puts_files_in_folder(other)) ||
        (written->is_there && (S_ISCHR(written->status.st_mode) || S_ISFIFO(written->status.st_mode))))
        return 0;
    return error_set(err, ERR_INVALID, "%s and %s both write '%s': give one of them another path", other->name,
                     written->name, written->path);
}

/* Pipes and devices like /dev/stdout can be written to, and lose nothing. */
static int check_kind(const struct command_file *file, struct error *err)
{
    mode_t mode = file->status.st_mode;

    if (!file->is_there || is_read(file) || file->use == OPTION_MOVES)
        return 0;
    if (file->use == OPTION_WRITES_FOLDER || file->use == OPTION_WRITES_RESULTS)
        return S_ISDIR(mode)
                   ? 0
                   : error_set(err, ERR_EXISTS, "%s: '%s' is no folder: choose another path", file->name, file->path);
    if (S_ISDIR(mode))
        return error_set(err, ERR_EXISTS, "%s: cannot write '%s': it is a folder", file->name, file->path);
    if (S_ISBLK(mode) || S_ISSOCK(mode))
        return error_set(err, ERR_EXISTS, "%s: cannot write '%s': it is a %s", file->name, file->path,
                         S_ISBLK(mode) ? "disk" : "socket");
    return 0;
}

static int check_files(const struct command_files *files, struct error *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < files->count; i++) {
        const struct command_file *file = &files->items[i];

        rc = check_kind(file, err);
        if (is_read(file))
            continue;
        for (size_t k = 0; rc == 0 && k < files->count; k++)
            if (k < i || is_read(&files->items[k]))
                rc = check_pair(files, file, &files->items[k], err);
    }
    return rc;
}

/* A folder of results that is not this command's may have anything in it. */
static int check_result_folders(const struct command_files *files, struct error *err)
{
    const char *command = parse_command_name(files->parse) + strlen(files->parse->path[0]->name) + 1;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < files->count; i++) {
        const struct command_file *file = &files->items[i];

        if (file->use == OPTION_WRITES_RESULTS && i + 1 < files->count && files->items[i + 1].option == file->option)
            rc = result_folder_check(file->path, command, err);
        if (rc < 0)
            rc = error_context(err, "%s", file->name);
    }
    return rc;
}

int command_files_check(struct parse *parse, struct error *err)
{
    struct command_files files = {.parse = parse};
    int rc;

    collect_files(&files, OPTION_READS_MODEL, OPTION_WRITES_RESULTS);
    collect_files(&files, OPTION_WRITES_BESIDE, OPTION_WRITES_BESIDE);
    add_beside_replay(&files);
    add_external_data(&files);
    rc = check_files(&files, err);
    if (rc == 0)
        rc = check_result_folders(&files, err);
    for (size_t i = 0; i < files.count; i++)
        free(files.items[i].place);
    free(files.items);
    return rc;
}
