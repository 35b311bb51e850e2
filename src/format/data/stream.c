/* format/data/stream.c: see stream.h. */
#include "format/data/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "format/data/folder.h"
#include "format/data/iteration_folder.h"
#include "format/data/word.h"
#include "format/json/split.h"

/* A JSON file whose iterations are parsed when they are needed. */
struct lazy_file {
    struct file_map map;
    struct json_pieces pieces; /* iterations */
};

static void release_lazy_file(struct lazy_file *file)
{
    if (file->map.path != NULL)
        file_map_release(&file->map);
    free(file->pieces.items);
    *file = (struct lazy_file){0};
}

static struct text map_text(const struct file_map *map)
{
    return (struct text){map->data != NULL ? (const char *)map->data : "", map->size};
}

/* Drops the pages of a piece that was read. */
static void forget_piece(const struct file_map *map, struct text piece)
{
    size_t offset = (size_t)(piece.data - (const char *)map->data);

    file_map_forget(map, offset, offset + piece.size);
}

/* The files of a folder of iterations, or the subfolders; none of either for other words. `protos`: see folder.h. */
static int list_iterations(const struct data_word *word, const char *protos, struct iteration_files *ret_files,
                           struct file_list *ret_folders, struct error *err)
{
    int rc;

    if (word->name.size > 0 || word->type != DATA_UNDEFINED || !file_is_folder(word->path))
        return 0;
    rc = iteration_files_list(word->path, ret_files, err);
    return rc < 0 || ret_files->count > 0 ? rc : data_folder_list(word->path, protos, ret_folders, err);
}

/* ---- Inputs ---- */

/* What one word, or several, specify. */
struct input_source {
    struct lazy_file file;        /* with pieces, or: */
    struct array_archive archive; /* with sets of arrays, or: */
    struct iteration_files files; /* of a folder, or: */
    struct file_list folders;     /* in a folder, or: */
    struct feed_dicts loaded;     /* data */
    size_t first;                 /* iteration of the stream */
};

struct input_stream {
    struct input_source *items;
    size_t count, capacity;
    size_t iterations;
};

static size_t count_source(const struct input_source *source)
{
    return source->file.pieces.count + source->archive.count + source->files.count + source->folders.count +
           source->loaded.count;
}

static void release_source(struct input_source *source)
{
    release_lazy_file(&source->file);
    array_archive_close(&source->archive);
    iteration_files_release(&source->files);
    file_list_release(&source->folders);
    feed_dicts_release(&source->loaded);
}

/* A list of objects: other lists are arrays. False: the file has to be loaded at once. */
static bool open_lazy_inputs(const struct data_word *word, struct lazy_file *ret)
{
    uint8_t start;
    bool is_list;

    if (word->name.size > 0 || word->type != DATA_UNDEFINED || !file_is_regular(word->path) ||
        file_read_start(word->path, &start, 1) == 0 || start != '[' || file_map_open(word->path, &ret->map, NULL) < 0)
        return false;
    is_list = json_split_array(map_text(&ret->map), &ret->map, &ret->pieces) && ret->pieces.count > 0;
    is_list = is_list && ret->pieces.items[0].data[0] == '{'; /* the parser looks at the others */
    if (!is_list)
        release_lazy_file(ret);
    return is_list;
}

/* False: the file has to be loaded at once, which also says what is wrong with it. */
static bool open_input_archive(const struct data_word *word, struct array_archive *ret)
{
    enum archive_format format = ARCHIVE_NONE;

    if (word->name.size == 0 && word->type == DATA_UNDEFINED && file_is_regular(word->path))
        format = array_archive_format(word->path);
    if (format == ARCHIVE_NONE || array_archive_open(word->path, format, ret, NULL) < 0)
        return false;
    if (ret->holds_results)
        array_archive_close(ret);
    return ret->count > 0;
}

/* The last source, if it is of loaded data, or else a new one: arrays with names join the last iteration. */
static struct input_source *loaded_source(struct input_stream *stream)
{
    struct input_source *last = stream->count > 0 ? &stream->items[stream->count - 1] : NULL;

    if (last != NULL && last->loaded.count > 0)
        return last;
    last = VECTOR_APPEND(stream);
    *last = (struct input_source){0};
    return last;
}

static int add_input_word(struct input_stream *stream, const char *text, struct error *err)
{
    struct input_source source = {0};
    struct data_word word SCOPED(data_word_release) = {0};
    int rc = data_word_parse(text, &word, err);

    if (rc < 0)
        return rc;
    rc = list_iterations(&word, "input", &source.files, &source.folders, err);
    if (rc < 0)
        return rc;
    if (source.files.count > 0 || source.folders.count > 0 || open_lazy_inputs(&word, &source.file) ||
        open_input_archive(&word, &source.archive)) {
        *VECTOR_APPEND(stream) = source;
    } else {
        release_source(&source);
        rc = data_file_add_inputs(&loaded_source(stream)->loaded, text, err);
    }
    return rc;
}

