/* backend/subgraph_session.h: a part of a model, loaded by a backend straight from memory.
 *
 *   struct subgraph_session part = {0};
 *   rc = subgraph_session_open(&part, &subgraph, backend, &request, err);
 *   if (rc == 0)
 *       rc = subgraph_session_run(&part, &feed, &outputs, err);
 *   subgraph_session_close(&part);
 *
 * For what the program asks of a runtime on its own account: types, values, whether a node is supported.
 */
#ifndef BACKEND_SUBGRAPH_SESSION_H
#define BACKEND_SUBGRAPH_SESSION_H

#include "backend/backend.h"
#include "onnx/model/subgraph.h"

struct subgraph_session {
    const struct backend *backend;
    struct backend_session *session; /* NULL: not open */
    char *bytes;                     /* of the model, which the session may point into */
};

/* Writes `subgraph` as a model to memory and loads it. `request` says how; its model and its log are not used: a
 * session that nobody asked for is not worth a line. What is refused is tried in other words
 * (onnx/edit/four_bit_identity.h). External data are looked for where those of the whole model are. Errors are those of
 * model_write_memory() and of the backend; `ret` is then closed. */
int subgraph_session_open(struct subgraph_session *ret, const struct subgraph *subgraph, const struct backend *backend,
                          const struct backend_request *request, struct error *err);

/* Computes all outputs once; `feed` and `ret` as for struct backend's run(). */
int subgraph_session_run(const struct subgraph_session *session, const struct tensor_list *feed,
                         struct tensor_list *ret, struct error *err);

/* How many nodes are best given to a runtime together where a large model is cut into pieces: fewer cost more sessions,
 * more cost more time in each. Every piece has all of the model's functions: with many of them, fewer and larger pieces
 * are better. */
size_t session_piece_nodes(const struct model *model);

/* One that is zeroed or was closed is fine. */
void subgraph_session_close(struct subgraph_session *session);

#endif
