/* engine/plan/plan.h: an engine as a file (docs/formats.md, "Plan files"): magic, version, a JSON description (layers,
 * tactics, precisions, times, profiles), then the model that the layers are of, as ONNX, with its weights aligned; it
 * is mapped, not read. Self-contained.
 */
#ifndef ENGINE_PLAN_PLAN_H
#define ENGINE_PLAN_PLAN_H

#include "engine/plan/engine.h"

/* Writes durably, whole or not at all. */
int plan_save(const struct engine *engine, const char *path, struct error *err);

/* `providers` NULL is for those who only look: then the engine's providers are stand-ins of its own that have names,
 * but make no kernels (engine->owns_providers is true, engine_free() frees them), and weights are not checked for
 * damage. Else they are opened, and ERR_MISSING says which one the plan needs that is not among them. ERR_CORRUPT for
 * what is damaged or foreign, with one sentence; ERR_UNSUPPORTED for a TensorRT engine, and for a plan file of
 * another version. */
int plan_load(const char *path, const struct provider_settings *providers, struct engine **ret, struct error *err);

/* The same of bytes in memory, which outlive the engine. */
int plan_parse(struct span bytes, const char *display_name, const struct provider_settings *providers,
               struct engine **ret, struct error *err);

bool plan_is_bytes(struct span bytes);
bool plan_is_tensorrt(const char *path); /* likewise, but an engine of TensorRT's */
bool plan_is(const char *path);          /* the file exists and begins with the magic */

#endif
