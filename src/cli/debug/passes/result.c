/* cli/debug/passes/result.c: see result.h. */
#include "cli/debug/passes/result.h"

#include <string.h>

#include "base/memory.h"
#include "base/text/names.h"
#include "base/text/string_builder.h"
#include "cli/options/runners/disabled.h"
#include "debug/quantization/saturation.h"

#define MOST_NODES 5     /* in a line */
#define MOST_DECISIONS 8 /* in a line; the line of options and JSON have all */

/* Appends the names of a set, separated by commas. A configuration entry is named after what it disables. */
static void add_set(const struct passes_report *report, const struct bitset *set, struct string_builder *ret)
{
    struct short_list names = {.text = ret, .most = MOST_DECISIONS};

    BITSET_EACH (i, set) {
        const char *name = report->decisions.items[i];
        bool is_entry = !disabled_name_has_kind(name) && strchr(name, '=') != NULL;

        if (short_list_next(&names))
            string_add_format(ret, is_entry ? "what %s disables" : "%s", name);
    }
    short_list_end(&names);
}

static void add_nodes(const struct rewritten_list *nodes, struct string_builder *ret)
{
    struct short_list list = {.text = ret, .most = MOST_NODES};

    for (size_t i = 0; i < nodes->count; i++)
        if (short_list_next(&list)) {
            string_add_quoted(ret, nodes->items[i].name);
            string_add_format(ret, " (%s)", nodes->items[i].op_type);
        }
    short_list_end(&list);
    if (nodes->count == 0)
        string_add(ret, "nothing");
}

static bool are_disjoint(const struct bitset *a, const struct bitset *b)
{
    BITSET_EACH (i, a)
        if (bitset_has(b, i))
            return false;
    return true;
}

/* ---- Lines ---- */

static const char *failure_of(const struct passes_report *report)
{
    switch (report->result->outcome) {
    case PASSES_ALL_OFF_FAILS:
        if (report->is_own_reference)
            return "The model differs from its own reference with all optimizations disabled, too: its outputs contain "
                   "NaN, change from run to run (`polygraphy debug repeat` counts), or depend on something that is not "
                   "a candidate";
        return "The check fails with all optimizations disabled, too: the cause is not among them, or the check "
               "ignores "
               "the list of disabled optimizations";
    case PASSES_NONE_OFF_PASSES:
        return "The check passes with all optimizations enabled: nothing to find";
    case PASSES_UNDECIDED:
        return report->result->culprits.count > 0
                   ? "Not decided: the check is inconclusive with only the found optimizations disabled"
                   : "Not decided: the search ended before anything was found";
    case PASSES_FOUND:
        break;
    }
    return NULL;
}

/* If culprits are not part of the cause, both sentences are true: they fail alone, but not with what the answer leaves
 * enabled. */
static void add_culprits(const struct passes_report *report, struct result *ret)
{
    const struct passes_result *result = report->result;

    VECTOR_EACH (const struct bitset, culprits, result->culprits) {
        SCOPED_STRING(names);

        add_set(report, culprits, &names);
        if (are_disjoint(culprits, &result->off))
            result_add_line(
                ret, RESULT_EVIDENCE,
                "fails with only %s enabled; yet %s can stay enabled: the check passes with only the cause disabled",
                names.data, bitset_count(culprits) == 1 ? "it" : "they");
        else
            result_add_line(ret, RESULT_EVIDENCE, "fails with only %s enabled", names.data);
    }
}

