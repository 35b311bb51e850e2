/* backend/subgraph_session.c: see subgraph_session.h. */
#include "backend/subgraph_session.h"

#include <stdlib.h>

#include "onnx/edit/four_bit_identity.h"
#include "onnx/write/model.h"

#define PIECE_NODES ((size_t)500)
#define LARGEST_PIECE ((size_t)8000)

size_t session_piece_nodes(const struct model *model)
{
    size_t functions = model->function_count;

    return functions < PIECE_NODES ? PIECE_NODES : functions < LARGEST_PIECE ? functions : LARGEST_PIECE;
}

/* Once more, in words that ONNX Runtime has kernels for; ERR_UNSUPPORTED when there are no others. */
static int open_respelled(struct subgraph_session *ret, struct backend_request *request, struct error *err)
{
    struct span bytes = {(const uint8_t *)ret->bytes, request->model.size};
    struct subgraph whole SCOPED(subgraph_release) = {0};
    struct model *model;
    char *respelled = NULL;
    bool any = false;
    int rc = model_parse(bytes, "the model in memory", &model, err);

    if (rc < 0)
        return rc;
    rc = model_respell_four_bit_identities(model, &any, err);
    if (rc == 0 && !any)
        rc = ERR_UNSUPPORTED;
    subgraph_init_whole(&whole, model);
    if (rc == 0)
        rc = model_write_memory(&whole, &respelled, &request->model.size, err);
    model_free(model);
    if (rc < 0)
        return rc;
    free(ret->bytes);
    ret->bytes = respelled;
    request->model.data = respelled;
    return ret->backend->open(request, &ret->session, err);
}

int subgraph_session_open(struct subgraph_session *ret, const struct subgraph *subgraph, const struct backend *backend,
                          const struct backend_request *request, struct error *err)
{
    struct backend_request own = *request;
    struct error why = {0};
    int rc;

    *ret = (struct subgraph_session){.backend = backend};
    own.model.path = NULL;
    own.model.external_folder = subgraph->model->folder;
    own.log = NULL;
    rc = model_write_memory(subgraph, &ret->bytes, &own.model.size, err);
    if (rc < 0)
        return rc;
    own.model.data = ret->bytes;
    rc = backend->open(&own, &ret->session, &why);
    if (rc == ERR_BACKEND && !bounded_process_is_end(&why) && open_respelled(ret, &own, NULL) == 0)
        return 0;
    if (rc < 0)
        subgraph_session_close(ret);
    if (rc < 0 && err != NULL)
        *err = why;
    return rc;
}

int subgraph_session_run(const struct subgraph_session *session, const struct tensor_list *feed,
                         struct tensor_list *ret, struct error *err)
{
    return session->backend->run(session->session, feed, NULL, ret, NULL, err);
}

void subgraph_session_close(struct subgraph_session *session)
{
    if (session->session != NULL)
        session->backend->close(session->session);
    free(session->bytes);
    *session = (struct subgraph_session){0};
}
