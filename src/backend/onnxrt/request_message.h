/* backend/onnxrt/request_message.h: a request for a session, in a message to the process that opens it.
 *
 * Each member of struct backend_request and struct onnxrt_settings crosses by its row in a table (request_message.c).
 * Two do not: the log, and the object that learns of optimizers, which stay in the process that asks.
 */
#ifndef BACKEND_ONNXRT_REQUEST_MESSAGE_H
#define BACKEND_ONNXRT_REQUEST_MESSAGE_H

#include "backend/onnxrt/message.h"

/* The model's bytes have to stay where they are until the message is gone. */
void request_message_put(struct message *message, const struct backend_request *request);

/* Fills both, and has `ret` refer to `ret_settings`. Text and lists lie in the arena, the model's bytes in the message.
 */
void request_message_take(struct message_reader *reader, struct arena *arena, struct onnxrt_settings *ret_settings,
                          struct backend_request *ret);

#endif
