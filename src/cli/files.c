/* cli/files.c: see files.h. */
#include "cli/files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file/file.h"
#include "base/memory.h"
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
    char *target = file_follow_links(path);

    *file = (struct command_file){.option = option, .name = name, .path = path, .use = option->file};
    if (file->use == OPTION_READS_DATA)
        file->use = OPTION_READS;
    else if (file->use == OPTION_WRITES_DATA)
        file->use = path[strlen(path) - 1] == '/' ? OPTION_WRITES_FOLDER : OPTION_WRITES;
    file->is_there = stat(path, &file->status) == 0;
    if (!file->is_there)
        file->place = file_place(target != NULL ? target : path);
    free(target);
    return file;
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
    struct file_list paths = {0};

    data_word_list_files(word, &paths);
    for (size_t i = 0; i < paths.count; i++)
        add_file(files, option, name, arena_strdup(parse_arena(files->parse), paths.items[i]));
    file_list_release(&paths);
}

static void add_option_files(struct command_files *files, const struct option *option, const struct option_state *state)
{
    struct parse *parse = files->parse;
    const char *const *words = state->name != NULL ? state->words : &option->fallback;
    size_t count = state->name != NULL ? state->count : option->fallback != NULL;
    const char *name = state->name != NULL ? state->name : option->names[0];

    for (size_t i = 0; i < count; i++) {
        const char *path = words[i];

        if (option->file == OPTION_READS_MODEL)
            path = model_path(parse, path);
        else if (option->file == OPTION_SCRATCH)
            path = scratch_path(parse, path);
        if (option->file == OPTION_READS_DATA)
            add_data(files, option, name, path);
        else if (path[0] != '\0')
            add_file(files, option, name, path);
    }
}

/* Each tensor goes to a file of its own: "<path>.0" and so on. How many there will be is not known here, nor need those
 * that are there already be the first ones. */
static void add_numbered(struct command_files *files, const struct option *option, const char *name, const char *path)
{
    char *folder = file_folder(path), *base = file_basename(path);
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
    free(folder);
    free(base);
}

/* --save-external-data names a file beside the model that is written; without a name it is called after that one. */
static void add_new_external_data(struct command_files *files, const struct option *option,
                                  const struct option_state *state)
{
    struct arena *arena = parse_arena(files->parse);
    const struct command_file *model = find_file(files, "-o");
    const char *path;
    char *folder;

    if (model == NULL)
        model = find_file(files, "--save-onnx");
    if (state->name == NULL || model == NULL)
        return;
    folder = model->use == OPTION_WRITES_FOLDER ? memory_strdup(model->path) : file_folder(model->path);
    if (state->words[0][0] == '\0')
        path = arena_printf(arena, "%s.data", model->path);
    else
        path = state->words[0][0] == '/' ? state->words[0] : arena_printf(arena, "%s/%s", folder, state->words[0]);
    free(folder);
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
    char *skip_current;
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
    free(skip_current);
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

/* The model is looked into only where something could be written over its data. What is wrong with it is said by those
 * who load it. */
static void add_external_data(struct command_files *files)
{
    const struct command_file *given = find_file(files, "model_file");
    const struct option *option;
    const char *name;
    struct model *model;
    struct subgraph whole;
    struct text_list locations = {0};
    bool something = false;

    for (size_t i = 0; i < files->count; i++)
        something = something || (files->items[i].use > OPTION_READS && files->items[i].is_there &&
                                  S_ISREG(files->items[i].status.st_mode));
    if (!something || given == NULL)
        return;
    option = given->option;
    name = given->name;
    if (model_open(given->path, parse_last_word(files->parse, "--external-data-dir"), &model, NULL) < 0)
        return;
    subgraph_init_whole(&whole, model);
    if (external_data_locations(&whole, &locations, NULL) == 0)
        for (size_t i = 0; i < locations.count; i++) {
            char *location = memory_copy(locations.items[i].data, locations.items[i].size);
            char *path = file_join(model->folder, location);

            add_file(files, option, name, arena_strdup(parse_arena(files->parse), path))->is_data = true;
            free(path);
            free(location);
        }
    free(locations.items);
    subgraph_release(&whole);
    model_free(model);
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

static int refuse_input(const struct command_file *written, const struct command_file *read, struct error *err)
{
    const char *what = "it would be lost";

    if (written->use == OPTION_SCRATCH)
        what = "candidates would replace it";
    else if (written->use == OPTION_MOVES)
        what = "it would be moved away";
    if (read->use == OPTION_READS_MODEL)
        return error_set(err, ERR_EXISTS, "%s: '%s' is %s, and %s: choose another path", written->name, written->path,
                         read->is_data ? "external data of the model" : "the model itself", what);
    return error_set(err, ERR_EXISTS, "%s: '%s' is what %s reads, and %s: choose another path", written->name,
                     written->path, read->name[0] == '-' ? read->name : "the command", what);
}

static int check_pair(const struct command_files *files, const struct command_file *written,
                      const struct command_file *other, struct error *err)
{
    bool reads = other->use <= OPTION_READS;

    if (written->option == other->option || !is_same_file(written, other) || shares_file(written, other))
        return 0;
    if (reads)
        return other->is_data && is_written_in_place(files, written) ? 0 : refuse_input(written, other, err);
    if (shares_file(other, written) || written->use == OPTION_MOVES || other->use == OPTION_MOVES ||
        (written->use == OPTION_WRITES_FOLDER && other->use == OPTION_WRITES_FOLDER) ||
        (written->is_there && (S_ISCHR(written->status.st_mode) || S_ISFIFO(written->status.st_mode))))
        return 0;
    return error_set(err, ERR_INVALID, "%s and %s both write '%s': give one of them another path", other->name,
                     written->name, written->path);
}

/* Pipes and devices like /dev/stdout can be written to, and lose nothing. */
static int check_kind(const struct command_file *file, struct error *err)
{
    mode_t mode = file->status.st_mode;

    if (!file->is_there || file->use <= OPTION_READS || file->use == OPTION_MOVES)
        return 0;
    if (file->use == OPTION_WRITES_FOLDER)
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
        if (file->use <= OPTION_READS)
            continue;
        for (size_t k = 0; rc == 0 && k < files->count; k++)
            if (k < i || files->items[k].use <= OPTION_READS)
                rc = check_pair(files, file, &files->items[k], err);
    }
    return rc;
}

int command_files_check(struct parse *parse, struct error *err)
{
    struct command_files files = {.parse = parse};
    int rc;

    collect_files(&files, OPTION_READS_MODEL, OPTION_WRITES_FOLDER);
    collect_files(&files, OPTION_WRITES_BESIDE, OPTION_WRITES_BESIDE);
    add_beside_replay(&files);
    add_external_data(&files);
    rc = check_files(&files, err);
    for (size_t i = 0; i < files.count; i++)
        free(files.items[i].place);
    free(files.items);
    return rc;
}
