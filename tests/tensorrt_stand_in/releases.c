/* tests/tensorrt_stand_in/releases.c: releases, and the enum values of each. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorrt_stand_in/stand_in.h"

static const struct release releases[] = {
    {"8.6", 806, 1, 8601, 8601, false},       {"9.3", 903, 0, 9300, 9300, false},
    {"10.0", 1000, 1, 100001, 100001, false}, {"10.8.0", 1008, 0, 100800, 100800, false},
    {"10.9", 1009, 0, 100900, 100900, false}, {"10.16", 1016, 1, 101601, 101601, false},
    {"11.0", 1100, 0, 110000, 110000, false}, {"11.1", 1101, 0, 110100, 110100, false},
    {"rtx-1.7", 1101, 1, 10701, 200, true},   {"12.0", 1200, 0, 120000, 120000, false},
    {"rtx-1.4", 1101, 0, 10400, 200, true},
};

/* Values of 8.6, 9.3, 10.0, 10.16 and 11.1; -1: there is none. */
enum { VALUE_COLUMNS = 5 };

static const struct {
    const char *type, *name;
    int8_t values[VALUE_COLUMNS];
} enum_rows[] = {
    {"LayerType", "kCONVOLUTION", {0, 0, 0, 0, 0}},
    {"LayerType", "kELEMENTWISE", {9, 9, 9, 9, 9}},
    {"LayerType", "kUNARY", {11, 11, 11, 11, 11}},
    {"LayerType", "kMATRIX_MULTIPLY", {17, 17, 17, 17, 17}},
    {"LayerType", "kIDENTITY", {21, 21, 20, 20, 20}},
    {"LayerType", "kATTENTION_INPUT", {-1, -1, -1, 51, 51}},
    {"BuilderFlag", "kFP16", {0, 0, 0, 0, -1}},
    {"BuilderFlag", "kINT8", {1, 1, 1, 1, -1}},
    {"BuilderFlag", "kDEBUG", {2, 2, 2, 2, 2}},
    {"BuilderFlag", "kGPU_FALLBACK", {3, 3, 3, 3, 3}},
    {"BuilderFlag", "kSTRICT_TYPES", {4, 4, -1, -1, -1}},
    {"BuilderFlag", "kREFIT", {5, 5, 4, 4, 4}},
    {"BuilderFlag", "kDISABLE_TIMING_CACHE", {6, 6, 5, 5, 5}},
    {"BuilderFlag", "kTF32", {7, 7, 6, 6, 6}},
    {"BuilderFlag", "kSPARSE_WEIGHTS", {8, 8, 7, 7, 7}},
    {"BuilderFlag", "kSAFETY_SCOPE", {9, 9, 8, 8, 8}},
    {"BuilderFlag", "kOBEY_PRECISION_CONSTRAINTS", {10, 10, 9, 9, -1}},
    {"BuilderFlag", "kPREFER_PRECISION_CONSTRAINTS", {11, 11, 10, 10, -1}},
    {"BuilderFlag", "kDIRECT_IO", {12, 12, 11, 11, 11}},
    {"BuilderFlag", "kREJECT_EMPTY_ALGORITHMS", {13, 13, 12, 12, -1}},
    {"BuilderFlag", "kENABLE_TACTIC_HEURISTIC", {14, 14, -1, -1, -1}},
    {"BuilderFlag", "kVERSION_COMPATIBLE", {15, 15, 13, 13, 12}},
    {"BuilderFlag", "kEXCLUDE_LEAN_RUNTIME", {16, 16, 14, 14, 13}},
    {"BuilderFlag", "kFP8", {17, 17, 15, 15, -1}},
    {"MemoryPoolType", "kWORKSPACE", {0, 0, 0, 0, 0}},
    {"MemoryPoolType", "kDLA_MANAGED_SRAM", {1, 1, 1, 1, 1}},
    {"MemoryPoolType", "kDLA_LOCAL_DRAM", {2, 2, 2, 2, 2}},
    {"MemoryPoolType", "kDLA_GLOBAL_DRAM", {3, 3, 3, 3, 3}},
    {"MemoryPoolType", "kTACTIC_DRAM", {4, 4, 4, 4, 4}},
    {"PreviewFeature", "kFASTER_DYNAMIC_SHAPES_0805", {0, 0, -1, -1, -1}},
    {"PreviewFeature", "kDISABLE_EXTERNAL_TACTIC_SOURCES_FOR_CORE_0805", {1, 1, -1, -1, -1}},
    {"PreviewFeature", "kPROFILE_SHARING_0806", {2, 2, 0, 0, -1}},
    {"HardwareCompatibilityLevel", "kNONE", {0, 0, 0, 0, 0}},
    {"HardwareCompatibilityLevel", "kAMPERE_PLUS", {1, 1, 1, 1, 1}},
    {"NetworkDefinitionCreationFlag", "kEXPLICIT_BATCH", {0, 0, 0, 0, -1}},
    {"NetworkDefinitionCreationFlag", "kEXPLICIT_PRECISION", {1, 1, -1, -1, -1}},
    {"EngineCapability", "kSTANDARD", {0, 0, 0, 0, 0}},
    {"EngineCapability", "kDEFAULT", {0, 0, -1, -1, -1}},
    {"EngineCapability", "kSAFETY", {1, 1, 1, 1, 1}},
    {"EngineCapability", "kSAFE_GPU", {1, 1, -1, -1, -1}},
    {"EngineCapability", "kDLA_STANDALONE", {2, 2, 2, 2, 2}},
    {"EngineCapability", "kSAFE_DLA", {2, 2, -1, -1, -1}},
    {"TensorLocation", "kDEVICE", {0, 0, 0, 0, 0}},
    {"TensorLocation", "kHOST", {1, 1, 1, 1, 1}},
    {"DeviceType", "kGPU", {0, 0, 0, 0, 0}},
    {"DeviceType", "kDLA", {1, 1, 1, 1, 1}},
    {"OptProfileSelector", "kMIN", {0, 0, 0, 0, 0}},
    {"OptProfileSelector", "kOPT", {1, 1, 1, 1, 1}},
    {"OptProfileSelector", "kMAX", {2, 2, 2, 2, 2}},
    {"TacticSource", "kCUBLAS", {0, 0, 0, 0, -1}},
    {"TacticSource", "kCUBLAS_LT", {1, 1, 1, 1, -1}},
    {"TacticSource", "kCUDNN", {2, 2, 2, 2, -1}},
    {"TacticSource", "kEDGE_MASK_CONVOLUTIONS", {3, 3, 3, 3, 0}},
    {"TacticSource", "kJIT_CONVOLUTIONS", {4, 4, 4, 4, 1}},
    {"ProfilingVerbosity", "kLAYER_NAMES_ONLY", {0, 0, 0, 0, 0}},
    {"ProfilingVerbosity", "kNONE", {1, 1, 1, 1, 1}},
    {"ProfilingVerbosity", "kDETAILED", {2, 2, 2, 2, 2}},
    {"ProfilingVerbosity", "kDEFAULT", {0, 0, -1, -1, -1}},
    {"ProfilingVerbosity", "kVERBOSE", {2, 2, -1, -1, -1}},
    {"LayerInformationFormat", "kONELINE", {0, 0, 0, 0, 0}},
    {"LayerInformationFormat", "kJSON", {1, 1, 1, 1, 1}},
    {"DataType", "kFLOAT", {0, 0, 0, 0, 0}},
    {"DataType", "kHALF", {1, 1, 1, 1, 1}},
    {"DataType", "kINT8", {2, 2, 2, 2, 2}},
    {"DataType", "kINT32", {3, 3, 3, 3, 3}},
    {"DataType", "kBOOL", {4, 4, 4, 4, 4}},
    {"DataType", "kUINT8", {5, 5, 5, 5, 5}},
    {"DataType", "kFP8", {6, 6, 6, 6, 6}},
    {"TensorFormat", "kLINEAR", {0, 0, 0, 0, 0}},
    {"ErrorCode", "kSUCCESS", {0, 0, 0, 0, 0}},
    {"ErrorCode", "kUNSPECIFIED_ERROR", {1, 1, 1, 1, 1}},
    {"ErrorCode", "kINTERNAL_ERROR", {2, 2, 2, 2, 2}},
    {"ErrorCode", "kINVALID_ARGUMENT", {3, 3, 3, 3, 3}},
    {"ErrorCode", "kINVALID_CONFIG", {4, 4, 4, 4, 4}},
    {"ErrorCode", "kFAILED_ALLOCATION", {5, 5, 5, 5, 5}},
    {"ErrorCode", "kFAILED_INITIALIZATION", {6, 6, 6, 6, 6}},
    {"ErrorCode", "kFAILED_EXECUTION", {7, 7, 7, 7, 7}},
    {"ErrorCode", "kFAILED_COMPUTATION", {8, 8, 8, 8, 8}},
    {"ErrorCode", "kINVALID_STATE", {9, 9, 9, 9, 9}},
    {"ErrorCode", "kUNSUPPORTED_STATE", {10, 10, 10, 10, 10}},
    {"TensorIOMode", "kNONE", {0, 0, 0, 0, 0}},
    {"TensorIOMode", "kINPUT", {1, 1, 1, 1, 1}},
    {"TensorIOMode", "kOUTPUT", {2, 2, 2, 2, 2}},
    {"BuilderFlag", "kERROR_ON_TIMING_CACHE_MISS", {-1, 18, 16, 16, 15}},
    {"BuilderFlag", "kBF16", {-1, 19, 17, 17, -1}},
    {"BuilderFlag", "kDISABLE_COMPILATION_CACHE", {-1, 20, 18, 18, 17}},
    {"BuilderFlag", "kWEIGHTLESS", {-1, 21, -1, -1, -1}},
    {"NetworkDefinitionCreationFlag", "kSTRONGLY_TYPED", {-1, 2, 1, 1, 0}},
    {"QuantizationFlag", "kCALIBRATE_BEFORE_FUSION", {0, 0, 0, 0, -1}},
    {"RuntimePlatform", "kSAME_AS_BUILD", {-1, -1, -1, 0, 0}},
    {"RuntimePlatform", "kWINDOWS_AMD64", {-1, -1, -1, 1, 1}},
    {"TilingOptimizationLevel", "kNONE", {-1, -1, -1, 0, 0}},
    {"TilingOptimizationLevel", "kFAST", {-1, -1, -1, 1, 1}},
    {"TilingOptimizationLevel", "kMODERATE", {-1, -1, -1, 2, 2}},
    {"TilingOptimizationLevel", "kFULL", {-1, -1, -1, 3, 3}},
    {"SerializationFlag", "kEXCLUDE_WEIGHTS", {-1, 0, 0, 0, 0}},
    {"SerializationFlag", "kEXCLUDE_LEAN_RUNTIME", {-1, 1, 1, 1, 1}},
    {"DataType", "kBF16", {-1, 7, 7, 7, 7}},
    {"DataType", "kINT64", {-1, 8, 8, 8, 8}},
    {"BuilderFlag", "kSTRIP_PLAN", {-1, -1, 19, 19, 18}},
    {"BuilderFlag", "kREFIT_IDENTICAL", {-1, -1, 20, 20, 19}},
    {"BuilderFlag", "kWEIGHT_STREAMING", {-1, -1, 21, 21, 20}},
    {"MemoryPoolType", "kTACTIC_SHARED_MEMORY", {-1, -1, 5, 5, 5}},
    {"DataType", "kINT4", {-1, -1, 9, 9, 9}},
    {"BuilderFlag", "kINT4", {-1, -1, -1, 22, -1}},
    {"BuilderFlag", "kREFIT_INDIVIDUAL", {-1, -1, -1, 23, 22}},
    {"BuilderFlag", "kSTRICT_NANS", {-1, -1, -1, 24, 23}},
    {"BuilderFlag", "kMONITOR_MEMORY", {-1, -1, -1, 25, 24}},
    {"BuilderFlag", "kFP4", {-1, -1, -1, 26, -1}},
    {"BuilderFlag", "kEDITABLE_TIMING_CACHE", {-1, -1, -1, 27, 26}},
    {"BuilderFlag", "kDISTRIBUTIVE_INDEPENDENCE", {-1, -1, -1, 28, 27}},
    {"PreviewFeature", "kALIASED_PLUGIN_IO_10_03", {-1, -1, -1, 1, 0}},
    {"PreviewFeature", "kRUNTIME_ACTIVATION_RESIZE_10_10", {-1, -1, -1, 2, 1}},
    {"PreviewFeature", "kMULTIDEVICE_RUNTIME_10_16", {-1, -1, -1, 3, -1}},
    {"HardwareCompatibilityLevel", "kSAME_COMPUTE_CAPABILITY", {-1, -1, -1, 2, 2}},
    {"NetworkDefinitionCreationFlag", "kPREFER_JIT_PYTHON_PLUGINS", {-1, -1, -1, 2, 1}},
    {"NetworkDefinitionCreationFlag", "kPREFER_AOT_PYTHON_PLUGINS", {-1, -1, -1, 3, 2}},
    {"SerializationFlag", "kINCLUDE_REFIT", {-1, -1, -1, 2, 2}},
    {"DataType", "kFP4", {-1, -1, -1, 10, 10}},
    {"DataType", "kE8M0", {-1, -1, -1, 11, 11}},
};

