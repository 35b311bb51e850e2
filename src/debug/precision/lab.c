/* debug/precision/lab.c: see lab.h. */
#include "debug/precision/lab.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "debug/cut/external.h"
#include "debug/precision/blocks.h"
#include "debug/precision/scores.h"
#include "onnx/half/half_operators.h"
#include "onnx/model/subgraph.h"
#include "onnx/write/model.h"

#define MOST_SINGLE_LAYERS 64

struct precision_lab {
    const struct precision_lab_settings *settings;
    const struct network *network;
    struct precision_words words;
    struct typed_models typed;            /* for ONNX models of the network */
    struct precision_overrides given;     /* of the session's options */
    struct precision_override *overrides; /* `given`, then one for each layer without a form in `half`, and for each
                                           * chosen one */
    size_t fixed;                         /* number of overrides that do not depend on the choice */
    void *engine;                         /* the candidate, or */
    struct model *model;                  /* the candidate as an ONNX model */
    struct candidate_files files;
    bool has_files;
    enum precision_range *ranges; /* of each layer, if known from the run for scores */
    uint32_t *blocks;             /* of each layer */
    bool rounds;                  /* ONNX models compute in float32, on rounded values */
};

/* ---- Which layers ---- */

static bool is_lowered(void *data, size_t layer)
{
    const struct precision_lab *lab = data;

    return typed_model_lowers(&lab->typed, layer);
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
    lab->settings->engine->builder.precision.layers = (struct precision_overrides){lab->overrides, lab->fixed};
}

static int assign_precisions(struct precision_lab *lab, struct log *log, struct layer_precision **ret,
                             struct error *err)
{
    struct layer_precision *precisions = memory_alloc_zero(lab->network->layers.count, sizeof(*precisions));
    int rc = precisions_assign(lab->network, &lab->settings->engine->builder.precision, log, precisions, err);

    if (rc < 0)
        free(precisions);
    else
        *ret = precisions;
    return rc;
}

static bool has_casts(const struct precision_lab *lab)
{
    return lab->settings->form != PRECISION_ENGINES;
}

/* Appends the operators of a layer that have no bfloat16: "Conv (from 22 on), CumSum", each operator once. */
static void add_unsupported_operators(const struct precision_lab *lab, const struct layer *layer, struct name_map *said,
                                      struct string_builder *text)
{
    const struct model *model = lab->network->model;

    for (size_t i = 0; i < layer->nodes.count; i++) {
        const struct node *node = &model->nodes.items[layer->nodes.items[i]];
        int64_t since = node_bfloat16_opset(node);

        if (node_takes_half(model, node, lab->typed.half) || name_map_find(said, node->op_type) != NAME_MAP_NONE)
            continue;
        name_map_add(said, node->op_type, 0);
        string_add_format(text, "%s" TEXT_FORMAT, text->size > 0 ? ", " : "", TEXT_ARGS(node->op_type));
        if (since > model_opset(model))
            string_add_format(text, " (from %" PRId64 " on)", since);
    }
}

/* The engine rounds to bfloat16 around any float16 operator; in ONNX, each operator either supports bfloat16 or not. */
static void keep_unsupported_layers(struct precision_lab *lab)
{
    const struct model *model = lab->network->model;
    SCOPED_NAME_MAP(said);
    SCOPED_STRING(text);
    size_t count = 0;

    for (size_t i = 0; i < lab->network->layers.count; i++) {
        const struct layer *layer = &lab->network->layers.items[i];

        if (lab->typed.low[i].precision != PRECISION_BFLOAT16 || typed_model_takes_half(&lab->typed, layer))
            continue;
        add_unsupported_operators(lab, layer, &said, &text);
        add_override(lab, i);
        count++;
    }
    lab->fixed += count;
    if (count > 0)
        log_message(lab->settings->log, LOG_WARNING,
                    "%zu layer(s) stay in float32: operator set %" PRId64
                    " has no bfloat16 for %s. If a later operator set has it, convert the model to that one first",
                    count, model_opset(model), text.data);
}

