/* backend/tensorrt/abi/methods.h: the methods of TensorRT's classes that this program calls.
 *
 * TensorRT's C++ headers are inline wrappers: an object is {vptr, implementation}, and each method calls one virtual
 * function of the implementation (class V...). Its number, the slot, depends on the release (slots_8.c, slots_10.c,
 * slots_11.c, slots_rtx.c). IParser and IParserError are pure interfaces: their own vptr has the functions.
 *
 * Up to 9 VOptimizationProfile::setDimensions takes Dims by value, which is setDimensionsByValue here.
 *
 * Each line: class, method, result, and parameters behind `self`. Enums are int32_t, references are pointers, and so
 * are objects. A method that takes fewer arguments in some releases ignores the rest.
 */
#ifndef BACKEND_TENSORRT_ABI_METHODS_H
#define BACKEND_TENSORRT_ABI_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Dims: sizes of 32 bits up to TensorRT 9, of 64 bits from 10 on. */
struct tensorrt_narrow_dims {
    int32_t count, sizes[8];
};

union tensorrt_dims {
    struct tensorrt_narrow_dims narrow;
    struct {
        int32_t count;
        int64_t sizes[8];
    } wide;
};

/* clang-format off */
#define TENSORRT_METHOD_LIST(METHOD) \
    METHOD(VBuilder, createBuilderConfig, void *, (void *self)) \
    METHOD(VBuilder, createNetworkV2, void *, (void *self, uint32_t flags)) \
    METHOD(VBuilder, createOptimizationProfile, void *, (void *self)) \
    METHOD(VBuilder, setErrorRecorder, void, (void *self, void *recorder)) \
    METHOD(VBuilder, buildSerializedNetwork, void *, (void *self, void *network, void *config)) \
    METHOD(VBuilderConfig, setEngineCapability, void, (void *self, int32_t capability)) \
    METHOD(VBuilderConfig, setInt8Calibrator, void, (void *self, void *calibrator)) \
    METHOD(VBuilderConfig, setFlag, void, (void *self, int32_t flag)) \
    METHOD(VBuilderConfig, clearFlag, void, (void *self, int32_t flag)) \
    METHOD(VBuilderConfig, getFlag, bool, (void *self, int32_t flag)) \
    METHOD(VBuilderConfig, setDLACore, void, (void *self, int32_t core)) \
    METHOD(VBuilderConfig, setDefaultDeviceType, void, (void *self, int32_t type)) \
    METHOD(VBuilderConfig, addOptimizationProfile, int32_t, (void *self, void *profile)) \
    METHOD(VBuilderConfig, setProfilingVerbosity, void, (void *self, int32_t verbosity)) \
    METHOD(VBuilderConfig, setAlgorithmSelector, void, (void *self, void *selector)) \
    METHOD(VBuilderConfig, setTacticSources, bool, (void *self, uint32_t sources)) \
    METHOD(VBuilderConfig, createTimingCache, void *, (void *self, const void *blob, size_t size)) \
    METHOD(VBuilderConfig, setTimingCache, bool, (void *self, void *cache, bool ignore_mismatch)) \
    METHOD(VBuilderConfig, getTimingCache, void *, (void *self)) \
    METHOD(VBuilderConfig, setQuantizationFlag, void, (void *self, int32_t flag)) \
    METHOD(VBuilderConfig, setMemoryPoolLimit, void, (void *self, int32_t pool, size_t size)) \
    METHOD(VBuilderConfig, getMemoryPoolLimit, size_t, (void *self, int32_t pool)) \
    METHOD(VBuilderConfig, setPreviewFeature, void, (void *self, int32_t feature, bool enable)) \
    METHOD(VBuilderConfig, getPreviewFeature, bool, (void *self, int32_t feature)) \
    METHOD(VBuilderConfig, setCalibrationProfile, bool, (void *self, void *profile)) \
    METHOD(VBuilderConfig, setBuilderOptimizationLevel, void, (void *self, int32_t level)) \
    METHOD(VBuilderConfig, setHardwareCompatibilityLevel, void, (void *self, int32_t level)) \
    METHOD(VBuilderConfig, setMaxAuxStreams, void, (void *self, int32_t count)) \
    METHOD(VBuilderConfig, getMaxAuxStreams, int32_t, (void *self)) \
    METHOD(VBuilderConfig, setProgressMonitor, void, (void *self, void *monitor)) \
    METHOD(VBuilderConfig, setRuntimePlatform, void, (void *self, int32_t platform)) \
    METHOD(VBuilderConfig, setTilingOptimizationLevel, bool, (void *self, int32_t level)) \
    METHOD(VBuilderConfig, setBuildRoute, bool, (void *self, const char *route)) \
    METHOD(VBuilderConfig, getAllBuildRoutes, const char *, (void *self)) \
    METHOD(VNetworkDefinition, markOutput, void, (void *self, void *tensor)) \
    METHOD(VNetworkDefinition, getNbLayers, int32_t, (void *self)) \
    METHOD(VNetworkDefinition, getLayer, void *, (void *self, int32_t index)) \
    METHOD(VNetworkDefinition, getNbInputs, int32_t, (void *self)) \
    METHOD(VNetworkDefinition, getInput, void *, (void *self, int32_t index)) \
    METHOD(VNetworkDefinition, getNbOutputs, int32_t, (void *self)) \
    METHOD(VNetworkDefinition, getOutput, void *, (void *self, int32_t index)) \
    METHOD(VNetworkDefinition, unmarkOutput, void, (void *self, void *tensor)) \
    METHOD(VNetworkDefinition, markDebug, bool, (void *self, void *tensor)) \
    METHOD(VNetworkDefinition, markUnfusedTensorsAsDebugTensors, bool, (void *self)) \
    METHOD(VTensor, getName, const char *, (void *self)) \
    METHOD(VTensor, getDimensions, union tensorrt_dims, (void *self)) \
    METHOD(VTensor, setType, void, (void *self, int32_t type)) \
    METHOD(VTensor, getType, int32_t, (void *self)) \
    METHOD(VTensor, isNetworkInput, bool, (void *self)) \
    METHOD(VTensor, isNetworkOutput, bool, (void *self)) \
    METHOD(VTensor, setAllowedFormats, void, (void *self, uint32_t formats)) \
    METHOD(VTensor, isShapeTensor, bool, (void *self)) \
    METHOD(VTensor, isExecutionTensor, bool, (void *self)) \
    METHOD(VLayer, getType, int32_t, (void *self)) \
    METHOD(VLayer, getName, const char *, (void *self)) \
    METHOD(VLayer, getNbInputs, int32_t, (void *self)) \
    METHOD(VLayer, getInput, void *, (void *self, int32_t index)) \
    METHOD(VLayer, getNbOutputs, int32_t, (void *self)) \
    METHOD(VLayer, getOutput, void *, (void *self, int32_t index)) \
    METHOD(VLayer, setPrecision, void, (void *self, int32_t type)) \
    METHOD(VLayer, getMetadata, const char *, (void *self)) \
    METHOD(VOptimizationProfile, setDimensionsByValue, bool, \
           (void *self, const char *input, int32_t select, struct tensorrt_narrow_dims dims)) \
    METHOD(VOptimizationProfile, setDimensions, bool, \
           (void *self, const char *input, int32_t select, const union tensorrt_dims *dims)) \
    METHOD(VOptimizationProfile, setShapeValues, bool, \
           (void *self, const char *input, int32_t select, const int32_t *values, int32_t count)) \
    METHOD(VOptimizationProfile, setShapeValuesV2, bool, \
           (void *self, const char *input, int32_t select, const int64_t *values, int32_t count)) \
    METHOD(VHostMemory, data, void *, (void *self)) \
    METHOD(VHostMemory, size, size_t, (void *self)) \
    METHOD(VTimingCache, serialize, void *, (void *self)) \
    METHOD(VTimingCache, combine, bool, (void *self, void *other, bool ignore_mismatch)) \
    METHOD(VRuntime, deserializeCudaEngine, void *, (void *self, const void *blob, size_t size, void *none)) \
    METHOD(VRuntime, setDLACore, void, (void *self, int32_t core)) \
    METHOD(VRuntime, setErrorRecorder, void, (void *self, void *recorder)) \
    METHOD(VRuntime, loadRuntime, void *, (void *self, const char *path)) \
    METHOD(VRuntime, setEngineHostCodeAllowed, void, (void *self, bool allowed)) \
    METHOD(VCudaEngine, createExecutionContext, void *, (void *self, int32_t strategy)) \
    METHOD(VCudaEngine, getNbOptimizationProfiles, int32_t, (void *self)) \
    METHOD(VCudaEngine, createEngineInspector, void *, (void *self)) \
    METHOD(VCudaEngine, getTensorShape, union tensorrt_dims, (void *self, const char *tensor)) \
    METHOD(VCudaEngine, getTensorDataType, int32_t, (void *self, const char *tensor)) \
    METHOD(VCudaEngine, getTensorLocation, int32_t, (void *self, const char *tensor)) \
    METHOD(VCudaEngine, isShapeInferenceIO, bool, (void *self, const char *tensor)) \
    METHOD(VCudaEngine, getTensorIOMode, int32_t, (void *self, const char *tensor)) \
    METHOD(VCudaEngine, getTensorFormat, int32_t, (void *self, const char *tensor)) \
    METHOD(VCudaEngine, getProfileShape, union tensorrt_dims, \
           (void *self, const char *tensor, int32_t profile, int32_t select)) \
    METHOD(VCudaEngine, getNbIOTensors, int32_t, (void *self)) \
    METHOD(VCudaEngine, getIOTensorName, const char *, (void *self, int32_t index)) \
    METHOD(VCudaEngine, getStreamableWeightsSize, int64_t, (void *self)) \
    METHOD(VCudaEngine, setWeightStreamingBudget, bool, (void *self, int64_t bytes)) \
    METHOD(VCudaEngine, getMinimumWeightStreamingBudget, int64_t, (void *self)) \
    METHOD(VCudaEngine, setWeightStreamingBudgetV2, bool, (void *self, int64_t bytes)) \
    METHOD(VCudaEngine, getWeightStreamingAutomaticBudget, int64_t, (void *self)) \
    METHOD(VCudaEngine, isRefittable, bool, (void *self)) \
    METHOD(VRefitter, refitCudaEngine, bool, (void *self)) \
    METHOD(VRefitter, setErrorRecorder, void, (void *self, void *recorder)) \
    METHOD(VRefitter, getMissingWeights, int32_t, (void *self, int32_t most, const char **names)) \
    METHOD(VExecutionContext, setProfiler, void, (void *self, void *profiler)) \
    METHOD(VExecutionContext, setOptimizationProfileAsync, bool, (void *self, int32_t index, void *stream)) \
    METHOD(VExecutionContext, setEnqueueEmitsProfile, void, (void *self, bool emits)) \
    METHOD(VExecutionContext, reportToProfiler, bool, (void *self)) \
    METHOD(VExecutionContext, setInputShape, bool, (void *self, const char *tensor, const union tensorrt_dims *dims)) \
    METHOD(VExecutionContext, getTensorShape, union tensorrt_dims, (void *self, const char *tensor)) \
    METHOD(VExecutionContext, setTensorAddress, bool, (void *self, const char *tensor, void *data)) \
    METHOD(VExecutionContext, inferShapes, int32_t, (void *self, int32_t most, const char **missing)) \
    METHOD(VExecutionContext, setOutputAllocator, bool, (void *self, const char *tensor, void *allocator)) \
    METHOD(VExecutionContext, enqueueV3, bool, (void *self, void *stream)) \
    METHOD(VExecutionContext, setDeviceMemory, void, (void *self, void *memory)) \
    METHOD(VExecutionContext, updateDeviceMemorySizeForShapes, int64_t, (void *self)) \
    METHOD(VExecutionContext, setDeviceMemoryV2, void, (void *self, void *memory, int64_t size)) \
    METHOD(VExecutionContext, setDebugListener, bool, (void *self, void *listener)) \
    METHOD(VExecutionContext, setAllTensorsDebugState, bool, (void *self, bool on)) \
    METHOD(VExecutionContext, setUnfusedTensorsDebugState, bool, (void *self, bool on)) \
    METHOD(VEngineInspector, getEngineInformation, const char *, (void *self, int32_t format)) \
    METHOD(VAlgorithm, getAlgorithmVariant, void *, (void *self)) \
    METHOD(VAlgorithm, getTimingMSec, float, (void *self)) \
    METHOD(VAlgorithm, getAlgorithmIOInfoByIndex, void *, (void *self, int32_t index)) \
    METHOD(VAlgorithmContext, getName, const char *, (void *self)) \
    METHOD(VAlgorithmContext, getNbInputs, int32_t, (void *self)) \
    METHOD(VAlgorithmContext, getNbOutputs, int32_t, (void *self)) \
    METHOD(VAlgorithmIOInfo, getDataType, int32_t, (void *self)) \
    METHOD(VAlgorithmIOInfo, getStrides, union tensorrt_dims, (void *self)) \
    METHOD(VAlgorithmIOInfo, getVectorizedDim, int64_t, (void *self)) \
    METHOD(VAlgorithmIOInfo, getComponentsPerElement, int64_t, (void *self)) \
    METHOD(VAlgorithmVariant, getImplementation, int64_t, (void *self)) \
    METHOD(VAlgorithmVariant, getTactic, int64_t, (void *self)) \
    METHOD(IParser, parse, bool, (void *self, const void *model, size_t size, const char *path)) \
    METHOD(IParser, parseFromFile, bool, (void *self, const char *path, int32_t verbosity)) \
    METHOD(IParser, supportsOperator, bool, (void *self, const char *name)) \
    METHOD(IParser, getNbErrors, int32_t, (void *self)) \
    METHOD(IParser, getError, void *, (void *self, int32_t index)) \
    METHOD(IParser, destructor, void, (void *self)) \
    METHOD(IParser, clearFlag, void, (void *self, int32_t flag)) \
    METHOD(IParser, setFlag, void, (void *self, int32_t flag)) \
    METHOD(IParser, getFlag, bool, (void *self, int32_t flag)) \
    METHOD(IParser, supportsModelV2, bool, (void *self, const void *model, size_t size, const char *path)) \
    METHOD(IParser, getNbSubgraphs, int64_t, (void *self)) \
    METHOD(IParser, isSubgraphSupported, bool, (void *self, int64_t index)) \
    METHOD(IParser, getSubgraphNodes, int64_t *, (void *self, int64_t index, int64_t *count)) \
    METHOD(IParserRefitter, refitFromBytes, bool, (void *self, const void *model, size_t size, const char *path)) \
    METHOD(IParserRefitter, refitFromFile, bool, (void *self, const char *path)) \
    METHOD(IParserRefitter, getNbErrors, int32_t, (void *self)) \
    METHOD(IParserRefitter, getError, void *, (void *self, int32_t index)) \
    METHOD(IParserRefitter, destructor, void, (void *self)) \
    METHOD(IParserError, code, int32_t, (void *self)) \
    METHOD(IParserError, desc, const char *, (void *self)) \
    METHOD(IParserError, file, const char *, (void *self)) \
    METHOD(IParserError, line, int32_t, (void *self)) \
    METHOD(IParserError, func, const char *, (void *self)) \
    METHOD(IParserError, node, int32_t, (void *self)) \
    METHOD(IParserError, nodeName, const char *, (void *self)) \
    METHOD(IParserError, nodeOperator, const char *, (void *self)) \
    METHOD(IParserError, localFunctionStack, const char *const *, (void *self)) \
    METHOD(IParserError, localFunctionStackSize, int32_t, (void *self))
/* clang-format on */

/* The name of a method as a constant: TENSORRT_VBuilder_createNetworkV2. */
#define TENSORRT_METHOD(class, method) TENSORRT_##class##_##method

#define TENSORRT_METHOD_CONSTANT(class, method, result, parameters) TENSORRT_METHOD(class, method),
enum tensorrt_method { TENSORRT_METHOD_LIST(TENSORRT_METHOD_CONSTANT) TENSORRT_METHODS };
#undef TENSORRT_METHOD_CONSTANT

/* Classes without an implementation pointer come last. */
#define TENSORRT_FIRST_INTERFACE TENSORRT_METHOD(IParser, parse)

#define TENSORRT_METHOD_TYPE(class, method, result, parameters) typedef result tensorrt_##class##_##method parameters;
TENSORRT_METHOD_LIST(TENSORRT_METHOD_TYPE)
#undef TENSORRT_METHOD_TYPE

#endif
