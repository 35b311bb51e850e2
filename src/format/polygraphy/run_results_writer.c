/* format/polygraphy/run_results_writer.c: writes results of runs incrementally. */
#include "format/polygraphy/run_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/system.h"
#include "base/text/number.h"
#include "format/numpy/ndarray.h"

/* Depth of an iteration in the file: the object, the list of runners, the runner, and its list of iterations. */
#define ITERATION_DEPTH 4

int run_results_writer_open(struct run_results_writer *writer, const char *path, struct error *err)
{
    int rc;

    *writer = (struct run_results_writer){.is_safetensors = safetensors_is_name(path), .path = memory_strdup(path)};
    if (writer->is_safetensors)
        return safetensors_writer_open(&writer->tensors, path, err);
    rc = json_writer_open(&writer->json, path, err);
    if (rc < 0)
        return rc;
    json_writer_begin_object(&writer->json);
    json_writer_begin_array_member(&writer->json, "lst");
    return 0;
}

void run_results_writer_expect(struct run_results_writer *writer, size_t outputs, size_t name_bytes)
{
    if (writer->is_safetensors)
        safetensors_writer_expect(&writer->tensors, outputs, name_bytes);
}

/* The iterations of the current runner go to a temporary file while an earlier runner is open. */
static struct json_writer *current_json(struct run_results_writer *writer)
{
    return writer->current == writer->ended ? &writer->json : &writer->parts[writer->current];
}

static void begin_runner_entry(struct run_results_writer *writer, const char *name)
{
    json_writer_begin_array(&writer->json);
    json_writer_string(&writer->json, name);
    json_writer_begin_array(&writer->json);
}

/* The place of the outputs has room for them, unless they go to a device such as /dev/stdout. */
static char *name_part(const char *path)
{
    bool is_device = strncmp(path, "/dev/", 5) == 0;
    char *place SCOPED_FREE =
        is_device ? file_join(system_temporary_folder(), "polygraphy_results") : memory_strdup(path);
    return file_temporary_name(place);
}

int run_results_writer_begin_runner(struct run_results_writer *writer, const char *name, struct error *err)
{
    struct json_writer *part;
    char *temporary SCOPED_FREE = NULL;

    writer->runners =
        memory_grow(writer->runners, writer->runner_count, &writer->runner_capacity, sizeof(*writer->runners));
    writer->runners[writer->runner_count] = (struct written_runner){.name = memory_strdup(name)};
    writer->current = writer->runner_count++;
    if (writer->is_safetensors)
        return 0;
    writer->parts = memory_grow(writer->parts, writer->part_count, &writer->part_capacity, sizeof(*writer->parts));
    part = &writer->parts[writer->part_count++];
    json_writer_init(part);
    if (writer->current == writer->ended) {
        begin_runner_entry(writer, name);
        return json_writer_status(&writer->json, err);
    }
    temporary = name_part(writer->path);
    return json_writer_open_elements(part, temporary, ITERATION_DEPTH, err);
}

void run_results_writer_select(struct run_results_writer *writer, size_t runner)
{
    writer->current = runner;
}

int run_results_writer_begin_iteration(struct run_results_writer *writer, struct error *err)
{
    if (writer->is_safetensors)
        return 0;
    json_writer_begin_object(current_json(writer));
    json_writer_begin_object_member(current_json(writer), "outputs");
    return json_writer_status(current_json(writer), err);
}

int run_results_writer_add(struct run_results_writer *writer, const char *name, const struct tensor *tensor,
                           struct error *err)
{
    int rc;

    if (writer->is_safetensors) {
        SCOPED_STRING(full);

        string_add_format(&full, "%zu/%zu/%s", writer->current, writer->runners[writer->current].runtimes.count, name);
        rc = safetensors_writer_add(&writer->tensors, full.data, tensor, err);
    } else {
        json_writer_key(current_json(writer), name);
        rc = ndarray_write_lazy(current_json(writer), tensor, err);
    }
    return rc < 0 ? error_context(err, "output '%s'", name) : 0;
}

int run_results_writer_end_iteration(struct run_results_writer *writer, double runtime, const char *runner_name,
                                     struct error *err)
{
    struct json_writer *json;

    if (writer->is_safetensors) {
        *VECTOR_APPEND(&writer->runners[writer->current].runtimes) = runtime;
        file_writer_begin_sync(&writer->tensors.file);
        return 0;
    }
    json = current_json(writer);
    json_writer_end_object(json);
    if (json_writer_key_or_null(json, "runtime", !isnan(runtime)))
        json_writer_number(json, runtime);
    json_writer_add_string(json, "runner_name", runner_name);
    json_writer_add_string(json, "polygraphy_class", "IterationResult");
    json_writer_end_object(json);
    if (json == &writer->json)
        file_writer_begin_sync(&json->file);
    return json_writer_status(json, err);
}

