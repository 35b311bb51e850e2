/* cli/debug/check_data.c: see check_data.h. */
#include "cli/debug/check_data.h"

#include <stdlib.h>
#include <string.h>

#include "base/container/name_map.h"
#include "base/file/file.h"
#include "cli/commands.h"
#include "cli/run/settings.h"
#include "cli/parse/parser.h"
#include "debug/check/check.h"
#include "debug/reduce/reduce.h"
#include "format/data/file.h"
#include "onnx/model/subgraph.h"

/* ---- The check's own command line ---- */

/* Words of the check, NULL-terminated, in the arena. NULL if it is a shell line with more than words. */
static const char **list_words(const struct check_settings *check, struct arena *arena, size_t *ret_count)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,@%+={}[] ";
    const char **words, *line = check->command.items[0];
    char *state = NULL;

    if (!check->shell) {
        *ret_count = check->command.count;
        return (const char **)check->command.items;
    }
    if (line[strspn(line, plain)] != '\0')
        return NULL;
    words = arena_alloc_zero(arena, strlen(line) / 2 + 2, sizeof(*words));
    *ret_count = 0;
    for (char *word = strtok_r(arena_strdup(arena, line), " ", &state); word != NULL;
         word = strtok_r(NULL, " ", &state))
        words[(*ret_count)++] = word;
    return words;
}

/* Parses the check as `polygraphy run`; false if it is another command, or not valid. `parse` is initialized in any
 * case. */
static bool read_check(const struct command_context *context, const struct check_settings *check, struct parse *parse)
{
    struct error ignored;
    const char **words;
    size_t count = 0;
    char *name SCOPED_FREE = NULL;
    bool ret;

    parse_init(parse, context->parse->path[0]);
    if (check->command.count == 0)
        return false;
    words = list_words(check, parse_arena(parse), &count);
    if (words == NULL || count == 0)
        return false;
    name = file_basename(words[0]);
    ret = strcmp(name, "polygraphy") == 0;
    return ret && parse_words(parse, count - 1, words + 1, &ignored) == PARSE_DONE &&
           parse_command(parse) == &cmd_run && parse_finish_group(parse, &runner_options, &ignored) == 0 &&
           parse_finish_group(parse, &onnx_load_outputs_options, &ignored) == 0 &&
           parse_finish_group(parse, &data_loader_options, &ignored) == 0 &&
           parse_finish_group(parse, &comparison_options, &ignored) == 0;
}

/* ---- What the files hold ---- */

static bool is_written_for_each(const char *path, const char *written, const char *placeholder)
{
    return strcmp(path, placeholder) == 0 ||
           (written != NULL && strcmp(path + (strncmp(path, "./", 2) == 0 ? 2 : 0),
                                      written + (strncmp(written, "./", 2) == 0 ? 2 : 0)) == 0);
}

/* Adds the names that all iterations contain. */
static void add_names(struct name_map *names, struct arena *arena, const struct tensor_list *const *iterations,
                      size_t count)
{
    for (size_t i = 0; count > 0 && i < iterations[0]->count; i++) {
        const char *name = iterations[0]->items[i].name;
        bool everywhere = true;

        for (size_t k = 1; everywhere && k < count; k++) /* mostly at the same index */
            everywhere = (i < iterations[k]->count && strcmp(iterations[k]->items[i].name, name) == 0) ||
                         tensor_list_find(iterations[k], text_of(name)) != NULL;
        if (everywhere)
            name_map_add(names, text_of(arena_strdup(arena, name)), 0);
    }
}

/* Possible outputs of subgraphs, which are outputs of nodes; and possible inputs, which are those with consumers. */
struct made {
    struct value_list all, inner;
};

struct look {
    const struct command_context *context;
    const struct debug_reduce_settings *settings;
    const struct reduce_settings *reduce;
    const struct candidate_paths *files; /* default paths */
    struct model *model;
    struct made made;
    struct arena arena;
    struct name_map outputs;  /* names in a file that does not depend on the candidate, */
    const char *outputs_path; /* the path of that file; NULL: none */
    const char *inputs_path;  /* of files of inputs, the one with the fewest possible inputs; or NULL */
    size_t inputs_held;       /* number of possible inputs in it */
};

