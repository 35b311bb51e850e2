/* engine/plan/read.c: reads an engine from a plan file. See plan.h. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/system.h"
#include "engine/plan/layout.h"
#include "engine/plan/plan.h"
#include "format/tensorrt/plan_header.h"
#include "onnx/external/data.h"
#include "engine/network/compile.h"
#include "engine/plan/engine.h"
#include "format/json/reader.h"

/* ---- The description ---- */

/* The description in a plan file, which is untrusted. */

struct plan_description {
    struct json_reader json;
    const json_t *providers, *profiles, *layers; /* arrays */
    struct node_group *groups;                   /* one for each layer */
    uint32_t *nodes;                             /* the nodes of the groups */
    int threads;
    int rc; /* of the first failure, described in `err`; later reads return empty values */
    struct error *err;
};

/* --- values of JSON --- */

static void note_damage(struct plan_description *description, const char *what)
{
    if (description->rc == 0)
        description->rc = error_set(description->err, ERR_CORRUPT, "its description is damaged: %s", what);
}

/* Reads an array with `count` elements (SIZE_MAX: any number). */
static const json_t *read_json_array(struct plan_description *description, const json_t *object, const char *key,
                                     size_t count)
{
    const json_t *array = json_object_get(object, key);

    if (json_is_array(array) && (count == SIZE_MAX || json_array_size(array) == count))
        return array;
    note_damage(description, key);
    return NULL;
}

static int64_t read_json_integer(struct plan_description *description, const json_t *value, int64_t minimum,
                                 int64_t maximum, const char *what)
{
    if (json_is_integer(value) && json_integer_value(value) >= minimum && json_integer_value(value) <= maximum)
        return json_integer_value(value);
    note_damage(description, what);
    return 0;
}

/* Reads a finite number >= 0. */
static double read_json_amount(struct plan_description *description, const json_t *value, const char *what)
{
    double number;

    if (json_reader_number(&description->json, value, &number) && isfinite(number) && number >= 0)
        return number;
    note_damage(description, what);
    return 0;
}

static struct text read_json_text(struct plan_description *description, const json_t *value, const char *what)
{
    struct text text;

    if (json_reader_text(&description->json, value, &text, NULL) == 0)
        return text;
    note_damage(description, what);
    return TEXT("");
}

static struct shape read_json_shape(struct plan_description *description, const json_t *value, const char *what)
{
    struct shape shape = {0};

    if (!json_is_array(value) || json_array_size(value) > TENSOR_MAX_RANK)
        note_damage(description, what);
    else
        shape.rank = json_array_size(value);
    for (size_t i = 0; i < shape.rank; i++)
        shape.dims[i] = read_json_integer(description, json_array_get(value, i), 0, INT64_MAX, what);
    return shape;
}

/* Reads `count` shapes, malloc'd; NULL if the key is missing. */
static struct shape *read_json_shapes(struct plan_description *description, const json_t *object, const char *key,
                                      size_t count)
{
    const json_t *array =
        json_object_get(object, key) != NULL ? read_json_array(description, object, key, count) : NULL;
    struct shape *shapes = array != NULL ? memory_alloc_zero(count, sizeof(*shapes)) : NULL;

    for (size_t i = 0; array != NULL && i < count; i++)
        shapes[i] = read_json_shape(description, json_array_get(array, i), key);
    return shapes;
}

/* --- parts that need no network --- */

static void read_node_groups(struct plan_description *description)
{
    size_t layers = json_array_size(description->layers), count = 0;
    uint32_t *next;

    for (size_t i = 0; i < layers; i++)
        count += json_array_size(json_object_get(json_array_get(description->layers, i), "nodes"));
    description->groups = memory_alloc_zero(layers, sizeof(*description->groups));
    description->nodes = next = memory_alloc_zero(count, sizeof(*description->nodes));
    for (size_t i = 0; i < layers; i++) {
        const json_t *layer = json_array_get(description->layers, i);
        const json_t *nodes = read_json_array(description, layer, "nodes", SIZE_MAX);

        description->groups[i] = (struct node_group){
            .name = read_json_text(description, json_object_get(layer, "name"), "the name of a layer"),
            .nodes = next,
            .count = json_array_size(nodes),
        };
        for (size_t k = 0; k < description->groups[i].count; k++)
            *next++ = (uint32_t)read_json_integer(description, json_array_get(nodes, k), 0, UINT32_MAX - 1,
                                                  "the nodes of a layer");
    }
}