/* Whether kernels that change with the optimization could be the cause instead. */
static void add_kernels(const struct other_kernels *kernels, struct result *ret)
{
    switch (kernels->evidence) {
    case KERNELS_NOT_ASKED:
        break;
    case KERNELS_SAME:
        result_add_line(ret, RESULT_EVIDENCE,
                        "layers that begin with the same node have the same kernel with and without it");
        break;
    case KERNELS_FORCED_PASS:
        result_add_line(ret, RESULT_EVIDENCE,
                        "passes without it but with the same kernels as with it, %s: these kernels are correct ('%s')",
                        kernels->differences, kernels->replay);
        break;
    case KERNELS_FORCED_FAIL:
        result_add_line(ret, RESULT_CAUTION,
                        "The check also fails without it if layers keep the kernels that they have with it, %s: "
                        "examine these kernels rather than the optimization ('%s')",
                        kernels->differences, kernels->replay);
        break;
    case KERNELS_NOT_RULED_OUT:
        result_add_line(ret, RESULT_NOT_TESTED, "whether the kernels that layers have only with it are wrong%s%s (%s)",
                        kernels->differences != NULL ? ", " : "",
                        kernels->differences != NULL ? kernels->differences : "", kernels->why_not);
        break;
    }
}

/* The setting has no effect where products do not saturate. */
static void add_explanation(const struct passes_report *report, struct result *ret)
{
    const struct bitset *off = &report->result->off;

    for (size_t i = bitset_next(off, 0); report->saturates && i < off->size; i = bitset_next(off, i + 1))
        if (strcmp(report->decisions.items[i], SATURATION_SETTING) == 0) {
            result_add_line(ret, RESULT_NOTE, "%s", SATURATION_SENTENCE);
            return;
        }
}

static void add_rewriting(const struct rewriting *rewriting, struct result *ret)
{
    const struct rewritten_nodes *nodes = &rewriting->nodes;
    SCOPED_STRING(before);
    SCOPED_STRING(after);

    if (!rewriting->is_known)
        return;
    if (nodes->before.count == 0 && nodes->after.count == 0) {
        result_add_line(ret, RESULT_NOTE, "It replaces no nodes");
        return;
    }
    add_nodes(&nodes->before, &before);
    add_nodes(&nodes->after, &after);
    result_add_line(ret, RESULT_NOTE, "Nodes without it: %s", before.data);
    result_add_line(ret, RESULT_NOTE, "Nodes with it: %s", after.data);
}

/* In the order of enum remedy_form. */
static const struct {
    const char *key, *words; /* for programs, and at the beginning of the line */
} forms[REMEDY_FORMS] = {
    [REMEDY_OPTION] = {"polygraphy", "polygraphy run ..."},
    [REMEDY_C] = {"c", "in C:"},
    [REMEDY_PYTHON] = {"python", "in Python:"},
    [REMEDY_TRTEXEC] = {"trtexec", "with trtexec:"},
};

/* Options are on one line; other forms have one line each. */
static void add_fixes(const struct remedies *remedies, struct result *ret)
{
    SCOPED_STRING(options);

    for (size_t i = 0; i < remedies->count; i++)
        if (remedies->items[i].form == REMEDY_OPTION)
            string_add_format(&options, " %s", remedies->items[i].line);
    if (options.size > 0)
        result_add_line(ret, RESULT_FIX, "%s%s", forms[REMEDY_OPTION].words, options.data);
    for (size_t i = 0; i < remedies->count; i++)
        if (remedies->items[i].form != REMEDY_OPTION)
            result_add_line(ret, RESULT_FIX, "%s %s", forms[remedies->items[i].form].words, remedies->items[i].line);
}

/* Adds the smallest subgraph in which a set of culprits makes a difference. */
static void add_reduction(const struct passes_report *report, size_t number, struct result *ret)
{
    const struct passes_reduction *reduction = &report->reductions[number];
    SCOPED_STRING(culprits);
    SCOPED_STRING(nodes);

    add_set(report, &report->result->culprits.items[number], &culprits);
    if (reduction->why_not != NULL) {
        result_add_line(ret, RESULT_NOT_TESTED, "a smaller model for %s (%s)", culprits.data, reduction->why_not);
        return;
    }
    add_nodes(&reduction->nodes, &nodes);
    result_add_line(ret, RESULT_NOTE,
                    "The smallest subgraph in which %s makes a difference: %zu of %zu nodes, '%s': %s", culprits.data,
                    reduction->nodes.count, reduction->original_nodes, reduction->model, nodes.data);
    result_add_line(
        ret, reduction->alone_fails ? RESULT_EVIDENCE : RESULT_NOT_TESTED,
        reduction->alone_fails
            ? "the subgraph with only %s enabled differs from the subgraph with everything disabled"
            : "whether the subgraph with only %s enabled differs from the subgraph with everything disabled",
        culprits.data);
    result_add_line(
        ret, reduction->without_passes ? RESULT_EVIDENCE : RESULT_NOT_TESTED,
        reduction->without_passes
            ? "the subgraph with only the cause disabled equals the subgraph with everything disabled"
            : "whether the subgraph with only the cause disabled equals the subgraph with everything disabled");
    result_add_line(ret, RESULT_REPRODUCE, "%s", reduction->command);
}

