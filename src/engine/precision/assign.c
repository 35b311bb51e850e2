/* engine/precision/assign.c: the precision of every layer. See precision.h. */
#include <stdlib.h>

#include "base/container/name_map.h"
#include "base/memory.h"
#include "base/text/names.h"
#include "engine/precision/precision.h"

/* Maximum number of layers in one message. */
#define NAMED_LAYERS 8

static void note_complaint(struct short_list *complaints, const char *kind, const char *name, enum data_type type)
{
    if (short_list_next(complaints))
        string_add_format(complaints->text, "%s '%s' (%s)", kind, name, data_type_name(type));
}

static bool precision_is_enabled(const struct precision_settings *settings, enum precision precision)
{
    return precision == PRECISION_FLOAT32 || settings->enabled[precision];
}

/* ---- Names ---- */

/* Maps names of tensors to their layers. */
static void index_layer_outputs(const struct network *network, struct name_map *ret)
{
    name_map_init(ret);
    for (size_t i = 0; i < network->layers.count; i++) {
        const struct value_list *outputs = &network->layers.items[i].outputs;

        for (size_t k = 0; k < outputs->count; k++)
            if (outputs->items[k] != VALUE_NONE)
                name_map_add(ret, network->model->values.items[outputs->items[k]].name, (uint32_t)i);
    }
}

/* The layer that produces a tensor, and the index among its outputs. */
static const struct layer *find_layer_of_output(const struct network *network, const struct name_map *tensors,
                                                struct text name, size_t *ret_output)
{
    uint32_t found = name_map_find(tensors, name);
    const struct layer *layer = found != NAME_MAP_NONE ? &network->layers.items[found] : NULL;

    for (size_t k = 0; layer != NULL && k < layer->outputs.count; k++) {
        uint32_t value = layer->outputs.items[k];

        if (value != VALUE_NONE && text_equal(network->model->values.items[value].name, name))
            *ret_output = k;
    }
    return layer;
}

static int refuse_unknown_layer(const struct network *network, const char *name, struct error *err)
{
    struct close_names close;
    SCOPED_STRING(text);

    close_names_start(&close, text_of(name));
    VECTOR_EACH (const struct layer, layer, network->layers) {
        close_names_offer(&close, text_of(layer->name));
        for (size_t k = 0; k < layer->nodes.count; k++)
            close_names_offer(&close, network->model->nodes.items[layer->nodes.items[k]].name);
    }
    close_names_add_to(&close, &text);
    return error_set(err, ERR_INVALID, "--layer-precisions: the network has no layer '%s'%s", name,
                     text.size > 0 ? text.data : "; `polygraphy inspect model` on an engine lists its layers");
}

static int refuse_unknown_tensor(const struct network *network, const char *name, struct error *err)
{
    struct close_names close;
    SCOPED_STRING(text);

    close_names_start(&close, text_of(name));
    for (size_t i = 0; i < network->layers.count; i++) {
        const struct value_list *outputs = &network->layers.items[i].outputs;

        for (size_t k = 0; k < outputs->count; k++)
            if (outputs->items[k] != VALUE_NONE)
                close_names_offer(&close, network->model->values.items[outputs->items[k]].name);
    }
    close_names_add_to(&close, &text);
    return error_set(err, ERR_INVALID, "--tensor-dtypes: '%s' is not an output of any layer%s", name, text.data);
}

static int read_override_precision(const char *option, const struct precision_override *override, enum precision *ret,
                                   struct error *err)
{
    *ret = precision_of_type(override->type);
    if (*ret != PRECISION_COUNT)
        return 0;
    return error_set(err, ERR_INVALID, "%s: '%s' cannot be %s: choose float32, float16, bfloat16 or int8", option,
                     override->name, data_type_name(override->type));
}

/* ---- Layers ---- */

static enum precision find_lowest_precision(const struct network *network, const struct layer *layer,
                                            const struct precision_settings *settings)
{
    if (settings->policy == PRECISION_POLICY_FASTEST)
        return PRECISION_FLOAT32;
    for (int i = PRECISION_COUNT - 1; i > PRECISION_FLOAT32; i--)
        if (settings->enabled[i] && precision_eligible(network, layer, (enum precision)i))
            return (enum precision)i;
    return PRECISION_FLOAT32;
}

