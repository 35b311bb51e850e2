/* tests/programs/trtexec_stand_in/options.c: which options each version has, and how a command line is read. */
#define _GNU_SOURCE /* strsep */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "programs/trtexec_stand_in/stand_in.h"
#include "tensor/values/tensor.h"

enum option_kind { FLAG, VALUE, MANY /* may be repeated */ };

static const struct {
    const char *name;
    int versions;
    enum option_kind kind;
} table[] = {
    {"accuracyAlgorithm", V111, VALUE},
    {"accuracyThreshold", V111, VALUE},
    {"adjustForDLA", SINCE_10, FLAG},
    {"allocationStrategy", SINCE_10, VALUE},
    {"allowGPUFallback", ALL, FLAG},
    {"allowWeightStreaming", SINCE_10, FLAG},
    {"asyncFileReader", SINCE_10, FLAG},
    {"atol", V111, VALUE},
    {"avgRuns", ALL, VALUE},
    {"avgTiming", ALL, VALUE},
    {"batch", V8, VALUE},
    {"best", UNTIL_10, FLAG},
    {"bf16", V10, FLAG},
    {"buildDLAStandalone", ALL, FLAG},
    {"builderOptimizationLevel", ALL, VALUE},
    {"buildOnly", V8, FLAG},
    {"calib", UNTIL_10, VALUE},
    {"calibProfile", V10, VALUE},
    {"consistency", SINCE_10, VALUE},
    {"continue", V111, FLAG},
    {"cpuOnly", SINCE_10, FLAG},
    {"decomposableAttentions", SINCE_10, VALUE},
    {"deploy", V8, VALUE},
    {"device", ALL, VALUE},
    {"directIO", ALL, FLAG},
    {"dryRun", V111, FLAG},
    {"dumpKernelText", SINCE_10, FLAG},
    {"dumpLayerInfo", ALL, FLAG},
    {"dumpOptimizationProfile", SINCE_10, FLAG},
    {"dumpOutput", ALL, FLAG},
    {"dumpProfile", ALL, FLAG},
    {"dumpRawBindingsToFile", ALL, FLAG},
    {"dumpRefit", ALL, FLAG},
    {"duration", ALL, VALUE},
    {"dynamicPlugins", ALL, MANY},
    {"enablePluginOverride", SINCE_10, FLAG},
    {"errorOnTimingCacheMiss", SINCE_10, FLAG},
    {"excludeLeanRuntime", ALL, FLAG},
    {"explicitBatch", V8, FLAG},
    {"exportLayerInfo", ALL, VALUE},
    {"exportOutput", ALL, VALUE},
    {"exportProfile", ALL, VALUE},
    {"exportTimes", ALL, VALUE},
    {"exposeDMA", ALL, FLAG},
    {"fp16", UNTIL_10, FLAG},
    {"fp8", UNTIL_10, FLAG},
    {"getPlanVersionOnly", SINCE_10, FLAG},
    {"hardwareCompatibilityLevel", ALL, VALUE},
    {"help", ALL, FLAG},
    {"helpBuildRoute", V111, VALUE},
    {"heuristic", V8, FLAG},
    {"idleTime", ALL, VALUE},
    {"ignoreParsedPluginLibs", ALL, FLAG},
    {"includeDataTransfers", SINCE_11, FLAG},
    {"infStreams", ALL, VALUE},
    {"inputIOFormats", ALL, VALUE},
    {"int4", V10, FLAG},
    {"int8", UNTIL_10, FLAG},
    {"iterations", ALL, VALUE},
    {"l2LimitForTiling", SINCE_10, VALUE},
    {"layerDeviceTypes", ALL, VALUE},
    {"layerOutputTypes", UNTIL_10, VALUE},
    {"layerPrecisions", UNTIL_10, VALUE},
    {"leanDLLPath", ALL, VALUE},
    {"loadEngine", ALL, VALUE},
    {"loadInputs", ALL, MANY},
    {"loadRefOutputs", V111, MANY},
    {"markDebug", SINCE_10, VALUE},
    {"markUnfusedTensorsAsDebugTensors", SINCE_10, FLAG},
    {"maxAuxStreams", ALL, VALUE},
    {"maxBatch", V8, VALUE},
    {"maxShapes", ALL, MANY},
    {"maxShapesCalib", UNTIL_10, VALUE},
    {"maxTactics", SINCE_10, VALUE},
    {"memPoolSize", ALL, VALUE},
    {"minShapes", ALL, MANY},
    {"minShapesCalib", UNTIL_10, VALUE},
    {"minTiming", V8, VALUE},
    {"model", V8, VALUE},
    {"monitorMemory", SINCE_10, FLAG},
    {"noBuilderCache", ALL, FLAG},
    {"noCompilationCache", SINCE_10, FLAG},
    {"noCudaGraph", SINCE_11, FLAG},
    {"noDataTransfers", ALL, FLAG},
    {"noSpinWait", SINCE_11, FLAG},
    {"noTF32", ALL, FLAG},
    {"nvtxMode", V8, VALUE},
    {"onnx", ALL, VALUE},
    {"optShapes", ALL, MANY},
    {"optShapesCalib", UNTIL_10, VALUE},
    {"output", V8, VALUE},
    {"outputIOFormats", ALL, VALUE},
    {"percentile", ALL, VALUE},
    {"persistentCacheRatio", ALL, VALUE},
    {"pluginInstanceNorm", ALL, FLAG},
    {"plugins", V8, MANY},
    {"precisionConstraints", UNTIL_10, VALUE},
    {"preview", ALL, VALUE},
    {"profile", SINCE_10, MANY},
    {"profilingVerbosity", ALL, VALUE},
    {"refit", ALL, FLAG},
    {"refitFromOnnx", SINCE_10, FLAG},
    {"refPair", V111, MANY},
    {"remoteAutoTuningConfig", SINCE_10, VALUE},
    {"reportCapabilityDLA", SINCE_10, FLAG},
    {"restricted", UNTIL_10, FLAG},
    {"rtol", V111, VALUE},
    {"runtimePlatform", SINCE_10, VALUE},
    {"safe", ALL, FLAG},
    {"safetyPlugins", SINCE_10, VALUE},
    {"saveAllDebugTensors", SINCE_10, VALUE},
    {"saveAllEngines", V111, FLAG},
    {"saveDebugTensors", SINCE_10, VALUE},
    {"saveEngine", ALL, VALUE},
    {"separateProfileRun", ALL, FLAG},
    {"setBuildRoute", V111, VALUE},
    {"setPluginsToSerialize", ALL, MANY},
    {"shapes", ALL, VALUE},
    {"skipInference", ALL, FLAG},
    {"sleepTime", ALL, VALUE},
    {"sparsity", ALL, VALUE},
    {"staticPlugins", ALL, MANY},
    {"stripAllWeights", SINCE_10, FLAG},
    {"stripWeights", SINCE_10, FLAG},
    {"stronglyTyped", SINCE_10, FLAG},
    {"tacticSources", ALL, VALUE},
    {"tempdir", ALL, VALUE},
    {"tempfileControls", ALL, VALUE},
    {"threads", ALL, FLAG},
    {"tilingOptimizationLevel", SINCE_10, VALUE},
    {"timeDeserialize", ALL, FLAG},
    {"timeRefit", ALL, FLAG},
    {"timingCacheFile", ALL, VALUE},
    {"tuneBuildRouteFile", V111, VALUE},
    {"tuneBuildRoutes", V111, VALUE},
    {"tuningCacheFile", V111, VALUE},
    {"tuningSearch", V111, VALUE},
    {"tuningTimeOut", V111, VALUE},
    {"uff", V8, VALUE},
    {"uffInput", V8, VALUE},
    {"uffNHWC", V8, FLAG},
    {"uint8AsymmetricQuantizationDLA", SINCE_10, FLAG},
    {"useCudaGraph", ALL, FLAG},
    {"useDLACore", ALL, VALUE},
    {"useManagedMemory", ALL, FLAG},
    {"useProfile", SINCE_10, VALUE},
    {"useRuntime", ALL, VALUE},
    {"useSpinWait", ALL, FLAG},
    {"verbose", ALL, FLAG},
    {"versionCompatible", ALL, FLAG},
    {"warmUp", ALL, VALUE},
    {"weightless", V10, FLAG},
    {"weightStreamingBudget", SINCE_10, VALUE},
    {"workspace", V8, VALUE},
};

