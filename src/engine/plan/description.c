/* engine/plan/description.c: see description.h. */
#include "engine/plan/description.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* --- values of JSON --- */

static int refuse_damaged_description(struct error *err, const char *what)
{
    return error_set(err, ERR_CORRUPT, "its description is damaged: %s", what);
}

/* The array of that name; `count` elements unless that is SIZE_MAX. */
static int read_json_array(const json_t *object, const char *key, size_t count, const json_t **ret, struct error *err)
{
    const json_t *array = json_object_get(object, key);

    if (!json_is_array(array) || (count != SIZE_MAX && json_array_size(array) != count))
        return refuse_damaged_description(err, key);
    *ret = array;
    return 0;
}

static int read_json_integer(const json_t *value, int64_t minimum, int64_t maximum, const char *what, int64_t *ret,
                             struct error *err)
{
    if (!json_is_integer(value) || json_integer_value(value) < minimum || json_integer_value(value) > maximum)
        return refuse_damaged_description(err, what);
    *ret = json_integer_value(value);
    return 0;
}

/* A finite number, 0 or more. */
static int read_json_amount(const struct plan_description *description, const json_t *value, const char *what,
                            double *ret, struct error *err)
{
    double number;

    if (!json_reader_number(&description->json, value, &number) || !isfinite(number) || number < 0)
        return refuse_damaged_description(err, what);
    *ret = number;
    return 0;
}

static int read_json_text(struct plan_description *description, const json_t *value, const char *what, struct text *ret,
                          struct error *err)
{
    return json_reader_text(&description->json, value, ret, NULL) < 0 ? refuse_damaged_description(err, what) : 0;
}

static int read_json_shape(const json_t *value, const char *what, struct shape *ret, struct error *err)
{
    int rc = 0;

    if (!json_is_array(value) || json_array_size(value) > TENSOR_MAX_RANK)
        return refuse_damaged_description(err, what);
    ret->rank = json_array_size(value);
    for (size_t i = 0; i < ret->rank && rc == 0; i++)
        rc = read_json_integer(json_array_get(value, i), 0, INT64_MAX, what, &ret->dims[i], err);
    return rc;
}

/* `count` shapes under a key that may be missing: then NULL. malloc'd, also after an error. */
static int read_json_shapes(const json_t *object, const char *key, size_t count, struct shape **ret, struct error *err)
{
    const json_t *array;
    int rc = 0;

    if (json_object_get(object, key) == NULL)
        return 0;
    rc = read_json_array(object, key, count, &array, err);
    if (rc < 0)
        return rc;
    *ret = memory_alloc_zero(count, sizeof(**ret));
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = read_json_shape(json_array_get(array, i), key, &(*ret)[i], err);
    return rc;
}

/* --- what needs no network --- */

static int read_node_groups(struct plan_description *description, struct error *err)
{
    size_t layers = json_array_size(description->layers), count = 0;
    uint32_t *next;

    for (size_t i = 0; i < layers; i++)
        count += json_array_size(json_object_get(json_array_get(description->layers, i), "nodes"));
    description->groups = memory_alloc_zero(layers, sizeof(*description->groups));
    description->nodes = next = memory_alloc_zero(count, sizeof(*description->nodes));
    for (size_t i = 0; i < layers; i++) {
        const json_t *layer = json_array_get(description->layers, i), *nodes = NULL;
        struct node_group *group = &description->groups[i];
        int rc = read_json_array(layer, "nodes", SIZE_MAX, &nodes, err);

        if (rc < 0)
            return rc;
        rc = read_json_text(description, json_object_get(layer, "name"), "the name of a layer", &group->name, err);
        if (rc < 0)
            return rc;
        group->nodes = next;
        group->count = json_array_size(nodes);
        for (size_t k = 0; k < group->count; k++) {
            int64_t node;

            rc = read_json_integer(json_array_get(nodes, k), 0, UINT32_MAX - 1, "the nodes of a layer", &node, err);
            if (rc < 0)
                return rc;
            *next++ = (uint32_t)node;
        }
    }
    return 0;
}