static const struct {
    enum data_type type;
    const char *name;
} data_type_names[] = {
    {DATA_FLOAT32, "kFLOAT"},    {DATA_FLOAT16, "kHALF"}, {DATA_INT8, "kINT8"},      {DATA_INT32, "kINT32"},
    {DATA_BOOL, "kBOOL"},        {DATA_UINT8, "kUINT8"},  {DATA_BFLOAT16, "kBF16"},  {DATA_INT64, "kINT64"},
    {DATA_FLOAT8E4M3FN, "kFP8"}, {DATA_INT4, "kINT4"},    {DATA_FLOAT4E2M1, "kFP4"},
};

/* The folder that the library lies in. */
static const char *find_release_name(void)
{
    static char name[32];
    const char *named = getenv("TENSORRT_STAND_IN_RELEASE");
    Dl_info info;
    const char *end, *start;

    if (named != NULL)
        return named;
    if (dladdr(releases, &info) == 0 || (end = strrchr(info.dli_fname, '/')) == NULL)
        return "";
    for (start = end; start > info.dli_fname && start[-1] != '/';)
        start--;
    snprintf(name, sizeof(name), "%.*s", (int)(end - start), start);
    return name;
}

const struct release *release_get(void)
{
    static const struct release *release;
    const char *name;

    if (release != NULL)
        return release;
    name = find_release_name();
    for (size_t i = 0; i < ARRAY_LEN(releases); i++)
        if (strcmp(releases[i].name, name) == 0)
            release = &releases[i];
    if (release == NULL) {
        fprintf(stderr, "the stand-in for TensorRT does not know the release '%s'\n", name);
        exit(1);
    }
    return release;
}