/* harmless on a zeroed struct */
static void release_plan_description(struct plan_description *description)
{
    json_reader_release(&description->json);
    free(description->groups);
    free(description->nodes);
    *description = (struct plan_description){0};
}

/* Reads the parts that do not need the network. The bytes must outlive `ret`. Errors are ERR_CORRUPT and do not name
 * the file. */
static int open_plan_description(struct plan_description *ret, const char *data, size_t size, struct error *err)
{
    struct error why = {0};

    *ret = (struct plan_description){.err = err};
    if (json_reader_open_memory(&ret->json, data, size, "the description", &why) < 0) {
        note_damage(ret, why.message);
        return ret->rc;
    }
    ret->threads = (int)read_json_integer(ret, json_object_get(ret->json.root, "threads"), 0, INT_MAX, "threads");
    ret->providers = read_json_array(ret, ret->json.root, "providers", SIZE_MAX);
    ret->profiles = read_json_array(ret, ret->json.root, "profiles", SIZE_MAX);
    ret->layers = read_json_array(ret, ret->json.root, "layers", SIZE_MAX);
    read_node_groups(ret);
    return ret->rc;
}

static size_t count_plan_providers(const struct plan_description *description)
{
    return json_array_size(description->providers);
}

/* The name and version of a provider, which live as long as the description. */
static int read_plan_provider(struct plan_description *description, size_t i, struct text *ret_name,
                              struct text *ret_version)
{
    const json_t *provider = json_array_get(description->providers, i);

    *ret_name = read_json_text(description, json_object_get(provider, "name"), "the name of a provider");
    *ret_version = read_json_text(description, json_object_get(provider, "version"), "the version of a provider");
    return description->rc;
}

/* --- layers --- */

/* malloc'd */
static struct layout *read_tactic_layouts(struct plan_description *description, const json_t *layer, const char *key,
                                          size_t count)
{
    const json_t *array = read_json_array(description, layer, key, count);
    struct layout *layouts = memory_alloc_zero(count, sizeof(*layouts));

    for (size_t i = 0; i < json_array_size(array); i++) {
        struct text text = read_json_text(description, json_array_get(array, i), key);

        if (text.size >= LAYOUT_TEXT_SIZE)
            note_damage(description, key);
        else
            memcpy(layouts[i].text, text.data, text.size);
    }
    return layouts;
}

static void read_layer_tactic(struct plan_description *description, const json_t *json, const struct layer *layer,
                              const struct provider_list *providers, struct tactic *ret)
{
    struct text provider = read_json_text(description, json_object_get(json, "provider"), "the provider of a layer");
    struct text name = read_json_text(description, json_object_get(json, "tactic"), "the tactic of a layer");

    if (name.size == 0 || name.size >= TACTIC_NAME_SIZE)
        note_damage(description, "the tactic of a layer");
    else
        memcpy(ret->name, name.data, name.size);
    ret->provider = providers_find(providers, provider);
    if (ret->provider == NULL && description->rc == 0)
        description->rc =
            error_set(description->err, ERR_MISSING,
                      "layer '%s' needs a tactic of the provider '" TEXT_FORMAT "', which is not there or was not "
                      "asked for (--tactic-sources, --plugins)",
                      layer->name, TEXT_ARGS(provider));
    ret->implementation = read_json_integer(description, json_object_get(json, "implementation"), INT64_MIN, INT64_MAX,
                                            "an implementation");
    ret->number =
        read_json_integer(description, json_object_get(json, "number"), INT64_MIN, INT64_MAX, "the number of a tactic");
    ret->input_layouts = read_tactic_layouts(description, json, "input_layouts", layer->inputs.count);
    ret->output_layouts = read_tactic_layouts(description, json, "output_layouts", layer->outputs.count);
}

static enum precision read_precision_name(struct plan_description *description, const json_t *value)
{
    struct text name = read_json_text(description, value, "a precision");

    for (int i = 0; i < PRECISION_COUNT; i++)
        if (text_equal_string(name, precision_name((enum precision)i)))
            return (enum precision)i;
    note_damage(description, "a precision");
    return PRECISION_FLOAT32;
}

