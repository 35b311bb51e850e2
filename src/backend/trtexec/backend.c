/* backend/trtexec/backend.c: TensorRT as a backend. See backend.h. */
#include "backend/trtexec/backend.h"

#include <stdlib.h>
#include <string.h>

#include "backend/trtexec/engine_notes.h"
#include "backend/trtexec/exported_output.h"
#include "backend/trtexec/installation.h"
#include "backend/trtexec/io.h"
#include "backend/trtexec/job.h"
#include "backend/trtexec/raw_tensor.h"
#include "base/text/names.h"
#include "base/text/number.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "format/trtexec/plan_header.h"
#include "format/trtexec/profile.h"
#include "format/trtexec/tensor_summary.h"

struct trtexec_session {
    struct backend_session base;
    struct tensorrt_settings settings;
    struct trtexec_products products; /* its folder is the session's, also where nothing was built */
    char *engine;                     /* path, as seen from the folder of a run */
    struct io_list inputs, outputs;
    struct layer_profile profile; /* of the last run, with settings.profile */
    bool exports_outputs;         /* an output has a shape that depends on data */
    bool warned_of_zeros;
};

static bool is_among(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Of an engine whose model is not known: what trtexec has made memory for. Sizes of open inputs are those that it was
 * optimized for, of which any may be another one. */
static void take_bindings(const struct trtexec_report *report, struct trtexec_session *session)
{
    for (size_t i = 0; i < report->bindings.count; i++) {
        const struct trtexec_binding *binding = &report->bindings.items[i];
        struct io_list *list = binding->is_output ? &session->outputs : &session->inputs;
        struct io *io = io_list_add(list, binding->name, binding->name, binding->type);
        struct backend_io *item = &list->items[list->count - 1];

        io->bound = binding->type;
        io->is_open = is_among(report->open_inputs.items, report->open_inputs.count, binding->name);
        item->has_shape = !binding->by_allocator;
        item->shape = binding->shape;
        for (size_t k = 0; io->is_open && k < item->shape.rank; k++)
            item->shape.dims[k] = -1;
    }
}

/* ---- One process ---- */

struct run {
    struct trtexec_session *session;
    const struct tensor_list *feed; /* NULL: trtexec makes values up */
    bool again;                     /* it has to run once more, with what the session knows now */
    char *folder;
    struct arena arena;
    struct trtexec_job job;
    const char **names, **files;
    struct shape *shapes;
    bool *is_open;
};

static void run_release(struct run *run)
{
    trtexec_job_release(&run->job);
    if (run->folder != NULL)
        file_remove_tree(run->folder, NULL);
    free(run->folder);
    arena_release(&run->arena);
}

/* What is said here is asked of the log afterwards (see check_input()). */
static enum data_type expected_type(const struct trtexec_session *session, const struct io *io, enum data_type type)
{
    if (io->bound != DATA_UNDEFINED)
        return io->bound;
    if (type == DATA_FLOAT64)
        return DATA_FLOAT32;
    return type == DATA_INT64 && session->settings.program->major < 9 ? DATA_INT32 : type;
}

static int write_input(struct run *run, size_t index, struct error *err)
{
    struct trtexec_session *session = run->session;
    const char *name = session->inputs.items[index].name;
    struct named_tensor *fed = tensor_list_find(run->feed, text_of(name));
    struct tensor narrowed = {0};
    enum data_type type;
    char *path;
    int rc = 0;

    if (fed == NULL)
        return error_set(err, ERR_MISSING, "there are no data for input '%s'", name);
    type = expected_type(session, &session->inputs.details[index], fed->tensor.type);
    if (type != fed->tensor.type)
        rc = raw_tensor_narrow(name, &fed->tensor, type, &narrowed, err);
    if (rc < 0)
        return rc;
    session->inputs.details[index].bound = type;
    run->files[index] = arena_printf(&run->arena, "i%zu", index);
    run->shapes[index] = fed->tensor.shape;
    path = file_join(run->folder, run->files[index]);
    rc = file_write(path, narrowed.data != NULL ? narrowed.data : fed->tensor.data,
                    narrowed.data != NULL ? narrowed.size : fed->tensor.size, FILE_INTERMEDIATE, err);
    free(path);
    tensor_release(&narrowed);
    return rc;
}

static int prepare_run(struct run *run, struct error *err)
{
    const struct io_list *inputs = &run->session->inputs;
    char *folder = file_join(run->session->products.folder, "run");
    int rc;

    run->names = arena_alloc_zero(&run->arena, inputs->count, sizeof(*run->names));
    run->files = arena_alloc_zero(&run->arena, inputs->count, sizeof(*run->files));
    run->shapes = arena_alloc_zero(&run->arena, inputs->count, sizeof(*run->shapes));
    run->is_open = arena_alloc_zero(&run->arena, inputs->count, sizeof(*run->is_open));
    rc = file_make_folders(folder, err);
    if (rc < 0) {
        free(folder);
        return rc;
    }
    run->folder = folder;
    for (size_t i = 0; i < inputs->count && rc == 0; i++) {
        run->names[i] = inputs->details[i].safe;
        run->is_open[i] = inputs->details[i].is_open;
        if (run->feed != NULL)
            rc = write_input(run, i, err);
    }
    return rc;
}

static int start_run(struct run *run, struct error *err)
{
    struct trtexec_session *session = run->session;
    const struct trtexec_run wish = {
        .engine = session->engine,
        .inputs = run->names,
        .files = run->feed != NULL ? run->files : NULL,
        .shapes = run->shapes,
        .is_dynamic = run->is_open,
        .input_count = session->inputs.count,
        .exports_outputs = session->exports_outputs,
    };
    struct trtexec_words words;
    int rc;

    trtexec_words_init(&words, &session->settings, &run->arena);
    trtexec_words_add_run(&words, &wish);
    rc = trtexec_words_finish(&words, err);
    if (rc == 0)
        rc = trtexec_job_run(&words, run->folder, &run->job, err);
    if (rc == 0)
        rc = trtexec_job_check(&run->job, session->settings.program, "TensorRT could not run the engine", err);
    trtexec_words_release(&words);
    return rc;
}

/* ---- What trtexec did with the inputs ----
 *
 * Files of other sizes than it needs are partly read, or twice their size taken for another type: it says nothing. */

/* A type other than was thought: the session knows it now. */
static int check_input(struct run *run, size_t index, struct error *err)
{
    struct io *io = &run->session->inputs.details[index];
    const char *name = run->session->inputs.items[index].name;
    const struct trtexec_binding *binding = trtexec_find_binding(&run->job.report, io->safe);
    struct string_builder shapes;
    int rc = 0;

    if (binding == NULL || binding->is_output)
        return error_set(err, ERR_BACKEND,
                         "trtexec does not say what it made of input '%s': the engine has none of that "
                         "name, or this version of trtexec is not known here",
                         name);
    if (!is_among(run->job.report.loaded.items, run->job.report.loaded.count, io->safe))
        return error_set(err, ERR_BACKEND, "trtexec made values up for input '%s' in place of those that it was given",
                         name);
    if (binding->type != DATA_UNDEFINED && binding->type != io->bound) {
        io->bound = binding->type;
        run->again = true;
        return 0;
    }
    string_init(&shapes);
    if (!shape_equal(&binding->shape, &run->shapes[index])) {
        shape_to_text(&binding->shape, &shapes);
        string_add(&shapes, ", and was given ");
        shape_to_text(&run->shapes[index], &shapes);
        rc = error_set(err, ERR_BACKEND, "the engine ran with input '%s' in shape %s", name, shapes.data);
    }
    string_release(&shapes);
    return rc;
}

static int check_inputs(struct run *run, struct error *err)
{
    for (size_t i = 0; i < run->session->inputs.count; i++)
        if (check_input(run, i, err) < 0)
            return err->code;
    return 0;
}

/* ---- Outputs ---- */

/* A file of the run, as a tensor of the type and shape of `form`. */
static int map_tensor(const struct run *run, const char *file, const char *name, const struct tensor *form,
                      struct tensor *ret, struct error *err)
{
    char *path = file_join(run->folder, file);
    int rc = raw_tensor_map(path, form->type, &form->shape, ret, err);

    free(path);
    return rc < 0 ? error_context(err, "output '%s'", name) : 0;
}

static const struct trtexec_dump *find_dump(const struct trtexec_report *report, const char *safe)
{
    for (size_t i = 0; i < report->dumps.count; i++)
        if (report->dumps.items[i].is_output && strcmp(report->dumps.items[i].name, safe) == 0)
            return &report->dumps.items[i];
    return NULL;
}

/* Two tensors whose names are written alike share a file, in which only the last one is. */
static int check_files(const struct trtexec_report *report, struct error *err)
{
    for (size_t i = 0; i < report->dumps.count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(report->dumps.items[i].file, report->dumps.items[k].file) == 0)
                return error_set(err, ERR_UNSUPPORTED,
                                 "trtexec writes '%s' and '%s' to one file: build the engine with this program, which "
                                 "gives them other names, or rename them in the model",
                                 report->dumps.items[k].name, report->dumps.items[i].name);
    return 0;
}

static int read_exported(const struct run *run, const struct io *io, enum data_type type, struct tensor *ret,
                         struct error *err)
{
    struct file_map map;
    char *path = file_join(run->folder, TRTEXEC_OUTPUTS);
    int rc = file_map_open(path, &map, err);

    free(path);
    if (rc < 0)
        return rc;
    rc = exported_output_read((struct text){(const char *)map.data, map.size}, io->safe, type, ret, err);
    file_map_release(&map);
    return rc;
}

static int read_output(const struct run *run, size_t index, struct tensor *ret, struct error *err)
{
    const struct io *io = &run->session->outputs.details[index];
    const char *name = run->session->outputs.items[index].name;
    const struct trtexec_dump *dump = find_dump(&run->job.report, io->safe);
    const struct trtexec_binding *binding = trtexec_find_binding(&run->job.report, io->safe);

    if (dump == NULL)
        return error_set(err, ERR_BACKEND, "trtexec has left no file with the values of output '%s'", name);
    if (dump->type == DATA_UNDEFINED || data_type_bits(dump->type) < 8)
        return error_set(
            err, ERR_UNSUPPORTED,
            "output '%s' has a type of TensorRT's whose bytes are not understood here: cast it in the model", name);
    if ((binding != NULL && binding->by_allocator) || !shape_is_static(&dump->shape))
        return read_exported(run, io, dump->type, ret, err);
    if (binding != NULL && !shape_equal(&binding->shape, &dump->shape))
        return error_set(err, ERR_BACKEND, "trtexec tells two shapes of output '%s'", name);
    return map_tensor(run, dump->file, name, &(struct tensor){.type = dump->type, .shape = dump->shape}, ret, err);
}

static bool needs_export(const struct trtexec_report *report)
{
    for (size_t i = 0; i < report->bindings.count; i++)
        if (report->bindings.items[i].by_allocator)
            return true;
    for (size_t i = 0; i < report->dumps.count; i++)
        if (!shape_is_static(&report->dumps.items[i].shape))
            return true;
    return false;
}

/* ---- Tensors inside of the engine ---- */

static bool has_debug(const struct tensorrt_settings *settings)
{
    return settings->mark_unfused || settings->mark_debug.count > 0;
}

/* No summary: nothing was marked, or all of it is fused away. */
static int read_summary(const struct run *run, struct output_summary *ret, struct error *err)
{
    char *path = file_join(run->folder, "tensor_summary.json");
    struct file_map map;
    int rc = 0;

    *ret = (struct output_summary){0};
    if (file_exists(path))
        rc = file_map_open(path, &map, err);
    else
        goto done;
    if (rc < 0)
        goto done;
    rc =
        tensor_summary_parse(ret, (struct text){(const char *)map.data, map.size}, "the summary of debug tensors", err);
    file_map_release(&map);
done:
    free(path);
    return rc;
}

static int read_debug_tensor(const struct run *run, const struct output_summary *summary, const char *name,
                             struct tensor *ret, struct error *err)
{
    struct tensor form = {0};

    for (size_t i = summary->count; i-- > 0;) {
        const struct debug_tensor *found = &summary->items[i];

        if (strcmp(found->name, name) != 0)
            continue;
        if (found->rank > TENSOR_MAX_RANK || found->raw == NULL || data_type_bits(found->type) < 8)
            return error_set(err, ERR_UNSUPPORTED, "the values of '%s' are not understood here", name);
        form.type = found->type;
        form.shape.rank = found->rank;
        memcpy(form.shape.dims, found->dims, found->rank * sizeof(*found->dims));
        return map_tensor(run, found->raw, name, &form, ret, err);
    }
    return error_set(err, ERR_BACKEND, "TensorRT did not give out '%s', which is marked", name);
}

/* What comes back is what there is: TensorRT says nothing of names that it does not know. */
static int take_debug_names(struct trtexec_session *session, const struct output_summary *summary, struct error *err)
{
    const struct words *wanted = &session->settings.mark_debug;
    struct string_builder missing;
    struct short_list list = {.text = &missing, .most = SIZE_MAX};
    int rc = 0;

    for (size_t i = 0; i < summary->count; i++)
        if (io_list_find(&session->outputs, summary->items[i].name) == NULL)
            io_list_add(&session->outputs, summary->items[i].name, summary->items[i].name, summary->items[i].type)
                ->is_debug = true;
    string_init(&missing);
    for (size_t i = 0; i < wanted->count; i++)
        if (io_list_find(&session->outputs, wanted->items[i]) == NULL)
            short_list_add(&list, wanted->items[i]);
    if (list.count > 0)
        rc = error_set(err, ERR_INVALID,
                       "--mark-debug: TensorRT does not give out %s: its network has no tensor of that name",
                       missing.data);
    string_release(&missing);
    return rc;
}

/* ---- Running ---- */

/* Adds what is wanted, in that order. */
static int read_outputs(const struct run *run, const struct words *wanted, struct tensor_list *ret, struct error *err)
{
    const struct io_list *outputs = &run->session->outputs;
    size_t count = wanted != NULL ? wanted->count : outputs->count;
    struct output_summary summary = {0};
    int rc = check_files(&run->job.report, err);

    if (rc < 0)
        return rc;
    if (has_debug(&run->session->settings))
        rc = read_summary(run, &summary, err);
    for (size_t i = 0; i < count && rc == 0; i++) {
        struct tensor tensor = {0};
        size_t index = wanted != NULL ? 0 : i;

        while (wanted != NULL && index < outputs->count && strcmp(outputs->items[index].name, wanted->items[i]) != 0)
            index++;
        if (index == outputs->count)
            rc = error_set(err, ERR_MISSING, "the engine has no output '%s'", wanted->items[i]);
        else if (outputs->details[index].is_debug)
            rc = read_debug_tensor(run, &summary, outputs->items[index].name, &tensor, err);
        else
            rc = read_output(run, index, &tensor, err);
        if (rc == 0)
            tensor_list_add(ret, text_of(outputs->items[index].name), &tensor);
    }
    tensor_summary_release(&summary);
    return rc;
}

/* ---- Times of layers ---- */

static int keep_profile(const struct run *run, struct error *err)
{
    struct layer_profile *profile = &run->session->profile;
    char *path = file_join(run->folder, TRTEXEC_PROFILE);
    int rc;

    layer_profile_release(profile);
    *profile = (struct layer_profile){0};
    rc = layer_profile_open(profile, path, err);
    free(path);
    return rc;
}

static int by_time(const void *a, const void *b)
{
    double first = ((const struct layer_time *)a)->total, second = ((const struct layer_time *)b)->total;

    return (first < second) - (first > second);
}

static void log_profile(struct trtexec_session *session)
{
    struct layer_profile *profile = &session->profile;
    struct string_builder text;
    char number[NUMBER_TEXT_SIZE];
    double total = 0;

    if (profile->count == 0 || !log_shows(session->settings.log, LOG_INFO))
        return;
    qsort(profile->items, profile->count, sizeof(*profile->items), by_time);
    for (size_t i = 0; i < profile->count; i++)
        total += profile->items[i].total;
    string_init(&text);
    string_add_format(&text, "Profile of %zu layers of the last run: %s ms\n       ms      %%  layer", profile->count,
                      number_to_text_short(total, number));
    for (size_t i = 0; i < profile->count; i++) {
        string_add_format(&text, "\n%9.4f %6.2f  ", profile->items[i].total,
                          total > 0 ? 100 * profile->items[i].total / total : 0);
        string_add_visible(&text, text_of(profile->items[i].name));
    }
    log_text(session->settings.log, LOG_INFO, (struct text){text.data, text.size});
    string_release(&text);
}

/* An engine whose weights were stripped runs without a word, and nothing in its file tells. */
static void warn_of_zeros(struct trtexec_session *session, const struct tensor_list *outputs)
{
    if (session->products.engine != NULL || session->warned_of_zeros || outputs->count == 0)
        return;
    for (size_t i = 0; i < outputs->count; i++) {
        const unsigned char *bytes = outputs->items[i].tensor.data;
        size_t size = outputs->items[i].tensor.size;

        if (size == 0 || bytes[0] != 0 || memcmp(bytes, bytes + 1, size - 1) != 0)
            return;
    }
    session->warned_of_zeros = true;
    log_message(
        session->settings.log, LOG_WARNING,
        "All outputs are 0 throughout: so are those of an engine whose weights were stripped (--strip-plan) and "
        "never put back");
}

static int run_once(struct run *run, const struct words *wanted, struct tensor_list *ret, double *seconds,
                    struct error *err)
{
    struct trtexec_session *session = run->session;

    if (prepare_run(run, err) < 0 || start_run(run, err) < 0 || check_inputs(run, err) < 0)
        return err->code;
    if (run->again)
        return 0;
    if (!session->exports_outputs && needs_export(&run->job.report)) {
        session->exports_outputs = run->again = true;
        return 0;
    }
    if (seconds != NULL)
        *seconds = run->job.report.host_seconds >= 0 ? run->job.report.host_seconds : run->job.result.seconds;
    if (session->settings.profile && keep_profile(run, err) < 0)
        return err->code;
    if (read_outputs(run, wanted, ret, err) < 0)
        return err->code;
    warn_of_zeros(session, ret);
    return 0;
}

#define MOST_TRIES 3 /* with other types of inputs, with exported outputs */

static int trtexec_run_session(struct backend_session *base, const struct tensor_list *feed, const struct words *wanted,
                               struct tensor_list *ret, double *seconds, struct error *err)
{
    for (int i = 0; i < MOST_TRIES; i++) {
        struct run run = {.session = (struct trtexec_session *)base, .feed = feed};
        int rc = run_once(&run, wanted, ret, seconds, err);
        bool again = run.again;

        run_release(&run);
        if (rc < 0 || !again)
            return rc;
    }
    return error_set(err, ERR_BACKEND, "trtexec says something else of the engine's inputs and outputs each time");
}

/* ---- Opening ---- */

/* Zeros, which are no index beyond anything, in the shapes that the engine is built for. */
static int make_zeros(const struct trtexec_session *session, struct tensor_list *ret, struct error *err)
{
    const struct trtexec_network *network = &session->products.network;

    for (size_t i = 0; i < network->inputs.count; i++) {
        const struct trtexec_tensor *input = &network->inputs.items[i];
        const struct tensorrt_profile *profile = network->profile_count > 0 ? &network->profiles[0] : NULL;
        struct shape shape = input->shape;
        struct tensor tensor = {0};
        int rc;

        for (size_t k = 0; profile != NULL && k < profile->count; k++)
            if (strcmp(profile->items[k].name, input->safe) == 0)
                shape = profile->items[k].optimum;
        rc = tensor_allocate(input->type, &shape, &tensor, err);
        if (rc < 0)
            return rc;
        memset(tensor_writable(&tensor), 0, tensor.size);
        tensor_list_add(ret, text_of(input->name), &tensor);
    }
    return 0;
}

/* Asks a run what the engine has: inputs and outputs where they are not known, and tensors inside of it that are
 * marked. */
static int learn_bindings(struct trtexec_session *session, bool knows_model, struct error *err)
{
    struct tensor_list zeros = {0};
    struct run run = {.session = session, .feed = knows_model ? &zeros : NULL};
    struct output_summary summary = {0};
    int rc = knows_model ? make_zeros(session, &zeros, err) : 0;

    if (rc < 0)
        goto done;
    if (prepare_run(&run, err) < 0 || start_run(&run, err) < 0) {
        rc = err->code;
        goto done;
    }
    if (!knows_model)
        take_bindings(&run.job.report, session);
    if (session->outputs.count == 0)
        rc = error_set(err, ERR_BACKEND, "trtexec names no output of the engine: this version of it is not known here");
    else if (has_debug(&session->settings))
        rc = read_summary(&run, &summary, err);
    if (rc == 0 && has_debug(&session->settings))
        rc = take_debug_names(session, &summary, err);
    tensor_summary_release(&summary);
done:
    run_release(&run);
    tensor_list_release(&zeros);
    return rc;
}

static int open_engine(struct trtexec_session *session, const struct backend_request *request, struct error *err)
{
    const struct trtexec *program = session->settings.program;
    struct plan_header header;
    bool is_of_version;
    char *place;
    int rc = plan_header_read(request->model.path, &header, err);

    if (rc < 0)
        return rc;
    rc = file_make_temporary_folder("trtexec", &session->products.folder, err);
    if (rc < 0)
        return rc;
    place = file_place(request->model.path);
    session->engine = place;
    log_message(session->settings.log, LOG_VERBOSE, "'%s' was built by TensorRT %u.%u.%u", request->model.path,
                header.major, header.minor, header.patch);
    is_of_version = (int)header.major == program->major && (int)header.minor == program->minor;
    if (is_of_version && !has_debug(&session->settings) &&
        engine_notes_load(place, &session->inputs, &session->outputs))
        return 0;
    rc = learn_bindings(session, false, err);
    if (rc == ERR_BACKEND && !is_of_version)
        return error_context(err,
                             "'%s' was built by TensorRT %u.%u.%u, which as a rule is the one version that it runs on",
                             request->model.path, header.major, header.minor, header.patch);
    if (rc == 0 && !has_debug(&session->settings))
        engine_notes_save(place, &session->inputs, &session->outputs);
    return rc;
}

static int build_engine(struct trtexec_session *session, const struct backend_request *request, struct error *err)
{
    const struct trtexec_request *wish = request->settings;
    int64_t profiles = session->settings.profiles.count > 1 ? (int64_t)session->settings.profiles.count : 1;
    int rc;

    if (session->settings.strip_plan)
        return error_set(
            err, ERR_UNSUPPORTED,
            "--strip-plan: an engine without its weights computes zeros until it has been given them again, "
            "and says nothing of it: write one with `polygraphy convert`, and run one with weights");
    if (session->settings.optimization_profile < 0 || session->settings.optimization_profile >= profiles)
        return error_set(err, ERR_INVALID,
                         "--optimization-profile: there is no profile %lld, since shapes are given for %lld, counted "
                         "from 0",
                         (long long)session->settings.optimization_profile, (long long)profiles);
    rc = trtexec_build(&session->settings, &request->model, &session->products, err);
    if (rc < 0)
        return rc;
    session->engine = memory_strdup("../" TRTEXEC_ENGINE);
    io_list_take(&session->products.network.inputs, &session->inputs);
    io_list_take(&session->products.network.outputs, &session->outputs);
    rc = wish != NULL && wish->built != NULL ? wish->built(wish->data, &session->products, err) : 0;
    return rc == 0 && has_debug(&session->settings) ? learn_bindings(session, true, err) : rc;
}

static bool is_engine(const struct backend_request *request)
{
    uint8_t bytes[PLAN_HEADER_BYTES];
    size_t size;

    if (request->model.path == NULL)
        return false;
    size = file_read_start(request->model.path, bytes, sizeof(bytes));
    return plan_header_is_tensorrt((struct span){bytes, size});
}

static void trtexec_close(struct backend_session *base)
{
    struct trtexec_session *session = (struct trtexec_session *)base;

    if (session == NULL)
        return;
    log_profile(session);
    layer_profile_release(&session->profile);
    io_list_release(&session->inputs);
    io_list_release(&session->outputs);
    trtexec_products_release(&session->products);
    free(session->engine);
    free(session);
}

static int trtexec_open(const struct backend_request *request, struct backend_session **ret, struct error *err)
{
    struct trtexec_session *session = memory_alloc_zero(1, sizeof(*session));
    const struct trtexec_request *wish = request->settings;
    int rc = 0;

    if (wish != NULL)
        session->settings = wish->settings;
    session->settings.log = request->log;
    if (session->settings.program == NULL)
        rc = trtexec_find(&session->settings.program, err);
    if (rc == 0 && request->model.path != NULL && !file_exists(request->model.path))
        rc = error_set(err, ERR_MISSING, "model '%s' does not exist", request->model.path);
    if (rc == 0)
        rc = is_engine(request) || (wish != NULL && wish->is_built) ? open_engine(session, request, err)
                                                                    : build_engine(session, request, err);
    if (rc < 0)
        trtexec_close(&session->base);
    if (rc < 0)
        return rc;
    session->base = (struct backend_session){.inputs = session->inputs.items,
                                             .input_count = session->inputs.count,
                                             .outputs = session->outputs.items,
                                             .output_count = session->outputs.count};
    *ret = &session->base;
    return 0;
}

const struct backend trtexec_backend = {
    .name = "trt",
    .runner_prefix = "trt-runner",
    .open = trtexec_open,
    .close = trtexec_close,
    .run = trtexec_run_session,
};
