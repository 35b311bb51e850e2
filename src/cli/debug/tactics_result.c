/* cli/debug/tactics_result.c: see tactics_result.h. */
#include "cli/debug/tactics_result.h"

#include <string.h>

#include "base/memory.h"
#include "base/text/names.h"
#include "base/text/string_builder.h"

#define MOST_LAYERS 10 /* in a line */

/* Appends the name, if the replay has one, and the numbers. */
static void add_algorithm(const struct tactic_algorithm *algorithm, struct string_builder *ret)
{
    if (algorithm->name)
        string_add_format(ret, "%s ", algorithm->name);
    string_add_format(ret, "(Implementation: %lld, Tactic: %lld)", (long long)algorithm->implementation,
                      (long long)algorithm->tactic);
}

static const struct tactic_difference *first_found(const struct tactic_isolation *isolation)
{
    return &isolation->differences.items[bitset_next(&isolation->search.found, 0)];
}

/* Appends the kernel of the bad build's tactics found. */
static void add_kernel_name(const struct tactic_isolation *isolation, struct string_builder *ret)
{
    tactic_algorithm_kernel_text(first_found(isolation)->bad, ret);
}

static void add_layers(const struct tactic_isolation *isolation, const struct bitset *layers,
                       struct string_builder *ret)
{
    struct short_list list = {.text = ret, .most = MOST_LAYERS};

    BITSET_EACH (i, layers)
        short_list_add(&list, isolation->differences.items[i].layer);
    short_list_end(&list);
}

/* Whether the kernel can be excluded by name. Kernels of ONNX Runtime stand for a way to run any operator: excluding
 * one would exclude more than a kernel. */
static bool can_be_excluded(const struct tactic_isolation *isolation)
{
    const char *name = first_found(isolation)->bad->name;

    return isolation->kernel.known && name && strncmp(name, "onnxrt:", 7) != 0;
}

/* ---- Lines ---- */

static void add_kernel_evidence(const struct tactic_isolation *isolation, struct result *ret)
{
    const struct bitset *fault = tactic_isolation_fault(isolation);
    size_t found = bitset_count(&isolation->search.found);
    SCOPED_STRING(layers);

    add_layers(isolation, fault, &layers);
    if (isolation->kernel.search.exact)
        result_add_line(ret, RESULT_EVIDENCE,
                        "the good build fails with this kernel in any single one of these layers; the bad build passes "
                        "without it in these layers: %s",
                        layers.data);
    else
        result_add_line(
            ret, RESULT_EVIDENCE,
            "the bad build passes without this kernel in all of these layers: %s; the good build fails with "
            "it in %s'%s'%s",
            layers.data, found == 1 ? "" : "layers such as ", first_found(isolation)->layer,
            found == 1 ? " alone" : "");
}

/* Adds lines about other causes in addition to the tactics found. */
static void add_rest(const struct tactic_isolation *isolation, struct result *ret)
{
    const struct isolation_kernel *kernel = &isolation->kernel;
    const struct bitset *fault = tactic_isolation_fault(isolation);
    size_t found = bitset_count(&isolation->search.found);
    size_t others = kernel->known ? bitset_count(&kernel->layers) - found : 0;
    size_t left = isolation->differences.count - (kernel->searched ? found + others : found);
    size_t harmless = isolation->search.necessary ? others + kernel->kept
                      : fault != NULL             ? bitset_count(&kernel->layers) - bitset_count(fault) + kernel->kept
                                                  : 0;

    if (!isolation->search.necessary && fault != NULL)
        add_kernel_evidence(isolation, ret);
    if (harmless > 0)
        result_add_line(ret, RESULT_NOTE, "The same kernel is correct in %zu other layer(s)", harmless);
    if (isolation->search.necessary || fault != NULL)
        return;
    if ((kernel->searched ? kernel->search.without : isolation->search.without) == VERDICT_FAIL)
        result_add_line(ret, RESULT_CAUTION,
                        "The bad build also fails without%s: there is another cause among the other %zu layer(s). "
                        "Correct these tactics in the bad replay and run this command again",
                        kernel->searched ? " this kernel in any layer" : " these tactics", left);
    else
        result_add_line(ret, RESULT_NOT_TESTED,
                        "whether there is another cause among the other %zu layer(s): the check is inconclusive on the "
                        "bad build without%s",
                        left, kernel->searched ? " this kernel in any layer" : " these tactics");
}

static void add_fixes(const struct tactic_isolation *isolation, struct result *ret)
{
    SCOPED_STRING(kernel);

    if (isolation->fixed != NULL)
        result_add_line(ret, RESULT_FIX,
                        "--load-tactics %s: the bad build's tactics without the wrong ones; a build with them passed",
                        isolation->fixed);
    if (!can_be_excluded(isolation))
        return;
    add_kernel_name(isolation, &kernel);
    result_add_line(ret, RESULT_FIX, "--exclude-tactics %s: builds without this kernel", kernel.data);
}

