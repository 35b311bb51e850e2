/* library/reduce_model.c: polygraphy_reduce_model(): the search of `debug reduce --mode minimal` with a function as its
 * check. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "backend/onnxrt/settings.h"
#include "base/system.h"
#include "debug/candidate/place.h"
#include "debug/cut/candidate.h"
#include "debug/cut/external.h"
#include "debug/reduce/node_dag.h"
#include "library/checked_search.h"
#include "onnx/edit/model.h"
#include "onnx/write/model.h"

struct model_run {
    const struct polygraphy_model_request *request;
    struct log *log; /* NULL: no log */

    char *folder; /* private folder of candidates; NULL: not created yet */
    struct candidate_place place;

    struct model *model;
    const char **custom_ops; /* NULL-terminated */
    struct data_loader *loader;
    struct onnxrt_settings runtime;
    struct candidate_settings settings;
    struct candidate_maker maker;
    struct candidate_files files;
    bool has_maker;

    struct subgraph candidate; /* being checked */
    struct subgraph bad;       /* smallest failing one */
    bool has_bad;
};

/* ---- Candidates ---- */

/* Sets run->candidate, which the caller releases, or `ret_usable` to false: the set cannot be a model. */
static int make_model_candidate(struct model_run *run, const struct bitset *set, bool *ret_usable, struct error *err)
{
    bool whole = bitset_count(set) == set->size;
    uint32_t not_a_tensor = VALUE_NONE;
    int rc = 0;

    *ret_usable = false;
    if (whole)
        subgraph_init_copy(&run->candidate, &run->maker.whole);
    else
        rc = candidate_of_nodes(&run->maker, set, &run->candidate, err);
    if (rc == 0) {
        rc = candidate_complete(&run->maker, &run->candidate, &not_a_tensor, err);
        *ret_usable = rc == 0 && (whole || (not_a_tensor == VALUE_NONE && run->candidate.outputs.count > 0));
        if (!*ret_usable)
            subgraph_release(&run->candidate);
    }
    if (rc == ERR_BACKEND && !whole) {
        log_once(run->log, LOG_WARNING, "%s\nThe model is not cut here.", err->message);
        return 0;
    }
    return rc;
}

static int32_t call_oracle(struct model_run *run, const struct polygraphy_progress *progress)
{
    const struct polygraphy_candidate candidate = {.path = run->place.files[CANDIDATE_ARTIFACT].path,
                                                   .inputs_path = run->place.files[CANDIDATE_INPUTS].path,
                                                   .golden_path = run->place.files[CANDIDATE_GOLDEN].path,
                                                   .node_count = bitset_count(&run->candidate.nodes),
                                                   .progress = *progress};

    return run->request->oracle(run->request->context, &candidate);
}

static int ask_about_model(void *data, const struct bitset *set, const struct polygraphy_progress *progress,
                           int32_t *ret_answer, bool *ret_asked, struct error *err)
{
    struct model_run *run = data;
    struct candidate_paths paths;
    int rc = make_model_candidate(run, set, ret_asked, err);

    if (rc < 0 || !*ret_asked)
        return rc;
    rc = candidate_prepare(&run->maker, &run->candidate, err);
    if (rc < 0)
        goto done;
    paths = candidate_place_begin(&run->place, true);
    rc = candidate_write(&run->maker, &run->candidate, &paths, NULL, NULL, err);
    rc = candidate_place_end(&run->place, 0, rc, err);
    if (rc < 0)
        goto done;
    *ret_answer = call_oracle(run, progress);
    candidate_place_forget_moved(&run->place);
    candidate_place_remove(&run->place, run->log);
    if (*ret_answer == POLYGRAPHY_FAILS) {
        if (run->has_bad)
            subgraph_release(&run->bad);
        run->bad = run->candidate;
        run->has_bad = true;
        return 0;
    }
done:
    subgraph_release(&run->candidate);
    return rc;
}

/* ---- Before the search ---- */

static int check_output_path(const struct polygraphy_model_request *request, struct error *err)
{
    if (request->output == NULL)
        return 0;
    if (file_is_folder(request->output))
        return error_set(err, ERR_INVALID, "cannot write the result to '%s': it is a folder", request->output);
    if (!request->replace_output && file_exists(request->output))
        return error_set(err, ERR_EXISTS,
                         "'%s' already exists, refusing to overwrite: move it away, choose another path, or set "
                         "replace_output",
                         request->output);
    return 0;
}

