/* comparator/reference_values.c: see reference_values.h. */
#include "comparator/reference_values.h"

#include <stdlib.h>

#include "backend/type_inference.h"
#include "base/memory.h"
#include "comparator/model_inputs.h"
#include "onnx/model_text.h"
#include "onnx/model_write.h"

struct reference_values {
    const struct subgraph *whole;
    const struct backend *backend;
    const struct backend_request *request;
    struct data_loader *loader;
    struct log *log;

    struct backend_session *session; /* of the model with all tensors marked; NULL until needed */
    char *bytes;                     /* of that model */
    struct error refusal;            /* why there is no session and will not be; code 0: not tried or not refused */
    struct tensor_list *feeds;       /* one for each sample; NULL until needed */
    size_t samples;
    struct {
        struct tensor **items;
        size_t count, capacity;
    } values;              /* recorded so far: an array of samples each */
    struct name_map index; /* name -> position in `values` */
};

void reference_values_new(const struct subgraph *whole, const struct backend *backend,
                          const struct backend_request *request, struct data_loader *loader, struct log *log,
                          struct reference_values **ret)
{
    struct reference_values *reference = memory_alloc_zero(1, sizeof(*reference));

    reference->whole = whole;
    reference->backend = backend;
    reference->request = request;
    reference->loader = loader;
    reference->log = log;
    name_map_init(&reference->index);
    *ret = reference;
}

static void release_feeds(struct reference_values *reference)
{
    for (size_t i = 0; i < reference->samples; i++)
        tensor_list_release(&reference->feeds[i]);
    free(reference->feeds);
    reference->feeds = NULL;
    reference->samples = 0;
}

void reference_values_free(struct reference_values *reference)
{
    if (reference == NULL)
        return;
    for (size_t i = 0; i < reference->values.count; i++) {
        for (size_t j = 0; j < reference->samples; j++)
            tensor_release(&reference->values.items[i][j]);
        free(reference->values.items[i]);
    }
    free(reference->values.items);
    release_feeds(reference);
    if (reference->session != NULL)
        reference->backend->close(reference->session);
    free(reference->bytes);
    name_map_release(&reference->index);
    free(reference);
}

static struct text name_of(const struct reference_values *reference, uint32_t value)
{
    return reference->whole->model->values.items[value].name;
}

static void log_feed(struct reference_values *reference)
{
    struct string_builder text;

    string_init(&text);
    string_add(&text, "Running fallback shape inference using input metadata:\n{");
    for (size_t i = 0; i < reference->feeds[0].count; i++) {
        const struct named_tensor *input = &reference->feeds[0].items[i];
        struct value_type type = {.element = input->tensor.type, .has_shape = true, .shape = input->tensor.shape};

        if (i > 0)
            string_add(&text, ",\n ");
        tensor_line(&text, text_of(input->name), &type);
    }
    string_add(&text, "}");
    log_message(reference->log, LOG_INFO,
                "Running inference with ONNX-Runtime to determine metadata for intermediate "
                "tensors.\nThis will cause intermediate models to have static shapes.");
    log_indent(reference->log, 1);
    log_text(reference->log, LOG_INFO, (struct text){text.data, text.size});
    log_indent(reference->log, -1);
    string_release(&text);
}

/* Gets all samples' inputs; they are values of the model like any other. */
static int prepare_feeds(struct reference_values *reference, struct error *err)
{
    size_t input_count = reference->whole->inputs.count;
    struct backend_io *inputs;
    int rc = 0;

    if (reference->feeds != NULL)
        return 0;
    if (data_loader_iterations(reference->loader) < 1)
        return error_set(err, ERR_INVALID, "no input data to run the model on: --load-inputs names an empty list");
    reference->samples = (size_t)data_loader_iterations(reference->loader);
    reference->feeds = memory_alloc_zero(reference->samples, sizeof(*reference->feeds));
    inputs = model_inputs_new(reference->whole);
    for (size_t i = 0; rc == 0 && i < reference->samples; i++)
        rc = data_loader_feed(reference->loader, inputs, input_count, (int64_t)i, &reference->feeds[i], err);
    model_inputs_free(inputs, input_count);
    if (rc < 0)
        release_feeds(reference);
    else
        log_feed(reference);
    return rc;
}

