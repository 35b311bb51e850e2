/* cli/debug/passes.c: find the decisions of ONNX Runtime that make a model wrong. */
#include "debug/passes/passes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/backend.h"
#include "backend/onnxrt/optimizers.h"
#include "base/file/file.h"
#include "base/memory.h"
#include "cli/commands.h"
#include "cli/debug/passes_result.h"
#include "cli/debug/session.h"
#include "cli/debug/session_page.h"
#include "cli/model_file.h"
#include "cli/options/groups.h"
#include "debug/check/words.h"

#define LIST_ARTIFACT "polygraphy_debug.disabled"

struct passes_values {
    const char *folder;
    struct words decisions;
};

static const struct option passes_rows[] = {
    {
        .names = {"-o", "--output"},
        .kind = OPTION_ONE,
        .value_name = "FOLDER",
        .fallback = "polygraphy_passes",
        .file = OPTION_WRITES_FOLDER,
        OPTION_FIELD(struct passes_values, folder),
        .help = "where the model goes as the runtime rewrites it with and without what was found; and without --check, "
                "input data and the reference's outputs",
    },
    {
        .names = {"--decisions"},
        .kind = OPTION_MANY,
        .value_name = "NAME",
        .append = true,
        OPTION_FIELD(struct passes_values, decisions),
        .help = "what is tried, in place of what the runtime says that it did: names of optimizers, or entries of the "
                "session configuration that switch something off, as KEY=VALUE",
    },
    JOBS_ROW("", ""),
};

/* What goes between two names cannot be part of one. */
static int finish_passes(struct parse *parse, struct error *err)
{
    const struct words *names = &PARSE_VALUES(parse, struct passes_values)->decisions;
    const char *disabled = getenv(CHECK_DISABLED_VARIABLE);

    for (size_t i = 0; i < names->count; i++)
        if (names->items[i][0] == '\0' || names->items[i][0] == '=' || strpbrk(names->items[i], ";\n") != NULL)
            return error_set(err, ERR_INVALID,
                             "--decisions: '%s' is no name and no KEY=VALUE, without ';' and line breaks",
                             names->items[i]);
    if (disabled != NULL && *disabled != '\0')
        return error_set(err, ERR_INVALID,
                         CHECK_DISABLED_VARIABLE " is set, which debug passes sets for its checks: unset it; "
                                                 "--onnxrt-disable-optimizers switches off what is to stay off");
    return jobs_check(parse, false, err);
}

static const struct option_group passes_options = {
    .title = "Decisions",
    .options = passes_rows,
    .count = ARRAY_LEN(passes_rows),
    .finish = finish_passes,
};

struct session {
    const struct command_context *context;
    const struct passes_values *values;
    const struct model_values *model;
    struct loop_settings loop_settings;
    struct debug_report report;
    struct session_page page;
    struct loop *loop;
    struct word_list decisions, check;
    const char *inputs; /* that the check of this tool reads; NULL: the user names all that is read */
    struct onnxrt_optimizers optimizers;
    struct passes_result result;
};

/* ---- Decisions ---- */

/* Settings that change what is computed, not only how fast. */
static const char *const settings[] = {"session.disable_prepacking=1", "session.x64quantprecision=1"};

/* Some rules belong to several optimizers, and are switched off in all of them. */
static void add_decision(struct session *session, const char *name)
{
    for (size_t i = 0; i < session->decisions.count; i++)
        if (strcmp(session->decisions.items[i], name) == 0)
            return;
    *VECTOR_APPEND(&session->decisions) = name;
}

static void add_optimizer(struct session *session, const char *name)
{
    const char *const *rules = onnxrt_optimizer_rules(name);

    if (rules == NULL)
        add_decision(session, name);
    for (; rules != NULL && *rules != NULL; rules++)
        add_decision(session, *rules);
}

