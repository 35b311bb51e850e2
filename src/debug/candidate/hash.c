/* debug/candidate/hash.c: see hash.h. */
#include "debug/candidate/hash.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "engine/plan/plan.h"
#include "onnx/external/data.h"
#include "onnx/model/model.h"

/* ---- External files, which candidates share ---- */

struct known_file {
    uint64_t device, inode;
    int64_t size, seconds, nanoseconds; /* of the last change */
    struct hash content;
};

static struct {
    struct known_file *items;
    size_t count, capacity;
} known_files;
static pthread_mutex_t known_files_guard = PTHREAD_MUTEX_INITIALIZER;

static bool is_same(const struct known_file *a, const struct known_file *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size && a->seconds == b->seconds &&
           a->nanoseconds == b->nanoseconds;
}

static bool find_known(struct known_file *file)
{
    bool found = false;

    pthread_mutex_lock(&known_files_guard);
    for (size_t i = 0; i < known_files.count && !found; i++)
        if (is_same(&known_files.items[i], file)) {
            file->content = known_files.items[i].content;
            found = true;
        }
    pthread_mutex_unlock(&known_files_guard);
    return found;
}

static void add_known(const struct known_file *file)
{
    pthread_mutex_lock(&known_files_guard);
    *VECTOR_APPEND(&known_files) = *file;
    pthread_mutex_unlock(&known_files_guard);
}

static int hash_external_file(const char *path, struct hash *ret, struct error *err)
{
    struct known_file file;
    struct stat status;
    int rc;

    if (stat(path, &status) != 0)
        return error_set_errno(err, ERR_IO, "cannot read '%s'", path);
    file = (struct known_file){.device = (uint64_t)status.st_dev,
                               .inode = (uint64_t)status.st_ino,
                               .size = (int64_t)status.st_size,
                               .seconds = (int64_t)status.st_mtim.tv_sec,
                               .nanoseconds = (int64_t)status.st_mtim.tv_nsec};
    if (!find_known(&file)) {
        rc = hash_file(path, &file.content, err);
        if (rc < 0)
            return rc;
        add_known(&file);
    }
    *ret = file.content;
    return 0;
}

/* A file that is not there is what the check will see, too. */
static int add_external_file(const struct model *model, struct text location, struct hash *hash, struct error *err)
{
    struct hash content = {0, 0};
    struct error why = {0};
    char *path;
    int rc = external_data_path(model, location, &path, &why);

    if (rc == ERR_MISSING)
        rc = 0;
    else if (rc == 0) {
        rc = hash_external_file(path, &content, &why);
        free(path);
    }
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
    int rc = model_open(artifact, NULL, &model, err);

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
    int rc = hash_file(artifact, &hash, err);

    if (rc == 0 && !plan_is(artifact))
        rc = add_external_data(artifact, &hash, err);
    for (size_t i = 0; rc == 0 && more_files != NULL && more_files[i] != NULL; i++) {
        rc = hash_file(more_files[i], &content, err);
        if (rc == 0)
            hash = hash_combine(hash, content);
    }
    if (rc == 0)
        *ret = hash;
    return rc;
}
