/* cli/debug/passes.c: find the optimizations that make a model wrong. */
#include "debug/passes/passes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/identity.h"
#include "base/memory.h"
#include "base/system.h"
#include "cli/commands.h"
#include "cli/debug/own_check.h"
#include "cli/debug/passes/barriers.h"
#include "cli/debug/passes/refused.h"
#include "cli/debug/passes/result.h"
#include "cli/debug/passes/runner.h"
#include "cli/debug/outputs.h"
#include "cli/debug/session.h"
#include "cli/options/groups.h"
#include "cli/run/model.h"
#include "cli/trt.h"
#include "debug/candidate/hash.h"
#include "debug/check/words.h"
#include "debug/record/result_folder.h"
#include "onnx/external/data.h"

static void list_results(const struct parse *parse, struct word_list *ret)
{
    static const char *const names[] = {"all_off.txt", "off.txt", "kernels.json", "rewritten.onnx",
                                        "rewritten_without.onnx"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        *VECTOR_APPEND(ret) = names[i];
    if (!own_check_list_results(parse, ret) && parse_given(parse, "--reduce") != NULL)
        *VECTOR_APPEND(ret) = "inputs.json";
    if (parse_given(parse, "--reduce") != NULL)
        *VECTOR_APPEND(ret) = "reduced*";
}

#define ROW(member, ...) OPTION_ROW(struct debug_passes_settings, member, __VA_ARGS__)

static const struct option passes_rows[] = {
    ROW(folder, .names = {"-o", "--output"}, .kind = OPTION_ONE, .value_name = "FOLDER",
        .fallback = "polygraphy_passes", .file = OPTION_WRITES_RESULTS, .list_results = list_results,
        .help = "folder for the model as the runtime rewrites it with and without the culprits and, without --check, "
                "for input data and the reference's outputs"),
    ROW(decisions, .names = {"--decisions"}, .kind = OPTION_MANY, .value_name = "NAME", .append = true,
        .help =
            "optimizations to try, in place of those that the runner reports: names of ONNX Runtime's optimizers, "
            "entries of its session configuration that disable something, as KEY=VALUE; assignment:OPERATOR@NODE for "
            "a node that a provider runs; fusion:KIND@NODE and the like of the built-in engine; "
            "route:-KNOB=VALUE of TensorRT; across:TENSOR of each; or a kind of --among for all of its names"),
    ROW(among, .names = {"--among"}, .kind = OPTION_MANY, .value_name = "KIND", .append = true,
        .help = "kinds of optimizations to try. ONNX Runtime: optimizers, settings, threads, barriers, "
                "assignment (which nodes a provider of --providers runs); TensorRT: "
                "routes, barriers; built-in engine: tactics, layouts, foldings, fusions, barriers. A barrier is a "
                "tensor across which nothing is optimized, which shows where the failure arises. The default is all "
                "kinds but assignment, and barriers only where no other kind names places"),
    ROW(reduce, .names = {"--reduce"}, .kind = OPTION_FLAG,
        .help = "also run `debug reduce` to find the smallest subgraph in which the culprits alone make a difference; "
                "it goes to the folder, with data and the command that reproduces the failure"),
    JOBS_ROW(struct debug_passes_settings, "", ""),
};

/* Separators of names cannot be part of a name. */
static int finish_passes(struct parse *parse, void *given, struct error *err)
{
    struct debug_passes_settings *settings = given;
    const struct words *names = &settings->decisions;
    const char *disabled = getenv(CHECK_DISABLED_VARIABLE);
    struct words *runners = &settings->runners.names;
    static const char *const usual[] = {"onnxrt", NULL};

    if (runners->count == 0)
        *runners = (struct words){.items = usual, .count = 1};
    if (runners->count > 1 || strcmp(runners->items[0], "runner") == 0)
        return error_set(err, ERR_INVALID,
                         "debug passes examines one runner, --onnxrt (the default) or --trt. For other programs, pass "
                         "--decisions and a --check that disables what {disabled} names");
    if (names->count > 0 && settings->among.count > 0)
        return error_set(err, ERR_INVALID,
                         "--among: --decisions already names what is tried; leave out one of the two options");
    for (size_t i = 0; i < names->count; i++)
        if (names->items[i][0] == '\0' || names->items[i][0] == '=' || strpbrk(names->items[i], ";\n") != NULL)
            return error_set(
                err, ERR_INVALID,
                "--decisions: '%s' is not valid: expected a name or KEY=VALUE, without ';' and line breaks",
                names->items[i]);
    if (settings->reduce && parse_given(parse, "--check"))
        return error_set(
            err, ERR_INVALID,
            "--reduce: a --check names its model itself, so it cannot check a subgraph. Leave --reduce out, and pass "
            "the culprits to `polygraphy debug reduce` with a check that sets " CHECK_DISABLED_VARIABLE);
    if (disabled != NULL && *disabled != '\0')
        return error_set(err, ERR_INVALID,
                         CHECK_DISABLED_VARIABLE " is set, but debug passes sets this variable for its checks. Unset "
                                                 "it; to keep optimizers disabled, pass --onnxrt-disable-optimizers");
    return jobs_check(parse, &settings->debug.session, false, err);
}

static const struct option_group passes_options = {
    .title = "Decisions",
    OPTION_ROWS(passes_rows),
    .finish = finish_passes,
};

struct passes_command {
    const struct command_context *context;
    const struct debug_passes_settings *values;
    const struct passes_runner *runner;
    struct passes_subject subject;
    struct session_settings session_settings;
    struct debug_outputs outputs;
    struct debug_session *session;
    struct decisions decisions;
    struct decisions barriers; /* tried if the cause is not among the decisions */
    struct word_list refused;  /* optimizations that cannot be disabled together with these */
    struct own_check check;    /* the default check, unless --check is given */
    struct passes_result result;
};

static struct words decisions_of(const struct passes_command *command)
{
    return (struct words){.items = command->decisions.names.items, .count = command->decisions.names.count};
}

/* ---- The runner ---- */

static int choose_runner(struct passes_command *command, struct error *err)
{
    static const struct option_group *const of_engines[] = {&engine_config_options, &engine_network_options,
                                                            &tensorrt_options};
    const struct command_context *context = command->context;
    /* A --check may only build. */
    enum trt_need need = parse_given(context->parse, "--check") != NULL ? TRT_BUILDS : TRT_RUNS;
    const struct tensorrt_description *library;
    int rc = run_model_refuse_idle(context, &command->values->runners, of_engines, ARRAY_LEN(of_engines), err);

    if (rc < 0)
        return rc;
    command->runner = &onnxrt_passes_runner;
    if (!run_model_has_runner(&command->values->runners, &engine_backend))
        return 0;
    rc = trt_choose(context->log, command->subject.model, need, &library, err);
    if (rc == 0)
        command->runner = library != NULL ? &tensorrt_passes_runner : &builtin_passes_runner;
    return rc;
}

/* ---- The check ---- */

/* Appends `polygraphy run` of the model, with the user's options. */
static void add_run(const struct passes_command *command, bool for_reference, struct word_list *words)
{
    const struct parse *parse = command->context->parse;

    passes_add_run(&command->subject, command->runner, parse_positional_word(parse, "model_file"), for_reference,
                   words);
    parse_add_given_of_group(parse, &convert_model_options, NULL, words);
}

/* Path of the list of all tried optimizations. */
static const char *list_path(const struct passes_command *command)
{
    return arena_printf(command->subject.arena, "%s/all_off.txt", command->values->folder);
}

/* Computes the reference: the model with all tried optimizations disabled. */
static int make_reference(struct passes_command *command, struct error *err)
{
    struct arena *arena = command->subject.arena;
    const char *const *option = command->runner->reference_option;
    const char *list = list_path(command);
    const char *how = option != NULL
                          ? arena_printf(arena, "with %s %s and all tried optimizations disabled", option[0], option[1])
                          : "with all tried optimizations disabled";
    const char *const environment[] = {"POLYGRAPHY_ITERATION=0",
                                       arena_printf(arena, CHECK_DISABLED_VARIABLE "=@%s", list), NULL};
    struct word_list words SCOPED_ITEMS = {0};
    int rc = decisions_write(decisions_of(command), NULL, list, err);

    if (rc < 0)
        return rc;
    log_message(command->context->log, LOG_INFO, "The reference is the model in %s, %s", command->runner->name, how);
    add_run(command, true, &words);
    return own_check_make_reference(&command->check, &words, environment,
                                    arena_printf(arena, "'%s' %s", command->subject.model, how), err);
}

/* Removes optimizations without which the model does not run. */
static int leave_out_refused(struct passes_command *command, struct error *err)
{
    struct word_list words SCOPED_ITEMS = {0};

    add_run(command, true, &words);
    data_loader_add_words(command->context->parse, &words);
    return refused_leave_out(&command->subject, &words, list_path(command), &command->decisions, &command->refused,
                             err);
}

/* Computes the reference, or at least verifies that the model runs with all tried optimizations disabled. */
static int prepare_end(struct passes_command *command, struct error *err)
{
    struct error why;
    int rc = make_reference(command, &why);

    if (rc == 0)
        return 0;
    if (why.code == ERR_BACKEND) {
        rc = leave_out_refused(command, err);
        if (rc < 0)
            return rc;
    }
    if (command->refused.count > 0 && command->decisions.names.count > 0)
        return make_reference(command, err);
    *err = why;
    return why.code;
}

/* If the user's options equal the reference's, only settings could differ; --among requests these. */
static int refuse_equal_ends(const struct passes_command *command, struct error *err)
{
    const struct parse *parse = command->context->parse;
    const char *const *option = command->runner->reference_option;
    const struct debug_passes_settings *values = command->values;

    if (option == NULL || parse_given(parse, option[0]) == NULL || values->decisions.count > 0 ||
        values->among.count > 0 || strcmp(parse_last_word(parse, option[0]), option[1]) != 0)
        return 0;
    return error_set(err, ERR_INVALID,
                     "reference and suspect are the same: both have %s %s. Leave the option out to find optimizations "
                     "that make the difference, or pass --among settings threads",
                     option[0], option[1]);
}

/* Without --check: compares the model with the reference. */
static int make_check(struct passes_command *command, struct error *err)
{
    struct check_settings *settings = &command->session_settings.check;
    int rc;

    if (settings->command.count > 0)
        return own_check_refuse(command->context, err);
    rc = parse_given(command->context->parse, "--load-outputs") == NULL ? refuse_equal_ends(command, err) : 0;
    if (rc < 0)
        return rc;
    rc = own_check_begin(command->context, command->values->folder, &command->check, err);
    if (rc < 0)
        return rc;
    add_run(command, false, &command->check.words);
    rc = own_check_needs_reference(&command->check) ? prepare_end(command, err) : leave_out_refused(command, err);
    if (rc == 0 && command->decisions.names.count == 0)
        rc = error_set(err, ERR_UNSUPPORTED,
                       "nothing to search: none of the optimizations to try can be disabled ('%s'%s)",
                       command->refused.items[0], command->refused.count > 1 ? " and others" : "");
    own_check_finish(&command->check, settings);
    return rc;
}

/* ---- What was found ---- */

/* The optimizations to disable. */
static struct words list_off(const struct passes_command *command, struct words decisions)
{
    const struct bitset *off = &command->result.off;
    const char **items = arena_alloc_zero(command->subject.arena, bitset_count(off) + 1, sizeof(*items));
    size_t count = 0;

    BITSET_EACH (i, off)
        items[count++] = decisions.items[i];
    return (struct words){.items = items, .count = count};
}

/* Runs the check without the culprits, with the kernels that layers have with them. */
static int force_kernels(const struct passes_command *command, struct words off, struct other_kernels *ret,
                         struct error *err)
{
    const struct own_check *check = &command->check;
    const char *list = arena_printf(command->subject.arena, "%s/off.txt", command->values->folder);
    struct process_result result;
    struct word_list words = {0};
    int rc = decisions_write(off, NULL, list, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; check->words.items[i] != NULL; i++)
        *VECTOR_APPEND(&words) = check->words.items[i];
    *VECTOR_APPEND(&words) = "--load-tactics";
    *VECTOR_APPEND(&words) = ret->replay;
    rc = passes_run_command(&command->subject, &words, list, &result, err);
    free(words.items);
    if (rc < 0)
        return rc;
    if (result.end == PROCESS_EXITED && result.code <= 1)
        ret->evidence = result.code == 0 ? KERNELS_FORCED_PASS : KERNELS_FORCED_FAIL;
    else
        ret->why_not = "the check with them did not compare outputs";
    process_result_release(&result);
    return 0;
}

/* Tests whether the kernels are the cause, if the check allows it. */
static void check_kernels(const struct passes_command *command, struct words off, struct other_kernels *ret)
{
    const struct check_settings *check = &command->session_settings.check;
    struct error error;

    if (ret->evidence != KERNELS_NOT_ASKED && command->check.words.count == 0)
        *ret = (struct other_kernels){.evidence = KERNELS_NOT_RULED_OUT,
                                      .why_not = "the kernels that a --check runs are unknown"};
    else if (ret->replay != NULL && check->rules.flaky)
        ret->why_not = "one run of a flaky check is not enough";
    else if (ret->replay != NULL && force_kernels(command, off, ret, &error) < 0)
        ret->why_not = arena_strdup(command->subject.arena, error.message);
}

/* Whether both are optimizers, or both fusions: a setting or a kernel replaces no nodes, and acts everywhere. */
static bool are_of_one_kind(const char *a, const char *b)
{
    const char *kind_of_a = strpbrk(a, ":="), *kind_of_b = strpbrk(b, ":=");

    if (kind_of_a == NULL || kind_of_b == NULL)
        return kind_of_a == kind_of_b;
    return *kind_of_a == ':' && kind_of_a - a == kind_of_b - b && strncmp(a, b, (size_t)(kind_of_a - a + 1)) == 0;
}

/* Of several optimizations of one kind of which any single one is enough, the one that replaces fewest nodes becomes
 * the answer. */
static void choose_fewest_nodes(struct passes_command *command, struct words decisions)
{
    struct passes_result *result = &command->result;
    const char *first = decisions.items[bitset_next(&result->off, 0)];
    size_t least = SIZE_MAX, best = SIZE_MAX;

    if (bitset_count(&result->singles) < 2 || command->runner->compare == NULL)
        return;
    BITSET_EACH (i, &result->singles) {
        const struct words off = {.items = &decisions.items[i], .count = 1};
        struct rewriting rewriting = {0};
        struct error unknown;
        size_t nodes;

        if (are_of_one_kind(first, decisions.items[i]) &&
            command->runner->compare(&command->subject, off, command->values->folder, &rewriting, &unknown) == 0) {
            nodes = rewriting.nodes.before.count + rewriting.nodes.after.count;
            if (nodes < least) {
                least = nodes;
                best = i;
            }
        }
        rewritten_nodes_release(&rewriting.nodes);
    }
    if (best == SIZE_MAX)
        return;
    bitset_clear(&result->off);
    bitset_add(&result->off, best);
}

/* Finds the nodes that the cause replaces. Failures are not errors: a model may be too large to be saved. */
static void compare_rewritten(const struct passes_command *command, struct words off, struct rewriting *ret)
{
    struct error error = {0};
    int rc;

    if (command->runner->compare == NULL)
        return;
    rc = command->runner->compare(&command->subject, off, command->values->folder, ret, &error);
    check_kernels(command, off, &ret->kernels);
    if (rc < 0)
        log_message(command->context->log, LOG_WARNING, "Cannot find out which nodes the culprits replace: %s",
                    error.message);
}

/* Repeats both directions of the answer with other data. */
static int repeat_with_other_data(struct passes_command *command, struct words off, struct other_data *ret,
                                  struct error *err)
{
    struct arena *arena = command->subject.arena;
    const char *list = arena_printf(arena, "%s/off.txt", command->values->folder);
    const char *all_off = arena_printf(arena, CHECK_DISABLED_VARIABLE "=@%s", list_path(command));
    const char *only_off = arena_printf(arena, CHECK_DISABLED_VARIABLE "=@%s", list);
    struct word_list reference SCOPED_ITEMS = {0}, candidate SCOPED_ITEMS = {0};
    struct other_runs runs;
    int rc;

    if (!command->check.has_begun || session_state(command->session).is_flaky)
        return 0;
    rc = decisions_write(off, NULL, list, err);
    if (rc < 0)
        return rc;
    add_run(command, true, &reference);
    add_run(command, false, &candidate);
    runs = (struct other_runs){
        .reference = {.words = {reference.items, reference.count}, .variable = all_off},
        .failing = {.words = {candidate.items, candidate.count}},
        .passing = {.words = {candidate.items, candidate.count}, .variable = only_off},
    };
    return other_data_repeat(&command->check, command->values->file.data.seed, &runs, ret, err);
}

/* ---- The command ---- */

/* Hashes the model, the tried optimizations, and data that are not in the check's command line. */
static int hash_passes_session(const struct passes_command *command, struct hash *ret, struct error *err)
{
    const struct word_list *decisions = &command->decisions.names;
    SCOPED_STRING(names);
    struct model *model;
    int rc = file_content_hash(command->subject.model, ret, err);

    if (rc < 0)
        return rc;
    if (model_open(command->subject.model, NULL, &model, NULL) == 0) { /* a check may accept any file */
        rc = external_data_hash(model, ret, err);
        model_free(model);
    }
    for (size_t i = 0; i < decisions->count; i++)
        string_add_format(&names, "%s\n", decisions->items[i]);
    *ret = hash_combine(*ret, hash_bytes(names.data, names.size));
    debug_hash_runtime(&command->values->file.onnxrt.runtime, ret);
    if (rc == 0 && command->check.inputs != NULL) {
        struct hash data;

        rc = file_content_hash(command->check.inputs, &data, err);
        if (rc == 0)
            *ret = hash_combine(*ret, data);
    }
    return rc;
}

/* Finds a subgraph for each set of culprits. If that is interrupted, the others get the reason. */
static int reduce_culprits(struct passes_command *command, struct words off, struct passes_report *report,
                           struct error *err)
{
    size_t count = command->result.culprits.count;
    struct passes_reduction *reductions = arena_alloc_zero(command->subject.arena, count, sizeof(*reductions));
    int rc = 0;

    report->reductions = reductions;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct reduction_request request = {.subject = &command->subject,
                                                  .runner = command->runner,
                                                  .folder = command->values->folder,
                                                  .inputs = command->check.inputs,
                                                  .culprits = &command->result.culprits.items[i],
                                                  .decisions = report->decisions,
                                                  .off = off,
                                                  .number = i + 1};

        log_message(command->context->log, LOG_INFO,
                    "Searching for the smallest subgraph in which the culprits make a difference%s",
                    command->check.inputs == NULL ? ", compared with the same subgraph with everything disabled, "
                                                    "because the outputs of --load-outputs are those of the whole model"
                                                  : "");
        rc = passes_reduce(&request, &reductions[i], err);
        for (size_t k = i; rc < 0 && k < count; k++)
            reductions[k].why_not = arena_strdup(command->subject.arena, err->message);
    }
    return rc;
}

