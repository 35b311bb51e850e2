/* debug/accuracy/fusion.c: which fusion is it? An engine that has to give out a tensor cannot fuse across it. Where all
 * tensors as outputs make the model agree, the fewest are searched that still do: a barrier. The nodes around it are
 * to blame when they fail as one piece, and agree with the barrier.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "debug/accuracy/part.h"
#include "debug/accuracy/questions.h"
#include "onnx/model/mark_outputs.h"
#include "search/minimal_search.h"

/* Between the names of nodes that a layer was made of. */
#define NODE_MARK "[ONNX Layer: "

struct barrier_search {
    struct parts parts;
    struct value_list candidates; /* tensors inside of the model, in the order in which they are made */
    struct bitset barrier;        /* candidates that make the whole agree as outputs */
    size_t checks;
    struct experiment engine; /* its result: what layers the suspect has made, if it says so */
};

/* ---- Tensors that it may be about ---- */

/* Has the suspect say what it has fused. */
static int ask_for_layers(struct barrier_search *search, struct error *err)
{
    struct investigation *investigation = search->parts.investigation;
    struct experiment *experiment;
    enum agreement agreement;
    struct call call;
    const char *path;
    int rc;

    if (!investigation->settings->suspect_has_engine)
        return 0;
    call_begin_comparison(&call, investigation, &investigation->whole, "fused", "What the engine has fused");
    path = investigation_text(investigation, "%s/layers.json", call_folder(&call));
    call_add_words(&call, investigation->settings->suspect);
    call_add(&call, "--save-layer-info", path, NULL);
    rc = part_judge(&call, &experiment, &agreement, err);
    if (rc < 0 || !file_exists(path))
        return rc;
    rc = json_reader_open(&search->engine.result, path, err);
    search->engine.has_result = rc == 0 && json_is_array(result_find(search->engine.result.root, "Layers"));
    return rc;
}

/* The tensors that layers read or write. */
static void find_between_layers(struct barrier_search *search, struct bitset *ret)
{
    static const char *const sides[] = {"Inputs", "Outputs"};
    const json_t *layers = result_find(search->engine.result.root, "Layers"), *layer, *item;
    size_t i, k;

    json_array_foreach (layers, i, layer)
        for (size_t side = 0; side < ARRAY_LEN(sides); side++)
            json_array_foreach (result_find(layer, sides[side]), k, item) {
                uint32_t value =
                    model_find_value(search->parts.model, text_of(result_text(&search->engine, item, "Name")));

                if (value != VALUE_NONE)
                    bitset_add(ret, value);
            }
}

/* Of all tensors those that layers hold inside, if that is known. */
static void list_candidates(struct barrier_search *search, bool only_inside)
{
    struct subgraph marked;
    struct bitset left_out;

    bitset_init(&left_out, search->parts.model->values.count);
    if (only_inside)
        find_between_layers(search, &left_out);
    for (size_t i = 0; i < search->parts.whole.outputs.count; i++)
        bitset_add(&left_out, search->parts.whole.outputs.items[i]);
    search->candidates.count = 0;
    subgraph_init_copy(&marked, &search->parts.whole);
    outputs_mark_all(&marked, NULL);
    for (size_t i = 0; i < marked.outputs.count; i++)
        if (!bitset_has(&left_out, marked.outputs.items[i]))
            value_list_add(&search->candidates, marked.outputs.items[i]);
    bitset_release(&left_out);
    subgraph_release(&marked);
}

/* ---- The search ---- */

/* The members of `set`, and the model's own outputs in front of them. */
static struct words outputs_with(struct barrier_search *search, const struct bitset *set)
{
    const struct value_list *own = &search->parts.whole.outputs;
    struct call call;

    call_begin_words(&call, search->parts.investigation);
    for (size_t i = 0; i < own->count; i++)
        call_add(&call, parts_tensor(&search->parts, own->items[i]), NULL);
    for (size_t i = bitset_next(set, 0); i < set->size; i = bitset_next(set, i + 1))
        call_add(&call, parts_tensor(&search->parts, search->candidates.items[i]), NULL);
    return call_keep(&call);
}

/* Judged by the model's own outputs alone. */
static int judge_barrier(struct barrier_search *search, const struct bitset *set, enum agreement *ret,
                         struct error *err)
{
    struct investigation *investigation = search->parts.investigation;
    size_t count = bitset_count(set);
    struct experiment *experiment;
    struct call call;

    call_begin_comparison(&call, investigation, &investigation->whole, "barrier",
                          investigation_text(investigation, "With %zu more output%s", count, count == 1 ? "" : "s"));
    call_add_words(&call, investigation->settings->suspect);
    call_add(&call, "--onnx-outputs", NULL);
    call_add_words(&call, outputs_with(search, set));
    search->checks++;
    return part_judge(&call, &experiment, ret, err);
}

