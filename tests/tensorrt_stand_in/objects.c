/* tests/tensorrt_stand_in/objects.c: objects as TensorRT's headers see them. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorrt_stand_in/stand_in.h"

/* Everything that was ever made: it stays reachable, and what is deleted can be told from what is not. */
static struct {
    struct object **items;
    size_t count, capacity;
} objects;

static void destroy_complete(struct object *object)
{
    fprintf(stderr, "a %s was destroyed, not deleted: that is slot 1, not 0\n", object->class_name);
    abort();
}

static const struct method_slot destructors[] = {
    {(void (*)(void))destroy_complete},
    {(void (*)(void))delete_object},
};

void *object_new(size_t size, const char *class_name, void (*release)(void *object))
{
    struct object *ret = memory_alloc_zero(1, size);

    ret->outer = destructors;
    ret->part = &ret->methods;
    ret->methods = methods_of(class_name);
    ret->class_name = class_name;
    ret->release = release;
    *VECTOR_APPEND(&objects) = ret;
    return ret;
}

void *object_of(const void *part)
{
    return (char *)(uintptr_t)part - offsetof(struct object, methods);
}

void delete_object(struct object *object)
{
    if (object == NULL)
        return;
    if (object->release != NULL)
        object->release(object);
    object->release = NULL;
    object->methods = methods_of("a deleted object");
    object->outer = object->methods;
}

void delete_interface(const void *part)
{
    delete_object(object_of(part));
}

/* ---- Structures ---- */

void dims_read(const void *dims, struct shape *ret)
{
    const struct dims32 *narrow = dims;
    const struct dims64 *wide = dims;

    *ret = (struct shape){.rank = narrow->count < 0 || narrow->count > MOST_DIMS ? 0 : (size_t)narrow->count};
    for (size_t i = 0; i < ret->rank; i++)
        ret->dims[i] = release_before(1000) ? narrow->d[i] : wide->d[i];
}

struct dims32 dims32_of(const struct shape *shape)
{
    struct dims32 ret = {.count = -1};

    if (shape == NULL || shape->rank > MOST_DIMS)
        return ret;
    ret.count = (int32_t)shape->rank;
    for (size_t i = 0; i < shape->rank; i++)
        ret.d[i] = (int32_t)shape->dims[i];
    return ret;
}

struct dims64 dims64_of(const struct shape *shape)
{
    struct dims64 ret = {.count = -1};

    if (shape == NULL || shape->rank > MOST_DIMS)
        return ret;
    ret.count = (int32_t)shape->rank;
    memcpy(ret.d, shape->dims, shape->rank * sizeof(ret.d[0]));
    return ret;
}

static void release_host_memory(void *object)
{
    free(((struct host_memory *)object)->data);
}

struct object *host_memory_new(const void *data, size_t size)
{
    struct host_memory *ret = object_new(sizeof(*ret), "VHostMemory", release_host_memory);

    ret->data = memory_copy(data, size);
    ret->size = size;
    return &ret->object;
}

/* ---- Methods ---- */

bool answer_true(const void *self)
{
    (void)self;
    return true;
}

bool answer_false(const void *self)
{
    (void)self;
    return false;
}

GETTER(get_memory, void *, struct host_memory, data)
GETTER(get_memory_size, size_t, struct host_memory, size)

static int32_t get_memory_type(const void *self)
{
    (void)self;
    return enum_value("DataType", "kINT8");
}

/* A plug-in library is loaded, and that is all: its creators are none of this library's. */
static void *load_plugins(const void *self, const char *path)
{
    void *ret = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    (void)self;
    if (ret == NULL)
        report_error("kINVALID_ARGUMENT", "Could not load plugin library: %s, due to: %s", path, dlerror());
    return ret;
}

static void unload_plugins(const void *self, void *handle)
{
    (void)self;
    if (handle != NULL)
        dlclose(handle);
}

void *plugin_registry(void)
{
    static struct object *registry;

    if (registry == NULL)
        registry = object_new(sizeof(*registry), "IPluginRegistry", NULL);
    return &registry->methods;
}

static void *get_registry(const void *self)
{
    (void)self;
    return plugin_registry();
}

const struct method_row object_methods[] = {
    {"VHostMemory", "data", "8.5..11.1:2 rtx:2", CALL(get_memory)},
    {"VHostMemory", "size", "8.5..11.1:3 rtx:3", CALL(get_memory_size)},
    {"VHostMemory", "type", "8.5..11.1:4 rtx:4", CALL(get_memory_type)},
    {"IPluginRegistry", "loadLibrary", "8.6..10.16:10 11.0..11.1:6 rtx:6", CALL(load_plugins)},
    {"IPluginRegistry", "deregisterLibrary", "8.6..10.16:11 11.0..11.1:7 rtx:7", CALL(unload_plugins)},
    {"VBuilder", "getPluginRegistry", "8.6..9.3:22 10.0..10.16:19 11.0..11.1:16 rtx:16", CALL(get_registry)},
    {"VRuntime", "getPluginRegistry", "8.6..9.3:17 10.0..10.16:18 11.0..11.1:17 rtx:17", CALL(get_registry)},
    {NULL, NULL, NULL, {NULL}},
};
