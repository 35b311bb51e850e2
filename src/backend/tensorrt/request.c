/* backend/tensorrt/request.c: see request.h. */
#include "backend/tensorrt/request.h"

static const struct message_field shapes_fields[] = {
    MESSAGE_FIELD(struct tensorrt_shapes, name, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_shapes, minimum, MESSAGE_SHAPE),
    MESSAGE_FIELD(struct tensorrt_shapes, optimum, MESSAGE_SHAPE),
    MESSAGE_FIELD(struct tensorrt_shapes, maximum, MESSAGE_SHAPE),
};
static const struct message_record shapes_record = MESSAGE_RECORD(struct tensorrt_shapes, shapes_fields);

static const struct message_field profile_fields[] = {
    {0, MESSAGE_LIST, &shapes_record}, /* the profile itself */
};
static const struct message_record profile_record = MESSAGE_RECORD(struct tensorrt_profile, profile_fields);

static const struct message_field named_type_fields[] = {
    MESSAGE_FIELD(struct tensorrt_named_type, name, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_named_type, type, MESSAGE_TYPE),
};
static const struct message_record named_type_record = MESSAGE_RECORD(struct tensorrt_named_type, named_type_fields);

static const struct message_field settings_fields[] = {
    MESSAGE_FIELD(struct tensorrt_settings, tf32, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, fp16, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, bf16, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, int8, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, fp8, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, strongly_typed, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, constraints, MESSAGE_INT),
    MESSAGE_FIELD_OF(struct tensorrt_settings, layer_precisions, MESSAGE_LIST, &named_type_record),
    MESSAGE_FIELD_OF(struct tensorrt_settings, optional_precisions, MESSAGE_LIST, &named_type_record),
    MESSAGE_FIELD_OF(struct tensorrt_settings, tensor_types, MESSAGE_LIST, &named_type_record),
    MESSAGE_FIELD(struct tensorrt_settings, tensor_formats, MESSAGE_WORDS),
    MESSAGE_FIELD(struct tensorrt_settings, all_tensor_formats, MESSAGE_WORDS),
    MESSAGE_FIELD(struct tensorrt_settings, all_tensor_type, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_settings, calibration_cache, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_settings, calibration_algorithm, MESSAGE_INT),
    MESSAGE_FIELD(struct tensorrt_settings, calibration_quantile, MESSAGE_REAL),
    MESSAGE_FIELD_OF(struct tensorrt_settings, profiles, MESSAGE_LIST, &profile_record),
    MESSAGE_FIELD_OF(struct tensorrt_settings, default_shapes, MESSAGE_LIST, &shapes_record),
    MESSAGE_FIELD(struct tensorrt_settings, outputs.mark_all, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, outputs.names, MESSAGE_WORDS),
    MESSAGE_FIELD(struct tensorrt_settings, output_types, MESSAGE_WORDS),
    MESSAGE_FIELD(struct tensorrt_settings, excluded_outputs, MESSAGE_WORDS),
    MESSAGE_FIELD(struct tensorrt_settings, barriers, MESSAGE_WORDS),
    MESSAGE_FIELD(struct tensorrt_settings, onnx_flags, MESSAGE_WORDS),
    MESSAGE_FIELD(struct tensorrt_settings, plugin_instance_norm, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, plugins, MESSAGE_WORDS),
    MESSAGE_FIELD(struct tensorrt_settings, tactics, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_settings, frees_other_layers, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, reports_tactics, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, load_timing_cache, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_settings, effort.optimization_level, MESSAGE_NUMBER),
    MESSAGE_FIELD(struct tensorrt_settings, effort.has_optimization_level, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, effort.error_on_timing_cache_miss, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, without_timing_cache, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, has_tactic_sources, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, tactic_sources, MESSAGE_WORDS),
    MESSAGE_FIELD(struct tensorrt_settings, build_route, MESSAGE_WORDS),
    MESSAGE_FIELD(struct tensorrt_settings, pool_limits, MESSAGE_WORDS),
    MESSAGE_FIELD(struct tensorrt_settings, preview_features, MESSAGE_WORDS),
    MESSAGE_FIELD(struct tensorrt_settings, quantization_flags, MESSAGE_WORDS),
    MESSAGE_FIELD(struct tensorrt_settings, sparse_weights, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, version_compatible, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, exclude_lean_runtime, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, disable_compilation_cache, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, safety_restricted, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, refittable, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, strip_plan, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, use_dla, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, allow_gpu_fallback, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, weight_streaming, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, direct_io, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, decomposable_attentions, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, regression_cutoff, MESSAGE_REAL),
    MESSAGE_FIELD(struct tensorrt_settings, max_aux_streams, MESSAGE_NUMBER),
    MESSAGE_FIELD(struct tensorrt_settings, has_max_aux_streams, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, hardware_compatibility_level, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_settings, profiling_verbosity, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_settings, runtime_platform, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_settings, tiling_optimization_level, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_settings, engine_capability, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_settings, compute_capabilities, MESSAGE_WORDS),
    MESSAGE_FIELD(struct tensorrt_settings, use_gpu, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, mark_unfused, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_settings, mark_debug, MESSAGE_WORDS),
    MESSAGE_FIELD(struct tensorrt_settings, optimization_profile, MESSAGE_NUMBER),
    MESSAGE_FIELD(struct tensorrt_settings, allocation_strategy, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_settings, weight_streaming_budget, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_settings, lean_runtime, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_settings, refit_from, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_settings, device, MESSAGE_NUMBER),
    MESSAGE_FIELD(struct tensorrt_settings, profile, MESSAGE_FLAG),
};
const struct message_record tensorrt_settings_record = MESSAGE_RECORD(struct tensorrt_settings, settings_fields);

