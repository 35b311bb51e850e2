/* comparator/lint_process.c: running a model and its nodes where a crash of the runtime does no harm. See lint.h.
 *
 * A copy of this process waits, with the model and its data, and runs them in children of its own. A child tells what it finds as it finds it.
 * What comes before a crash is known, then, and on which node it was: the next child leaves that one out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/process.h"
#include "base/warm_process.h"
#include "comparator/lint.h"

/* Every crash begins anew, so that the values of the nodes before are there. */
#define MOST_CRASHES 16

#define WHOLE "whole"
#define NODES "nodes"

/* One event, as lint.c tells it. */
struct event {
    char kind;
    int level, source;
    uint32_t node;
    struct text text;
};

struct lint_process {
    struct lint *lint;
    struct tensor_list *feed;
    struct warm_process *warm;
    struct bitset crashed; /* nodes */
    char **reasons;        /* one for each of them, by node */
    size_t crashes;
};

/* ---- The child ---- */

/* Set in the copy alone. */
static const struct lint_process *inherited;

static void prepare(void *data)
{
    inherited = data;
}

/* Words: a name, what to run, the nodes that are left out. */
static int run_in_child(int count, char **words)
{
    struct lint lint = *inherited->lint;
    struct bitset crash;
    struct error err = {0};
    int rc;

    lint.events = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* libraries may print */
    bitset_init(&crash, lint.model->nodes.count);
    for (int i = 2; i < count; i++)
        bitset_add(&crash, strtoul(words[i], NULL, 10));
    lint.crash = &crash;
    if (strcmp(words[1], WHOLE) == 0)
        rc = lint_run_whole(&lint, inherited->feed, &err);
    else
        rc = lint_run_nodes(&lint, inherited->feed, &err);
    dprintf(lint.events, "%c %d 0 0 %zu\n%s", LINT_EVENT_END, rc, strlen(err.message), err.message);
    return 0; /* the process ends here: it gives nothing back */
}

/* ---- What it tells ---- */

static bool next_event(struct text *rest, struct event *ret)
{
    const char *line_end = rest->size > 0 ? memchr(rest->data, '\n', rest->size) : NULL;
    char line[128];
    size_t used, size;

    if (line_end == NULL || (size_t)(line_end - rest->data) >= sizeof(line))
        return false;
    used = (size_t)(line_end - rest->data) + 1;
    snprintf(line, sizeof(line), "%.*s", (int)used, rest->data);
    if (sscanf(line, "%c %d %d %u %zu", &ret->kind, &ret->level, &ret->source, &ret->node, &size) != 5 ||
        size > rest->size - used)
        return false;
    ret->text = (struct text){rest->data + used, size};
    rest->data += used + size;
    rest->size -= used + size;
    return true;
}

/* What is found of a node on which the runtime has crashed stands where the others do. */
static void replay(const struct lint_process *process, struct text events)
{
    struct lint *lint = process->lint;
    struct event event;

    while (next_event(&events, &event)) {
        if (event.kind == LINT_EVENT_FINDING)
            lint_add(lint, (enum lint_level)event.level, (enum lint_source)event.source, event.node, TEXT_FORMAT,
                     TEXT_ARGS(event.text));
        else if (event.kind == LINT_EVENT_PASSING)
            lint_add_passing(lint, event.node);
        else if (event.kind == LINT_EVENT_BEGUN && bitset_has(&process->crashed, event.node))
            lint_add(lint, LINT_EXCEPTION, LINT_RUNTIME, event.node, "%s", process->reasons[event.node]);
    }
}

/* The last node that was begun, and how it all ended; false when it did not come to an end. */
static bool find_end(struct text events, uint32_t *ret_node, int *ret_rc, struct error *err)
{
    struct event event;

    *ret_node = NODE_NONE;
    while (next_event(&events, &event)) {
        if (event.kind == LINT_EVENT_BEGUN)
            *ret_node = event.node;
        if (event.kind != LINT_EVENT_END)
            continue;
        *ret_rc =
            event.level < 0 ? error_set(err, (enum error_code)event.level, TEXT_FORMAT, TEXT_ARGS(event.text)) : 0;
        return true;
    }
    return false;
}

static char *describe_crash(const struct process_result *result)
{
    struct string_builder ret;

    string_init(&ret);
    if (result->end == PROCESS_SIGNALED)
        string_add_format(&ret, "ONNX Runtime crashes: signal %d (%s) ended its process", result->code,
                          strsignal(result->code));
    else
        string_add_format(&ret, "ONNX Runtime ends its process with exit code %d", result->code);
    return string_take(&ret);
}

/* ---- Here ---- */