int run_results_writer_end_runner(struct run_results_writer *writer, struct error *err)
{
    struct json_writer *part;
    int rc = 0;

    if (writer->is_safetensors)
        return 0;
    part = &writer->parts[writer->ended];
    if (part->has_file) {
        begin_runner_entry(writer, writer->runners[writer->ended].name);
        rc = json_writer_append(&writer->json, part, err);
    }
    writer->ended++;
    json_writer_release(part);
    json_writer_end_array(&writer->json);
    json_writer_end_array(&writer->json);
    return rc < 0 ? rc : json_writer_status(&writer->json, err);
}

/* The metadata "runners". */
static void describe_runners(const struct run_results_writer *writer, struct string_builder *ret)
{
    char buffer[NUMBER_TEXT_SIZE];

    string_add_char(ret, '[');
    for (size_t i = 0; i < writer->runner_count; i++) {
        const struct written_runner *runner = &writer->runners[i];

        string_add(ret, i > 0 ? ",{\"name\":" : "{\"name\":");
        json_add_quoted(ret, text_of(runner->name));
        string_add(ret, ",\"runtimes\":[");
        for (size_t k = 0; k < runner->runtimes.count; k++) {
            double runtime = runner->runtimes.items[k];

            string_add(ret, k > 0 ? "," : "");
            string_add(ret, isnan(runtime) ? "null" : number_to_text(runtime, buffer));
        }
        string_add(ret, "]}");
    }
    string_add_char(ret, ']');
}

static int commit_safetensors(struct run_results_writer *writer, struct error *err)
{
    SCOPED_STRING(runners);

    describe_runners(writer, &runners);
    return safetensors_writer_commit(
        &writer->tensors,
        (struct safetensors_metadata[]){{(char *)SAFETENSORS_KIND, (char *)SAFETENSORS_RESULTS},
                                        {(char *)"runners", runners.data}},
        2, err);
}

int run_results_writer_commit(struct run_results_writer *writer, enum file_durability durability, struct error *err)
{
    writer->tensors.durability = durability;
    if (writer->is_safetensors)
        return commit_safetensors(writer, err);
    json_writer_end_array(&writer->json);
    json_writer_add_string(&writer->json, "polygraphy_class", "RunResults");
    json_writer_end_object(&writer->json);
    return json_writer_commit(&writer->json, durability, err);
}

void run_results_writer_release(struct run_results_writer *writer)
{
    if (writer->is_safetensors)
        safetensors_writer_release(&writer->tensors);
    else
        json_writer_release(&writer->json);
    for (size_t i = 0; i < writer->part_count; i++)
        json_writer_release(&writer->parts[i]);
    free(writer->parts);
    free(writer->path);
    for (size_t i = 0; i < writer->runner_count; i++) {
        free(writer->runners[i].name);
        free(writer->runners[i].runtimes.items);
    }
    free(writer->runners);
}

static int add_iteration(struct run_results_writer *writer, const struct iteration_result *iteration, struct error *err)
{
    int rc = run_results_writer_begin_iteration(writer, err);

    for (size_t i = 0; i < iteration->outputs.count && rc == 0; i++)
        rc = run_results_writer_add(writer, iteration->outputs.items[i].name, &iteration->outputs.items[i].tensor, err);
    return rc < 0 ? rc : run_results_writer_end_iteration(writer, iteration->runtime, iteration->runner_name, err);
}

static int add_runner_results(struct run_results_writer *writer, const struct runner_results *runner, struct error *err)
{
    int rc = run_results_writer_begin_runner(writer, runner->name, err);

    for (size_t i = 0; i < runner->count && rc == 0; i++)
        rc = add_iteration(writer, &runner->items[i], err);
    return rc < 0 ? rc : run_results_writer_end_runner(writer, err);
}

int run_results_save(const struct run_results *results, const char *path, struct error *err)
{
    struct run_results_writer writer SCOPED(run_results_writer_release) = {0};
    int rc = run_results_writer_open(&writer, path, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < results->count; i++)
        for (size_t k = 0; k < results->items[i].count; k++)
            run_results_writer_expect(&writer, results->items[i].items[k].outputs.count,
                                      64 * results->items[i].items[k].outputs.count);
    for (size_t i = 0; i < results->count; i++) {
        rc = add_runner_results(&writer, &results->items[i], err);
        if (rc < 0)
            return rc;
    }
    return run_results_writer_commit(&writer, FILE_DURABLE, err);
}