/* Those that change the model, in the order in which they are applied: as the log of a session says. */
static int find_decisions(struct session *session, struct error *err)
{
    struct backend_request request = *PARSE_VALUES(session->context->parse, struct backend_request);
    const struct words *given = &session->values->decisions;
    struct backend_session *opened;
    struct string_builder names;
    size_t count = 0;
    int rc;

    for (size_t i = 0; i < given->count; i++)
        add_decision(session, given->items[i]);
    if (given->count > 0)
        return 0;
    request.model_path = session->model->path;
    request.log = session->context->log;
    request.optimizers = &session->optimizers;
    rc = onnxrt_backend.open(&request, &opened, err);
    if (rc < 0)
        return rc;
    onnxrt_backend.close(opened);
    string_init(&names);
    for (size_t i = 0; i < session->optimizers.count; i++)
        if (session->optimizers.items[i].has_changed) {
            string_add_format(&names, "%s%s", count++ > 0 ? ", " : "", session->optimizers.items[i].name);
            add_optimizer(session, session->optimizers.items[i].name);
        }
    log_message(session->context->log, LOG_INFO, "%s change%s '%s': %s", count == 1 ? "One optimizer" : "Optimizers",
                count == 1 ? "s" : "", parse_positional_word(session->context->parse, "model_file"),
                names.size > 0 ? names.data : "none");
    string_release(&names);
    for (size_t i = 0; i < ARRAY_LEN(settings); i++)
        add_decision(session, settings[i]);
    return 0;
}

/* ---- The check ---- */

static void add(struct word_list *words, const char *word)
{
    *VECTOR_APPEND(words) = word;
}

static void add_model(const struct session *session, struct word_list *words)
{
    add(words, "polygraphy");
    add(words, "run");
    add(words, parse_positional_word(session->context->parse, "model_file"));
    add(words, "--onnxrt");
}

/* Runs the model as it is written, and keeps what comes in and out. */
static int make_reference(const struct session *session, const char *inputs, const char *golden, struct error *err)
{
    static const char *const level[] = {"--onnxrt-optimization-level", NULL};
    static const char *const environment[] = {"POLYGRAPHY_ITERATION=0", NULL};
    const struct parse *parse = session->context->parse;
    struct process_result result;
    struct word_list words = {0};
    int rc = file_make_folders(session->values->folder, err);

    if (rc < 0)
        return rc;
    add_model(session, &words);
    add(&words, level[0]);
    add(&words, "none");
    parse_add_given_of_group(parse, &onnxrt_options, level, &words);
    parse_add_given_of_group(parse, &data_loader_options, NULL, &words);
    add(&words, "--save-inputs");
    add(&words, inputs);
    add(&words, "--save-outputs");
    add(&words, golden);
    add(&words, NULL);
    log_message(session->context->log, LOG_INFO,
                "The reference is the model in ONNX Runtime with --onnxrt-optimization-level none");
    rc = process_run(&(struct process_request){.arguments = words.items,
                                               .program = session->context->program,
                                               .environment = environment,
                                               .without_input = true},
                     &result, err);
    free(words.items);
    if (rc < 0)
        return rc;
    if (result.end != PROCESS_EXITED || result.code != 0)
        rc = error_set(err, ERR_BACKEND,
                       "there is no reference: `polygraphy run` of '%s' with --onnxrt-optimization-level none has "
                       "failed. It said:\n%s",
                       session->model->path, result.error_out.size > 0 ? result.error_out.data : "nothing");
    process_result_release(&result);
    return rc;
}

/* Unless the user has one: the model, with what is not switched off, is compared with the reference. */
static int make_check(struct session *session, struct error *err)
{
    const struct command_context *context = session->context;
    struct check_settings *check = &session->loop_settings.check;
    struct arena *arena = parse_arena((struct parse *)context->parse);
    const char *inputs = arena_printf(arena, "%s/inputs.json", session->values->folder);
    const char *golden = arena_printf(arena, "%s/golden.json", session->values->folder);
    struct string_builder given;
    int rc = 0;

    if (check->command.count > 0) {
        string_init(&given);
        parse_list_given_of_group(context->parse, &comparison_options, &given);
        if (given.size > 0)
            rc = error_set(err, ERR_INVALID, "%s: with --check the check alone compares; give it these", given.data);
        string_release(&given);
        return rc;
    }
    add_model(session, &session->check);
    parse_add_given_of_group(context->parse, &onnxrt_options, NULL, &session->check);
    if (parse_given(context->parse, "--load-outputs") == NULL) {
        rc = make_reference(session, inputs, golden, err);
        session->inputs = inputs;
        add(&session->check, "--load-inputs");
        add(&session->check, inputs);
        add(&session->check, "--load-outputs");
        add(&session->check, golden);
    } else {
        parse_add_given_of_group(context->parse, &data_loader_options, NULL, &session->check);
    }
    parse_add_given_of_group(context->parse, &comparison_options, NULL, &session->check);
    check->command.count = session->check.count;
    add(&session->check, NULL);
    check->command.items = session->check.items;
    return rc;
}

