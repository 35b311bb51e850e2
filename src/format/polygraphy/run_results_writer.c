/* format/polygraphy/run_results_writer.c: writes results of runs incrementally. */
#include "format/polygraphy/run_results.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "format/numpy/ndarray.h"

int run_results_writer_open(struct run_results_writer *writer, const char *path, struct error *err)
{
    int rc;

    *writer = (struct run_results_writer){.is_safetensors = safetensors_is_name(path)};
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

int run_results_writer_begin_runner(struct run_results_writer *writer, const char *name, struct error *err)
{
    if (writer->is_safetensors) {
        run_results_add_runner(&writer->runners, text_of(name));
        writer->current = writer->runners.count - 1;
        return 0;
    }
    json_writer_begin_array(&writer->json);
    json_writer_string(&writer->json, name);
    json_writer_begin_array(&writer->json);
    return json_writer_status(&writer->json, err);
}

void run_results_writer_select(struct run_results_writer *writer, size_t runner)
{
    writer->current = runner;
}

int run_results_writer_begin_iteration(struct run_results_writer *writer, struct error *err)
{
    if (writer->is_safetensors)
        return 0;
    json_writer_begin_object(&writer->json);
    json_writer_begin_object_member(&writer->json, "outputs");
    return json_writer_status(&writer->json, err);
}

int run_results_writer_add(struct run_results_writer *writer, const char *name, const struct tensor *tensor,
                           struct error *err)
{
    int rc;

    if (writer->is_safetensors) {
        SCOPED_STRING(full);

        string_add_format(&full, "%zu/%zu/%s", writer->current, writer->runners.items[writer->current].count, name);
        rc = safetensors_writer_add(&writer->tensors, full.data, tensor, err);
    } else {
        json_writer_key(&writer->json, name);
        rc = ndarray_write_lazy(&writer->json, tensor, err);
    }
    return rc < 0 ? error_context(err, "output '%s'", name) : 0;
}

int run_results_writer_end_iteration(struct run_results_writer *writer, double runtime, const char *runner_name,
                                     struct error *err)
{
    if (writer->is_safetensors) {
        runner_results_add_iteration(&writer->runners.items[writer->current], runtime);
        file_writer_begin_sync(&writer->tensors.file);
        return 0;
    }
    json_writer_end_object(&writer->json);
    if (json_writer_key_or_null(&writer->json, "runtime", !isnan(runtime)))
        json_writer_number(&writer->json, runtime);
    json_writer_add_string(&writer->json, "runner_name", runner_name);
    json_writer_add_string(&writer->json, "polygraphy_class", "IterationResult");
    json_writer_end_object(&writer->json);
    file_writer_begin_sync(&writer->json.file);
    return json_writer_status(&writer->json, err);
}

int run_results_writer_end_runner(struct run_results_writer *writer, struct error *err)
{
    if (writer->is_safetensors)
        return 0;
    json_writer_end_array(&writer->json);
    json_writer_end_array(&writer->json);
    return json_writer_status(&writer->json, err);
}

/* The metadata "runners". */
static void describe_runners(const struct run_results *runners, struct json_writer *ret)
{
    json_writer_init(ret);
    json_writer_begin_array(ret);
    for (size_t i = 0; i < runners->count; i++) {
        const struct runner_results *runner = &runners->items[i];

        json_writer_begin_object(ret);
        json_writer_add_string(ret, "name", runner->name);
        json_writer_begin_array_member(ret, "runtimes");
        for (size_t k = 0; k < runner->count; k++) {
            if (isnan(runner->items[k].runtime))
                json_writer_null(ret);
            else
                json_writer_number(ret, runner->items[k].runtime);
        }
        json_writer_end_array(ret);
        json_writer_end_object(ret);
    }
    json_writer_end_array(ret);
}

static int commit_safetensors(struct run_results_writer *writer, struct error *err)
{
    struct json_writer runners;
    int rc;

    describe_runners(&writer->runners, &runners);
    rc = safetensors_writer_commit(
        &writer->tensors,
        (struct safetensors_metadata[]){{(char *)SAFETENSORS_KIND, (char *)SAFETENSORS_RESULTS},
                                        {(char *)"runners", runners.text.data}},
        2, err);
    json_writer_release(&runners);
    return rc;
}

int run_results_writer_commit(struct run_results_writer *writer, struct error *err)
{
    if (writer->is_safetensors)
        return commit_safetensors(writer, err);
    json_writer_end_array(&writer->json);
    json_writer_add_string(&writer->json, "polygraphy_class", "RunResults");
    json_writer_end_object(&writer->json);
    return json_writer_commit(&writer->json, FILE_DURABLE, err);
}

void run_results_writer_release(struct run_results_writer *writer)
{
    if (writer->is_safetensors)
        safetensors_writer_release(&writer->tensors);
    else
        json_writer_release(&writer->json);
    run_results_release(&writer->runners);
}

static int add_iteration(struct run_results_writer *writer, const struct iteration_result *iteration, struct error *err)
{
    int rc = run_results_writer_begin_iteration(writer, err);

    for (size_t i = 0; i < iteration->outputs.count && rc == 0; i++)
        rc = run_results_writer_add(writer, iteration->outputs.items[i].name, &iteration->outputs.items[i].tensor, err);
    return rc < 0 ? rc : run_results_writer_end_iteration(writer, iteration->runtime, iteration->runner_name, err);
}

int run_results_writer_add_runner(struct run_results_writer *writer, const struct runner_results *runner,
                                  struct error *err)
{
    int rc = run_results_writer_begin_runner(writer, runner->name, err);

    for (size_t i = 0; i < runner->count && rc == 0; i++)
        rc = add_iteration(writer, &runner->items[i], err);
    return rc < 0 ? rc : run_results_writer_end_runner(writer, err);
}

int run_results_save(const struct run_results *results, const char *path, struct error *err)
{
    struct run_results_writer writer;
    int rc = run_results_writer_open(&writer, path, err);

    if (rc < 0)
        goto done;
    for (size_t i = 0; i < results->count; i++)
        for (size_t k = 0; k < results->items[i].count; k++)
            run_results_writer_expect(&writer, results->items[i].items[k].outputs.count,
                                      64 * results->items[i].items[k].outputs.count);
    for (size_t i = 0; i < results->count; i++) {
        rc = run_results_writer_add_runner(&writer, &results->items[i], err);
        if (rc < 0)
            goto done;
    }
    rc = run_results_writer_commit(&writer, err);
done:
    run_results_writer_release(&writer);
    return rc;
}
