/* cli/debug/passes_result.c: see passes_result.h. */
#include "cli/debug/passes_result.h"

#include <string.h>

#include "backend/onnxrt/optimizers.h"
#include "base/text/string_builder.h"

#define MOST_NODES 5 /* that are listed in the log */

/* The names of a set, with commas in between. */
static void add_set(const struct passes_report *report, const struct bitset *set, struct string_builder *ret)
{
    for (size_t i = bitset_next(set, 0); i < set->size; i = bitset_next(set, i + 1))
        string_add_format(ret, "%s%s", ret->size > 0 ? ", " : "", report->decisions.items[i]);
}

static const char *failure_of(const struct passes_report *report)
{
    switch (report->result->outcome) {
    case PASSES_ALL_OFF_FAILS:
        return "With all of them switched off the check fails, too: the reason is not among them, or the check does "
               "not heed "
               "what is switched off";
    case PASSES_NONE_OFF_PASSES:
        return "With nothing switched off the check passes: there is nothing to look for";
    case PASSES_UNDECIDED:
        return report->result->culprits.count > 0
                   ? "Not decided: with what was found switched off, and with all else, the check says nothing"
                   : "Not decided: the search has ended before anything was found";
    case PASSES_FOUND:
        break;
    }
    return NULL;
}

/* ---- The log ---- */

static void log_nodes(const char *what, const struct rewritten_list *nodes, struct log *log)
{
    struct string_builder text;

    string_init(&text);
    for (size_t i = 0; i < nodes->count && i < MOST_NODES; i++) {
        string_add(&text, i > 0 ? ", " : "");
        string_add_quoted(&text, nodes->items[i].name);
        string_add_format(&text, " (%s)", nodes->items[i].op_type);
    }
    if (nodes->count > MOST_NODES)
        string_add_format(&text, " and %zu more", nodes->count - MOST_NODES);
    log_message(log, LOG_FINISH, "    %s: %s", what, nodes->count > 0 ? text.data : "nothing");
    string_release(&text);
}

static void log_culprits(const struct passes_report *report, struct log *log)
{
    const struct passes_result *result = report->result;

    for (size_t i = 0; i < result->culprits.count; i++) {
        struct string_builder text;

        string_init(&text);
        add_set(report, &result->culprits.items[i], &text);
        log_message(log, LOG_FINISH, "    Seen: with %s, and all else switched off, it fails", text.data);
        string_release(&text);
    }
}

static void log_remedy_of_optimizers(const struct passes_report *report, struct log *log)
{
    const struct bitset *off = &report->result->off;
    struct string_builder options, names, python;

    string_init(&options);
    string_init(&names);
    string_init(&python);
    for (size_t i = bitset_next(off, 0); i < off->size; i = bitset_next(off, i + 1)) {
        const char *name = report->decisions.items[i];

        if (strchr(name, '=') != NULL)
            continue;
        string_add_format(&options, " %s", name);
        string_add_format(&names, "%s%s", names.size > 0 ? ";" : "", name);
        string_add_format(&python, "%s\"%s\"", python.size > 0 ? ", " : "", name);
    }
    if (names.size > 0) {
        log_message(log, LOG_FINISH, "    To do without: polygraphy run ... --onnxrt-disable-optimizers%s",
                    options.data);
        log_message(log, LOG_FINISH, "    in C: AddSessionConfigEntry(options, \"%s\", \"%s\")",
                    ONNXRT_DISABLED_OPTIMIZERS_KEY, names.data);
        log_message(log, LOG_FINISH, "    in Python: InferenceSession(..., disabled_optimizers=[%s])", python.data);
    }
    string_release(&options);
    string_release(&names);
    string_release(&python);
}

static void log_remedy_of_setting(const char *setting, struct log *log)
{
    int key = (int)strcspn(setting, "=");
    const char *value = setting + key + 1;

    log_message(log, LOG_FINISH, "    To do without: polygraphy run ... --session-config %s", setting);
    log_message(log, LOG_FINISH, "    in C: AddSessionConfigEntry(options, \"%.*s\", \"%s\")", key, setting, value);
    log_message(log, LOG_FINISH, "    in Python: options.add_session_config_entry(\"%.*s\", \"%s\")", key, setting,
                value);
}

