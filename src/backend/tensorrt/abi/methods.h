/* backend/tensorrt/abi/methods.h: the methods of TensorRT's classes that this program calls, and their slots.
 *
 * The module backend/tensorrt/abi/ holds facts about TensorRT's binary interface (Itanium C++ ABI, x86-64 and aarch64):
 * methods.h the methods that are called, values.h the values of enums. Both move between major releases. They were read
 * off NVIDIA's headers of 23 releases, and those of TensorRT-RTX off the library itself: from the names in its error
 * messages, and by calling it. It uses libc only.
 *
 * TensorRT's C++ headers are inline wrappers: an object is {vptr, implementation}, and each method calls one virtual
 * function of the implementation (class V...). Its number, the slot, depends on the release and counts from 0 with both
 * destructors. IParser and IParserError are pure interfaces: their own vptr has the functions.
 *
 * Up to 9 VOptimizationProfile::setDimensions takes Dims by value, which is setDimensionsByValue here.
 *
 * Each line: class, method, slots, result, and parameters behind `self`. Slots are those of enum tensorrt_series in
 * its order, -1 where the releases do not have the method; SLOTS_SINCE() begins with the release that brought it.
 * Enums are int32_t, references are pointers, and so are objects. A method that takes fewer arguments in some releases
 * ignores the rest.
 */
#ifndef BACKEND_TENSORRT_ABI_METHODS_H
#define BACKEND_TENSORRT_ABI_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Releases with the same slots and values. */
enum tensorrt_series {
    TENSORRT_SERIES_8, /* 8.6 to 9.3 */
    TENSORRT_SERIES_10,
    TENSORRT_SERIES_11,
    TENSORRT_SERIES_RTX, /* TensorRT-RTX 1.7; another minor release has other slots (1.4 crashes with these) */
    TENSORRT_SERIES_COUNT,
};