static void add_not_tried(const struct words *names, struct result *ret)
{
    if (names->count > 0)
        result_add_line(ret, RESULT_NOT_TESTED, "'%s'%s: always enabled, because the model does not run without",
                        names->items[0], names->count > 1 ? " and others" : "");
}

/* Searches that found nothing. */
static void add_other_searches(const struct passes_report *report, struct result *ret)
{
    SCOPED_STRING(names);
    struct short_list list = {.text = &names, .most = MOST_DECISIONS};

    for (size_t i = 0; i < report->earlier.count; i++)
        if (short_list_next(&list))
            string_add(&names, report->earlier.items[i]);
    short_list_end(&list);
    if (report->earlier.count > 0)
        result_add_line(ret, RESULT_EVIDENCE, "fails with all of %s disabled: the cause is not among these",
                        names.data);
    if (report->barriers.count > 0)
        result_add_line(ret, RESULT_EVIDENCE, "also fails with all %zu barriers (--among barriers)",
                        report->barriers.count);
}

/* Other single optimizations that are enough. */
static void add_singles(const struct passes_report *report, struct result *ret)
{
    SCOPED_BITSET(others);
    SCOPED_STRING(names);

    bitset_init_copy(&others, &report->result->singles);
    bitset_subtract(&others, &report->result->off);
    if (bitset_count(&others) == 0)
        return;
    add_set(report, &others, &names);
    result_add_line(ret, RESULT_EVIDENCE, "instead of it, any single one of these disabled is enough: %s", names.data);
}

static void add_cause(const struct passes_report *report, struct result *ret)
{
    const struct passes_result *result = report->result;
    size_t count = bitset_count(&result->off);
    SCOPED_STRING(names);

    add_set(report, &result->off, &names);
    if (other_data_contradicts(&report->other))
        result_set_verdict(ret, REPORT_UNKNOWN, "Not reproducible: disabling %s is enough for some input data only",
                           names.data);
    else
        result_set_verdict(ret, REPORT_CAUSE, "Cause: %s", names.data);
    result_add_line(ret, RESULT_EVIDENCE, "passes with %s disabled and everything else enabled",
                    count == 1 ? "it" : "these");
    add_culprits(report, ret);
    add_singles(report, ret);
    add_other_searches(report, ret);
    if (result->is_minimal && count > 1)
        result_add_line(ret, RESULT_EVIDENCE, "fails if any single one of them is enabled again");
    string_add(&names, " disabled");
    other_data_add_line(&report->other, names.data, ret);
    add_explanation(report, ret);
    result_add_line(ret, RESULT_NOTE, "Found with %lld checks, including all and none disabled%s",
                    (long long)report->checks, report->checked_twice ? " and a repetition of the decisive ones" : "");
    add_rewriting(&report->rewriting, ret);
    add_kernels(&report->rewriting.kernels, ret);
    add_not_tried(&report->not_tried, ret);
    add_fixes(&report->remedies, ret);
    for (size_t i = 0; report->reductions != NULL && i < result->culprits.count; i++)
        add_reduction(report, i, ret);
}

/* ---- Facts and tables ---- */

static void add_set_fact(const struct passes_report *report, const char *key, const struct bitset *set,
                         struct result *ret)
{
    result_begin_list(ret, key);
    BITSET_EACH (i, set)
        result_add_text(ret, NULL, report->decisions.items[i]);
    result_end_list(ret);
}

