/* backend/tensorrt/search.c: see search.h. */
#include "backend/tensorrt/search.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/file.h"
#include "base/file/python_packages.h"
#include "base/memory.h"

static const struct {
    const char *name;
    enum tensorrt_flavour flavour;
} libraries[] = {
    {"libnvinfer.so.11", TENSORRT_FULL},
    {"libnvinfer.so.10", TENSORRT_FULL},
    {"libnvinfer.so.9", TENSORRT_FULL},
    {"libnvinfer.so.8", TENSORRT_FULL},
    {"libtensorrt_rtx.so.1", TENSORRT_RTX},
    {"libnvinfer_lean.so.11", TENSORRT_LEAN},
    {"libnvinfer_lean.so.10", TENSORRT_LEAN},
    {"libnvinfer_lean.so.9", TENSORRT_LEAN},
    {"libnvinfer_lean.so.8", TENSORRT_LEAN},
    {"libnvinfer_dispatch.so.11", TENSORRT_DISPATCH},
    {"libnvinfer_dispatch.so.10", TENSORRT_DISPATCH},
    {"libnvinfer_dispatch.so.9", TENSORRT_DISPATCH},
    {"libnvinfer_dispatch.so.8", TENSORRT_DISPATCH},
};

/* Folders of Python packages, relative to that of all packages. */
static const char *const package_folders[] = {"tensorrt_libs", "tensorrt_rtx_libs", "tensorrt_lean_libs",
                                              "tensorrt_dispatch_libs"};
static const char *const cuda_folders[] = {"nvidia/cuda_runtime/lib", "nvidia/cu13/lib"};

static const char *const system_folders[] = {"/usr/local/tensorrt/lib", "/opt/tensorrt/lib", "/usr/local/cuda/lib64"};

/* ---- One place ---- */

struct looking {
    struct arena *arena;
    struct tensorrt_place place; /* its handle is NULL until one is found */
    struct string_builder tried, others;
};

static void add_separator(struct string_builder *list)
{
    if (list->size > 0)
        string_add(list, ", ");
}

/* Loads `path`, unless another library was found before: then it is one of the others. */
static void try_library(struct looking *looking, size_t index, const char *path, const char *reason)
{
    void *handle;

    if (looking->place.handle != NULL) {
        add_separator(&looking->others);
        string_add_quoted(&looking->others, path);
        return;
    }
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *why = dlerror();

        if (strchr(path, '/') != NULL) {
            add_separator(&looking->tried);
            string_add(&looking->tried, why != NULL ? why : path);
        }
        return;
    }
    looking->place = (struct tensorrt_place){.flavour = libraries[index].flavour,
                                             .handle = handle,
                                             .path = arena_strdup(looking->arena, path),
                                             .reason = arena_strdup(looking->arena, reason)};
}

static bool has_name(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    const char *own = slash != NULL ? slash + 1 : path;
    size_t size = strlen(name);

    return strncmp(own, name, size) == 0 && (own[size] == '\0' || own[size] == '.');
}

static void try_folder(struct looking *looking, const char *folder, const char *reason)
{
    for (size_t i = 0; i < ARRAY_LEN(libraries); i++) {
        char *path SCOPED_FREE = file_join(folder, libraries[i].name);

        if (file_exists(path))
            try_library(looking, i, path, reason);
    }
    if (looking->place.handle == NULL) {
        add_separator(&looking->tried);
        string_add_format(&looking->tried, "folder '%s'", folder);
    }
}

static void try_named(struct looking *looking, const char *named)
{
    static const char reason[] = "POLYGRAPHY_TENSORRT names it";
    char *inner SCOPED_FREE = file_join(named, "lib");

    if (file_is_folder(named)) {
        try_folder(looking, named, reason);
        if (looking->place.handle == NULL && file_is_folder(inner))
            try_folder(looking, inner, reason);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(libraries); i++)
        if (has_name(named, libraries[i].name)) {
            try_library(looking, i, named, reason);
            return;
        }
    add_separator(&looking->tried);
    string_add_format(&looking->tried, "'%s'%s", named,
                      file_exists(named) ? ", which is not called as a library of TensorRT is" : " (not there)");
}