/* Draws the model with the replaced nodes. */
static void draw_page(struct passes_command *command, const struct passes_report *report)
{
    const char *path = report->rewriting.without_path;
    struct model *model;

    if (command->outputs.report == NULL || !report->rewriting.is_known ||
        model_open(path != NULL ? path : command->subject.model, NULL, &model, NULL) < 0)
        return;
    debug_outputs_add_model(&command->outputs, model);
    passes_result_draw(&report->rewriting.nodes, command->outputs.report);
    model_free(model);
}

static int report_passes(struct passes_command *command, struct passes_report *report, struct error *err)
{
    report->checks = check_counts_runs(session_state(command->session).checks);
    report->checked_twice = !session_state(command->session).is_flaky;
    passes_result_fill(report, command->outputs.result);
    own_check_add_not_tested(&command->check, &command->values->comparison, command->outputs.result);
    if (command->runner == &builtin_passes_runner)
        trt_add_not_tested(NULL, command->outputs.result);
    draw_page(command, report);
    return debug_outputs_finish(&command->outputs, command->session, 0,
                                command->result.outcome == PASSES_FOUND && !other_data_contradicts(&report->other),
                                err);
}

/* Whether the decisions were chosen by the runner, which has barriers besides these. */
static bool may_try_barriers(const struct passes_command *command)
{
    return command->values->decisions.count == 0 && command->values->among.count == 0;
}

