/* engine/network/compile.c: see compile.h. Fusion is in fusion.c, networks from plan files in restore.c. */
#include "engine/network/compile.h"

#include <stdlib.h>

#include "backend/type_inference.h"
#include "base/memory.h"
#include "engine/network/affine_folding.h"
#include "engine/network/layers.h"
#include "engine/network/spelling.h"
#include "onnx/edit/four_bit_identity.h"
#include "onnx/edit/model.h"
#include "onnx/edit/rebuild.h"
#include "onnx/model/mark_outputs.h"
#include "onnx/model/subgraph.h"
#include "onnx/model/text.h"
#include "onnx/proto/value_info.h"

/* State of compiling a network. */
struct network_builder {
    struct network *network;
    const struct network_settings *settings;
    struct node_labels labels;
    struct bitset own_outputs; /* values: outputs of the model itself */
    struct bitset not_tensors; /* values */
    struct value_list guards;  /* outputs of nodes that check fixed branches */
    size_t prevented;
};

/* ---- Preparing the model ---- */

static void add_values_to_set(const struct value_list *values, struct bitset *ret)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->items[i] < ret->size)
            bitset_add(ret, values->items[i]);
}

static int refuse_wanted_output(const struct model *model, const char *name, struct error *err)
{
    SCOPED_STRING(close);

    tensor_suggestion(&close, model, text_of(name));
    return error_set(err, ERR_MISSING, "%s: there is no tensor '%s' to be an output%s", model->display_name, name,
                     close.data);
}