static void add_node_facts(const char *key, const struct rewritten_list *nodes, struct result *ret)
{
    result_begin_list(ret, key);
    for (size_t i = 0; i < nodes->count; i++) {
        result_begin_record(ret, NULL);
        result_add_text(ret, "name", nodes->items[i].name);
        result_add_text(ret, "op_type", nodes->items[i].op_type);
        result_end_record(ret);
    }
    result_end_list(ret);
}

static void add_kernel_facts(const struct other_kernels *kernels, struct result *ret)
{
    static const char *const evidence[] = {[KERNELS_SAME] = "same",
                                           [KERNELS_FORCED_PASS] = "forced-pass",
                                           [KERNELS_FORCED_FAIL] = "forced-fail",
                                           [KERNELS_NOT_RULED_OUT] = "not-ruled-out"};

    if (kernels->evidence == KERNELS_NOT_ASKED)
        return;
    result_begin_record(ret, "other_kernels");
    result_add_text(ret, "evidence", evidence[kernels->evidence]);
    if (kernels->evidence == KERNELS_NOT_RULED_OUT)
        result_add_text(ret, "why_not", kernels->why_not);
    if (kernels->replay != NULL)
        result_add_text(ret, "replay", kernels->replay);
    result_end_record(ret);
}

static void add_facts(const struct passes_report *report, struct result *ret)
{
    static const char *const outcomes[] = {[PASSES_FOUND] = "found",
                                           [PASSES_ALL_OFF_FAILS] = "all-off-fails",
                                           [PASSES_NONE_OFF_PASSES] = "none-off-passes",
                                           [PASSES_UNDECIDED] = "undecided"};
    const struct passes_result *result = report->result;

    result_add_text(ret, "outcome",
                    other_data_contradicts(&report->other) ? "not-reproducible" : outcomes[result->outcome]);
    result_add_names(ret, "decisions", report->decisions);
    result_add_names(ret, "not_tried", report->not_tried);
    result_add_names(ret, "tried_before", report->earlier);
    result_add_names(ret, "tried_barriers", report->barriers);
    add_set_fact(report, "off", &result->off, ret);
    add_set_fact(report, "singles", &result->singles, ret);
    result_add_flag(ret, "minimal", result->is_minimal);
    result_begin_list(ret, "culprits");
    for (size_t i = 0; i < result->culprits.count; i++)
        add_set_fact(report, NULL, &result->culprits.items[i], ret);
    result_end_list(ret);
    if (report->rewriting.is_known) {
        add_node_facts("nodes_without", &report->rewriting.nodes.before, ret);
        add_node_facts("nodes_with", &report->rewriting.nodes.after, ret);
    }
    add_kernel_facts(&report->rewriting.kernels, ret);
}

static const struct result_column region_columns[] = {
    {"without", "without it", RESULT_NAMES, false},
    {"with", "with it", RESULT_NAMES, false},
};

static const struct result_table region_table = {.key = "regions",
                                                 .title = "What it replaces",
                                                 .columns = region_columns,
                                                 .column_count = ARRAY_LEN(region_columns)};

/* The names of a region's nodes; `ret` is empty. */
static void list_region(const struct rewritten_list *nodes, uint32_t region, struct word_list *ret)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (nodes->items[i].region == region)
            *VECTOR_APPEND(ret) = nodes->items[i].name;
}

static void add_regions(const struct rewriting *rewriting, struct result *ret)
{
    if (!rewriting->is_known)
        return;
    result_begin_table(ret, &region_table);
    for (uint32_t region = 0; region < rewriting->nodes.regions; region++) {
        struct word_list before SCOPED_ITEMS = {0}, after SCOPED_ITEMS = {0};

        list_region(&rewriting->nodes.before, region, &before);
        list_region(&rewriting->nodes.after, region, &after);
        result_add_row(ret, (const struct result_cell[]){{.names = {before.items, before.count}},
                                                         {.names = {after.items, after.count}}});
    }
}

