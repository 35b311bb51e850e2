/* comparator/reference/values.c: see values.h. */
#include "comparator/reference/values.h"

#include <stdlib.h>

#include "backend/model_io.h"
#include "backend/subgraph_session.h"
#include "backend/tensorrt/backend.h"
#include "backend/type_inference.h"
#include "base/memory.h"
#include "comparator/reference/run.h"
#include "onnx/model/text.h"

#define DEFAULT_MEMORY ((uint64_t)1 << 30)
#define DEFAULT_DISK ((uint64_t)1 << 30)

struct reference_values {
    const struct subgraph *whole;
    const struct backend *backend;
    const struct backend_request *request;
    const struct backend *golden; /* computes the values; NULL: `backend` does */
    const struct backend_request *golden_request;
    struct data_loader *loader;
    struct log *log;
    uint64_t memory, disk; /* see reference_values_set_bounds() */

    struct subgraph_session session; /* of the model with all tensors as outputs; opened on demand */
    /* why the session cannot be opened; code 0: not tried or not refused */
    struct error refusal;
    struct tensor_list *feeds; /* one for each sample; NULL until needed */
    size_t samples;
    /* why there are no input data (values that depend only on constants are still available); code 0: there are */
    struct error no_feeds;
    bool announced; /* the run of the model was logged */
    struct {
        struct held_line {
            enum log_level level;
            char *text;
        } * items;
        size_t count, capacity;
    } held; /* messages of the data loader while the log was muted */
    enum { UNDECIDED, AS_A_WHOLE, IN_GROUPS } way;
    bool only_asked;    /* values that were not requested are no longer recorded */
    bool only_upstream; /* the model does not run: only ancestors of a value are run */
    struct value_store store;
    VECTOR(struct tensor *) values; /* recorded values: an array of samples each */
    struct name_map index;          /* name -> position in `values` */
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
    reference->memory = DEFAULT_MEMORY;
    reference->disk = DEFAULT_DISK;
    name_map_init(&reference->index);
    *ret = reference;
}

void reference_values_set_golden(struct reference_values *reference, const struct backend *golden,
                                 const struct backend_request *request)
{
    reference->golden = golden;
    reference->golden_request = request;
}

/* Opens a session of the model, or of a part of it. */
static int open_part(const struct reference_values *reference, const struct subgraph *part,
                     struct subgraph_session *ret, struct error *err)
{
    if (reference->golden != NULL)
        return subgraph_session_open(ret, part, reference->golden, reference->golden_request, err);
    return subgraph_session_open(ret, part, reference->backend, reference->request, err);
}

void reference_values_set_bounds(struct reference_values *reference, uint64_t memory, uint64_t disk)
{
    reference->memory = memory;
    reference->disk = disk;
}

static void release_row(const struct reference_values *reference, struct tensor *row)
{
    for (size_t i = 0; i < reference->samples; i++)
        tensor_release(&row[i]);
    free(row);
}

static void release_feeds(struct reference_values *reference)
{
    for (size_t i = 0; i < reference->samples; i++)
        tensor_list_release(&reference->feeds[i]);
    free(reference->feeds);
    reference->feeds = NULL;
    reference->samples = 0;
}

static void drop_lines(struct reference_values *reference)
{
    for (size_t i = 0; i < reference->held.count; i++)
        free(reference->held.items[i].text);
    reference->held.count = 0;
}

void reference_values_free(struct reference_values *reference)
{
    if (reference == NULL)
        return;
    for (size_t i = 0; i < reference->values.count; i++)
        release_row(reference, reference->values.items[i]);
    free(reference->values.items);
    release_feeds(reference);
    drop_lines(reference);
    free(reference->held.items);
    value_store_release(&reference->store);
    subgraph_session_close(&reference->session);
    name_map_release(&reference->index);
    free(reference);
}

static struct text find_value_name(const struct reference_values *reference, uint32_t value)
{
    return reference->whole->model->values.items[value].name;
}

/* ---- Input data ---- */

