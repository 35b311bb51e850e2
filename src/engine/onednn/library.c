/* engine/onednn/library.c: see library.h. */
#include "engine/onednn/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file/python_packages.h"
#include "base/memory.h"
#include "base/system.h"

#define NEWEST_MINOR 20 /* newest minor version of 3 that is searched */

static int choose_dialect(void *handle, struct onednn *onednn, struct error *err)
{
    static const struct onednn_dialect *const dialects[] = {&onednn_v2, &onednn_v3};
    const struct onednn_version *(*read_version)(void);
    const struct onednn_version *version;

    if (!system_find_function(handle, "dnnl_version", &read_version))
        return error_set(err, ERR_UNSUPPORTED,
                         "what is loaded as oneDNN is another library: it has no function "
                         "dnnl_version; name oneDNN with POLYGRAPHY_ONEDNN");
    version = read_version();
    snprintf(onednn->version_text, sizeof(onednn->version_text), "%d.%d.%d", version->major, version->minor,
             version->patch);
    for (size_t i = 0; i < ARRAY_LEN(dialects); i++) {
        if (version->major == dialects[i]->major && version->minor >= dialects[i]->oldest_minor) {
            onednn->dialect = dialects[i];
            return 0;
        }
    }
    return error_set(err, ERR_UNSUPPORTED,
                     "oneDNN %s is installed, but a version from 2.6 to 3.x is needed (Debian's package libdnnl-dev); "
                     "name one with POLYGRAPHY_ONEDNN",
                     onednn->version_text);
}