static int open_session(struct reference_values *reference, struct error *err)
{
    struct backend_request request = *reference->request;
    struct subgraph marked;
    size_t size;
    int rc;

    if (reference->session != NULL)
        return 0;
    if (reference->refusal.code != 0)
        return error_set(err, (enum error_code)reference->refusal.code, "%s", reference->refusal.message);
    subgraph_init_copy(&marked, reference->whole);
    marked.outputs.count = 0;
    types_list_all(reference->whole, &marked.outputs);
    rc = model_write_memory(&marked, &reference->bytes, &size, err);
    subgraph_release(&marked);
    if (rc < 0)
        return rc;
    request.model_path = NULL;
    request.model_data = reference->bytes;
    request.model_size = size;
    request.external_folder = reference->whole->model->folder;
    request.log = NULL; /* a session that nobody asked for is not worth a line */
    rc = reference->backend->open(&request, &reference->session, &reference->refusal);
    if (rc < 0) {
        free(reference->bytes);
        reference->bytes = NULL;
        return error_set(err, (enum error_code)rc, "%s", reference->refusal.message);
    }
    return 0;
}

static bool is_known(const struct reference_values *reference, uint32_t value)
{
    struct text name = name_of(reference, value);

    return name_map_find(&reference->index, name) != NAME_MAP_NONE ||
           (reference->feeds != NULL && tensor_list_find(&reference->feeds[0], name) != NULL);
}

/* Runs every sample; the tensors of the i-th name go to rows[i][0 .. samples-1]. */
static int run_samples(struct reference_values *reference, const char *const *names, size_t count, struct tensor **rows,
                       struct error *err)
{
    for (size_t i = 0; i < reference->samples; i++) {
        struct tensor_list outputs = {0};
        int rc = reference->backend->run(reference->session, &reference->feeds[i], names, count, &outputs, NULL, err);

        if (rc < 0) {
            tensor_list_release(&outputs);
            return rc;
        }
        for (size_t j = 0; j < count; j++) {
            rows[j][i] = outputs.items[j].tensor;
            outputs.items[j].tensor = (struct tensor){0};
        }
        tensor_list_release(&outputs);
    }
    return 0;
}

int reference_values_record(struct reference_values *reference, const struct value_list *wanted, struct error *err)
{
    struct value_list unknown = {0};
    char **names;
    struct tensor **rows;
    int rc = prepare_feeds(reference, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < wanted->count; i++)
        if (!is_known(reference, wanted->items[i]) && !value_list_has(&unknown, wanted->items[i]))
            value_list_add(&unknown, wanted->items[i]);
    if (unknown.count == 0)
        return 0;
    names = memory_alloc_zero(unknown.count, sizeof(*names));
    rows = memory_alloc_zero(unknown.count, sizeof(*rows));
    for (size_t i = 0; i < unknown.count; i++) {
        struct text name = name_of(reference, unknown.items[i]);

        names[i] = memory_copy(name.data, name.size);
        rows[i] = memory_alloc_zero(reference->samples, sizeof(**rows));
    }
    rc = open_session(reference, err);
    if (rc == 0)
        rc = run_samples(reference, (const char *const *)names, unknown.count, rows, err);
    for (size_t i = 0; i < unknown.count; i++) { /* rows that a failed run has filled are of no use alone, but owned */
        if (rc == 0)
            name_map_add(&reference->index, name_of(reference, unknown.items[i]), (uint32_t)reference->values.count);
        *VECTOR_APPEND(&reference->values) = rows[i];
        free(names[i]);
    }
    free(names);
    free(rows);
    free(unknown.items);
    return rc;
}

const struct tensor *reference_values_in(const struct reference_values *reference, uint32_t value, size_t sample)
{
    struct text name = name_of(reference, value);
    uint32_t position = name_map_find(&reference->index, name);

    if (position != NAME_MAP_NONE)
        return &reference->values.items[position][sample];
    return &tensor_list_find(&reference->feeds[sample], name)->tensor;
}

const struct tensor *reference_values_get(const struct reference_values *reference, uint32_t value)
{
    return reference_values_in(reference, value, 0);
}

bool reference_values_agree(const struct reference_values *reference, uint32_t value)
{
    for (size_t i = 1; i < reference->samples; i++)
        if (!tensor_identical(reference_values_in(reference, value, 0), reference_values_in(reference, value, i)))
            return false;
    return true;
}

size_t reference_values_samples(const struct reference_values *reference)
{
    return reference->samples;
}