static const struct result_column remedy_columns[] = {
    {"form", NULL, RESULT_TEXT, false},
    {"line", NULL, RESULT_TEXT, false},
};

static const struct result_table remedy_table = {
    .key = "remedies", .columns = remedy_columns, .column_count = ARRAY_LEN(remedy_columns)};

static const struct result_column reduction_columns[] = {
    {"model", "model", RESULT_TEXT, false},
    {"inputs", NULL, RESULT_TEXT, false},
    {"golden", NULL, RESULT_TEXT, false},
    {"original_nodes", "nodes before", RESULT_COUNT, false},
    {"nodes", "nodes", RESULT_NAMES, false},
    {"alone_fails", "differs with it alone", RESULT_FLAG, false},
    {"without_passes", "equal without the cause", RESULT_FLAG, false},
    {"command", NULL, RESULT_TEXT, false},
    {"why_not", "no smaller model, because", RESULT_TEXT, false},
};

static const struct result_table reduction_table = {.key = "reduced",
                                                    .title = "The smallest subgraphs in which it makes a difference",
                                                    .columns = reduction_columns,
                                                    .column_count = ARRAY_LEN(reduction_columns)};

static void add_reductions(const struct passes_report *report, struct result *ret)
{
    if (report->reductions == NULL)
        return;
    result_begin_table(ret, &reduction_table);
    ARRAY_EACH (const struct passes_reduction, reduction, report->reductions, report->result->culprits.count) {
        struct word_list nodes SCOPED_ITEMS = {0};

        for (size_t k = 0; k < reduction->nodes.count; k++)
            *VECTOR_APPEND(&nodes) = reduction->nodes.items[k].name;
        result_add_row(ret, (const struct result_cell[]){{.text = reduction->model},
                                                         {.text = reduction->inputs},
                                                         {.text = reduction->golden},
                                                         {.number = (double)reduction->original_nodes},
                                                         {.names = {nodes.items, nodes.count}},
                                                         {.number = reduction->alone_fails},
                                                         {.number = reduction->without_passes},
                                                         {.text = reduction->command},
                                                         {.text = reduction->why_not}});
    }
}

void passes_result_fill(const struct passes_report *report, struct result *ret)
{
    if (report->result->outcome == PASSES_FOUND) {
        add_cause(report, ret);
    } else {
        result_set_verdict(ret, report->result->outcome == PASSES_NONE_OFF_PASSES ? REPORT_PASSED : REPORT_UNKNOWN,
                           "%s", failure_of(report));
        add_culprits(report, ret);
        add_other_searches(report, ret);
        add_not_tried(&report->not_tried, ret);
    }
    add_facts(report, ret);
    add_regions(&report->rewriting, ret);
    result_begin_table(ret, &remedy_table);
    for (size_t i = 0; i < report->remedies.count; i++)
        result_add_row(ret, (const struct result_cell[]){{.text = forms[report->remedies.items[i].form].key},
                                                         {.text = report->remedies.items[i].line}});
    add_reductions(report, ret);
}

/* ---- The drawing ---- */

void passes_result_draw(const struct rewritten_nodes *nodes, struct report *page)
{
    for (size_t i = 0; i < nodes->before.count; i++)
        report_add_culprit(page, nodes->before.items[i].name);
    for (uint32_t region = 0; region < nodes->regions; region++) {
        struct word_list before SCOPED_ITEMS = {0}, after SCOPED_ITEMS = {0};
        SCOPED_STRING(name);

        list_region(&nodes->before, region, &before);
        list_region(&nodes->after, region, &after);
        for (size_t i = 0; i < after.count; i++)
            string_add_format(&name, "%s%s", i > 0 ? ", " : "", after.items[i]);
        if (before.count > 0)
            report_add_layer(page, &(struct report_layer){.name = after.count > 0 ? name.data : "nothing",
                                                          .kind = "what it becomes",
                                                          .seconds = NAN,
                                                          .nodes = {.items = before.items, .count = before.count}});
    }
}