/* `all` is known to make the model agree. What the search takes for a failure is here that. */
static int search_barrier(struct barrier_search *search, const struct bitset *all, struct error *err)
{
    size_t count = search->candidates.count;
    struct dag_edge *edges = memory_alloc_zero(count, sizeof(*edges));
    struct minimal_search minimal;
    struct dag dag;
    bool goes_on;
    int rc = 0;

    for (uint32_t i = 0; i + 1 < count; i++)
        edges[i] = (struct dag_edge){i, i + 1};
    dag_init(&dag, count, edges, count - 1);
    free(edges);
    goes_on = minimal_search_start(&minimal, &dag, all);
    while (rc == 0 && goes_on) {
        static const enum verdict verdicts[] = {
            [AGREES] = VERDICT_FAIL, [DIFFERS] = VERDICT_PASS, [REFUSES] = VERDICT_SKIP};
        enum agreement agreement;

        rc = judge_barrier(search, &minimal.candidate, &agreement, err);
        if (rc == 0)
            goes_on =
                minimal_search_ops.advance(&minimal, (int64_t)bitset_count(&minimal.candidate), verdicts[agreement]);
    }
    bitset_init_copy(&search->barrier, &minimal.current);
    minimal_search_ops.release(&minimal);
    dag_release(&dag);
    return rc;
}

/* First among the tensors inside of layers, then, should these not do, among all. */
static int find_barrier(struct barrier_search *search, bool *ret_found, struct error *err)
{
    int rc = ask_for_layers(search, err);

    *ret_found = false;
    for (int only_inside = search->engine.has_result; rc == 0 && only_inside >= 0 && !*ret_found; only_inside--) {
        enum agreement agreement;
        struct bitset all;

        list_candidates(search, only_inside);
        if (search->candidates.count == 0)
            continue;
        bitset_init(&all, search->candidates.count);
        bitset_fill(&all);
        rc = judge_barrier(search, &all, &agreement, err);
        if (rc == 0 && agreement == AGREES) {
            *ret_found = true;
            rc = search_barrier(search, &all, err);
        }
        bitset_release(&all);
    }
    return rc;
}

/* ---- The nodes around it ---- */

static bool layer_has(struct barrier_search *search, struct text metadata, uint32_t node)
{
    struct text name = search->parts.model->nodes.items[node].name;
    const char *mark = investigation_text(search->parts.investigation, NODE_MARK TEXT_FORMAT "]", TEXT_ARGS(name));

    return name.size > 0 && text_contains(metadata, text_of(mark));
}

/* All nodes of the engine's layer that has this one, if it says so. */
static void add_layer(struct barrier_search *search, uint32_t node, struct bitset *nodes)
{
    const json_t *layers = result_find(search->engine.result.root, "Layers"), *layer;
    size_t i;

    json_array_foreach (layers, i, layer) {
        struct text metadata = text_of(result_text(&search->engine, layer, "Metadata"));

        if (layer_has(search, metadata, node))
            for (uint32_t k = 0; k < search->parts.model->nodes.count; k++)
                if (layer_has(search, metadata, k))
                    bitset_add(nodes, k);
    }
}

/* What makes the tensor and what reads it. */
static void add_neighbours(struct barrier_search *search, uint32_t value, struct bitset *nodes)
{
    const struct model *model = search->parts.model;

    bitset_add(nodes, model->values.items[value].producer);
    for (uint32_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < node_read_count(&model->nodes.items[i]); k++)
            if (node_read(model, &model->nodes.items[i], k) == value)
                bitset_add(nodes, i);
}

/* The nodes agree when what they make of the barrier is given out. */
static int judge_part_with_barrier(struct barrier_search *search, const struct bitset *nodes, const char *model,
                                   enum agreement *ret, struct error *err)
{
    struct investigation *investigation = search->parts.investigation;
    struct experiment *experiment;
    struct subgraph part;
    struct call call;

    part_begin_comparison(&call, &search->parts, model, investigation->layer_tolerance, "with-barrier",
                          "The same with the barrier");
    call_add_words(&call, investigation->settings->suspect);
    call_add(&call, "--onnx-outputs", NULL);
    subgraph_init_nodes(&part, &search->parts.whole, nodes);
    for (size_t i = 0; i < part.outputs.count; i++)
        call_add(&call, parts_tensor(&search->parts, part.outputs.items[i]), NULL);
    for (size_t i = bitset_next(&search->barrier, 0); i < search->barrier.size;
         i = bitset_next(&search->barrier, i + 1)) {
        uint32_t value = search->candidates.items[i];

        if (bitset_has(nodes, search->parts.model->values.items[value].producer) &&
            !value_list_has(&part.outputs, value))
            call_add(&call, parts_tensor(&search->parts, value), NULL);
    }
    subgraph_release(&part);
    return part_judge(&call, &experiment, ret, err);
}

/* For each tensor of the barrier the nodes that fail when they are fused across it. `*ret_found`: for each of them. */
static int find_fused(struct barrier_search *search, struct bitset *ret, struct bitset *ret_first, bool *ret_found,
                      struct error *err)
{
    const struct words tolerance = search->parts.investigation->layer_tolerance;
    int rc = 0;