int input_stream_open(const struct words *words, struct input_stream **ret, struct error *err)
{
    struct input_stream *stream = memory_alloc_zero(1, sizeof(*stream));

    for (size_t i = 0; i < words->count; i++) {
        int rc = add_input_word(stream, words->items[i], err);

        if (rc < 0) {
            input_stream_free(stream);
            return rc;
        }
    }
    for (size_t i = 0; i < stream->count; i++) {
        stream->items[i].first = stream->iterations;
        stream->iterations += count_source(&stream->items[i]);
    }
    *ret = stream;
    return 0;
}

void input_stream_free(struct input_stream *stream)
{
    if (stream == NULL)
        return;
    for (size_t i = 0; i < stream->count; i++)
        release_source(&stream->items[i]);
    free(stream->items);
    free(stream);
}

size_t input_stream_count(const struct input_stream *stream)
{
    return stream->iterations;
}

static void borrow_tensors(const struct tensor_list *from, struct tensor_list *ret)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct named_tensor *item = &from->items[i];
        struct tensor tensor;

        tensor_borrow(item->tensor.type, &item->tensor.shape, item->tensor.data, item->tensor.size, &tensor);
        tensor_list_add(ret, text_of(item->name), &tensor);
        ret->items[i].is_unnamed = item->is_unnamed;
        ret->items[i].is_untyped = item->is_untyped;
    }
}

/* `feeds` are the data of one iteration. */
static int take_single(struct feed_dicts *feeds, const char *path, struct tensor_list *ret, struct error *err)
{
    if (feeds->count != 1)
        return error_set(err, ERR_INVALID,
                         "'%s' contains %zu iterations, expected one: pass files to --load-inputs "
                         "by their names, not their folder",
                         path, feeds->count);
    *ret = feeds->items[0];
    feeds->items[0] = (struct tensor_list){0};
    return 0;
}

/* `feeds`, empty on entry, gets what is in the place of the iteration; `ret_path` the file, owned. */
static int read_feeds(const struct input_source *source, size_t index, struct feed_dicts *feeds, char **ret_path,
                      struct error *err)
{
    const struct file_map *map = &source->file.map;
    struct text piece;
    int rc;

    if (source->files.count > 0) {
        *ret_path = iteration_files_path(&source->files, index);
        return data_file_add_inputs(feeds, *ret_path, err);
    }
    *ret_path = memory_strdup(map->path);
    piece = source->file.pieces.items[index];
    rc = feed_dicts_parse(feeds, piece.data, piece.size, map->path, err);
    forget_piece(map, piece);
    return rc;
}

/* What is not in memory. */
static int read_iteration(struct input_source *source, size_t index, struct tensor_list *ret, struct error *err)
{
    struct feed_dicts feeds SCOPED(feed_dicts_release) = {0};
    char *path = NULL;
    int rc;

    if (source->archive.count > 0)
        return array_archive_read(&source->archive, index, ret, err);
    if (source->folders.count > 0)
        return data_folder_load_iteration(source->folders.items[index], "input", ret, err);
    rc = read_feeds(source, index, &feeds, &path, err);
    if (rc == 0)
        rc = take_single(&feeds, path, ret, err);
    free(path);
    return rc;
}

int input_stream_read(struct input_stream *stream, size_t iteration, struct tensor_list *ret, struct error *err)
{
    struct input_source *source = stream->items;
    size_t index;

    while (iteration >= source->first + count_source(source))
        source++;
    index = iteration - source->first;
    if (source->loaded.count > 0) {
        borrow_tensors(&source->loaded.items[index], ret);
        return 0;
    }
    return read_iteration(source, index, ret, err) < 0 ? error_context(err, "iteration %zu", iteration) : 0;
}

/* ---- Results ---- */

/* What one word specifies; its streams share it. */
struct result_source {
    size_t users;
    struct file_map map;         /* of a JSON file, of which each runner has: */
    struct json_pieces *runners; /* iterations; or: */
    size_t runner_count;
    struct array_archive archive; /* with sets of arrays; or: */
    struct file_list folders;     /* in a folder; or: */
    struct iteration_files files; /* of a folder, the last of which read is in `loaded`; or all is there */
    size_t held;                  /* its index + 1 */
    size_t width;                 /* runners in each */
    struct run_results loaded;
};

static void release_lazy_results(struct result_source *source)
{
    if (source->map.path != NULL)
        file_map_release(&source->map);
    for (size_t i = 0; i < source->runner_count; i++)
        free(source->runners[i].items);
    free(source->runners);
    source->runners = NULL;
    source->runner_count = 0;
    source->map = (struct file_map){.fd = -1};
}