/* ---- What was found ---- */

/* The session configuration with what was found switched off. */
static struct backend_settings switch_off(struct session *session, struct backend_settings given)
{
    struct arena *arena = parse_arena((struct parse *)session->context->parse);
    const struct bitset *off = &session->result.off;
    struct backend_setting *items = arena_alloc_zero(arena, given.count + bitset_count(off) + 1, sizeof(*items));
    struct backend_settings ret = {items, given.count + 1};
    struct backend_setting *names = &items[given.count];

    *names = (struct backend_setting){.key = ONNXRT_DISABLED_OPTIMIZERS_KEY, .value = ""};
    for (size_t i = 0; i < given.count; i++) {
        items[i] = given.items[i];
        if (strcmp(items[i].key, ONNXRT_DISABLED_OPTIMIZERS_KEY) == 0)
            names->value = arena_printf(arena, "%s;", items[i].value);
    }
    for (size_t i = bitset_next(off, 0); i < off->size; i = bitset_next(off, i + 1)) {
        const char *name = session->decisions.items[i], *equals = strchr(name, '=');

        if (equals == NULL)
            names->value = arena_printf(arena, "%s%s;", names->value, name);
        else
            items[ret.count++] = (struct backend_setting){
                .key = arena_text(arena, (struct text){name, (size_t)(equals - name)}), .value = equals + 1};
    }
    return ret;
}

/* What the runtime makes of the model, as a file. */
static int save_rewritten(struct session *session, bool without, const char *path, struct model **ret,
                          struct error *err)
{
    struct backend_request request = *PARSE_VALUES(session->context->parse, struct backend_request);
    struct backend_session *opened;
    struct stat model, other;
    int rc = file_make_folders(session->values->folder, err);

    if (rc < 0)
        return rc;
    if (stat(session->model->path, &model) == 0 && stat(path, &other) == 0 && model.st_ino == other.st_ino &&
        model.st_dev == other.st_dev)
        return error_set(err, ERR_EXISTS, "'%s', where it would go, is the model itself; -o names another folder",
                         path);
    request.model_path = session->model->path;
    request.optimized_path = path;
    if (without)
        request.execution.session_config = switch_off(session, request.execution.session_config);
    rc = onnxrt_backend.open(&request, &opened, err);
    if (rc < 0)
        return rc;
    onnxrt_backend.close(opened);
    return model_open(path, NULL, ret, err);
}

/* Which nodes the cause replaces. The answer stands without that: a model may be too large to be saved. */
static void compare_rewritten(struct session *session, struct passes_report *report)
{
    struct arena *arena = parse_arena((struct parse *)session->context->parse);
    struct model *with = NULL, *without = NULL;
    struct error error = {0};
    int rc;

    report->with_path = arena_printf(arena, "%s/rewritten.onnx", session->values->folder);
    report->without_path = arena_printf(arena, "%s/rewritten_without.onnx", session->values->folder);
    rc = save_rewritten(session, false, report->with_path, &with, &error);
    if (rc < 0)
        goto done;
    rc = save_rewritten(session, true, report->without_path, &without, &error);
    if (rc < 0)
        goto done;
    rewritten_nodes_find(without, with, &report->nodes);
    report->knows_nodes = true;
done:
    if (rc < 0)
        log_message(session->context->log, LOG_WARNING, "Which nodes it replaces is not known: %s", error.message);
    model_free(with);
    model_free(without);
}

/* ---- The session ---- */

/* The model, what is tried, and data that the command line of the check does not tell. */
static int hash_session(const struct session *session, struct hash *ret, struct error *err)
{
    struct string_builder names;
    int rc = hash_file(session->model->path, ret, err);

    string_init(&names);
    for (size_t i = 0; i < session->decisions.count; i++)
        string_add_format(&names, "%s\n", session->decisions.items[i]);
    *ret = hash_combine(*ret, hash_bytes(names.data, names.size));
    string_release(&names);
    if (rc == 0 && session->inputs != NULL) {
        struct hash data;

        rc = hash_file(session->inputs, &data, err);
        if (rc == 0)
            *ret = hash_combine(*ret, data);
    }
    return rc;
}

