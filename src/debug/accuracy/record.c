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

static void write_cause(const struct cause *cause, struct json_writer *writer)
{
    json_writer_begin_object(writer);
    json_writer_add_string(writer, "kind", cause_kind_name(cause->kind));
    json_writer_add_string(writer, "sentence", cause->sentence);
    json_writer_add_strings(writer, "nodes", cause->nodes.items, cause->nodes.count);
    json_writer_add_strings(writer, "tensors", cause->tensors.items, cause->tensors.count);
    json_writer_add_string(writer, "tactic", cause->tactic);
    json_writer_add_boolean(writer, "proven", cause->proven);
    json_writer_add_strings(writer, "proof", cause->proof.items, cause->proof.count);
    json_writer_key(writer, "mend");
    if (cause->mend.what == NULL) {
        json_writer_null(writer);
    } else {
        json_writer_begin_object(writer);
        json_writer_add_string(writer, "what", cause->mend.what);
        json_writer_add_strings(writer, "options", cause->mend.options.items, cause->mend.options.count);
        json_writer_add_string(writer, "model", cause->mend.model);
        json_writer_add_boolean(writer, "holds", cause->mend.holds);
        json_writer_end_object(writer);
    }
    json_writer_end_object(writer);
}

static void write_experiment(const struct experiment *experiment, struct json_writer *writer)
{
    json_writer_begin_object(writer);
    json_writer_add_string(writer, "name", experiment->name);
    json_writer_add_string(writer, "question", experiment->step);
    json_writer_add_string(writer, "why", experiment->why);
    json_writer_add_string(writer, "command", experiment->command);
    json_writer_add_string(writer, "outcome", experiment->outcome);
    json_writer_add_integer(writer, "exit_status", experiment->exit_status);
    json_writer_add_integer(writer, "checks", experiment->checks);
    json_writer_add_integer(writer, "builds", experiment->builds);
    json_writer_add_number(writer, "seconds", experiment->seconds);
    json_writer_end_object(writer);
}

void accuracy_record_write(const void *data, struct json_writer *writer)
{
    const struct investigation *investigation = data;

    json_writer_add_string(writer, "outcome", outcome_name(investigation->outcome));
    json_writer_add_string(writer, "verdict", investigation->verdict);
    json_writer_key(writer, "cause");
    if (investigation->cause.kind != CAUSE_UNKNOWN)
        write_cause(&investigation->cause, writer);
    else
        json_writer_null(writer);
    json_writer_add_string(writer, "tolerance", investigation->tolerance_why);
    json_writer_add_integer(writer, "checks", investigation_checks(investigation));
    json_writer_add_integer(writer, "builds", investigation_builds(investigation));
    json_writer_add_number(writer, "seconds", stopwatch_now() - investigation->start);
    json_writer_begin_array_member(writer, "steps");
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
