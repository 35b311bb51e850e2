/* backend/onnxrt/placement.h: which provider runs how many nodes of a model, where another one than the processor is
 * asked for: what a provider does not have goes to the next one without a word.
 *
 *   rc = onnxrt_placement_begin(&placement, &providers, options, err);
 *   ... the session is made, and onnxrt_placement_read() gets its messages ...
 *   onnxrt_placement_end(&placement, log);
 *
 * Only the verbose log of the session tells. Releases from 1.24 on can be asked for a list as well, but 1.30's does not
 * have the nodes of a provider with a memory layout of its own.
 */
#ifndef BACKEND_ONNXRT_PLACEMENT_H
#define BACKEND_ONNXRT_PLACEMENT_H

#include "backend/onnxrt/providers.h"
#include "base/container/arena.h"

struct placed_nodes {
    const char *provider;
    size_t count;
};

struct onnxrt_placement {
    const char *wanted; /* the provider that should run all nodes; NULL: the processor, and nothing is counted */
    VECTOR(struct placed_nodes) providers;
    struct {
        const char **items; /* "MatMulInteger (matmul)" */
        size_t count, capacity;
    } elsewhere;        /* nodes of other providers; fewer than are counted, if the runtime does not list them */
    bool is_listed;     /* the next messages list nodes of another provider */
    struct arena arena; /* of names */
};

/* Makes a session that `options` are for tell everything, when `placement` has a wanted provider then. ERR_BACKEND. */
int onnxrt_placement_begin(struct onnxrt_placement *placement, const struct onnxrt_providers *providers,
                           struct ort_session_options *options, struct error *err);

/* One line, a warning, when some nodes are not where they were wanted. `log` is NULL when there is no session. */
void onnxrt_placement_end(struct onnxrt_placement *placement, struct log *log);

/* Takes a message of the verbose log into account, in which the runtime says, one message each:
 *
 *    Node(s) placed on [CPUExecutionProvider]. Number of nodes: 2
 *     MatMulInteger (matmul)
 *     MemcpyToHost (Memcpy_token_1)
 *
 * or " All nodes placed on [...]", without the list. Copies between devices are nodes of the runtime's own, and do not
 * count. */
void onnxrt_placement_read(struct onnxrt_placement *placement, const char *message);

/* "2 of 5 nodes run on CPUExecutionProvider instead: Loop (loop), Identity ()", with the first nodes. False when there
 * is nothing to say. */
bool onnxrt_placement_to_text(const struct onnxrt_placement *placement, struct string_builder *ret);

#endif
