/* debug/candidate/hash.c: see hash.h. */
#include "debug/candidate/hash.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "debug/candidate/watched_files.h"
#include "engine/plan/plan.h"
#include "onnx/external/data.h"
#include "onnx/model/model.h"

/* ---- External files, which candidates share ---- */

struct known_file {
    struct file_stamp stamp;
    struct hash content;
};

static struct {
    struct known_file *items;
    size_t count, capacity;
} known_files;
static pthread_mutex_t known_files_guard = PTHREAD_MUTEX_INITIALIZER;

static bool find_known(struct known_file *file)
{
    bool found = false;

    pthread_mutex_lock(&known_files_guard);
    for (size_t i = 0; i < known_files.count && !found; i++)
        if (file_stamp_equal(&known_files.items[i].stamp, &file->stamp)) {
            file->content = known_files.items[i].content;
            found = true;
        }
    pthread_mutex_unlock(&known_files_guard);
    return found;
}

static int hash_external_file(const char *path, struct hash *ret, struct error *err)
{
    struct known_file file = {.stamp = file_stamp_take(path)};
    int rc;

    if (!file.stamp.present || !find_known(&file)) {
        rc = hash_file(path, &file.content, err);
        if (rc < 0)
            return rc;
        pthread_mutex_lock(&known_files_guard);
        *VECTOR_APPEND(&known_files) = file;
        pthread_mutex_unlock(&known_files_guard);
    }
    *ret = file.content;
    return 0;
}

/* A file that is not there is what the check will see, too. */
static int add_external_file(const struct model *model, struct text location, struct hash *hash, struct error *err)
{
    struct hash content = {0, 0};
    struct error why = {0};
    char *path = NULL;
    int rc;

    rc = external_data_path(model, location, &path, &why);
    if (rc == 0)
        rc = hash_external_file(path, &content, &why);
    else if (rc == ERR_MISSING)
        rc = 0;
    free(path);
    if (rc < 0)
        return error_set(err, (enum error_code)rc, "%s", why.message);
    *hash = hash_combine(*hash, hash_bytes(location.data, location.size));
    *hash = hash_combine(*hash, content);
    return 0;
}

static int add_external_data(const char *artifact, struct hash *hash, struct error *err)
{
    struct text_list locations = {0};
    struct subgraph whole;
    struct model *model;
    int rc;

    rc = model_open(artifact, NULL, &model, err);
    if (rc < 0)
        return rc;
    subgraph_init_whole(&whole, model);
    rc = external_data_locations(&whole, &locations, err);
    for (size_t i = 0; rc == 0 && i < locations.count; i++)
        rc = add_external_file(model, locations.items[i], hash, err);
    free(locations.items);
    subgraph_release(&whole);
    model_free(model);
    return rc;
}

/* ---- All of it ---- */

int candidate_content_hash(const char *artifact, const char *const *more_files, struct hash *ret, struct error *err)
{
    struct hash hash, content;
    int rc;

    rc = hash_file(artifact, &hash, err);
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
