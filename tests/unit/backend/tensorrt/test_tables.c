/* test_tables.c: the tables of slots and values are consistent in themselves. */
#include "support/unit_test.h"

#include <string.h>

#include "backend/tensorrt/abi/methods.h"
#include "backend/tensorrt/abi/values.h"
#include "base/memory.h"

#define METHOD_ROW(class, method, slots, result, parameters) {#class, slots},
static const struct {
    const char *class;
    short since;
    short slots[TENSORRT_SERIES_COUNT];
} methods[] = {TENSORRT_METHOD_LIST(METHOD_ROW)};

static void no_two_methods_of_a_class_have_one_slot(void **state)
{
    (void)state;
    for (size_t i = 0; i < TENSORRT_SERIES_COUNT; i++)
        for (size_t a = 0; a < TENSORRT_METHODS; a++)
            for (size_t b = 0; b < a; b++)
                if (methods[a].slots[i] >= 0 && strcmp(methods[a].class, methods[b].class) == 0)
                    assert_int_not_equal(methods[a].slots[i], methods[b].slots[i]);
}

/* Slots 0 and 1 of classes with an implementation are the destructors. */
static void no_method_is_a_destructor(void **state)
{
    (void)state;
    for (size_t i = 0; i < TENSORRT_SERIES_COUNT; i++)
        for (size_t k = 0; k < TENSORRT_FIRST_INTERFACE; k++)
            assert_true(methods[k].slots[i] == -1 || methods[k].slots[i] >= 2);
}

/* What is called without being asked for. */
static void all_releases_have_what_every_build_and_run_calls(void **state)
{
    static const enum tensorrt_method called[] = {TENSORRT_METHOD(VBuilder, createBuilderConfig),
                                                  TENSORRT_METHOD(VBuilder, createNetworkV2),
                                                  TENSORRT_METHOD(VBuilder, setErrorRecorder),
                                                  TENSORRT_METHOD(VBuilder, buildSerializedNetwork),
                                                  TENSORRT_METHOD(VBuilderConfig, setFlag),
                                                  TENSORRT_METHOD(VBuilderConfig, createTimingCache),
                                                  TENSORRT_METHOD(VNetworkDefinition, getNbLayers),
                                                  TENSORRT_METHOD(VNetworkDefinition, markOutput),
                                                  TENSORRT_METHOD(VTensor, getName),
                                                  TENSORRT_METHOD(VTensor, getDimensions),
                                                  TENSORRT_METHOD(VLayer, getOutput),
                                                  TENSORRT_METHOD(VHostMemory, data),
                                                  TENSORRT_METHOD(VRuntime, deserializeCudaEngine),
                                                  TENSORRT_METHOD(VCudaEngine, getNbIOTensors),
                                                  TENSORRT_METHOD(VCudaEngine, getTensorIOMode),
                                                  TENSORRT_METHOD(VExecutionContext, setTensorAddress),
                                                  TENSORRT_METHOD(VExecutionContext, enqueueV3),
                                                  TENSORRT_METHOD(VExecutionContext, setOutputAllocator),
                                                  TENSORRT_METHOD(VEngineInspector, getEngineInformation),
                                                  TENSORRT_METHOD(IParser, parse),
                                                  TENSORRT_METHOD(IParser, parseFromFile),
                                                  TENSORRT_METHOD(IParserError, desc)};

    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(called); k++) {
        assert_int_equal(methods[called[k]].since, 1);
        for (size_t i = 0; i < TENSORRT_SERIES_COUNT; i++)
            assert_true(methods[called[k]].slots[i] >= 0);
    }
}

static void no_two_names_of_an_enum_have_one_value(void **state)
{
    (void)state;
    for (const struct tensorrt_value *a = tensorrt_values; a->name != NULL; a++)
        for (const struct tensorrt_value *b = tensorrt_values; b != a; b++)
            if (a->kind == b->kind) {
                assert_string_not_equal(a->name, b->name);
                for (size_t i = 0; i < TENSORRT_SERIES_COUNT; i++)
                    assert_true(a->values[i] == -1 || a->values[i] != b->values[i]);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_two_methods_of_a_class_have_one_slot),
        cmocka_unit_test(no_method_is_a_destructor),
        cmocka_unit_test(all_releases_have_what_every_build_and_run_calls),
        cmocka_unit_test(no_two_names_of_an_enum_have_one_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
