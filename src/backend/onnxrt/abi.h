/* backend/onnxrt/abi.h: the part of ONNX Runtime's C interface that we use.
 *
 * The interface is one table of function pointers that only ever grows: a function keeps its slot for all time. So the
 * slots used here are named, the others are gaps, and one build works with every release from ORT_API_VERSION on. Slot
 * numbers are checked below. A function that returns a status returns NULL when it succeeded.
 */
#ifndef BACKEND_ONNXRT_ABI_H
#define BACKEND_ONNXRT_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORT_API_VERSION 16          /* of the table that is asked for; release 1.16 brought it */
#define ORT_API_VERSION_OPENVINO 17 /* the first one with append_openvino */
#define ORT_API_VERSION_PLUGINS                                                                                        \
    22 /* the first one with register_provider_library and what follows up to device_hardware */
#define ORT_API_VERSION_HAS_SHAPE 24 /* the first one with has_shape */

enum ort_severity { ORT_SEVERITY_VERBOSE, ORT_SEVERITY_INFO, ORT_SEVERITY_WARNING, ORT_SEVERITY_ERROR };

enum ort_kind {
    ORT_KIND_UNKNOWN,
    ORT_KIND_TENSOR,
    ORT_KIND_SEQUENCE,
    ORT_KIND_MAP,
    ORT_KIND_OPAQUE,
    ORT_KIND_SPARSE_TENSOR,
    ORT_KIND_OPTIONAL,
};

#define ORT_INVALID_PROTOBUF 7 /* an error code */
#define ORT_ALLOCATOR_ARENA 1
#define ORT_MEMORY_DEFAULT 0

struct ort_status;
struct ort_env;
struct ort_session;
struct ort_session_options;
struct ort_run_options;
struct ort_value;
struct ort_type_info;
struct ort_tensor_info;
struct ort_memory_info;
struct ort_allocator;
struct ort_provider_options; /* a type of its own for each provider that has some */
struct ort_threading_options;
struct ort_arena_config;
struct ort_key_values;
struct ort_provider_device; /* a device, with the provider of a plug-in that can use it */
struct ort_hardware_device;

typedef void ort_log_function(void *data, int severity, const char *category, const char *log_id,
                              const char *code_location, const char *message);