static const char *full_name(const char *name)
{
    if (strcmp(name, "vc") == 0)
        return "versionCompatible";
    if (strcmp(name, "pi") == 0)
        return "pluginInstanceNorm";
    return strcmp(name, "h") == 0 ? "help" : name;
}

static size_t find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (strcmp(table[i].name, name) == 0 && (table[i].versions & (int)stand_in.version) != 0)
            return i;
    return ARRAY_LEN(table);
}

const char *option(const char *name)
{
    for (size_t i = 0; i < stand_in.argument_count; i++)
        if (stand_in.arguments[i].known && strcmp(stand_in.arguments[i].name, name) == 0)
            return stand_in.arguments[i].value;
    return NULL;
}

bool given(const char *name)
{
    return option(name) != NULL;
}

long option_number(const char *name, long otherwise)
{
    const char *value = option(name);

    return value != NULL ? strtol(value, NULL, 10) : otherwise;
}

/* "--name=value", split at the first '='. What is no option of this version, or is there a second time, stays unknown.
 */
bool options_read(int argc, char **argv)
{
    bool fine = true;

    stand_in.arguments = memory_alloc_zero((size_t)argc, sizeof(*stand_in.arguments));
    for (int i = 1; i < argc; i++) {
        char *copy = memory_strdup(argv[i]), *equals = strchr(copy, '=');
        struct argument *argument = &stand_in.arguments[stand_in.argument_count];
        size_t row;

        if (equals != NULL)
            *equals = '\0';
        argument->name = full_name(strncmp(copy, "--", 2) == 0 ? copy + 2 : copy[0] == '-' ? copy + 1 : copy);
        argument->value = equals != NULL ? equals + 1 : "";
        row = copy[0] == '-' ? find(argument->name) : ARRAY_LEN(table);
        argument->known = row < ARRAY_LEN(table) && (table[row].kind == MANY || !given(argument->name));
        stand_in.argument_count++;
    }
    for (size_t i = 0; i < stand_in.argument_count; i++)
        if (!stand_in.arguments[i].known) {
            say('E', "Unknown option: --%s %s", stand_in.arguments[i].name, stand_in.arguments[i].value);
            fine = false;
        }
    return fine;
}

