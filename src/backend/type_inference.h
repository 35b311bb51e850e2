/* backend/type_inference.h: types and shapes of the tensors inside a model, asked of ONNX Runtime.
 *
 * The runtime infers shapes while it loads a model. So the graph is loaded with every tensor of which something is to
 * be found out marked as an output, and the descriptions of these outputs are read. What is loaded holds no weights:
 * large initializers become graph inputs, which changes no shape and keeps memory small whatever the model's size.
 *
 * A session's time grows with the square of its outputs. So a large graph is loaded in pieces, in topological order:
 * what a piece reads of earlier ones has been described by then. A shape that is computed is known only together with
 * its computation: a piece has that once more, back to where it begins.
 */
#ifndef BACKEND_TYPE_INFERENCE_H
#define BACKEND_TYPE_INFERENCE_H

#include "backend/backend.h"
#include "onnx/model/subgraph.h"
#include "onnx/proto/value_info.h"

struct types_request {
    const struct backend *backend;
    const struct backend_request *runtime; /* gives library, custom operators and log; its model is not used */
    /* Dimensions that were dynamic get the sizes that the runtime finds for them now. */
    bool refine;
    /* What nobody can tell (outputs of nodes that the runtime refuses, tensors that nothing makes) is taken for float32
     * of any shape; what follows from that is found out. These descriptions are guesses. */
    bool assume;
    size_t piece_nodes; /* so many nodes are asked about at once; 0: as many as is best */
};

/* Describes in `known` the values of `part`'s model that lack a type or a shape; a model that says everything itself is
 * not loaded. `known` holds in place of what `part` itself is given. Values that the runtime cannot tell either stay as
 * they are; the ones that are sequences, maps or the like are added to `ret_not_tensors` (a set of values; may be
 * NULL). ERR_BACKEND when the runtime refuses a node: `err` has its first refusal, and only what depends on such nodes
 * is not described; the same when it crashes, or has to be ended, in a process of its own (bounded_process_is_end()):
 * then nothing more is asked. Where there are no nodes there is nothing to do. */
int types_find(const struct subgraph *part, const struct types_request *request, struct known_types *known,
               struct bitset *ret_not_tensors, struct error *err);

/* The same; what is found is stated in `model`. `part` of it may be NULL: all. */
int types_infer(struct model *model, const struct subgraph *part, const struct backend *backend,
                const struct backend_request *runtime, struct bitset *ret_not_tensors, struct error *err);

/* All of the model, with sizes in place of dynamic dimensions, as far as the runtime can tell: why it cannot is a
 * verbose line of the log, and an error only if its process had to be ended (bounded_process_is_end()). */
int types_refine(struct model *model, const struct backend *backend, const struct backend_request *runtime,
                 struct log *log, struct error *err);

/* Makes inputs of the initializers that are large (or lie elsewhere and are), and describes them in `known`: a runtime
 * that loads `subgraph` then reads none of them, and finds every type and shape as before. Only operators that insist
 * on constants mind. */
int weights_to_inputs(struct subgraph *subgraph, struct known_types *known, struct error *err);

/* The description that a session gives of an input or output. */
void types_from_io(const struct backend_io *io, struct value_type *ret);

/* Every tensor that a node of `subgraph` makes, in the order of nodes, each once. */
void types_list_all(const struct subgraph *subgraph, struct value_list *ret);

#endif
