/* tests/tensorrt_stand_in/builder.c: the builder. */
#include "tensorrt_stand_in/network.h"

struct stand_in_builder {
    struct object object;
    void *recorder;
    int32_t threads;
};

static int32_t get_dla_count(const void *self)
{
    (void)self;
    return 0;
}

static struct object *create_config(void *self)
{
    (void)self;
    return config_new();
}

static struct object *create_network(void *self, uint32_t flags)
{
    (void)self;
    return has_fault("null-network") ? NULL : network_new(flags);
}

static struct object *create_profile(void *self)
{
    (void)self;
    return profile_new();
}

static bool set_builder_recorder(void *self, void *recorder)
{
    ((struct stand_in_builder *)object_of(self))->recorder = recorder;
    report_set_recorder(recorder);
    return true;
}

GETTER(get_builder_recorder, void *, struct stand_in_builder, recorder)

static void *get_builder_logger(const void *self)
{
    (void)self;
    return report_logger();
}

static bool set_builder_threads(void *self, int32_t threads)
{
    ((struct stand_in_builder *)object_of(self))->threads = threads;
    return threads > 0;
}

GETTER(get_builder_threads, int32_t, struct stand_in_builder, threads)

static struct object *build_plan(void *self, struct object *network, struct object *config)
{
    struct object *ret = NULL;
    SCOPED_STRING(plan);

    (void)self;
    if (plan_build((struct stand_in_network *)network, (struct stand_in_config *)config, &plan))
        ret = host_memory_new(plan.data, plan.size);
    return ret;
}

static bool build_to_stream(void *self, struct object *network, struct object *config, void *writer)
{
    struct method_slot write = method_of_program(writer, "IStreamWriter", "write");
    SCOPED_STRING(plan);

    (void)self;
    return plan_build((struct stand_in_network *)network, (struct stand_in_config *)config, &plan) &&
           ((int64_t(*)(void *, const void *, int64_t))write.call)(writer, plan.data, (int64_t)plan.size) ==
               (int64_t)plan.size;
}

const struct method_row builder_methods[] = {
    {"VBuilder", "platformHasFastFp16", "8.5..9.3:4 10.0..10.16:2", CALL(answer_true)},
    {"VBuilder", "platformHasFastInt8", "8.5..9.3:5 10.0..10.16:3", CALL(answer_true)},
    {"VBuilder", "platformHasTf32", "8.5..9.3:16 10.0..10.16:13", CALL(answer_true)},
    {"VBuilder", "getNbDLACores", "8.5..9.3:7 10.0..10.16:5 11.0..11.1:3 rtx:3", CALL(get_dla_count)},
    {"VBuilder", "setGpuAllocator", "8.5..9.3:8 10.0..10.16:6 11.0..11.1:4 rtx:4", CALL(answer_true)},
    {"VBuilder", "createBuilderConfig", "8.5..9.3:9 10.0..10.16:7 11.0..11.1:5 rtx:5", CALL(create_config)},
    {"VBuilder", "createNetworkV2", "8.5..9.3:11 10.0..10.16:8 11.0..11.1:6 rtx:6", CALL(create_network)},
    {"VBuilder", "createOptimizationProfile", "8.5..9.3:12 10.0..10.16:9 11.0..11.1:7 rtx:7", CALL(create_profile)},
    {"VBuilder", "setErrorRecorder", "8.5..9.3:13 10.0..10.16:10 11.0..11.1:8 rtx:8", CALL(set_builder_recorder)},
    {"VBuilder", "getErrorRecorder", "8.5..9.3:14 10.0..10.16:11 11.0..11.1:9 rtx:9", CALL(get_builder_recorder)},
    {"VBuilder", "reset", "8.5..9.3:15 10.0..10.16:12 11.0..11.1:10 rtx:10", CALL(answer_true)},
    {"VBuilder", "buildSerializedNetwork", "8.5..9.3:17 10.0..10.16:14 11.0..11.1:11 rtx:11", CALL(build_plan)},
    {"VBuilder", "isNetworkSupported", "8.5..9.3:18 10.0..10.16:15 11.0..11.1:12 rtx:12", CALL(answer_true)},
    {"VBuilder", "getLogger", "8.5..9.3:19 10.0..10.16:16 11.0..11.1:13 rtx:13", CALL(get_builder_logger)},
    {"VBuilder", "setMaxThreads", "8.5..9.3:20 10.0..10.16:17 11.0..11.1:14 rtx:14", CALL(set_builder_threads)},
    {"VBuilder", "getMaxThreads", "8.5..9.3:21 10.0..10.16:18 11.0..11.1:15 rtx:15", CALL(get_builder_threads)},
    {"VBuilder", "buildSerializedNetworkToStream", "10.13..10.16:21 11.0..11.1:18 rtx:17", CALL(build_to_stream)},
    {NULL, NULL, NULL, {NULL}},
};

__attribute__((visibility("default"))) void *createInferBuilder_INTERNAL(void *logger, int32_t version);
void *createInferBuilder_INTERNAL(void *logger, int32_t version)
{
    struct stand_in_builder *ret;

    report_set_logger(logger);
    if (version != release_get()->version) {
        report_error("kINVALID_ARGUMENT", "createInferBuilder: Error Code 3: the library's version is %d, not %d",
                     release_get()->version, version);
        return NULL;
    }
    if (has_fault("null-builder"))
        return NULL;
    ret = object_new(sizeof(*ret), "VBuilder", NULL);
    ret->threads = 1;
    return &ret->object;
}