/* Finds the runner's barriers. None: `ret` stays empty. */
static int find_barriers(const struct passes_command *command, struct decisions *ret, struct error *err)
{
    static const char *const kinds[] = {"barriers", NULL};
    const struct decision_wishes wishes = {.kinds = {.items = kinds, .count = 1}};
    int rc = passes_find_decisions(&command->subject, command->runner, &wishes, ret, err);

    return rc == ERR_UNSUPPORTED ? 0 : rc;
}

/* Searches among barriers if disabling all optimizations is not enough. */
static int search_barriers(struct passes_command *command, struct passes_report *report, struct error *err)
{
    struct words earlier = report->decisions;
    struct passes_result result;
    int rc = find_barriers(command, &command->barriers, err);

    if (rc < 0 || command->barriers.names.count == 0 || barriers_own(earlier.items[earlier.count - 1]))
        return rc;
    log_message(command->context->log, LOG_INFO,
                "The cause is not among these %zu optimizations; searching for a place, by %zu barriers", earlier.count,
                command->barriers.names.count);
    report->barriers = (struct words){command->barriers.names.items, command->barriers.names.count};
    rc = passes_run(report->barriers, "barriers_", command->session, command->context->log, &result, err);
    if (rc == 0 && result.outcome != PASSES_ALL_OFF_FAILS) {
        struct passes_result first = command->result;

        command->result = result;
        result = first;
        report->decisions = report->barriers;
        report->barriers = (struct words){0};
        report->earlier = earlier;
    }
    passes_result_release(&result);
    return rc;
}

