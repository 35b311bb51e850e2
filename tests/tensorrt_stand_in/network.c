/* tests/tensorrt_stand_in/network.c: a network as TensorRT's parser leaves it: a layer for each ONNX node. */
#include <stdlib.h>
#include <string.h>

#include "onnx/proto/value_info.h"
#include "tensorrt_stand_in/network.h"

char *node_layer_name(const struct model *model, uint32_t node)
{
    const struct node *item = &model->nodes.items[node];
    SCOPED_STRING(name);

    if (item->name.size > 0) {
        string_add_text(&name, item->name);
    } else {
        string_add(&name, "node_of_");
        for (size_t i = 0; i < item->outputs.count; i++)
            if (node_output(model, item, i) != VALUE_NONE) {
                string_add_text(&name, model->values.items[node_output(model, item, i)].name);
                break;
            }
    }
    return string_take(&name);
}

/* ---- Tensors ---- */

/* float64 is float32, and up to 8.6 int64 is int32. */
static enum data_type narrow_type(enum data_type type)
{
    if (type == DATA_FLOAT64 || type == DATA_UNDEFINED)
        return DATA_FLOAT32;
    return type == DATA_INT64 && release_before(1000) ? DATA_INT32 : type;
}

struct stand_in_tensor *network_tensor(struct stand_in_network *network, uint32_t value)
{
    struct stand_in_tensor *ret;
    struct value_type type;

    if (network->tensors[value] != NULL)
        return network->tensors[value];
    ret = object_new(sizeof(*ret), "VTensor", NULL);
    value_info_decode(network->model->values.items[value].info, &type);
    ret->network = network;
    ret->value = value;
    ret->name =
        memory_copy(network->model->values.items[value].name.data, network->model->values.items[value].name.size);
    ret->type = narrow_type(type.element);
    ret->shape = type.shape;
    ret->formats = 1U << enum_value("TensorFormat", "kLINEAR");
    network->tensors[value] = ret;
    return ret;
}

static bool tensor_set_name(void *self, const char *name)
{
    struct stand_in_tensor *tensor = object_of(self);

    tensor->name = memory_strdup(name);
    return true;
}

GETTER(tensor_name, const char *, struct stand_in_tensor, name)

static bool tensor_set_dimensions64(void *self, const void *dims)
{
    dims_read(dims, &((struct stand_in_tensor *)object_of(self))->shape);
    return true;
}

static bool tensor_set_dimensions32(void *self, struct dims32 dims)
{
    return tensor_set_dimensions64(self, &dims);
}

static struct dims32 tensor_dimensions32(const void *self)
{
    return dims32_of(&((struct stand_in_tensor *)object_of(self))->shape);
}

static struct dims64 tensor_dimensions64(const void *self)
{
    return dims64_of(&((struct stand_in_tensor *)object_of(self))->shape);
}

static bool tensor_set_type(void *self, int32_t type)
{
    struct stand_in_tensor *tensor = object_of(self);

    tensor->has_type = tensor->has_type || tensor->type != data_type_of_enum(type);
    tensor->type = data_type_of_enum(type);
    return true;
}

static int32_t tensor_type(const void *self)
{
    return enum_of_data_type(((struct stand_in_tensor *)object_of(self))->type);
}

static bool tensor_is_input(const void *self)
{
    struct stand_in_tensor *tensor = object_of(self);
    bool found = false;

    for (size_t i = 0; i < tensor->network->inputs.count; i++)
        found = found || tensor->network->inputs.items[i] == tensor;
    return found;
}

GETTER(tensor_is_output, bool, struct stand_in_tensor, is_output)
SETTER(tensor_set_formats, uint32_t, struct stand_in_tensor, formats)
GETTER(tensor_formats, uint32_t, struct stand_in_tensor, formats)

