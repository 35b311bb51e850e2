/* debug/accuracy/investigation.c: experiments are run and kept, and what is known. See investigation.h; call.c puts
 * their commands together. */
#include "debug/accuracy/investigation.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/process/error_file.h"
#include "base/process/fork_server.h"
#include "base/process/guard.h"
#include "base/process/process.h"
#include "base/system.h"
#include "base/text/shell_line.h"
#include "debug/check/report.h"
#include "format/json/writer.h"

#define MOST_COMMAND (64 << 20) /* bytes of a command line that is read again */
#define MOST_COUNTED 0x1p53     /* beyond that a double has no odd numbers */

const char *investigation_path(struct investigation *investigation, const char *name)
{
    return arena_printf(&investigation->arena, "%s/%s", investigation->settings->folder, name);
}

static const char *format_text(struct investigation *investigation, const char *format, va_list args)
{
    struct string_builder text;
    const char *ret;

    string_init(&text);
    string_add_format_list(&text, format, args);
    ret = arena_strdup(&investigation->arena, text.data);
    string_release(&text);
    return ret;
}

const char *investigation_text(struct investigation *investigation, const char *format, ...)
{
    const char *ret;
    va_list args;

    va_start(args, format);
    ret = format_text(investigation, format, args);
    va_end(args);
    return ret;
}

#define MOST_LISTED 5

const char *investigation_list(struct investigation *investigation, struct words names, struct words operators)
{
    struct string_builder text;
    const char *ret;

    string_init(&text);
    for (size_t i = 0; i < names.count && i < MOST_LISTED; i++) {
        string_add(&text, i == 0 ? "" : i + 1 == names.count ? " and " : ", ");
        string_add_quoted(&text, names.items[i]);
        if (i < operators.count)
            string_add_format(&text, " (%s)", operators.items[i]);
    }
    if (names.count > MOST_LISTED)
        string_add_format(&text, " and %zu more", names.count - MOST_LISTED);
    ret = arena_strdup(&investigation->arena, text.data);
    string_release(&text);
    return ret;
}

/* ---- Experiments ---- */

/* The line of the shell that does the same. */
static const char *command_line(const struct call *call)
{
    struct string_builder line;
    const char *ret;

    string_init(&line);
    string_add(&line, "polygraphy");
    for (size_t i = 0; i < call->words.count; i++)
        shell_add_argument(&line, call->words.items[i]);
    ret = arena_strdup(&call->investigation->arena, line.data);
    string_release(&line);
    return ret;
}

void investigation_begin_step(struct investigation *investigation, const char *question)
{
    investigation->step = question;
    log_message(investigation->log, LOG_START, "%s", question);
}

int64_t investigation_checks(const struct investigation *investigation)
{
    int64_t ret = 0;

    for (size_t i = 0; i < investigation->experiments.count; i++)
        ret += investigation->experiments.items[i]->checks;
    return ret;
}

int64_t investigation_builds(const struct investigation *investigation)
{
    int64_t ret = 0;

    for (size_t i = 0; i < investigation->experiments.count; i++)
        ret += investigation->experiments.items[i]->builds;
    return ret;
}

static double seconds_left(const struct investigation *investigation)
{
    double deadline = investigation->settings->deadline;

    return deadline > 0 ? deadline - (stopwatch_now() - investigation->start) : INFINITY;
}

static int check_budget(struct investigation *investigation, struct error *err)
{
    int64_t most = investigation->settings->max_checks;

    investigation->out_of_budget =
        seconds_left(investigation) <= 0 || (most > 0 && investigation_checks(investigation) >= most);
    if (!investigation->out_of_budget)
        return 0;
    return error_set(err, ERR_UNSUPPORTED, "the budget (--deadline, --max-checks) is used up");
}

/* The first line of a message, as a log shows it. */
static const char *first_line(struct investigation *investigation, const char *message)
{
    struct string_builder line;
    const char *ret;

    string_init(&line);
    string_add_visible(&line, (struct text){message, strcspn(message, "\n")});
    ret = arena_strdup(&investigation->arena, line.data);
    string_release(&line);
    return ret;
}

/* Reads what the command itself has passed, not what the commands that it runs have. */
static void read_errors(struct investigation *investigation, const struct error_file *file, pid_t process,
                        struct experiment *experiment)
{
    struct error_record record;