static int search(struct session *session, struct error *err)
{
    struct passes_report report = {.decisions = {.items = session->decisions.items, .count = session->decisions.count},
                                   .result = &session->result};
    const struct debug_values *debug = PARSE_VALUES(session->context->parse, struct debug_values);
    struct hash hash;
    int rc = hash_session(session, &hash, err);

    if (rc < 0)
        return rc;
    session_page_begin(&session->page, session->context, "debug passes", session->model->path, "decisions",
                       &session->loop_settings);
    rc = loop_new(&session->loop_settings, &hash, session->context->log, &session->loop, err);
    if (rc < 0)
        return rc;
    rc = passes_run(report.decisions, session->loop, session->context->log, &session->result, err);
    if (rc < 0)
        return debug_session_end(session->context, session->loop, rc);
    if (session->result.outcome == PASSES_FOUND)
        compare_rewritten(session, &report);
    passes_result_log(&report, session->context->log);
    passes_result_tell(&report, session->page.report);
    session_page_add_checks(session->page.report, session->loop);
    loop_log_checks(session->loop);
    rc = debug_report_save(&session->report, session->loop, passes_result_write, &report, err);
    rewritten_nodes_release(&report.nodes);
    if (rc == 0)
        rc = session_page_finish(&session->page, session->context, session->result.outcome == PASSES_FOUND, err);
    return rc == 0 && debug->exit_code && session->result.outcome != PASSES_FOUND ? EXIT_STATUS_NOT_REPRODUCED : rc;
}

static int debug_passes_run(const struct command_context *context, struct error *err)
{
    struct session session = {.context = context,
                              .values = PARSE_VALUES(context->parse, struct passes_values),
                              .model = PARSE_VALUES(context->parse, struct model_values),
                              .loop_settings = debug_loop_settings(context)};
    int rc = debug_report_open(&session.report, context, err);

    if (rc < 0)
        return rc;
    onnxrt_optimizers_init(&session.optimizers);
    session.loop_settings.check.has_lists = true;
    session.loop_settings.hash_content = passes_hash_list;
    rc = find_decisions(&session, err);
    if (rc == 0)
        rc = make_check(&session, err);
    if (rc == 0)
        rc = search(&session, err);
    passes_result_release(&session.result);
    loop_free(session.loop);
    session_page_release(&session.page);
    free(session.decisions.items);
    free(session.check.items);
    onnxrt_optimizers_release(&session.optimizers);
    debug_report_close(&session.report);
    return rc;
}

static const struct option_group *const groups[] = {
    &logging_options,     &optional_check_options, &artifact_options, &intermediate_list_options,
    &iteration_options,   &replay_options,         &passes_options,   &inspect_model_options,
    &data_loader_options, &comparison_options,     &onnxrt_options,   &json_options,
    &report_options,      &junit_options};

/* What a page of help has. */
static const char *const essential[] = {
    "--check",     "--atol",  "--rtol", "--norm-tolerance",    "--load-inputs", "--load-outputs", "--decisions", "-o",
    "--providers", "--flaky", "-j",     "--load-debug-replay", "--show-output", "--json",         "--report",    "-v",
    NULL};

const struct command cmd_debug_passes = {
    .name = "passes",
    .summary = "find the optimizers and settings of ONNX Runtime that make a model wrong",
    .description =
        "ONNX Runtime rewrites a model before it runs it. "
        "This tool finds the smallest set of optimizers without which the failure goes away, and shows it from both "
        "sides: with only these switched off the check passes, with everything else switched off it fails.\n\n"
        "Candidates are the optimizers that change this model, as the runtime's own log says, the single rules of "
        "those "
        "that apply several, and settings that change what is computed. "
        "Without --check the failure is a difference from the model as it is written: run with no optimizations at "
        "all, "
        "or given with --load-outputs.\n\n"
        "With --check any command decides. "
        "What it has to switch off is {disabled} in its words, and POLYGRAPHY_DISABLED in its environment: names with "
        "';' between them, which --onnxrt of this program obeys, and which fit the session configuration's "
        "optimization.disable_specified_optimizers as they are.",
    .example = "# which optimizer makes the quantized model differ from itself?\n"
               "polygraphy debug passes model.onnx --atol 1e-3\n"
               "# by a command of your own\n"
               "polygraphy debug passes model.onnx --check python check.py {disabled}",
    .groups = groups,
    .group_count = ARRAY_LEN(groups),
    .essential = essential,
    .exact_names = true,
    .framed = true,
    .run = debug_passes_run,
};
