/* engine/io.h: an engine's inputs and outputs as every backend describes them. */
#ifndef ENGINE_IO_H
#define ENGINE_IO_H

#include "backend/backend.h"
#include "engine/plan/engine.h"

/* In the network's order: network->inputs.count or network->outputs.count of them, for engine_io_free(). A dimension
 * that all profiles give the same single size is known, whatever the model says. */
struct backend_io *engine_inputs_new(const struct engine *engine);
struct backend_io *engine_outputs_new(const struct engine *engine);
void engine_io_free(struct backend_io *items, size_t count);

#endif