static void set_cause(const struct tactic_isolation *isolation, struct result *ret)
{
    const struct bitset *fault = tactic_isolation_fault(isolation), *found = &isolation->search.found;
    SCOPED_STRING(layers);
    SCOPED_STRING(name);

    if (!isolation->search.necessary && fault != NULL) {
        add_kernel_name(isolation, &name);
        result_set_verdict(ret, REPORT_CAUSE, "Cause: kernel %s in %s%zu layers", name.data,
                           isolation->kernel.search.exact ? "" : "some or all of ", bitset_count(fault));
        return;
    }
    add_layers(isolation, found, &layers);
    result_set_verdict(ret, REPORT_CAUSE, "Cause: the tactic%s of %s", bitset_count(found) == 1 ? "" : "s",
                       layers.data);
}

static void add_found(const struct tactic_isolation *isolation, struct result *ret)
{
    size_t count = bitset_count(&isolation->search.found);
    const char *pronoun = count == 1 ? "it" : "them";

    set_cause(isolation, ret);
    if (count == isolation->differences.count)
        result_add_line(ret, RESULT_EVIDENCE, "the replays differ in nothing else");
    else
        result_add_line(ret, RESULT_EVIDENCE, "the good build fails with %s instead of its own%s%s",
                        count == 1 ? "the bad build's tactic" : "the bad build's tactics",
                        isolation->search.necessary ? "; the bad build passes without " : "",
                        isolation->search.necessary ? pronoun : "");
    add_rest(isolation, ret);
    add_fixes(isolation, ret);
    result_add_line(ret, RESULT_NOTE, "Found with %zu build(s), including those of the two replays", isolation->builds);
}

static void set_failure(const struct tactic_isolation *isolation, struct result *ret)
{
    static const char *const failures[] = {
        [ISOLATION_SAME] = "The replays have the same tactics: the choice of tactics is not the cause",
        [ISOLATION_GOOD_FAILS] = "A build with the tactics of the good replay fails: the check, the data or other "
                                 "options differ from those with which it passed",
        [ISOLATION_BAD_PASSES] =
            "A build with the tactics of the bad replay passes: the choice of tactics does not make "
            "it fail, or it fails only in some runs",
    };

    result_set_verdict(ret, REPORT_UNKNOWN, "%s", failures[isolation->outcome]);
}

/* ---- Tables ---- */

static const struct result_column tactic_columns[] = {
    {"layer", "layer", RESULT_TEXT, false},   {"good", "good build", RESULT_TEXT, false},
    {"bad", "bad build", RESULT_TEXT, false}, {"good_name", NULL, RESULT_TEXT, false},
    {"bad_name", NULL, RESULT_TEXT, false},
};

static const struct result_table tactic_table = {.key = "tactics",
                                                 .title = "Tactics that make the difference",
                                                 .line = "Tactics that make the difference:",
                                                 .log_rows = 20,
                                                 .columns = tactic_columns,
                                                 .column_count = ARRAY_LEN(tactic_columns)};

static void add_tactics(const struct tactic_isolation *isolation, struct result *ret)
{
    const struct bitset *found = &isolation->search.found;

    result_begin_table(ret, &tactic_table);
    BITSET_EACH (i, found) {
        const struct tactic_difference *difference = &isolation->differences.items[i];
        SCOPED_STRING(good);
        SCOPED_STRING(bad);

        add_algorithm(difference->good, &good);
        add_algorithm(difference->bad, &bad);
        result_add_row(ret, (const struct result_cell[]){{.text = difference->layer},
                                                         {.text = good.data},
                                                         {.text = bad.data},
                                                         {.text = difference->good->name},
                                                         {.text = difference->bad->name}});
    }
}

static const struct result_column build_columns[] = {
    {"replay", "replay", RESULT_TEXT, false},
    {"exchanged", "with the tactics of the other build in", RESULT_NAMES, false},
    {"verdict", "verdict", RESULT_TEXT, false},
};

static const struct result_table build_table = {.key = "builds_checked",
                                                .title = "Builds that the answer is based on",
                                                .columns = build_columns,
                                                .column_count = ARRAY_LEN(build_columns)};

static void list_layers(const struct tactic_isolation *isolation, const struct bitset *layers, struct word_list *ret)
{
    BITSET_EACH (i, layers)
        *VECTOR_APPEND(ret) = isolation->differences.items[i].layer;
}

/* Adds a checked build: the replay of most tactics, and the layers with tactics of the other one. */
static void add_build(const struct tactic_isolation *isolation, const char *replay, const struct bitset *exchanged,
                      enum verdict verdict, struct result *ret)
{
    static const char *const verdicts[] = {
        [VERDICT_PASS] = "passed", [VERDICT_FAIL] = "failed", [VERDICT_SKIP] = "skipped"};
    struct word_list layers SCOPED_ITEMS = {0};

    list_layers(isolation, exchanged, &layers);
    result_add_row(ret, (const struct result_cell[]){
                            {.text = replay}, {.names = {layers.items, layers.count}}, {.text = verdicts[verdict]}});
}

