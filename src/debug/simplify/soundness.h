/* debug/simplify/soundness.h: how well a runtime that is known to be good gets on with a model.
 *
 * A check that only knows "failed" cannot tell the failure that is looked for from a model that has become invalid, or
 * that makes infinities where there were none. So changed models are held against this first.
 *
 * Models that were changed at random can take the runtime down. They are tried in processes of their own, which are
 * forked off a copy of this one that has the runtime loaded; where that is not possible, in this one.
 */
#ifndef DEBUG_SIMPLIFY_SOUNDNESS_H
#define DEBUG_SIMPLIFY_SOUNDNESS_H

#include "backend/backend.h"
#include "comparator/data/loader.h"
#include "onnx/model/subgraph.h"

enum soundness {
    SOUND_NOT_AT_ALL,  /* the runtime refuses the model, or crashes, or does not come to an end */
    SOUND_TO_LOAD,     /* it loads it, but does not run it on these data */
    SOUND_TO_RUN,      /* it runs it, and outputs hold NaN, */
    SOUND_TO_INFINITY, /* or infinities but no NaN, */
    SOUND_TO_NUMBERS,  /* or neither */
};

/* Where models are tried. */
struct sandbox;

/* Forks the copy: to be called before there are threads. `request` (as it is now) and `loader` have to outlive the
 * sandbox. ERR_IO when there is no room for temporary files. */
int sandbox_start(const struct backend *backend, const struct backend_request *request, struct data_loader *loader,
                  struct sandbox **ret, struct error *err);
void sandbox_stop(struct sandbox *sandbox); /* NULL is fine */

/* Loads `subgraph` as a model and runs it on the first of the loader's samples, or on data that are generated for it
 * (`own_data`). What goes wrong with that is the answer, not an error, and is told in `ret_why` (may be NULL). Errors:
 * ERR_INTERRUPTED, and those of writing the model. */
int model_soundness(const struct sandbox *sandbox, const struct subgraph *subgraph, bool own_data, enum soundness *ret,
                    struct error *ret_why, struct error *err);

#endif
