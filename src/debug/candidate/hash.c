/* debug/candidate/hash.c: see hash.h. */
#include "debug/candidate/hash.h"

#include <stdlib.h>

#include "base/file/identity.h"
#include "engine/plan/plan.h"
#include "onnx/external/data.h"
#include "onnx/model/model.h"

/* A missing file is part of the content, because the check sees that, too. */
static int add_external_file(const struct model *model, struct text location, struct hash *hash, struct error *err)
{
    struct file_identity identity = {0};
    struct error why = {0};
    char *path = NULL;
    int rc = external_data_path(model, location, &path, &why);

    if (rc == 0)
        rc = file_identity_take(path, &identity, &why);
    else if (rc == ERR_MISSING)
        rc = 0;
    free(path);
    if (rc < 0)
        return error_set(err, (enum error_code)rc, "%s", why.message);
    *hash = hash_combine(*hash, hash_bytes(location.data, location.size));
    *hash = hash_combine(*hash, identity.content);
    return 0;
}

static int add_external_data(const char *artifact, struct hash *hash, struct error *err)
{
    struct text_list locations SCOPED_ITEMS = {0};
    struct subgraph whole SCOPED(subgraph_release) = {0};
    struct model *model;
    int rc = model_open(artifact, NULL, &model, err);

    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, model);
    rc = external_data_locations(&whole, &locations, err);
    for (size_t i = 0; rc == 0 && i < locations.count; i++)
        rc = add_external_file(model, locations.items[i], hash, err);
    model_free(model);
    return rc;
}

/* ---- All of it ---- */

int candidate_content_hash(const char *artifact, const char *const *more_files, struct hash *ret, struct error *err)
{
    struct hash hash, content;
    int rc = hash_file(artifact, &hash, err);

    if (rc < 0)
        return rc;
    if (!plan_is(artifact)) {
        rc = add_external_data(artifact, &hash, err);
        if (rc < 0)
            return rc;
    }
    for (size_t i = 0; more_files != NULL && more_files[i] != NULL; i++) {
        rc = hash_file(more_files[i], &content, err);
        if (rc < 0)
            return rc;
        hash = hash_combine(hash, content);
    }
    *ret = hash;
    return 0;
}

int candidate_file_hash(const char *artifact, const char *const *more_files, struct hash *ret, struct error *err)
{
    int rc = hash_file(artifact, ret, err);

    for (; rc == 0 && more_files != NULL && *more_files != NULL; more_files++) {
        struct hash content;

        rc = hash_file(*more_files, &content, err);
        if (rc == 0)
            *ret = hash_combine(*ret, content);
    }
    return rc;
}