static void add_builds(const struct tactic_isolation *isolation, struct result *ret)
{
    const struct bitset *found = &isolation->search.found;
    const struct isolation_kernel *kernel = &isolation->kernel;
    const struct bitset *guilty = &kernel->search.guilty;
    SCOPED_BITSET(one);

    bitset_init(&one, isolation->differences.count);
    result_begin_table(ret, &build_table);
    add_build(isolation, "good", &one, VERDICT_PASS, ret);
    add_build(isolation, "bad", &one, VERDICT_FAIL, ret);
    if (bitset_count(found) < isolation->differences.count) { /* else these are the same two builds */
        add_build(isolation, "good", found, VERDICT_FAIL, ret);
        add_build(isolation, "bad", found, isolation->search.without, ret);
    }
    for (size_t i = 0; kernel->searched && i < guilty->size; i++)
        if (bitset_has(guilty, i) && !bitset_has(found, i)) {
            bitset_clear(&one);
            bitset_add(&one, i);
            add_build(isolation, "good", &one, VERDICT_FAIL, ret);
        }
    if (kernel->searched)
        add_build(isolation, "bad", &kernel->layers, kernel->search.without, ret);
    if (kernel->searched && kernel->search.exact && !bitset_equal(guilty, &kernel->layers))
        add_build(isolation, "bad", guilty, VERDICT_PASS, ret);
}

/* ---- Facts ---- */

static void add_layer_fact(const struct tactic_isolation *isolation, const char *key, const struct bitset *layers,
                           struct result *ret)
{
    struct word_list names SCOPED_ITEMS = {0};

    list_layers(isolation, layers, &names);
    result_add_names(ret, key, (struct words){names.items, names.count});
}

static void add_kernel_facts(const struct tactic_isolation *isolation, struct result *ret)
{
    const struct isolation_kernel *kernel = &isolation->kernel;
    const struct bitset *fault = tactic_isolation_fault(isolation);
    SCOPED_STRING(name);
    SCOPED_BITSET(harmless);

    if (!kernel->known) {
        result_add_null(ret, "kernel");
        return;
    }
    add_kernel_name(isolation, &name);
    bitset_init_copy(&harmless, &kernel->layers);
    if (fault)
        bitset_subtract(&harmless, fault);
    else
        bitset_clear(&harmless); /* unknown */
    result_begin_record(ret, "kernel");
    result_add_text(ret, "name", name.data);
    result_add_flag(ret, "proven", fault != NULL);
    result_add_flag(ret, "exact", isolation->search.necessary || (kernel->searched && kernel->search.exact));
    add_layer_fact(isolation, "layers", fault ? fault : &kernel->layers, ret);
    add_layer_fact(isolation, "harmless_layers", &harmless, ret);
    result_add_count(ret, "layers_of_both", kernel->kept);
    result_end_record(ret);
}

static void add_found_facts(const struct tactic_isolation *isolation, struct result *ret)
{
    SCOPED_STRING(kernel);

    add_kernel_name(isolation, &kernel);
    result_add_count(ret, "builds", isolation->builds);
    result_add_text(ret, "good", isolation->good_path);
    result_add_text(ret, "bad", isolation->bad_path);
    result_add_text(ret, "exclude_tactics", can_be_excluded(isolation) ? kernel.data : NULL);
    result_add_text(ret, "load_tactics", isolation->fixed);
    add_kernel_facts(isolation, ret);
    result_add_flag(ret, "necessary", isolation->search.necessary);
    add_tactics(isolation, ret);
    add_builds(isolation, ret);
}

/* Adds the ONNX nodes of the layers whose tactics make the difference: those of one kernel if each was tested. */
static void add_fault_nodes(const struct tactic_isolation *isolation, const struct network *network, struct result *ret)
{
    const struct group_search *of_kernel = &isolation->kernel.search;
    const struct bitset *found = of_kernel->exact ? &of_kernel->guilty : &isolation->search.found;

    BITSET_EACH (i, found)
        VECTOR_EACH (const struct layer, layer, network->layers) {
            for (size_t n = 0;
                 strcmp(layer->name, isolation->differences.items[i].layer) == 0 && n < layer->nodes.count; n++)
                result_add_node(ret, model_node_label(network->model, layer->nodes.items[n]));
        }
}

void tactics_result_fill(const struct tactic_isolation *isolation, const struct network *network, struct result *ret)
{
    static const char *const outcomes[] = {[ISOLATION_FOUND] = "found",
                                           [ISOLATION_SAME] = "same tactics",
                                           [ISOLATION_GOOD_FAILS] = "good fails",
                                           [ISOLATION_BAD_PASSES] = "bad passes"};

    result_add_text(ret, "outcome", outcomes[isolation->outcome]);
    result_add_count(ret, "differing_layers", isolation->differences.count);
    if (isolation->outcome != ISOLATION_FOUND) {
        set_failure(isolation, ret);
        return;
    }
    add_found(isolation, ret);
    add_found_facts(isolation, ret);
    add_fault_nodes(isolation, network, ret);
}
