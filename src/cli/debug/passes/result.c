/* cli/debug/passes/result.c: see result.h. */
#include "cli/debug/passes/result.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text/names.h"
#include "base/text/string_builder.h"
#include "cli/debug/session_page.h"
#include "cli/options/runners/disabled.h"
#include "debug/quantization/saturation.h"

#define MOST_NODES 5     /* that are listed in the log */
#define MOST_DECISIONS 8 /* the same; the line of options, and JSON, have all */

/* The names of a set, with commas in between. An entry of a configuration is called after what switches it off. */
static void add_set(const struct passes_report *report, const struct bitset *set, struct string_builder *ret)
{
    struct short_list names = {.text = ret, .most = MOST_DECISIONS};

    for (size_t i = bitset_next(set, 0); i < set->size; i = bitset_next(set, i + 1)) {
        const char *name = report->decisions.items[i];
        bool is_entry = !disabled_name_has_kind(name) && strchr(name, '=') != NULL;

        if (short_list_next(&names))
            string_add_format(ret, is_entry ? "what %s switches off" : "%s", name);
    }
    short_list_end(&names);
}

static bool are_disjoint(const struct bitset *a, const struct bitset *b)
{
    for (size_t i = bitset_next(a, 0); i < a->size; i = bitset_next(a, i + 1))
        if (bitset_has(b, i))
            return false;
    return true;
}

/* What was seen of culprits. Where they are no part of the cause, both sentences are true: they fail, but not beside
 * what is on in the answer. */
static void add_culprits(const struct passes_report *report, const struct bitset *culprits, struct string_builder *ret)
{
    string_add(ret, "with ");
    add_set(report, culprits, ret);
    string_add(ret, ", and all else switched off, it fails");
    if (are_disjoint(culprits, &report->result->off))
        string_add_format(ret, "; yet %s can stay on: without the cause, and with all else, the check passes",
                          bitset_count(culprits) == 1 ? "it" : "these");
}