/* malloc'd; NULL without scales. */
static float *read_input_scales(struct plan_description *description, const json_t *json, size_t count)
{
    const json_t *array = json_object_get(json, "input_scales") != NULL
                              ? read_json_array(description, json, "input_scales", count)
                              : NULL;
    float *scales = array != NULL ? memory_alloc_zero(count, sizeof(*scales)) : NULL;

    for (size_t i = 0; array != NULL && i < count; i++) {
        scales[i] = (float)read_json_amount(description, json_array_get(array, i), "input_scales");
        if (!isfinite(scales[i]))
            note_damage(description, "input_scales");
    }
    return scales;
}

static void read_layer_precision(struct plan_description *description, const json_t *json, const struct layer *layer,
                                 struct engine_layer *ret)
{
    const json_t *constrained = json_object_get(json, "constrained"), *outputs;

    ret->precision.precision = read_precision_name(description, json_object_get(json, "precision"));
    if (!json_is_boolean(constrained))
        note_damage(description, "constrained");
    ret->precision.constrained = json_is_true(constrained);
    outputs = read_json_array(description, json, "output_precisions", layer->outputs.count);
    ret->precision.outputs = memory_alloc_zero(layer->outputs.count, sizeof(*ret->precision.outputs));
    for (size_t i = 0; i < json_array_size(outputs); i++)
        ret->precision.outputs[i] = read_precision_name(description, json_array_get(outputs, i));
    ret->input_scales = read_input_scales(description, json, layer->inputs.count);
}

static void read_plan_layer(struct plan_description *description, const json_t *json, const struct layer *layer,
                            const struct provider_list *providers, struct engine_layer *ret)
{
    read_layer_tactic(description, json, layer, providers, &ret->tactic);
    read_layer_precision(description, json, layer, ret);
    ret->seconds = read_json_amount(description, json_object_get(json, "seconds"), "seconds");
    ret->share_of_fastest =
        read_json_amount(description, json_object_get(json, "share_of_fastest"), "share_of_fastest");
    ret->tactic_count =
        (size_t)read_json_integer(description, json_object_get(json, "tactics"), 0, INT64_MAX, "tactics");
    ret->input_shapes = read_json_shapes(description, json, "input_shapes", layer->inputs.count);
    ret->output_shapes = read_json_shapes(description, json, "output_shapes", layer->outputs.count);
}

/* Fills engine->layers and engine->profiles; engine->network and engine->providers must be set. ERR_MISSING for a
 * provider that is not among them. */
static int read_plan_layers(struct plan_description *description, struct engine *engine)
{
    const struct network *network = engine->network;

    engine->layers = memory_alloc_zero(network->layers.count, sizeof(*engine->layers));
    for (size_t i = 0; i < network->layers.count && description->rc == 0; i++)
        read_plan_layer(description, json_array_get(description->layers, i), &network->layers.items[i],
                        &engine->providers, &engine->layers[i]);
    return description->rc;
}

static int read_plan_profiles(struct plan_description *description, struct engine *engine)
{
    size_t inputs = engine->network->inputs.count;

    if (json_array_size(description->profiles) == 0)
        note_damage(description, "profiles");
    for (size_t i = 0; i < json_array_size(description->profiles) && description->rc == 0; i++) {
        const json_t *json = json_array_get(description->profiles, i);
        struct engine_profile *profile = VECTOR_APPEND(&engine->profiles);

        *profile = (struct engine_profile){.minimum = read_json_shapes(description, json, "minimum", inputs),
                                           .optimum = read_json_shapes(description, json, "optimum", inputs),
                                           .maximum = read_json_shapes(description, json, "maximum", inputs)};
        if (profile->minimum == NULL || profile->optimum == NULL || profile->maximum == NULL)
            note_damage(description, "profiles");
    }
    return description->rc;
}

/* --- the parts of the file --- */

struct plan_parts {
    const char *description;
    size_t description_size;
    struct span model;
    struct hash model_hash;
};

static int check_plan_header(struct span bytes, struct error *err)
{
    size_t known = bytes.size < PLAN_MAGIC_SIZE ? bytes.size : PLAN_MAGIC_SIZE;
    uint64_t version;

    if (plan_header_is_tensorrt(bytes))
        return error_set(
            err, ERR_UNSUPPORTED,
            "it is an engine of TensorRT, which only TensorRT can run: the built-in engine has a different format");
    if (bytes.size == 0)
        return error_set(err, ERR_CORRUPT, "it is empty, and no plan file");
    if (memcmp(bytes.data, PLAN_MAGIC, known) != 0)
        return error_set(err, ERR_CORRUPT, "it is no plan file: it does not begin with '%s'", PLAN_MAGIC);
    if (bytes.size < PLAN_HEADER_SIZE)
        return error_set(err, ERR_CORRUPT, "it is cut short: it ends inside of its header");
    version = plan_number_get(bytes.data + PLAN_AT_VERSION, 4);
    if (version != PLAN_VERSION)
        return error_set(err, ERR_UNSUPPORTED,
                         "it is a plan file of version %" PRIu64 ", and this program reads version %d: build it again",
                         version, PLAN_VERSION);
    return 0;
}