static void leave_source(struct result_source *source)
{
    if (--source->users > 0)
        return;
    release_lazy_results(source);
    array_archive_close(&source->archive);
    iteration_files_release(&source->files);
    file_list_release(&source->folders);
    run_results_release(&source->loaded);
    free(source);
}

void result_streams_release(struct result_streams *streams)
{
    for (size_t i = 0; i < streams->count; i++) {
        free(streams->items[i].name);
        leave_source(streams->items[i].source);
    }
    free(streams->items);
    *streams = (struct result_streams){0};
}

static void add_stream(struct result_streams *streams, struct result_source *source, size_t runner, struct text name,
                       size_t count)
{
    source->users++;
    *VECTOR_APPEND(streams) = (struct result_stream){
        .name = memory_copy(name.data, name.size), .count = count, .source = source, .runner = runner};
}

/* Arrays without a runner: it is named after the file. */
static void add_file_stream(struct result_streams *streams, struct result_source *source, const char *path,
                            size_t count)
{
    char *file SCOPED_FREE = file_basename(path);

    add_stream(streams, source, 0, text_of(file), count);
}

/* The list of runners in the members of Polygraphy's object; false for other files and older layouts. */
static bool find_runners(const struct json_pieces *members, struct text *ret)
{
    bool is_found = false;

    for (size_t i = 0; i + 1 < members->count; i += 2)
        if (text_equal(members->items[i], TEXT("\"lst\""))) {
            is_found = true;
            *ret = members->items[i + 1];
        }
    return is_found && json_members_are_of_class(members, TEXT("\"RunResults\""));
}

/* A runner is a pair: its name, without escapes, and the list of its iterations. */
static bool split_runner(struct result_source *source, struct text runner, struct text *ret_name)
{
    struct json_pieces pair SCOPED_ITEMS = {0};
    bool is_good = json_split_array(runner, &source->map, &pair) && pair.count == 2 && pair.items[0].size >= 2 &&
                   pair.items[0].data[0] == '"' && memchr(pair.items[0].data, '\\', pair.items[0].size) == NULL &&
                   json_split_array(pair.items[1], &source->map, &source->runners[source->runner_count - 1]);

    if (is_good)
        *ret_name = (struct text){pair.items[0].data + 1, pair.items[0].size - 2};
    return is_good;
}

/* False: the file has to be loaded at once, which also reports what is wrong with it. */
static bool open_lazy_results(struct result_source *source, const char *path, struct result_streams *streams)
{
    struct json_pieces runners = {0};
    struct json_pieces members SCOPED_ITEMS = {0};
    struct text list;
    uint8_t start;
    bool is_good = file_is_regular(path) && file_read_start(path, &start, 1) == 1 && start == '{' &&
                   file_map_open(path, &source->map, NULL) == 0;

    is_good = is_good && json_split_object(map_text(&source->map), &source->map, &members) &&
              find_runners(&members, &list) && json_split_array(list, &source->map, &runners);
    if (is_good)
        source->runners = memory_alloc_zero(runners.count, sizeof(*source->runners));
    for (size_t i = 0; is_good && i < runners.count; i++) {
        struct text name;

        source->runner_count++;
        is_good = split_runner(source, runners.items[i], &name);
        if (is_good)
            add_stream(streams, source, i, name, source->runners[i].count);
    }
    free(runners.items);
    return is_good;
}

/* False: the file has to be loaded at once, which also reports what is wrong with it. */
static bool open_result_archive(struct result_source *source, const char *path, struct result_streams *streams)
{
    struct array_archive *archive = &source->archive;
    enum archive_format format = file_is_regular(path) ? array_archive_format(path) : ARCHIVE_NONE;

    if (format == ARCHIVE_NONE || array_archive_open(path, format, archive, NULL) < 0)
        return false;
    if (archive->holds_inputs) {
        array_archive_close(archive);
        return false;
    }
    for (size_t i = 0; i < archive->runner_count; i++)
        add_stream(streams, source, i, text_of(archive->runners[i].name), archive->runners[i].iterations);
    if (!archive->holds_results)
        add_file_stream(streams, source, path, archive->count);
    return true;
}

static int check_file(const struct result_source *source, size_t runners, const char *path, struct error *err)
{
    const struct run_results *loaded = &source->loaded;

    if (loaded->count != runners)
        return error_set(err, ERR_INVALID, "'%s' has results of %zu runner(s), but the files before it of %zu", path,
                         loaded->count, runners);
    for (size_t i = 0; i < loaded->count; i++)
        if (loaded->items[i].count != 1)
            return error_set(
                err, ERR_INVALID,
                "'%s' has %zu iterations of '%s', expected one: pass such files to --load-outputs by their "
                "names, not their folder",
                path, loaded->items[i].count, loaded->items[i].name);
    return 0;
}

