/* format/safetensors/names.c: see names.h. */
#include "format/safetensors/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/number.h"
#include "format/json/reader.h"

static bool is_kind(const struct safetensors *file, const char *kind)
{
    const char *found = safetensors_find_metadata(file, SAFETENSORS_KIND);

    return found != NULL && strcmp(found, kind) == 0;
}

/* Takes "<number>/" off the front of a name. False when it does not begin like that, or the number is not below
 * `count`. */
static bool take_number(const char **name, size_t count, size_t *ret)
{
    size_t number = 0;
    const char *at = *name;

    for (; *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (size_t)(*at - '0');
        if (number >= count)
            return false;
    }
    if (at == *name || *at != '/')
        return false;
    *name = at + 1;
    *ret = number;
    return true;
}

static void take_tensor(struct named_tensor *from, const char *name, struct tensor_list *ret)
{
    tensor_list_add(ret, text_of(name), &from->tensor);
}

/* ---- Results ---- */

static int read_runner(struct json_reader *reader, json_t *object, struct run_results *ret, struct error *err)
{
    json_t *runtimes = json_object_get(object, "runtimes");
    struct runner_results *runner;
    struct text name;
    json_t *runtime;
    size_t index;
    int rc = json_reader_text(reader, json_object_get(object, "name"), &name, err);

    if (rc < 0)
        return error_context(err, "name");
    if (!json_is_array(runtimes))
        return error_set(err, ERR_CORRUPT, "the list 'runtimes' is missing");
    runner = run_results_add_runner(ret, name);
    json_array_foreach (runtimes, index, runtime) {
        double seconds = NAN;

        if (!json_is_null(runtime) && !json_reader_number(reader, runtime, &seconds))
            return error_set(err, ERR_CORRUPT, "runtime %zu is not a number", index);
        runner_results_add_iteration(runner, seconds);
    }
    return 0;
}

static int read_runners(const struct safetensors *file, struct run_results *ret, struct error *err)
{
    const char *text = safetensors_find_metadata(file, "runners");
    struct json_reader reader;
    json_t *object;
    size_t index;
    int rc;

    if (text == NULL)
        return error_set(err, ERR_CORRUPT, "the metadata 'runners' are missing");
    rc = json_reader_open_memory(&reader, text, strlen(text), "runners", err);
    if (rc < 0)
        return rc;
    if (!json_is_array(reader.root))
        rc = error_set(err, ERR_CORRUPT, "the metadata 'runners' are not a list");
    json_array_foreach (reader.root, index, object) {
        rc = read_runner(&reader, object, ret, err);
        if (rc < 0) {
            error_context(err, "the metadata 'runners', runner %zu", index);
            break;
        }
    }
    json_reader_release(&reader);
    return rc;
}

static int take_results(struct safetensors *file, struct run_results *ret, struct error *err)
{
    size_t before = ret->count;
    int rc = read_runners(file, ret, err);

    for (size_t i = 0; i < file->tensors.count && rc == 0; i++) {
        struct named_tensor *item = &file->tensors.items[i];
        const char *name = item->name;
        size_t runner, iteration;

        if (!take_number(&name, ret->count - before, &runner) ||
            !take_number(&name, ret->items[before + runner].count, &iteration))
            return error_set(err, ERR_CORRUPT, "tensor '%s' belongs to no runner and iteration of the metadata",
                             item->name);
        take_tensor(item, name, &ret->items[before + runner].items[iteration].outputs);
    }
    return rc;
}

int safetensors_to_results(struct safetensors *file, const char *name, struct run_results *ret, struct error *err)
{
    struct iteration_result *iteration;
    char *runner;

    if (is_kind(file, SAFETENSORS_INPUTS))
        return error_set(err, ERR_INVALID, "'%s' holds inputs, not results", name);
    if (safetensors_find_metadata(file, SAFETENSORS_KIND) != NULL) {
        int rc = take_results(file, ret, err);

        return rc < 0 ? error_context(err, "'%s'", name) : 0;
    }
    runner = file_basename(name);
    iteration = runner_results_add_iteration(run_results_add_runner(ret, text_of(runner)), NAN);
    free(runner);
    for (size_t i = 0; i < file->tensors.count; i++)
        take_tensor(&file->tensors.items[i], file->tensors.items[i].name, &iteration->outputs);
    return 0;
}

