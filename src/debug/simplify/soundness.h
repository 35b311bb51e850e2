/* debug/simplify/soundness.h: tests how well ONNX Runtime, as a reference, runs a model.
 *
 * A check that only reports "failed" cannot distinguish the original failure from a model that became invalid or
 * produces infinities. So changed models are tested with this first.
 *
 * Randomly changed models can crash the runtime. They are tried in separate processes, forked off a copy of this one
 * that has the runtime loaded; if that is not possible, in this process.
 */
#ifndef DEBUG_SIMPLIFY_SOUNDNESS_H
#define DEBUG_SIMPLIFY_SOUNDNESS_H

#include "backend/backend.h"
#include "comparator/data/loader.h"
#include "onnx/model/subgraph.h"

enum soundness {
    SOUND_NOT_AT_ALL,  /* the runtime rejects the model, crashes, or times out */
    SOUND_TO_LOAD,     /* the model loads, but does not run on these data */
    SOUND_TO_RUN,      /* the model runs, and outputs contain NaN, */
    SOUND_TO_INFINITY, /* or infinities but no NaN, */
    SOUND_TO_NUMBERS,  /* or neither */
};

/* A process for trying models. */
struct sandbox;

/* Forks the process; call it before threads are created. `request` (in its present state) and `loader` must outlive the
 * sandbox. ERR_IO if the disk of temporary files is full. */
int sandbox_start(const struct backend *backend, const struct backend_request *request, struct data_loader *loader,
                  struct sandbox **ret, struct error *err);
void sandbox_stop(struct sandbox *sandbox); /* NULL is allowed */

/* Loads `subgraph` as a model and runs it on the first of the loader's samples, or on generated data (`own_data`). A
 * failure of the model is the result, not an error; `ret_why` (may be NULL) gets the reason. Errors: ERR_INTERRUPTED,
 * and those of writing the model. */
int model_soundness(const struct sandbox *sandbox, const struct subgraph *subgraph, bool own_data, enum soundness *ret,
                    struct error *ret_why, struct error *err);

#endif
