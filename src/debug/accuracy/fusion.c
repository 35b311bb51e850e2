/* debug/accuracy/fusion.c: which fusion is it? An engine that has to output a tensor cannot fuse across it. Where all
 * tensors as outputs make the model agree, the smallest set that still does is searched: a barrier. The nodes around it
 * are to blame when they fail as one piece, and agree with the barrier.
 */
#include <stdlib.h>

#include "base/file/file.h"
#include "base/memory.h"
#include "base/text/option_words.h"
#include "debug/accuracy/hypotheses.h"
#include "debug/accuracy/subgraph.h"
#include "onnx/model/mark_outputs.h"
#include "search/minimal_search.h"

/* Between the names of nodes that a layer was made of. */
#define NODE_MARK "[ONNX Layer: "

struct barrier_search {
    struct study *study;
    struct value_list candidates; /* tensors inside of the model, in the order in which they are made */
    struct bitset barrier;        /* candidates that make the whole agree as outputs */
    size_t checks;
    struct study_step engine; /* its result: the layers of the suspect, if it reports them */
};

/* ---- Candidates ---- */

/* Has the suspect report what it has fused. */
static void read_engine_layers(struct barrier_search *search)
{
    struct study *study = search->study;
    struct json_reader *layers = &search->engine.result;
    struct study_step *step;
    const char *path;

    if (!study->settings->suspect_has_engine)
        return;
    step = step_begin_suspect(study, &study->whole, "fused", "What the engine has fused");
    path = step_path(step, "layers.json");
    step_add(step, "--save-layer-info", path, NULL);
    if (step_try(step) != UNKNOWN && file_exists(path) && json_reader_open(layers, path, &study->error) == 0)
        search->engine.has_result = json_is_array(result_find(layers->root, "Layers"));
}

/* The tensors that layers read or write. */
static void find_tensors_between_layers(struct barrier_search *search, struct bitset *ret)
{
    static const char *const sides[] = {"Inputs", "Outputs"};
    const json_t *layers = result_find(search->engine.result.root, "Layers"), *layer, *item;
    size_t i, k;

    json_array_foreach (layers, i, layer)
        for (size_t side = 0; side < ARRAY_LEN(sides); side++)
            json_array_foreach (result_find(layer, sides[side]), k, item) {
                uint32_t value =
                    model_find_value(search->study->model, text_of(result_text(&search->engine, item, "Name")));

                if (value != VALUE_NONE)
                    bitset_add(ret, value);
            }
}

/* All tensors, or those inside of layers. */
static void list_barrier_candidates(struct barrier_search *search, bool only_inside)
{
    const struct subgraph *graph = &search->study->graph;
    struct subgraph marked SCOPED(subgraph_release);
    SCOPED_BITSET(left_out);

    bitset_init(&left_out, search->study->model->values.count);
    if (only_inside)
        find_tensors_between_layers(search, &left_out);
    for (size_t i = 0; i < graph->outputs.count; i++)
        bitset_add(&left_out, graph->outputs.items[i]);
    search->candidates.count = 0;
    subgraph_init_copy(&marked, graph);
    outputs_mark_all(&marked, NULL);
    for (size_t i = 0; i < marked.outputs.count; i++)
        if (!bitset_has(&left_out, marked.outputs.items[i]))
            value_list_add(&search->candidates, marked.outputs.items[i]);
}

/* ---- The search ---- */

/* The tensors of a set of candidates. */
static struct words candidate_labels(struct barrier_search *search, const struct bitset *set)
{
    struct word_list list = {0};

    BITSET_EACH (i, set)
        *VECTOR_APPEND(&list) = tensor_label(search->study, search->candidates.items[i]);
    return study_keep(search->study, &list);
}

/* --onnx-outputs with `own` and these tensors. */
static struct words output_options(struct barrier_search *search, const struct value_list *own, struct words more)
{
    struct word_list labels = {0}, list = {0};

    for (size_t i = 0; i < own->count; i++)
        *VECTOR_APPEND(&labels) = tensor_label(search->study, own->items[i]);
    more = study_add_words(search->study, study_keep(search->study, &labels), more);
    option_words_add(&list, &search->study->arena, "--onnx-outputs", more);
    return study_keep(search->study, &list);
}

