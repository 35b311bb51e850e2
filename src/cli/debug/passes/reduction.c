/* cli/debug/passes/reduction.c: see reduction.h. */
#include "cli/debug/passes/reduction.h"

#include <stdlib.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/shell_line.h"
#include "cli/debug/outputs.h"
#include "cli/debug/own_check.h"
#include "cli/options/groups.h"
#include "cli/options/runners/disabled.h"
#include "debug/check/words.h"

#define EXIT_STATUS_SAYS_NOTHING "125" /* of a check */

/* The files of one reduction. */
struct paths {
    const char *all_off, *others_off, *off; /* lists of what is disabled */
    const char *model, *tensors, *inputs, *golden;
};

static const char *path_of(const struct reduction_request *request, const char *name)
{
    struct arena *arena = request->subject->arena;

    return request->number > 1 ? arena_printf(arena, "%s/reduced_%zu%s", request->folder, request->number, name)
                               : arena_printf(arena, "%s/reduced%s", request->folder, name);
}

static struct paths paths_of(const struct reduction_request *request)
{
    return (struct paths){.all_off = path_of(request, "_all_off.txt"),
                          .others_off = path_of(request, "_others_off.txt"),
                          .off = path_of(request, "_off.txt"),
                          .model = path_of(request, ".onnx"),
                          .tensors = path_of(request, "_tensors.json"),
                          .inputs = path_of(request, "_inputs.json"),
                          .golden = path_of(request, "_golden.json")};
}

/* Parts have few of the nodes and tensors that decisions are called after. */
static struct words let_miss(struct arena *arena, struct words decisions)
{
    const char **items = arena_alloc_zero(arena, decisions.count + 1, sizeof(*items));

    for (size_t i = 0; i < decisions.count; i++)
        items[i] = disabled_name_has_kind(decisions.items[i])
                       ? arena_printf(arena, "%c%s", NAME_MAY_MISS, decisions.items[i])
                       : decisions.items[i];
    return (struct words){.items = items, .count = decisions.count};
}

static int write_lists(const struct reduction_request *request, const struct paths *paths, struct error *err)
{
    struct arena *arena = request->subject->arena;
    struct words decisions = let_miss(arena, request->decisions);
    int rc = decisions_write(decisions, NULL, paths->all_off, err);

    if (rc == 0)
        rc = decisions_write(decisions, request->culprits, paths->others_off, err);
    return rc == 0 ? decisions_write(let_miss(arena, request->off), NULL, paths->off, err) : rc;
}

static void add_word(struct word_list *words, const char *word)
{
    *VECTOR_APPEND(words) = word;
}

/* Of a command that has to work. */
static int run_command(const struct reduction_request *request, struct word_list *words, const char *list,
                       struct error *err)
{
    struct process_result result;
    int rc = passes_run_command(request->subject, words, list, &result, err);

    if (rc < 0)
        return rc;
    if (result.end != PROCESS_EXITED || result.code != 0)
        rc = error_set(err, ERR_BACKEND, "`polygraphy %s` failed:\n%s", words->items[1],
                       result.error_out.size > 0 ? result.error_out.data : "nothing");
    process_result_release(&result);
    return rc;
}

/* ---- The search ---- */

/* Appends `polygraphy run` of a candidate; placeholders of files stay as they are. */
static void add_run(const struct reduction_request *request, const char *list, bool for_reference,
                    struct string_builder *ret)
{
    struct word_list words SCOPED_ITEMS = {0};

    string_add_format(ret, "%s" CHECK_DISABLED_VARIABLE "=@", ret->size > 0 ? " " : "");
    shell_add_word(ret, list, &(struct shell_quotes){0});
    passes_add_run(request->subject, request->runner, "{artifact}", for_reference, &words);
    for (size_t i = 0; i < words.count; i++)
        if (i == 2)
            string_add(ret, " {artifact}");
        else
            shell_add_argument(ret, words.items[i]);
    string_add(ret, " --load-inputs {inputs}");
}

