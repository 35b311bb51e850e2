/* debug/candidate/engine_maker.h: interface of programs that build engines as candidates: the built-in engine's
 * builder, or another one.
 *
 * A session only builds engines and writes them to files, so a tool of debug/ works with any builder:
 *
 *   rc = maker->build(maker->data, &order, &engine, err);
 *   rc = maker->save_byproducts(maker->data, engine, err);
 *   rc = maker->save(maker->data, engine, "polygraphy_debug.engine", err);
 *   maker->drop(maker->data, engine);
 */
#ifndef DEBUG_CANDIDATE_ENGINE_MAKER_H
#define DEBUG_CANDIDATE_ENGINE_MAKER_H

#include "engine/precision/precision.h"
#include "format/polygraphy/tactic_replay.h"
#include "onnx/model/model.h"

/* Options of one build, in addition to those of the session. All pointers are borrowed. */
struct engine_order {
    int64_t iteration;                        /* -1: not a numbered iteration */
    const struct tactic_replay *forced;       /* tactics that layers must use; NULL: the builder chooses */
    const struct precision_overrides *layers; /* precisions of layers; NULL: the session's options */
    const struct precision_overrides *others; /* the same for names that may not be layers of the builder; NULL: none */
    struct model *model;                      /* the model to build; NULL: the session's */
};

struct engine_maker {
    void *data;
    int (*build)(void *data, const struct engine_order *order, void **ret, struct error *err);
    /* Writes the engine to `path`, replacing a file there; may be called repeatedly. */
    int (*save)(void *data, void *engine, const char *path, struct error *err);
    /* Writes further files that options request for each engine, such as its tactics. */
    int (*save_byproducts)(void *data, void *engine, struct error *err);
    void (*drop)(void *data, void *engine); /* `engine` may be NULL */
};

#endif