static const char *failure_of(const struct passes_report *report)
{
    switch (report->result->outcome) {
    case PASSES_ALL_OFF_FAILS:
        if (report->is_own_reference)
            return "With all of them switched off the model differs from its own reference, too: its outputs hold NaN, "
                   "change from run to run (`polygraphy debug repeat` counts), or depend on what is not among them";
        return "With all of them switched off the check fails, too: the reason is not among them, or the check does "
               "not heed what is switched off";
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
    SCOPED_STRING(text);
    struct short_list list = {.text = &text, .most = MOST_NODES};

    for (size_t i = 0; i < nodes->count; i++)
        if (short_list_next(&list)) {
            string_add_quoted(&text, nodes->items[i].name);
            string_add_format(&text, " (%s)", nodes->items[i].op_type);
        }
    short_list_end(&list);
    log_message(log, LOG_FINISH, "    %s: %s", what, nodes->count > 0 ? text.data : "nothing");
}

static bool replaces_nodes(const struct rewritten_nodes *nodes)
{
    return nodes->before.count > 0 || nodes->after.count > 0;
}

/* Whether the answer could be about kernels instead. "": that was not asked. */
static void add_kernels(const struct other_kernels *kernels, struct string_builder *ret)
{
    string_add(ret, "");
    switch (kernels->evidence) {
    case KERNELS_NOT_ASKED:
        break;
    case KERNELS_SAME:
        string_add(ret, "Seen: layers that begin with the same node have the same kernel with it and without");
        break;
    case KERNELS_FORCED_PASS:
        string_add_format(ret,
                          "Seen: without it, and with the kernels that layers have with it, %s, the check passes: they "
                          "are right by themselves ('%s')",
                          kernels->differences, kernels->replay);
        break;
    case KERNELS_FORCED_FAIL:
        string_add_format(ret,
                          "But: without it, and with the kernels that layers have with it, %s, the check fails as "
                          "well: look at these rather than at the decision ('%s')",
                          kernels->differences, kernels->replay);
        break;
    case KERNELS_NOT_RULED_OUT:
        string_add_format(ret,
                          "Not ruled out: kernels that layers have with it and not without it are wrong by "
                          "themselves%s%s (%s)",
                          kernels->differences != NULL ? ", " : "",
                          kernels->differences != NULL ? kernels->differences : "", kernels->why_not);
        break;
    }
}

static void log_kernels(const struct other_kernels *kernels, struct log *log)
{
    SCOPED_STRING(text);

    add_kernels(kernels, &text);
    if (text.size > 0)
        log_message(log, kernels->evidence == KERNELS_FORCED_FAIL ? LOG_WARNING : LOG_FINISH, "    %s", text.data);
}

static void log_culprits(const struct passes_report *report, struct log *log)
{
    const struct passes_result *result = report->result;

    for (size_t i = 0; i < result->culprits.count; i++) {
        SCOPED_STRING(text);

        add_culprits(report, &result->culprits.items[i], &text);
        log_message(log, LOG_FINISH, "    Seen: %s", text.data);
    }
}

/* What causes it when this is known; NULL: it is not. The setting has no effect where products do not saturate. */
static const char *explain_cause(const struct passes_report *report)
{
    const struct bitset *off = &report->result->off;

    for (size_t i = bitset_next(off, 0); report->saturates && i < off->size; i = bitset_next(off, i + 1))
        if (strcmp(report->decisions.items[i], SATURATION_SETTING) == 0)
            return SATURATION_SENTENCE;
    return NULL;
}

/* In the order of enum remedy_form. */
static const struct {
    const char *key, *words; /* for programs, and in front of the line */
} forms[REMEDY_FORMS] = {
    [REMEDY_OPTION] = {"polygraphy", "To do without: polygraphy run ..."},
    [REMEDY_C] = {"c", "in C:"},
    [REMEDY_PYTHON] = {"python", "in Python:"},
    [REMEDY_TRTEXEC] = {"trtexec", "with trtexec:"},
};

/* Options are given together; what others call is one line each. */
static void log_remedies(const struct remedies *remedies, struct log *log)
{
    SCOPED_STRING(options);

    for (size_t i = 0; i < remedies->count; i++)
        if (remedies->items[i].form == REMEDY_OPTION)
            string_add_format(&options, " %s", remedies->items[i].line);
    if (options.size > 0)
        log_message(log, LOG_FINISH, "    %s%s", forms[REMEDY_OPTION].words, options.data);
    for (size_t i = 0; i < remedies->count; i++)
        if (remedies->items[i].form != REMEDY_OPTION)
            log_message(log, LOG_FINISH, "    %s %s", forms[remedies->items[i].form].words, remedies->items[i].line);
}

static void log_reduction(const struct passes_report *report, size_t number, struct log *log)
{
    const struct passes_reduction *reduction = &report->reductions[number];
    SCOPED_STRING(culprits);

    add_set(report, &report->result->culprits.items[number], &culprits);
    if (reduction->why_not != NULL) {
        log_message(log, LOG_FINISH, "    No smaller model for %s: %s", culprits.data, reduction->why_not);
    } else {
        log_message(log, LOG_FINISH, "    The smallest part in which %s makes a difference: %zu of %zu nodes, '%s'",
                    culprits.data, reduction->nodes.count, reduction->original_nodes, reduction->model);
        log_nodes("It has", &reduction->nodes, log);
        log_message(log, LOG_FINISH, "    %s there: with %s, and all else switched off, it differs from all off",
                    reduction->alone_fails ? "Seen" : "Not seen", culprits.data);
        log_message(log, LOG_FINISH, "    %s there: without the cause, and with all else, it does not",
                    reduction->without_passes ? "Seen" : "Not seen");
        log_message(log, LOG_FINISH, "    Look at it: %s", reduction->command);
    }
}

static void log_not_tried(const struct words *names, struct log *log)
{
    if (names->count > 0)
        log_message(log, LOG_FINISH, "    Not tried, and on all the time: '%s'%s", names->items[0],
                    names->count > 1 ? " and others" : "");
}

void passes_result_log(const struct passes_report *report, struct log *log)
{
    const struct passes_result *result = report->result;
    SCOPED_STRING(text);

    if (result->outcome != PASSES_FOUND) {
        log_message(log, LOG_FINISH, "%s", failure_of(report));
        log_culprits(report, log);
        log_not_tried(&report->not_tried, log);
        return;
    }
    add_set(report, &result->off, &text);
    log_message(log, LOG_FINISH, "Cause: %s", text.data);
    log_message(log, LOG_FINISH, "    Seen: without %s, and with all else, the check passes",
                bitset_count(&result->off) == 1 ? "it" : "these");
    log_culprits(report, log);
    if (result->is_minimal && bitset_count(&result->off) > 1)
        log_message(log, LOG_FINISH, "    Seen: with any single one of them switched on again it fails");
    if (explain_cause(report) != NULL)
        log_message(log, LOG_FINISH, "    %s", explain_cause(report));
    log_message(log, LOG_FINISH, "    Found with %lld checks, both ends%s included", (long long)report->checks,
                report->checked_twice ? " and a second look at what shows it" : "");
    if (report->rewriting.is_known && replaces_nodes(&report->rewriting.nodes)) {
        log_nodes("Without it the model has", &report->rewriting.nodes.before, log);
        log_nodes("With it instead", &report->rewriting.nodes.after, log);
    } else if (report->rewriting.is_known) {
        log_message(log, LOG_FINISH, "    It replaces no nodes");
    }
    log_kernels(&report->rewriting.kernels, log);
    log_not_tried(&report->not_tried, log);
    log_remedies(&report->remedies, log);
    for (size_t i = 0; report->reductions != NULL && i < result->culprits.count; i++)
        log_reduction(report, i, log);
}

/* ---- The page ---- */

/* "'a' (Conv), 'b' (Relu)": the nodes of a region; `names` (may be NULL) get the names. */
static void list_region(const struct rewritten_list *nodes, uint32_t region, struct string_builder *ret,
                        struct word_list *names)
{
    string_add(ret, "");
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->items[i].region == region) {
            string_add_format(ret, "%s'%s' (%s)", ret->size > 0 ? ", " : "", nodes->items[i].name,
                              nodes->items[i].op_type);
            if (names != NULL)
                *VECTOR_APPEND(names) = nodes->items[i].name;
        }
}

