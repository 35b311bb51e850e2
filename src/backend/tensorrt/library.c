/* backend/tensorrt/library.c: see library.h. */
#include "backend/tensorrt/library.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/system.h"

static struct tensorrt loaded;

/* ---- Releases ---- */

/* Known releases: slots were read off headers up to these. */
static const struct {
    enum tensorrt_flavour flavour;
    int major, first_minor, last_minor;
    enum tensorrt_series series;
} releases[] = {
    {TENSORRT_FULL, 8, 6, 6, TENSORRT_SERIES_8},    {TENSORRT_FULL, 9, 0, 3, TENSORRT_SERIES_8},
    {TENSORRT_FULL, 10, 0, 16, TENSORRT_SERIES_10}, {TENSORRT_FULL, 11, 0, 4, TENSORRT_SERIES_11},
    {TENSORRT_RTX, 1, 7, 7, TENSORRT_SERIES_RTX},
};

#define METHOD_ROW(class, method, slots, result, parameters) {#class "::" #method, slots},
static const struct {
    const char *name;
    short since; /* TENSORRT_RELEASE(); of no meaning for TensorRT-RTX */
    short slots[TENSORRT_SERIES_COUNT];
} methods[] = {TENSORRT_METHOD_LIST(METHOD_ROW)};
#undef METHOD_ROW

/* Up to 9 a version is 1000 * major + 100 * minor + patch, later 10000 * major and so on. */
static void read_version(struct tensorrt *trt)
{
    int32_t unit = trt->place.flavour != TENSORRT_RTX && trt->number < 10000 ? 1000 : 10000;

    trt->major = trt->number / unit;
    trt->minor = trt->number % unit / 100;
    trt->patch = trt->number % 100;
}

static void read_slots(struct tensorrt *trt, enum tensorrt_series series)
{
    trt->series = series;
    for (size_t i = 0; i < TENSORRT_METHODS; i++)
        if (methods[i].slots[series] >= 0) {
            trt->slots[i].number = methods[i].slots[series];
            trt->slots[i].since = series == TENSORRT_SERIES_RTX ? 1 : methods[i].since;
        }
    /* 10.8.0 has addCumulative in the middle of VNetworkDefinition; 10.9 moved it to the end. */
    if (trt->major == 10 && trt->minor == 8 && trt->patch == 0)
        trt->slots[TENSORRT_METHOD(VNetworkDefinition, markDebug)].number++;
}

static int choose_series(struct tensorrt *trt, struct error *err)
{
    enum tensorrt_flavour flavour = trt->place.flavour == TENSORRT_RTX ? TENSORRT_RTX : TENSORRT_FULL;
    SCOPED_STRING(text);

    for (size_t i = 0; i < ARRAY_LEN(releases); i++)
        if (releases[i].flavour == flavour && releases[i].major == trt->major &&
            trt->minor >= releases[i].first_minor && trt->minor <= releases[i].last_minor) {
            read_slots(trt, releases[i].series);
            return 0;
        }
    tensorrt_describe(trt, &text);
    return error_set(err, ERR_UNSUPPORTED,
                     "'%s' is %s, whose binary interface is not known here: there are TensorRT 8.6, 9.0 to 9.3, "
                     "10.0 to 10.16, 11.0 to 11.4 and TensorRT-RTX 1.7",
                     trt->place.path, text.data);
}

void tensorrt_describe(const struct tensorrt *trt, struct string_builder *ret)
{
    static const char *const names[] = {"TensorRT", "TensorRT-RTX", "TensorRT's lean runtime",
                                        "TensorRT's dispatch runtime"};

    string_add_format(ret, "%s %d.%d.%d", names[trt->place.flavour], trt->major, trt->minor, trt->patch);
}

/* ---- Loading ---- */

