/* engine/plan/read.c: an engine out of a plan file. See plan.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/onnxrt/library.h"
#include "base/memory.h"
#include "base/system.h"
#include "engine/plan/description.h"
#include "engine/plan/layout.h"
#include "engine/plan/plan.h"
#include "format/trtexec/plan_header.h"
#include "onnx/external/data.h"

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
        return error_set(err, ERR_UNSUPPORTED,
                         "it is an engine of TensorRT, which only TensorRT can run: the built-in engine has plan files "
                         "of its own");
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

/* --- stand-ins for providers --- */

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

static int make_stand_ins(struct plan_description *description, struct provider_list *ret, struct error *err)
{
    for (size_t i = 0; i < plan_provider_count(description); i++) {
        struct text name, version;
        struct stand_in *stand_in;
        int rc = plan_provider_read(description, i, &name, &version, err);

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

/* Another version may have other kernels of the same name. */
static int compare_provider_versions(struct plan_description *description, const struct provider_list *providers,
                                     const char *display_name, struct log *log, struct error *err)
{
    for (size_t i = 0; i < plan_provider_count(description); i++) {
        const struct tactic_provider *provider;
        struct text name, version;
        int rc = plan_provider_read(description, i, &name, &version, err);

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

/* A plan is self-contained: whatever else its model refers to, nobody has put there. */
static int restore_plan_network(const struct plan_description *description, struct span bytes, const char *display_name,
                                struct engine *engine, struct error *err)
{
    struct text_list locations = {0};
    struct subgraph whole;
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
    free(locations.items);
    subgraph_release(&whole);
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
    /* Who only looks need not wait for all weights to be read. */
    if (settings != NULL && !hash_equal(plan_hash_bytes(parts.model.data, parts.model.size), parts.model_hash)) {
        rc = error_set(err, ERR_CORRUPT, "its model is damaged: its checksum is wrong");
        goto done;
    }
    rc = plan_description_open(&description, parts.description, parts.description_size, err);
    if (rc < 0)
        goto done;
    /* A plan from a larger machine, or from a stranger, starts no more threads than help here. */
    engine->threads = description.threads < usable ? description.threads : usable;
    rc = settings != NULL
             ? compare_provider_versions(&description, &engine->providers, display_name, settings->log, err)
             : make_stand_ins(&description, &engine->providers, err);
    if (rc < 0)
        goto done;
    rc = restore_plan_network(&description, parts.model, display_name, engine, err);
    if (rc < 0)
        goto done;
    rc = plan_layers_read(&description, engine, err);
    if (rc < 0)
        goto done;
    rc = plan_profiles_read(&description, engine, err);
done:
    plan_description_release(&description);
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
        (*ret)->owned_network->model->map = map; /* the model lies in it, and releases it */
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