static void log_feed(struct reference_values *reference)
{
    SCOPED_STRING(text);

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
                "Running inference with %s to determine metadata for intermediate tensors.\n"
                "This will cause intermediate models to have static shapes.",
                reference->golden == NULL                ? "ONNX-Runtime"
                : reference->golden == &tensorrt_backend ? "TensorRT"
                                                         : "the built-in engine");
    log_indent(reference->log, 1);
    log_text(reference->log, LOG_INFO, (struct text){text.data, text.size});
    log_indent(reference->log, -1);
}

/* Records a line for reference_values_announce(). */
static void hold_line(void *data, enum log_level level, int depth, struct text message)
{
    struct reference_values *reference = data;

    (void)depth; /* the depth at the replay is used */
    *VECTOR_APPEND(&reference->held) = (struct held_line){level, memory_copy(message.data, message.size)};
}

void reference_values_announce(struct reference_values *reference)
{
    if (reference->announced || reference->feeds == NULL || reference->no_feeds.code != 0 || reference->log == NULL ||
        reference->log->muted)
        return;
    reference->announced = true;
    for (size_t i = 0; i < reference->held.count; i++)
        log_text(reference->log, reference->held.items[i].level, text_of(reference->held.items[i].text));
    drop_lines(reference);
    log_feed(reference);
}

/* Moves generated data to the disk; data mapped from files stay there. */
static int store_feed(struct reference_values *reference, struct tensor_list *feed, struct error *err)
{
    for (size_t i = 0; i < feed->count; i++) {
        struct tensor *tensor = &feed->items[i].tensor;
        struct tensor from = *tensor;
        int rc;

        if (from.free_owner == NULL)
            continue;
        rc = value_store_add(&reference->store, &from, tensor, err);
        if (rc < 0) {
            *tensor = from;
            return rc;
        }
        tensor_release(&from);
    }
    return value_store_commit(&reference->store, err);
}

/* Loads the inputs of all samples; they are recorded like other values. */
static int load_feeds(struct reference_values *reference, struct error *err)
{
    size_t input_count = reference->whole->inputs.count;
    struct backend_io *inputs;
    int rc = 0;

    if (data_loader_iterations(reference->loader) < 1)
        return error_set(err, ERR_INVALID, "no input data to run the model on: --load-inputs names an empty list");
    reference->samples = (size_t)data_loader_iterations(reference->loader);
    reference->feeds = memory_alloc_zero(reference->samples, sizeof(*reference->feeds));
    inputs = model_io_new(reference->whole->model, reference->whole->known, &reference->whole->inputs);
    for (size_t i = 0; rc == 0 && i < reference->samples; i++) {
        rc = data_loader_feed(reference->loader, inputs, input_count, (int64_t)i, &reference->feeds[i], err);
        if (rc == 0)
            rc = store_feed(reference, &reference->feeds[i], err);
    }
    model_io_free(inputs, input_count);
    if (rc < 0) {
        value_store_go_back(&reference->store, (struct value_store_mark){0});
        release_feeds(reference);
    }
    return rc;
}

/* A muted log drops lines, and the loader does not repeat its messages, so they are recorded. */
static int load_feeds_quietly(struct reference_values *reference, struct error *err)
{
    struct log *log = reference->log;
    struct log as_it_was;
    int rc;

    if (log == NULL || !log->muted)
        return load_feeds(reference, err);
    as_it_was = *log;
    log->muted = false;
    log->write = hold_line;
    log->data = reference;
    rc = load_feeds(reference, err);
    log->muted = true;
    log->write = as_it_was.write;
    log->data = as_it_was.data;
    if (rc < 0)
        drop_lines(reference);
    return rc;
}

/* Without data for the inputs there is one empty sample. */
static int prepare_feeds(struct reference_values *reference, struct error *err)
{
    struct error why = {0};
    int rc;

    if (reference->feeds != NULL)
        return 0;
    rc = load_feeds_quietly(reference, &why);
    if (rc == 0)
        return 0;
    if (rc != ERR_INVALID && rc != ERR_MISSING && rc != ERR_UNSUPPORTED)
        return error_set(err, (enum error_code)rc, "%s", why.message);
    reference->no_feeds = why;
    reference->samples = 1;
    reference->feeds = memory_alloc_zero(1, sizeof(*reference->feeds));
    return 0;
}

