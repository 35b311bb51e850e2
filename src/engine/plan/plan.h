/* engine/plan/plan.h: an engine as a file (docs/formats.md, "Plan files"): magic, version, a JSON description (layers,
 * tactics, precisions, times, profiles), then the network's ONNX model with aligned weights, which is mapped, not read.
 * Self-contained.
 */
#ifndef ENGINE_PLAN_PLAN_H
#define ENGINE_PLAN_PLAN_H

#include "engine/plan/engine.h"

/* Writes the file durably and atomically. */
int plan_save(const struct engine *engine, const char *path, struct error *err);

/* Loads a plan file. `providers` NULL is for inspection only: then the engine owns dummy providers with names but
 * without kernels, and weights are not checked for damage. Otherwise providers are opened, and ERR_MISSING names a
 * required one that is not available. ERR_CORRUPT for a damaged or foreign file; ERR_UNSUPPORTED for a TensorRT engine,
 * and for another version. */
int plan_load(const char *path, const struct provider_settings *providers, struct engine **ret, struct error *err);

/* Like plan_load(), for bytes in memory, which must outlive the engine. */
int plan_parse(struct span bytes, const char *display_name, const struct provider_settings *providers,
               struct engine **ret, struct error *err);

bool plan_is_bytes(struct span bytes);
bool plan_is_tensorrt(const char *path); /* the file is an engine of TensorRT */
bool plan_is(const char *path);          /* the file exists and starts with the magic */

#endif