int plan_description_open(struct plan_description *ret, const char *data, size_t size, struct error *err)
{
    struct error why = {0};
    int64_t threads = 0;
    int rc;

    *ret = (struct plan_description){0};
    if (json_reader_open_memory(&ret->json, data, size, "the description", &why) < 0)
        return refuse_damaged_description(err, why.message);
    rc = read_json_integer(json_object_get(ret->json.root, "threads"), 0, INT_MAX, "threads", &threads, err);
    if (rc < 0)
        goto done;
    ret->threads = (int)threads;
    rc = read_json_array(ret->json.root, "providers", SIZE_MAX, &ret->providers, err);
    if (rc < 0)
        goto done;
    rc = read_json_array(ret->json.root, "profiles", SIZE_MAX, &ret->profiles, err);
    if (rc < 0)
        goto done;
    rc = read_json_array(ret->json.root, "layers", SIZE_MAX, &ret->layers, err);
    if (rc < 0)
        goto done;
    rc = read_node_groups(ret, err);
done:
    if (rc < 0)
        plan_description_release(ret);
    return rc;
}

void plan_description_release(struct plan_description *description)
{
    json_reader_release(&description->json);
    free(description->groups);
    free(description->nodes);
    *description = (struct plan_description){0};
}

size_t plan_provider_count(const struct plan_description *description)
{
    return json_array_size(description->providers);
}

int plan_provider_read(struct plan_description *description, size_t i, struct text *ret_name, struct text *ret_version,
                       struct error *err)
{
    const json_t *provider = json_array_get(description->providers, i);
    int rc = read_json_text(description, json_object_get(provider, "name"), "the name of a provider", ret_name, err);

    if (rc < 0)
        return rc;
    return read_json_text(description, json_object_get(provider, "version"), "the version of a provider", ret_version,
                          err);
}

/* --- layers --- */

static int read_tactic_layouts(struct plan_description *description, const json_t *layer, const char *key, size_t count,
                               struct layout **ret, struct error *err)
{
    const json_t *array;
    int rc = read_json_array(layer, key, count, &array, err);

    if (rc < 0)
        return rc;
    *ret = memory_alloc_zero(count, sizeof(**ret));
    for (size_t i = 0; i < count; i++) {
        struct text text;

        rc = read_json_text(description, json_array_get(array, i), key, &text, err);
        if (rc < 0)
            return rc;
        if (text.size >= LAYOUT_TEXT_SIZE)
            return refuse_damaged_description(err, key);
        memcpy((*ret)[i].text, text.data, text.size);
    }
    return 0;
}

static int read_layer_tactic(struct plan_description *description, const json_t *json, const struct layer *layer,
                             const struct provider_list *providers, struct tactic *ret, struct error *err)
{
    struct text provider, name;
    int rc = read_json_text(description, json_object_get(json, "provider"), "the provider of a layer", &provider, err);

    if (rc < 0)
        return rc;
    rc = read_json_text(description, json_object_get(json, "tactic"), "the tactic of a layer", &name, err);
    if (rc < 0)
        return rc;
    if (name.size == 0 || name.size >= TACTIC_NAME_SIZE)
        return refuse_damaged_description(err, "the tactic of a layer");
    memcpy(ret->name, name.data, name.size);
    ret->provider = providers_find(providers, provider);
    if (ret->provider == NULL)
        return error_set(err, ERR_MISSING,
                         "layer '%s' needs a tactic of the provider '" TEXT_FORMAT "', which is not there or was not "
                         "asked for (--tactic-sources, --plugins)",
                         layer->name, TEXT_ARGS(provider));
    rc = read_json_integer(json_object_get(json, "implementation"), INT64_MIN, INT64_MAX, "an implementation",
                           &ret->implementation, err);
    if (rc < 0)
        return rc;
    rc = read_json_integer(json_object_get(json, "number"), INT64_MIN, INT64_MAX, "the number of a tactic",
                           &ret->number, err);
    if (rc < 0)
        return rc;
    rc = read_tactic_layouts(description, json, "input_layouts", layer->inputs.count, &ret->input_layouts, err);
    if (rc < 0)
        return rc;
    return read_tactic_layouts(description, json, "output_layouts", layer->outputs.count, &ret->output_layouts, err);
}

static int read_precision_name(struct plan_description *description, const json_t *value, enum precision *ret,
                               struct error *err)
{
    struct text name;
    int rc = read_json_text(description, value, "a precision", &name, err);

    for (int i = 0; i < PRECISION_COUNT && rc == 0; i++)
        if (text_equal_string(name, precision_name((enum precision)i))) {
            *ret = (enum precision)i;
            return 0;
        }
    return refuse_damaged_description(err, "a precision");
}

static int read_input_scales(struct plan_description *description, const json_t *json, size_t count, float **ret,
                             struct error *err)
{
    const json_t *array;
    int rc;

