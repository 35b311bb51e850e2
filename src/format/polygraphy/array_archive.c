/* format/polygraphy/array_archive.c: see array_archive.h. */
#include "format/polygraphy/array_archive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/number.h"
#include "format/json/reader.h"

enum {
    MOST_ITERATIONS = 10000000, /* of inputs: empty ones need no space in the file */
    DROP_STEP = 1 << 18,        /* pages that were read are dropped every DROP_STEP bytes */
};

enum archive_format array_archive_format(const char *path)
{
    uint8_t start[4];

    if (file_read_start(path, start, sizeof(start)) == sizeof(start) && memcmp(start, "PK", 2) == 0 &&
        (start[2] == 3 || start[2] == 5))
        return ARCHIVE_NPZ;
    return safetensors_recognize(path) ? ARCHIVE_SAFETENSORS : ARCHIVE_NONE;
}

void array_archive_close(struct array_archive *archive)
{
    npz_close(&archive->npz);
    safetensors_close(&archive->tensors);
    for (size_t i = 0; i < archive->runner_count; i++) {
        free(archive->runners[i].name);
        free(archive->runners[i].runtimes);
    }
    free(archive->runners);
    free(archive->firsts);
    free(archive->arrays);
    free(archive->path);
    *archive = (struct array_archive){0};
}

/* ---- Names ---- */

static size_t count_arrays(const struct array_archive *archive)
{
    return archive->format == ARCHIVE_NPZ ? archive->npz.count : archive->tensors.count;
}

static int read_name(const struct array_archive *archive, size_t index, struct string_builder *ret, struct error *err)
{
    string_clear(ret);
    if (archive->format == ARCHIVE_SAFETENSORS)
        return safetensors_read_name(&archive->tensors, index, ret, err);
    string_add_text(ret, npz_name(&archive->npz, index));
    return 0;
}

/* Removes the numbers at the start of a name; finds the set of arrays that they stand for. False if there is none. */
static bool take_set(const struct array_archive *archive, const char **name, size_t *ret)
{
    size_t runner, iteration;

    *ret = 0;
    if (!archive->numbered)
        return true;
    if (!archive->holds_results)
        return safetensors_take_number(name, archive->count, ret);
    if (!safetensors_take_number(name, archive->runner_count, &runner) ||
        !safetensors_take_number(name, archive->runners[runner].iterations, &iteration))
        return false;
    *ret = archive->runners[runner].first + iteration;
    return true;
}

/* Whether all names begin with numbers of iterations; `ret_count` is the largest + 1. */
static int find_numbers(const struct array_archive *archive, size_t most, bool *ret, size_t *ret_count,
                        struct error *err)
{
    SCOPED_STRING(full);

    *ret = true;
    *ret_count = 0;
    for (size_t i = 0; i < count_arrays(archive) && *ret; i++) {
        const char *name;
        size_t iteration = 0;
        int rc = read_name(archive, i, &full, err);

        if (rc < 0)
            return rc;
        name = full.data;
        *ret = safetensors_take_number(&name, most, &iteration);
        if (iteration >= *ret_count)
            *ret_count = iteration + 1;
    }
    return 0;
}

/* ---- Which sets there are ---- */

static int read_runner(struct json_reader *reader, json_t *object, struct array_archive *ret, struct error *err)
{
    json_t *runtimes = json_object_get(object, "runtimes");
    struct archived_runner *runner = &ret->runners[ret->runner_count];
    struct text name;
    json_t *runtime;
    size_t index;
    int rc = json_reader_text(reader, json_object_get(object, "name"), &name, err);

    if (rc < 0)
        return error_context(err, "name");
    if (!json_is_array(runtimes))
        return error_set(err, ERR_CORRUPT, "the list 'runtimes' is missing");
    *runner = (struct archived_runner){
        .name = memory_copy(name.data, name.size),
        .first = ret->count,
        .iterations = json_array_size(runtimes),
        .runtimes = memory_alloc_zero(json_array_size(runtimes) + 1, sizeof(*runner->runtimes)),
    };
    ret->runner_count++;
    ret->count += runner->iterations;
    json_array_foreach (runtimes, index, runtime) {
        runner->runtimes[index] = NAN;
        if (!json_is_null(runtime) && !json_reader_number(reader, runtime, &runner->runtimes[index]))
            return error_set(err, ERR_CORRUPT, "runtime %zu is not a number", index);
    }
    return 0;
}

