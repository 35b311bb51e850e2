/* support/fake_engine.h: small generated models, and a provider with simple kernels, so that an executor can be tested
 * without a runtime. Operators: Relu, Add (same shapes), Positive (the elements above 0: its output shape depends on
 * the data), Halve. All are on float32, except Echo, which copies a tensor of any type and may have a second, omitted
 * input. */
#ifndef SUPPORT_FAKE_ENGINE_H
#define SUPPORT_FAKE_ENGINE_H

#include "engine/plan/engine.h"
#include "onnx/proto/fields.h"

struct model_maker {
    struct string_builder graph;
    struct arena arena;
};

void maker_init(struct model_maker *maker);
void maker_node(struct model_maker *maker, const char *op_type, const char *inputs, const char *outputs);

/* Adds an input or output with two dynamic dimensions; `field` is its field in GraphProto. */
void maker_io(struct model_maker *maker, uint32_t field, const char *name, enum data_type type);
void maker_constant(struct model_maker *maker, const char *name, const float *values, int64_t rows, int64_t columns);

/* The model owns its bytes. */
struct model *maker_finish(struct model_maker *maker);

extern int fake_kernels;   /* existing kernels */
extern int fake_creations; /* kernels created so far */
extern int fake_runs;

extern struct tactic_provider fake_provider;

/* An engine with one layer for each node of the model, which it owns; all have the tactic "known". */
struct fake_engine {
    struct network network;
    struct engine engine;
    struct tactic_provider *providers[1];
};

void fake_choose(struct fake_engine *fake, size_t layer, const char *tactic);
void fake_set_precision(struct fake_engine *fake, size_t layer, enum precision precision);
void fake_engine_init(struct fake_engine *fake, struct model *model);

/* Sets the range of every dimension of the inputs. */
void fake_set_profile(struct fake_engine *fake, int64_t smallest, int64_t largest);
void fake_engine_release(struct fake_engine *fake);

#endif