/* Number of these values among the names. */
static size_t count_held(const struct look *look, const struct name_map *names, const struct value_list *values)
{
    size_t ret = 0;

    for (size_t i = 0; i < values->count; i++)
        ret += name_map_find(names, look->model->values.items[values->items[i]].name) != NAME_MAP_NONE;
    return ret;
}

/* Reads the results that the check compares with: the first file that is loaded. (Others are compared with each other,
 * independent of the candidate.) Errors are left to the check. */
static void read_outputs(struct look *look, const struct comparison_values *comparison)
{
    struct run_results results SCOPED(run_results_release) = {0};

    for (size_t i = 0; results.count == 0 && i < comparison->load_outputs.count; i++) {
        const char *path = comparison->load_outputs.items[i];

        if (is_written_for_each(path, look->files->items[CANDIDATE_GOLDEN],
                                check_words_placeholder(CANDIDATE_GOLDEN)) ||
            data_file_add_results(&results, path, NULL) < 0)
            return;
        look->outputs_path = path;
    }
    if (results.count > 0 && results.items[0].count > 0) {
        const struct runner_results *first = &results.items[0];
        const struct tensor_list **iterations = arena_alloc_zero(&look->arena, first->count, sizeof(*iterations));

        for (size_t i = 0; i < first->count; i++)
            iterations[i] = &first->items[i].outputs;
        add_names(&look->outputs, &look->arena, iterations, first->count);
    } else {
        look->outputs_path = NULL;
    }
}

/* Records the names in iterations that are run unchanged, and empties them. */
static void note_inputs(struct look *look, struct feed_dicts *feeds, const char *path)
{
    const struct tensor_list **iterations = arena_alloc_zero(&look->arena, feeds->count + 1, sizeof(*iterations));
    SCOPED_NAME_MAP(names);
    size_t held;

    for (size_t k = 0; k < feeds->count; k++)
        iterations[k] = &feeds->items[k];
    add_names(&names, &look->arena, iterations, feeds->count);
    held = count_held(look, &names, &look->made.inner);
    if (feeds->count > 0 && (look->inputs_path == NULL || held < look->inputs_held)) {
        look->inputs_path = path;
        look->inputs_held = held;
    }
    feed_dicts_release(feeds);
}

/* Every iteration of every file is run. Arrays that are named singly form one iteration. */
static void read_inputs(struct look *look, const struct data_loader_settings *data)
{
    struct feed_dicts feeds = {0};

    for (size_t i = 0; i < data->files.count; i++) {
        const char *path = data->files.items[i];

        if (is_written_for_each(path, look->files->items[CANDIDATE_INPUTS],
                                check_words_placeholder(CANDIDATE_INPUTS)) ||
            data_file_add_inputs(&feeds, path, NULL) < 0)
            continue;
        if (!feeds.takes_more || i + 1 == data->files.count)
            note_inputs(look, &feeds, path);
    }
    note_inputs(look, &feeds, "");
}

/* ---- What parts of the model need ---- */

static void list_made(const struct model *model, struct made *ret)
{
    SCOPED_BITSET(outputs);

    value_list_to_set(&model->outputs, model->values.count, &outputs);
    for (size_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < model->nodes.items[i].outputs.count; k++) {
            uint32_t value = model_edge(model, model->nodes.items[i].outputs, k);

            if (value == VALUE_NONE)
                continue;
            value_list_add(&ret->all, value);
            if (!bitset_has(&outputs, value))
                value_list_add(&ret->inner, value);
        }
}

static int refuse_foreign(const struct look *look, struct error *err)
{
    SCOPED_STRING(outputs);

    for (size_t i = 0; i < look->model->outputs.count; i++)
        string_add_format(&outputs, "%s'" TEXT_FORMAT "'", i > 0 ? ", " : "",
                          TEXT_ARGS(look->model->values.items[look->model->outputs.items[i]].name));
    return error_set(err, ERR_INVALID,
                     "--check: '%s' contains none of the outputs of '%s' ([%s]), so nothing can be compared: create "
                     "the file with `polygraphy run --save-outputs` from this model",
                     look->outputs_path, look->settings->file.model.path, outputs.data);
}

