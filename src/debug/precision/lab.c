/* debug/precision/lab.c: see lab.h. */
#include "debug/precision/lab.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "debug/cut/external.h"
#include "onnx/edit/model.h"
#include "onnx/half/mixed_precision.h"
#include "onnx/half/rounded_nodes.h"
#include "onnx/write/model.h"

struct precision_lab {
    const struct precision_lab_settings *settings;
    const struct network *network;
    struct precision_overrides given;     /* before anything was chosen */
    struct precision_override *overrides; /* those, then one for each chosen layer */
    struct layer_precision *low, *high;   /* of each layer, with none and with all chosen */
    void *engine;                         /* the candidate, or */
    struct model *model;                  /* the candidate as an ONNX model */
    struct candidate_files files;
    bool has_files;
    bool rounds; /* ONNX models compute in float32, on rounded values */
};

/* ---- Which layers ---- */

static bool is_lowered(void *data, size_t layer)
{
    const struct precision_lab *lab = data;

    return lab->low[layer].precision > lab->high[layer].precision;
}

static const char *layer_name(void *data, size_t layer)
{
    const struct precision_lab *lab = data;

    return lab->network->layers.items[layer].name;
}

static void add_override(struct precision_lab *lab, size_t layer)
{
    struct precision_settings *precision = &lab->settings->engine->builder.precision;

    lab->overrides[precision->layers.count++] =
        (struct precision_override){lab->network->layers.items[layer].name, lab->settings->high};
}

static void reset_overrides(struct precision_lab *lab)
{
    struct precision_settings *precision = &lab->settings->engine->builder.precision;

    if (lab->given.count > 0)
        memcpy(lab->overrides, lab->given.items, lab->given.count * sizeof(*lab->overrides));
    precision->layers = (struct precision_overrides){lab->overrides, lab->given.count};
}

static int assign(struct precision_lab *lab, struct log *log, struct layer_precision **ret, struct error *err)
{
    struct layer_precision *precisions = memory_alloc_zero(lab->network->layers.count, sizeof(*precisions));
    int rc = precisions_assign(lab->network, &lab->settings->engine->builder.precision, log, precisions, err);

    if (rc < 0)
        free(precisions);
    else
        *ret = precisions;
    return rc;
}

/* Those that may be chosen: they can have the higher precision, and would have a lower one. */
static int find_precisions(struct precision_lab *lab, struct error *err)
{
    enum precision high = precision_of_type(lab->settings->high);
    int rc;

    reset_overrides(lab);
    rc = assign(lab, lab->settings->log, &lab->low, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < lab->network->layers.count; i++)
        if (lab->low[i].precision > high && precision_eligible(lab->network, &lab->network->layers.items[i], high))
            add_override(lab, i);
    rc = assign(lab, NULL, &lab->high, err);
    reset_overrides(lab);
    return rc;
}

/* A search among layers that are in higher precision anyway would find that none of them has to be. */
static int refuse_without_choice(const struct precision_lab *lab, struct error *err)
{
    const struct precision_settings *precision = &lab->settings->engine->builder.precision;
    enum precision lowest = PRECISION_COUNT - 1;
    struct string_builder why;
    int rc;

    for (size_t i = 0; i < lab->network->layers.count; i++)
        if (lab->low[i].precision > lab->high[i].precision)
            return 0;
    while (lowest > PRECISION_FLOAT32 && !precision->enabled[lowest])
        lowest--;
    string_init(&why);
    precision_explain_unused(lab->network, precision, lab->low, lowest, &why);
    rc = error_set(err, ERR_INVALID, "no layer would be in %s, so there is nothing to choose from: %s",
                   precision_name(lowest), why.data);
    string_release(&why);
    return rc;
}

/* ---- Candidates ---- */

static void drop_candidate(struct precision_lab *lab)
{
    if (lab->engine != NULL)
        lab->settings->maker.drop(lab->settings->maker.data, lab->engine);
    model_free(lab->model);
    lab->engine = NULL;
    lab->model = NULL;
}

static void add_nodes(const struct layer *layer, struct bitset *nodes)
{
    for (size_t i = 0; i < layer->nodes.count; i++)
        bitset_add(nodes, layer->nodes.items[i]);
}

/* Whether a layer moves only what float16 nodes have made: in float16 it changes nothing, and saves Casts. */
static bool goes_along(const struct network *network, const struct layer *layer, const struct bitset *nodes)
{
    const struct model *model = network->model;
    bool ret = false;

    if (!layer->moves_data)
        return false;
    for (size_t i = 0; i < layer->nodes.count; i++)
        if (!node_takes_float16(model, &model->nodes.items[layer->nodes.items[i]]))
            return false;
    for (size_t i = 0; i < layer->inputs.count; i++) {
        uint32_t value = layer->inputs.items[i];

        if (value == VALUE_NONE || network_type(network, value) != DATA_FLOAT32)
            continue;
        if (model->values.items[value].producer == NODE_NONE || !bitset_has(nodes, model->values.items[value].producer))
            return false;
        ret = true;
    }
    return ret;
}

