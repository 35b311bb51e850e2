/* debug/accuracy/record.c: see record.h. */
#include "debug/accuracy/record.h"

#include "base/system.h"

static const char *outcome_name(enum outcome outcome)
{
    static const char *const names[] = {[OUTCOME_OPEN] = "open",
                                        [OUTCOME_CAUSE] = "cause",
                                        [OUTCOME_NOTHING_FAILS] = "nothing-fails",
                                        [OUTCOME_NO_CAUSE] = "no-cause",
                                        [OUTCOME_NO_QUESTION] = "no-question"};

    return names[outcome];
}

bool accuracy_found_out(const struct investigation *investigation)
{
    return investigation->outcome == OUTCOME_CAUSE || investigation->outcome == OUTCOME_NOTHING_FAILS;
}

/* ---- JSON ---- */

static void write_text(struct json_writer *writer, const char *key, const char *text)
{
    json_writer_key(writer, key);
    if (text != NULL)
        json_writer_string(writer, text);
    else
        json_writer_null(writer);
}

static void write_list(struct json_writer *writer, const char *key, const char *const *items, size_t count)
{
    json_writer_key(writer, key);
    json_writer_begin_array(writer);
    for (size_t i = 0; i < count; i++)
        json_writer_string(writer, items[i]);
    json_writer_end_array(writer);
}

static void write_integer(struct json_writer *writer, const char *key, int64_t value)
{
    json_writer_key(writer, key);
    json_writer_integer(writer, value);
}

static void write_cause(const struct cause *cause, struct json_writer *writer)
{
    json_writer_begin_object(writer);
    write_text(writer, "kind", cause_kind_name(cause->kind));
    write_text(writer, "sentence", cause->sentence);
    write_list(writer, "nodes", cause->nodes.items, cause->nodes.count);
    write_list(writer, "tensors", cause->tensors.items, cause->tensors.count);
    write_text(writer, "tactic", cause->tactic);
    json_writer_key(writer, "proven");
    json_writer_boolean(writer, cause->proven);
    write_list(writer, "proof", cause->proof.items, cause->proof.count);
    json_writer_key(writer, "mend");
    if (cause->mend.what == NULL) {
        json_writer_null(writer);
    } else {
        json_writer_begin_object(writer);
        write_text(writer, "what", cause->mend.what);
        write_list(writer, "options", cause->mend.options.items, cause->mend.options.count);
        write_text(writer, "model", cause->mend.model);
        json_writer_key(writer, "holds");
        json_writer_boolean(writer, cause->mend.holds);
        json_writer_end_object(writer);
    }
    json_writer_end_object(writer);
}

static void write_experiment(const struct experiment *experiment, struct json_writer *writer)
{
    json_writer_begin_object(writer);
    write_text(writer, "name", experiment->name);
    write_text(writer, "question", experiment->step);
    write_text(writer, "why", experiment->why);
    write_text(writer, "command", experiment->command);
    write_text(writer, "outcome", experiment->outcome);
    write_integer(writer, "exit_status", experiment->exit_status);
    write_integer(writer, "checks", experiment->checks);
    write_integer(writer, "builds", experiment->builds);
    json_writer_key(writer, "seconds");
    json_writer_number(writer, experiment->seconds);
    json_writer_end_object(writer);
}

void accuracy_record_write(const void *data, struct json_writer *writer)
{
    const struct investigation *investigation = data;

    write_text(writer, "outcome", outcome_name(investigation->outcome));
    write_text(writer, "verdict", investigation->verdict);
    json_writer_key(writer, "cause");
    if (investigation->cause.kind != CAUSE_UNKNOWN)
        write_cause(&investigation->cause, writer);
    else
        json_writer_null(writer);
    write_text(writer, "tolerance", investigation->tolerance_why);
    write_integer(writer, "checks", investigation_checks(investigation));
    write_integer(writer, "builds", investigation_builds(investigation));
    json_writer_key(writer, "seconds");
    json_writer_number(writer, stopwatch_now() - investigation->start);
    json_writer_key(writer, "steps");
    json_writer_begin_array(writer);
    for (size_t i = 0; i < investigation->experiments.count; i++)
        write_experiment(investigation->experiments.items[i], writer);
    json_writer_end_array(writer);
}

/* ---- The log ---- */

void accuracy_record_log(const struct investigation *investigation)
{
    const struct cause *cause = &investigation->cause;
    struct log *log = investigation->log;
    enum log_level level = accuracy_found_out(investigation) ? LOG_FINISH : LOG_ERROR;

    log_message(log, level, "%s", investigation->verdict);
    log_indent(log, 1);
    for (size_t i = 0; i < cause->proof.count; i++)
        log_message(log, LOG_FINISH, "Seen: %s", cause->proof.items[i]);
    if (cause->mend.what != NULL)
        log_message(log, LOG_FINISH, "Mend: %s%s", cause->mend.what,
                    cause->mend.holds ? "" : " (not seen to hold for the whole model)");
    log_message(log, LOG_FINISH,
                "%zu experiments, %lld runs of the suspect, %lld builds, %.0f s; everything is in '%s'",
                investigation->experiments.count, (long long)investigation_checks(investigation),
                (long long)investigation_builds(investigation), stopwatch_now() - investigation->start,
                investigation->settings->folder);
    log_indent(log, -1);
}