static size_t column_of_release(void)
{
    static const int first[VALUE_COLUMNS] = {0, 900, 1000, 1008, 1100};
    size_t column = VALUE_COLUMNS - 1;

    while (release_before(first[column]))
        column--;
    return column;
}

int32_t enum_value(const char *type, const char *name)
{
    const char *altered = getenv("TENSORRT_STAND_IN_ALTERED");
    char both[80];

    snprintf(both, sizeof(both), "%s.%s", type, name);
    for (size_t i = 0; i < ARRAY_LEN(enum_rows); i++)
        if (strcmp(enum_rows[i].type, type) == 0 && strcmp(enum_rows[i].name, name) == 0)
            return enum_rows[i].values[column_of_release()] + (altered != NULL && strcmp(altered, both) == 0);
    fprintf(stderr, "the stand-in for TensorRT has no value of %s\n", both);
    abort();
}

const char *enum_name(const char *type, int32_t value)
{
    for (size_t i = 0; i < ARRAY_LEN(enum_rows); i++)
        if (strcmp(enum_rows[i].type, type) == 0 && value >= 0 && enum_value(type, enum_rows[i].name) == value)
            return enum_rows[i].name;
    return NULL;
}

int32_t enum_of_data_type(enum data_type type)
{
    for (size_t i = 0; i < ARRAY_LEN(data_type_names); i++)
        if (data_type_names[i].type == type)
            return enum_value("DataType", data_type_names[i].name);
    return -1;
}

enum data_type data_type_of_enum(int32_t value)
{
    for (size_t i = 0; i < ARRAY_LEN(data_type_names); i++)
        if (value >= 0 && enum_value("DataType", data_type_names[i].name) == value)
            return data_type_names[i].type;
    return DATA_UNDEFINED;
}