static void load_parser(struct tensorrt *trt, struct arena *arena)
{
    const char *name = trt->place.flavour == TENSORRT_RTX ? "libtensorrt_onnxparser_rtx.so.1"
                                                          : arena_printf(arena, "libnvonnxparser.so.%d", trt->major);
    const char *const names[] = {name, NULL};
    int32_t (*version)(void);
    void *handle = tensorrt_load_companion(trt->place.path, names, arena, &trt->parser_path);

    if (handle == NULL)
        return;
    system_find_function(handle, "createNvOnnxParserRefitter_INTERNAL", &trt->create_parser_refitter);
    if (!system_find_function(handle, "createNvOnnxParser_INTERNAL", &trt->create_parser) ||
        !system_find_function(handle, "getNvOnnxParserVersion", &version))
        trt->create_parser = NULL;
    else
        trt->parser_number = version();
}

/* Plug-ins that models name are registered by their library. */
static void load_plugins(struct tensorrt *trt, struct arena *arena)
{
    const char *const names[] = {arena_printf(arena, "libnvinfer_plugin.so.%d", trt->major), NULL};
    void *handle =
        trt->place.flavour == TENSORRT_FULL ? tensorrt_load_companion(trt->place.path, names, arena, NULL) : NULL;

    if (handle != NULL)
        system_find_function(handle, "initLibNvInferPlugins", &trt->register_plugins);
}

static int load_library(struct tensorrt *ret, struct arena *arena, struct error *err)
{
    struct tensorrt trt = {0};
    int32_t (*version)(void);
    int rc = tensorrt_search(arena, &trt.place, err);

    if (rc < 0)
        return rc;
    if (!system_find_function(trt.place.handle, "getInferLibVersion", &version) ||
        !system_find_function(trt.place.handle, "createInferRuntime_INTERNAL", &trt.create_runtime))
        return error_set(err, ERR_UNSUPPORTED, "'%s' is not TensorRT: it lacks createInferRuntime_INTERNAL",
                         trt.place.path);
    system_find_function(trt.place.handle, "createInferBuilder_INTERNAL", &trt.create_builder);
    system_find_function(trt.place.handle, "createInferRefitter_INTERNAL", &trt.create_refitter);
    trt.number = version();
    read_version(&trt);
    rc = choose_series(&trt, err);
    if (rc < 0)
        return rc;
    if (trt.create_builder != NULL)
        load_parser(&trt, arena);
    load_plugins(&trt, arena);
    *ret = trt;
    return 0;
}

int tensorrt_load(const struct tensorrt **ret, struct error *err)
{
    static struct arena arena;
    int rc = 0;

    if (loaded.number == 0)
        rc = load_library(&loaded, &arena, err);
    if (rc == 0)
        *ret = &loaded;
    return rc;
}

bool tensorrt_is_before(int major)
{
    return loaded.place.flavour != TENSORRT_RTX && loaded.major < major;
}

/* ---- Methods ---- */

bool tensorrt_has(enum tensorrt_method method)
{
    int since = loaded.slots[method].since;

    return since != 0 && TENSORRT_RELEASE(loaded.major, loaded.minor) >= since;
}

int tensorrt_require(enum tensorrt_method method, const char *wish, struct error *err)
{
    int since = loaded.slots[method].since;
    SCOPED_STRING(text);

    if (tensorrt_has(method))
        return 0;
    tensorrt_describe(&loaded, &text);
    if (since != 0)
        string_add_format(&text, " has no %s, which %d.%d and later have", methods[method].name, since / 100,
                          since % 100);
    else
        string_add_format(&text, " has no %s", methods[method].name);
    return error_set(err, ERR_UNSUPPORTED, "%s: %s", wish, text.data);
}

void *tensorrt_object(void *pointer)
{
    return (uintptr_t)pointer < 4096 ? NULL : pointer;
}

void *tensorrt_self(enum tensorrt_method method, void *object)
{
    return method >= TENSORRT_FIRST_INTERFACE ? object : ((void **)object)[1];
}

