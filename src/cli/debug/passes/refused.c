/* cli/debug/passes/refused.c: see refused.h. */
#include "cli/debug/passes/refused.h"

#include "base/memory.h"

struct attempt {
    const struct passes_subject *subject;
    struct word_list *words;
    const char *path;
    struct words decisions;
    struct bitset on;    /* all but those disabled so far */
    const char *message; /* of the last failure */
};

/* Tries with all but `on` disabled. */
static int try_without(struct attempt *attempt, const struct bitset *on, bool *ret, struct error *err)
{
    struct process_result result;
    int rc = decisions_write(attempt->decisions, on, attempt->path, err);

    if (rc == 0)
        rc = passes_run_command(attempt->subject, attempt->words, attempt->path, &result, err);
    if (rc < 0)
        return rc;
    *ret = result.end == PROCESS_EXITED && result.code == 0;
    if (!*ret)
        attempt->message =
            arena_strdup(attempt->subject->arena, result.error_out.size > 0 ? result.error_out.data : "nothing");
    process_result_release(&result);
    return 0;
}

static int disable_halves(struct attempt *attempt, size_t first, size_t end, struct error *err);

/* Disables as many of these as possible. */
static int switch_off(struct attempt *attempt, size_t first, size_t end, struct error *err)
{
    SCOPED_BITSET(on);
    bool works;
    int rc;

    bitset_init_copy(&on, &attempt->on);
    for (size_t i = first; i < end; i++)
        bitset_remove(&on, i);
    rc = try_without(attempt, &on, &works, err);
    if (rc == 0 && works)
        bitset_intersect(&attempt->on, &on);
    return rc < 0 || works || end - first == 1 ? rc : disable_halves(attempt, first, end, err);
}

static int disable_halves(struct attempt *attempt, size_t first, size_t end, struct error *err)
{
    size_t middle = first + (end - first) / 2;
    int rc = middle > first ? switch_off(attempt, first, middle, err) : 0;

    return rc == 0 ? switch_off(attempt, middle, end, err) : rc;
}

static void name_part(const struct attempt *attempt, struct decisions *decisions, struct word_list *ret_refused)
{
    size_t kept = 0;

    for (size_t i = 0; i < attempt->decisions.count; i++)
        if (bitset_has(&attempt->on, i))
            *VECTOR_APPEND(ret_refused) = decisions->names.items[i];
        else
            decisions->names.items[kept++] = decisions->names.items[i];
    decisions->names.count = kept;
}

int refused_leave_out(const struct passes_subject *subject, struct word_list *words, const char *path,
                      struct decisions *decisions, struct word_list *ret_refused, struct error *err)
{
    struct log *log = subject->context->log;
    struct attempt attempt = {.subject = subject,
                              .words = words,
                              .path = path,
                              .decisions = {.items = decisions->names.items, .count = decisions->names.count}};
    bool works;
    int rc;

    bitset_init(&attempt.on, attempt.decisions.count);
    rc = try_without(&attempt, &attempt.on, &works, err);
    if (rc < 0 || works)
        goto done;
    bitset_fill(&attempt.on);
    rc = try_without(&attempt, &attempt.on, &works, err);
    if (rc < 0 || !works)
        goto done;
    log_message(log, LOG_INFO, "The model does not run with all %zu disabled: searching for those that can be disabled",
                attempt.decisions.count);
    rc = disable_halves(&attempt, 0, attempt.decisions.count, err);
    if (rc < 0)
        goto done;
    name_part(&attempt, decisions, ret_refused);
    if (ret_refused->count > 0)
        log_message(
            log, LOG_WARNING,
            "%zu of %zu optimizations stay enabled and are not tried ('%s'%s): the model does not run with these and "
            "the others disabled. Pass --decisions with these to try them separately. The error was:\n%s",
            ret_refused->count, attempt.decisions.count, ret_refused->items[0],
            ret_refused->count > 1 ? " and others" : "", attempt.message);
done:
    bitset_release(&attempt.on);
    return rc;
}