#define TENSORRT_RELEASE(major, minor) ((major)*100 + (minor))

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
#define SLOTS(...) 1, {__VA_ARGS__}
#define SLOTS_SINCE(major, minor, ...) TENSORRT_RELEASE(major, minor), {__VA_ARGS__}
#define TENSORRT_METHOD_LIST(METHOD) \
    METHOD(VAttention, setDecomposable, SLOTS_SINCE(10, 14, -1, 15, 15, -1), bool, (void *self, bool decomposable)) \
    METHOD(VAttentionBoundaryLayer, getAttention, SLOTS_SINCE(10, 14, -1, 2, 2, -1), void *, (void *self)) \
    METHOD(VBuilder, createBuilderConfig, SLOTS(9, 7, 5, 5), void *, (void *self)) \
    METHOD(VBuilder, createNetworkV2, SLOTS(11, 8, 6, 6), void *, (void *self, uint32_t flags)) \
    METHOD(VBuilder, createOptimizationProfile, SLOTS(12, 9, 7, 7), void *, (void *self)) \
    METHOD(VBuilder, setErrorRecorder, SLOTS(13, 10, 8, 8), void, (void *self, void *recorder)) \
    METHOD(VBuilder, buildSerializedNetwork, SLOTS(17, 14, 11, 11), void *, (void *self, void *network, void *config)) \
    METHOD(VBuilderConfig, setEngineCapability, SLOTS(6, 4, 4, 4), void, (void *self, int32_t capability)) \
    METHOD(VBuilderConfig, setInt8Calibrator, SLOTS(8, 6, -1, -1), void, (void *self, void *calibrator)) \
    METHOD(VBuilderConfig, setFlag, SLOTS(15, 11, 9, 9), void, (void *self, int32_t flag)) \
    METHOD(VBuilderConfig, clearFlag, SLOTS(14, 10, 8, 8), void, (void *self, int32_t flag)) \
    METHOD(VBuilderConfig, getFlag, SLOTS(16, 12, 10, 10), bool, (void *self, int32_t flag)) \
    METHOD(VBuilderConfig, setDLACore, SLOTS(22, 18, 16, -1), void, (void *self, int32_t core)) \
    METHOD(VBuilderConfig, setDefaultDeviceType, SLOTS(24, 20, 18, 18), void, (void *self, int32_t type)) \
    METHOD(VBuilderConfig, addOptimizationProfile, SLOTS(29, 25, 23, 23), int32_t, (void *self, void *profile)) \
    METHOD(VBuilderConfig, setProfilingVerbosity, SLOTS(31, 27, 25, 25), void, (void *self, int32_t verbosity)) \
    METHOD(VBuilderConfig, setAlgorithmSelector, SLOTS(33, 29, -1, -1), void, (void *self, void *selector)) \
    METHOD(VBuilderConfig, setTacticSources, SLOTS(42, 38, 27, 27), bool, (void *self, uint32_t sources)) \
    METHOD(VBuilderConfig, createTimingCache, SLOTS(44, 40, 29, 29), void *, \
           (void *self, const void *blob, size_t size)) \
    METHOD(VBuilderConfig, setTimingCache, SLOTS(45, 41, 30, 30), bool, \
           (void *self, void *cache, bool ignore_mismatch)) \
    METHOD(VBuilderConfig, getTimingCache, SLOTS(46, 42, 31, 31), void *, (void *self)) \
    METHOD(VBuilderConfig, setQuantizationFlag, SLOTS(40, 36, -1, -1), void, (void *self, int32_t flag)) \
    METHOD(VBuilderConfig, setMemoryPoolLimit, SLOTS(47, 43, 32, 32), void, (void *self, int32_t pool, size_t size)) \
    METHOD(VBuilderConfig, getMemoryPoolLimit, SLOTS(48, 44, 33, 33), size_t, (void *self, int32_t pool)) \
    METHOD(VBuilderConfig, setPreviewFeature, SLOTS(49, 45, 34, 34), void, (void *self, int32_t feature, bool enable)) \
    METHOD(VBuilderConfig, getPreviewFeature, SLOTS(50, 46, 35, 35), bool, (void *self, int32_t feature)) \
    METHOD(VBuilderConfig, setNbComputeCapabilities, SLOTS(-1, -1, -1, 55), bool, (void *self, int32_t count)) \
    METHOD(VBuilderConfig, setComputeCapability, SLOTS(-1, -1, -1, 57), bool, \
           (void *self, int32_t capability, int32_t index)) \
    METHOD(VBuilderConfig, getComputeCapability, SLOTS(-1, -1, -1, 58), int32_t, (void *self, int32_t index)) \
    METHOD(VBuilderConfig, setCalibrationProfile, SLOTS(35, 31, -1, -1), bool, (void *self, void *profile)) \
    METHOD(VBuilderConfig, setBuilderOptimizationLevel, SLOTS(51, 47, 36, 36), void, (void *self, int32_t level)) \
    METHOD(VBuilderConfig, setHardwareCompatibilityLevel, SLOTS(53, 49, 38, 38), void, (void *self, int32_t level)) \
    METHOD(VBuilderConfig, setMaxAuxStreams, SLOTS(58, 54, 43, 43), void, (void *self, int32_t count)) \
    METHOD(VBuilderConfig, getMaxAuxStreams, SLOTS(59, 55, 44, 44), int32_t, (void *self)) \
    METHOD(VBuilderConfig, setProgressMonitor, SLOTS_SINCE(9, 3, 60, 56, 45, -1), void, (void *self, void *monitor)) \
    METHOD(VBuilderConfig, setRuntimePlatform, SLOTS_SINCE(10, 2, -1, 58, 47, 47), void, \
           (void *self, int32_t platform)) \
    METHOD(VBuilderConfig, setTilingOptimizationLevel, SLOTS_SINCE(10, 8, -1, 62, 51, 51), bool, \
           (void *self, int32_t level)) \
    METHOD(VBuilderConfig, setBuildRoute, SLOTS_SINCE(11, 1, -1, -1, 57, 59), bool, (void *self, const char *route)) \
    METHOD(VBuilderConfig, getAllBuildRoutes, SLOTS_SINCE(11, 1, -1, -1, 59, -1), const char *, (void *self)) \
    METHOD(VNetworkDefinition, markOutput, SLOTS(3, 3, 3, 3), void, (void *self, void *tensor)) \
    METHOD(VNetworkDefinition, getNbLayers, SLOTS(17, 12, 12, 12), int32_t, (void *self)) \
    METHOD(VNetworkDefinition, getLayer, SLOTS(18, 13, 13, 13), void *, (void *self, int32_t index)) \
    METHOD(VNetworkDefinition, getNbInputs, SLOTS(19, 14, 14, 14), int32_t, (void *self)) \
    METHOD(VNetworkDefinition, getInput, SLOTS(20, 15, 15, 15), void *, (void *self, int32_t index)) \
    METHOD(VNetworkDefinition, getNbOutputs, SLOTS(21, 16, 16, 16), int32_t, (void *self)) \
    METHOD(VNetworkDefinition, getOutput, SLOTS(22, 17, 17, 17), void *, (void *self, int32_t index)) \
    METHOD(VNetworkDefinition, unmarkOutput, SLOTS(32, 26, 26, 26), void, (void *self, void *tensor)) \
    METHOD(VNetworkDefinition, markDebug, SLOTS(-1, 69, 66, 64), bool, (void *self, void *tensor)) \
    METHOD(VNetworkDefinition, markUnfusedTensorsAsDebugTensors, SLOTS_SINCE(10, 12, -1, 79, 76, 74), bool, \
           (void *self)) \
    METHOD(VTensor, getName, SLOTS(3, 3, 3, 3), const char *, (void *self)) \
    METHOD(VTensor, getDimensions, SLOTS(5, 5, 5, 5), union tensorrt_dims, (void *self)) \
    METHOD(VTensor, setType, SLOTS(6, 6, -1, -1), void, (void *self, int32_t type)) \
    METHOD(VTensor, getType, SLOTS(7, 7, 6, 6), int32_t, (void *self)) \
    METHOD(VTensor, isNetworkInput, SLOTS(9, 9, 7, 7), bool, (void *self)) \
    METHOD(VTensor, isNetworkOutput, SLOTS(10, 10, 8, 8), bool, (void *self)) \
    METHOD(VTensor, setAllowedFormats, SLOTS(19, 19, 13, 9), void, (void *self, uint32_t formats)) \
    METHOD(VTensor, isShapeTensor, SLOTS(21, 21, 15, 11), bool, (void *self)) \
    METHOD(VTensor, isExecutionTensor, SLOTS(22, 22, 16, 12), bool, (void *self)) \
    METHOD(VLayer, getType, SLOTS(2, 2, 2, 2), int32_t, (void *self)) \
    METHOD(VLayer, getName, SLOTS(4, 4, 4, 4), const char *, (void *self)) \
    METHOD(VLayer, getNbInputs, SLOTS(5, 5, 5, 5), int32_t, (void *self)) \
    METHOD(VLayer, getInput, SLOTS(6, 6, 6, 6), void *, (void *self, int32_t index)) \
    METHOD(VLayer, getNbOutputs, SLOTS(7, 7, 7, 7), int32_t, (void *self)) \
    METHOD(VLayer, getOutput, SLOTS(8, 8, 8, 8), void *, (void *self, int32_t index)) \
    METHOD(VLayer, setPrecision, SLOTS(10, 10, -1, -1), void, (void *self, int32_t type)) \
    METHOD(VLayer, getMetadata, SLOTS(19, 19, 12, 12), const char *, (void *self)) \
    METHOD(VOptimizationProfile, setDimensionsByValue, SLOTS(2, -1, -1, -1), bool, \
           (void *self, const char *input, int32_t select, struct tensorrt_narrow_dims dims)) \
    METHOD(VOptimizationProfile, setDimensions, SLOTS(-1, 2, 2, 2), bool, \
           (void *self, const char *input, int32_t select, const union tensorrt_dims *dims)) \
    METHOD(VOptimizationProfile, setShapeValues, SLOTS(4, 4, -1, -1), bool, \
           (void *self, const char *input, int32_t select, const int32_t *values, int32_t count)) \
    METHOD(VOptimizationProfile, setShapeValuesV2, SLOTS_SINCE(10, 11, -1, 10, 8, 8), bool, \
           (void *self, const char *input, int32_t select, const int64_t *values, int32_t count)) \
    METHOD(VHostMemory, data, SLOTS(2, 2, 2, 2), void *, (void *self)) \
    METHOD(VHostMemory, size, SLOTS(3, 3, 3, 3), size_t, (void *self)) \
    METHOD(VTimingCache, serialize, SLOTS(2, 2, 2, 2), void *, (void *self)) \
    METHOD(VTimingCache, combine, SLOTS(3, 3, 3, 3), bool, (void *self, void *other, bool ignore_mismatch)) \
    METHOD(VRuntime, deserializeCudaEngine, SLOTS(2, 3, 3, 3), void *, \
           (void *self, const void *blob, size_t size, void *none)) \
    METHOD(VRuntime, setDLACore, SLOTS(3, 5, 4, -1), void, (void *self, int32_t core)) \
    METHOD(VRuntime, setErrorRecorder, SLOTS(7, 9, 8, 8), void, (void *self, void *recorder)) \
    METHOD(VRuntime, loadRuntime, SLOTS(19, 20, 19, 19), void *, (void *self, const char *path)) \
    METHOD(VRuntime, setEngineHostCodeAllowed, SLOTS(20, 21, 20, -1), void, (void *self, bool allowed)) \
    METHOD(VCudaEngine, createExecutionContext, SLOTS(11, 5, 5, 5), void *, (void *self, int32_t strategy)) \
    METHOD(VCudaEngine, getNbOptimizationProfiles, SLOTS(22, 10, 8, 8), int32_t, (void *self)) \
    METHOD(VCudaEngine, createEngineInspector, SLOTS(33, 18, 14, 14), void *, (void *self)) \
    METHOD(VCudaEngine, getTensorShape, SLOTS(34, 19, 15, 15), union tensorrt_dims, (void *self, const char *tensor)) \
    METHOD(VCudaEngine, getTensorDataType, SLOTS(35, 20, 16, 16), int32_t, (void *self, const char *tensor)) \
    METHOD(VCudaEngine, getTensorLocation, SLOTS(36, 21, 17, 17), int32_t, (void *self, const char *tensor)) \
    METHOD(VCudaEngine, isShapeInferenceIO, SLOTS(37, 22, 18, 18), bool, (void *self, const char *tensor)) \
    METHOD(VCudaEngine, getTensorIOMode, SLOTS(38, 23, 19, 19), int32_t, (void *self, const char *tensor)) \
    METHOD(VCudaEngine, getTensorFormat, SLOTS(41, 26, 22, 22), int32_t, (void *self, const char *tensor)) \
    METHOD(VCudaEngine, getProfileShape, SLOTS(44, 29, 25, 25), union tensorrt_dims, \
           (void *self, const char *tensor, int32_t profile, int32_t select)) \
    METHOD(VCudaEngine, getNbIOTensors, SLOTS(45, 30, 26, 26), int32_t, (void *self)) \
    METHOD(VCudaEngine, getIOTensorName, SLOTS(46, 31, 27, 27), const char *, (void *self, int32_t index)) \
    METHOD(VCudaEngine, getStreamableWeightsSize, SLOTS(-1, 46, 38, 38), int64_t, (void *self)) \
    METHOD(VCudaEngine, setWeightStreamingBudget, SLOTS(-1, 43, -1, -1), bool, (void *self, int64_t bytes)) \
    METHOD(VCudaEngine, getMinimumWeightStreamingBudget, SLOTS(-1, 45, -1, -1), int64_t, (void *self)) \
    METHOD(VCudaEngine, setWeightStreamingBudgetV2, SLOTS_SINCE(10, 1, -1, 48, 40, 40), bool, \
           (void *self, int64_t bytes)) \
    METHOD(VCudaEngine, getWeightStreamingAutomaticBudget, SLOTS_SINCE(10, 1, -1, 50, 42, 42), int64_t, (void *self)) \
    METHOD(VCudaEngine, isRefittable, SLOTS(-1, 8, 6, -1), bool, (void *self)) \
    METHOD(VRefitter, refitCudaEngine, SLOTS(-1, 4, 4, -1), bool, (void *self)) \
    METHOD(VRefitter, setErrorRecorder, SLOTS(-1, 11, 7, -1), void, (void *self, void *recorder)) \
    METHOD(VRefitter, getMissingWeights, SLOTS(-1, 14, 10, -1), int32_t, \
           (void *self, int32_t most, const char **names)) \
    METHOD(VExecutionContext, setProfiler, SLOTS(6, 5, 5, 5), void, (void *self, void *profiler)) \
    METHOD(VExecutionContext, setOptimizationProfileAsync, SLOTS(25, 17, 16, 16), bool, \
           (void *self, int32_t index, void *stream)) \
    METHOD(VExecutionContext, setEnqueueEmitsProfile, SLOTS(26, 18, 17, 17), void, (void *self, bool emits)) \
    METHOD(VExecutionContext, reportToProfiler, SLOTS(28, 20, 19, 19), bool, (void *self)) \
    METHOD(VExecutionContext, setInputShape, SLOTS(29, 21, 20, 20), bool, \
           (void *self, const char *tensor, const union tensorrt_dims *dims)) \
    METHOD(VExecutionContext, getTensorShape, SLOTS(30, 22, 21, 21), union tensorrt_dims, \
           (void *self, const char *tensor)) \
    METHOD(VExecutionContext, setTensorAddress, SLOTS(32, 24, 23, 23), bool, \
           (void *self, const char *tensor, void *data)) \
    METHOD(VExecutionContext, inferShapes, SLOTS(35, 28, 27, 27), int32_t, \
           (void *self, int32_t most, const char **missing)) \
    METHOD(VExecutionContext, setOutputAllocator, SLOTS(39, 32, 31, 31), bool, \
           (void *self, const char *tensor, void *allocator)) \
    METHOD(VExecutionContext, enqueueV3, SLOTS(44, 37, 36, 36), bool, (void *self, void *stream)) \
    METHOD(VExecutionContext, setDeviceMemory, SLOTS(11, 10, 10, 10), void, (void *self, void *memory)) \
    METHOD(VExecutionContext, updateDeviceMemorySizeForShapes, SLOTS(-1, 48, 47, 47), int64_t, (void *self)) \
    METHOD(VExecutionContext, setDeviceMemoryV2, SLOTS_SINCE(10, 1, -1, 49, 48, 48), void, \
           (void *self, void *memory, int64_t size)) \
    METHOD(VExecutionContext, setDebugListener, SLOTS(-1, 43, 42, 42), bool, (void *self, void *listener)) \
    METHOD(VExecutionContext, setAllTensorsDebugState, SLOTS(-1, 47, 46, 46), bool, (void *self, bool on)) \
    METHOD(VExecutionContext, setUnfusedTensorsDebugState, SLOTS_SINCE(10, 12, -1, 51, 50, 50), bool, \
           (void *self, bool on)) \
    METHOD(VEngineInspector, getEngineInformation, SLOTS(5, 6, 6, 6), const char *, (void *self, int32_t format)) \
    METHOD(VAlgorithm, getAlgorithmVariant, SLOTS(3, 2, -1, -1), void *, (void *self)) \
    METHOD(VAlgorithm, getTimingMSec, SLOTS(4, 3, -1, -1), float, (void *self)) \
    METHOD(VAlgorithm, getAlgorithmIOInfoByIndex, SLOTS(6, 5, -1, -1), void *, (void *self, int32_t index)) \
    METHOD(VAlgorithmContext, getName, SLOTS(2, 2, -1, -1), const char *, (void *self)) \
    METHOD(VAlgorithmContext, getNbInputs, SLOTS(4, 4, -1, -1), int32_t, (void *self)) \
    METHOD(VAlgorithmContext, getNbOutputs, SLOTS(5, 5, -1, -1), int32_t, (void *self)) \
    METHOD(VAlgorithmIOInfo, getDataType, SLOTS(3, 2, -1, -1), int32_t, (void *self)) \
    METHOD(VAlgorithmIOInfo, getStrides, SLOTS(4, 3, -1, -1), union tensorrt_dims, (void *self)) \
    METHOD(VAlgorithmIOInfo, getVectorizedDim, SLOTS(5, 4, -1, -1), int64_t, (void *self)) \
    METHOD(VAlgorithmIOInfo, getComponentsPerElement, SLOTS(6, 5, -1, -1), int64_t, (void *self)) \
    METHOD(VAlgorithmVariant, getImplementation, SLOTS(2, 2, -1, -1), int64_t, (void *self)) \
    METHOD(VAlgorithmVariant, getTactic, SLOTS(3, 3, -1, -1), int64_t, (void *self)) \
    METHOD(IParser, parse, SLOTS(0, 0, 0, 0), bool, (void *self, const void *model, size_t size, const char *path)) \
    METHOD(IParser, parseFromFile, SLOTS(1, 1, 1, 1), bool, (void *self, const char *path, int32_t verbosity)) \
    METHOD(IParser, supportsOperator, SLOTS(4, 4, 2, 2), bool, (void *self, const char *name)) \
    METHOD(IParser, getNbErrors, SLOTS(6, 5, 3, 3), int32_t, (void *self)) \
    METHOD(IParser, getError, SLOTS(7, 6, 4, 4), void *, (void *self, int32_t index)) \
    METHOD(IParser, destructor, SLOTS(10, 9, 7, 7), void, (void *self)) \
    METHOD(IParser, clearFlag, SLOTS(14, 13, 11, 11), void, (void *self, int32_t flag)) \
    METHOD(IParser, setFlag, SLOTS(15, 14, 12, 12), void, (void *self, int32_t flag)) \
    METHOD(IParser, getFlag, SLOTS(16, 15, 13, 13), bool, (void *self, int32_t flag)) \
    METHOD(IParser, supportsModelV2, SLOTS_SINCE(10, 8, -1, 17, 15, 15), bool, \
           (void *self, const void *model, size_t size, const char *path)) \
    METHOD(IParser, getNbSubgraphs, SLOTS_SINCE(10, 8, -1, 18, 16, 16), int64_t, (void *self)) \
    METHOD(IParser, isSubgraphSupported, SLOTS_SINCE(10, 8, -1, 19, 17, 17), bool, (void *self, int64_t index)) \
    METHOD(IParser, getSubgraphNodes, SLOTS_SINCE(10, 8, -1, 20, 18, 18), int64_t *, \
           (void *self, int64_t index, int64_t *count)) \
    METHOD(IParserRefitter, refitFromBytes, SLOTS(-1, 0, 0, -1), bool, \
           (void *self, const void *model, size_t size, const char *path)) \
    METHOD(IParserRefitter, refitFromFile, SLOTS(-1, 1, 1, -1), bool, (void *self, const char *path)) \
    METHOD(IParserRefitter, getNbErrors, SLOTS(-1, 2, 2, -1), int32_t, (void *self)) \
    METHOD(IParserRefitter, getError, SLOTS(-1, 3, 3, -1), void *, (void *self, int32_t index)) \
    METHOD(IParserRefitter, destructor, SLOTS(-1, 6, 6, -1), void, (void *self)) \
    METHOD(IParserError, code, SLOTS(0, 0, 0, 0), int32_t, (void *self)) \
    METHOD(IParserError, desc, SLOTS(1, 1, 1, 1), const char *, (void *self)) \
    METHOD(IParserError, file, SLOTS(2, 2, 2, 2), const char *, (void *self)) \
    METHOD(IParserError, line, SLOTS(3, 3, 3, 3), int32_t, (void *self)) \
    METHOD(IParserError, func, SLOTS(4, 4, 4, 4), const char *, (void *self)) \
    METHOD(IParserError, node, SLOTS(5, 5, 5, 5), int32_t, (void *self)) \
    METHOD(IParserError, nodeName, SLOTS(-1, 6, 6, 6), const char *, (void *self)) \
    METHOD(IParserError, nodeOperator, SLOTS(-1, 7, 7, 7), const char *, (void *self)) \
    METHOD(IParserError, localFunctionStack, SLOTS(-1, 8, 8, 8), const char *const *, (void *self)) \
    METHOD(IParserError, localFunctionStackSize, SLOTS(-1, 9, 9, 9), int32_t, (void *self))
/* clang-format on */

/* The name of a method as a constant: TENSORRT_VBuilder_createNetworkV2. */
#define TENSORRT_METHOD(class, method) TENSORRT_##class##_##method

#define TENSORRT_METHOD_CONSTANT(class, method, slots, result, parameters) TENSORRT_METHOD(class, method),
enum tensorrt_method { TENSORRT_METHOD_LIST(TENSORRT_METHOD_CONSTANT) TENSORRT_METHODS };
#undef TENSORRT_METHOD_CONSTANT

/* Classes without an implementation pointer come last. */
#define TENSORRT_FIRST_INTERFACE TENSORRT_METHOD(IParser, parse)

#define TENSORRT_METHOD_TYPE(class, method, slots, result, parameters)                                                 \
    typedef result tensorrt_##class##_##method parameters;
TENSORRT_METHOD_LIST(TENSORRT_METHOD_TYPE)
#undef TENSORRT_METHOD_TYPE

#endif
