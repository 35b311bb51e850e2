/* tests/tensorrt_stand_in/config.c: optimization profiles and the configuration of a build. */
#include <string.h>

#include "tensorrt_stand_in/network.h"

/* ---- Profiles ---- */

struct object *profile_new(void)
{
    return object_new(sizeof(struct stand_in_profile), "VOptimizationProfile", NULL);
}

static struct profile_entry *find_entry(const void *self, const char *name)
{
    struct stand_in_profile *profile = object_of(self);

    for (size_t i = 0; i < profile->entries.count; i++)
        if (strcmp(profile->entries.items[i].name, name) == 0)
            return &profile->entries.items[i];
    return NULL;
}

static struct profile_entry *need_entry(void *self, const char *name)
{
    struct stand_in_profile *profile = object_of(self);
    struct profile_entry *entry = find_entry(self, name);

    if (entry == NULL) {
        entry = VECTOR_APPEND(&profile->entries);
        *entry = (struct profile_entry){.name = memory_strdup(name)};
    }
    return entry;
}

/* OptProfileSelector has the same values in all releases. */
static enum profile_part part_of_selector(int32_t selector)
{
    return selector == enum_value("OptProfileSelector", "kMIN")   ? PROFILE_MINIMUM
           : selector == enum_value("OptProfileSelector", "kOPT") ? PROFILE_OPTIMUM
                                                                  : PROFILE_MAXIMUM;
}

static bool set_profile_shape64(void *self, const char *name, int32_t selector, const void *dims)
{
    struct profile_entry *entry = need_entry(self, name);

    entry->given[part_of_selector(selector)] = true;
    dims_read(dims, &entry->shapes[part_of_selector(selector)]);
    return true;
}

static bool set_profile_shape32(void *self, const char *name, int32_t selector, struct dims32 dims)
{
    return set_profile_shape64(self, name, selector, &dims);
}

static const struct shape *find_shape(const void *self, const char *name, int32_t selector)
{
    const struct profile_entry *entry = find_entry(self, name);

    return entry != NULL && entry->given[part_of_selector(selector)] ? &entry->shapes[part_of_selector(selector)]
                                                                     : NULL;
}

static struct dims32 get_profile_shape32(const void *self, const char *name, int32_t selector)
{
    return dims32_of(find_shape(self, name, selector));
}

static struct dims64 get_profile_shape64(const void *self, const char *name, int32_t selector)
{
    return dims64_of(find_shape(self, name, selector));
}

static bool set_wide_values(void *self, const char *name, int32_t selector, const int64_t *values, int32_t count)
{
    struct profile_entry *entry = need_entry(self, name);

    if (count < 0 || count > MOST_DIMS)
        return false;
    entry->has_values = true;
    entry->value_count = (size_t)count;
    for (int32_t i = 0; i < count; i++) {
        entry->values[part_of_selector(selector)][i] = values[i];
        entry->narrow_values[part_of_selector(selector)][i] = (int32_t)values[i];
    }
    return true;
}

static bool set_narrow_values(void *self, const char *name, int32_t selector, const int32_t *values, int32_t count)
{
    int64_t wide[MOST_DIMS];

    for (int32_t i = 0; i < count && i < MOST_DIMS; i++)
        wide[i] = values[i];
    return set_wide_values(self, name, selector, wide, count);
}

static int32_t get_value_count(const void *self, const char *name)
{
    const struct profile_entry *entry = find_entry(self, name);

    return entry != NULL && entry->has_values ? (int32_t)entry->value_count : -1;
}

static const int32_t *get_narrow_values(const void *self, const char *name, int32_t selector)
{
    struct profile_entry *entry = find_entry(self, name);

    return entry != NULL && entry->has_values ? entry->narrow_values[part_of_selector(selector)] : NULL;
}

static const int64_t *get_wide_values(const void *self, const char *name, int32_t selector)
{
    struct profile_entry *entry = find_entry(self, name);

    return entry != NULL && entry->has_values ? entry->values[part_of_selector(selector)] : NULL;
}