static void warn_of_missing(const struct look *look, bool cuts_inputs, bool cuts_outputs)
{
    const struct made *made = &look->made;
    size_t outputs = count_held(look, &look->outputs, &made->all);
    bool lacks_inputs = look->inputs_path != NULL && cuts_inputs && look->inputs_held < made->inner.count;
    bool lacks_outputs = look->outputs_path != NULL && cuts_outputs && outputs < made->all.count;
    SCOPED_STRING(text);

    if (!lacks_inputs && !lacks_outputs)
        return;
    if (lacks_outputs)
        string_add_format(&text, "'%s' contains %zu of the %zu possible output tensors of subgraphs",
                          look->outputs_path, outputs, made->all.count);
    if (lacks_inputs)
        string_add_format(&text, "%s'%s' contains %zu of the %zu possible input tensors%s", lacks_outputs ? ", " : "",
                          look->inputs_path, look->inputs_held, made->inner.count,
                          lacks_outputs ? "" : " of subgraphs");
    log_message(look->context->log, LOG_WARNING, "The check lacks data for some subgraphs, which are skipped: %s. %s",
                text.data,
                look->reduce->mode == REDUCE_MINIMAL
                    ? "Pass --iter-inputs IN --iter-golden OUT to write both for each subgraph, and --load-inputs IN "
                      "--load-outputs OUT in the check"
                    : "To save all of them: `run --onnxrt --onnx-outputs mark all --save-inputs IN --save-outputs "
                      "OUT`, `data merge IN OUT -o ALL`, and --load-inputs ALL --load-outputs OUT in the check; or "
                      "--mode minimal with --iter-inputs and --iter-golden");
}

/* Generated data depend on all inputs of a model, so those of a subgraph differ. */
static int consider_generated_data(const struct look *look, bool *ret_keep_inputs, struct error *err)
{
    if (look->model->inputs.count <= 1 && look->reduce->mode != REDUCE_MINIMAL) {
        *ret_keep_inputs = look->reduce->reduce_inputs;
        if (*ret_keep_inputs)
            log_message(look->context->log, LOG_WARNING,
                        "Inputs are not cut: the check compares with --load-outputs but generates its input data, so "
                        "that subgraphs would be compared with outputs for other data. Pass --load-inputs in the check "
                        "to cut inputs as well");
        return 0;
    }
    return error_set(err, ERR_INVALID,
                     "--check: it compares with --load-outputs but generates its input data, so that subgraphs would "
                     "be compared with outputs for other data. %s",
                     look->reduce->mode == REDUCE_MINIMAL
                         ? "Pass --iter-inputs in.json here, and --load-inputs in.json in the check"
                         : "Pass --load-inputs with the file of `run --save-inputs` in the check");
}

static int consider_option(struct look *look, const struct parse *check, bool *ret_keep_inputs, struct error *err)
{
    const struct run_settings *settings = check->settings;
    const struct onnx_load_values *load = &settings->file.load;
    const struct comparison_values *comparison = &settings->comparison;
    const struct data_loader_settings *data = &settings->file.data;
    int rc = 0;

    if (settings->runners.names.count == 0)
        return 0;
    list_made(look->model, &look->made);
    read_inputs(look, data);
    if (load->outputs.names.count == 0)
        read_outputs(look, comparison);
    if (look->outputs_path != NULL && count_held(look, &look->outputs, &look->model->outputs) == 0 &&
        (look->reduce->verify || count_held(look, &look->outputs, &look->made.all) == 0) && !load->outputs.mark_all)
        rc = refuse_foreign(look, err);
    if (rc == 0 && comparison->load_outputs.count > 0 && data->files.count == 0)
        rc = consider_generated_data(look, ret_keep_inputs, err);
    if (rc == 0)
        warn_of_missing(look, look->reduce->reduce_inputs && !*ret_keep_inputs, look->reduce->reduce_outputs);
    return rc;
}

int check_data_look(const struct command_context *context, const struct debug_reduce_settings *settings,
                    struct model *model, bool *ret_keep_inputs, struct error *err)
{
    struct look look = {.context = context,
                        .settings = settings,
                        .reduce = &settings->reduce,
                        .files = &settings->debug.session.check.files,
                        .model = model};
    struct parse check;
    int rc = 0;

    *ret_keep_inputs = false;
    arena_init(&look.arena);
    name_map_init(&look.outputs);
    if (read_check(context, &settings->debug.session.check, &check))
        rc = consider_option(&look, &check, ret_keep_inputs, err);
    parse_release(&check);
    name_map_release(&look.outputs);
    arena_release(&look.arena);
    free(look.made.inner.items);
    free(look.made.all.items);
    return rc;
}