/* Element types are `int`: their numbers are those of `enum data_type`. */
struct ort_api {
    void *unused_0[1];
    int (*get_error_code)(const struct ort_status *);
    const char *(*get_error_message)(const struct ort_status *);
    void *unused_3[1];
    struct ort_status *(*create_env_with_custom_logger)(ort_log_function *, void *data, int severity,
                                                        const char *log_id, struct ort_env **);
    void *unused_5_6[2];
    struct ort_status *(*create_session)(const struct ort_env *, const char *path, const struct ort_session_options *,
                                         struct ort_session **);
    struct ort_status *(*create_session_from_array)(const struct ort_env *, const void *, size_t,
                                                    const struct ort_session_options *, struct ort_session **);
    struct ort_status *(*run)(struct ort_session *, const struct ort_run_options *, const char *const *input_names,
                              const struct ort_value *const *inputs, size_t input_count,
                              const char *const *output_names, size_t output_count, struct ort_value **outputs);
    struct ort_status *(*create_session_options)(struct ort_session_options **);
    struct ort_status *(*set_optimized_model_path)(struct ort_session_options *, const char *path);
    struct ort_status *(*clone_session_options)(const struct ort_session_options *, struct ort_session_options **);
    void *unused_13_18[6];
    struct ort_status *(*disable_cpu_memory_arena)(struct ort_session_options *);
    void *unused_20_21[2];
    struct ort_status *(*set_session_log_severity)(struct ort_session_options *, int severity);
    struct ort_status *(*set_graph_optimization_level)(struct ort_session_options *, int level);
    struct ort_status *(*set_intra_op_threads)(struct ort_session_options *, int);
    struct ort_status *(*set_inter_op_threads)(struct ort_session_options *, int);
    void *unused_26_29[4];
    struct ort_status *(*session_input_count)(const struct ort_session *, size_t *);
    struct ort_status *(*session_output_count)(const struct ort_session *, size_t *);
    void *unused_32[1];
    struct ort_status *(*session_input_type)(const struct ort_session *, size_t, struct ort_type_info **);
    struct ort_status *(*session_output_type)(const struct ort_session *, size_t, struct ort_type_info **);
    void *unused_35[1];
    struct ort_status *(*session_input_name)(const struct ort_session *, size_t, struct ort_allocator *, char **);
    struct ort_status *(*session_output_name)(const struct ort_session *, size_t, struct ort_allocator *, char **);
    void *unused_38[1];
    struct ort_status *(*create_run_options)(struct ort_run_options **);
    void *unused_40[1];
    struct ort_status *(*set_run_log_severity)(struct ort_run_options *, int severity);
    void *unused_42_47[6];
    struct ort_status *(*create_tensor)(struct ort_allocator *, const int64_t *dims, size_t rank, int element_type,
                                        struct ort_value **);
    struct ort_status *(*create_tensor_with_data)(const struct ort_memory_info *, void *data, size_t size,
                                                  const int64_t *dims, size_t rank, int element_type,
                                                  struct ort_value **);
    void *unused_50[1];
    struct ort_status *(*tensor_data)(struct ort_value *, void **);
    void *unused_52[1];
    struct ort_status *(*string_tensor_size)(const struct ort_value *, size_t *);
    struct ort_status *(*string_tensor_content)(const struct ort_value *, void *, size_t size, size_t *offsets,
                                                size_t count);
    struct ort_status *(*type_tensor_info)(const struct ort_type_info *, const struct ort_tensor_info **);
    struct ort_status *(*type_kind)(const struct ort_type_info *, int *);
    void *unused_57_59[3];
    struct ort_status *(*element_type)(const struct ort_tensor_info *, int *);
    struct ort_status *(*rank)(const struct ort_tensor_info *, size_t *);
    struct ort_status *(*dimensions)(const struct ort_tensor_info *, int64_t *, size_t);
    struct ort_status *(*symbolic_dimensions)(const struct ort_tensor_info *, const char **, size_t);
    void *unused_64[1];
    struct ort_status *(*value_tensor_info)(const struct ort_value *, struct ort_tensor_info **);
    void *unused_66_68[3];
    struct ort_status *(*create_cpu_memory_info)(int allocator, int memory, struct ort_memory_info **);
    void *unused_70_75[6];
    struct ort_status *(*allocator_free)(struct ort_allocator *, void *);
    void *unused_77[1];
    struct ort_status *(*default_allocator)(struct ort_allocator **);
    void *unused_79_91[13];
    void (*release_env)(struct ort_env *);
    void (*release_status)(struct ort_status *);
    void (*release_memory_info)(struct ort_memory_info *);
    void (*release_session)(struct ort_session *);
    void (*release_value)(struct ort_value *);
    void (*release_run_options)(struct ort_run_options *);
    void (*release_type_info)(struct ort_type_info *);
    void (*release_tensor_info)(struct ort_tensor_info *);
    void (*release_session_options)(struct ort_session_options *);
    void *unused_101_119[19];
    struct ort_status *(*disable_per_session_threads)(struct ort_session_options *);
    struct ort_status *(*create_threading_options)(struct ort_threading_options **);
    void (*release_threading_options)(struct ort_threading_options *);
    void *unused_123_124[2];
    struct ort_status *(*available_providers)(char ***, int *count);
    struct ort_status *(*release_available_providers)(char **, int count);
    void *unused_127_129[3];
    struct ort_status *(*add_session_config)(struct ort_session_options *, const char *key, const char *value);
    void *unused_131_143[13];
    struct ort_status *(*create_and_register_allocator)(struct ort_env *, const struct ort_memory_info *,
                                                        const struct ort_arena_config *);
    void *unused_145_146[2];
    struct ort_status *(*set_global_intra_op_threads)(struct ort_threading_options *, int);
    struct ort_status *(*set_global_inter_op_threads)(struct ort_threading_options *, int);
    struct ort_status *(*set_global_spin_control)(struct ort_threading_options *, int);
    void *unused_150[1];
    struct ort_status *(*create_env_with_custom_logger_and_threads)(ort_log_function *, void *data, int severity,
                                                                    const char *log_id,
                                                                    const struct ort_threading_options *,
                                                                    struct ort_env **);
    void *unused_152[1];
    struct ort_status *(*append_rocm)(struct ort_session_options *, const struct ort_provider_options *);
    void *unused_154_155[2];
    struct ort_status *(*create_arena_config)(size_t most_bytes, int strategy, int first_chunk, int most_dead_bytes,
                                              struct ort_arena_config **);
    void (*release_arena_config)(struct ort_arena_config *);
    void *unused_158_169[12];
    struct ort_status *(*append_tensorrt)(struct ort_session_options *, const struct ort_provider_options *);
    struct ort_status *(*create_tensorrt_options)(struct ort_provider_options **);
    struct ort_status *(*update_tensorrt_options)(struct ort_provider_options *, const char *const *keys,
                                                  const char *const *values, size_t count);
    void *unused_173[1];
    void (*release_tensorrt_options)(struct ort_provider_options *);
    void *unused_175_176[2];
    struct ort_status *(*unregister_allocator)(struct ort_env *, const struct ort_memory_info *);
    void *unused_178_203[26];
    struct ort_status *(*append_cuda)(struct ort_session_options *, const struct ort_provider_options *);
    struct ort_status *(*create_cuda_options)(struct ort_provider_options **);
    struct ort_status *(*update_cuda_options)(struct ort_provider_options *, const char *const *keys,
                                              const char *const *values, size_t count);
    void *unused_207[1];
    void (*release_cuda_options)(struct ort_provider_options *);
    void *unused_209[1];
    struct ort_status *(*add_external_initializers)(struct ort_session_options *, const char *const *names,
                                                    const struct ort_value *const *, size_t count);
    void *unused_211_215[5];
    struct ort_status *(*append_provider)(struct ort_session_options *, const char *name, const char *const *keys,
                                          const char *const *values, size_t count);
    void *unused_217_219[3];
    struct ort_status *(*append_cann)(struct ort_session_options *, const struct ort_provider_options *);
    struct ort_status *(*create_cann_options)(struct ort_provider_options **);
    struct ort_status *(*update_cann_options)(struct ort_provider_options *, const char *const *keys,
                                              const char *const *values, size_t count);
    void *unused_223[1];
    void (*release_cann_options)(struct ort_provider_options *);
    void *unused_225_227[3];
    struct ort_status *(*register_custom_ops_library)(struct ort_session_options *, const char *path);
    void *unused_229_238[10];
    struct ort_status *(*append_dnnl)(struct ort_session_options *, const struct ort_provider_options *);
    struct ort_status *(*create_dnnl_options)(struct ort_provider_options **);
    struct ort_status *(*update_dnnl_options)(struct ort_provider_options *, const char *const *keys,
                                              const char *const *values, size_t count);
    void *unused_242[1];
    void (*release_dnnl_options)(struct ort_provider_options *);
    void *unused_244_251[8];
    struct ort_status *(*resize_string_element)(struct ort_value *, size_t index, size_t size, char **);
    void *unused_253_254[2];
    struct ort_status *(*create_rocm_options)(struct ort_provider_options **);
    struct ort_status *(*update_rocm_options)(struct ort_provider_options *, const char *const *keys,
                                              const char *const *values, size_t count);
    void *unused_257[1];
    void (*release_rocm_options)(struct ort_provider_options *);
    void *unused_259_274[16];
    /* Only from ORT_API_VERSION_OPENVINO on. */
    struct ort_status *(*append_openvino)(struct ort_session_options *, const char *const *keys,
                                          const char *const *values, size_t count);
    void *unused_276_297[22];
    /* The next ones only from ORT_API_VERSION_PLUGINS on. The arrays belong to their owners. */
    void (*list_key_values)(const struct ort_key_values *, const char *const **keys, const char *const **values,
                            size_t *count);
    void *unused_299_300[2];
    struct ort_status *(*register_provider_library)(struct ort_env *, const char *name, const char *path);
    struct ort_status *(*unregister_provider_library)(struct ort_env *, const char *name);
    struct ort_status *(*provider_devices)(const struct ort_env *, const struct ort_provider_device *const **,
                                           size_t *count);
    struct ort_status *(*append_plugin)(struct ort_session_options *, struct ort_env *,
                                        const struct ort_provider_device *const *, size_t device_count,
                                        const char *const *keys, const char *const *values, size_t count);
    void *unused_305_306[2];
    int (*hardware_type)(const struct ort_hardware_device *);
    uint32_t (*hardware_vendor_id)(const struct ort_hardware_device *);
    const char *(*hardware_vendor)(const struct ort_hardware_device *);
    uint32_t (*hardware_device_id)(const struct ort_hardware_device *);
    const struct ort_key_values *(*hardware_metadata)(const struct ort_hardware_device *);
    const char *(*device_provider)(const struct ort_provider_device *);
    const char *(*device_vendor)(const struct ort_provider_device *);
    const struct ort_key_values *(*device_metadata)(const struct ort_provider_device *);
    const struct ort_key_values *(*device_options)(const struct ort_provider_device *);
    const struct ort_hardware_device *(*device_hardware)(const struct ort_provider_device *);
    void *unused_317_389[73];
    bool (*has_shape)(const struct ort_tensor_info *); /* only from ORT_API_VERSION_HAS_SHAPE on */
};