/* Judged by the model's own outputs alone. */
static enum agreement judge_barrier(struct barrier_search *search, const struct bitset *set)
{
    struct study *study = search->study;
    size_t count = bitset_count(set);
    const char *why = study_text(study, "With %zu more output%s", count, count == 1 ? "" : "s");
    struct study_step *step = step_begin_suspect(study, &study->whole, "barrier", why);

    step_add_words(step, output_options(search, &study->graph.outputs, candidate_labels(search, set)));
    search->checks++;
    return step_try(step);
}

/* `all` is known to make the model agree, which is what the search treats as a failure. */
static void search_barrier(struct barrier_search *search, const struct bitset *all)
{
    static const enum verdict verdicts[] = {
        [AGREES] = VERDICT_FAIL, [DIFFERS] = VERDICT_PASS, [REFUSES] = VERDICT_SKIP};
    size_t count = search->candidates.count;
    struct dag_edge *edges = memory_alloc_zero(count, sizeof(*edges));
    struct minimal_search minimal;
    struct dag dag SCOPED(dag_release) = {0};
    bool goes_on;

    for (uint32_t i = 0; i + 1 < count; i++)
        edges[i] = (struct dag_edge){i, i + 1};
    dag_init(&dag, count, edges, count - 1);
    free(edges);
    goes_on = minimal_search_start(&minimal, &dag, all);
    while (goes_on) {
        enum agreement agreement = judge_barrier(search, &minimal.candidate);

        goes_on = agreement != UNKNOWN &&
                  minimal_search_ops.advance(&minimal, (int64_t)bitset_count(&minimal.candidate), verdicts[agreement]);
    }
    bitset_init_copy(&search->barrier, &minimal.current);
    search_release(&minimal_search_ops, &minimal);
}

/* First among the tensors inside of layers, then, should these not do, among all. */
static bool find_barrier(struct barrier_search *search)
{
    read_engine_layers(search);
    for (int only_inside = search->engine.has_result; only_inside >= 0; only_inside--) {
        SCOPED_BITSET(all);

        list_barrier_candidates(search, only_inside);
        if (search->candidates.count == 0)
            continue;
        bitset_init(&all, search->candidates.count);
        bitset_fill(&all);
        if (judge_barrier(search, &all) == AGREES) {
            search_barrier(search, &all);
            return !study_has_failed(search->study);
        }
    }
    return false;
}

/* ---- The nodes around it ---- */

static bool layer_has_node(struct barrier_search *search, struct text metadata, uint32_t node)
{
    struct text name = search->study->model->nodes.items[node].name;
    const char *mark = study_text(search->study, NODE_MARK TEXT_FORMAT "]", TEXT_ARGS(name));

    return name.size > 0 && text_contains(metadata, text_of(mark));
}

/* All nodes of the engine's layer that has this one, if it reports them. */
static void add_nodes_of_layer(struct barrier_search *search, uint32_t node, struct bitset *nodes)
{
    const json_t *layers = result_find(search->engine.result.root, "Layers"), *layer;
    size_t i;

    json_array_foreach (layers, i, layer) {
        struct text metadata = text_of(result_text(&search->engine, layer, "Metadata"));

        if (layer_has_node(search, metadata, node))
            for (uint32_t k = 0; k < search->study->model->nodes.count; k++)
                if (layer_has_node(search, metadata, k))
                    bitset_add(nodes, k);
    }
}

/* The producer and the consumers of a tensor. */
static void add_nodes_around_tensor(const struct model *model, uint32_t value, struct bitset *nodes)
{
    bitset_add(nodes, model->values.items[value].producer);
    for (uint32_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < node_read_count(&model->nodes.items[i]); k++)
            if (node_read(model, &model->nodes.items[i], k) == value)
                bitset_add(nodes, i);
}

