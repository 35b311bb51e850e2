/* backend/command/resident.c: see resident.h. */
#include "backend/command/resident.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "backend/command/ending.h"
#include "backend/command/line.h"
#include "backend/command/outputs.h"
#include "base/hash.h"
#include "base/memory.h"

#define PROTOCOL_VERSION 1
#define LONGEST_QUOTE 200 /* bytes of an answer in a message */

struct command_resident {
    const struct runner_command *command;
    struct log *log;
    char *model;
    struct staying_process *process; /* NULL: has ended, or was given up */
    uint64_t requests;               /* so far: the number of the last one */
};

/* ---- The host ---- */

static char *make_staying_line(const char *line, const char *requests, const char *answers)
{
    const char *const paths[COMMAND_FILES] = {[COMMAND_REQUESTS] = requests, [COMMAND_ANSWERS] = answers};

    return command_line_for(line, paths);
}

int command_host_start(struct words words, struct staying_host **ret, struct error *err)
{
    *ret = NULL;
    for (size_t i = 0; i < words.count; i++)
        if (command_line_stays(words.items[i]))
            return staying_host_start(make_staying_line, ret, err);
    return 0;
}

/* ---- Answers ---- */

static void give_up(struct command_resident *resident)
{
    staying_close(resident->process, false);
    resident->process = NULL;
}

/* What such a process answers next is not to be relied on. */
static int refuse_answer(struct command_resident *resident, const char *line, const char *why, struct error *err)
{
    struct text shown = {line, strlen(line)};
    SCOPED_STRING(quote);

    give_up(resident);
    shown.size = shown.size < LONGEST_QUOTE ? shown.size : LONGEST_QUOTE;
    string_add_visible(&quote, shown);
    error_set(err, ERR_BACKEND, "its answer '%s' %s", quote.data, why);
    if (err != NULL)
        err->foreign_code = COMMAND_LEFT_UNREADABLE;
    return ERR_BACKEND;
}

static int read_greeting(struct command_resident *resident, const struct staying_answer *answer, struct error *err)
{
    json_t *greeting = json_loads(answer->line, 0, NULL);
    json_int_t version = json_integer_value(json_object_get(greeting, "version"));
    const char *engine = json_string_value(json_object_get(greeting, "engine"));
    int rc = 0;

    if (version != PROTOCOL_VERSION)
        rc = refuse_answer(resident, answer->line, "is not the first line of a runner that stays, {\"version\": 1}",
                           err);
    else
        log_message(resident->log, LOG_VERBOSE, "%s | Process %ld %s%s%s", resident->command->name,
                    (long)answer->result.process, answer->is_new ? "has started" : "is used again",
                    engine != NULL ? ": " : "", engine != NULL ? engine : "");
    json_decref(greeting);
    return rc;
}

/* What two errors of a kind have in common, as a number: what the runner calls it, else the first line without numbers
 * and names. */
static int number_kind(const json_t *answer, const char *message)
{
    const char *kind = json_string_value(json_object_get(answer, "kind"));
    SCOPED_STRING(text);

    if (kind != NULL)
        string_add(&text, kind);
    else
        string_add_without_names(&text, (struct text){message, strcspn(message, "\n")});
    return ERROR_OF_RUNNER + (int)(hash_bytes(text.data, text.size).low % (1 << 30));
}

static int pass_error(const json_t *answer, const char *message, struct error *err)
{
    bool is_untestable = json_is_true(json_object_get(answer, "untestable"));
    SCOPED_STRING(text);

    string_add_in_line(&text, message);
    error_set(err, is_untestable ? ERR_IO : ERR_BACKEND, "it answered with an error: %s", text.data);
    if (err != NULL && !is_untestable)
        err->foreign_code = number_kind(answer, message);
    return is_untestable ? ERR_IO : ERR_BACKEND;
}

static int read_answer(struct command_resident *resident, struct staying_answer *answer, struct error *err)
{
    json_t *root = json_loads(answer->line, JSON_DECODE_ANY, NULL);
    const json_t *error = json_object_get(root, "error"), *seconds = json_object_get(root, "seconds");
    int rc = 0;

    if (!json_is_object(root))
        rc = refuse_answer(resident, answer->line, "is no JSON object in one line", err);
    else if ((uint64_t)json_integer_value(json_object_get(root, "id")) != resident->requests)
        rc = refuse_answer(resident, answer->line, "has not the number of the request, \"id\"", err);
    else if (json_is_string(error))
        rc = pass_error(root, json_string_value(error), err);
    else if (json_is_number(seconds) && json_number_value(seconds) >= 0)
        answer->result.seconds = json_number_value(seconds);
    json_decref(root);
    return rc;
}

/* ---- Requests ---- */