static void try_packages(struct looking *looking)
{
    struct file_list roots SCOPED(file_list_release) = {0};

    python_packages_list(&roots);
    for (size_t i = 0; i < roots.count; i++)
        for (size_t k = 0; k < ARRAY_LEN(package_folders); k++) {
            char *folder SCOPED_FREE = file_join(roots.items[i], package_folders[k]);

            if (file_is_folder(folder))
                try_folder(looking, folder, "it is the first in Python's packages");
        }
}

static void try_everywhere(struct looking *looking)
{
    for (size_t i = 0; i < ARRAY_LEN(libraries) && looking->place.handle == NULL; i++)
        try_library(looking, i, libraries[i].name, "it is the first that the system's loader finds");
    try_packages(looking);
    for (size_t i = 0; i < ARRAY_LEN(system_folders); i++)
        if (file_is_folder(system_folders[i]))
            try_folder(looking, system_folders[i], "it is the first in the system's folders");
}

int tensorrt_search(struct arena *arena, struct tensorrt_place *ret, struct error *err)
{
    const char *named = getenv("POLYGRAPHY_TENSORRT");
    struct looking looking = {.arena = arena};
    int rc = 0;

    string_init(&looking.tried);
    string_init(&looking.others);
    if (named != NULL && named[0] != '\0')
        try_named(&looking, named);
    else
        try_everywhere(&looking);
    if (looking.others.size > 0)
        looking.place.others = arena_strdup(arena, looking.others.data);
    if (looking.place.handle != NULL)
        *ret = looking.place;
    else if (named != NULL && named[0] != '\0')
        rc = error_set(err, ERR_MISSING,
                       "POLYGRAPHY_TENSORRT names no library of TensorRT (libnvinfer.so.N, libtensorrt_rtx.so.1): %s",
                       looking.tried.data);
    else
        rc = error_set(err, ERR_MISSING,
                       "TensorRT's library (libnvinfer.so.N, libtensorrt_rtx.so.1) was found neither by the system's "
                       "loader nor in Python's packages nor in /usr/local/tensorrt and /opt/tensorrt; name the file or "
                       "its folder with POLYGRAPHY_TENSORRT%s%s",
                       looking.tried.size > 0 ? "; looked at: " : "", looking.tried.size > 0 ? looking.tried.data : "");
    string_release(&looking.tried);
    string_release(&looking.others);
    return rc;
}

/* ---- Libraries that belong to it ---- */

static void *load_from(const char *folder, const char *const *names, struct arena *arena, const char **ret_path)
{
    void *handle = NULL;

    for (size_t i = 0; names[i] != NULL && handle == NULL; i++) {
        char *path SCOPED_FREE = folder != NULL ? file_join(folder, names[i]) : memory_strdup(names[i]);

        handle = folder == NULL || file_exists(path) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
        if (handle != NULL && ret_path != NULL)
            *ret_path = arena_strdup(arena, path);
    }
    return handle;
}

void *tensorrt_load_companion(const char *beside, const char *const *names, struct arena *arena, const char **ret_path)
{
    char *folder SCOPED_FREE = file_folder(beside);
    struct file_list roots SCOPED(file_list_release) = {0};
    void *handle = strchr(beside, '/') != NULL ? load_from(folder, names, arena, ret_path) : NULL;

    if (handle == NULL)
        handle = load_from(NULL, names, arena, ret_path);
    if (handle == NULL)
        python_packages_list(&roots);
    for (size_t i = 0; i < roots.count; i++)
        for (size_t k = 0; k < ARRAY_LEN(cuda_folders) && handle == NULL; k++) {
            char *cuda SCOPED_FREE = file_join(roots.items[i], cuda_folders[k]);

            handle = load_from(cuda, names, arena, ret_path);
        }
    for (size_t i = 0; i < ARRAY_LEN(system_folders) && handle == NULL; i++)
        handle = load_from(system_folders[i], names, arena, ret_path);
    return handle;
}