static int search_decisions(struct passes_command *command, struct error *err)
{
    struct passes_report report = {.decisions = decisions_of(command),
                                   .not_tried = {command->refused.items, command->refused.count},
                                   .result = &command->result,
                                   .is_own_reference =
                                       command->check.has_begun && own_check_needs_reference(&command->check),
                                   .saturates = command->subject.saturates,
                                   .remedies = {.arena = command->subject.arena}};
    struct hash hash;
    int rc = hash_passes_session(command, &hash, err), told;

    if (rc < 0)
        return rc;
    debug_outputs_watch(&command->outputs, "decisions", &command->session_settings);
    rc = session_new(&command->session_settings, &hash, command->context->log, &command->session, err);
    if (rc < 0)
        return rc;
    rc = passes_run(report.decisions, "", command->session, command->context->log, &command->result, err);
    if (rc == 0 && command->result.outcome == PASSES_ALL_OFF_FAILS && may_try_barriers(command))
        rc = search_barriers(command, &report, err);
    if (rc < 0)
        return debug_outputs_finish(&command->outputs, command->session, rc, false, err);
    if (command->result.outcome == PASSES_FOUND) {
        struct words off;

        choose_fewest_nodes(command, report.decisions);
        off = list_off(command, report.decisions);

        passes_find_remedies(command->runner, off, &report.remedies);
        compare_rewritten(command, off, &report.rewriting);
        rc = repeat_with_other_data(command, off, &report.other, err);
        if (rc == 0 && command->values->reduce)
            rc = reduce_culprits(command, off, &report, err);
    }
    told = report_passes(command, &report, rc < 0 ? NULL : err);
    if (rc < 0)
        debug_outputs_finish(&command->outputs, command->session, rc, false, err);
    else
        rc = told;
    for (size_t i = 0; report.reductions != NULL && i < command->result.culprits.count; i++)
        free(report.reductions[i].nodes.items);
    free(report.remedies.items);
    rewritten_nodes_release(&report.rewriting.nodes);
    return rc;
}