/* The model without the cause, and around its nodes what becomes of them. */
static void tell_rewriting(const struct rewritten_nodes *nodes, struct model *model, struct report *page)
{
    static const char *const columns[] = {"without it", "with it"};

    session_page_add_model(page, model);
    for (size_t i = 0; i < nodes->before.count; i++)
        report_add_culprit(page, nodes->before.items[i].name);
    if (nodes->regions > 0)
        report_begin_table(page, "What it replaces", columns, ARRAY_LEN(columns));
    for (uint32_t region = 0; region < nodes->regions; region++) {
        SCOPED_STRING(before);
        SCOPED_STRING(after);
        struct word_list names = {0};

        list_region(&nodes->before, region, &before, &names);
        list_region(&nodes->after, region, &after, NULL);
        report_add_row(page, (const struct report_cell[]){{.text = before.data}, {.text = after.data}});
        if (names.count > 0)
            report_add_layer(page, &(struct report_layer){.name = after.size > 0 ? after.data : "nothing",
                                                          .kind = "what it becomes",
                                                          .seconds = NAN,
                                                          .nodes = {.items = names.items, .count = names.count}});
        free(names.items);
    }
}

void passes_result_tell(const struct passes_report *report, struct model *model, struct report *page)
{
    const struct passes_result *result = report->result;
    SCOPED_STRING(text);

    if (page == NULL)
        return;
    if (result->outcome != PASSES_FOUND) {
        report_set_verdict(page, REPORT_UNKNOWN, "%s", failure_of(report));
        return;
    }
    add_set(report, &result->off, &text);
    report_set_verdict(page, REPORT_CAUSE, "Cause: %s", text.data);
    report_add_proof(page, "without it, and with all else, the check passes");
    for (size_t i = 0; i < result->culprits.count; i++) {
        string_clear(&text);
        add_culprits(report, &result->culprits.items[i], &text);
        report_add_proof(page, "%s", text.data);
    }
    string_clear(&text);
    add_kernels(&report->rewriting.kernels, &text);
    if (text.size > 0)
        report_add_proof(page, "%s", text.data);
    if (explain_cause(report) != NULL)
        report_add_proof(page, "%s", explain_cause(report));
    for (size_t i = 0; i < report->remedies.count; i++)
        report_add_proof(page, "%s %s", forms[report->remedies.items[i].form].words, report->remedies.items[i].line);
    for (size_t i = 0; report->reductions != NULL && i < result->culprits.count; i++)
        if (report->reductions[i].why_not == NULL)
            report_add_command(page, "the smallest part in which it makes the difference",
                               report->reductions[i].command);
    if (report->rewriting.is_known && model != NULL)
        tell_rewriting(&report->rewriting.nodes, model, page);
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
    json_writer_begin_array_member(writer, key);
    for (size_t i = 0; i < nodes->count; i++) {
        json_writer_begin_object(writer);
        json_writer_add_string(writer, "name", nodes->items[i].name);
        json_writer_add_string(writer, "op_type", nodes->items[i].op_type);
        json_writer_end_object(writer);
    }
    json_writer_end_array(writer);
}

