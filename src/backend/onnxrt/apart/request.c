/* backend/onnxrt/apart/request.c: see request.h. */
#include "backend/onnxrt/apart/request.h"

static const struct message_field entry_fields[] = {
    MESSAGE_FIELD(struct onnxrt_entry, provider, MESSAGE_STRING),
    MESSAGE_FIELD(struct onnxrt_entry, key, MESSAGE_STRING),
    MESSAGE_FIELD(struct onnxrt_entry, value, MESSAGE_STRING),
};
static const struct message_record entry_record = MESSAGE_RECORD(struct onnxrt_entry, entry_fields);

static const struct message_field request_fields[] = {
    MESSAGE_FIELD(struct backend_request, model.path, MESSAGE_STRING),
    MESSAGE_FIELD(struct backend_request, model.external_folder, MESSAGE_STRING),
    MESSAGE_FIELD(struct backend_request, hidden_outputs, MESSAGE_WORDS),
    MESSAGE_FIELD(struct backend_request, frugal, MESSAGE_FLAG),
    MESSAGE_FIELD(struct backend_request, bounds.memory, MESSAGE_NUMBER),
    MESSAGE_FIELD(struct backend_request, bounds.seconds, MESSAGE_REAL),
};
static const struct message_record request_record = MESSAGE_RECORD(struct backend_request, request_fields);

static const struct message_field settings_fields[] = {
    MESSAGE_FIELD(struct onnxrt_settings, library, MESSAGE_STRING),
    MESSAGE_FIELD(struct onnxrt_settings, execution.providers, MESSAGE_STRINGS),
    MESSAGE_FIELD_OF(struct onnxrt_settings, execution.provider_libraries, MESSAGE_LIST, &entry_record),
    MESSAGE_FIELD_OF(struct onnxrt_settings, execution.provider_options, MESSAGE_LIST, &entry_record),
    MESSAGE_FIELD_OF(struct onnxrt_settings, execution.session_config, MESSAGE_LIST, &entry_record),
    MESSAGE_FIELD(struct onnxrt_settings, custom_op_libraries, MESSAGE_STRINGS),
    MESSAGE_FIELD(struct onnxrt_settings, optimization_level, MESSAGE_INT),
    MESSAGE_FIELD(struct onnxrt_settings, intra_threads, MESSAGE_INT),
    MESSAGE_FIELD(struct onnxrt_settings, inter_threads, MESSAGE_INT),
    MESSAGE_FIELD(struct onnxrt_settings, on_processor, MESSAGE_WORDS),
    MESSAGE_FIELD(struct onnxrt_settings, optimized_path, MESSAGE_STRING),
};
static const struct message_record settings_record = MESSAGE_RECORD(struct onnxrt_settings, settings_fields);

void onnxrt_request_put(struct message *message, const struct backend_request *request)
{
    message_put_record(message, &request_record, request);
    message_put_record(message, &settings_record, onnxrt_settings_of(request));
    message_put_number(message, request->model.size);
    message_put_data(message, (struct text){request->model.data, request->model.size});
}

void onnxrt_request_take(struct message_reader *reader, struct arena *arena, struct onnxrt_settings *ret_settings,
                         struct backend_request *ret)
{
    message_take_record(reader, arena, &request_record, ret);
    message_take_record(reader, arena, &settings_record, ret_settings);
    ret->model.size = message_take_number(reader);
    ret->model.data = message_take_data(reader, ret->model.size).data;
    ret->settings = ret_settings;
}

/* ---- Provider libraries ---- */

static const struct message_field device_fields[] = {
    MESSAGE_FIELD(struct provider_device, provider, MESSAGE_STRING),
    MESSAGE_FIELD(struct provider_device, vendor, MESSAGE_STRING),
    MESSAGE_FIELD(struct provider_device, version, MESSAGE_STRING),
    MESSAGE_FIELD(struct provider_device, type, MESSAGE_STRING),
    MESSAGE_FIELD(struct provider_device, maker, MESSAGE_STRING),
    MESSAGE_FIELD(struct provider_device, maker_id, MESSAGE_NUMBER),
    MESSAGE_FIELD(struct provider_device, id, MESSAGE_NUMBER),
    MESSAGE_FIELD_OF(struct provider_device, metadata, MESSAGE_LIST, &entry_record),
};
static const struct message_record device_record = MESSAGE_RECORD(struct provider_device, device_fields);

/* The list as the only member of a struct. */
struct devices_message {
    struct provider_device_list list;
};

static const struct message_field list_fields[] = {
    MESSAGE_FIELD_OF(struct devices_message, list, MESSAGE_LIST, &device_record),
};
static const struct message_record list_record = MESSAGE_RECORD(struct devices_message, list_fields);

void onnxrt_entry_put(struct message *message, const struct onnxrt_entry *entry)
{
    message_put_record(message, &entry_record, entry);
}

void onnxrt_entry_take(struct message_reader *reader, struct arena *arena, struct onnxrt_entry *ret)
{
    message_take_record(reader, arena, &entry_record, ret);
}

void provider_devices_put(struct message *message, const struct provider_device_list *devices)
{
    message_put_record(message, &list_record, &(struct devices_message){*devices});
}

void provider_devices_take(struct message_reader *reader, struct arena *arena, struct provider_device_list *ret)
{
    struct devices_message devices = {0};

    message_take_record(reader, arena, &list_record, &devices);
    *ret = devices.list;
}