static int constrain_layers(const struct network *network, const struct layer_names *names,
                            const struct precision_settings *settings, struct layer_precision *ret,
                            struct short_list *complaints, struct error *err)
{
    VECTOR_EACH (const struct precision_override, override, settings->layers) {
        const struct layer *layer = layer_names_find(names, text_of(override->name));
        enum precision precision;
        int rc = read_override_precision("--layer-precisions", override, &precision, err);

        if (rc == 0 && layer == NULL)
            rc = refuse_unknown_layer(network, override->name, err);
        if (rc < 0)
            return rc;
        if (settings->constraints == PRECISION_CONSTRAINTS_NONE)
            continue;
        if (!precision_is_enabled(settings, precision) || !precision_eligible(network, layer, precision)) {
            note_complaint(complaints, "layer", layer->name, override->type);
            continue;
        }
        ret[layer - network->layers.items].precision = precision;
        ret[layer - network->layers.items].constrained = true;
    }
    return 0;
}

/* ---- Tensors ---- */

static int constrain_tensors(const struct network *network, const struct name_map *tensors,
                             const struct precision_settings *settings, struct layer_precision *ret,
                             struct short_list *complaints, struct error *err)
{
    VECTOR_EACH (const struct precision_override, override, settings->tensors) {
        size_t output = 0;
        const struct layer *layer = find_layer_of_output(network, tensors, text_of(override->name), &output);
        enum precision precision;
        int rc = read_override_precision("--tensor-dtypes", override, &precision, err);

        if (rc == 0 && layer == NULL)
            rc = refuse_unknown_tensor(network, override->name, err);
        if (rc < 0)
            return rc;
        /* int8 outputs are not supported: layers here read float32. */
        if (!precision_is_enabled(settings, precision) || precision == PRECISION_INT8 ||
            network_type(network, layer->outputs.items[output]) != DATA_FLOAT32) {
            note_complaint(complaints, "tensor", override->name, override->type);
            continue;
        }
        ret[layer - network->layers.items].outputs[output] = precision;
    }
    return 0;
}

/* ---- Assignment ---- */

static void store_output_precisions(const struct network *network, struct layer_precision *precisions)
{
    for (size_t i = 0; i < network->layers.count; i++) {
        const struct layer *layer = &network->layers.items[i];
        struct layer_precision *precision = &precisions[i];

        for (size_t k = 0; k < layer->outputs.count; k++) {
            uint32_t value = layer->outputs.items[k];
            bool narrowed = value != VALUE_NONE && network_type(network, value) == DATA_FLOAT32;

            precision->outputs[k] =
                narrowed && precision->precision != PRECISION_INT8 ? precision->precision : PRECISION_FLOAT32;
        }
    }
}

static int settle_complaints(const struct precision_settings *settings, struct short_list *complaints, struct log *log,
                             struct error *err)
{
    if (settings->layers.count > 0 && settings->constraints == PRECISION_CONSTRAINTS_NONE)
        log_message(log, LOG_WARNING,
                    "--layer-precisions are ignored: they count only with --precision-constraints prefer or obey");
    if (complaints->count == 0)
        return 0;
    short_list_end(complaints);
    if (settings->constraints == PRECISION_CONSTRAINTS_OBEY)
        return error_set(err, ERR_INVALID,
                         "the requested precision is not possible for %s: it is not enabled (--fp16, --bf16, --int8), "
                         "or not supported by the layer",
                         complaints->text->data);
    log_message(log, LOG_WARNING, "The requested precision is not possible for %s", complaints->text->data);
    return 0;
}

int precisions_assign(const struct network *network, const struct precision_settings *settings, struct log *log,
                      struct layer_precision *ret, struct error *err)
{
    SCOPED_STRING(text);
    struct short_list complaints = {.text = &text, .most = NAMED_LAYERS};
    struct layer_names names SCOPED(layer_names_release) = {0};
    struct name_map tensors;
    size_t count = network->layers.count;

    layer_names_init(&names, network);
    index_layer_outputs(network, &tensors);
    for (size_t i = 0; i < count; i++) {
        const struct layer *layer = &network->layers.items[i];

        ret[i] = (struct layer_precision){.precision = find_lowest_precision(network, layer, settings),
                                          .outputs = memory_alloc_zero(layer->outputs.count, sizeof(*ret[i].outputs))};
    }
    int rc = constrain_layers(network, &names, settings, ret, &complaints, err);
    store_output_precisions(network, ret);
    if (rc == 0)
        rc = constrain_tensors(network, &tensors, settings, ret, &complaints, err);
    if (rc == 0)
        rc = settle_complaints(settings, &complaints, log, err);
    if (rc < 0)
        precisions_release(ret, count);
    name_map_release(&tensors);
    return rc;
}