    *ret_found = true;
    for (size_t i = bitset_next(&search->barrier, 0); rc == 0 && *ret_found && i < search->barrier.size;
         i = bitset_next(&search->barrier, i + 1)) {
        uint32_t value = search->candidates.items[i];
        enum agreement agreement = REFUSES;
        struct lone_run run;
        struct bitset nodes;

        bitset_init(&nodes, search->parts.model->nodes.count);
        add_layer(search, search->parts.model->values.items[value].producer, &nodes);
        if (bitset_count(&nodes) < 2)
            add_neighbours(search, value, &nodes);
        rc = part_grow(&search->parts, &nodes, tolerance, &run, err);
        if (rc == 0 && run.agreement == DIFFERS)
            rc = judge_part_with_barrier(search, &nodes, run.model, &agreement, err);
        *ret_found = agreement == AGREES;
        if (bitset_count(ret_first) == 0)
            bitset_assign(ret_first, &nodes);
        bitset_unite(ret, &nodes);
        bitset_release(&nodes);
    }
    return rc;
}

/* ---- What was found ---- */

/* "'a', 'b' and 2 more" */
static const char *describe_barrier(struct barrier_search *search)
{
    struct investigation *investigation = search->parts.investigation;
    size_t count = bitset_count(&search->barrier), first = bitset_next(&search->barrier, 0);
    const char *tensor = parts_tensor(&search->parts, search->candidates.items[first]);

    return count == 1 ? investigation_text(investigation, "'%s'", tensor)
                      : investigation_text(investigation, "'%s' and %zu more", tensor, count - 1);
}

static void offer_mend(struct barrier_search *search)
{
    struct investigation *investigation = search->parts.investigation;
    struct cause *cause = &investigation->cause;
    struct call call;

    call_begin_words(&call, investigation);
    call_add(&call, "--onnx-outputs", NULL);
    call_add_words(&call, outputs_with(search, &search->barrier));
    cause->mend.options = call_keep(&call);
    cause->mend.what = investigation_text(investigation, "%s as extra output%s", describe_barrier(search),
                                          bitset_count(&search->barrier) == 1 ? "" : "s");
    call_begin_words(&call, investigation);
    for (size_t i = bitset_next(&search->barrier, 0); i < search->barrier.size;
         i = bitset_next(&search->barrier, i + 1))
        call_add(&call, parts_tensor(&search->parts, search->candidates.items[i]), NULL);
    cause->tensors = call_keep(&call);
}

static void conclude(struct barrier_search *search, const struct bitset *nodes)
{
    struct investigation *investigation = search->parts.investigation;
    struct cause *cause = &investigation->cause;
    const char *described = parts_describe(&search->parts, nodes), *barrier = describe_barrier(search);
    bool is_one = bitset_count(&search->barrier) == 1;

    cause->kind = CAUSE_FUSION;
    cause->nodes = parts_names(&search->parts, nodes);
    cause->sentence =
        investigation_text(investigation, "%s are fused wrongly: they agree when %s, which lie%s between them, %s",
                           described, barrier, is_one ? "s" : "", is_one ? "is an output" : "are outputs");
    cause_add_proof(investigation,
                    "cut out, %s fail as one piece, from the reference's values, and agree with %s as an output; the "
                    "reference itself agrees",
                    is_one ? "they" : "those around each of these tensors", is_one ? barrier : "it");
    cause_add_proof(investigation, "of all tensors inside of the model, %s as %s to make it agree (%zu checks)",
                    barrier,
                    is_one ? "an extra output is enough" : "extra outputs are enough, and none of them can be spared,",
                    search->checks);
}

static int blame_fused(struct barrier_search *search, struct error *err)
{
    struct investigation *investigation = search->parts.investigation;
    struct bitset nodes, first;
    bool found;
    int rc;

    bitset_init(&nodes, search->parts.model->nodes.count);
    bitset_init(&first, search->parts.model->nodes.count);
    rc = find_fused(search, &nodes, &first, &found, err);
    if (rc == 0 && found) {
        conclude(search, &nodes);
        rc = part_make_minimal(&search->parts, &first, investigation->layer_tolerance, err);
    } else if (rc == 0) {
        log_message(investigation->log, LOG_INFO, "    The nodes around %s do not fail alone",
                    describe_barrier(search));
    }
    bitset_release(&nodes);
    bitset_release(&first);
    return rc;
}

int accuracy_ask_fusion(struct investigation *investigation, struct error *err)
{
    struct barrier_search search = {0};
    bool found;
    int rc;

    investigation_begin_step(investigation, "All tensors as outputs make it agree: which fusion is it?");
    rc = parts_open(&search.parts, investigation, err);
    if (rc < 0)
        return rc;
    rc = find_barrier(&search, &found, err);
    if (rc == 0 && !found)
        log_message(investigation->log, LOG_INFO, "    Seen once, and not again");
    if (rc == 0 && found) {
        log_message(investigation->log, LOG_INFO, "    %s as extra output%s: the model agrees",
                    describe_barrier(&search), bitset_count(&search.barrier) == 1 ? "" : "s");
        offer_mend(&search);
        rc = blame_fused(&search, err);
    }
    bitset_release(&search.barrier);
    free(search.candidates.items);
    json_reader_release(&search.engine.result);
    parts_close(&search.parts);
    return rc;
}