    for (size_t i = 0; error_file_read(file, i, &record); i++) {
        if (record.process != process)
            continue;
        if (record.kind == RECORD_ERROR)
            experiment->complaint = first_line(investigation, record.error.message);
        else
            *VECTOR_APPEND(&experiment->warnings) = first_line(investigation, record.error.message);
    }
}

static int save_log(const struct experiment *experiment, const struct process_result *result, struct error *err)
{
    char *path = file_join(experiment->folder, "log.txt");
    struct string_builder text;
    int rc;

    string_init(&text);
    string_add_format(&text, "$ %s\n", experiment->command);
    check_output_render(&result->out, &text);
    check_output_render(&result->error_out, &text);
    rc = file_write(path, text.data, text.size, FILE_INTERMEDIATE, err);
    string_release(&text);
    free(path);
    return rc;
}

/* From here on the experiment is not run again. */
static int save_done(const struct experiment *experiment, struct error *err)
{
    char *path = file_join(experiment->folder, "done.json");
    struct json_writer writer;
    int rc = json_writer_open(&writer, path, err);

    free(path);
    if (rc < 0)
        return rc;
    json_writer_begin_object(&writer);
    json_writer_add_string(&writer, "command", experiment->command);
    json_writer_add_integer(&writer, "exit_status", experiment->exit_status);
    json_writer_add_number(&writer, "seconds", experiment->seconds);
    json_writer_add_string(&writer, "complaint", experiment->complaint != NULL ? experiment->complaint : "");
    json_writer_add_strings(&writer, "warnings", experiment->warnings.items, experiment->warnings.count);
    json_writer_end_object(&writer);
    rc = json_writer_commit(&writer, FILE_DURABLE, err);
    json_writer_release(&writer);
    return rc;
}

/* Whether this very command has ended here before; then what is kept of it is filled in. */
static bool find_done(struct investigation *investigation, struct experiment *experiment)
{
    char *path = file_join(experiment->folder, "done.json");
    struct experiment kept = {0};
    bool ret = file_exists(path) && json_reader_open(&kept.result, path, NULL) == 0 && json_is_object(kept.result.root);
    const json_t *item;
    size_t i;

    free(path);
    if (ret)
        ret = strcmp(result_text(&kept, kept.result.root, "command"), experiment->command) == 0 &&
              json_is_integer(result_find(kept.result.root, "exit_status"));
    if (ret) {
        const char *complaint = result_text(&kept, kept.result.root, "complaint");

        experiment->exit_status = (int)(result_count(&kept, kept.result.root, "exit_status") % 256);
        experiment->seconds = result_number(&kept, kept.result.root, "seconds", 0);
        experiment->complaint = *complaint != '\0' ? arena_strdup(&investigation->arena, complaint) : NULL;
        json_array_foreach (result_find(kept.result.root, "warnings"), i, item)
            *VECTOR_APPEND(&experiment->warnings) = arena_strdup(&investigation->arena, result_text(&kept, item, ""));
    }
    json_reader_release(&kept.result);
    return ret;
}

static int execute(const struct call *call, struct experiment *experiment, struct error *err)
{
    struct error_file errors;
    /* As in the check of a debug tool the exit status says whose fault it was (docs/verdicts.md). */
    const char *const environment[] = {"POLYGRAPHY_ITERATION=0", error_file_open(&errors) ? errors.variable : NULL,
                                       NULL};
    struct investigation *investigation = call->investigation;
    const char **arguments = arena_alloc_zero(&investigation->arena, call->words.count + 2, sizeof(*arguments));
    const struct process_request request = {.arguments = arguments,
                                            .program = investigation->settings->program,
                                            .server = call->is_fresh ? NULL : investigation->server,
                                            .server_arguments = arguments,
                                            .environment = environment,
                                            .without_input = true};
    struct process_result result;
    int rc;

    arguments[0] = "polygraphy";
    for (size_t i = 0; i < call->words.count; i++)
        arguments[i + 1] = call->words.items[i];
    rc = process_run(&request, &result, err);
    if (rc < 0)
        goto done;
    experiment->exit_status = result.end == PROCESS_EXITED ? result.code : 128 + result.code;
    experiment->seconds = result.seconds;
    read_errors(investigation, &errors, result.process, experiment);
    rc = save_log(experiment, &result, err);
    process_result_release(&result);
done:
    error_file_close(&errors);
    return rc;
}