/* How a request ended that was not answered. */
static int describe_failure(const struct command_resident *resident, const struct staying_answer *answer,
                            struct error *err)
{
    if (answer->end == STAYING_NOT_STARTED)
        return error_set(err, ERR_IO, "%s", answer->line);
    if (answer->result.end == PROCESS_EXITED && answer->result.code == 0) {
        error_set(err, ERR_BACKEND, "it ended, with exit code 0, before it had answered");
        if (err != NULL)
            err->foreign_code = COMMAND_LEFT_NOTHING;
        return ERR_BACKEND;
    }
    return command_describe_end(resident->command, &answer->result, err);
}

/* Shows what the process wrote, and gives it up if it has ended. `ret` (may be NULL) gets the time. */
static int finish_request(struct command_resident *resident, struct staying_answer *answer, int rc,
                          struct process_result *ret)
{
    command_show_stream(resident->command, resident->log, "output", &answer->result.out, rc < 0);
    if (rc < 0 && answer->end != STAYING_ANSWERED)
        give_up(resident);
    if (ret != NULL)
        *ret = (struct process_result){.seconds = answer->result.seconds, .out.fd = -1, .error_out.fd = -1};
    staying_answer_release(answer);
    return rc;
}

/* One request, which gets its number here. `*ret_was_ended`: the process had ended before it came. */
static int ask_once(struct command_resident *resident, json_t *request, bool *ret_was_ended, struct process_result *ret,
                    struct error *err)
{
    struct staying_answer answer;
    char *line;
    int rc;

    if (request == NULL) /* jansson refuses strings that are not UTF-8 */
        return error_set(err, ERR_INVALID, "the path of a file is not UTF-8, as in JSON: '%s'", resident->model);
    json_object_set_new(request, "id", json_integer((json_int_t)++resident->requests));
    line = json_dumps(request, JSON_COMPACT);
    rc = staying_ask(resident->process, line, resident->command->timeout, &answer, err);
    free(line);
    if (rc < 0) {
        give_up(resident);
        return rc;
    }
    if (answer.end == STAYING_ANSWERED)
        rc = read_answer(resident, &answer, err);
    else
        rc = describe_failure(resident, &answer, err);
    *ret_was_ended = answer.end == STAYING_WAS_ENDED;
    return finish_request(resident, &answer, rc, ret);
}

static int start_process(struct command_resident *resident, struct error *err)
{
    struct staying_answer answer;
    int rc = staying_open(resident->command->line, resident->command->timeout, &resident->process, &answer, err);

    if (rc < 0)
        return rc;
    rc = answer.end == STAYING_ANSWERED ? read_greeting(resident, &answer, err)
                                        : describe_failure(resident, &answer, err);
    if (rc < 0)
        give_up(resident);
    return finish_request(resident, &answer, rc, NULL);
}

/* Gets a process, and has it build the model. */
static int build_model(struct command_resident *resident, struct error *err)
{
    bool was_ended = false;
    json_t *request;
    int rc;

    rc = start_process(resident, err);
    if (rc < 0)
        return rc;
    request = json_pack("{s:s, s:s}", "request", "build", "model", resident->model);
    rc = ask_once(resident, request, &was_ended, NULL, err);
    json_decref(request);
    return rc;
}

int command_resident_open(const struct runner_command *command, struct log *log, const char *model,
                          struct command_resident **ret, struct error *err)
{
    struct command_resident *resident = memory_alloc_zero(1, sizeof(*resident));
    int rc;

    *resident = (struct command_resident){.command = command, .log = log, .model = memory_strdup(model)};
    rc = build_model(resident, err);
    if (rc < 0) {
        command_resident_close(resident);
        return command_blame(command, true, err);
    }
    *ret = resident;
    return 0;
}

int command_resident_infer(struct command_resident *resident, const char *inputs, const char *outputs,
                           struct process_result *ret, struct error *err)
{
    json_t *request = json_pack("{s:s, s:s, s:s}", "request", "infer", "inputs", inputs, "outputs", outputs);
    bool was_ended = resident->process == NULL;
    int rc = 0;

    /* That it was lost while nobody asked it says nothing about the model. */
    if (resident->process != NULL)
        rc = ask_once(resident, request, &was_ended, ret, err);
    if (was_ended) {
        if (rc < 0)
            log_message(resident->log, LOG_WARNING, "%s | It had ended between two requests and is started again: %s",
                        resident->command->name, err->message);
        rc = build_model(resident, err);
        if (rc == 0)
            rc = ask_once(resident, request, &was_ended, ret, err);
    }
    json_decref(request);
    return rc;
}

void command_resident_close(struct command_resident *resident)
{
    if (resident == NULL)
        return;
    staying_close(resident->process, true);
    free(resident->model);
    free(resident);
}