/* The nodes agree when those of their tensors that are in the barrier are outputs. */
static enum agreement judge_part_with_barrier(struct barrier_search *search, const struct bitset *nodes,
                                              const char *model)
{
    struct study *study = search->study;
    const struct failing_case subject = study_values_case(study, model, study->layer_tolerance);
    struct study_step *step = step_begin_suspect(study, &subject, "with-barrier", "The same with the barrier");
    struct subgraph part SCOPED(subgraph_release);
    SCOPED_BITSET(inside);

    subgraph_init_nodes(&part, &study->graph, nodes);
    bitset_init_copy(&inside, &search->barrier);
    BITSET_EACH (i, &inside) {
        uint32_t value = search->candidates.items[i];

        if (!bitset_has(nodes, study->model->values.items[value].producer) || value_list_has(&part.outputs, value))
            bitset_remove(&inside, i);
    }
    step_add_words(step, output_options(search, &part.outputs, candidate_labels(search, &inside)));
    return step_try(step);
}

/* For each tensor of the barrier the nodes that fail when they are fused across it; true if there are such for each. */
static bool find_fused_nodes(struct barrier_search *search, struct bitset *ret, struct bitset *ret_first)
{
    struct study *study = search->study;
    bool found = true;

    for (size_t i = bitset_next(&search->barrier, 0); found && i < search->barrier.size;
         i = bitset_next(&search->barrier, i + 1)) {
        uint32_t value = search->candidates.items[i];
        struct lone_run run;
        SCOPED_BITSET(nodes);

        bitset_init(&nodes, study->model->nodes.count);
        add_nodes_of_layer(search, study->model->values.items[value].producer, &nodes);
        if (bitset_count(&nodes) < 2)
            add_nodes_around_tensor(study->model, value, &nodes);
        run = study_grow_nodes(study, &nodes, study->layer_tolerance);
        found = run.agreement == DIFFERS && judge_part_with_barrier(search, &nodes, run.model) == AGREES;
        if (bitset_count(ret_first) == 0)
            bitset_assign(ret_first, &nodes);
        bitset_unite(ret, &nodes);
    }
    return found;
}

/* ---- The answer ---- */

static const char *describe_barrier(struct barrier_search *search)
{
    return study_list(search->study, candidate_labels(search, &search->barrier), (struct words){0});
}

static void conclude_fusion(struct barrier_search *search, const struct bitset *nodes)
{
    struct study *study = search->study;
    struct cause *cause = &study->cause;
    const char *barrier = describe_barrier(search);
    bool is_one = bitset_count(&search->barrier) == 1;

    cause->kind = CAUSE_FUSION;
    cause->nodes = node_labels(study, nodes);
    cause->sentence =
        study_text(study, "%s are fused wrongly: they agree when %s, which lie%s between them, %s",
                   describe_nodes(study, nodes), barrier, is_one ? "s" : "", is_one ? "is an output" : "are outputs");
    study_add_evidence(study,
                       "cut out, %s fail as one piece, from the reference's values, and agree with %s as an output; "
                       "the reference itself agrees",
                       is_one ? "they" : "those around each of these tensors", is_one ? barrier : "it");
    study_add_evidence(study, "of all inner tensors of the model, %s as %s to make it agree (%zu checks)", barrier,
                       is_one ? "an extra output is enough" : "extra outputs are enough, and all of them are needed,",
                       search->checks);
}

static void blame_fused_nodes(struct barrier_search *search)
{
    struct study *study = search->study;
    SCOPED_BITSET(nodes);
    SCOPED_BITSET(first);

    bitset_init(&nodes, study->model->nodes.count);
    bitset_init(&first, study->model->nodes.count);
    if (find_fused_nodes(search, &nodes, &first)) {
        conclude_fusion(search, &nodes);
        study_make_minimal(study, &first, study->layer_tolerance);
    } else {
        study_log(study, "The nodes around %s do not fail alone", describe_barrier(search));
    }
}

void accuracy_test_fusion(struct study *study)
{
    struct barrier_search search = {.study = study, .engine.study = study};
    struct cause *cause = &study->cause;

    if (find_barrier(&search)) {
        const char *what = study_text(study, "%s as extra output%s", describe_barrier(&search),
                                      bitset_count(&search.barrier) == 1 ? "" : "s");

        study_log(study, "%s: the model agrees", what);
        cause->tensors = candidate_labels(&search, &search.barrier);
        cause->fix.options = output_options(&search, &study->graph.outputs, cause->tensors);
        cause->fix.what = what;
        blame_fused_nodes(&search);
    } else {
        study_log(study, "Not reproducible: observed once");
    }
    bitset_release(&search.barrier);
    free(search.candidates.items);
    json_reader_release(&search.engine.result);
}
