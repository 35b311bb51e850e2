/* tests/tensorrt_stand_in/refitter.c: weights that are given to an engine afterwards.
 *
 * Stripped engines have their weights all the same; what tells that they were given is whether outputs are zeros.
 */
#include <string.h>

#include "base/file/file.h"
#include "tensorrt_stand_in/engine.h"

struct stand_in_refitter {
    struct object object;
    struct stand_in_engine *engine;
    struct word_list names;
    bool *given;
};

struct object *refitter_new(struct stand_in_engine *engine)
{
    struct stand_in_refitter *ret = object_new(sizeof(*ret), "VRefitter", NULL);
    const struct model *model = engine->engine->network->model;

    ret->engine = engine;
    for (size_t i = 0; i < model->initializers.count; i++) {
        struct text name = model->values.items[model->initializers.items[i].value].name;

        *VECTOR_APPEND(&ret->names) = memory_copy(name.data, name.size);
    }
    ret->given = memory_alloc_zero(ret->names.count + 1, sizeof(*ret->given));
    return &ret->object;
}

static int32_t list_names(const struct stand_in_refitter *refitter, bool missing_only, int32_t most, const char **ret)
{
    int32_t count = 0;

    for (size_t i = 0; i < refitter->names.count; i++)
        if (!missing_only || !refitter->given[i]) {
            if (ret != NULL && count < most)
                ret[count] = refitter->names.items[i];
            count++;
        }
    return count;
}

static int32_t get_all_weights(const void *self, int32_t most, const char **ret)
{
    return list_names(object_of(self), false, most, ret);
}

static int32_t get_missing_weights(const void *self, int32_t most, const char **ret)
{
    return list_names(object_of(self), true, most, ret);
}

static bool set_weights(void *self, const char *name, struct weights weights)
{
    struct stand_in_refitter *refitter = object_of(self);

    for (size_t i = 0; i < refitter->names.count; i++)
        if (strcmp(refitter->names.items[i], name) == 0 && weights.values != NULL) {
            refitter->given[i] = true;
            return true;
        }
    report_error("kINVALID_ARGUMENT", "IRefitter::setNamedWeights: Error Code 3: no weights '%s'", name);
    return false;
}

static bool set_located_weights(void *self, const char *name, struct weights weights, int32_t location)
{
    (void)location;
    return set_weights(self, name, weights);
}

static bool refit_engine(void *self)
{
    struct stand_in_refitter *refitter = object_of(self);

    if (!refitter->engine->notes.is_refittable || get_missing_weights(self, 0, NULL) > 0) {
        report_error("kINVALID_STATE",
                     "IRefitter::refitCudaEngine: Error Code 3: API Usage Error (the engine cannot be "
                     "refitted, or weights are missing)");
        return false;
    }
    refitter->engine->is_refitted = true;
    return true;
}

static bool refit_engine_async(void *self, void *stream)
{
    (void)stream;
    return refit_engine(self);
}

/* ---- From ONNX models ---- */

struct parser_refitter {
    struct object object;
    struct object *refitter;
};

/* Each weight of the engine has to be in the model. */
static bool refit_from_bytes(void *self, const void *data, size_t size, const char *path)
{
    struct parser_refitter *parser = object_of(self);
    struct stand_in_refitter *refitter = (struct stand_in_refitter *)parser->refitter;
    struct model *model;
    struct error err = {0};

    (void)path;
    if (model_parse((struct span){data, size}, "model", &model, &err) < 0)
        return false;
    for (size_t i = 0; i < refitter->names.count; i++)
        if (model_find_tensor(model, text_of(refitter->names.items[i])) != VALUE_NONE)
            refitter->given[i] = true;
    model_free(model);
    return refit_engine((void *)(uintptr_t)refitter->object.part);
}

static bool refit_from_file(void *self, const char *path)
{
    struct file_map map;
    struct error err = {0};
    bool refitted;

    if (file_map_open(path, &map, &err) < 0)
        return false;
    refitted = refit_from_bytes(self, map.data, map.size, path);
    file_map_release(&map);
    return refitted;
}

static int32_t get_refit_errors(const void *self)
{
    (void)self;
    return 0;
}

__attribute__((visibility("default"))) void *createNvOnnxParserRefitter_INTERNAL(struct object *refitter, void *logger,
                                                                                 int32_t version);
void *createNvOnnxParserRefitter_INTERNAL(struct object *refitter, void *logger, int32_t version)
{
    struct parser_refitter *ret;

    report_set_logger(logger);
    if (version != release_get()->parser_version || release_before(1000))
        return NULL;
    ret = object_new(sizeof(*ret), "IParserRefitter", NULL);
    ret->refitter = refitter;
    return &ret->object.methods;
}

const struct method_row refitter_methods[] = {
    {"VRefitter", "getAllWeights", "8.5..9.3:14 10.0..10.16:15 11.0..11.1:11 rtx:11", CALL(get_all_weights)},
    {"VRefitter", "getMissingWeights", "8.5..9.3:13 10.0..10.16:14 11.0..11.1:10 rtx:10", CALL(get_missing_weights)},
    {"VRefitter", "setNamedWeights", "8.5..9.3:12 10.0..10.16:13 11.0..11.1:9 rtx:9", CALL(set_weights)},
    {"VRefitter", "setNamedWeightsWithLocation", "9.3:18 10.0..10.16:19 11.0..11.1:15 rtx:15",
     CALL(set_located_weights)},
    {"VRefitter", "refitCudaEngine", "8.5..9.3:3 10.0..11.1:4 rtx:4", CALL(refit_engine)},
    {"VRefitter", "refitCudaEngineAsync", "9.3:24 10.0..10.16:25 11.0..11.1:21 rtx:21", CALL(refit_engine_async)},
    {"VRefitter", "setErrorRecorder", "8.5..9.3:10 10.0..10.16:11 11.0..11.1:7 rtx:7", CALL(answer_true)},
    {"VRefitter", "setMaxThreads", "8.5..9.3:16 10.0..10.16:17 11.0..11.1:13 rtx:13", CALL(answer_true)},
    {"IParserRefitter", "refitFromBytes", "10.0..11.1:0 rtx:0", CALL(refit_from_bytes)},
    {"IParserRefitter", "refitFromFile", "10.0..11.1:1 rtx:1", CALL(refit_from_file)},
    {"IParserRefitter", "getNbErrors", "10.0..11.1:2 rtx:2", CALL(get_refit_errors)},
    {"IParserRefitter", "~IParserRefitter", "10.0..11.1:6 rtx:6", CALL(delete_interface)},
    {NULL, NULL, NULL, {NULL}},
};