static bool entry_is_valid(const struct profile_entry *entry)
{
    const struct shape *shapes = entry->shapes;

    if (entry->has_values)
        return true;
    if (!entry->given[0] || !entry->given[1] || !entry->given[2])
        return false;
    for (size_t i = 0; i < shapes[0].rank; i++)
        if (shapes[0].dims[i] > shapes[1].dims[i] || shapes[1].dims[i] > shapes[2].dims[i])
            return false;
    return shapes[0].rank == shapes[1].rank && shapes[1].rank == shapes[2].rank;
}

static bool profile_is_valid(const void *self)
{
    const struct stand_in_profile *profile = object_of(self);
    bool valid = true;

    for (size_t i = 0; i < profile->entries.count; i++)
        valid = valid && entry_is_valid(&profile->entries.items[i]);
    return valid;
}

const struct method_row profile_methods[] = {
    {"VOptimizationProfile", "setDimensions", "8.5..9.3:2", CALL(set_profile_shape32)},
    {"VOptimizationProfile", "setDimensions", "10.0..11.1:2 rtx:2", CALL(set_profile_shape64)},
    {"VOptimizationProfile", "getDimensions", "8.5..9.3:3", CALL(get_profile_shape32)},
    {"VOptimizationProfile", "getDimensions", "10.0..11.1:3 rtx:3", CALL(get_profile_shape64)},
    {"VOptimizationProfile", "setShapeValues", "8.5..10.16:4", CALL(set_narrow_values)},
    {"VOptimizationProfile", "getNbShapeValues", "8.5..10.16:5 11.0..11.1:4 rtx:4", CALL(get_value_count)},
    {"VOptimizationProfile", "getShapeValues", "8.5..10.16:6", CALL(get_narrow_values)},
    {"VOptimizationProfile", "isValid", "8.5..10.16:9 11.0..11.1:7 rtx:7", CALL(profile_is_valid)},
    {"VOptimizationProfile", "setShapeValuesV2", "10.11..10.16:10 11.0..11.1:8 rtx:8", CALL(set_wide_values)},
    {"VOptimizationProfile", "getShapeValuesV2", "10.11..10.16:11 11.0..11.1:9 rtx:9", CALL(get_wide_values)},
    {"VOptimizationProfile", "setExtraMemoryTarget", "8.5..10.16:7 11.0..11.1:5 rtx:5", CALL(answer_true)},
    {NULL, NULL, NULL, {NULL}},
};

/* ---- The configuration ---- */

struct object *config_new(void)
{
    struct stand_in_config *ret = object_new(sizeof(*ret), "VBuilderConfig", NULL);

    ret->flags = 1U << enum_value("BuilderFlag", "kTF32");
    ret->numbers[CONFIG_AVERAGE_TIMING] = 1;
    ret->numbers[CONFIG_OPTIMIZATION_LEVEL] = 3;
    ret->numbers[CONFIG_DLA_CORE] = -1;
    ret->numbers[CONFIG_AUXILIARY_STREAMS] = -1;
    ret->numbers[CONFIG_TACTIC_SOURCES] = release_before(1100) ? 0x1c : 3;
    ret->build_route = memory_strdup("");
    ret->pools[0] = (size_t)1 << 34;
    return &ret->object;
}

bool config_has_flag(const struct stand_in_config *config, const char *name)
{
    int32_t flag = enum_value("BuilderFlag", name);

    return flag >= 0 && (config->flags >> flag & 1) != 0;
}

static bool set_flag(void *self, int32_t flag)
{
    ((struct stand_in_config *)object_of(self))->flags |= 1U << flag;
    return true;
}

static bool clear_flag(void *self, int32_t flag)
{
    ((struct stand_in_config *)object_of(self))->flags &= ~(1U << flag);
    return true;
}

static bool get_flag(const void *self, int32_t flag)
{
    return (((struct stand_in_config *)object_of(self))->flags >> flag & 1) != 0;
}

SETTER(set_flags, uint32_t, struct stand_in_config, flags)
GETTER(get_flags, uint32_t, struct stand_in_config, flags)