    if (json_object_get(json, "input_scales") == NULL)
        return 0;
    rc = read_json_array(json, "input_scales", count, &array, err);
    if (rc < 0)
        return rc;
    *ret = memory_alloc_zero(count, sizeof(**ret));
    for (size_t i = 0; i < count && rc == 0; i++) {
        double scale = 0;

        rc = read_json_amount(description, json_array_get(array, i), "input_scales", &scale, err);
        (*ret)[i] = (float)scale;
        if (rc == 0 && !isfinite((*ret)[i]))
            rc = refuse_damaged_description(err, "input_scales");
    }
    return rc;
}

static int read_layer_precision(struct plan_description *description, const json_t *json, const struct layer *layer,
                                struct engine_layer *ret, struct error *err)
{
    const json_t *constrained = json_object_get(json, "constrained"), *outputs;
    int rc = read_precision_name(description, json_object_get(json, "precision"), &ret->precision.precision, err);

    if (rc < 0)
        return rc;
    if (!json_is_boolean(constrained))
        return refuse_damaged_description(err, "constrained");
    rc = read_json_array(json, "output_precisions", layer->outputs.count, &outputs, err);
    if (rc < 0)
        return rc;
    ret->precision.constrained = json_is_true(constrained);
    ret->precision.outputs = memory_alloc_zero(layer->outputs.count, sizeof(*ret->precision.outputs));
    for (size_t i = 0; i < layer->outputs.count && rc == 0; i++)
        rc = read_precision_name(description, json_array_get(outputs, i), &ret->precision.outputs[i], err);
    return rc == 0 ? read_input_scales(description, json, layer->inputs.count, &ret->input_scales, err) : rc;
}

static int read_plan_layer(struct plan_description *description, const json_t *json, const struct layer *layer,
                           const struct provider_list *providers, struct engine_layer *ret, struct error *err)
{
    int64_t tactics = 0;
    int rc = read_layer_tactic(description, json, layer, providers, &ret->tactic, err);

    if (rc < 0)
        return rc;
    rc = read_layer_precision(description, json, layer, ret, err);
    if (rc < 0)
        return rc;
    rc = read_json_amount(description, json_object_get(json, "seconds"), "seconds", &ret->seconds, err);
    if (rc < 0)
        return rc;
    rc = read_json_amount(description, json_object_get(json, "share_of_fastest"), "share_of_fastest",
                          &ret->share_of_fastest, err);
    if (rc < 0)
        return rc;
    rc = read_json_integer(json_object_get(json, "tactics"), 0, INT64_MAX, "tactics", &tactics, err);
    if (rc < 0)
        return rc;
    ret->tactic_count = (size_t)tactics;
    rc = read_json_shapes(json, "input_shapes", layer->inputs.count, &ret->input_shapes, err);
    if (rc < 0)
        return rc;
    return read_json_shapes(json, "output_shapes", layer->outputs.count, &ret->output_shapes, err);
}

int plan_layers_read(struct plan_description *description, struct engine *engine, struct error *err)
{
    const struct network *network = engine->network;
    int rc = 0;

    engine->layers = memory_alloc_zero(network->layers.count, sizeof(*engine->layers));
    for (size_t i = 0; i < network->layers.count && rc == 0; i++)
        rc = read_plan_layer(description, json_array_get(description->layers, i), &network->layers.items[i],
                             &engine->providers, &engine->layers[i], err);
    return rc;
}

/* --- profiles --- */

int plan_profiles_read(struct plan_description *description, struct engine *engine, struct error *err)
{
    size_t inputs = engine->network->inputs.count;

    if (json_array_size(description->profiles) == 0)
        return refuse_damaged_description(err, "profiles");
    for (size_t i = 0; i < json_array_size(description->profiles); i++) {
        const json_t *json = json_array_get(description->profiles, i);
        struct engine_profile *profile = VECTOR_APPEND(&engine->profiles);

        int rc;

        *profile = (struct engine_profile){0};
        rc = read_json_shapes(json, "minimum", inputs, &profile->minimum, err);
        if (rc < 0)
            return rc;
        rc = read_json_shapes(json, "optimum", inputs, &profile->optimum, err);
        if (rc < 0)
            return rc;
        rc = read_json_shapes(json, "maximum", inputs, &profile->maximum, err);
        if (rc < 0)
            return rc;
        if (profile->minimum == NULL || profile->optimum == NULL || profile->maximum == NULL)
            return refuse_damaged_description(err, "profiles");
    }
    return 0;
}