/* Whether its values are sizes: an operator reads it that takes sizes from a tensor. */
static bool tensor_is_shape(const void *self)
{
    static const struct {
        const char *operator;
        size_t input;
    } readers[] = {{"Reshape", 1}, {"Expand", 1}, {"ConstantOfShape", 0}, {"Tile", 1},  {"Slice", 1},
                   {"Slice", 2},   {"Pad", 1},    {"Range", 1},           {"Resize", 3}};
    struct stand_in_tensor *tensor = object_of(self);
    const struct model *model = tensor->network->model;

    for (size_t i = 0; i < model->nodes.count; i++)
        for (size_t k = 0; k < ARRAY_LEN(readers); k++)
            if (node_is(&model->nodes.items[i], readers[k].operator) &&
                node_input(model, &model->nodes.items[i], readers[k].input) == tensor->value)
                return true;
    return false;
}

static int32_t tensor_location(const void *self)
{
    return enum_value("TensorLocation", tensor_is_shape(self) ? "kHOST" : "kDEVICE");
}

static const char *tensor_dimension_name(const void *self, int32_t index)
{
    (void)self;
    (void)index;
    return NULL;
}

static bool tensor_set_dynamic_range(void *self, float minimum, float maximum)
{
    (void)self;
    return minimum <= maximum;
}

/* ---- Layers ---- */

static const struct node *node_of_layer(const void *self)
{
    struct stand_in_layer *layer = object_of(self);

    return &layer->network->model->nodes.items[layer->node];
}

static struct object *object_of_value(const void *self, uint32_t value)
{
    struct stand_in_layer *layer = object_of(self);

    return value == VALUE_NONE ? NULL : &network_tensor(layer->network, value)->object;
}

static int32_t layer_type(const void *self)
{
    static const struct {
        const char *operator, * type;
    } types[] = {{"Conv", "kCONVOLUTION"},  {"MatMul", "kMATRIX_MULTIPLY"}, {"Gemm", "kMATRIX_MULTIPLY"},
                 {"Identity", "kIDENTITY"}, {"Add", "kELEMENTWISE"},        {"Mul", "kELEMENTWISE"},
                 {"Sub", "kELEMENTWISE"},   {"Div", "kELEMENTWISE"},        {"Attention", "kATTENTION_INPUT"}};

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (node_is(node_of_layer(self), types[i].operator))
            return enum_value("LayerType", types[i].type);
    return enum_value("LayerType", "kUNARY");
}

static struct object *boundary_attention(const void *self)
{
    return &((struct stand_in_boundary *)object_of(self))->attention->object;
}

static bool attention_set_decomposable(void *self, bool decomposable)
{
    ((struct stand_in_attention *)object_of(self))->decomposable = decomposable;
    return true;
}

static void add_attention(struct stand_in_layer *layer)
{
    struct stand_in_boundary *boundary = object_new(sizeof(*boundary), "VAttentionBoundaryLayer", NULL);

    layer->attention = object_new(sizeof(*layer->attention), "VAttention", NULL);
    boundary->attention = layer->attention;
    layer->object.layer_part = boundary->object.part;
}

static bool layer_set_name(void *self, const char *name)
{
    ((struct stand_in_layer *)object_of(self))->name = memory_strdup(name);
    return true;
}

GETTER(layer_name, const char *, struct stand_in_layer, name)

static bool layer_set_metadata(void *self, const char *metadata)
{
    ((struct stand_in_layer *)object_of(self))->metadata = memory_strdup(metadata);
    return true;
}

GETTER(layer_metadata, const char *, struct stand_in_layer, metadata)

static int32_t layer_input_count(const void *self)
{
    return (int32_t)node_of_layer(self)->inputs.count;
}

static struct object *layer_input(const void *self, int32_t index)
{
    struct stand_in_layer *layer = object_of(self);

    return index < 0 ? NULL
                     : object_of_value(self, node_input(layer->network->model, node_of_layer(self), (size_t)index));
}

static int32_t layer_output_count(const void *self)
{
    return (int32_t)node_of_layer(self)->outputs.count;
}