/* The first file of a folder says which runners there are. */
static int load_file_of_folder(struct result_source *source, size_t index, struct error *err)
{
    char *path SCOPED_FREE = iteration_files_path(&source->files, index);
    int rc;

    run_results_release(&source->loaded);
    source->held = 0;
    rc = data_file_add_results(&source->loaded, path, err);
    if (rc < 0)
        return rc;
    source->held = index + 1;
    if (index == 0)
        source->width = source->loaded.count;
    return check_file(source, source->width, path, err);
}

static void add_loaded_streams(struct result_streams *streams, struct result_source *source, size_t files)
{
    for (size_t i = 0; i < source->loaded.count; i++)
        add_stream(streams, source, i, text_of(source->loaded.items[i].name),
                   files > 0 ? files : source->loaded.items[i].count);
}

static void drop_streams(struct result_streams *streams, size_t count)
{
    while (streams->count > count) {
        struct result_stream *last = &streams->items[--streams->count];

        free(last->name);
        leave_source(last->source);
    }
}

static int open_source(struct result_source *source, struct result_streams *streams, const char *text,
                       struct error *err)
{
    size_t before = streams->count;
    struct data_word word SCOPED(data_word_release) = {0};
    int rc = data_word_parse(text, &word, err);

    if (rc == 0)
        rc = list_iterations(&word, "output", &source->files, &source->folders, err);
    if (rc < 0)
        return rc;
    if (source->folders.count > 0) {
        add_file_stream(streams, source, word.path, source->folders.count);
        return rc;
    }
    if (source->files.count > 0) {
        rc = load_file_of_folder(source, 0, err);
    } else if (word.type == DATA_UNDEFINED && word.name.size == 0 && open_result_archive(source, word.path, streams)) {
        return rc;
    } else if (word.type == DATA_UNDEFINED && open_lazy_results(source, word.path, streams)) {
        return rc;
    } else {
        drop_streams(streams, before);
        release_lazy_results(source);
        rc = data_file_add_results(&source->loaded, text, err);
    }
    if (rc == 0)
        add_loaded_streams(streams, source, source->files.count);
    return rc;
}

int result_streams_add(struct result_streams *streams, const char *word, struct error *err)
{
    struct result_source *source = memory_alloc_zero(1, sizeof(*source));
    int rc;

    source->users = 1;
    rc = open_source(source, streams, word, err);
    leave_source(source);
    return rc;
}

static int parse_iteration(const struct result_stream *stream, size_t iteration, struct iteration_result *ret,
                           struct error *err)
{
    const struct result_source *source = stream->source;
    struct text piece = source->runners[stream->runner].items[iteration];
    struct run_results parsed SCOPED(run_results_release) = {0};
    struct runner_results *runner = run_results_add_runner(&parsed, text_of(stream->name));
    int rc = runner_results_parse_iteration(runner, piece, source->map.path, err);

    forget_piece(&source->map, piece);
    if (rc == 0) {
        *ret = runner->items[0];
        runner->count = 0;
    }
    return rc < 0 ? error_context(err, "runner %zu, iteration %zu", stream->runner, iteration) : 0;
}

static int read_arrays(const struct result_stream *stream, size_t iteration, struct iteration_result *ret,
                       struct error *err)
{
    struct array_archive *archive = &stream->source->archive;
    const struct archived_runner *runner = archive->holds_results ? &archive->runners[stream->runner] : NULL;
    size_t set = runner != NULL ? runner->first + iteration : iteration;
    int rc;

    *ret = (struct iteration_result){.runtime = runner != NULL ? runner->runtimes[iteration] : NAN};
    if (archive->path != NULL)
        rc = array_archive_read(archive, set, &ret->outputs, err);
    else
        rc = data_folder_load_iteration(stream->source->folders.items[iteration], "output", &ret->outputs, err);
    if (rc < 0) {
        tensor_list_release(&ret->outputs);
        return error_context(err, "runner %zu, iteration %zu", stream->runner, iteration);
    }
    ret->runner_name = memory_strdup(stream->name);
    return 0;
}

int result_stream_read(struct result_stream *stream, size_t iteration, struct iteration_result *ret, struct error *err)
{
    struct result_source *source = stream->source;
    bool is_folder = source->files.count > 0;
    struct iteration_result *from;
    int rc = 0;

    if (source->archive.path != NULL || source->folders.count > 0)
        return read_arrays(stream, iteration, ret, err);
    if (source->runner_count > 0)
        return parse_iteration(stream, iteration, ret, err);
    if (is_folder && source->held != iteration + 1)
        rc = load_file_of_folder(source, iteration, err);
    if (rc < 0)
        return rc;
    from = &source->loaded.items[stream->runner].items[is_folder ? 0 : iteration];
    *ret = *from;
    *from = (struct iteration_result){0};
    return 0;
}