#define CONFIG_NUMBER(set, get, number)                                                                                \
    static bool set(void *self, int32_t value)                                                                         \
    {                                                                                                                  \
        ((struct stand_in_config *)object_of(self))->numbers[number] = value;                                          \
        return true;                                                                                                   \
    }                                                                                                                  \
    static int32_t get(const void *self)                                                                               \
    {                                                                                                                  \
        return ((struct stand_in_config *)object_of(self))->numbers[number];                                           \
    }

CONFIG_NUMBER(set_timing_iterations, get_timing_iterations, CONFIG_AVERAGE_TIMING)
CONFIG_NUMBER(set_capability, get_capability, CONFIG_CAPABILITY)
CONFIG_NUMBER(set_dla_core, get_dla_core, CONFIG_DLA_CORE)
CONFIG_NUMBER(set_device_type, get_device_type, CONFIG_DEVICE_TYPE)
CONFIG_NUMBER(set_verbosity, get_verbosity, CONFIG_VERBOSITY)
CONFIG_NUMBER(set_tactic_sources, get_tactic_sources, CONFIG_TACTIC_SOURCES)
CONFIG_NUMBER(set_optimization_level, get_optimization_level, CONFIG_OPTIMIZATION_LEVEL)
CONFIG_NUMBER(set_hardware_compatibility, get_hardware_compatibility, CONFIG_HARDWARE_COMPATIBILITY)
CONFIG_NUMBER(set_auxiliary_streams, get_auxiliary_streams, CONFIG_AUXILIARY_STREAMS)
CONFIG_NUMBER(set_platform, get_platform, CONFIG_PLATFORM)
CONFIG_NUMBER(set_most_tactics, get_most_tactics, CONFIG_MOST_TACTICS)
CONFIG_NUMBER(set_tiling_level, get_tiling_level, CONFIG_TILING_LEVEL)
CONFIG_NUMBER(set_quantization_flags, get_quantization_flags, CONFIG_QUANTIZATION_FLAGS)
CONFIG_NUMBER(set_capability_count, get_capability_count, CONFIG_COMPUTE_CAPABILITIES)

/* The last one that was set. */
CONFIG_NUMBER(set_last_capability, get_last_capability, CONFIG_LAST_CAPABILITY)

static bool set_compute_capability(void *self, int32_t capability, int32_t index)
{
    return capability > 0 && index >= 0 && index < get_capability_count(self) && set_last_capability(self, capability);
}

static int32_t get_compute_capability(const void *self, int32_t index)
{
    (void)index;
    return get_last_capability(self);
}

static bool set_pool_limit(void *self, int32_t pool, size_t size)
{
    if (pool < 0 || pool >= MEMORY_POOLS)
        return false;
    ((struct stand_in_config *)object_of(self))->pools[pool] = size;
    return true;
}

static size_t get_pool_limit(const void *self, int32_t pool)
{
    return pool < 0 || pool >= MEMORY_POOLS ? 0 : ((struct stand_in_config *)object_of(self))->pools[pool];
}

static bool set_preview_feature(void *self, int32_t feature, bool on)
{
    if (feature < 0 || feature >= PREVIEW_FEATURES)
        return false;
    ((struct stand_in_config *)object_of(self))->preview[feature] = on;
    return true;
}

static bool get_preview_feature(const void *self, int32_t feature)
{
    return feature >= 0 && feature < PREVIEW_FEATURES && ((struct stand_in_config *)object_of(self))->preview[feature];
}

static int32_t add_profile(void *self, struct object *profile)
{
    struct stand_in_config *config = object_of(self);

    if (!profile_is_valid(profile->part)) {
        report_error("kINVALID_ARGUMENT",
                     "IBuilderConfig::addOptimizationProfile: Error Code 3: the profile is not valid");
        return -1;
    }
    *VECTOR_APPEND(&config->profiles) = (struct stand_in_profile *)profile;
    return (int32_t)config->profiles.count - 1;
}

static int32_t get_profile_count(const void *self)
{
    return (int32_t)((struct stand_in_config *)object_of(self))->profiles.count;
}