/* Not what the whole model is compared with. */
static void add_tolerance(const struct reduction_request *request, struct word_list *ret)
{
    static const char *const except[] = {"--load-outputs", NULL};

    parse_add_given_of_group(request->subject->context->parse, &comparison_options, except, ret);
    own_check_add_equalities(request->subject->context->parse, ret);
}

/* With the culprits on and all else off, does it differ from all off? A part that does not even run with all off says
 * nothing. */
static void add_check(const struct reduction_request *request, const struct paths *paths, struct string_builder *ret)
{
    struct word_list tolerance SCOPED_ITEMS = {0};

    add_run(request, paths->all_off, true, ret);
    string_add(ret, " --save-outputs {artifact}.golden.json || exit " EXIT_STATUS_SAYS_NOTHING ";");
    add_run(request, paths->others_off, false, ret);
    string_add(ret, " --load-outputs {artifact}.golden.json");
    add_tolerance(request, &tolerance);
    for (size_t i = 0; i < tolerance.count; i++)
        shell_add_argument(ret, tolerance.items[i]);
}

/* ONNX Runtime, which computes what the inputs of a part hold: as the model is written. */
static void add_runtime(const struct reduction_request *request, bool reduces, struct word_list *ret)
{
    static const char *const except[] = {"--providers",
                                         "--provider-options",
                                         "--onnxrt-provider-library",
                                         "--onnxrt-optimization-level",
                                         "--onnxrt-disable-optimizers",
                                         "--session-config",
                                         NULL};

    if (!reduces)
        add_word(ret, "--onnxrt");
    add_word(ret, "--onnxrt-optimization-level");
    add_word(ret, "none");
    parse_add_given_of_group(request->subject->context->parse, &onnxrt_options, except, ret);
}

/* What the command line says of input data, as a file. */
static int save_inputs(const struct reduction_request *request, const struct paths *paths, const char **ret,
                       struct error *err)
{
    struct word_list words SCOPED_ITEMS = {0};

    *ret = arena_printf(request->subject->arena, "%s/inputs.json", request->folder);
    passes_add_run(request->subject, request->runner, request->subject->model, true, &words);
    data_loader_add_words(request->subject->context->parse, &words);
    add_word(&words, "--save-inputs");
    add_word(&words, *ret);
    return run_command(request, &words, paths->all_off, err);
}

/* With files of the session in `folder`. Writes why there is no part, or NULL. */
static int search_part(const struct reduction_request *request, const struct paths *paths, const char *folder,
                       const char **ret_why_not, struct error *err)
{
    struct arena *arena = request->subject->arena;
    struct process_result result;
    SCOPED_STRING(check);
    struct word_list words = {0};
    int rc;

    add_check(request, paths, &check);
    add_word(&words, "polygraphy");
    add_word(&words, "debug");
    add_word(&words, "reduce");
    add_word(&words, request->subject->model);
    add_word(&words, "-o");
    add_word(&words, paths->model);
    add_word(&words, "--mode");
    add_word(&words, "minimal");
    add_word(&words, "--exit-code");
    add_word(&words, "--load-inputs");
    add_word(&words, request->inputs);
    add_word(&words, "--iter-artifact");
    add_word(&words, arena_printf(arena, "%s/candidate.onnx", folder));
    add_word(&words, "--iter-inputs");
    add_word(&words, arena_printf(arena, "%s/inputs.json", folder));
    add_word(&words, "--save-debug-replay");
    add_word(&words, arena_printf(arena, "%s/replay.json", folder));
    add_runtime(request, true, &words);
    add_word(&words, "--check");
    add_word(&words, check.data);
    rc = passes_run_command(request->subject, &words, paths->all_off, &result, err);
    free(words.items);
    if (rc < 0)
        return rc;
    if (result.end == PROCESS_EXITED && result.code == EXIT_STATUS_NOT_REPRODUCED)
        *ret_why_not = "with only these enabled, the outputs do not differ";
    else if (result.end != PROCESS_EXITED || result.code != 0)
        *ret_why_not = arena_printf(arena, "`polygraphy debug reduce` failed:\n%s",
                                    result.error_out.size > 0 ? result.error_out.data : "nothing");
    process_result_release(&result);
    return 0;
}