/* Finds the layers to choose from: they support the higher precision and would have a lower one. */
static int find_precisions(struct precision_lab *lab, struct error *err)
{
    enum precision high = precision_of_type(lab->settings->high);
    int rc;

    reset_overrides(lab);
    rc = assign_precisions(lab, lab->settings->log, &lab->typed.low, err);
    if (rc == 0 && has_casts(lab) && lab->typed.half == DATA_BFLOAT16) {
        keep_unsupported_layers(lab);
        precisions_release(lab->typed.low, lab->network->layers.count);
        free(lab->typed.low);
        lab->typed.low = NULL;
        reset_overrides(lab);
        rc = assign_precisions(lab, NULL, &lab->typed.low, err);
    }
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < lab->network->layers.count; i++)
        if (lab->typed.low[i].precision > high &&
            precision_eligible(lab->network, &lab->network->layers.items[i], high))
            add_override(lab, i);
    rc = assign_precisions(lab, NULL, &lab->typed.high, err);
    reset_overrides(lab);
    return rc;
}

/* Without layers in lower precision, a search would find that none needs the higher one. */
static int refuse_without_choice(const struct precision_lab *lab, struct error *err)
{
    const struct precision_settings *precision = &lab->settings->engine->builder.precision;
    enum precision lowest = PRECISION_COUNT - 1;
    SCOPED_STRING(why);

    for (size_t i = 0; i < lab->network->layers.count; i++)
        if (lab->typed.low[i].precision > lab->typed.high[i].precision)
            return 0;
    while (lowest > PRECISION_FLOAT32 && !precision->enabled[lowest])
        lowest--;
    precision_explain_unused(lab->network, precision, lab->typed.low, lowest, &why);
    return error_set(err, ERR_INVALID, "no layer can be in %s, so there is nothing to search: %s",
                     precision_name(lowest), why.data);
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

/* Overrides for the chosen layers, in addition to those of the options. */
static void override_chosen(struct precision_lab *lab, const struct bitset *chosen)
{
    reset_overrides(lab);
    BITSET_EACH (i, chosen)
        add_override(lab, i);
}

/* With names_all: overrides for all other layers in higher precision. Builders may not have layers that only move data.
 * `ret` has room for all layers. */
static size_t override_others(const struct precision_lab *lab, const struct bitset *chosen,
                              struct precision_override *ret)
{
    SCOPED_BITSET(low);
    size_t count = 0;

    typed_model_find_low(&lab->typed, chosen, false, &low);
    for (size_t i = 0; i < lab->network->layers.count; i++) {
        const struct layer *layer = &lab->network->layers.items[i];

        if (!bitset_has(chosen, i) && !lab->typed.low[i].constrained && !bitset_has(&low, layer->nodes.items[0]) &&
            precision_eligible(lab->network, layer, PRECISION_FLOAT32))
            ret[count++] = (struct precision_override){layer->name, lab->settings->high};
    }
    return count;
}

static int prepare_candidate(void *data, const struct bitset *chosen, struct error *err)
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
        rc = typed_model_make(&lab->typed, chosen, lab->rounds, NULL, &lab->model, err);
        order.model = lab->model;
    }
    if (rc == 0 && lab->settings->form != PRECISION_MODELS)
        rc = maker->build(maker->data, &order, &lab->engine, err);
    reset_overrides(lab);
    free(others);
    return rc;
}

static int write_typed_model(struct precision_lab *lab, const char *path, struct error *err)
{
    struct subgraph whole SCOPED(subgraph_release) = {0};

    subgraph_init_whole(&whole, lab->model);
    return model_write(&whole, path, NULL, FILE_INTERMEDIATE, NULL, err);
}

static int write_candidate(void *data, const char *path, struct error *err)
{
    struct precision_lab *lab = data;
    const struct engine_maker *maker = &lab->settings->maker;

    if (lab->settings->form == PRECISION_MODELS)
        return write_typed_model(lab, path, err);
    int rc = maker->save(maker->data, lab->engine, path, err);
    return rc == 0 ? maker->save_byproducts(maker->data, lab->engine, err) : rc;
}

/* A node in float16 does not prove that float16 values are stored. */
static bool round_by_casts(void *data)
{
    struct precision_lab *lab = data;
    const char *half = data_type_name(lab->typed.half);

    if (lab->rounds)
        return false;
    lab->rounds = true;
    log_message(
        lab->settings->log, LOG_WARNING,
        "The check passes with all layers in %s, but a runtime without kernels for %s, such as ONNX Runtime on a CPU, "
        "computes them in float32. In further candidates, nodes compute in float32 on values that Casts round to %s",
        half, half, half);
    return true;
}

/* ---- Scores ---- */

