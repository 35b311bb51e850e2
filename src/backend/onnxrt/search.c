/* backend/onnxrt/search.c: see search.h. */
#include "backend/onnxrt/search.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "backend/onnxrt/abi.h"
#include "backend/onnxrt/releases.h"
#include "base/file/file.h"
#include "base/file/python_packages.h"
#include "base/memory.h"
#include "base/system.h"
#include "base/text/string_builder.h"

static const char *const library_names[] = {"libonnxruntime.so.1", "libonnxruntime.so"};

struct library_search {
    void *handle; /* NULL until found */
    char *path;
    struct string_builder tried; /* for the message when nothing is found */
};

static void note_place(struct library_search *search, const char *format, const char *what)
{
    if (search->tried.size > 0)
        string_add(&search->tried, ", ");
    string_add_format(&search->tried, format, what);
}

/* "libonnxruntime.so.1", say, where no such file is: the system's loader knows where it has its libraries. */
static bool names_system_library(const char *path)
{
    return strncmp(path, "lib", 3) == 0 && strstr(path, ".so") && !strchr(path, '/') && !file_exists(path);
}

/* The runtime looks for the libraries of its providers beside itself: so links are resolved first. */
static void try_file(struct library_search *search, const char *path)
{
    char *real = names_system_library(path) ? memory_strdup(path) : file_real_path(path);

    if (real)
        search->handle = dlopen(real, RTLD_NOW | RTLD_LOCAL);
    if (search->handle) {
        search->path = real;
        return;
    }
    if (real)
        note_place(search, "%s", dlerror());
    else
        note_place(search, "'%s' (not there)", path);
    free(real);
}

static void note_folder_without_library(struct library_search *search, const char *folder)
{
    SCOPED_STRING(package);

    if (onnxrt_release_explain_package(folder, &package))
        note_place(search, "%s", package.data);
    else
        note_place(search, "folder '%s'", folder);
}

static void try_place(struct library_search *search, const char *place)
{
    bool any = false;

    if (!file_is_folder(place)) {
        try_file(search, place);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(library_names) && !search->handle; i++) {
        char *path SCOPED_FREE = file_join(place, library_names[i]);

        if (file_exists(path)) {
            any = true;
            try_file(search, path);
        }
    }
    if (!any)
        note_folder_without_library(search, place);
}

static void try_beside_program(struct library_search *search)
{
    char *program SCOPED_FREE = system_program_path();
    char *folder SCOPED_FREE = program != NULL ? file_folder(program) : NULL;

    if (folder != NULL) {
        try_place(search, folder);
        if (!search->handle) {
            char *installed SCOPED_FREE = file_join(folder, "../lib/polygraphy");

            try_place(search, installed);
        }
    }
}

/* The first package is the one that Python imports. */
static void try_python_packages(struct library_search *search)
{
    struct file_list folders SCOPED(file_list_release) = {0};
    char *package SCOPED_FREE = NULL, *library SCOPED_FREE = NULL;

    python_packages_list(&folders);
    package = python_packages_find(&folders, "onnxruntime/capi");
    if (package != NULL)
        library = file_find_matching(package, "libonnxruntime.so.1*");
    if (library != NULL)
        try_file(search, library);
    else if (package != NULL)
        note_folder_without_library(search, package);
    else
        note_place(search, "%s (no onnxruntime)", "Python's packages");
}

static bool is_set(const char *variable)
{
    return variable && *variable;
}

int onnxrt_search(const char *wanted, void **ret_handle, char **ret_path, struct error *err)
{
    const char *variable = getenv("POLYGRAPHY_ONNXRUNTIME");
    const char *shared_variable = getenv("ORT_DYLIB_PATH");
    struct library_search search = {0};
    char *fetched SCOPED_FREE = NULL;
    int rc = 0;

    if (wanted != NULL && onnxrt_is_release(wanted)) {
        rc = onnxrt_release_fetch(wanted, NULL, &fetched, err);
        if (rc < 0)
            return rc;
        wanted = fetched;
    }
    string_init(&search.tried);
    if (wanted) {
        try_place(&search, wanted);
    } else if (is_set(variable)) {
        try_place(&search, variable);
    } else {
        try_beside_program(&search);
        if (!search.handle && is_set(shared_variable))
            try_place(&search, shared_variable);
        if (!search.handle)
            try_python_packages(&search);
    }
    if (search.handle) {
        *ret_handle = search.handle;
        *ret_path = search.path;
    } else {
        const char *where = wanted             ? " where --onnxrt-library points"
                            : is_set(variable) ? " where POLYGRAPHY_ONNXRUNTIME points"
                                               : "";

        rc = error_set(err, ERR_MISSING,
                       "ONNX Runtime's shared library (%s) was not found%s; looked at: %s; %sname the file or its "
                       "folder with --onnxrt-library or POLYGRAPHY_ONNXRUNTIME (%s alone means the system's own)",
                       library_names[0], where, search.tried.data,
                       where[0] == '\0' ? "install it (pip install onnxruntime), or " : "", library_names[0]);
    }
    string_release(&search.tried);
    return rc;
}

int onnxrt_identify(const char *wanted, struct onnxrt_identity *ret, struct error *err)
{
    const struct ort_api_base *(*get_base)(void);
    char *path = NULL;
    void *handle, *symbol;
    int rc = onnxrt_search(wanted, &handle, &path, err);

    if (rc < 0)
        return rc;
    symbol = dlsym(handle, "OrtGetApiBase");
    if (symbol == NULL) {
        rc = error_set(err, ERR_UNSUPPORTED, "'%s' is not ONNX Runtime: it has no symbol OrtGetApiBase", path);
        free(path);
    } else {
        memcpy(&get_base, &symbol, sizeof(get_base)); /* ISO C has no conversion from a pointer to data */
        *ret = (struct onnxrt_identity){.path = path, .version = memory_strdup(get_base()->get_version())};
    }
    dlclose(handle);
    return rc;
}

void onnxrt_identity_release(struct onnxrt_identity *identity)
{
    free(identity->path);
    free(identity->version);
    *identity = (struct onnxrt_identity){0};
}