static void write_region(const char *key, const struct rewritten_list *nodes, uint32_t region,
                         struct json_writer *writer)
{
    json_writer_begin_array_member(writer, key);
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->items[i].region == region)
            json_writer_string(writer, nodes->items[i].name);
    json_writer_end_array(writer);
}

static void write_regions(const struct rewritten_nodes *nodes, struct json_writer *writer)
{
    json_writer_begin_array_member(writer, "regions");
    for (uint32_t region = 0; region < nodes->regions; region++) {
        json_writer_begin_object(writer);
        write_region("without", &nodes->before, region, writer);
        write_region("with", &nodes->after, region, writer);
        json_writer_end_object(writer);
    }
    json_writer_end_array(writer);
}

static void write_reduction(const struct passes_reduction *reduction, struct json_writer *writer)
{
    json_writer_begin_object(writer);
    if (reduction->why_not != NULL) {
        json_writer_add_string(writer, "why_not", reduction->why_not);
    } else {
        json_writer_add_string(writer, "model", reduction->model);
        json_writer_add_string(writer, "inputs", reduction->inputs);
        json_writer_add_string(writer, "golden", reduction->golden);
        json_writer_add_count(writer, "original_nodes", reduction->original_nodes);
        write_nodes("nodes", &reduction->nodes, writer);
        json_writer_add_boolean(writer, "alone_fails", reduction->alone_fails);
        json_writer_add_boolean(writer, "without_passes", reduction->without_passes);
        json_writer_add_string(writer, "command", reduction->command);
    }
    json_writer_end_object(writer);
}

static void write_kernels(const struct other_kernels *kernels, struct json_writer *writer)
{
    static const char *const evidence[] = {[KERNELS_SAME] = "same",
                                           [KERNELS_FORCED_PASS] = "forced-pass",
                                           [KERNELS_FORCED_FAIL] = "forced-fail",
                                           [KERNELS_NOT_RULED_OUT] = "not-ruled-out"};

    if (kernels->evidence == KERNELS_NOT_ASKED)
        return;
    json_writer_begin_object_member(writer, "other_kernels");
    json_writer_add_string(writer, "evidence", evidence[kernels->evidence]);
    if (kernels->evidence == KERNELS_NOT_RULED_OUT)
        json_writer_add_string(writer, "why_not", kernels->why_not);
    if (kernels->replay != NULL)
        json_writer_add_string(writer, "replay", kernels->replay);
    json_writer_end_object(writer);
}

void passes_result_write(const void *data, struct json_writer *writer)
{
    static const char *const outcomes[] = {[PASSES_FOUND] = "found",
                                           [PASSES_ALL_OFF_FAILS] = "all-off-fails",
                                           [PASSES_NONE_OFF_PASSES] = "none-off-passes",
                                           [PASSES_UNDECIDED] = "undecided"};
    const struct passes_report *report = data;
    const struct passes_result *result = report->result;

    json_writer_add_string(writer, "outcome", outcomes[result->outcome]);
    json_writer_add_strings(writer, "decisions", report->decisions.items, report->decisions.count);
    json_writer_add_strings(writer, "not_tried", report->not_tried.items, report->not_tried.count);
    json_writer_key(writer, "off");
    write_set(report, &result->off, writer);
    json_writer_add_boolean(writer, "minimal", result->is_minimal);
    json_writer_begin_array_member(writer, "culprits");
    for (size_t i = 0; i < result->culprits.count; i++)
        write_set(report, &result->culprits.items[i], writer);
    json_writer_end_array(writer);
    if (report->rewriting.is_known) {
        write_nodes("nodes_without", &report->rewriting.nodes.before, writer);
        write_nodes("nodes_with", &report->rewriting.nodes.after, writer);
        write_regions(&report->rewriting.nodes, writer);
    }
    write_kernels(&report->rewriting.kernels, writer);
    json_writer_begin_array_member(writer, "remedies");
    for (size_t i = 0; i < report->remedies.count; i++) {
        json_writer_begin_object(writer);
        json_writer_add_string(writer, "form", forms[report->remedies.items[i].form].key);
        json_writer_add_string(writer, "line", report->remedies.items[i].line);
        json_writer_end_object(writer);
    }
    json_writer_end_array(writer);
    if (report->reductions == NULL)
        return;
    json_writer_begin_array_member(writer, "reduced");
    for (size_t i = 0; i < result->culprits.count; i++)
        write_reduction(&report->reductions[i], writer);
    json_writer_end_array(writer);
}