static int check_model_request(const struct polygraphy_model_request *request, struct error *err)
{
    if (request->oracle == NULL)
        return error_set(err, ERR_INVALID, "the request has no oracle");
    if (request->model == NULL)
        return error_set(err, ERR_INVALID, "the request has no model");
    if (request->input_file_count > 0 && request->input_files == NULL)
        return error_set(err, ERR_INVALID, "`input_file_count` is %zu, but `input_files` is NULL",
                         request->input_file_count);
    if (request->custom_op_file_count > 0 && request->custom_op_files == NULL)
        return error_set(err, ERR_INVALID, "`custom_op_file_count` is %zu, but `custom_op_files` is NULL",
                         request->custom_op_file_count);
    return check_output_path(request, err);
}

static const char *data_file(const struct model_run *run, const char *name)
{
    return run->request->write_data ? name : NULL;
}

/* Creates a unique folder, so that no existing files conflict and several searches can run in parallel. */
static int make_folder(struct model_run *run, struct error *err)
{
    const char *parent = run->request->folder != NULL ? run->request->folder : system_temporary_folder();
    char *folder = file_join(parent, "polygraphy-XXXXXX");

    if (mkdtemp(folder) == NULL) {
        int rc = error_set_errno(err, errno == ENOENT ? ERR_MISSING : ERR_IO,
                                 "cannot create a folder for candidates in '%s'", parent);

        free(folder);
        return rc;
    }
    run->folder = folder;
    candidate_place_init(&run->place,
                         &(struct candidate_paths){.items = {[CANDIDATE_ARTIFACT] = "candidate.onnx",
                                                             [CANDIDATE_INPUTS] = data_file(run, "inputs.json"),
                                                             [CANDIDATE_GOLDEN] = data_file(run, "golden.json")}},
                         folder, 0);
    return 0;
}

static void make_cut_settings(struct model_run *run)
{
    const struct polygraphy_model_request *request = run->request;

    run->custom_ops = memory_alloc_zero(request->custom_op_file_count + 1, sizeof(*run->custom_ops));
    for (size_t i = 0; i < request->custom_op_file_count; i++)
        run->custom_ops[i] = request->custom_op_files[i];
    run->runtime = (struct onnxrt_settings){
        .library = request->onnxruntime, .custom_op_libraries = run->custom_ops, .optimization_level = -1};
    run->settings = (struct candidate_settings){
        .cuts_anywhere = true,
        .iteration_inputs = run->place.files[CANDIDATE_INPUTS].path,
        .iteration_golden = run->place.files[CANDIDATE_GOLDEN].path,
        .static_inference = true,
        .random_data = request->input_file_count == 0,
        .backend = &onnxrt_backend,
        .request = {.settings = &run->runtime, .log = run->log},
        .loader = run->loader,
    };
}

/* Loads the model and everything that candidates need. `ret_nodes` gets the number of nodes in its file. */
static int prepare_model_run(struct model_run *run, size_t *ret_nodes, struct error *err)
{
    const struct polygraphy_model_request *request = run->request;
    const struct data_loader_settings data = {
        .seed = request->seed, .iterations = 1, .files = {request->input_files, request->input_file_count}};
    int rc = make_folder(run, err);

    if (rc < 0)
        return rc;
    rc = model_open(request->model, NULL, &run->model, err);
    if (rc < 0)
        return rc;
    *ret_nodes = run->model->nodes.count;
    rc = model_lower_constants(run->model, err);
    if (rc < 0)
        return rc;
    if (run->model->nodes.count == 0)
        return error_set(err, ERR_INVALID, "%s: the model has no nodes: nothing to reduce", run->model->display_name);
    rc = data_loader_new(&data, run->log, &run->loader, err);
    if (rc < 0)
        return rc;
    make_cut_settings(run);
    candidate_maker_init(&run->maker, run->model, &run->settings, run->log);
    run->has_maker = true;
    rc = candidate_files_init(&run->files, run->place.files[CANDIDATE_ARTIFACT].path, false, false, err);
    return rc < 0 ? rc : candidate_files_provide(&run->files, &run->maker.whole, err);
}