static int find_common_functions(void *handle, struct onednn *onednn, struct error *err)
{
    const char *missing = NULL;

#define X(result, name, parameters)                                                                                    \
    if (!missing && !system_find_function(handle, "dnnl_" #name, &onednn->name))                                       \
        missing = "dnnl_" #name;
    ONEDNN_FUNCTIONS(X)
#undef X
    if (!missing)
        missing = onednn->dialect->find_functions(handle);
    if (missing)
        return error_set(err, ERR_UNSUPPORTED, "oneDNN %s has no function %s", onednn->version_text, missing);
    system_find_function(handle, "omp_set_num_threads", &onednn->omp_set_num_threads);
    return 0;
}

/* The library that the Python package of this program contains. */
static void *open_packaged_library(void)
{
    struct file_list folders SCOPED(file_list_release) = {0};
    void *ret = NULL;
    char *path SCOPED_FREE = NULL;

    python_packages_list(&folders);
    path = python_packages_find(&folders, "polygraphy_native/lib/libdnnl.so.*");
    if (path != NULL)
        ret = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return ret;
}

/* Opens the library in POLYGRAPHY_ONEDNN if set, else searches with the system's loader, then in Python packages. The
 * older of two versions is preferred: it has more kernels. In Debian 13 and later the library's name includes the minor
 * version. */
static int open_onednn_library(void **ret, struct error *err)
{
    static const char *const names[] = {"libdnnl.so.2", "libdnnl.so.3", "libdnnl.so"};
    const char *wanted = getenv("POLYGRAPHY_ONEDNN");

    if (wanted && *wanted) {
        *ret = dlopen(wanted, RTLD_NOW | RTLD_LOCAL);
        if (!*ret)
            return error_set(err, ERR_MISSING, "cannot load oneDNN, which POLYGRAPHY_ONEDNN names: %s", dlerror());
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        *ret = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (*ret)
            return 0;
    }
    for (int minor = NEWEST_MINOR; minor >= 0; minor--) {
        char name[32];

        snprintf(name, sizeof(name), "libdnnl.so.3.%d", minor);
        *ret = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (*ret)
            return 0;
    }
    *ret = open_packaged_library();
    if (*ret)
        return 0;
    return error_set(err, ERR_MISSING,
                     "oneDNN is not installed: there is no libdnnl.so.2 and no libdnnl.so.3 (Debian's package "
                     "libdnnl-dev); name one with POLYGRAPHY_ONEDNN");
}

/* In GNU's OpenMP idle threads spin for milliseconds, which takes processors from ONNX Runtime's threads, and delays
 * layers on a busy machine. So the spin time is set to microseconds, unless the user sets it. The variable is read
 * while the library is loaded, and removed afterwards, so child processes do not inherit it. */
static int open_library_spinning_little(void **ret, struct error *err)
{
    bool ours = !getenv("GOMP_SPINCOUNT") && !getenv("OMP_WAIT_POLICY") && setenv("GOMP_SPINCOUNT", "1000", 1) == 0;
    int rc = open_onednn_library(ret, err);

    if (ours)
        unsetenv("GOMP_SPINCOUNT");
    return rc;
}

static int load_onednn(struct onednn *ret, struct error *err)
{
    struct onednn onednn = {0};
    void *handle;
    int rc = open_library_spinning_little(&handle, err);

    if (rc < 0)
        return rc;
    rc = choose_dialect(handle, &onednn, err);
    if (rc == 0)
        rc = find_common_functions(handle, &onednn, err);
    if (rc < 0) {
        dlclose(handle);
        return rc;
    }
    /* From here on the library has global state and must stay loaded. */
    if (onednn.engine_create(&onednn.engine, ONEDNN_CPU, 0) != ONEDNN_SUCCESS ||
        onednn.stream_create(&onednn.stream, onednn.engine, ONEDNN_STREAM_IN_ORDER) != ONEDNN_SUCCESS)
        return error_set(err, ERR_BACKEND, "oneDNN %s does not start", onednn.version_text);
    onednn.set_default_fpmath_mode(ONEDNN_FPMATH_MODE_STRICT); /* overrides its environment variable */
    *ret = onednn;
    return 0;
}

int onednn_load(const struct onednn **ret, struct error *err)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static struct onednn loaded;
    int rc = 0;

    pthread_mutex_lock(&mutex);
    if (!loaded.engine)
        rc = load_onednn(&loaded, err);
    if (rc == 0)
        *ret = &loaded;
    pthread_mutex_unlock(&mutex);
    return rc;
}

void onednn_use_threads(const struct onednn *onednn, int threads)
{
    static _Thread_local int current;

    if (!onednn->omp_set_num_threads)
        return;
    if (threads <= 0)
        threads = system_processors();
    if (threads != current)
        onednn->omp_set_num_threads(threads);
    current = threads;
}

/* ---- Implementations of a computation ---- */

/* Creates a descriptor, if there is one. False if the library cannot. */
static bool make_memory(const struct onednn_dialect *dialect, const struct onednn_memory_desc *memory,
                        struct dnnl_memory_desc **ret)
{
    *ret = memory->shape.rank > 0 ? dialect->memory_desc_new(memory) : NULL;
    return *ret || memory->shape.rank == 0;
}

/* After a failure `ret` contains the descriptors created so far. */
static bool make_memories(const struct onednn_dialect *dialect, const struct onednn_computation *computation,
                          struct onednn_memories *ret)
{
    ret->sources = memory_alloc_zero(computation->source_count, sizeof(struct dnnl_memory_desc *));
    for (size_t i = 0; i < computation->source_count; i++)
        if (!make_memory(dialect, &computation->sources[i], &ret->sources[i]))
            return false;
    return make_memory(dialect, &computation->source, &ret->source) &&
           make_memory(dialect, &computation->second, &ret->second) &&
           make_memory(dialect, &computation->bias, &ret->bias) &&
           make_memory(dialect, &computation->target, &ret->target);
}

static void free_memories(const struct onednn_dialect *dialect, size_t source_count, struct onednn_memories *memories)
{
    for (size_t i = 0; i < source_count; i++)
        dialect->memory_desc_free(memories->sources[i]);
    free(memories->sources);
    dialect->memory_desc_free(memories->source);
    dialect->memory_desc_free(memories->second);
    dialect->memory_desc_free(memories->bias);
    dialect->memory_desc_free(memories->target);
}

static bool append_all_post_ops(const struct onednn_dialect *dialect, const struct onednn_computation *computation,
                                struct dnnl_post_ops *post_ops)
{
    bool done = true;

    for (size_t i = 0; done && i < computation->post_ops.count; i++) {
        const struct onednn_post_op *post_op = &computation->post_ops.items[i];
        struct dnnl_memory_desc *operand = NULL;

        done =
            make_memory(dialect, &post_op->operand, &operand) && dialect->post_ops_append(post_ops, post_op, operand);
        dialect->memory_desc_free(operand);
    }
    return done;
}

static bool make_primitive_attributes(const struct onednn *onednn, const struct onednn_computation *computation,
                                      struct dnnl_primitive_attr *attributes)
{
    struct dnnl_post_ops *post_ops;
    bool done;

    if (onednn->primitive_attr_set_scratchpad_mode(attributes, ONEDNN_SCRATCHPAD_MODE_USER) != ONEDNN_SUCCESS ||
        onednn->primitive_attr_set_fpmath_mode(attributes, ONEDNN_FPMATH_MODE_STRICT) != ONEDNN_SUCCESS ||
        onednn->post_ops_create(&post_ops) != ONEDNN_SUCCESS)
        return false;
    done = append_all_post_ops(onednn->dialect, computation, post_ops) &&
           onednn->primitive_attr_set_post_ops(attributes, post_ops) == ONEDNN_SUCCESS;
    onednn->post_ops_destroy(post_ops);
    return done;
}

void onednn_computation_each(const struct onednn *onednn, const struct onednn_computation *computation,
                             bool (*visit)(void *context, const struct dnnl_primitive_desc *descriptor), void *context)
{
    struct dnnl_primitive_attr *attributes;
    struct onednn_memories memories = {0};

    if (onednn->primitive_attr_create(&attributes) != ONEDNN_SUCCESS)
        return;
    if (make_primitive_attributes(onednn, computation, attributes) &&
        make_memories(onednn->dialect, computation, &memories))
        onednn->dialect->each_implementation(onednn->engine, computation, &memories, attributes, visit, context);
    free_memories(onednn->dialect, memories.sources ? computation->source_count : 0, &memories);
    onednn->primitive_attr_destroy(attributes);
}