static int score_layers(void *data, double *ret, struct error *err)
{
    struct precision_lab *lab = data;
    struct precision_survey survey = {.scores = ret, .ranges = lab->ranges, .elements = lab->typed.elements};
    struct engine *low;

    log_message(lab->settings->log, LOG_INFO, "Scoring layers by the effect of lower precision on their outputs");
    reset_overrides(lab);
    int rc = engine_settings_build(lab->settings->engine, lab->network, &low, err);
    if (rc < 0)
        return rc;
    rc = precision_scores(low, lab->typed.high, &lab->settings->engine->builder, &survey, err);
    engine_free(low);
    return rc;
}

static enum precision_range range_of(void *data, size_t layer)
{
    return ((const struct precision_lab *)data)->ranges[layer];
}

static uint32_t block_of(void *data, size_t layer)
{
    return ((const struct precision_lab *)data)->blocks[layer];
}

static uint32_t find_savings(void *data, const struct bitset *chosen, uint32_t *ret)
{
    return typed_model_savings(&((const struct precision_lab *)data)->typed, chosen, ret);
}

/* Whole blocks need few checks, but may raise layers unnecessarily: with few layers, each is tried singly. */
static bool has_blocks(const struct precision_lab *lab)
{
    return has_casts(lab) && lab->network->layers.count > MOST_SINGLE_LAYERS;
}

/* ---- The lab ---- */

/* Few runtimes have bfloat16 kernels on every machine. */
static int find_form(struct precision_lab *lab, struct error *err)
{
    struct subgraph whole SCOPED(subgraph_release) = {0};
    SCOPED_BITSET(none);
    bool takes = true;
    int rc;

    bitset_init(&none, lab->network->layers.count);
    rc = typed_model_make(&lab->typed, &none, false, NULL, &lab->model, err);
    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, lab->model);
    rc = lab->settings->takes(lab->settings->takes_data, &whole, &takes, err);
    drop_candidate(lab);
    lab->rounds = !takes;
    if (rc == 0 && !takes)
        log_message(lab->settings->log, LOG_WARNING,
                    "ONNX Runtime cannot run the model in %s on this machine. In candidates, nodes compute in float32 "
                    "on values that Casts round to %s",
                    data_type_name(lab->typed.half), data_type_name(lab->typed.half));
    return rc;
}

/* Makes external data of the original accessible next to candidates. */
static int provide_files(struct precision_lab *lab, struct error *err)
{
    const struct precision_lab_settings *settings = lab->settings;
    struct subgraph whole SCOPED(subgraph_release) = {0};
    int rc = candidate_files_init(&lab->files, settings->artifact, settings->keep_artifact, settings->take_over, err);

    lab->has_files = true;
    lab->files.copy = settings->copy_weights;
    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, lab->network->model);
    return candidate_files_provide(&lab->files, &whole, err);
}

static int prepare_models(struct precision_lab *lab, struct error *err)
{
    int rc = provide_files(lab, err);

    return rc == 0 && lab->typed.half == DATA_BFLOAT16 && lab->settings->takes != NULL ? find_form(lab, err) : rc;
}

int precision_lab_new(const struct precision_lab_settings *settings, struct precision_lab **ret, struct error *err)
{
    struct precision_lab *lab = memory_alloc_zero(1, sizeof(*lab));
    const struct precision_settings *precision = &settings->engine->builder.precision;

    *lab =
        (struct precision_lab){.settings = settings,
                               .network = settings->network,
                               .typed = {.network = settings->network,
                                         .half = precision->enabled[PRECISION_FLOAT16] ? DATA_FLOAT16 : DATA_BFLOAT16},
                               .given = precision->layers,
                               .fixed = precision->layers.count};
    lab->overrides =
        memory_alloc_zero(precision->layers.count + settings->network->layers.count, sizeof(*lab->overrides));
    if (lab->given.count > 0)
        memcpy(lab->overrides, lab->given.items, lab->given.count * sizeof(*lab->overrides));
    lab->ranges = memory_alloc_zero(settings->network->layers.count, sizeof(*lab->ranges));
    lab->typed.elements = memory_alloc_zero(settings->network->model->values.count, sizeof(*lab->typed.elements));
    lab->blocks = precision_blocks(settings->network);
    int rc = find_precisions(lab, err);
    if (rc == 0)
        rc = refuse_without_choice(lab, err);
    if (rc == 0 && settings->form == PRECISION_MODELS)
        rc = prepare_models(lab, err);
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
    if (lab->typed.low != NULL)
        precisions_release(lab->typed.low, count);
    if (lab->typed.high != NULL)
        precisions_release(lab->typed.high, count);
    lab->settings->engine->builder.precision.layers = lab->given;
    free(lab->typed.low);
    free(lab->typed.high);
    free(lab->overrides);
    free(lab->ranges);
    free(lab->typed.elements);
    free(lab->blocks);
    free(lab);
}

