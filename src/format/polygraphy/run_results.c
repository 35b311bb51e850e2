/* format/polygraphy/run_results.c: results of runs, in memory and read from files. */
#include "format/polygraphy/run_results.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "format/json/class.h"
#include "format/json/reader.h"
#include "format/numpy/ndarray.h"

static void runner_results_release(struct runner_results *runner)
{
    for (size_t i = 0; i < runner->count; i++) {
        tensor_list_release(&runner->items[i].outputs);
        free(runner->items[i].runner_name);
    }
    free(runner->items);
    free(runner->name);
}

void run_results_release(struct run_results *results)
{
    for (size_t i = 0; i < results->count; i++)
        runner_results_release(&results->items[i]);
    free(results->items);
    *results = (struct run_results){0};
}

struct runner_results *run_results_add_runner(struct run_results *results, struct text name)
{
    struct runner_results *runner = VECTOR_APPEND(results);

    *runner = (struct runner_results){.name = memory_copy(name.data, name.size)};
    return runner;
}

struct iteration_result *runner_results_add_iteration(struct runner_results *runner, double runtime)
{
    struct iteration_result *iteration = VECTOR_APPEND(runner);

    *iteration = (struct iteration_result){.runtime = runtime, .runner_name = memory_strdup(runner->name)};
    return iteration;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static int read_iteration(struct json_reader *reader, json_t *object, struct runner_results *runner, struct error *err)
{
    json_t *runtime = json_object_get(object, "runtime");
    json_t *name = json_object_get(object, "runner_name");
    struct iteration_result *iteration;
    struct text text;
    double seconds = NAN;
    int rc;

    if (json_class_of(reader, object) != JSON_CLASS_ITERATION_RESULT)
        return error_set(err, ERR_CORRUPT, "expected an IterationResult, found %s",
                         json_class_describe(reader, object));
    if (runtime && !json_is_null(runtime) && !json_reader_number(reader, runtime, &seconds))
        return error_set(err, ERR_CORRUPT, "the runtime is not a number");

    iteration = runner_results_add_iteration(runner, seconds);
    if (name && !json_is_null(name)) {
        rc = json_reader_text(reader, name, &text, err);
        if (rc < 0)
            return error_context(err, "runner_name");
        free(iteration->runner_name);
        iteration->runner_name = memory_copy(text.data, text.size);
    }
    return ndarray_read_members(reader, json_object_get(object, "outputs"), "output", &iteration->outputs, err);
}

int runner_results_parse_iteration(struct runner_results *runner, struct text json, const char *name, struct error *err)
{
    struct json_reader reader SCOPED(json_reader_release) = {0};
    int rc = json_reader_open_memory(&reader, json.data, json.size, name, err);

    if (rc < 0)
        return rc;
    rc = json_class_check_all(&reader, err);
    if (rc == 0 && read_iteration(&reader, reader.root, runner, err) < 0)
        rc = error_context(err, "'%s'", name);
    return rc;
}

/* A runner is a pair: its name and the list of its iterations. */
static int read_runner(struct json_reader *reader, json_t *pair, struct run_results *results, struct error *err)
{
    json_t *iterations = json_array_get(pair, 1);
    struct runner_results *runner;
    struct text name;
    json_t *object;
    size_t index;

    if (json_array_size(pair) != 2 || !json_is_array(iterations))
        return error_set(err, ERR_CORRUPT, "expected a list of two elements: a name and a list of iterations");
    if (json_reader_text(reader, json_array_get(pair, 0), &name, err) < 0)
        return error_context(err, "name");

    runner = run_results_add_runner(results, name);
    json_array_foreach (iterations, index, object) {
        if (read_iteration(reader, object, runner, err) < 0)
            return error_context(err, "iteration %zu", index);
    }
    return 0;
}

int run_results_read(struct run_results *ret, struct json_reader *reader, struct error *err)
{
    json_t *list, *pair;
    size_t index;
    int rc = json_class_check_all(reader, err);

    if (rc == 0)
        rc = json_class_expect(reader, JSON_CLASS_RUN_RESULTS, err);
    if (rc < 0)
        return rc;
    list = json_object_get(reader->root, "lst");
    if (!json_is_array(list))
        return error_set(err, ERR_CORRUPT, "'%s': the list 'lst' of runners is missing", reader->name);
    json_array_foreach (list, index, pair) {
        if (read_runner(reader, pair, ret, err) < 0)
            return error_context(err, "'%s': runner %zu", reader->name, index);
    }
    return 0;
}

/* ---- Archives ---- */

int run_results_add_archive(struct run_results *ret, struct array_archive *archive, struct error *err)
{
    char *file = file_basename(archive->path);
    struct archived_runner only = {.name = file, .iterations = archive->count};
    size_t count = archive->holds_results ? archive->runner_count : 1;
    int rc = 0;

    if (archive->holds_inputs)
        rc = error_set(err, ERR_INVALID, "'%s' contains inputs, not results", archive->path);
    for (size_t i = 0; i < count && rc == 0; i++) {
        const struct archived_runner *from = archive->holds_results ? &archive->runners[i] : &only;
        struct runner_results *runner = run_results_add_runner(ret, text_of(from->name));

        for (size_t k = 0; k < from->iterations && rc == 0; k++) {
            double runtime = from->runtimes != NULL ? from->runtimes[k] : NAN;

            rc = array_archive_read(archive, from->first + k, &runner_results_add_iteration(runner, runtime)->outputs,
                                    err);
        }
    }
    free(file);
    return rc;
}

/* ---- Files ---- */

/* Appends the loaded data to `results` on success. */
static int hand_over(struct run_results *loaded, struct run_results *results, int rc)
{
    if (rc < 0) {
        run_results_release(loaded);
    } else {
        for (size_t i = 0; i < loaded->count; i++)
            *VECTOR_APPEND(results) = loaded->items[i];
        free(loaded->items);
    }
    return rc;
}

/* `rc` is the result of opening the reader. */
static int read_results_and_close(struct run_results *results, struct json_reader *reader, int rc, struct error *err)
{
    struct run_results loaded = {0};

    if (rc < 0)
        return rc;
    rc = run_results_read(&loaded, reader, err);
    json_reader_release(reader);
    return hand_over(&loaded, results, rc);
}

static int load_archive(struct run_results *results, const char *path, struct error *err)
{
    struct run_results loaded = {0};
    struct array_archive archive;
    int rc = array_archive_open(path, ARCHIVE_SAFETENSORS, &archive, err);

    if (rc < 0)
        return rc;
    rc = run_results_add_archive(&loaded, &archive, err);
    array_archive_close(&archive);
    return hand_over(&loaded, results, rc);
}

int run_results_load(struct run_results *results, const char *path, struct error *err)
{
    struct json_reader reader;
    int rc;

    if (safetensors_recognize(path))
        return load_archive(results, path, err);
    rc = json_reader_open(&reader, path, err);
    return read_results_and_close(results, &reader, rc, err);
}

int run_results_parse(struct run_results *results, const void *data, size_t size, const char *name, struct error *err)
{
    struct json_reader reader;
    int rc = json_reader_open_memory(&reader, data, size, name, err);

    return read_results_and_close(results, &reader, rc, err);
}