/* ---- Running the model ---- */

static int open_session(struct reference_values *reference, struct error *err)
{
    struct subgraph marked SCOPED(subgraph_release) = {0};
    int rc;

    if (reference->session.session != NULL)
        return 0;
    if (reference->refusal.code != 0)
        return error_set(err, (enum error_code)reference->refusal.code, "%s", reference->refusal.message);
    subgraph_init_copy(&marked, reference->whole);
    marked.outputs.count = 0;
    types_list_all(reference->whole, &marked.outputs);
    rc = open_part(reference, &marked, &reference->session, &reference->refusal);
    return rc < 0 ? error_set(err, (enum error_code)rc, "%s", reference->refusal.message) : 0;
}

static bool is_known(const struct reference_values *reference, uint32_t value)
{
    struct text name = find_value_name(reference, value);

    return name_map_find(&reference->index, name) != NAME_MAP_NONE ||
           (reference->feeds != NULL && tensor_list_find(&reference->feeds[0], name) != NULL);
}

/* Adds all other values of the model, after the requested ones. */
static void add_the_rest(const struct reference_values *reference, struct reference_run *run)
{
    struct value_list all SCOPED_ITEMS = {0};
    SCOPED_BITSET(there);

    bitset_init(&there, reference->whole->model->values.count);
    for (size_t i = 0; i < run->count; i++)
        bitset_add(&there, run->items[i].value);
    types_list_all(reference->whole, &all);
    for (size_t i = 0; i < all.count; i++)
        if (!bitset_has(&there, all.items[i]) && !is_known(reference, all.items[i]))
            reference_run_add(run, all.items[i], false);
}

static int run_model(struct reference_values *reference, struct reference_run *run, struct error *err)
{
    int rc = 0;

    if (reference->way == UNDECIDED) {
        bool in_groups;

        rc = reference_run_plan(run, &in_groups, err);
        if (rc < 0)
            return rc;
        reference->way = in_groups ? IN_GROUPS : AS_A_WHOLE;
    }
    if (reference->way == IN_GROUPS)
        return reference_run_groups(run, err);
    rc = open_session(reference, err);
    return rc < 0 ? rc : reference_run_session(run, reference->session.session, err);
}

/* Runs the ancestors of `unknown` as a separate model. */
static int run_upstream(struct reference_values *reference, const struct value_list *unknown, struct reference_run *run,
                        struct error *err)
{
    struct subgraph_session session = {0};
    struct subgraph upstream SCOPED(subgraph_release) = {0};
    int rc;

    subgraph_init_copy(&upstream, reference->whole);
    value_list_assign(&upstream.outputs, unknown);
    subgraph_clean(&upstream, NULL, NULL, NULL);
    run->whole = &upstream;
    if (reference->no_feeds.code != 0 && (upstream.inputs.count > 0 || reference->golden != NULL))
        rc = error_set(err, (enum error_code)reference->no_feeds.code, "%s", reference->no_feeds.message);
    else
        rc = open_part(reference, &upstream, &session, err);
    if (rc == 0)
        rc = reference_run_session(run, session.session, err);
    run->whole = reference->whole;
    subgraph_session_close(&session);
    return rc;
}

/* Moves the recorded values. If these are all values, the session is closed. */
static void take_values(struct reference_values *reference, struct reference_run *run, bool all)
{
    for (size_t i = 0; i < run->count; i++) {
        if (run->items[i].dropped) {
            all = false;
            continue;
        }
        name_map_add(&reference->index, find_value_name(reference, run->items[i].value),
                     (uint32_t)reference->values.count);
        *VECTOR_APPEND(&reference->values) = run->items[i].row;
        run->items[i].row = NULL;
    }
    if (all)
        subgraph_session_close(&reference->session);
}

enum extent { WITH_THE_REST, ONLY_ASKED, ONLY_UPSTREAM };