static int debug_passes_run(const struct command_context *context, const struct debug_passes_settings *settings,
                            struct error *err)
{
    struct arena *arena = parse_arena((struct parse *)context->parse);
    void *memory = NULL;
    struct passes_command command = {.context = context,
                                     .values = settings,
                                     .subject = {.context = context,
                                                 .settings = settings,
                                                 .model = settings->file.model.path,
                                                 .arena = arena,
                                                 .saturates = system_saturates_products(),
                                                 .memory = &memory},
                                     .session_settings =
                                         debug_session_settings(context, &settings->debug, &settings->file),
                                     .decisions = {.arena = arena},
                                     .barriers = {.arena = arena}};
    const struct decision_wishes wishes = {.names = command.values->decisions,
                                           .kinds = command.values->among,
                                           .check_is_given = command.session_settings.check.command.count > 0};
    struct error unfound;
    int rc = debug_outputs_open(&command.outputs, context, &settings->debug, "debug passes", err);

    if (rc < 0)
        return rc;
    command.session_settings.check.has_lists = true;
    command.session_settings.hash_content = candidate_file_hash;
    rc = own_check_refuse_unknown_outputs(context, &settings->comparison, command.subject.model, err);
    if (rc < 0)
        goto done;
    rc = choose_runner(&command, err);
    if (rc < 0)
        goto done;
    rc = passes_find_decisions(&command.subject, command.runner, &wishes, &command.decisions, err);
    if (rc == ERR_UNSUPPORTED && may_try_barriers(&command) &&
        find_barriers(&command, &command.decisions, &unfound) == 0 && command.decisions.names.count > 0)
        rc = 0;
    if (rc < 0)
        goto done;
    rc = result_folder_begin(command.values->folder, "debug passes", err);
    if (rc < 0)
        goto done;
    rc = make_check(&command, err);
    if (rc < 0)
        goto done;
    rc = search_decisions(&command, err);
done:
    passes_result_release(&command.result);
    session_free(command.session);
    free(command.decisions.names.items);
    free(command.decisions.unfit.items);
    free(command.barriers.names.items);
    free(command.barriers.unfit.items);
    free(command.refused.items);
    own_check_release(&command.check);
    debug_outputs_close(&command.outputs);
    return rc;
}

