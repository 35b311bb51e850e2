/* debug/candidate/engine_maker.h: who builds the engines that are candidates: the built-in engine's builder, or
 * another program.
 *
 * A session knows an engine only as something that was built and can be written to a file, so that a tool of debug/
 * works with any builder:
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

/* What is said of one build, beside what holds for all builds of the session. Everything is borrowed. */
struct engine_order {
    int64_t iteration;                        /* -1 outside of these */
    const struct tactic_replay *forced;       /* the tactics that layers have to have; NULL: the builder chooses */
    const struct precision_overrides *layers; /* what layers compute in; NULL: as the session's options say */
    const struct precision_overrides *others; /* the same, of what may be no layer for the builder; NULL: none */
    struct model *model;                      /* to be built in place of the session's; NULL: that */
};

struct engine_maker {
    void *data;
    int (*build)(void *data, const struct engine_order *order, void **ret, struct error *err);
    /* Writes the engine to `path`, in place of what is there; as often as it is asked for. */
    int (*save)(void *data, void *engine, const char *path, struct error *err);
    /* Writes what options want beside each engine: its tactics, for instance. */
    int (*save_byproducts)(void *data, void *engine, struct error *err);
    void (*drop)(void *data, void *engine); /* NULL is fine */
};

#endif