/* ---- After the search ---- */

static int save_reduced_model(struct model_run *run, struct error *err)
{
    const struct external_settings inside = {0};
    int rc = candidate_fill(&run->maker, &run->bad, err);
    struct known_types types SCOPED(known_types_release) = {0};
    struct subgraph written;

    /* Check again: hours may have passed since the first check. */
    if (rc == 0)
        rc = check_output_path(run->request, err);
    if (rc < 0)
        return rc;
    written = candidate_assume(&run->maker, &run->bad, &types);
    return model_save(&written, run->request->output, &inside, false, err);
}

static void list_kept_nodes(struct model_run *run, struct polygraphy_model_result *ret)
{
    const struct bitset *nodes = &run->bad.nodes;

    ret->nodes = memory_alloc_zero(bitset_count(nodes), sizeof(*ret->nodes));
    BITSET_EACH (i, nodes) {
        struct text op_type = run->model->nodes.items[i].op_type;

        ret->nodes[ret->node_count++] =
            (struct polygraphy_node){.name = memory_strdup(model_node_label(run->model, (uint32_t)i)),
                                     .op_type = memory_copy(op_type.data, op_type.size)};
    }
}

static void remove_folder(struct model_run *run)
{
    if (run->folder != NULL && rmdir(run->folder) != 0)
        log_message(run->log, LOG_WARNING, "The folder '%s' is not empty and was kept", run->folder);
    free(run->folder);
    candidate_place_release(&run->place);
}

static void release_model_run(struct model_run *run)
{
    if (run->has_bad)
        subgraph_release(&run->bad);
    if (run->has_maker) {
        candidate_files_release(&run->files);
        candidate_maker_release(&run->maker);
    }
    data_loader_free(run->loader);
    free(run->custom_ops);
    model_free(run->model);
    remove_folder(run);
}

/* ---- The whole ---- */

static int search_and_save(struct model_run *run, struct polygraphy_model_result *ret, struct error *err)
{
    struct checked_result found;
    struct dag dag SCOPED(dag_release) = {0};
    int rc;

    node_dag_init(&dag, run->model);
    rc = checked_search_run(
        &(struct checked_search){
            .dag = &dag, .max_checks = run->request->max_checks, .ask = ask_about_model, .data = run},
        &found, err);
    bitset_release(&found.smallest);
    ret->outcome = found.outcome;
    ret->checks = found.checks;
    if (rc == 0 && run->has_bad && run->request->output != NULL) {
        rc = save_reduced_model(run, err);
        ret->written = rc == 0;
    }
    if (run->has_bad)
        list_kept_nodes(run, ret);
    return rc;
}

static void forward_log_line(void *data, enum log_level level, int depth, struct text message)
{
    const struct polygraphy_model_request *request = data;
    char *copy SCOPED_FREE = memory_copy(message.data, message.size);

    (void)depth;
    request->log(request->context, level >= LOG_WARNING ? LOG_WARNING : LOG_INFO, copy);
}

int32_t polygraphy_reduce_model(const struct polygraphy_model_request *request, struct polygraphy_model_result *result,
                                struct polygraphy_error *error)
{
    struct log log = {.threshold = LOG_INFO, .write = forward_log_line, .data = (void *)request};
    struct model_run run = {.request = request, .log = request->log != NULL ? &log : NULL};
    struct error err = {0};
    int rc = check_model_request(request, &err);

    *result = (struct polygraphy_model_result){.outcome = POLYGRAPHY_STOPPED};
    if (rc == 0)
        rc = prepare_model_run(&run, &result->original_node_count, &err);
    if (rc == 0)
        rc = search_and_save(&run, result, &err);
    release_model_run(&run);
    log_release(&log);
    return library_return(rc, &err, error);
}

void polygraphy_model_result_release(struct polygraphy_model_result *result)
{
    for (size_t i = 0; i < result->node_count; i++) {
        free(result->nodes[i].name);
        free(result->nodes[i].op_type);
    }
    free(result->nodes);
    *result = (struct polygraphy_model_result){0};
}
