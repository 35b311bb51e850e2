/* engine/plan/description.h: the description in a plan file, which is as hostile as any file. */
#ifndef ENGINE_PLAN_DESCRIPTION_H
#define ENGINE_PLAN_DESCRIPTION_H

#include "engine/network/compile.h"
#include "engine/plan/engine.h"
#include "format/json/reader.h"

struct plan_description {
    struct json_reader json;
    const json_t *providers, *profiles, *layers; /* arrays */
    struct node_group *groups;                   /* one for each layer */
    uint32_t *nodes;                             /* what they point to */
    int threads;
};

/* Reads what does not need the network. The bytes outlive `ret`. Errors are ERR_CORRUPT and do not name the file. */
int plan_description_open(struct plan_description *ret, const char *data, size_t size, struct error *err);
void plan_description_release(struct plan_description *description); /* harmless on a zeroed struct */

size_t plan_provider_count(const struct plan_description *description);

/* The name and version of a provider, which live as long as the description. */
int plan_provider_read(struct plan_description *description, size_t i, struct text *ret_name, struct text *ret_version,
                       struct error *err);

/* Fills engine->layers and engine->profiles: engine->network and engine->providers are there. ERR_MISSING for a
 * provider that is not among them. */
int plan_layers_read(struct plan_description *description, struct engine *engine, struct error *err);
int plan_profiles_read(struct plan_description *description, struct engine *engine, struct error *err);

#endif
