/* test_tables.c: the tables of slots and values are consistent in themselves. */
#include "support/unit_test.h"

#include <string.h>

#include "backend/tensorrt/abi/slots.h"
#include "backend/tensorrt/abi/values.h"
#include "base/memory.h"

#define CLASS_OF(class, method, result, parameters) #class,
static const char *const classes[] = {TENSORRT_METHOD_LIST(CLASS_OF)};

static const struct tensorrt_slot *const tables[] = {tensorrt_slots_8, tensorrt_slots_10, tensorrt_slots_11,
                                                     tensorrt_slots_rtx};
static const struct tensorrt_value *const values[] = {tensorrt_values_8, tensorrt_values_10, tensorrt_values_11,
                                                      tensorrt_values_rtx};

static void no_two_methods_of_a_class_have_one_slot(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (const struct tensorrt_slot *a = tables[i]; a->method != TENSORRT_METHODS; a++)
            for (const struct tensorrt_slot *b = tables[i]; b != a; b++) {
                assert_int_not_equal(a->method, b->method);
                if (strcmp(classes[a->method], classes[b->method]) == 0)
                    assert_int_not_equal(a->number, b->number);
            }
}

/* Slots 0 and 1 of classes with an implementation are the destructors. */
static void no_method_is_a_destructor(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (const struct tensorrt_slot *slot = tables[i]; slot->method != TENSORRT_METHODS; slot++)
            if (slot->method < TENSORRT_FIRST_INTERFACE)
                assert_true(slot->number >= 2);
}

static bool has_method(const struct tensorrt_slot *table, enum tensorrt_method method)
{
    for (; table->method != TENSORRT_METHODS; table++)
        if (table->method == method)
            return table->since == 1;
    return false;
}

/* What is called without being asked for. */
static void all_releases_have_what_every_build_and_run_calls(void **state)
{
    static const enum tensorrt_method methods[] = {TENSORRT_METHOD(VBuilder, createBuilderConfig),
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
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        for (size_t k = 0; k < ARRAY_LEN(methods); k++)
            assert_true(has_method(tables[i], methods[k]));
}

static void no_two_names_of_an_enum_have_one_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        for (const struct tensorrt_value *a = values[i]; a->name != NULL; a++)
            for (const struct tensorrt_value *b = values[i]; b != a; b++)
                if (a->kind == b->kind) {
                    assert_int_not_equal(a->value, b->value);
                    assert_string_not_equal(a->name, b->name);
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