static int read_runners(struct array_archive *ret, struct error *err)
{
    const char *text = safetensors_find_metadata(&ret->tensors, "runners");
    struct json_reader reader SCOPED(json_reader_release) = {0};
    json_t *object;
    size_t index;
    int rc;

    ret->numbered = true;
    if (text == NULL)
        return error_set(err, ERR_CORRUPT, "the metadata 'runners' are missing");
    rc = json_reader_open_memory(&reader, text, strlen(text), "runners", err);
    if (rc < 0)
        return rc;
    if (!json_is_array(reader.root))
        rc = error_set(err, ERR_CORRUPT, "the metadata 'runners' are not a list");
    ret->runners = memory_alloc_zero(json_array_size(reader.root) + 1, sizeof(*ret->runners));
    json_array_foreach (reader.root, index, object) {
        rc = read_runner(&reader, object, ret, err);
        if (rc < 0) {
            error_context(err, "the metadata 'runners', runner %zu", index);
            break;
        }
    }
    return rc;
}

static int read_input_count(struct array_archive *ret, struct error *err)
{
    const char *text = safetensors_find_metadata(&ret->tensors, "iterations");
    size_t numbers;
    int64_t iterations;

    if (text == NULL || !number_parse_integer(text_of(text), &iterations) || iterations < 0 ||
        iterations > MOST_ITERATIONS)
        return error_set(err, ERR_CORRUPT, "the metadata 'iterations' are missing or not a number from 0 to %d",
                         (int)MOST_ITERATIONS);
    ret->count = (size_t)iterations;
    ret->numbered = true;
    return iterations == 1 ? find_numbers(ret, SIZE_MAX, &ret->numbered, &numbers, err) : 0;
}

static int find_sets(struct array_archive *ret, struct error *err)
{
    size_t arrays = count_arrays(ret), numbers;
    int rc;

    ret->count = 1;
    if (ret->format == ARCHIVE_NPZ) {
        rc = find_numbers(ret, arrays, &ret->numbered, &numbers, err);
        if (ret->numbered)
            ret->count = numbers;
        return rc;
    }
    ret->holds_results = safetensors_is_kind(&ret->tensors, SAFETENSORS_RESULTS);
    ret->holds_inputs = !ret->holds_results && safetensors_find_metadata(&ret->tensors, SAFETENSORS_KIND) != NULL;
    if (ret->holds_results) {
        ret->count = 0;
        return read_runners(ret, err);
    }
    return ret->holds_inputs ? read_input_count(ret, err) : 0;
}

/* Groups the arrays by their sets, which keeps their order: counts those of each set, then gives them their places. */
static int group_arrays(struct array_archive *ret, struct error *err)
{
    size_t arrays = count_arrays(ret);
    size_t *sets SCOPED_FREE = memory_alloc_zero(arrays + 1, sizeof(*sets));
    SCOPED_STRING(full);
    int rc = 0;

    ret->firsts = memory_alloc_zero(ret->count + 2, sizeof(*ret->firsts));
    ret->arrays = memory_alloc_zero(arrays + 1, sizeof(*ret->arrays));
    for (size_t i = 0; i < arrays; i++) {
        const char *name;

        rc = read_name(ret, i, &full, err);
        if (rc < 0)
            return rc;
        name = full.data;
        if (!take_set(ret, &name, &sets[i])) {
            return error_set(err, ERR_CORRUPT, "tensor '%s' belongs to no %siteration in the metadata", full.data,
                             ret->holds_results ? "runner and " : "");
        }
        ret->firsts[sets[i] + 2]++;
    }
    for (size_t i = 2; i < ret->count + 2; i++)
        ret->firsts[i] += ret->firsts[i - 1];
    for (size_t i = 0; i < arrays; i++)
        ret->arrays[ret->firsts[sets[i] + 1]++] = i;
    return rc;
}

/* The iterations of a .npz file are numbered without gaps. */
static int check_gaps(const struct array_archive *archive, struct error *err)
{
    for (size_t i = 0; i < archive->count && archive->format == ARCHIVE_NPZ; i++)
        if (archive->firsts[i] == archive->firsts[i + 1])
            return error_set(err, ERR_CORRUPT, "it has no array '%zu/...': iterations count from 0 on", i);
    return 0;
}