static struct object *layer_output(const void *self, int32_t index)
{
    struct stand_in_layer *layer = object_of(self);

    return index < 0 ? NULL
                     : object_of_value(self, node_output(layer->network->model, node_of_layer(self), (size_t)index));
}

static bool layer_set_precision(void *self, int32_t type)
{
    ((struct stand_in_layer *)object_of(self))->precision = data_type_of_enum(type);
    return true;
}

static int32_t layer_precision(const void *self)
{
    struct stand_in_layer *layer = object_of(self);
    uint32_t first = node_output(layer->network->model, node_of_layer(self), 0);

    if (layer->precision != DATA_UNDEFINED)
        return enum_of_data_type(layer->precision);
    return enum_of_data_type(first == VALUE_NONE ? DATA_FLOAT32 : network_tensor(layer->network, first)->type);
}

static bool layer_has_precision(const void *self)
{
    return ((struct stand_in_layer *)object_of(self))->precision != DATA_UNDEFINED;
}

static bool layer_reset_precision(void *self)
{
    ((struct stand_in_layer *)object_of(self))->precision = DATA_UNDEFINED;
    return true;
}

static bool layer_set_output_type(void *self, int32_t index, int32_t type)
{
    if (index < 0 || index >= MOST_DIMS)
        return false;
    ((struct stand_in_layer *)object_of(self))->output_types[index] = data_type_of_enum(type);
    return true;
}

static bool layer_has_output_type(const void *self, int32_t index)
{
    return index >= 0 && index < MOST_DIMS &&
           ((struct stand_in_layer *)object_of(self))->output_types[index] != DATA_UNDEFINED;
}

static int32_t layer_output_type(const void *self, int32_t index)
{
    struct object *output = layer_output(self, index);

    if (layer_has_output_type(self, index))
        return enum_of_data_type(((struct stand_in_layer *)object_of(self))->output_types[index]);
    return output == NULL ? -1 : tensor_type(output->part);
}

static bool layer_reset_output_type(void *self, int32_t index)
{
    if (layer_has_output_type(self, index))
        ((struct stand_in_layer *)object_of(self))->output_types[index] = DATA_UNDEFINED;
    return true;
}

/* ---- The network ---- */

static void release_network(void *object)
{
    struct stand_in_network *network = object;

    model_free(network->model);
    free(network->bytes);
    free(network->folder);
    network->model = NULL;
}

struct object *network_new(uint32_t flags)
{
    struct stand_in_network *ret = object_new(sizeof(*ret), "VNetworkDefinition", release_network);

    ret->name = memory_strdup("Unnamed Network 0");
    ret->flags = flags;
    return &ret->object;
}

bool network_is_strongly_typed(const struct stand_in_network *network)
{
    return !release_before(1100) ||
           (!release_before(900) &&
            (network->flags >> enum_value("NetworkDefinitionCreationFlag", "kSTRONGLY_TYPED") & 1) != 0);
}

static void add_output(struct stand_in_network *network, struct stand_in_tensor *tensor)
{
    if (!tensor->is_output)
        *VECTOR_APPEND(&network->outputs) = tensor;
    tensor->is_output = true;
}

void network_fill(struct stand_in_network *network, struct model *model)
{
    network->model = model;
    network->tensors = memory_alloc_zero(model->values.count, sizeof(struct stand_in_tensor *));
    for (size_t i = 0; i < model->inputs.count; i++)
        *VECTOR_APPEND(&network->inputs) = network_tensor(network, model->inputs.items[i]);
    for (size_t i = 0; i < model->outputs.count; i++)
        add_output(network, network_tensor(network, model->outputs.items[i]));
    for (uint32_t i = 0; i < model->nodes.count; i++) {
        struct stand_in_layer *layer = object_new(sizeof(*layer), "VLayer", NULL);

        layer->object.layer_part = layer->object.part;
        layer->network = network;
        layer->node = i;
        layer->name = node_layer_name(model, i);
        layer->metadata = memory_strdup("");
        if (node_is(&model->nodes.items[i], "Attention"))
            add_attention(layer);
        *VECTOR_APPEND(&network->layers) = layer;
    }
}