tensorrt_function *tensorrt_function_of(enum tensorrt_method method, void *object)
{
    tensorrt_function **const *self = tensorrt_self(method, object);

    if (!tensorrt_has(method))
        __builtin_trap(); /* the caller has to ask tensorrt_require() */
    return (*self)[loaded.slots[method].number];
}

#define DELETING_DESTRUCTOR 1

void tensorrt_delete(void *object)
{
    tensorrt_function **const *outer = object;

    if (object != NULL)
        ((void (*)(void *))(*outer)[DELETING_DESTRUCTOR])(object);
}

/* ---- Values ---- */

/* Of the loaded release. */
static int32_t value_in_release(const struct tensorrt_value *value)
{
    return value->values[loaded.series];
}

bool tensorrt_value_of(enum tensorrt_value_kind kind, const char *name, int32_t *ret)
{
    for (const struct tensorrt_value *value = tensorrt_values; value->name != NULL; value++)
        if (value->kind == kind && value_in_release(value) >= 0 && strcasecmp(value->name, name) == 0) {
            *ret = value_in_release(value);
            return true;
        }
    return false;
}

int tensorrt_value_find(enum tensorrt_value_kind kind, const char *word, const char *option, int32_t *ret,
                        struct error *err)
{
    SCOPED_STRING(text);

    if (tensorrt_value_of(kind, word, ret))
        return 0;
    tensorrt_describe(&loaded, &text);
    string_add(&text, " has");
    for (const struct tensorrt_value *value = tensorrt_values; value->name != NULL; value++)
        if (value->kind == kind && value_in_release(value) >= 0)
            string_add_format(&text, " %s", value->name);
    return error_set(err, ERR_INVALID, "%s: there is no '%s'; %s", option, word, text.data);
}

const char *tensorrt_value_name(enum tensorrt_value_kind kind, int32_t number)
{
    for (const struct tensorrt_value *value = tensorrt_values; value->name != NULL; value++)
        if (value->kind == kind && value_in_release(value) == number)
            return value->name;
    return NULL;
}

/* nvinfer1::DataType, the same in all releases. */
static const enum data_type types[] = {DATA_FLOAT32, DATA_FLOAT16, DATA_INT8,         DATA_INT32,
                                       DATA_BOOL,    DATA_UINT8,   DATA_FLOAT8E4M3FN, DATA_BFLOAT16,
                                       DATA_INT64,   DATA_INT4,    DATA_FLOAT4E2M1};

enum data_type tensorrt_type_from(int32_t value)
{
    return value >= 0 && (size_t)value < ARRAY_LEN(types) ? types[value] : DATA_UNDEFINED;
}

int32_t tensorrt_type_to(enum data_type type)
{
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (types[i] == type)
            return (int32_t)i;
    return -1;
}

#define MOST_DIMENSIONS 8

bool tensorrt_dims_set(const struct shape *shape, union tensorrt_dims *ret)
{
    bool is_wide = !tensorrt_is_before(10);

    *ret = (union tensorrt_dims){0};
    if (shape->rank > MOST_DIMENSIONS)
        return false;
    ret->wide.count = (int32_t)shape->rank;
    for (size_t i = 0; i < shape->rank; i++)
        if (is_wide)
            ret->wide.sizes[i] = shape->dims[i];
        else if (shape->dims[i] > INT32_MAX)
            return false;
        else
            ret->narrow.sizes[i] = (int32_t)shape->dims[i];
    return true;
}

bool tensorrt_dims_get(const union tensorrt_dims *dims, struct shape *ret)
{
    bool is_wide = !tensorrt_is_before(10);
    int32_t count = dims->wide.count;

    *ret = (struct shape){0};
    if (count < 0 || count > MOST_DIMENSIONS)
        return false;
    ret->rank = (size_t)count;
    for (size_t i = 0; i < ret->rank; i++)
        ret->dims[i] = is_wide ? dims->wide.sizes[i] : dims->narrow.sizes[i];
    return true;
}