/* ---- The answer ---- */

static bool has_input(const struct model *model, struct text name)
{
    for (size_t i = 0; i < model->inputs.count; i++)
        if (text_equal(model->values.items[model->inputs.items[i]].name, name))
            return true;
    return false;
}

/* An input of the part as a word of a command. One that begins with '-' would be an option, and some write files. */
static int add_input(const struct reduction_request *request, const struct paths *paths, struct text name,
                     struct word_list *ret, struct error *err)
{
    const char *word = arena_text(request->subject->arena, name);

    if (word[0] == '-')
        return error_set(err, ERR_UNSUPPORTED,
                         "the subgraph '%s' has the input '%s', for which no data can be computed: commands would "
                         "treat that name as an option",
                         paths->model, word);
    add_word(ret, word);
    return 0;
}

/* What inputs of the part hold that are none of the whole model. `*ret`: there are some. */
static int compute_tensors(const struct reduction_request *request, const struct paths *paths,
                           const struct model *whole, const struct model *part, bool *ret, struct error *err)
{
    struct word_list words = {0};
    size_t before;
    int rc = 0;

    add_word(&words, "polygraphy");
    add_word(&words, "run");
    add_word(&words, request->subject->model);
    add_runtime(request, false, &words);
    add_word(&words, "--load-inputs");
    add_word(&words, request->inputs);
    add_word(&words, "--save-outputs");
    add_word(&words, paths->tensors);
    add_word(&words, "--onnx-outputs");
    before = words.count;
    for (size_t i = 0; rc == 0 && i < part->inputs.count; i++) {
        struct text name = part->values.items[part->inputs.items[i]].name;

        if (!has_input(whole, name))
            rc = add_input(request, paths, name, &words, err);
    }
    *ret = words.count > before;
    if (rc == 0 && *ret)
        rc = run_command(request, &words, paths->all_off, err);
    free(words.items);
    return rc;
}

static int make_inputs(const struct reduction_request *request, const struct paths *paths, const struct model *whole,
                       const struct model *part, struct error *err)
{
    struct word_list words = {0};
    bool has_tensors;
    int rc = compute_tensors(request, paths, whole, part, &has_tensors, err);

    if (rc < 0)
        return rc;
    add_word(&words, "polygraphy");
    add_word(&words, "data");
    add_word(&words, "merge");
    add_word(&words, request->inputs);
    if (has_tensors)
        add_word(&words, paths->tensors);
    add_word(&words, "-o");
    add_word(&words, paths->inputs);
    add_word(&words, "--only");
    for (size_t i = 0; rc == 0 && i < part->inputs.count; i++)
        rc = add_input(request, paths, part->values.items[part->inputs.items[i]].name, &words, err);
    if (rc == 0)
        rc = run_command(request, &words, paths->all_off, err);
    free(words.items);
    return rc;
}

static int make_golden(const struct reduction_request *request, const struct paths *paths, struct error *err)
{
    struct word_list words SCOPED_ITEMS = {0};

    passes_add_run(request->subject, request->runner, paths->model, true, &words);
    add_word(&words, "--load-inputs");
    add_word(&words, paths->inputs);
    add_word(&words, "--save-outputs");
    add_word(&words, paths->golden);
    return run_command(request, &words, paths->all_off, err);
}

static struct word_list comparison_of(const struct reduction_request *request, const struct paths *paths)
{
    struct word_list ret = {0};

    passes_add_run(request->subject, request->runner, paths->model, false, &ret);
    add_word(&ret, "--load-inputs");
    add_word(&ret, paths->inputs);
    add_word(&ret, "--load-outputs");
    add_word(&ret, paths->golden);
    add_tolerance(request, &ret);
    return ret;
}