/* Records `unknown`, and for WITH_THE_REST also other values if there is space. */
static int record_values(struct reference_values *reference, const struct value_list *unknown, enum extent extent,
                         struct error *err)
{
    struct value_store_mark mark = value_store_mark(&reference->store);
    struct reference_run run = {.whole = reference->whole,
                                .backend = reference->golden != NULL ? reference->golden : reference->backend,
                                .request = reference->golden != NULL ? NULL : reference->request,
                                .feeds = reference->feeds,
                                .samples = reference->samples,
                                .store = &reference->store,
                                .memory = reference->memory,
                                .disk = reference->disk};
    int rc;

    for (size_t i = 0; i < unknown->count; i++)
        reference_run_add(&run, unknown->items[i], true);
    if (extent == WITH_THE_REST)
        add_the_rest(reference, &run);
    rc = extent == ONLY_UPSTREAM ? run_upstream(reference, unknown, &run, err) : run_model(reference, &run, err);
    if (rc == 0)
        take_values(reference, &run, extent == WITH_THE_REST);
    reference_run_release(&run);
    if (rc < 0)
        value_store_go_back(&reference->store, mark);
    return rc;
}

/* Tries the whole model first: usually a single run is enough. It may fail in a part that was not requested. */
static int record_somehow(struct reference_values *reference, const struct value_list *unknown, struct error *err)
{
    struct error why = {0};
    int rc = ERR_BACKEND;

    if (!reference->only_upstream && !reference->only_asked) {
        rc = record_values(reference, unknown, WITH_THE_REST, &why);
        reference->only_asked = rc != ERR_INTERRUPTED;
        if (rc < 0 && rc != ERR_INTERRUPTED)
            reference->way = AS_A_WHOLE; /* groups may be the reason */
    }
    if (!reference->only_upstream && rc < 0 && rc != ERR_INTERRUPTED) {
        rc = record_values(reference, unknown, ONLY_ASKED, &why);
        reference->only_upstream = rc < 0 && rc != ERR_INTERRUPTED && reference->golden == NULL;
    }
    if (reference->only_upstream)
        rc = record_values(reference, unknown, ONLY_UPSTREAM, &why);
    return rc < 0 ? error_set(err, (enum error_code)rc, "%s", why.message) : 0;
}

int reference_values_record(struct reference_values *reference, const struct value_list *wanted, struct error *err)
{
    struct value_list unknown SCOPED_ITEMS = {0};
    SCOPED_BITSET(listed);
    int rc = prepare_feeds(reference, err);

    if (rc < 0)
        return rc;
    reference->only_upstream |= reference->no_feeds.code != 0;
    reference_values_announce(reference);
    bitset_init(&listed, reference->whole->model->values.count);
    for (size_t i = 0; i < wanted->count; i++)
        if (!is_known(reference, wanted->items[i]) && !bitset_has(&listed, wanted->items[i])) {
            bitset_add(&listed, wanted->items[i]);
            value_list_add(&unknown, wanted->items[i]);
        }
    if (unknown.count > 0)
        rc = record_somehow(reference, &unknown, err);
    return rc;
}

/* ---- Recorded values ---- */

const struct tensor *reference_values_in(const struct reference_values *reference, uint32_t value, size_t sample)
{
    struct text name = find_value_name(reference, value);
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

void reference_values_list_tensors(const struct reference_values *reference, struct known_types *known,
                                   struct value_list *ret)
{
    struct backend_request request = *reference->request;
    const struct subgraph *whole = reference->whole;
    SCOPED_BITSET(not_tensors);
    size_t kept = 0;

    request.log = reference->log;
    bitset_init(&not_tensors, whole->model->values.count);
    types_find(whole, &(struct types_request){.backend = reference->backend, .runtime = &request}, known, &not_tensors,
               NULL); /* unknown types are found by the run */
    value_list_assign(ret, &whole->inputs);
    types_list_all(whole, ret);
    for (size_t i = 0; i < ret->count; i++) {
        struct value_type type;

        value_info_decode(known_types_info(known, whole->model, ret->items[i]), &type);
        if (type.not_a_tensor == NULL && !bitset_has(&not_tensors, ret->items[i]))
            ret->items[kept++] = ret->items[i];
    }
    ret->count = kept;
}
