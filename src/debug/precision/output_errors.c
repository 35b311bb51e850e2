/* debug/precision/output_errors.c: see output_errors.h. */
#include "debug/precision/output_errors.h"

#include <math.h>
#include <stdlib.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "debug/cut/external.h"
#include "engine/build/inputs.h"
#include "onnx/write/model.h"
#include "tensor/compare/difference.h"
#include "tensor/statistics/range.h"

/* ---- Errors ---- */

void output_error_release(struct output_error *error)
{
    free(error->output);
    error->output = NULL;
}

static double largest_difference(const struct tensor *actual, const struct tensor *expected)
{
    static const struct tolerance none = {0};
    size_t elements = tensor_elements(expected);
    double ret = 0;
    struct pair pair;

    if (actual == NULL || tensor_elements(actual) != elements)
        return INFINITY;
    pair_init(&pair, actual, expected, true, false);
    for (size_t first = 0; first < elements; first += ELEMENTS_RUN) {
        struct difference_summary run;

        pair_summarize(&pair, first, elements_in_run(elements, first), &none, &run);
        ret = difference_greatest(ret, run.absolute_maximum);
    }
    return isnan(ret) ? (double)INFINITY : ret;
}

void output_error_add(struct output_error *error, const struct tensor_list *outputs, const struct tensor_list *expected)
{
    VECTOR_EACH (const struct named_tensor, wanted, *expected) {
        const struct named_tensor *found = tensor_list_find(outputs, text_of(wanted->name));
        double absolute = largest_difference(found != NULL ? &found->tensor : NULL, &wanted->tensor);

        if (error->output != NULL && absolute <= error->absolute)
            continue;
        free(error->output);
        error->output = memory_strdup(wanted->name);
        error->absolute = absolute;
        error->relative = absolute == 0 ? 0 : absolute / range_largest_magnitude(&wanted->tensor);
    }
}

/* ---- Runs ---- */

/* May take ownership of the outputs. */
typedef void take_outputs(void *data, size_t sample, struct tensor_list *outputs);

static int run_sample(const struct output_measuring *measuring, struct backend_session *session, size_t sample,
                      struct tensor_list *ret, struct error *err)
{
    struct tensor_list feed SCOPED(tensor_list_release) = {0};
    int rc = builder_feed(measuring->network, measuring->builder, (int64_t)sample, &feed, err);

    if (rc == 0)
        rc = onnxrt_backend.run(session, &feed, NULL, ret, NULL, err);
    return rc;
}

static int run_file(const struct output_measuring *measuring, const char *path, take_outputs *take, void *data,
                    struct error *err)
{
    struct backend_request request = *measuring->runtime;
    struct backend_session *session = NULL;
    int rc;

    request.model.path = path;
    request.log = NULL; /* no log lines for three sessions */
    rc = onnxrt_backend.open(&request, &session, err);
    for (size_t i = 0; rc == 0 && i < (size_t)measuring->builder->sample.iterations; i++) {
        struct tensor_list outputs SCOPED(tensor_list_release) = {0};

        rc = run_sample(measuring, session, i, &outputs, err);
        if (rc == 0)
            take(data, i, &outputs);
    }
    onnxrt_backend.close(session);
    return rc;
}

static int write_model(const struct subgraph *whole, const char *path, struct candidate_files *files, struct error *err)
{
    int rc = candidate_files_init(files, path, false, false, err);

    if (rc == 0)
        rc = candidate_files_provide(files, whole, err);
    return rc == 0 ? model_write(whole, path, NULL, FILE_INTERMEDIATE, NULL, err) : rc;
}

/* Runs the model from a file, so that weights are mapped and external data are found. */
static int run_model(const struct output_measuring *measuring, struct model *model, take_outputs *take, void *data,
                     struct error *err)
{
    struct candidate_files files;
    SCOPED_STRING(path);
    struct subgraph whole SCOPED(subgraph_release) = {0};
    char *folder SCOPED_FREE = NULL;
    int rc = file_make_temporary_folder("precision", &folder, err);

    if (rc < 0)
        return rc;
    string_add_format(&path, "%s/model.onnx", folder);
    subgraph_init_whole(&whole, model);
    rc = write_model(&whole, path.data, &files, err);
    if (rc == 0)
        rc = run_file(measuring, path.data, take, data, err);
    candidate_files_release(&files);
    file_remove_tree(folder, NULL);
    return rc;
}

static void keep_outputs(void *data, size_t sample, struct tensor_list *outputs)
{
    struct output_reference *reference = data;

    reference->outputs[sample] = *outputs;
    *outputs = (struct tensor_list){0};
}

int output_reference_record(struct output_reference *reference, const struct output_measuring *measuring,
                            struct error *err)
{
    size_t samples = (size_t)measuring->builder->sample.iterations;

    *reference = (struct output_reference){.samples = samples,
                                           .outputs = memory_alloc_zero(samples, sizeof(*reference->outputs))};
    int rc = run_model(measuring, measuring->network->model, keep_outputs, reference, err);
    if (rc < 0)
        output_reference_release(reference);
    return rc;
}

void output_reference_release(struct output_reference *reference)
{
    for (size_t i = 0; i < reference->samples; i++)
        tensor_list_release(&reference->outputs[i]);
    free(reference->outputs);
    *reference = (struct output_reference){0};
}

struct comparing {
    const struct output_reference *reference;
    struct output_error *error;
};

static void compare_outputs(void *data, size_t sample, struct tensor_list *outputs)
{
    const struct comparing *comparing = data;

    output_error_add(comparing->error, outputs, &comparing->reference->outputs[sample]);
}

int output_reference_compare(const struct output_reference *reference, const struct output_measuring *measuring,
                             struct model *model, struct output_error *ret, struct error *err)
{
    struct comparing comparing = {reference, ret};

    *ret = (struct output_error){0};
    int rc = run_model(measuring, model, compare_outputs, &comparing, err);
    if (rc < 0)
        output_error_release(ret);
    return rc;
}
