/* debug/reduce/input_sizes.h: finds sizes for dynamic dimensions with which a model runs.
 *
 * Generated data have size 1 there, with which some models do not run: reflecting pads need two elements, windows their
 * length. Cutting a model needs values of its tensors, and so a model that runs.
 */
#ifndef DEBUG_REDUCE_INPUT_SIZES_H
#define DEBUG_REDUCE_INPUT_SIZES_H

#include "comparator/data/loader.h"
#include "debug/simplify/soundness.h"

enum input_sizes_outcome {
    INPUT_SIZES_FIT,     /* no dynamic dimensions, or the model runs with 1 */
    INPUT_SIZES_FOUND,   /* the model runs with other sizes, but not with 1 */
    INPUT_SIZES_NONE,    /* the model runs with none of the tried sizes */
    INPUT_SIZES_UNKNOWN, /* the runtime rejects the model, or is not available */
};

struct input_sizes {
    enum input_sizes_outcome outcome;
    struct error why; /* error with size 1 */
    /* Shapes of the inputs with dynamic dimensions, as tried last. */
    struct data_loader_shape *items;
    size_t count, capacity;
};

/* Whether an input of `subgraph` has dynamic dimensions. */
bool input_sizes_are_open(const struct subgraph *subgraph);

/* Runs `subgraph` on the sandbox's data with 1 for all dynamic dimensions, then with 2, 8, 16, 64, 224 and 512: first
 * for all but the first dimensions of inputs, which are mostly batch sizes, then for all. Dimensions with the same name
 * get the same size. Stops after a minute. Names in the result are in `names`. Release also after an error, which is
 * ERR_INTERRUPTED or one of writing the model. */
int input_sizes_find(const struct sandbox *sandbox, const struct subgraph *subgraph, struct arena *names,
                     struct input_sizes *ret, struct error *err);
void input_sizes_release(struct input_sizes *sizes);

#endif