static int split_plan_parts(struct span bytes, struct plan_parts *ret, struct error *err)
{
    uint64_t described, offset, size;
    int rc = check_plan_header(bytes, err);

    if (rc < 0)
        return rc;
    described = plan_number_get(bytes.data + PLAN_AT_DESCRIPTION_SIZE, 8);
    offset = plan_number_get(bytes.data + PLAN_AT_MODEL_OFFSET, 8);
    size = plan_number_get(bytes.data + PLAN_AT_MODEL_SIZE, 8);
    if (offset > bytes.size || size > bytes.size - offset)
        return error_set(err, ERR_CORRUPT, "it is cut short or damaged: %zu bytes instead of %" PRIu64 " + %" PRIu64,
                         bytes.size, offset, size);
    if (size != bytes.size - offset || offset < PLAN_HEADER_SIZE || described > offset - PLAN_HEADER_SIZE ||
        plan_number_get(bytes.data + PLAN_AT_VERSION + 4, 4) != 0)
        return error_set(err, ERR_CORRUPT, "its header is damaged");
    ret->description = (const char *)bytes.data + PLAN_HEADER_SIZE;
    ret->description_size = (size_t)described;
    ret->model = (struct span){bytes.data + offset, (size_t)size};
    ret->model_hash = plan_hash_get(bytes.data + PLAN_AT_MODEL_HASH);
    if (!hash_equal(plan_hash_get(bytes.data + PLAN_AT_DESCRIPTION_HASH),
                    plan_description_hash(bytes.data, ret->description, ret->description_size)))
        return error_set(err, ERR_CORRUPT, "its description is damaged: its checksum is wrong");
    return 0;
}

/* --- dummy providers --- */

struct stand_in {
    struct tactic_provider base;
    char *name, *version;
};

static int list_no_tactics(struct tactic_provider *provider, const struct kernel_request *request,
                           struct tactic_list *ret, struct error *err)
{
    (void)provider, (void)request, (void)ret, (void)err;
    return 0;
}

static int refuse_stand_in_kernel(struct tactic_provider *provider, const struct kernel_request *request,
                                  const struct tactic *tactic, struct kernel **ret, struct error *err)
{
    (void)ret;
    return error_set(err, ERR_MISSING, "layer '%s': the provider '%s' of its tactic '%s' was not opened",
                     request->layer->name, provider->name, tactic->name);
}

static void free_stand_in(struct tactic_provider *provider)
{
    struct stand_in *stand_in = (struct stand_in *)provider;

    free(stand_in->name);
    free(stand_in->version);
    free(stand_in);
}

static int make_stand_ins(struct plan_description *description, struct provider_list *ret)
{
    for (size_t i = 0; i < count_plan_providers(description); i++) {
        struct text name, version;
        struct stand_in *stand_in;
        int rc = read_plan_provider(description, i, &name, &version);

        if (rc < 0)
            return rc;
        stand_in = memory_alloc_zero(1, sizeof(*stand_in));
        stand_in->name = memory_copy(name.data, name.size);
        stand_in->version = memory_copy(version.data, version.size);
        stand_in->base = (struct tactic_provider){.name = stand_in->name,
                                                  .version = stand_in->version,
                                                  .list = list_no_tactics,
                                                  .create = refuse_stand_in_kernel,
                                                  .free = free_stand_in};
        *VECTOR_APPEND(ret) = &stand_in->base;
    }
    return 0;
}