/* ---- Input data ---- */

/* No more iterations than a header can name: an empty one takes no room in it. */
enum { MOST_ITERATIONS = 10000000 };

static int take_feeds(struct safetensors *file, struct feed_dicts *ret, struct error *err)
{
    const char *text = safetensors_find_metadata(file, "iterations");
    size_t before = ret->count;
    int64_t iterations;

    if (text == NULL || !number_parse_integer(text_of(text), &iterations) || iterations < 0 ||
        iterations > MOST_ITERATIONS)
        return error_set(err, ERR_CORRUPT, "the metadata 'iterations' are missing or not a number");
    for (int64_t i = 0; i < iterations; i++)
        *VECTOR_APPEND(ret) = (struct tensor_list){0};
    for (size_t i = 0; i < file->tensors.count; i++) {
        struct named_tensor *item = &file->tensors.items[i];
        const char *name = item->name;
        size_t iteration;

        if (!take_number(&name, (size_t)iterations, &iteration))
            return error_set(err, ERR_CORRUPT, "tensor '%s' belongs to no iteration of the metadata", item->name);
        take_tensor(item, name, &ret->items[before + iteration]);
    }
    return 0;
}

int safetensors_to_feeds(struct safetensors *file, const char *name, struct feed_dicts *ret, struct error *err)
{
    struct tensor_list *feed;

    if (is_kind(file, SAFETENSORS_RESULTS))
        return error_set(err, ERR_INVALID,
                         "'%s' holds results, not inputs: `data to-input %s -o inputs.json` makes inputs of them", name,
                         name);
    if (safetensors_find_metadata(file, SAFETENSORS_KIND) != NULL) {
        int rc = take_feeds(file, ret, err);

        return rc < 0 ? error_context(err, "'%s'", name) : 0;
    }
    feed = VECTOR_APPEND(ret);
    *feed = file->tensors;
    file->tensors = (struct tensor_list){0};
    return 0;
}

static int add_feed(struct safetensors_writer *writer, const struct tensor_list *feed, size_t iteration,
                    struct error *err)
{
    struct string_builder name;
    int rc = 0;

    string_init(&name);
    for (size_t i = 0; i < feed->count && rc == 0; i++) {
        string_clear(&name);
        string_add_format(&name, "%zu/%s", iteration, feed->items[i].name);
        rc = safetensors_writer_add(writer, name.data, &feed->items[i].tensor, err);
    }
    string_release(&name);
    return rc;
}

int safetensors_save_feeds(const struct feed_dicts *feeds, const char *path, struct error *err)
{
    struct safetensors_writer writer;
    struct string_builder iterations;
    int rc = safetensors_writer_open(&writer, path, err);

    string_init(&iterations);
    string_add_format(&iterations, "%zu", feeds->count);
    for (size_t i = 0; i < feeds->count && rc == 0; i++)
        for (size_t k = 0; k < feeds->items[i].count; k++)
            safetensors_writer_expect(&writer, 1, strlen(feeds->items[i].items[k].name));
    for (size_t i = 0; i < feeds->count && rc == 0; i++)
        rc = add_feed(&writer, &feeds->items[i], i, err);
    if (rc == 0) {
        struct safetensors_metadata metadata[] = {{(char *)SAFETENSORS_KIND, (char *)SAFETENSORS_INPUTS},
                                                  {(char *)"iterations", iterations.data}};

        rc = safetensors_writer_commit(&writer, metadata, ARRAY_LEN(metadata), err);
    }
    safetensors_writer_release(&writer);
    string_release(&iterations);
    return rc;
}