static struct object *create_cache(const void *self, const void *data, size_t size)
{
    (void)self;
    return timing_cache_object_new(data, size);
}

static bool set_cache(void *self, struct object *cache, bool ignore_mismatch)
{
    (void)ignore_mismatch;
    ((struct stand_in_config *)object_of(self))->timing_cache = (struct stand_in_timing_cache *)cache;
    return cache != NULL;
}

static struct object *get_cache(const void *self)
{
    struct stand_in_timing_cache *cache = ((struct stand_in_config *)object_of(self))->timing_cache;

    return cache != NULL ? &cache->object : NULL;
}

SETTER(set_calibrator, void *, struct stand_in_config, calibrator)
SETTER(set_calibration_profile, struct stand_in_profile *, struct stand_in_config, calibration_profile)
SETTER(set_selector, void *, struct stand_in_config, selector)
SETTER(set_monitor, void *, struct stand_in_config, monitor)

static bool set_build_route(void *self, const char *route)
{
    struct stand_in_config *config = object_of(self);

    if (route[0] != '\0' && strstr(route, "-cask_fusion=") == NULL && strstr(route, "-conv_lowering=") == NULL &&
        strstr(route, "-kgen:tiling=") == NULL) {
        report_error("kINVALID_ARGUMENT", "IBuilderConfig::setBuildRoute: Error Code 3: unknown option '%s'", route);
        return false;
    }
    if (has_fault("routes-refused") && strstr(route, "conv_lowering=off") && strstr(route, "tiling=0")) {
        report_error("kINVALID_ARGUMENT", "IBuilderConfig::setBuildRoute: Error Code 3: '%s' is not supported", route);
        return false;
    }
    config->build_route = memory_strdup(route);
    return true;
}

GETTER(get_build_route, const char *, struct stand_in_config, build_route)

static const char *get_build_routes(const void *self)
{
    (void)self;
    return "{\"tuner_version\":\"2.19.45\",\"tuner_options\":["
           "{\"option\":\"-cask_fusion\",\"allowed_values\":\"-cask_fusion=[on|off]\",\"default_value\":\"-cask_fusion="
           "on\"},"
           "{\"option\":\"-conv_lowering\",\"allowed_values\":\"-conv_lowering=[on|off]\",\"default_value\":"
           "\"-conv_lowering=on\"},"
           "{\"option\":\"-kgen:tiling\",\"allowed_values\":\"-kgen:tiling=[0|1|2]\",\"default_value\":\"-kgen:tiling="
           "1\"}]}";
}

static bool set_plugins(void *self, const char *const *paths, int32_t count)
{
    const char **copy = memory_alloc_zero((size_t)count + 1, sizeof(*copy));

    for (int32_t i = 0; i < count; i++)
        copy[i] = memory_strdup(paths[i]);
    ((struct stand_in_config *)object_of(self))->plugins = (struct words){copy, (size_t)count};
    return true;
}

static int32_t get_plugin_count(const void *self)
{
    return (int32_t)((struct stand_in_config *)object_of(self))->plugins.count;
}