void options_help(void)
{
    puts("=== Options ===");
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if ((table[i].versions & (int)stand_in.version) != 0)
            printf("  --%s%s\n", table[i].name, table[i].kind == FLAG ? "" : "=<value>");
    puts("  --vc                        Alias of --versionCompatible");
    if (stand_in.version != V8)
        puts("  --pi                        Alias of --pluginInstanceNorm");
}

/* Nothing can be escaped: a comma always ends a pair. */
static void add_pair(struct pairs *pairs, char *item)
{
    char *quote = item[0] == '\'' ? strchr(item + 1, '\'') : NULL, *colon;
    struct pair *pair = VECTOR_APPEND(pairs);

    if (quote != NULL && quote[1] == ':') {
        *quote = '\0';
        *pair = (struct pair){item + 1, quote + 2};
        return;
    }
    colon = strrchr(item, ':');
    *pair = (struct pair){item, colon != NULL ? colon + 1 : (char *)""};
    if (colon != NULL)
        *colon = '\0';
}

struct pairs pairs_of(const char *value)
{
    struct pairs pairs = {0};
    char *rest = memory_strdup(value), *item;

    while ((item = strsep(&rest, ",")) != NULL)
        if (item[0] != '\0')
            add_pair(&pairs, item);
    return pairs;
}

struct pairs option_pairs(const char *name)
{
    const char *value = option(name);

    return value != NULL ? pairs_of(value) : (struct pairs){0};
}

const char *pairs_find(const struct pairs *pairs, const char *name)
{
    for (size_t i = 0; i < pairs->count; i++)
        if (strcmp(pairs->items[i].name, name) == 0)
            return pairs->items[i].value;
    return NULL;
}

struct shape shape_of_text(const char *text)
{
    struct shape shape = {0};

    while (*text >= '0' && *text <= '9' && shape.rank < TENSOR_MAX_RANK) {
        char *end;

        shape.dims[shape.rank++] = strtoll(text, &end, 10);
        text = *end == 'x' ? end + 1 : end;
    }
    return shape;
}
