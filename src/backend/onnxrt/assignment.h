/* backend/onnxrt/assignment.h: a session in which some nodes run on the processor, although another provider is asked
 * for.
 *
 * ONNX Runtime cannot be told to keep a node from a plug-in provider: with session.layer_assignment_settings, releases
 * 1.30 to 1.32 end with "Processed 1 nodes. Expected to process ..." wherever a node of the provider reads one that is
 * kept from it. So the model is cut into parts of which each is a session of its own, with the providers of the
 * settings or with the processor's alone. Nothing is optimized across a cut.
 */
#ifndef BACKEND_ONNXRT_ASSIGNMENT_H
#define BACKEND_ONNXRT_ASSIGNMENT_H

#include "backend/backend.h"

/* Opens the model with the nodes that `on_processor` of the settings names on the processor. ERR_INVALID: a name is not
 * one of the model; ERR_UNSUPPORTED: a tensor between the parts is of an unknown type, or is no tensor; errors of
 * ONNX Runtime. */
int assigned_session_open(const struct backend_request *request, struct backend_session **ret, struct error *err);

/* As run() and close() of struct backend, for a session of assigned_session_open(). */
int assigned_session_run(struct backend_session *session, const struct tensor_list *feed, const struct words *wanted,
                         struct tensor_list *ret, double *seconds, struct error *err);
void assigned_session_close(struct backend_session *session);

#endif
