/* tests/tensorrt_stand_in/engine.h: what is built: plans as bytes, engines. */
#ifndef TENSORRT_STAND_IN_ENGINE_H
#define TENSORRT_STAND_IN_ENGINE_H

#include "backend/onnxrt/settings.h"
#include "engine/plan/engine.h"
#include "tensorrt_stand_in/network.h"

extern const struct onnxrt_settings stand_in_runtime;

/* What a plan has beside the built-in engine's: lines with tabs, in front of it. */
struct plan_notes {
    char *name;
    bool is_detailed, is_stripped, is_refittable, is_version_compatible, streams_weights, unfused_are_debug;
    struct word_list debug_names, typed_names;
    struct {
        int32_t *items; /* of typed_names */
        size_t count, capacity;
    } types;
};

/* Appends a plan to `ret`. */
int plan_write(const struct engine *engine, const struct plan_notes *notes, struct string_builder *ret,
               struct error *err);
/* `bytes` have to outlive the engine. */
int plan_read(struct span bytes, bool host_code_allowed, struct plan_notes *ret_notes, struct engine **ret,
              struct error *err);

struct io_tensor {
    char *name;
    enum data_type type, computed_type;
    struct shape shape; /* -1 where it is not known */
    bool is_input, is_shape, depends_on_data, is_debug;
};

struct stand_in_engine {
    struct object object;
    char *bytes;
    size_t size;
    struct plan_notes notes;
    struct engine *engine;
    struct io_tensor *tensors; /* inputs, outputs, then debug tensors */
    size_t input_count, count, all_count;
    bool is_refitted;
    char *information; /* what the inspector gave last */
    int64_t streaming_budget;
};

void *runtime_new(void);
struct io_tensor *engine_tensor(const struct stand_in_engine *engine, const char *name); /* NULL: there is none */
struct object *context_new(struct stand_in_engine *engine);
struct object *refitter_new(struct stand_in_engine *engine);
struct object *inspector_new(struct stand_in_engine *engine);

/* ---- selector.c ---- */

/* The tactics that a layer could have. */
struct layer_choices {
    struct {
        struct tactic *items;
        size_t count, capacity;
    } tactics;
    size_t chosen;
};

/* Asks the program's IAlgorithmSelector about each layer, and sets `chosen`. False: reported. */
bool select_tactics(void *selector, const struct engine *engine, struct layer_choices *choices);
void report_tactics(void *selector, const struct engine *engine, const struct layer_choices *choices);

#endif