/* Another version may have different kernels with the same name. */
static int compare_provider_versions(struct plan_description *description, const struct provider_list *providers,
                                     const char *display_name, struct log *log)
{
    for (size_t i = 0; i < count_plan_providers(description); i++) {
        const struct tactic_provider *provider;
        struct text name, version;
        int rc = read_plan_provider(description, i, &name, &version);

        if (rc < 0)
            return rc;
        provider = providers_find(providers, name);
        if (provider != NULL && !text_equal_string(version, provider->version))
            log_message(log, LOG_WARNING,
                        "'%s' was built with version " TEXT_FORMAT " of " TEXT_FORMAT
                        ", and runs with version %s: results may differ",
                        display_name, TEXT_ARGS(version), TEXT_ARGS(name), provider->version);
    }
    return 0;
}

/* --- the engine --- */

/* A plan is self-contained: its model must not refer to other files. */
static int restore_plan_network(const struct plan_description *description, struct span bytes, const char *display_name,
                                struct engine *engine, struct error *err)
{
    struct text_list locations SCOPED_ITEMS = {0};
    struct subgraph whole SCOPED(subgraph_release) = {0};
    struct model *model;
    int rc = model_parse(bytes, display_name, &model, err);

    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, model);
    rc = external_data_locations(&whole, &locations, err);
    if (rc < 0)
        goto done;
    if (locations.count > 0)
        rc =
            error_set(err, ERR_CORRUPT, "its model refers to data in '" TEXT_FORMAT "'", TEXT_ARGS(locations.items[0]));
    else
        rc = network_restore(model, description->groups, json_array_size(description->layers), &engine->owned_network,
                             err);
done:
    if (rc < 0)
        model_free(model);
    else
        engine->network = engine->owned_network;
    return rc;
}

int plan_parse(struct span bytes, const char *display_name, const struct provider_settings *settings,
               struct engine **ret, struct error *err)
{
    struct engine *engine = memory_alloc_zero(1, sizeof(*engine));
    struct plan_description description = {0};
    int usable = system_processors();
    struct plan_parts parts = {0};
    int rc = split_plan_parts(bytes, &parts, err); /* before libraries are loaded */

    if (rc < 0)
        goto done;
    engine->owns_providers = true;
    rc = settings != NULL ? providers_open(settings, &engine->providers, err) : 0;
    if (rc < 0) {
        engine_free(engine);
        return rc;
    }
    /* For inspection the weights need not be read. */
    if (settings != NULL && !hash_equal(plan_hash_bytes(parts.model.data, parts.model.size), parts.model_hash)) {
        rc = error_set(err, ERR_CORRUPT, "its model is damaged: its checksum is wrong");
        goto done;
    }
    rc = open_plan_description(&description, parts.description, parts.description_size, err);
    if (rc < 0)
        goto done;
    /* A plan from another machine starts at most as many threads as are usable here. */
    engine->threads = description.threads < usable ? description.threads : usable;
    rc = settings != NULL ? compare_provider_versions(&description, &engine->providers, display_name, settings->log)
                          : make_stand_ins(&description, &engine->providers);
    if (rc < 0)
        goto done;
    rc = restore_plan_network(&description, parts.model, display_name, engine, err);
    if (rc < 0)
        goto done;
    rc = read_plan_layers(&description, engine);
    if (rc < 0)
        goto done;
    rc = read_plan_profiles(&description, engine);
done:
    release_plan_description(&description);
    if (rc == 0) {
        *ret = engine;
        return 0;
    }
    engine_free(engine);
    return error_context(err, "'%s'", display_name);
}

int plan_load(const char *path, const struct provider_settings *providers, struct engine **ret, struct error *err)
{
    struct file_map map;
    struct span bytes;
    int rc = file_map_open(path, &map, err);

    if (rc < 0)
        return rc;
    bytes = (struct span){map.data != NULL ? map.data : (const uint8_t *)"", map.size};
    rc = plan_parse(bytes, path, providers, ret, err);
    if (rc < 0)
        file_map_release(&map);
    else
        (*ret)->owned_network->model->map = map; /* the mapping contains the model, which releases it */
    return rc;
}

bool plan_is_bytes(struct span bytes)
{
    return bytes.size >= PLAN_MAGIC_SIZE && memcmp(bytes.data, PLAN_MAGIC, PLAN_MAGIC_SIZE) == 0;
}

bool plan_is_tensorrt(const char *path)
{
    uint8_t start[PLAN_HEADER_BYTES];

    return plan_header_is_tensorrt((struct span){start, file_read_start(path, start, sizeof(start))});
}

bool plan_is(const char *path)
{
    uint8_t start[PLAN_MAGIC_SIZE];

    return plan_is_bytes((struct span){start, file_read_start(path, start, sizeof(start))});
}
