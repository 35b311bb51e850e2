/* The part of ONNX Runtime's interface for plug-in execution providers that the tests use: slots of its tables of
 * functions, which only grow, and the structs that a provider fills. Facts of onnxruntime_c_api.h and
 * onnxruntime_ep_c_api.h, release 1.23. */
#ifndef TESTS_PLUGINS_ONNXRT_PROVIDER_H
#define TESTS_PLUGINS_ONNXRT_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define API_VERSION 23 /* of release 1.23, the first one whose plug-ins compile nodes */
#define FLOAT32 1      /* a type of elements */

typedef void (*any_function)(void);
struct status;
struct provider;
struct kernel;

struct api_base {
    const any_function *(*get_api)(uint32_t version);
    const char *(*get_version)(void);
};

/* Slots of the table of functions. */
enum slot {
    CREATE_STATUS = 0,
    RELEASE_STATUS = 93,
    TENSOR_DATA = 51,
    TYPE_TENSOR_INFO = 55,
    ELEMENT_TYPE = 60,
    RANK = 61,
    DIMENSIONS = 62,
    VALUE_TENSOR_INFO = 65,
    CONTEXT_INPUT = 90,
    CONTEXT_OUTPUT = 91,
    RELEASE_TENSOR_INFO = 99,
    HAS_SESSION_CONFIG = 237,
    GET_SESSION_CONFIG = 238,
    LOG_MESSAGE = 247,
    READ_ATTRIBUTE = 272,
    VALUE_NAME = 289,
    VALUE_TYPE = 290,
    VALUE_IS_OPTIONAL_INPUT = 329,
    HARDWARE_TYPE = 307,
    GET_EP_API = 317,
    NODE_COUNT = 344,
    GET_NODES = 345,
    NODE_NAME = 349,
    NODE_TYPE = 350,
    NODE_DOMAIN = 351,
    NODE_INPUT_COUNT = 353,
    NODE_INPUTS = 354,
    NODE_ATTRIBUTE = 361,
};

/* Slots of the table for providers. */
enum provider_slot { CREATE_DEVICE = 0, FUSE_NODES = 2 };

/* What the runtime calls of a compiled node; a kernel begins with it. */
struct kernel_calls {
    uint32_t version;
    struct status *(*create_state)(struct kernel *, void *context, void **state);
    struct status *(*compute)(struct kernel *, void *state, void *context);
    void (*release_state)(struct kernel *, void *state);
};

/* Of a provider, which begins with it. */
struct provider_calls {
    uint32_t version;
    const char *(*get_name)(const struct provider *);
    struct status *(*get_capability)(struct provider *, const void *graph, void *support);
    struct status *(*compile)(struct provider *, const void **graphs, const void **fused, size_t count,
                              struct kernel **kernels, void **context_nodes);
    void (*release_kernels)(struct provider *, struct kernel **kernels, size_t count);
    any_function not_used[9]; /* up to release 1.24 */
};

struct factory {
    uint32_t version;
    const char *(*get_name)(const struct factory *);
    const char *(*get_vendor)(const struct factory *);
    struct status *(*get_devices)(struct factory *, const void *const *hardware, size_t hardware_count, void **devices,
                                  size_t most, size_t *count);
    struct status *(*create)(struct factory *, const void *const *hardware, const void *const *metadata, size_t count,
                             const void *options, const void *logger, struct provider **ret);
    void (*release)(struct factory *, struct provider *);
    uint32_t (*get_vendor_id)(const struct factory *);
    const char *(*get_version)(const struct factory *);
    any_function validate_compiled;
    struct status *(*create_allocator)(struct factory *, const void *info, const void *options, void **ret);
    void (*release_allocator)(struct factory *, void *allocator);
    struct status *(*create_transfer)(struct factory *, void **ret);
    bool (*is_stream_aware)(const struct factory *);
    any_function create_stream;
};

#endif