static const struct message_field description_fields[] = {
    MESSAGE_FIELD(struct tensorrt_description, name, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_description, major, MESSAGE_INT),
    MESSAGE_FIELD(struct tensorrt_description, minor, MESSAGE_INT),
    MESSAGE_FIELD(struct tensorrt_description, is_rtx, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_description, cancels, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_description, builds, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_description, path, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_description, reason, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_description, others, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_description, parser, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_description, no_device, MESSAGE_STRING),
};
const struct message_record tensorrt_description_record =
    MESSAGE_RECORD(struct tensorrt_description, description_fields);

static const struct message_field build_report_fields[] = {
    MESSAGE_FIELD(struct tensorrt_build_report, plan_size, MESSAGE_NUMBER),
    MESSAGE_FIELD(struct tensorrt_build_report, layers_size, MESSAGE_NUMBER),
    MESSAGE_FIELD(struct tensorrt_build_report, timing_cache_size, MESSAGE_NUMBER),
    MESSAGE_FIELD(struct tensorrt_build_report, tactics_size, MESSAGE_NUMBER),
    MESSAGE_FIELD(struct tensorrt_build_report, calibration_size, MESSAGE_NUMBER),
    MESSAGE_FIELD(struct tensorrt_build_report, lost_timing_cache, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_build_report, no_layers, MESSAGE_STRING),
};
const struct message_record tensorrt_build_report_record =
    MESSAGE_RECORD(struct tensorrt_build_report, build_report_fields);

static const struct message_field plan_source_fields[] = {
    MESSAGE_FIELD(struct tensorrt_plan_source, path, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_plan_source, refits, MESSAGE_FLAG),
};
const struct message_record tensorrt_plan_source_record =
    MESSAGE_RECORD(struct tensorrt_plan_source, plan_source_fields);

static const struct message_field run_question_fields[] = {
    MESSAGE_FIELD(struct tensorrt_run_question, session, MESSAGE_NUMBER),
    MESSAGE_FIELD(struct tensorrt_run_question, wants_all, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_run_question, wanted, MESSAGE_WORDS),
};
const struct message_record tensorrt_run_question_record =
    MESSAGE_RECORD(struct tensorrt_run_question, run_question_fields);

static const struct message_field network_tensor_fields[] = {
    MESSAGE_FIELD(struct tensorrt_network_tensor, name, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_network_tensor, type, MESSAGE_TYPE),
    MESSAGE_FIELD(struct tensorrt_network_tensor, has_shape, MESSAGE_FLAG),
    MESSAGE_FIELD(struct tensorrt_network_tensor, shape, MESSAGE_SHAPE),
};
static const struct message_record network_tensor_record =
    MESSAGE_RECORD(struct tensorrt_network_tensor, network_tensor_fields);

static const struct message_field network_layer_fields[] = {
    MESSAGE_FIELD(struct tensorrt_network_layer, name, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_network_layer, type, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_network_layer, nodes, MESSAGE_STRING),
    MESSAGE_FIELD_OF(struct tensorrt_network_layer, inputs, MESSAGE_LIST, &network_tensor_record),
    MESSAGE_FIELD_OF(struct tensorrt_network_layer, outputs, MESSAGE_LIST, &network_tensor_record),
};
static const struct message_record network_layer_record =
    MESSAGE_RECORD(struct tensorrt_network_layer, network_layer_fields);

static const struct message_field network_view_fields[] = {
    MESSAGE_FIELD_OF(struct tensorrt_network_view, inputs, MESSAGE_LIST, &network_tensor_record),
    MESSAGE_FIELD_OF(struct tensorrt_network_view, outputs, MESSAGE_LIST, &network_tensor_record),
    MESSAGE_FIELD_OF(struct tensorrt_network_view, layers, MESSAGE_LIST, &network_layer_record),
};
const struct message_record tensorrt_network_view_record =
    MESSAGE_RECORD(struct tensorrt_network_view, network_view_fields);

static const struct message_field refusal_fields[] = {
    MESSAGE_FIELD(struct tensorrt_refusal, node, MESSAGE_INT),
    MESSAGE_FIELD(struct tensorrt_refusal, name, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_refusal, op_type, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_refusal, stack, MESSAGE_STRING),
    MESSAGE_FIELD(struct tensorrt_refusal, reason, MESSAGE_STRING),
};
static const struct message_record refusal_record = MESSAGE_RECORD(struct tensorrt_refusal, refusal_fields);

static const struct message_field taken_node_fields[] = {
    MESSAGE_FIELD(struct tensorrt_taken_node, node, MESSAGE_INT),
    MESSAGE_FIELD(struct tensorrt_taken_node, group, MESSAGE_INT),
};
static const struct message_record taken_node_record = MESSAGE_RECORD(struct tensorrt_taken_node, taken_node_fields);

static const struct message_field support_fields[] = {
    MESSAGE_FIELD(struct tensorrt_support, takes_all, MESSAGE_FLAG),
    MESSAGE_FIELD_OF(struct tensorrt_support, taken, MESSAGE_LIST, &taken_node_record),
    MESSAGE_FIELD_OF(struct tensorrt_support, errors, MESSAGE_LIST, &refusal_record),
};
const struct message_record tensorrt_support_record = MESSAGE_RECORD(struct tensorrt_support, support_fields);