/* Compares the part with its golden outputs. `*ret`: whether the exit status is `expected`. */
static int compare_part(const struct reduction_request *request, const struct paths *paths, const char *list,
                        int expected, bool *ret, struct error *err)
{
    struct word_list words = comparison_of(request, paths);
    struct process_result result;
    int rc = passes_run_command(request->subject, &words, list, &result, err);

    free(words.items);
    if (rc < 0)
        return rc;
    *ret = result.end == PROCESS_EXITED && result.code == expected;
    process_result_release(&result);
    return 0;
}

static const char *command_line(const struct reduction_request *request, const struct paths *paths)
{
    struct word_list words SCOPED_ITEMS = comparison_of(request, paths);
    SCOPED_STRING(line);

    string_add(&line, CHECK_DISABLED_VARIABLE "=@");
    shell_add_word(&line, paths->others_off, &(struct shell_quotes){0});
    for (size_t i = 0; i < words.count; i++)
        shell_add_argument(&line, words.items[i]);
    return arena_strdup(request->subject->arena, line.data);
}

static int look_at_both_sides(const struct reduction_request *request, const struct paths *paths,
                              struct passes_reduction *ret, struct error *err)
{
    struct model *whole SCOPED(model_free_pointed) = NULL, *part SCOPED(model_free_pointed) = NULL;
    int rc = model_open(request->subject->model, NULL, &whole, err);

    if (rc < 0)
        return rc;
    rc = model_open(paths->model, NULL, &part, err);
    if (rc < 0)
        return rc;
    rc = make_inputs(request, paths, whole, part, err);
    if (rc < 0)
        return rc;
    rc = make_golden(request, paths, err);
    if (rc < 0)
        return rc;
    rc = compare_part(request, paths, paths->others_off, 1, &ret->alone_fails, err);
    if (rc < 0)
        return rc;
    rc = compare_part(request, paths, paths->off, 0, &ret->without_passes, err);
    if (rc < 0)
        return rc;
    ret->command = command_line(request, paths);
    ret->original_nodes = whole->nodes.count;
    for (uint32_t i = 0; i < part->nodes.count; i++) {
        VECTOR_APPEND(&ret->nodes);
        ret->nodes.items[i].name = arena_strdup(request->subject->arena, model_node_label(part, i));
        ret->nodes.items[i].op_type = arena_text(request->subject->arena, part->nodes.items[i].op_type);
    }
    return rc;
}

static int reduce_part(const struct reduction_request *given, const struct paths *paths, struct passes_reduction *ret,
                       struct error *err)
{
    struct reduction_request request = *given;
    struct error ignored;
    char *folder;
    int rc = write_lists(&request, paths, err);

    if (rc == 0 && request.inputs == NULL)
        rc = save_inputs(&request, paths, &request.inputs, err);
    if (rc < 0)
        return rc;
    rc = file_make_temporary_folder("passes", &folder, err);
    if (rc < 0)
        return rc;
    rc = search_part(&request, paths, folder, &ret->why_not, err);
    file_remove_tree(folder, &ignored);
    free(folder);
    return rc < 0 || ret->why_not != NULL ? rc : look_at_both_sides(&request, paths, ret, err);
}

int passes_reduce(const struct reduction_request *request, struct passes_reduction *ret, struct error *err)
{
    const struct paths paths = paths_of(request);
    struct error why;
    int rc;

    *ret = (struct passes_reduction){.model = paths.model, .inputs = paths.inputs, .golden = paths.golden};
    rc = reduce_part(request, &paths, ret, &why);
    if (rc != ERR_BACKEND && rc != ERR_UNSUPPORTED) {
        if (rc < 0)
            *err = why;
        return rc;
    }
    ret->why_not = arena_strdup(request->subject->arena, why.message);
    return 0;
}