/* Marks --trt-outputs with names, and barriers, before nodes are removed. */
static int mark_named_outputs(struct model *model, const struct network_settings *settings, struct error *err)
{
    size_t count = settings->outputs.mark_all ? 0 : settings->outputs.names.count;
    struct subgraph whole SCOPED(subgraph_release) = {0};
    int rc = 0;

    if (count == 0 && settings->barriers.count == 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (!output_name_is_pattern(settings->outputs.names.items[i]) &&
            model_find_tensor(model, text_of(settings->outputs.names.items[i])) == VALUE_NONE)
            return refuse_wanted_output(model, settings->outputs.names.items[i], err);
    subgraph_init_whole(&whole, model);
    if (count > 0)
        rc = outputs_mark_named(&whole, settings->outputs.names.items, count, err);
    if (rc == 0)
        rc = outputs_add_barriers(&whole, settings->barriers, NULL, err);
    if (rc == 0)
        value_list_assign(&model->outputs, &whole.outputs);
    return rc;
}

/* Messages of folding are shown at a verbose level only. */
static int fold_network_constants(struct model *model, const struct network_settings *settings, bool *ret_any,
                                  struct error *err)
{
    struct folding_settings folding = settings->folding;
    struct folding_counts counts = {0};
    struct log quiet;
    int rc;

    if (folding.log != NULL && !log_shows(folding.log, LOG_VERBOSE)) {
        quiet = *folding.log;
        quiet.threshold = quiet.threshold > LOG_WARNING ? quiet.threshold : LOG_WARNING;
        folding.log = &quiet;
    }
    folding.passes = -1;
    folding.partition = FOLDING_NODES;
    folding.infer_types = true;
    folding.keep_shapes = false;
    if (folding.size_limit == 0)
        folding.size_limit = UINT64_MAX;
    folding.counts = &counts;
    rc = constants_fold(model, &folding, err);
    *ret_any = rc == 0 && counts.shapes + counts.computed + counts.casts + counts.branches > 0;
    return rc;
}

/* Whether anything can be folded is unknown before folding; if disabled, it counts as a decision anyway. */
static int fold_constants_unless_off(struct network_builder *builder, struct error *err)
{
    struct model *model = builder->network->model;
    struct network_decisions *decisions = &builder->network->decisions;
    bool any = false;
    int rc;

    if (network_decisions_are_off(decisions, FOLDING_OF_CONSTANTS, TEXT(""))) {
        network_decisions_allow(decisions, FOLDING_OF_CONSTANTS, TEXT(""));
        if (builder->settings->branch_sample != NULL)
            return error_set(err, ERR_INVALID,
                             "%s: branches are decided by folding constants, and '" FOLDING_OF_CONSTANTS
                             "' is disabled: leave out one of them",
                             model->display_name);
        rc = model_lower_constants(model, err);
        return rc == 0 ? model_sort_nodes(model, err) : rc;
    }
    rc = fold_network_constants(model, builder->settings, &any, err);
    if (rc == 0 && any)
        network_decisions_allow(decisions, FOLDING_OF_CONSTANTS, TEXT(""));
    return rc;
}

/* Each round exposes If nodes inside the branches of the previous round. */
static int decide_network_branches(struct network_builder *builder, struct error *err)
{
    const struct network_settings *settings = builder->settings;
    struct model *model = builder->network->model;
    bool any = settings->branch_sample != NULL, folded;
    int rc = 0;

    while (rc == 0 && any) {
        rc = branches_decide(model, &settings->folding, settings->branch_sample, &builder->guards, &any, err);
        if (rc == 0 && any)
            rc = fold_network_constants(model, settings, &folded, err);
    }
    return rc;
}

static int infer_network_types(struct network_builder *builder, struct error *err)
{
    struct model *model = builder->network->model;
    const struct folding_settings *folding = &builder->settings->folding;
    struct error why = {0};
    int rc = types_infer(model, NULL, folding->backend, &folding->request, &builder->not_tensors, &why);

    if (rc == ERR_BACKEND || rc == ERR_MISSING || rc == ERR_UNSUPPORTED) {
        log_message(builder->settings->log, LOG_VERBOSE, "Types of tensors are not known: %s", why.message);
        return 0;
    }
    if (rc < 0)
        *err = why;
    return rc;
}

static void find_described_value(struct network_builder *builder)
{
    const struct model *model = builder->network->model;

    for (uint32_t i = 0; i < model->values.count; i++) {
        struct value_type type;

        value_info_decode(model->values.items[i].info, &type);
        if (type.not_a_tensor != NULL)
            bitset_add(&builder->not_tensors, i);
    }
}

/* Checks for duplicate producers before nodes are removed: one of two producers may be unused. */
static int check_value_producers(const struct model *model, struct error *err)
{
    for (uint32_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < model->nodes.items[i].outputs.count; k++) {
            uint32_t value = model_edge(model, model->nodes.items[i].outputs, k);

            if (value != VALUE_NONE && model->values.items[value].producer != i)
                return error_set(err, ERR_CORRUPT, "%s: '" TEXT_FORMAT "' is produced twice", model->display_name,
                                 TEXT_ARGS(model->values.items[value].name));
        }
    return 0;
}

/* Prepares the model: lowers constants, infers types, sorts nodes, and removes unneeded ones. */
static int prepare_network_model(struct network_builder *builder, struct error *err)
{
    struct model *model = builder->network->model;
    const struct network_settings *settings = builder->settings;
    bool computes = settings->folding.backend != NULL;
    int rc = check_value_producers(model, err);

    if (rc < 0)
        return rc;
    rc = mark_named_outputs(model, settings, err);
    if (rc < 0)
        return rc;
    rc = model_make_constants_dense(model, err);
    if (rc < 0)
        return rc;
    rc = model_respell_four_bit_identities(model, NULL, err);
    if (rc < 0)
        return rc;
    rc = computes ? fold_constants_unless_off(builder, err) : model_lower_constants(model, err);
    if (rc < 0)
        return rc;
    rc = computes ? decide_network_branches(builder, err) : model_sort_nodes(model, err);
    if (rc < 0)
        return rc;
    rc = settings->outputs.mark_all ? 0 : model_remove_unneeded_nodes(model, err);
    if (rc < 0)
        return rc;
    rc = model_respell_sums(model, err);
    if (rc < 0)
        return rc;
    bitset_init(&builder->not_tensors, model->values.count);
    if (computes)
        rc = infer_network_types(builder, err);
    find_described_value(builder);
    return rc;
}

/* From here on nodes that check branches are kept although no output depends on them. */
static void hide_guard_outputs(struct network_builder *builder)
{
    struct model *model = builder->network->model;
    struct bitset guards SCOPED(bitset_release) = {0};
    size_t kept = 0;

    value_list_to_set(&builder->guards, model->values.count, &guards);
    for (size_t i = 0; i < model->outputs.count; i++)
        if (!bitset_has(&guards, model->outputs.items[i]))
            model->outputs.items[kept++] = model->outputs.items[i];
    model->outputs.count = kept;
}

/* Drops outputs that are not tensors, except those requested by name. */
static void drop_non_tensor_outputs(const struct network_builder *builder, struct value_list *outputs)
{
    const struct model *model = builder->network->model;
    SCOPED_STRING(names);
    size_t kept = 0;

    if (builder->settings->outputs.names.count > 0)
        return;
    for (size_t i = 0; i < outputs->count; i++) {
        uint32_t value = outputs->items[i];

        if (bitset_has(&builder->not_tensors, value))
            string_add_format(&names, "%s'" TEXT_FORMAT "'", names.size > 0 ? ", " : "",
                              TEXT_ARGS(model->values.items[value].name));
        else
            outputs->items[kept++] = value;
    }
    if (kept > 0 && kept < outputs->count) {
        log_message(builder->settings->log, LOG_WARNING,
                    "Outputs that are sequences, maps or the like are left out of the engine: [%s]", names.data);
        outputs->count = kept;
    }
}

/* Marks all outputs of nodes, also non-tensors, and the model's outputs, also constant ones. */
static void mark_all_values(const struct model *model, struct subgraph *whole)
{
    struct value_list others SCOPED_ITEMS = {0};
    struct bitset listed SCOPED(bitset_release) = {0};

    outputs_mark_all(whole, &others);
    for (size_t i = 0; i < model->outputs.count; i++)
        value_list_add(&others, model->outputs.items[i]);
    value_list_to_set(&whole->outputs, model->values.count, &listed);
    for (size_t i = 0; i < others.count; i++) {
        if (!bitset_has(&listed, others.items[i]))
            value_list_add(&whole->outputs, others.items[i]);
        bitset_add(&listed, others.items[i]);
    }
}

/* --trt-outputs mark all, and --trt-exclude-outputs. */
static int mark_requested_outputs(struct network_builder *builder, struct error *err)
{
    struct model *model = builder->network->model;
    const struct network_settings *settings = builder->settings;
    struct subgraph whole SCOPED(subgraph_release) = {0};
    int rc = 0;

    subgraph_init_whole(&whole, model);
    if (settings->outputs.mark_all)
        mark_all_values(model, &whole);
    drop_non_tensor_outputs(builder, &whole.outputs);
    if (settings->excluded.count > 0)
        rc = outputs_exclude(&whole, settings->excluded.items, settings->excluded.count, err);
    if (rc == 0)
        value_list_assign(&model->outputs, &whole.outputs);
    if (rc == 0)
        rc = model_remove_unneeded_nodes(model, err);
    hide_guard_outputs(builder);
    return rc;
}

static int refuse_non_tensor_inputs(const struct network_builder *builder, struct error *err)
{
    const struct model *model = builder->network->model;

    for (size_t i = 0; i < model->inputs.count + model->outputs.count; i++) {
        bool is_input = i < model->inputs.count;
        uint32_t value = is_input ? model->inputs.items[i] : model->outputs.items[i - model->inputs.count];

        if (bitset_has(&builder->not_tensors, value))
            return error_set(err, ERR_BACKEND,
                             "%s: %s '" TEXT_FORMAT
                             "' is no tensor: the engine takes and gives tensors only, so cut the model %s it "
                             "with `polygraphy surgeon extract`",
                             model->display_name, is_input ? "input" : "output",
                             TEXT_ARGS(model->values.items[value].name), is_input ? "behind" : "in front of");
    }
    return 0;
}

/* ---- Layers ---- */

/* Creates layers of parts with several nodes. */
static void add_part_layers(struct network_builder *builder, struct fusion *fusion)
{
    struct network *network = builder->network;
    uint32_t count = (uint32_t)network->model->nodes.count, *parts SCOPED_FREE = NULL;
    uint32_t *first SCOPED_FREE = NULL, *next SCOPED_FREE = NULL; /* linked lists of nodes of the same part */
    struct value_list nodes SCOPED_ITEMS = {0};

    node_parts(network->model, &builder->not_tensors, &parts);
    if (parts != NULL) {
        first = memory_alloc((count + 1) * sizeof(*first));
        next = memory_alloc((count + 1) * sizeof(*next));
        for (uint32_t i = 0; i < count; i++)
            first[i] = NODE_NONE;
    }
    for (uint32_t i = count; parts != NULL && i-- > 0;) {
        next[i] = first[parts[i]];
        first[parts[i]] = i;
    }
    for (uint32_t i = 0; parts != NULL && i < count; i++) {
        nodes.count = 0;
        for (uint32_t k = first[parts[i]]; k != NODE_NONE && !bitset_has(&fusion->taken, i); k = next[k])
            value_list_add(&nodes, k);
        if (nodes.count > 1)
            layer_of_part(fusion, nodes.items, nodes.count, VECTOR_APPEND(&network->layers));
    }
}

/* Convolutions and products are extended first, then other layers. */
static bool node_is_in_round(const struct layer *layer, size_t round)
{
    bool multiplies =
        layer->kind == LAYER_CONVOLUTION || layer->kind == LAYER_DECONVOLUTION || layer->kind == LAYER_MATMUL;

    return multiplies == (round < 2);
}

static void add_network_layers(struct network_builder *builder, struct fusion *fusion)
{
    struct network *network = builder->network;
    bool fuse = !builder->settings->keep_nodes_apart;

    add_part_layers(builder, fusion);
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; round == 1 && fuse && i < network->layers.count; i++)
            while (network->layers.items[i].nodes.count > 0 && fusion_extend(fusion, &network->layers.items[i], true))
                ;
        for (uint32_t i = 0; round != 1 && i < network->model->nodes.count; i++) {
            struct layer layer;

            if (bitset_has(&fusion->taken, i))
                continue;
            fusion_begin(fusion, i, &layer);
            if (!node_is_in_round(&layer, round)) {
                bitset_remove(&fusion->taken, i);
                layer_release(&layer);
                continue;
            }
            while (fuse && fusion_extend(fusion, &layer, round == 2))
                ;
            *VECTOR_APPEND(&network->layers) = layer;
        }
    }
}