/* Behind --check everything is the check's. */
static void add_option(struct call *call, const char *option, const char *value)
{
    struct word_list *words = &call->words;
    size_t at = 0;

    while (at < words->count && strcmp(words->items[at], "--check") != 0)
        at++;
    call_add(call, option, value, NULL);
    memmove(&words->items[at + 2], &words->items[at], (words->count - at - 2) * sizeof(*words->items));
    words->items[at] = option;
    words->items[at + 1] = value;
}

/* The budget that is left depends on the moment, and is no part of what the experiment is. */
static void add_budget(struct call *call)
{
    struct investigation *investigation = call->investigation;
    int64_t most = investigation->settings->max_checks;
    double left = seconds_left(investigation);

    if (most > 0)
        add_option(call, "--max-checks",
                   investigation_text(investigation, "%lld", (long long)(most - investigation_checks(investigation))));
    if (isfinite(left))
        add_option(call, "--deadline", investigation_text(investigation, "%.0f", fmax(1, left)));
}

/* Whether this very command was begun in the folder before. */
static bool was_begun(const struct experiment *experiment, const char *path)
{
    char *before = NULL;
    size_t size = 0;
    bool ret = file_exists(path) && file_read(path, MOST_COMMAND, &before, &size, NULL) == 0 &&
               size == strlen(experiment->command) && memcmp(before, experiment->command, size) == 0;

    free(before);
    return ret;
}

/* Clears away what is left of another command, and has one that was cut off go on with its verdicts. */
static int prepare(struct call *call, const struct experiment *experiment, const char *result, struct error *err)
{
    const char *path = investigation_text(call->investigation, "%s/command.txt", experiment->folder);
    bool goes_on = was_begun(experiment, path);

    remove(result);
    if (call->replay != NULL && !goes_on)
        remove(call->replay);
    if (call->replay != NULL && file_exists(call->replay)) {
        log_message(call->investigation->log, LOG_INFO, "        Going on with '%s'", call->replay);
        add_option(call, "--load-debug-replay", call->replay);
    }
    if (call->has_budget)
        add_budget(call);
    return goes_on ? 0 : file_write(path, experiment->command, strlen(experiment->command), FILE_INTERMEDIATE, err);
}

static int perform(struct call *call, struct experiment *experiment, const char *result, struct error *err)
{
    int rc = check_budget(call->investigation, err);

    if (rc < 0)
        return rc;
    rc = prepare(call, experiment, result, err);
    if (rc < 0)
        return rc;
    rc = execute(call, experiment, err);
    return rc < 0 ? rc : save_done(experiment, err);
}

int call_run(struct call *call, struct experiment **ret, struct error *err)
{
    struct investigation *investigation = call->investigation;
    struct experiment *experiment = arena_alloc_zero(&investigation->arena, 1, sizeof(*experiment));
    const char *folder = call_folder(call);
    const char *result = investigation_text(investigation, "%s/result.json", folder);
    int rc = 0;

    if (call->has_result)
        add_option(call, "--json", result);
    *experiment = (struct experiment){.name = strrchr(folder, '/') + 1,
                                      .folder = folder,
                                      .step = investigation->step,
                                      .why = call->why,
                                      .command = command_line(call)};
    log_message(investigation->log, LOG_INFO, "    %s", call->why);
    log_message(investigation->log, LOG_VERBOSE, "    $ %s", experiment->command);
    if (!find_done(investigation, experiment))
        rc = perform(call, experiment, result, err);
    free(call->words.items);
    call->words = (struct word_list){0};
    if (rc < 0)
        return rc;
    *VECTOR_APPEND(&investigation->experiments) = experiment;
    if (call->has_result && file_exists(result)) {
        rc = json_reader_open(&experiment->result, result, err);
        if (rc < 0)
            return rc;
        experiment->has_result = json_is_object(experiment->result.root);
    }
    *ret = experiment;
    return 0;
}

static int refuse_end(const struct experiment *experiment, struct error *err)
{
    return error_set(err, ERR_BACKEND, "`%s` ends with %d: %s", experiment->command, experiment->exit_status,
                     experiment->complaint != NULL ? experiment->complaint : "it does not say why");
}