DEFINE_COMMAND_RUN(debug_passes_run, struct debug_passes_settings)

static const struct command_group groups[] = {
    DEBUG_SEARCH_GROUPS(struct debug_passes_settings, optional_check_options, intermediate_list_options),
    COMMAND_GROUP(struct debug_passes_settings, runners, runner_options),
    {&passes_options, 0},
    COMMAND_GROUP(struct debug_passes_settings, file.model, convert_model_options),
    COMMAND_GROUP(struct debug_passes_settings, file.data, data_loader_options),
    COMMAND_GROUP(struct debug_passes_settings, comparison, comparison_options),
    COMMAND_GROUP(struct debug_passes_settings, file.onnxrt, onnxrt_options),
    COMMAND_GROUP(struct debug_passes_settings, engine, engine_config_options),
    COMMAND_GROUP(struct debug_passes_settings, engine, engine_network_options),
    COMMAND_GROUP(struct debug_passes_settings, engine, tensorrt_options),
    DEBUG_RESULT_GROUPS(struct debug_passes_settings),
};

const struct command cmd_debug_passes = {
    .name = "passes",
    .summary = "find the optimizations that make a model wrong",
    .description =
        "A runtime optimizes a model before it runs it. This tool finds the smallest set of optimizations "
        "that cause a failure and verifies both directions: with only these disabled the check passes, with "
        "only these enabled it fails.\n\n"
        "For ONNX Runtime, the default, candidates are the optimizers that change this model according to "
        "its log, single rules of optimizers that apply several, settings that change what is computed, and "
        "threads. With --trt candidates are the tensors across which TensorRT may fuse and, from 11.1 on, "
        "the knobs of its compiler, if TensorRT is installed; else the tactic sources, layouts, foldings and "
        "fusions of the built-in engine. Without --check, a failure is a difference from the outputs of the "
        "model with all of these disabled, or from the outputs of --load-outputs.\n\n"
        "With --check, any command decides. It receives what to disable as {disabled} in its arguments and "
        "POLYGRAPHY_DISABLED in its environment: names separated by ';', which commands of this program "
        "obey and which are valid as optimization.disable_specified_optimizers in a session configuration. "
        "A long list is passed as @ and a file.",
    .example = "# which optimizer makes the quantized model differ from itself?\n"
               "polygraphy debug passes model.onnx --atol 1e-3\n"
               "# which fusion, folding or kernel of the engine does?\n"
               "polygraphy debug passes model.onnx --atol 1e-3 --trt\n"
               "# with any command as the check\n"
               "polygraphy debug passes model.onnx --check python check.py {disabled}",
    COMMAND_GROUPS(groups),
    .essential = "--check --atol --rtol --load-inputs --load-outputs --decisions -o --trt --among --reduce --providers "
                 "--flaky " DEBUG_SEARCH_ESSENTIAL,
    .exact_names = true,
    .framed = true,
    COMMAND_RUN(debug_passes_run),
};
