/* backend/subgraph_session.c: see subgraph_session.h. */
#include "backend/subgraph_session.h"

#include <stdlib.h>

#include "onnx/model_write.h"

#define PIECE_NODES ((size_t)500)
#define LARGEST_PIECE ((size_t)8000)

size_t session_piece_nodes(const struct model *model)
{
    size_t functions = model->function_count;

    return functions < PIECE_NODES ? PIECE_NODES : functions < LARGEST_PIECE ? functions : LARGEST_PIECE;
}

int subgraph_session_open(struct subgraph_session *ret, const struct subgraph *subgraph, const struct backend *backend,
                          const struct backend_request *request, struct error *err)
{
    struct backend_request own = *request;
    int rc;

    *ret = (struct subgraph_session){.backend = backend};
    own.model_path = NULL;
    own.external_folder = subgraph->model->folder;
    own.log = NULL;
    rc = model_write_memory(subgraph, &ret->bytes, &own.model_size, err);
    if (rc < 0)
        return rc;
    own.model_data = ret->bytes;
    rc = backend->open(&own, &ret->session, err);
    if (rc < 0)
        subgraph_session_close(ret);
    return rc;
}

int subgraph_session_run(const struct subgraph_session *session, const struct tensor_list *feed,
                         struct tensor_list *ret, struct error *err)
{
    return session->backend->run(session->session, feed, NULL, 0, ret, NULL, err);
}

void subgraph_session_close(struct subgraph_session *session)
{
    if (session->session != NULL)
        session->backend->close(session->session);
    free(session->bytes);
    *session = (struct subgraph_session){0};
}