/* Drops the pages of arrays that were read, and of the directory. Tensors stay valid: their pages are read again when
 * needed. */
static void drop_pages(struct array_archive *archive)
{
    bool is_npz = archive->format == ARCHIVE_NPZ;
    struct shared_map *map = is_npz ? archive->npz.map : archive->tensors.map;
    const uint8_t *start, *directory;
    size_t size, offset;

    if (map == NULL)
        return;
    start = shared_map_content(map).data;
    directory = is_npz ? start + archive->npz.entries[0] : (const uint8_t *)archive->tensors.header.data;
    size = is_npz ? shared_map_content(map).size : archive->tensors.header.size;
    shared_map_forget(map, (size_t)(directory - start), (size_t)(directory - start) + size);
    if (archive->resident.size > 0) {
        offset = (size_t)(archive->resident.data - start);
        shared_map_forget(map, offset, offset + archive->resident.size);
    }
    archive->resident = (struct span){0};
}

/* Notes that these bytes of the mapping were read. */
static void note_resident(struct array_archive *archive, struct span bytes)
{
    struct span *resident = &archive->resident;
    const uint8_t *end = bytes.data + bytes.size;

    if (resident->size == 0 || bytes.data < resident->data)
        *resident =
            (struct span){bytes.data, resident->size == 0 ? 0 : resident->size + (size_t)(resident->data - bytes.data)};
    if (end > resident->data + resident->size)
        resident->size = (size_t)(end - resident->data);
}

/* `rc` is the result of opening the file. */
static int finish_open(struct array_archive *ret, const char *name, int rc, struct error *err)
{
    if (rc < 0)
        return rc;
    ret->path = memory_strdup(name);
    rc = find_sets(ret, err);
    if (rc < 0)
        goto done;
    safetensors_release_metadata(&ret->tensors);
    rc = group_arrays(ret, err);
    if (rc < 0)
        goto done;
    rc = check_gaps(ret, err);
    drop_pages(ret);
done:
    if (rc < 0)
        array_archive_close(ret);
    return rc < 0 ? error_context(err, "'%s'", name) : 0;
}

int array_archive_open(const char *path, enum archive_format format, struct array_archive *ret, struct error *err)
{
    int rc;

    *ret = (struct array_archive){.format = format};
    rc = format == ARCHIVE_NPZ ? npz_open(path, &ret->npz, err) : safetensors_open(path, &ret->tensors, err);
    return finish_open(ret, path, rc, err);
}

int array_archive_open_memory(struct span file, const char *name, struct array_archive *ret, struct error *err)
{
    *ret = (struct array_archive){.format = ARCHIVE_SAFETENSORS};
    return finish_open(ret, name, safetensors_open_memory(file, name, &ret->tensors, err), err);
}

/* ---- Reading ---- */

static int add_tensor(struct array_archive *archive, size_t index, const char *name, struct tensor_list *ret,
                      struct error *err)
{
    struct tensor tensor;
    int rc;

    if (tensor_list_find(ret, text_of(name)) != NULL)
        return error_set(err, ERR_CORRUPT, "'%s' has two arrays '%s'", archive->path, name);
    rc = archive->format == ARCHIVE_NPZ ? npz_read(&archive->npz, index, &tensor, err)
                                        : safetensors_read(&archive->tensors, index, &tensor, err);
    if (rc < 0)
        return error_context(err, "'%s': array '%s'", archive->path, name);
    note_resident(archive, archive->format == ARCHIVE_NPZ ? npz_packed(&archive->npz, index)
                                                          : (struct span){tensor.data, tensor.size});
    tensor_list_add(ret, text_of(name), &tensor);
    return 0;
}

int array_archive_read(struct array_archive *archive, size_t set, struct tensor_list *ret, struct error *err)
{
    SCOPED_STRING(full);
    int rc = 0;

    if (archive->resident.size >= DROP_STEP)
        drop_pages(archive);
    for (size_t i = archive->firsts[set]; i < archive->firsts[set + 1] && rc == 0; i++) {
        const char *name;
        size_t number;

        rc = read_name(archive, archive->arrays[i], &full, err);
        if (rc < 0)
            return rc;
        name = full.data;
        take_set(archive, &name, &number);
        rc = add_tensor(archive, archive->arrays[i], name, ret, err);
    }
    return rc;
}