static bool network_mark_output(void *self, struct object *tensor)
{
    add_output(object_of(self), (struct stand_in_tensor *)tensor);
    return true;
}

static bool network_unmark_output(void *self, struct object *object)
{
    struct stand_in_network *network = object_of(self);
    size_t count = 0;

    for (size_t i = 0; i < network->outputs.count; i++)
        if (&network->outputs.items[i]->object != object)
            network->outputs.items[count++] = network->outputs.items[i];
    network->outputs.count = count;
    ((struct stand_in_tensor *)object)->is_output = false;
    return true;
}

static int32_t network_layer_count(const void *self)
{
    return (int32_t)((struct stand_in_network *)object_of(self))->layers.count;
}

static struct object *network_layer(const void *self, int32_t index)
{
    struct stand_in_network *network = object_of(self);

    return index < 0 || (size_t)index >= network->layers.count ? NULL : &network->layers.items[index]->object;
}

static struct object *item_of(const struct tensor_objects *tensors, int32_t index)
{
    return index < 0 || (size_t)index >= tensors->count ? NULL : &tensors->items[index]->object;
}

static int32_t network_input_count(const void *self)
{
    return (int32_t)((struct stand_in_network *)object_of(self))->inputs.count;
}

static struct object *network_input(const void *self, int32_t index)
{
    return item_of(&((struct stand_in_network *)object_of(self))->inputs, index);
}

static int32_t network_output_count(const void *self)
{
    return (int32_t)((struct stand_in_network *)object_of(self))->outputs.count;
}

static struct object *network_output(const void *self, int32_t index)
{
    return item_of(&((struct stand_in_network *)object_of(self))->outputs, index);
}

static bool network_set_name(void *self, const char *name)
{
    ((struct stand_in_network *)object_of(self))->name = memory_strdup(name);
    return true;
}

GETTER(network_name, const char *, struct stand_in_network, name)

static bool network_set_recorder(void *self, void *recorder)
{
    ((struct stand_in_network *)object_of(self))->recorder = recorder;
    report_set_recorder(recorder);
    return true;
}

GETTER(network_recorder, void *, struct stand_in_network, recorder)
GETTER(network_flags, uint32_t, struct stand_in_network, flags)

static bool network_flag(const void *self, int32_t flag)
{
    return (network_flags(self) >> flag & 1) != 0;
}

static bool network_mark_debug(void *self, struct object *tensor)
{
    (void)self;
    ((struct stand_in_tensor *)tensor)->is_debug = true;
    return true;
}

static bool network_unmark_debug(void *self, struct object *tensor)
{
    (void)self;
    ((struct stand_in_tensor *)tensor)->is_debug = false;
    return true;
}

static bool network_is_debug(const void *self, const struct object *tensor)
{
    (void)self;
    return ((const struct stand_in_tensor *)tensor)->is_debug;
}

static bool network_mark_unfused(void *self)
{
    ((struct stand_in_network *)object_of(self))->unfused_are_debug = true;
    return true;
}

static bool network_unmark_unfused(void *self)
{
    ((struct stand_in_network *)object_of(self))->unfused_are_debug = false;
    return true;
}

static bool network_mark_refittable(void *self, const char *name)
{
    (void)self;
    return name[0] != '\0';
}

