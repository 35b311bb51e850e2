/* backend/onnxrt/apart/request.h: a request for a session, in a message to the process that opens it.
 *
 * Each member of struct backend_request and struct onnxrt_settings crosses by its row in a table (apart/request.c).
 * Two do not: the log, and the object that learns of optimizers, which stay in the process that asks. The devices of a
 * provider library come back the same way.
 */
#ifndef BACKEND_ONNXRT_APART_REQUEST_H
#define BACKEND_ONNXRT_APART_REQUEST_H

#include "backend/onnxrt/provider_devices.h"
#include "backend/worker/message.h"

/* The model's bytes have to stay where they are until the message is gone. */
void onnxrt_request_put(struct message *message, const struct backend_request *request);

/* Fills both, and has `ret` refer to `ret_settings`. Text and lists lie in the arena, the model's bytes in the message.
 */
void onnxrt_request_take(struct message_reader *reader, struct arena *arena, struct onnxrt_settings *ret_settings,
                         struct backend_request *ret);

/* A library's name and path. */
void onnxrt_entry_put(struct message *message, const struct onnxrt_entry *entry);
void onnxrt_entry_take(struct message_reader *reader, struct arena *arena, struct onnxrt_entry *ret);

void provider_devices_put(struct message *message, const struct provider_device_list *devices);
void provider_devices_take(struct message_reader *reader, struct arena *arena, struct provider_device_list *ret);

#endif