static void fuse_network_layers(struct network_builder *builder, struct fusion *fusion)
{
    fusion->decisions = &builder->network->decisions;
    fusion->labels = &builder->labels;
    add_network_layers(builder, fusion);
}

/* Fuses as if nothing were disabled and no output marked, to record decisions that depend on others. */
static void rehearse_layer_fusion(struct network_builder *builder)
{
    struct network *network = builder->network;
    struct fusion fusion SCOPED(fusion_release) = {0};

    fusion_init(&fusion, network->model, &builder->own_outputs);
    bitset_subtract(&fusion.kept, &fusion.marked);
    network_decisions_rehearse(&network->decisions, true);
    fuse_network_layers(builder, &fusion);
    network_decisions_rehearse(&network->decisions, false);
    for (size_t i = 0; i < network->layers.count; i++)
        layer_release(&network->layers.items[i]);
    network->layers.count = 0;
}

/* Sets the layer of each decision. */
static void place_network_decisions(struct network *network)
{
    struct layer_names names SCOPED(layer_names_release) = {0};

    layer_names_init(&names, network);
    VECTOR_EACH (struct decision, decision, network->decisions) {
        const struct layer *layer = layer_names_find(&names, decision->label);

        decision->layer = layer != NULL ? layer->name : NULL;
    }
}