const struct method_row network_methods[] = {
    {"VTensor", "setName", "8.5..11.1:2 rtx:2", CALL(tensor_set_name)},
    {"VTensor", "getName", "8.5..11.1:3 rtx:3", CALL(tensor_name)},
    {"VTensor", "setDimensions", "8.5..9.3:4", CALL(tensor_set_dimensions32)},
    {"VTensor", "setDimensions", "10.0..11.1:4 rtx:4", CALL(tensor_set_dimensions64)},
    {"VTensor", "getDimensions", "8.5..9.3:5", CALL(tensor_dimensions32)},
    {"VTensor", "getDimensions", "10.0..11.1:5 rtx:5", CALL(tensor_dimensions64)},
    {"VTensor", "setType", "8.5..10.16:6", CALL(tensor_set_type)},
    {"VTensor", "getType", "8.5..10.16:7 11.0..11.1:6 rtx:6", CALL(tensor_type)},
    {"VTensor", "isNetworkInput", "8.5..10.16:9 11.0..11.1:7 rtx:7", CALL(tensor_is_input)},
    {"VTensor", "isNetworkOutput", "8.5..10.16:10 11.0..11.1:8 rtx:8", CALL(tensor_is_output)},
    {"VTensor", "setAllowedFormats", "8.5..10.16:19 11.0..11.1:13 rtx:9", CALL(tensor_set_formats)},
    {"VTensor", "getAllowedFormats", "8.5..10.16:20 11.0..11.1:14 rtx:10", CALL(tensor_formats)},
    {"VTensor", "isShapeTensor", "8.5..10.16:21 11.0..11.1:15 rtx:11", CALL(tensor_is_shape)},
    {"VTensor", "isExecutionTensor", "8.5..10.16:22 11.0..11.1:16 rtx:12", CALL(answer_true)},
    {"VTensor", "getLocation", "8.5..10.16:13 11.0..11.1:11", CALL(tensor_location)},
    {"VTensor", "getDimensionName", "8.5..10.16:24 11.0..11.1:18 rtx:14", CALL(tensor_dimension_name)},
    {"VTensor", "setDynamicRange", "8.5..10.16:8", CALL(tensor_set_dynamic_range)},
    {"VAttention", "setDecomposable", "10.14..11.1:15", CALL(attention_set_decomposable)},
    {"VAttentionBoundaryLayer", "getAttention", "10.14..11.1:2", CALL(boundary_attention)},
    {"VLayer", "getType", "8.5..11.1:2 rtx:2", CALL(layer_type)},
    {"VLayer", "setName", "8.5..11.1:3 rtx:3", CALL(layer_set_name)},
    {"VLayer", "getName", "8.5..11.1:4 rtx:4", CALL(layer_name)},
    {"VLayer", "getNbInputs", "8.5..11.1:5 rtx:5", CALL(layer_input_count)},
    {"VLayer", "getInput", "8.5..11.1:6 rtx:6", CALL(layer_input)},
    {"VLayer", "getNbOutputs", "8.5..11.1:7 rtx:7", CALL(layer_output_count)},
    {"VLayer", "getOutput", "8.5..11.1:8 rtx:8", CALL(layer_output)},
    {"VLayer", "setPrecision", "8.5..10.16:10", CALL(layer_set_precision)},
    {"VLayer", "getPrecision", "8.5..10.16:11", CALL(layer_precision)},
    {"VLayer", "precisionIsSet", "8.5..10.16:12", CALL(layer_has_precision)},
    {"VLayer", "resetPrecision", "8.5..10.16:13", CALL(layer_reset_precision)},
    {"VLayer", "setOutputType", "8.5..10.16:14", CALL(layer_set_output_type)},
    {"VLayer", "getOutputType", "8.5..10.16:15 11.0..11.1:10 rtx:10", CALL(layer_output_type)},
    {"VLayer", "outputTypeIsSet", "8.5..10.16:16", CALL(layer_has_output_type)},
    {"VLayer", "resetOutputType", "8.5..10.16:17", CALL(layer_reset_output_type)},
    {"VLayer", "setMetadata", "8.6..10.16:18 11.0..11.1:11 rtx:11", CALL(layer_set_metadata)},
    {"VLayer", "getMetadata", "8.6..10.16:19 11.0..11.1:12 rtx:12", CALL(layer_metadata)},
    {"VNetworkDefinition", "markOutput", "8.5..11.1:3 rtx:3", CALL(network_mark_output)},
    {"VNetworkDefinition", "unmarkOutput", "8.5..9.3:32 10.0..11.1:26 rtx:26", CALL(network_unmark_output)},
    {"VNetworkDefinition", "getNbLayers", "8.5..9.3:17 10.0..11.1:12 rtx:12", CALL(network_layer_count)},
    {"VNetworkDefinition", "getLayer", "8.5..9.3:18 10.0..11.1:13 rtx:13", CALL(network_layer)},
    {"VNetworkDefinition", "getNbInputs", "8.5..9.3:19 10.0..11.1:14 rtx:14", CALL(network_input_count)},
    {"VNetworkDefinition", "getInput", "8.5..9.3:20 10.0..11.1:15 rtx:15", CALL(network_input)},
    {"VNetworkDefinition", "getNbOutputs", "8.5..9.3:21 10.0..11.1:16 rtx:16", CALL(network_output_count)},
    {"VNetworkDefinition", "getOutput", "8.5..9.3:22 10.0..11.1:17 rtx:17", CALL(network_output)},
    {"VNetworkDefinition", "setName", "8.5..9.3:35 10.0..11.1:30 rtx:28", CALL(network_set_name)},
    {"VNetworkDefinition", "getName", "8.5..9.3:36 10.0..11.1:31 rtx:29", CALL(network_name)},
    {"VNetworkDefinition", "hasImplicitBatchDimension", "8.5..9.3:38 10.0..11.1:33 rtx:31", CALL(answer_false)},
    {"VNetworkDefinition", "setErrorRecorder", "8.5..9.3:53 10.0..10.16:47 11.0..11.1:46 rtx:44",
     CALL(network_set_recorder)},
    {"VNetworkDefinition", "getErrorRecorder", "8.5..9.3:54 10.0..10.16:48 11.0..11.1:47 rtx:45",
     CALL(network_recorder)},
    {"VNetworkDefinition", "getFlags", "9.3:70 10.0..10.7:64 10.8:65 10.9..10.16:64 11.0..11.1:61 rtx:59",
     CALL(network_flags)},
    {"VNetworkDefinition", "getFlag", "9.3:71 10.0..10.7:65 10.8:66 10.9..10.16:65 11.0..11.1:62 rtx:60",
     CALL(network_flag)},
    {"VNetworkDefinition", "markDebug", "10.0..10.7:69 10.8:70 10.9..10.16:69 11.0..11.1:66 rtx:64",
     CALL(network_mark_debug)},
    {"VNetworkDefinition", "unmarkDebug", "10.0..10.7:70 10.8:71 10.9..10.16:70 11.0..11.1:67 rtx:65",
     CALL(network_unmark_debug)},
    {"VNetworkDefinition", "isDebugTensor", "10.0..10.7:71 10.8:72 10.9..10.16:71 11.0..11.1:68 rtx:66",
     CALL(network_is_debug)},
    {"VNetworkDefinition", "markUnfusedTensorsAsDebugTensors", "10.12..10.16:79 11.0..11.1:76 rtx:74",
     CALL(network_mark_unfused)},
    {"VNetworkDefinition", "unmarkUnfusedTensorsAsDebugTensors", "10.12..10.16:80 11.0..11.1:77 rtx:75",
     CALL(network_unmark_unfused)},
    {"VNetworkDefinition", "markWeightsRefittable", "10.2..10.7:72 10.8:73 10.9..10.16:72 11.0..11.1:69 rtx:67",
     CALL(network_mark_refittable)},
    {"VNetworkDefinition", "unmarkWeightsRefittable", "10.2..10.7:73 10.8:74 10.9..10.16:73 11.0..11.1:70 rtx:68",
     CALL(network_mark_refittable)},
    {NULL, NULL, NULL, {NULL}},
};