static int run_child(const struct lint_process *process, const char *what, struct process_result *ret,
                     struct error *err)
{
    char numbers[MOST_CRASHES][24];
    const char *words[MOST_CRASHES + 3] = {"lint", what};
    struct process_request request = {.arguments = (const char *const[]){"false", NULL},
                                      .warm = process->warm,
                                      .warm_arguments = words,
                                      .without_input = true};
    size_t count = 0;

    for (size_t node = 0; count < process->crashes && node < process->lint->model->nodes.count; node++)
        if (bitset_has(&process->crashed, node)) {
            snprintf(numbers[count], sizeof(numbers[count]), "%zu", node);
            words[2 + count] = numbers[count];
            count++;
        }
    return process_run(&request, ret, err);
}

/* A crash is an error like the runtime's others; then `*ret_crashed`. */
static int run_whole(const struct lint_process *process, bool *ret_crashed, struct error *err)
{
    struct process_result result;
    struct text events;
    uint32_t node;
    int rc;

    if (process->warm == NULL)
        return lint_run_whole(process->lint, process->feed, err);
    rc = run_child(process, WHOLE, &result, err);
    if (rc < 0)
        return rc;
    events = (struct text){result.out.data, result.out.size};
    *ret_crashed = !find_end(events, &node, &rc, err);
    if (*ret_crashed) {
        char *reason = describe_crash(&result);

        rc = error_set(err, ERR_BACKEND, "%s", reason);
        free(reason);
    }
    if (rc == 0)
        replay(process, events);
    process_result_release(&result);
    return rc;
}

/* Gives up when no node was begun, and when there are too many of them. */
static bool note_crash(struct lint_process *process, uint32_t node, const struct process_result *result)
{
    if (node >= process->lint->model->nodes.count || process->crashes == MOST_CRASHES ||
        bitset_has(&process->crashed, node))
        return false;
    bitset_add(&process->crashed, node);
    process->reasons[node] = describe_crash(result);
    process->crashes++;
    return true;
}

static void give_up(const struct lint_process *process, const struct process_result *result)
{
    char *reason = describe_crash(result);

    lint_add(process->lint, LINT_EXCEPTION, LINT_RUNTIME, NODE_NONE, "%s; the nodes behind were not run", reason);
    free(reason);
}

static int run_nodes(struct lint_process *process, struct error *err)
{
    struct process_result result;
    bool again = process->warm != NULL;
    int rc = 0;

    if (process->warm == NULL)
        return lint_run_nodes(process->lint, process->feed, err);
    while (rc == 0 && again) {
        uint32_t node;
        bool ended;

        rc = run_child(process, NODES, &result, err);
        if (rc < 0)
            return rc;
        ended = find_end((struct text){result.out.data, result.out.size}, &node, &rc, err);
        again = !ended && note_crash(process, node, &result);
        if (rc == 0 && !again)
            replay(process, (struct text){result.out.data, result.out.size});
        if (!ended && !again)
            give_up(process, &result);
        process_result_release(&result);
    }
    return rc;
}

/* The whole model, and its nodes when it does not run. */
static int run_all(struct lint_process *process, bool in_order, bool *ret_ran, struct error *err)
{
    struct lint *lint = process->lint;
    size_t failing = lint->report->failing.count;
    struct error why = {0};
    bool crashed = false;
    int rc = in_order ? run_whole(process, &crashed, &why) : ERR_BACKEND;

    *ret_ran = rc == 0;
    if (rc == 0)
        return 0;
    if (rc != ERR_BACKEND && rc != ERR_INVALID && rc != ERR_CORRUPT && rc != ERR_UNSUPPORTED)
        return error_set(err, (enum error_code)rc, "%s", why.message);
    rc = run_nodes(process, err);
    if (rc < 0)
        return rc;
    if (crashed && lint->report->failing.count == failing)
        lint_add(lint, LINT_EXCEPTION, LINT_RUNTIME, NODE_NONE,
                 "%s. It does so on the whole model, not on nodes that run alone: --onnxrt-optimization-level of "
                 "`run` says how much it changes the model before it runs it",
                 why.message);
    else if (in_order && lint->report->entries.count == 0) /* together they fail, alone none does */
        lint_add(lint, LINT_EXCEPTION, LINT_RUNTIME, NODE_NONE, "%s", why.message);
    return 0;
}

int lint_run_apart(struct lint *lint, struct tensor_list *feed, bool in_order, bool *ret_ran, struct error *err)
{
    size_t count = lint->model->nodes.count;
    struct lint_process process = {
        .lint = lint, .feed = feed, .reasons = memory_alloc_zero(count + 1, sizeof(*process.reasons))};
    int rc;

    bitset_init(&process.crashed, count);
    process.warm = warm_process_start(run_in_child, prepare, &process);
    rc = run_all(&process, in_order, ret_ran, err);
    warm_process_stop(process.warm);
    for (size_t i = 0; i < count; i++)
        free(process.reasons[i]);
    free(process.reasons);
    bitset_release(&process.crashed);
    return rc;
}