static int make_network_layers(struct network_builder *builder, struct error *err)
{
    struct network *network = builder->network;
    struct fusion fusion SCOPED(fusion_release) = {0};
    SCOPED_NAME_MAP(names);
    int rc;

    if (builder->settings->disabled.count > 0)
        rehearse_layer_fusion(builder);
    fusion_init(&fusion, network->model, &builder->own_outputs);
    fuse_network_layers(builder, &fusion);
    builder->prevented += fusion.prevented;
    rc = layers_sort(network, err);
    for (size_t i = 0; rc == 0 && i < network->layers.count; i++)
        network->layers.items[i].name = layer_name(&builder->labels, &network->layers.items[i], &names);
    if (rc < 0)
        return rc;
    place_network_decisions(network);
    if (!builder->settings->keep_nodes_apart)
        rc = network_decisions_check(&network->decisions, builder->settings->log, err);
    return rc == 0 ? layers_check(network, err) : rc;
}

static int fold_affine_nodes(struct network_builder *builder, struct error *err)
{
    struct network *network = builder->network;
    int rc = network_decisions_set_labels(&network->decisions, &builder->labels, err);

    return rc == 0 ? affine_nodes_fold(network->model, &builder->own_outputs, &builder->labels, &network->decisions,
                                       &builder->prevented, err)
                   : rc;
}

int network_build(struct model *model, const struct network_settings *settings, struct network **ret, struct error *err)
{
    struct network *network = memory_alloc_zero(1, sizeof(*network));
    struct network_builder builder = {.settings = settings, .network = network};
    int rc;

    network->model = model;
    bitset_init(&builder.own_outputs, model->values.count);
    add_values_to_set(&model->outputs, &builder.own_outputs);
    rc = network_decisions_init(&network->decisions, model, settings->disabled, err);
    if (rc < 0)
        goto done;
    rc = prepare_network_model(&builder, err);
    if (rc < 0)
        goto done;
    rc = mark_requested_outputs(&builder, err);
    if (rc < 0)
        goto done;
    rc = refuse_non_tensor_inputs(&builder, err);
    if (rc < 0)
        goto done;
    node_labels_init(&builder.labels, model);
    if (!settings->keep_nodes_apart)
        rc = fold_affine_nodes(&builder, err);
    if (rc < 0)
        goto done;
    value_list_assign(&network->inputs, &model->inputs);
    value_list_assign(&network->outputs, &model->outputs);
    rc = make_network_layers(&builder, err);
    if (rc < 0)
        goto done;
    if (builder.prevented > 0)
        log_message(
            settings->log, LOG_WARNING,
            "Outputs that were marked prevent %zu fusion%s of layers: the engine is slower than without them, and "
            "rounds where it would not",
            builder.prevented, builder.prevented == 1 ? "" : "s");
    *ret = network;
done:
    node_labels_release(&builder.labels);
    bitset_release(&builder.own_outputs);
    bitset_release(&builder.not_tensors);
    free(builder.guards.items);
    if (rc < 0)
        network_free(network);
    return rc;
}