void passes_result_log(const struct passes_report *report, struct log *log)
{
    const struct passes_result *result = report->result;
    struct string_builder text;

    if (result->outcome != PASSES_FOUND) {
        log_message(log, LOG_FINISH, "%s", failure_of(report));
        log_culprits(report, log);
        return;
    }
    string_init(&text);
    add_set(report, &result->off, &text);
    log_message(log, LOG_FINISH, "Cause: %s", text.data);
    log_message(log, LOG_FINISH, "    Seen: without %s, and with all else, the check passes",
                bitset_count(&result->off) == 1 ? "it" : "these");
    log_culprits(report, log);
    if (result->is_minimal && bitset_count(&result->off) > 1)
        log_message(log, LOG_FINISH, "    Seen: with any single one of them switched on again it fails");
    string_release(&text);
    if (report->knows_nodes) {
        log_nodes("Without it the model has", &report->nodes.before, log);
        log_nodes("With it instead", &report->nodes.after, log);
    }
    log_remedy_of_optimizers(report, log);
    for (size_t i = bitset_next(&result->off, 0); i < result->off.size; i = bitset_next(&result->off, i + 1))
        if (strchr(report->decisions.items[i], '=') != NULL)
            log_remedy_of_setting(report->decisions.items[i], log);
}

/* ---- The page ---- */

void passes_result_tell(const struct passes_report *report, struct report *page)
{
    const struct passes_result *result = report->result;
    struct string_builder text;

    if (page == NULL)
        return;
    if (result->outcome != PASSES_FOUND) {
        report_set_verdict(page, REPORT_UNKNOWN, "%s", failure_of(report));
        return;
    }
    string_init(&text);
    add_set(report, &result->off, &text);
    report_set_verdict(page, REPORT_CAUSE, "Cause: %s", text.data);
    report_add_proof(page, "without it, and with all else, the check passes");
    for (size_t i = 0; i < result->culprits.count; i++) {
        string_clear(&text);
        add_set(report, &result->culprits.items[i], &text);
        report_add_proof(page, "with %s, and all else switched off, it fails", text.data);
    }
    string_release(&text);
}

/* ---- JSON ---- */

static void write_set(const struct passes_report *report, const struct bitset *set, struct json_writer *writer)
{
    json_writer_begin_array(writer);
    for (size_t i = bitset_next(set, 0); i < set->size; i = bitset_next(set, i + 1))
        json_writer_string(writer, report->decisions.items[i]);
    json_writer_end_array(writer);
}

static void write_nodes(const char *key, const struct rewritten_list *nodes, struct json_writer *writer)
{
    json_writer_key(writer, key);
    json_writer_begin_array(writer);
    for (size_t i = 0; i < nodes->count; i++) {
        json_writer_begin_object(writer);
        json_writer_key(writer, "name");
        json_writer_string(writer, nodes->items[i].name);
        json_writer_key(writer, "op_type");
        json_writer_string(writer, nodes->items[i].op_type);
        json_writer_end_object(writer);
    }
    json_writer_end_array(writer);
}

void passes_result_write(const void *data, struct json_writer *writer)
{
    static const char *const outcomes[] = {[PASSES_FOUND] = "found",
                                           [PASSES_ALL_OFF_FAILS] = "all-off-fails",
                                           [PASSES_NONE_OFF_PASSES] = "none-off-passes",
                                           [PASSES_UNDECIDED] = "undecided"};
    const struct passes_report *report = data;
    const struct passes_result *result = report->result;

    json_writer_key(writer, "outcome");
    json_writer_string(writer, outcomes[result->outcome]);
    json_writer_key(writer, "decisions");
    json_writer_begin_array(writer);
    for (size_t i = 0; i < report->decisions.count; i++)
        json_writer_string(writer, report->decisions.items[i]);
    json_writer_end_array(writer);
    json_writer_key(writer, "off");
    write_set(report, &result->off, writer);
    json_writer_key(writer, "minimal");
    json_writer_boolean(writer, result->is_minimal);
    json_writer_key(writer, "culprits");
    json_writer_begin_array(writer);
    for (size_t i = 0; i < result->culprits.count; i++)
        write_set(report, &result->culprits.items[i], writer);
    json_writer_end_array(writer);
    if (report->knows_nodes) {
        write_nodes("nodes_without", &report->nodes.before, writer);
        write_nodes("nodes_with", &report->nodes.after, writer);
    }
}
