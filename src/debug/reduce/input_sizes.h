/* debug/reduce/input_sizes.h: sizes for the dimensions that a model leaves open, so that it runs.
 *
 * Generated data have 1 there, which not every model takes: pads that reflect need two elements, windows need their
 * length. A model that does not run has no values for whoever cuts it up, so this is found out beforehand.
 */
#ifndef DEBUG_REDUCE_INPUT_SIZES_H
#define DEBUG_REDUCE_INPUT_SIZES_H

#include "comparator/data/loader.h"
#include "debug/simplify/soundness.h"

enum input_sizes_outcome {
    INPUT_SIZES_FIT,     /* there is nothing open, or it runs with 1 */
    INPUT_SIZES_FOUND,   /* it runs with other sizes, but not with 1 */
    INPUT_SIZES_NONE,    /* it runs with none that were tried */
    INPUT_SIZES_UNKNOWN, /* the runtime does not even load it, or is not there */
};

struct input_sizes {
    enum input_sizes_outcome outcome;
    struct error why; /* why it does not run with 1 */
    /* Of the inputs that leave something open, as they were tried last. */
    struct data_loader_shape *items;
    size_t count, capacity;
};

/* Whether an input of `subgraph` has dimensions that nothing determines. */
bool input_sizes_are_open(const struct subgraph *subgraph);

/* Runs `subgraph` on the sandbox's data with 1 for all open dimensions, then with 2, 8, 16, 64, 224 and 512: with each
 * of them first for all but the first dimensions of inputs, which mostly are the size of a batch, then for all.
 * Dimensions of one name get one size. Gives up after a minute. Names in the result lie in `names`. It is to be
 * released after an error as well, which is ERR_INTERRUPTED or one of writing the model. */
int input_sizes_find(const struct sandbox *sandbox, const struct subgraph *subgraph, struct arena *names,
                     struct input_sizes *ret, struct error *err);
void input_sizes_release(struct input_sizes *sizes);

#endif