/* The nodes that compute in lower precision: the lowered layers that are not chosen, and those that only move what
 * these make. `rounds`: without the latter. */
static void find_low_nodes(const struct precision_lab *lab, const struct bitset *chosen, bool rounds,
                           struct bitset *nodes)
{
    bitset_init(nodes, lab->network->model->nodes.count);
    for (size_t i = 0; i < lab->network->layers.count; i++) {
        const struct layer *layer = &lab->network->layers.items[i];
        bool is_low = lab->low[i].precision > lab->high[i].precision && !bitset_has(chosen, i);

        if (is_low || (!rounds && goes_along(lab->network, layer, nodes)))
            add_nodes(layer, nodes);
    }
}

/* Makes lab->model: the network's model, in which these nodes compute in float16. `rounds`: they compute in float32, on
 * what float16 can hold (onnx/half/rounded_nodes.h). */
static int make_model(struct precision_lab *lab, const struct bitset *chosen, bool rounds, struct log *log,
                      struct error *err)
{
    struct model *model = model_copy(lab->network->model);
    struct unused_names names;
    struct bitset nodes;
    int rc;

    find_low_nodes(lab, chosen, rounds, &nodes);
    unused_names_init(&names, model, &model->arena);
    rc =
        rounds ? model_round_nodes(model, &nodes, &names, err) : mixed_precision_apply(model, &nodes, &names, log, err);
    unused_names_release(&names);
    bitset_release(&nodes);
    if (rc < 0)
        model_free(model);
    else
        lab->model = model;
    return rc;
}

static bool has_float32(const struct network *network, const struct value_list *values)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->items[i] != VALUE_NONE && network_type(network, values->items[i]) == DATA_FLOAT32)
            return true;
    return false;
}

/* What the builder is told of the chosen layers, beside what the user has said. */
static void override_chosen(struct precision_lab *lab, const struct bitset *chosen)
{
    reset_overrides(lab);
    for (size_t i = bitset_next(chosen, 0); i < chosen->size; i = bitset_next(chosen, i + 1))
        add_override(lab, i);
}

/* With names_all: of the others that are to have the higher precision. Builders may make no layer of what only moves
 * data. `ret` is as long as there are layers. */
static size_t override_others(const struct precision_lab *lab, const struct bitset *chosen,
                              struct precision_override *ret)
{
    struct bitset low;
    size_t count = 0;

    find_low_nodes(lab, chosen, false, &low);
    for (size_t i = 0; i < lab->network->layers.count; i++) {
        const struct layer *layer = &lab->network->layers.items[i];

        if (!bitset_has(chosen, i) && !lab->low[i].constrained && !bitset_has(&low, layer->nodes.items[0]) &&
            (has_float32(lab->network, &layer->inputs) || has_float32(lab->network, &layer->outputs)))
            ret[count++] = (struct precision_override){layer->name, lab->settings->high};
    }
    bitset_release(&low);
    return count;
}

static int prepare(void *data, const struct bitset *chosen, struct error *err)
{
    struct precision_lab *lab = data;
    const struct engine_maker *maker = &lab->settings->maker;
    struct precision_override *others = memory_alloc_zero(lab->network->layers.count, sizeof(*others));
    struct precision_overrides more = {.items = others};
    struct engine_order order = {.iteration = -1};
    int rc = 0;

    drop_candidate(lab);
    if (lab->settings->form == PRECISION_ENGINES) {
        override_chosen(lab, chosen);
        order.layers = &lab->settings->engine->builder.precision.layers;
        if (lab->settings->names_all)
            more.count = override_others(lab, chosen, others);
        order.others = &more;
    } else {
        rc = make_model(lab, chosen, lab->rounds, NULL, err);
        order.model = lab->model;
    }
    if (rc == 0 && lab->settings->form != PRECISION_MODELS)
        rc = maker->build(maker->data, &order, &lab->engine, err);
    reset_overrides(lab);
    free(others);
    return rc;
}

static int write_model(struct precision_lab *lab, const char *path, struct error *err)
{
    struct subgraph whole;

    subgraph_init_whole(&whole, lab->model);
    int rc = model_write(&whole, path, NULL, FILE_INTERMEDIATE, err);
    subgraph_release(&whole);
    return rc;
}

static int write_candidate(void *data, const char *path, struct error *err)
{
    struct precision_lab *lab = data;
    const struct engine_maker *maker = &lab->settings->maker;

    if (lab->settings->form == PRECISION_MODELS)
        return write_model(lab, path, err);
    int rc = maker->save(maker->data, lab->engine, path, err);
    return rc == 0 ? maker->save_byproducts(maker->data, lab->engine, err) : rc;
}