/* What the library's only symbol, OrtGetApiBase(), returns. */
struct ort_api_base {
    const struct ort_api *(*get_api)(uint32_t version); /* NULL, and a line on stderr, when the release is older */
    const char *(*get_version)(void);                   /* "1.30.0" */
};

_Static_assert(sizeof(void (*)(void)) == sizeof(void *), "functions and gaps of the table have one size");

#define ORT_SLOT(member, slot)                                                                                         \
    _Static_assert(offsetof(struct ort_api, member) == (slot) * sizeof(void *), #member " is not in slot " #slot)

ORT_SLOT(get_error_code, 1);
ORT_SLOT(get_error_message, 2);
ORT_SLOT(create_env_with_custom_logger, 4);
ORT_SLOT(create_session, 7);
ORT_SLOT(create_session_options, 10);
ORT_SLOT(clone_session_options, 12);
ORT_SLOT(disable_cpu_memory_arena, 19);
ORT_SLOT(set_session_log_severity, 22);
ORT_SLOT(session_input_count, 30);
ORT_SLOT(session_input_type, 33);
ORT_SLOT(session_input_name, 36);
ORT_SLOT(create_run_options, 39);
ORT_SLOT(set_run_log_severity, 41);
ORT_SLOT(create_tensor, 48);
ORT_SLOT(tensor_data, 51);
ORT_SLOT(string_tensor_size, 53);
ORT_SLOT(type_kind, 56);
ORT_SLOT(element_type, 60);
ORT_SLOT(symbolic_dimensions, 63);
ORT_SLOT(value_tensor_info, 65);
ORT_SLOT(create_cpu_memory_info, 69);
ORT_SLOT(allocator_free, 76);
ORT_SLOT(default_allocator, 78);
ORT_SLOT(release_env, 92);
ORT_SLOT(release_value, 96);
ORT_SLOT(release_run_options, 97);
ORT_SLOT(release_type_info, 98);
ORT_SLOT(release_session_options, 100);
ORT_SLOT(disable_per_session_threads, 120);
ORT_SLOT(available_providers, 125);
ORT_SLOT(add_session_config, 130);
ORT_SLOT(create_and_register_allocator, 144);
ORT_SLOT(set_global_intra_op_threads, 147);
ORT_SLOT(create_env_with_custom_logger_and_threads, 151);
ORT_SLOT(create_arena_config, 156);
ORT_SLOT(release_arena_config, 157);
ORT_SLOT(append_rocm, 153);
ORT_SLOT(append_tensorrt, 170);
ORT_SLOT(create_tensorrt_options, 171);
ORT_SLOT(update_tensorrt_options, 172);
ORT_SLOT(release_tensorrt_options, 174);
ORT_SLOT(unregister_allocator, 177);
ORT_SLOT(append_cuda, 204);
ORT_SLOT(create_cuda_options, 205);
ORT_SLOT(update_cuda_options, 206);
ORT_SLOT(release_cuda_options, 208);
ORT_SLOT(add_external_initializers, 210);
ORT_SLOT(append_provider, 216);
ORT_SLOT(append_cann, 220);
ORT_SLOT(create_cann_options, 221);
ORT_SLOT(update_cann_options, 222);
ORT_SLOT(release_cann_options, 224);
ORT_SLOT(register_custom_ops_library, 228);
ORT_SLOT(append_dnnl, 239);
ORT_SLOT(create_dnnl_options, 240);
ORT_SLOT(update_dnnl_options, 241);
ORT_SLOT(release_dnnl_options, 243);
ORT_SLOT(resize_string_element, 252);
ORT_SLOT(create_rocm_options, 255);
ORT_SLOT(update_rocm_options, 256);
ORT_SLOT(release_rocm_options, 258);
ORT_SLOT(append_openvino, 275);
ORT_SLOT(list_key_values, 298);
ORT_SLOT(register_provider_library, 301);
ORT_SLOT(append_plugin, 304);
ORT_SLOT(hardware_type, 307);
ORT_SLOT(device_provider, 312);
ORT_SLOT(device_hardware, 316);
ORT_SLOT(has_shape, 390);

#undef ORT_SLOT

#endif