int call_judge(struct call *call, struct experiment **ret, struct error *err)
{
    static const char *const outcomes[] = {[AGREES] = "agrees", [DIFFERS] = "differs", [REFUSES] = "does not run"};
    struct experiment *experiment;
    int rc = call_run(call, &experiment, err);

    if (rc < 0)
        return rc;
    if (experiment->exit_status == 0 && experiment->has_result)
        experiment->agreement = AGREES;
    else if (experiment->exit_status == 1 && experiment->has_result)
        experiment->agreement = DIFFERS;
    else if (experiment->exit_status == 3 || experiment->exit_status > 128)
        experiment->agreement = REFUSES;
    else
        return refuse_end(experiment, err);
    experiment->checks = 1;
    experiment->builds = call->investigation->settings->suspect_is_built;
    experiment->outcome = outcomes[experiment->agreement];
    *ret = experiment;
    return 0;
}

int call_succeed(struct call *call, struct experiment **ret, struct error *err)
{
    int rc = call_run(call, ret, err);

    if (rc == 0 && (*ret)->exit_status != 0)
        rc = refuse_end(*ret, err);
    if (rc == 0)
        (*ret)->outcome = "done";
    return rc;
}

/* ---- Results ---- */

json_t *result_find(const json_t *object, const char *path)
{
    const json_t *ret = object;

    while (ret != NULL && *path != '\0') {
        size_t size = strcspn(path, "/");

        ret = json_object_getn(ret, path, size);
        path += size + (path[size] == '/');
    }
    return (json_t *)ret;
}

double result_number(struct experiment *experiment, const json_t *object, const char *path, double otherwise)
{
    double ret;

    return json_reader_number(&experiment->result, result_find(object, path), &ret) ? ret : otherwise;
}

int64_t result_count(struct experiment *experiment, const json_t *object, const char *path)
{
    double ret = result_number(experiment, object, path, 0);

    return ret >= 0 && ret <= MOST_COUNTED ? (int64_t)ret : 0;
}

const char *result_text(struct experiment *experiment, const json_t *object, const char *path)
{
    struct text text;
    json_t *value = result_find(object, path);

    if (!json_is_string(value) || json_reader_text(&experiment->result, value, &text, NULL) < 0)
        return "";
    return text.data;
}

/* ---- What is known ---- */

void investigation_conclude(struct investigation *investigation, enum outcome outcome, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    investigation->verdict = format_text(investigation, format, args);
    va_end(args);
    investigation->outcome = outcome;
}

void cause_add_proof(struct investigation *investigation, const char *format, ...)
{
    const char *proof;
    va_list args;

    va_start(args, format);
    proof = format_text(investigation, format, args);
    va_end(args);
    *VECTOR_APPEND(&investigation->cause.proof) = proof;
    log_message(investigation->log, LOG_VERBOSE, "    Seen: %s", proof);
}

const char *cause_kind_name(enum cause_kind kind)
{
    static const char *const names[] = {
        [CAUSE_UNKNOWN] = "unknown",
        [CAUSE_NAN] = "nan",
        [CAUSE_NODE] = "node",
        [CAUSE_OVERFLOW] = "overflow",
        [CAUSE_UNDERFLOW] = "underflow",
        [CAUSE_PRECISION] = "precision",
        [CAUSE_TACTIC] = "tactic",
        [CAUSE_FUSION] = "fusion",
        [CAUSE_RACE] = "race",
        [CAUSE_REFUSED] = "refused",
        [CAUSE_PART] = "part",
        [CAUSE_REFERENCE] = "reference",
        [CAUSE_SATURATION] = "saturation",
    };

    return names[kind];
}

void investigation_free(struct investigation *investigation)
{
    if (investigation == NULL)
        return;
    for (size_t i = 0; i < investigation->experiments.count; i++) {
        free(investigation->experiments.items[i]->warnings.items);
        json_reader_release(&investigation->experiments.items[i]->result);
    }
    free(investigation->experiments.items);
    free(investigation->cause.proof.items);
    fork_server_stop(investigation->server);
    process_guard_stop();
    session_lock_release(&investigation->lock);
    if (investigation->family_lock >= 0)
        close(investigation->family_lock);
    arena_release(&investigation->arena);
    free(investigation);
}