struct precision_target precision_lab_target(struct precision_lab *lab)
{
    lab->words = precision_words_of_layers;
    if (lab->settings->form == PRECISION_MODELS) {
        lab->words.kind = "model";
        lab->words.found = "the model with the found layers in higher precision";
    }
    return (struct precision_target){.data = lab,
                                     .count = lab->network->layers.count,
                                     .name = layer_name,
                                     .is_lowered = is_lowered,
                                     .score = score_layers,
                                     .range = range_of,
                                     .block = has_blocks(lab) ? block_of : NULL,
                                     .savings = has_casts(lab) ? find_savings : NULL,
                                     .prepare = prepare_candidate,
                                     .write = write_candidate,
                                     .saving = lab->settings->form == PRECISION_MODELS ? "Saving ONNX model to:"
                                                                                       : "Saving engine to",
                                     .insist = lab->settings->form == PRECISION_MODELS ? round_by_casts : NULL,
                                     .words = &lab->words};
}

int precision_lab_check_onnx(const struct precision_lab *lab, struct error *err)
{
    for (size_t i = 0; i < lab->network->layers.count; i++)
        if (typed_model_lowers(&lab->typed, i) &&
            (precision_type(lab->typed.low[i].precision) != lab->typed.half ||
             !typed_model_takes_half(&lab->typed, &lab->network->layers.items[i])))
            return error_set(err, ERR_UNSUPPORTED,
                             "layer '%s' is in %s, which Cast nodes and operators of operator set %" PRId64
                             " cannot express in the ONNX model",
                             lab->network->layers.items[i].name, precision_name(lab->typed.low[i].precision),
                             model_opset(lab->network->model));
    return 0;
}

int precision_lab_save_onnx(struct precision_lab *lab, const struct bitset *chosen, const char *path, struct error *err)
{
    struct external_settings external = {.file_name = NULL};
    struct subgraph whole SCOPED(subgraph_release) = {0};

    int rc = precision_lab_check_onnx(lab, err);

    if (rc < 0)
        return rc;
    drop_candidate(lab);
    rc = typed_model_make(&lab->typed, chosen, false, lab->settings->log, &lab->model, err);
    if (rc < 0)
        return rc;
    if (lab->settings->form == PRECISION_ENGINES || lab->rounds)
        log_message(lab->settings->log, LOG_WARNING,
                    "The saved model differs from the candidates: %s. It was not checked: check it before you use it",
                    lab->rounds
                        ? "its nodes compute in the lower precision, those of candidates in float32 on rounded values"
                        : "candidates were engines");
    log_message(lab->settings->log, LOG_INFO, "Saving ONNX model to: %s", path);
    subgraph_init_whole(&whole, lab->model);
    return model_save(&whole, path, &external, false, err);
}

/* ---- Figures of an answer ---- */

void precision_lab_costs(const struct precision_lab *lab, const struct bitset *chosen, struct precision_costs *ret)
{
    typed_model_costs(&lab->typed, chosen, ret);
}

void precision_errors_release(struct precision_errors *errors)
{
    output_error_release(&errors->rounded);
    output_error_release(&errors->written);
}

/* A model that the runtime rejects has no errors. */
int precision_lab_errors(struct precision_lab *lab, const struct bitset *chosen, struct precision_errors *ret,
                         struct error *err)
{
    const struct output_measuring measuring = {
        .network = lab->network, .builder = &lab->settings->engine->builder, .runtime = &lab->settings->runtime};
    struct output_reference reference;
    int rc = output_reference_record(&reference, &measuring, err);

    *ret = (struct precision_errors){
        .samples = reference.samples,
        .of_rounded = lab->settings->form == PRECISION_MODELS && lab->rounds,
        .of_written = lab->settings->form == PRECISION_MODELS && !lab->rounds,
    };
    for (int rounds = 1; rc == 0 && rounds >= 0; rounds--) {
        drop_candidate(lab);
        rc = typed_model_make(&lab->typed, chosen, rounds, NULL, &lab->model, err);
        if (rc == 0)
            rc = output_reference_compare(&reference, &measuring, lab->model, rounds ? &ret->rounded : &ret->written,
                                          err);
    }
    rc = rc == ERR_BACKEND && ret->rounded.output != NULL ? 0 : rc;
    drop_candidate(lab);
    output_reference_release(&reference);
    if (rc < 0)
        precision_errors_release(ret);
    return rc;
}