void precisions_release(struct layer_precision *precisions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(precisions[i].outputs);
        precisions[i].outputs = NULL;
    }
}

/* ---- Unused precisions ---- */

/* Statistics of the layers that compute with float32 tensors, for one precision. */
struct precision_candidates {
    size_t count;
    size_t eligible, constrained; /* layers that may have it; of these, constrained to another precision */
    size_t untyped;               /* layers with a tensor of unknown type */
    size_t with_bodies;           /* nodes with bodies, such as If and Loop */
    const struct layer *body;     /* the first of these */
};

static const struct node *find_node_with_body(const struct network *network, const struct layer *layer)
{
    for (size_t i = 0; i < layer->nodes.count; i++) {
        const struct node *node = &network->model->nodes.items[layer->nodes.items[i]];

        if (node->has_subgraphs)
            return node;
    }
    return NULL;
}

static bool layer_has_unknown_type(const struct network *network, const struct layer *layer)
{
    const struct value_list *const lists[] = {&layer->inputs, &layer->outputs};

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (size_t k = 0; k < lists[i]->count; k++)
            if (lists[i]->items[k] != VALUE_NONE && network_type(network, lists[i]->items[k]) == DATA_UNDEFINED)
                return true;
    return false;
}

static struct precision_candidates find_precision_candidates(const struct network *network,
                                                             const struct layer_precision *precisions,
                                                             enum precision precision)
{
    struct precision_candidates found = {0};

    for (size_t i = 0; i < network->layers.count; i++) {
        const struct layer *layer = &network->layers.items[i];
        bool eligible = precision_eligible(network, layer, precision);
        bool has_body = find_node_with_body(network, layer) != NULL;

        if (layer->moves_data || !(has_body || precision_eligible(network, layer, PRECISION_FLOAT32)))
            continue;
        found.count++;
        found.eligible += eligible;
        found.constrained += eligible && precisions[i].constrained;
        found.with_bodies += has_body;
        found.untyped += layer_has_unknown_type(network, layer);
        if (has_body && found.body == NULL)
            found.body = layer;
    }
    return found;
}

static void explain_layers_with_bodies(const struct network *network, const struct precision_candidates *found,
                                       struct string_builder *ret)
{
    const struct node *node = find_node_with_body(network, found->body);

    string_add_format(ret, "all that computes lies inside of '%s' (" TEXT_FORMAT ")", found->body->name,
                      TEXT_ARGS(node->op_type));
    if (found->with_bodies > 1)
        string_add_format(ret, " and %zu more layers of its kind", found->with_bodies - 1);
    string_add(ret, ", and what has a body stays in float32");
    if (node_is(node, "If"))
        string_add(ret,
                   "; --decide-branches puts the branch that is taken in the place of an If that sizes or integers "
                   "decide");
}

bool precision_explain_unused(const struct network *network, const struct precision_settings *settings,
                              const struct layer_precision *precisions, enum precision precision,
                              struct string_builder *ret)
{
    struct precision_candidates found = find_precision_candidates(network, precisions, precision);

    if (precision == PRECISION_TF32)
        string_add(ret, "it is a property of NVIDIA's matrix units, and computed in float32 here");
    else if (found.count == 0)
        string_add(ret, "no layer computes with float32 numbers");
    else if (found.with_bodies == found.count)
        explain_layers_with_bodies(network, &found, ret);
    else if (found.eligible == 0 && found.untyped > 0)
        string_add(ret,
                   "types of tensors are not known, which ONNX Runtime infers, and without them no layer is lowered");
    else if (found.eligible == 0 && precision == PRECISION_INT8)
        string_add(ret, "no layer is a convolution or a matrix product of float32 numbers with constant weights");
    else if (found.eligible == 0)
        string_add_format(ret, "none of the operators that compute has a form in %s", precision_name(precision));
    else if (settings->policy == PRECISION_POLICY_FASTEST)
        string_add(ret, "--precision-policy fastest keeps layers in float32, in which kernels compute");
    else if (found.constrained == found.eligible)
        string_add(ret, "all layers that could have it were asked to be something else");
    else
        string_add(ret, "all layers that could have it got another one that was allowed, too, or asked for");
    return found.eligible == 0 || found.constrained < found.eligible || precision == PRECISION_TF32;
}