const struct method_row config_methods[] = {
    {"VBuilderConfig", "setAvgTimingIterations", "8.5..9.3:4 10.0..11.1:2 rtx:2", CALL(set_timing_iterations)},
    {"VBuilderConfig", "getAvgTimingIterations", "8.5..9.3:5 10.0..11.1:3 rtx:3", CALL(get_timing_iterations)},
    {"VBuilderConfig", "setEngineCapability", "8.5..9.3:6 10.0..11.1:4 rtx:4", CALL(set_capability)},
    {"VBuilderConfig", "getEngineCapability", "8.5..9.3:7 10.0..11.1:5 rtx:5", CALL(get_capability)},
    {"VBuilderConfig", "setInt8Calibrator", "8.5..9.3:8 10.0..10.16:6", CALL(set_calibrator)},
    {"VBuilderConfig", "setFlags", "8.5..9.3:12 10.0..10.16:8 11.0..11.1:6 rtx:6", CALL(set_flags)},
    {"VBuilderConfig", "getFlags", "8.5..9.3:13 10.0..10.16:9 11.0..11.1:7 rtx:7", CALL(get_flags)},
    {"VBuilderConfig", "clearFlag", "8.5..9.3:14 10.0..10.16:10 11.0..11.1:8 rtx:8", CALL(clear_flag)},
    {"VBuilderConfig", "setFlag", "8.5..9.3:15 10.0..10.16:11 11.0..11.1:9 rtx:9", CALL(set_flag)},
    {"VBuilderConfig", "getFlag", "8.5..9.3:16 10.0..10.16:12 11.0..11.1:10 rtx:10", CALL(get_flag)},
    {"VBuilderConfig", "setDLACore", "8.5..9.3:22 10.0..10.16:18 11.0..11.1:16 rtx:16", CALL(set_dla_core)},
    {"VBuilderConfig", "getDLACore", "8.5..9.3:23 10.0..10.16:19 11.0..11.1:17 rtx:17", CALL(get_dla_core)},
    {"VBuilderConfig", "setDefaultDeviceType", "8.5..9.3:24 10.0..10.16:20 11.0..11.1:18 rtx:18",
     CALL(set_device_type)},
    {"VBuilderConfig", "getDefaultDeviceType", "8.5..9.3:25 10.0..10.16:21 11.0..11.1:19 rtx:19",
     CALL(get_device_type)},
    {"VBuilderConfig", "canRunOnDLA", "8.5..9.3:21 10.0..10.16:17 11.0..11.1:15 rtx:15", CALL(answer_true)},
    {"VBuilderConfig", "addOptimizationProfile", "8.5..9.3:29 10.0..10.16:25 11.0..11.1:23 rtx:23", CALL(add_profile)},
    {"VBuilderConfig", "getNbOptimizationProfiles", "8.5..9.3:30 10.0..10.16:26 11.0..11.1:24 rtx:24",
     CALL(get_profile_count)},
    {"VBuilderConfig", "setCalibrationProfile", "8.5..9.3:35 10.0..10.16:31", CALL(set_calibration_profile)},
    {"VBuilderConfig", "setProfilingVerbosity", "8.5..9.3:31 10.0..10.16:27 11.0..11.1:25 rtx:25", CALL(set_verbosity)},
    {"VBuilderConfig", "getProfilingVerbosity", "8.5..9.3:32 10.0..10.16:28 11.0..11.1:26 rtx:26", CALL(get_verbosity)},
    {"VBuilderConfig", "setTacticSources", "8.5..9.3:42 10.0..10.16:38 11.0..11.1:27 rtx:27", CALL(set_tactic_sources)},
    {"VBuilderConfig", "getTacticSources", "8.5..9.3:43 10.0..10.16:39 11.0..11.1:28 rtx:28", CALL(get_tactic_sources)},
    {"VBuilderConfig", "setAlgorithmSelector", "8.5..9.3:33 10.0..10.16:29", CALL(set_selector)},
    {"VBuilderConfig", "createTimingCache", "8.5..9.3:44 10.0..10.16:40 11.0..11.1:29 rtx:29", CALL(create_cache)},
    {"VBuilderConfig", "setTimingCache", "8.5..9.3:45 10.0..10.16:41 11.0..11.1:30 rtx:30", CALL(set_cache)},
    {"VBuilderConfig", "getTimingCache", "8.5..9.3:46 10.0..10.16:42 11.0..11.1:31 rtx:31", CALL(get_cache)},
    {"VBuilderConfig", "setMemoryPoolLimit", "8.5..9.3:47 10.0..10.16:43 11.0..11.1:32 rtx:32", CALL(set_pool_limit)},
    {"VBuilderConfig", "getMemoryPoolLimit", "8.5..9.3:48 10.0..10.16:44 11.0..11.1:33 rtx:33", CALL(get_pool_limit)},
    {"VBuilderConfig", "setQuantizationFlags", "8.5..9.3:37 10.0..10.16:33", CALL(set_quantization_flags)},
    {"VBuilderConfig", "getQuantizationFlags", "8.5..9.3:38 10.0..10.16:34", CALL(get_quantization_flags)},
    {"VBuilderConfig", "setPreviewFeature", "8.5..9.3:49 10.0..10.16:45 11.0..11.1:34 rtx:34",
     CALL(set_preview_feature)},
    {"VBuilderConfig", "getPreviewFeature", "8.5..9.3:50 10.0..10.16:46 11.0..11.1:35 rtx:35",
     CALL(get_preview_feature)},
    {"VBuilderConfig", "setBuilderOptimizationLevel", "8.6..9.3:51 10.0..10.16:47 11.0..11.1:36 rtx:36",
     CALL(set_optimization_level)},
    {"VBuilderConfig", "getBuilderOptimizationLevel", "8.6..9.3:52 10.0..10.16:48 11.0..11.1:37 rtx:37",
     CALL(get_optimization_level)},
    {"VBuilderConfig", "setHardwareCompatibilityLevel", "8.6..9.3:53 10.0..10.16:49 11.0..11.1:38 rtx:38",
     CALL(set_hardware_compatibility)},
    {"VBuilderConfig", "getHardwareCompatibilityLevel", "8.6..9.3:54 10.0..10.16:50 11.0..11.1:39 rtx:39",
     CALL(get_hardware_compatibility)},
    {"VBuilderConfig", "setPluginsToSerialize", "8.6..9.3:55 10.0..10.16:51 11.0..11.1:40 rtx:40", CALL(set_plugins)},
    {"VBuilderConfig", "getNbPluginsToSerialize", "8.6..9.3:57 10.0..10.16:53 11.0..11.1:42 rtx:42",
     CALL(get_plugin_count)},
    {"VBuilderConfig", "setMaxAuxStreams", "8.6..9.3:58 10.0..10.16:54 11.0..11.1:43 rtx:43",
     CALL(set_auxiliary_streams)},
    {"VBuilderConfig", "getMaxAuxStreams", "8.6..9.3:59 10.0..10.16:55 11.0..11.1:44 rtx:44",
     CALL(get_auxiliary_streams)},
    {"VBuilderConfig", "setProgressMonitor", "9.3:60 10.0..10.16:56 11.0..11.1:45 rtx:45", CALL(set_monitor)},
    {"VBuilderConfig", "setRuntimePlatform", "10.2..10.16:58 11.0..11.1:47 rtx:47", CALL(set_platform)},
    {"VBuilderConfig", "getRuntimePlatform", "10.2..10.16:59 11.0..11.1:48 rtx:48", CALL(get_platform)},
    {"VBuilderConfig", "setMaxNbTactics", "10.4..10.16:60 11.0..11.1:49 rtx:49", CALL(set_most_tactics)},
    {"VBuilderConfig", "getMaxNbTactics", "10.4..10.16:61 11.0..11.1:50 rtx:50", CALL(get_most_tactics)},
    {"VBuilderConfig", "setTilingOptimizationLevel", "10.8..10.16:62 11.0..11.1:51 rtx:51", CALL(set_tiling_level)},
    {"VBuilderConfig", "getTilingOptimizationLevel", "10.8..10.16:63 11.0..11.1:52 rtx:52", CALL(get_tiling_level)},
    {"VBuilderConfig", "setBuildRoute", "11.1:57 rtx:59", CALL(set_build_route)},
    {"VBuilderConfig", "getBuildRoute", "11.1:58", CALL(get_build_route)},
    {"VBuilderConfig", "getAllBuildRoutes", "11.1:59", CALL(get_build_routes)},
    {"VBuilderConfig", "setNbComputeCapabilities", "rtx:55", CALL(set_capability_count)},
    {"VBuilderConfig", "getNbComputeCapabilities", "rtx:56", CALL(get_capability_count)},
    {"VBuilderConfig", "setComputeCapability", "rtx:57", CALL(set_compute_capability)},
    {"VBuilderConfig", "getComputeCapability", "rtx:58", CALL(get_compute_capability)},
    {NULL, NULL, NULL, {NULL}},
};