/* Float16 nodes are no proof that anything is stored in float16. */
static bool insist(void *data)
{
    struct precision_lab *lab = data;

    lab->rounds = true;
    log_message(
        lab->settings->log, LOG_WARNING,
        "The check passes with all layers in float16. A runtime without kernels for float16, such as ONNX Runtime "
        "on a CPU, computes such a model in float32. From here on, nodes compute in float32, on values that Casts "
        "have rounded to float16");
    return true;
}

/* ---- Scores ---- */

static int score(void *data, double *ret, struct error *err)
{
    struct precision_lab *lab = data;
    struct engine *low;

    log_message(lab->settings->log, LOG_INFO, "Scoring layers by what lower precision does to their outputs");
    reset_overrides(lab);
    int rc = engine_request_build(lab->settings->engine, lab->network, &low, err);
    if (rc < 0)
        return rc;
    rc = precision_scores(low, lab->high, &lab->settings->engine->builder, ret, err);
    engine_free(low);
    return rc;
}

/* ---- The lab ---- */

/* Candidates find the external data of the original beside them. */
static int provide_files(struct precision_lab *lab, struct error *err)
{
    const struct precision_lab_settings *settings = lab->settings;
    struct subgraph whole;
    int rc = candidate_files_init(&lab->files, settings->artifact, settings->keep_artifact, settings->take_over, err);

    lab->has_files = true;
    lab->files.copy = settings->copy_weights;
    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, lab->network->model);
    rc = candidate_files_provide(&lab->files, &whole, err);
    subgraph_release(&whole);
    return rc;
}

int precision_lab_new(const struct precision_lab_settings *settings, struct precision_lab **ret, struct error *err)
{
    struct precision_lab *lab = memory_alloc_zero(1, sizeof(*lab));
    const struct precision_settings *precision = &settings->engine->builder.precision;

    *lab = (struct precision_lab){.settings = settings, .network = settings->network, .given = precision->layers};
    lab->overrides =
        memory_alloc_zero(precision->layers.count + settings->network->layers.count, sizeof(*lab->overrides));
    int rc = find_precisions(lab, err);
    if (rc == 0)
        rc = refuse_without_choice(lab, err);
    if (rc == 0 && settings->form == PRECISION_MODELS)
        rc = provide_files(lab, err);
    if (rc < 0)
        precision_lab_free(lab);
    else
        *ret = lab;
    return rc;
}

void precision_lab_free(struct precision_lab *lab)
{
    size_t count;

    if (!lab)
        return;
    count = lab->network->layers.count;
    drop_candidate(lab);
    if (lab->has_files)
        candidate_files_release(&lab->files);
    if (lab->low != NULL)
        precisions_release(lab->low, count);
    if (lab->high != NULL)
        precisions_release(lab->high, count);
    lab->settings->engine->builder.precision.layers = lab->given;
    free(lab->low);
    free(lab->high);
    free(lab->overrides);
    free(lab);
}

struct precision_target precision_lab_target(struct precision_lab *lab)
{
    return (struct precision_target){.data = lab,
                                     .count = lab->network->layers.count,
                                     .name = layer_name,
                                     .is_lowered = is_lowered,
                                     .score = score,
                                     .prepare = prepare,
                                     .write = write_candidate,
                                     .saving = lab->settings->form == PRECISION_MODELS ? "Saving ONNX model to:"
                                                                                       : "Saving engine to",
                                     .insist = lab->settings->form == PRECISION_MODELS ? insist : NULL};
}

int precision_lab_save_onnx(struct precision_lab *lab, const struct bitset *chosen, const char *path, struct error *err)
{
    struct external_settings external = {.file_name = NULL};
    struct subgraph whole;

    for (size_t i = 0; i < lab->network->layers.count; i++)
        if (is_lowered(lab, i) && lab->low[i].precision != PRECISION_FLOAT16)
            return error_set(err, ERR_UNSUPPORTED,
                             "layer '%s' is %s: only float16 can be written into an ONNX model as Cast nodes",
                             lab->network->layers.items[i].name, precision_name(lab->low[i].precision));
    drop_candidate(lab);
    int rc = make_model(lab, chosen, false, lab->settings->log, err);
    if (rc < 0)
        return rc;
    if (lab->settings->form == PRECISION_ENGINES || lab->rounds)
        log_message(lab->settings->log, LOG_WARNING,
                    "The model that is saved is no candidate: %s. No check has seen it, so check it before you rely on "
                    "it",
                    lab->rounds ? "it computes in float16, and they in float32 on rounded values"
                                : "those were engines");
    log_message(lab->settings->log, LOG_INFO, "Saving ONNX model to: %s", path);
    subgraph_init_whole(&whole, lab->model);
    rc = model_save(&whole, path, &external, false, err);
    subgraph_release(&whole);
    return rc;
}
