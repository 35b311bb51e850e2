/* backend/onnxrt/apart/request.c: see request.h. */
#include "backend/onnxrt/apart/request.h"

#include "base/memory.h"

static const struct message_field request_fields[] = {
    {offsetof(struct backend_request, model.path), MESSAGE_STRING},
    {offsetof(struct backend_request, model.external_folder), MESSAGE_STRING},
    {offsetof(struct backend_request, hidden_outputs), MESSAGE_WORDS},
    {offsetof(struct backend_request, frugal), MESSAGE_FLAG},
    {offsetof(struct backend_request, bounds.memory), MESSAGE_NUMBER},
    {offsetof(struct backend_request, bounds.seconds), MESSAGE_REAL},
};

static const struct message_field settings_fields[] = {
    {offsetof(struct onnxrt_settings, library), MESSAGE_STRING},
    {offsetof(struct onnxrt_settings, execution.providers), MESSAGE_STRINGS},
    {offsetof(struct onnxrt_settings, execution.provider_options), MESSAGE_ENTRIES},
    {offsetof(struct onnxrt_settings, execution.session_config), MESSAGE_ENTRIES},
    {offsetof(struct onnxrt_settings, custom_op_libraries), MESSAGE_STRINGS},
    {offsetof(struct onnxrt_settings, optimization_level), MESSAGE_INT},
    {offsetof(struct onnxrt_settings, intra_threads), MESSAGE_INT},
    {offsetof(struct onnxrt_settings, inter_threads), MESSAGE_INT},
    {offsetof(struct onnxrt_settings, optimized_path), MESSAGE_STRING},
};

void onnxrt_request_put(struct message *message, const struct backend_request *request)
{
    message_put_fields(message, request_fields, ARRAY_LEN(request_fields), request);
    message_put_fields(message, settings_fields, ARRAY_LEN(settings_fields), onnxrt_settings_of(request));
    message_put_number(message, request->model.size);
    message_put_data(message, (struct text){request->model.data, request->model.size});
}

void onnxrt_request_take(struct message_reader *reader, struct arena *arena, struct onnxrt_settings *ret_settings,
                         struct backend_request *ret)
{
    message_take_fields(reader, arena, request_fields, ARRAY_LEN(request_fields), ret);
    message_take_fields(reader, arena, settings_fields, ARRAY_LEN(settings_fields), ret_settings);
    ret->model.size = message_take_number(reader);
    ret->model.data = message_take_data(reader, ret->model.size).data;
    ret->settings = ret_settings;
}
