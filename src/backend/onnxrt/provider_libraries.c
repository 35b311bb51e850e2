/* backend/onnxrt/provider_libraries.c: see provider_libraries.h. */
#include "backend/onnxrt/provider_libraries.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/onnxrt/provider_packages.h"
#include "base/crash.h"
#include "base/file/file.h"
#include "base/memory.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct provider_library **items;
    size_t count, capacity;
    const struct onnxrt *ort;
    pid_t process; /* that has registered them */
} registered;

struct device_list {
    const struct ort_provider_device *const *items; /* the runtime's; an array is valid until a library is registered */
    size_t count;
};

static bool has_device(const struct ort_provider_device *const *items, size_t count,
                       const struct ort_provider_device *device)
{
    for (size_t i = 0; i < count; i++)
        if (items[i] == device)
            return true;
    return false;
}

/* Several devices may have a provider of one name. */
static struct registered_provider *add_provider(struct provider_library *library, const char *name)
{
    for (size_t i = 0; i < library->provider_count; i++)
        if (strcmp(library->providers[i].name, name) == 0)
            return &library->providers[i];
    library->providers = memory_resize(library->providers, library->provider_count + 1, sizeof(*library->providers));
    library->providers[library->provider_count] = (struct registered_provider){.library = library, .name = name};
    return &library->providers[library->provider_count++];
}

static void add_device(struct provider_library *library, const struct onnxrt *ort,
                       const struct ort_provider_device *device)
{
    struct registered_provider *provider = add_provider(library, ort->api->device_provider(device));

    provider->devices = memory_resize(provider->devices, provider->device_count + 1, sizeof(*provider->devices));
    provider->devices[provider->device_count++] = device;
}

static void free_library(struct provider_library *library)
{
    for (size_t i = 0; i < library->provider_count; i++)
        free(library->providers[i].devices);
    free(library->providers);
    free(library->name);
    free(library->path);
    free(library);
}

/* Its devices are those that were not there before. */
static struct ort_status *register_devices(const struct onnxrt *ort, struct provider_library *library)
{
    struct device_list before = {0}, after = {0};
    const struct ort_provider_device **known;
    struct ort_status *status = ort->api->provider_devices(ort->env, &before.items, &before.count);

    if (status)
        return status;
    known = memory_alloc_zero(before.count, sizeof(*known));
    for (size_t i = 0; i < before.count; i++)
        known[i] = before.items[i];
    status = ort->api->register_provider_library(ort->env, library->name, library->path);
    if (!status)
        status = ort->api->provider_devices(ort->env, &after.items, &after.count);
    for (size_t i = 0; !status && i < after.count; i++)
        if (!has_device(known, before.count, after.items[i]))
            add_device(library, ort, after.items[i]);
    free(known);
    return status;
}

/* Adds what a published library needs to the runtime's reason. */
static int refuse_library(const struct provider_library *library, struct error *err)
{
    const char *needs = provider_package_needs(library->path);
    struct error said;

    if (err == NULL)
        return ERR_INVALID;
    said = *err;
    return error_set(err, ERR_INVALID, "%s%s%s", said.message, needs != NULL ? "; it needs " : "",
                     needs != NULL ? needs : "");
}

/* With `mutex` held. */
static int register_library(const struct onnxrt *ort, const char *name, const char *path, struct provider_library **ret,
                            struct error *err)
{
    struct provider_library *library = memory_alloc_zero(1, sizeof(*library));
    int rc;

    library->name = memory_strdup(name);
    library->path = file_real_path(path); /* with a slash in it: no search along the system's path */
    if (library->path == NULL) {
        rc = error_set_errno(err, ERR_MISSING, "provider library '%s'", path);
        goto done;
    }
    provider_package_load_before(library->path);
    crash_work_begins("a provider library was loaded");
    rc = onnxrt_check(ort, register_devices(ort, library), err, "'%s' is no usable library of execution providers",
                      path);
    crash_work_ends();
    if (rc < 0) {
        rc = refuse_library(library, err);
        goto done;
    }
    *VECTOR_APPEND(&registered) = library;
    registered.ort = ort;
    registered.process = getpid();
    *ret = library;
done:
    if (rc < 0)
        free_library(library);
    return rc;
}

static struct provider_library *find_library(const char *name)
{
    for (size_t i = 0; i < registered.count; i++)
        if (strcmp(registered.items[i]->name, name) == 0)
            return registered.items[i];
    return NULL;
}

int provider_library_register(const struct onnxrt *ort, const char *name, const char *path,
                              const struct provider_library **ret, struct error *err)
{
    struct provider_library *library;
    char *real SCOPED_FREE = NULL;
    int rc = 0;

    if (ort->release < ORT_API_VERSION_PLUGINS)
        return error_set(err, ERR_UNSUPPORTED,
                         "ONNX Runtime %s has no provider libraries: use release 1.%d or later, or leave out '%s'",
                         ort->version, ORT_API_VERSION_PLUGINS, path);
    pthread_mutex_lock(&mutex);
    library = find_library(name);
    if (library == NULL) {
        rc = register_library(ort, name, path, &library, err);
    } else {
        real = file_real_path(path);
        if (real == NULL || strcmp(real, library->path) != 0)
            rc = error_set(err, ERR_INVALID,
                           "'%s' and '%s' are both to be registered as '%s': give them different names", library->path,
                           path, name);
    }
    pthread_mutex_unlock(&mutex);
    if (rc == 0)
        *ret = library;
    return rc;
}

void provider_libraries_release(void)
{
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < registered.count; i++) {
        if (registered.process == getpid()) {
            struct ort_status *status;

            crash_work_begins("a provider library was unloaded");
            status = registered.ort->api->unregister_provider_library(registered.ort->env, registered.items[i]->name);
            crash_work_ends();
            if (status)
                registered.ort->api->release_status(status);
        }
        free_library(registered.items[i]);
    }
    free(registered.items);
    registered.items = NULL;
    registered.count = registered.capacity = 0;
    pthread_mutex_unlock(&mutex);
}
